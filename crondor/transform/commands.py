"""The commands of a transform, each compiled once; ``run`` applies one to the ad of a Run.

The rules are those of HTCondor 25.14 (ParseRulesCallback in xform_utils.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from crondor.classad.regexp import Expression as Regex
from crondor.classad.regexp import Match, compiled
from crondor.classad.text import from_bytes, lower, to_bytes
from crondor.diagnostics import Diagnostic
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.transform.apply import Run, Statement
from crondor.transform.errors import Stop, fault, short
from crondor.transform.expressions import as_macro, evaluation, settled, stored
from crondor.transform.template import Template
from crondor.transform.words import Pattern, Word, next_word, pattern

_TWO = frozenset(("COPY", "DEFAULT", "EVALMACRO", "EVALSET", "RENAME", "SET"))
_WITH_PATTERN = frozenset(("COPY", "DELETE", "RENAME"))
ENVELOPE = frozenset(("NAME", "REQUIREMENTS", "TRANSFORM", "UNIVERSE"))
KEYWORDS = _TWO | _WITH_PATTERN | ENVELOPE
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GROUP = re.compile(rb"\\([0-9])")
_GIVEN_UP = 1 << 22  # what a search that PCRE2 gives up costs of the budget of macros
_MOST_KNOWN = 64  # sets of names whose search is remembered
_MOST_NAMES = 1000
_LIMIT = "(*LIMIT_MATCH=200000)"


class Fault(Statement):
    """A line that HTCondor refuses when it comes to it."""

    __slots__ = ("_made", "_make")

    def __init__(self, line: LogicalLine, make: Callable[[], Diagnostic], *, is_command: bool = False) -> None:
        """Keep what makes the reason: most faults of a text with thousands are never shown."""
        super().__init__(line, is_command=is_command)
        self._make = make
        self._made: Diagnostic | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        """The reason."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def run(self, run: Run) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Stop."""
        raise Stop(self.diagnostic)

    check = run


class LateFault(Fault):
    """A line that HTCondor takes on loading, and refuses when an ad leads to it."""

    __slots__ = ()

    def check(self, run: Run) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Pass it over."""
        return None


class Nothing(Statement):
    """A line without effect."""

    __slots__ = ()

    def run(self, run: Run) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Do nothing."""
        return None


class Command(Statement):
    """A command with an attribute's name, and the text behind it."""

    __slots__ = ("key", "keyword", "name", "rest", "words")

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the keyword and the first argument; ``rest`` has macros."""
        super().__init__(line, is_command=True)
        self.words = words
        self.keyword = words[0].text.upper()
        self.name = name
        self.key = lower(name)
        self.rest = Template(rest)

    def _filled(self, run: Run) -> str:
        return self.rest.text if self.rest.is_plain else self.rest.fill(run.lookup, run.expand)

    def _store(self, run: Run, value: str) -> None:
        if self.name:
            run.put(self.key, self.name, value)
        else:
            run.warn("set-name", f"could not set {self.name} to {value}", "write the name of an attribute")


class Set(Command):
    """SET and DEFAULT: store an expression as it is written."""

    __slots__ = ("_keeps", "fixed")

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self._keeps = self.keyword == "DEFAULT"
        self.fixed = settled(rest) if self.rest.is_plain and name else None

    def run(self, run: Run) -> int | None:
        """Store it, for DEFAULT where the ad has no attribute of that name."""
        fixed = self.fixed
        if fixed is not None and run.steps is None:
            if not (self._keeps and self.key in run.codes):
                run.put(self.key, self.name, fixed)
            return None
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"{self.keyword} {self.name} to {text}")
        if self._keeps and self.key in run.codes:
            return None
        value = settled(text)
        if value is None:
            run.warn("set-expression", f"SET {self.name} invalid expression : {text}", run.why_not(text, self))
        elif self.name:
            run.put(self.key, self.name, value)
        else:
            self._store(run, value)
        return None


class _Eval(Command):
    """A command with an expression to evaluate."""

    __slots__ = ("evaluated",)

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self.evaluated = evaluation(rest) if self.rest.is_plain else None


class EvalSet(_Eval):
    """EVALSET: store the value of an expression."""

    __slots__ = ()

    def run(self, run: Run) -> int | None:
        """Evaluate and store."""
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"EVALSET {self.name} to {text}")
        value = (self.evaluated or evaluation(text)).value(run.ad, run.facts.context, run.codes)
        if value is None:
            run.warn("evalset", f"EVALSET {self.name} could not evaluate : {text}", _NO_VALUE)
            return None
        self._store(run, stored(value))
        if run.steps is not None:
            run.step(f"SET {self.name} to {as_macro(value)}", is_detail=True)
        return None


class EvalMacro(_Eval):
    """EVALMACRO: give a macro the value of an expression."""

    __slots__ = ()

    def run(self, run: Run) -> int | None:
        """Evaluate and define."""
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"EVALMACRO {self.name} to {text}")
        value = (self.evaluated or evaluation(text)).value(run.ad, run.facts.context, run.codes)
        if value is None:
            run.warn("evalmacro", f"EVALMACRO {self.name} could not evaluate : {text}", _NO_VALUE)
            return None
        result = as_macro(value)
        run.define(self.key, result, is_raw=True)
        if run.steps is not None:
            run.step(f"{self.name} = {result}", is_detail=True)
        return None


_NO_VALUE = "it is no expression, or HTCondor finds no value for it: nothing is stored"


class Delete(Command):
    """DELETE of one attribute."""

    __slots__ = ()

    def run(self, run: Run) -> int | None:
        """Delete it."""
        if run.steps is not None:
            run.step(f"DELETE {self.name}")
        run.delete(self.key)
        return None


class Move(Command):
    """COPY and RENAME of one attribute."""

    __slots__ = ("new",)

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self.new = lower(rest) if is_name(rest) else ""

    def run(self, run: Run) -> int | None:
        """Do it."""
        if self.new and run.steps is None:
            code = run.codes.get(self.key)
            if code is not None:
                if self.keyword == "RENAME":
                    run.delete(self.key)
                run.put(self.new, self.rest.text, code)
            return None
        move(run, self.keyword, self.name, self._filled(run))
        return None


class MoveMany(Command):
    """COPY, RENAME and DELETE of all attributes that a regular expression finds; ``name`` is the expression."""

    __slots__ = ("_compiled", "_found", "options")

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], found: Pattern, rest: str) -> None:
        """Compile it at the first use."""
        super().__init__(line, words, found.text, rest)
        self.options = found.options
        self._compiled: Regex | bool | None = False
        self._found: dict[tuple[str, ...], tuple[_Found, ...]] = {}

    def compiled(self) -> Regex | None:
        """Return the expression, None where it is none. Names are matched without case."""
        if isinstance(self._compiled, bool):
            options = "im" if "m" in self.options else "i"
            ungreedy = "(?U)" if "U" in self.options else ""
            bare = compiled(ungreedy + self.name, options)
            self._compiled = None if bare is None else compiled(_LIMIT + ungreedy + self.name, options) or bare
        return self._compiled

    def run(self, run: Run) -> int | None:
        """Find all names first, then change them in the order of their bytes."""
        regex = self.compiled()
        text = self._filled(run)
        if regex is None:
            message = f"Error compiling regex '{self.name}': this entry will be ignored"
            run.warn("regex", message, "mend the expression")
            return None
        names = run.own_names()
        found = self._found.get(names)
        if found is None:
            found = self._search_all(run, regex, names)
        if self.keyword == "DELETE":
            if run.steps is not None:
                for name, _, _ in found:
                    run.step(f"DELETE {name}")
            run.delete_all([key for _, key, _ in found])
            return None
        for name, _, groups in found:
            move(run, self.keyword, name, _substituted(text, groups) if "\\" in text else text)
        return None

    def moves(self, names: tuple[str, ...]) -> list[tuple[str, str]] | None:
        """Return names in lower case with their new ones, of names that were searched before.

        None: they were not, or the new names depend on more than the old.
        """
        regex = self.compiled()
        if regex is None or not self.rest.is_plain:
            return None
        found = self._found.get(names)
        if found is None:
            return None
        text = self.rest.text
        moves = [(key, _substituted(text, groups) if "\\" in text else text) for _, key, groups in found]
        return moves if self.keyword == "DELETE" or all(is_name(new) for _, new in moves) else None

    def _search_all(self, run: Run, regex: Regex, names: tuple[str, ...]) -> tuple[_Found, ...]:
        """Return what is found in the names of an ad, and keep it where all were searched: ads are much alike."""
        found: list[_Found] = []
        complete = True
        for data, name in sorted((to_bytes(name), name) for name in names):
            match, is_known = self._search(run, regex, data)
            complete = complete and is_known
            # HTCondor's flag for g is PCRE2's for a match at the beginning alone.
            if match is not None and not ("g" in self.options and match.span()[0]):
                found.append(_Found(name, lower(name), _groups(match, regex.groups)))
        if complete and len(names) <= _MOST_NAMES:
            if len(self._found) >= _MOST_KNOWN:
                self._found.clear()
            self._found[names] = tuple(found)
        return tuple(found)

    def _search(self, run: Run, regex: Regex, data: bytes) -> tuple[Match | None, bool]:
        """Return what is found in a name, and whether that is known: a search that takes too long ends."""
        import pcre2  # noqa: PLC0415 - few transforms have expressions, and the import costs 5 ms

        run.spend(1000 + (1 << min(len(data), 16)))
        try:
            return regex.search(data), True
        except pcre2.LibraryError:
            run.spend(_GIVEN_UP)
            message = f"the search of '{short(self.name)}' in {short(data.decode('utf-8', 'replace'))} takes too long"
            run.warn("regex-limit", message, "the name counts as not found; repeat no group inside a repeated group")
            return None, False


class _Found(NamedTuple):
    """A name with the groups that matched in it, the whole match first, up to the last that took part."""

    name: str
    key: str
    groups: tuple[bytes, ...]


def _groups(match: Match, groups: int) -> tuple[bytes, ...]:
    last = max((number for number in range(1, groups + 1) if match.group(number) is not None), default=0)
    return tuple(match.group(number) or b"" for number in range(last + 1))


def _substituted(template: str, groups: tuple[bytes, ...]) -> str:
    r"""Return a new name with ``\0`` to ``\9`` replaced; one beyond the last group that matched stays as it is."""
    last = len(groups) - 1
    filled = _GROUP.sub(lambda found: groups[int(found[1])] if int(found[1]) <= last else found[0], to_bytes(template))
    return from_bytes(filled)


def move(run: Run, keyword: str, name: str, new: str) -> None:
    """Copy or rename an attribute; one that is missing is passed over in silence."""
    if run.steps is not None:
        run.step(f"{keyword} {name} to {new}")
    if not is_name(new):
        message = f"{keyword} {name} new name {new} is not valid"
        run.warn("new-name", message, "a name is made of letters, digits and _, and begins with no digit")
        return
    key = lower(name)
    code = run.codes.get(key)
    if code is not None:
        if keyword == "RENAME":
            run.delete(key)
        run.put(lower(new), new, code)


def is_name(text: str) -> bool:
    """Whether HTCondor takes a text for the new name of an attribute."""
    return _NAME.fullmatch(text) is not None


_KINDS: dict[str, type[Command]] = {
    "SET": Set,
    "DEFAULT": Set,
    "EVALSET": EvalSet,
    "EVALMACRO": EvalMacro,
    "COPY": Move,
    "RENAME": Move,
    "DELETE": Delete,
}


def command(line: LogicalLine) -> Statement:
    """Return what a line that is no assignment does; a line that is wrong is a Fault."""
    first = next_word(line.text, 0)
    if first is None or first.text == "#":
        return Nothing(line)
    keyword = first.text.upper()
    if keyword not in KEYWORDS:
        return Fault(line, lambda: _unknown(line, first))
    second = next_word(line.text, first.next)
    if keyword in ENVELOPE and (second is not None or keyword == "TRANSFORM"):
        return Nothing(line, is_command=True)
    if second is None:
        return Fault(line, lambda: _too_few(line, first), is_command=True)
    return _with_arguments(line, keyword, first, second)


def _with_arguments(line: LogicalLine, keyword: str, first: Word, second: Word) -> Statement:
    text = line.text
    found, rest, behind = None, second, second.next
    if keyword in _WITH_PATTERN and text.startswith("/", second.at):
        found = pattern(text, second)
        if found is None:
            return Fault(line, lambda: _bad_pattern(line, second), is_command=True)
        behind = found.next
    if keyword in _TWO:
        third = next_word(text, behind)
        if third is not None and third.text in {"=", ","}:
            third = next_word(text, third.next)
        if third is None:
            return LateFault(line, lambda: _too_few(line, first, second), is_command=True)
        rest = third
    if found is not None:
        return MoveMany(line, (first, second), found, text[rest.start :] if keyword in _TWO else "")
    name = second.text
    return _KINDS[keyword](line, (first, second), name[:-1] if name[-1:] in {",", "="} else name, text[rest.start :])


def _unknown(line: LogicalLine, word: Word) -> Diagnostic:
    message = f"{word.text} is not a valid transform keyword"
    span = line.span(word.at, max(word.end, word.at + 1))
    near = _nearest(word.text.upper())
    help_text = f"the commands are {', '.join(sorted(KEYWORDS))}; NAME = VALUE defines a macro"
    if word.text.lower() == "queue":
        help_text = "queue belongs to submit files, and HTCondor takes it for no macro either: choose another name"
    if line.unterminated and line.text[:1] in BLANKS:
        help_text = "HTCondor strips no blanks from a last line without a line end: end the file with one"
    if line.text[word.end : word.end + 1] in {"", " "} and word.text[-1:] in {"=", ":"}:
        help_text = "a command has no = or : behind its keyword"
    return fault("keyword", message, span, f"did you mean {near}?" if near else help_text, near)


def _nearest(word: str) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a fault

    return next(iter(get_close_matches(word[:40], sorted(KEYWORDS), 1, 0.7)), None)


def _too_few(line: LogicalLine, first: Word, second: Word | None = None) -> Diagnostic:
    keyword = first.text.upper()
    span = line.span(first.start)
    if keyword in ENVELOPE or keyword == "DELETE":
        return fault("arguments", f"{keyword} needs an argument", span, "write it behind the keyword")
    name, sign, value = second.text.partition("=") if second is not None else ("", "", "")
    if is_name(name) and sign and value:
        shown = f"{first.text} {name} {value}"
        return fault(
            "arguments", f"{keyword} needs 2 arguments: a blank stands between them", span, f"write {shown}", shown
        )
    return fault("arguments", f"{keyword} needs 2 arguments", span, f"write {_USAGE[keyword]}")


_USAGE = {
    "COPY": "COPY attribute newname",
    "DEFAULT": "DEFAULT attribute expression",
    "EVALMACRO": "EVALMACRO macro expression",
    "EVALSET": "EVALSET attribute expression",
    "RENAME": "RENAME attribute newname",
    "SET": "SET attribute expression",
}


def _bad_pattern(line: LogicalLine, word: Word) -> Diagnostic:
    help_text = (
        "write /expression/ with nothing but g, i, m or U behind it; a slash inside cannot be escaped, . finds it"
    )
    return fault("regex", "invalid regex", line.span(word.at), help_text)
