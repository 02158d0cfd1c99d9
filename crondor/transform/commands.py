"""The commands of a transform, each compiled once: words, templates, patterns and command lines.

The rules are those of HTCondor 25.14 (ParseRulesCallback in xform_utils.cpp).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Container
from typing import NamedTuple

from crondor.classad.regexp import GivenUp, Regex, RegexpMatch, compiled
from crondor.classad.scope import Value
from crondor.classad.text import from_bytes, lower, to_bytes
from crondor.diagnostics import Diagnostic, similar
from crondor.macro.expand import MacroKind, Scanner
from crondor.macro.lines import BLANKS, LogicalLine, MacroError
from crondor.transform.apply import RunnableLine, TransformRun
from crondor.transform.expressions import Stop, as_macro, evaluation, fault, settled, short, stored

_LONG = 1 << 16  # characters beyond which the text is expanded by the rules with limits
_Piece = tuple[str, str, str]
"""The text before a macro, its lower-case name, its default."""


class MacroTemplate:
    """A text with its macros; ``text`` is the text itself, ``is_plain``: it has none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_plain = "$" not in text
        self._pieces, self._end = ((), text) if self.is_plain else _pieces(text)

    @property
    def is_simple(self) -> bool:
        """Whether all its macros can be replaced directly."""
        return bool(self._pieces)

    def asks_only(self, known: Container[str]) -> bool:
        """Return whether all its macros can be replaced directly, and are known."""
        return bool(self._pieces) and all(name in known for _, name, _ in self._pieces)

    def fill(self, lookup: Callable[[str], str | None], expand: Callable[[str], str]) -> str:
        """Return the text with its macros replaced; ``expand`` does what is more than inserting values."""
        if not self._pieces:
            return self.text if self.is_plain else expand(self.text)
        done = ""
        for before, name, default in self._pieces:
            value = lookup(name) or default
            if "$" in value:
                return expand(self.text)
            done += before + value
            if len(done) > _LONG:
                return expand(self.text)
        return done + self._end


def _pieces(text: str) -> tuple[tuple[_Piece, ...], str]:
    """Return the parts of a text that has only plain macros; none if it has to be read by the full rules."""
    pieces: list[_Piece] = []
    begin, at = 0, text.find("$")
    scanner = Scanner(text)
    while at >= 0:
        found = scanner.scan(at)
        default = text[found.default : found.end - 1] if found.default >= 0 else ""
        if found.kind is not MacroKind.MACRO or found.name == "dollar" or "$" in default:
            return (), text
        pieces.append((text[begin:at], found.name, default))
        begin, at = found.end, text.find("$", found.end)
    return tuple(pieces), text[begin:]


_BLANK = re.compile(r"[ \t\r\n]")
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class Word(NamedTuple):
    """A word: ``start`` is where it begins with its quote, ``at`` after that; ``next`` is where to look for another.

    ``next`` is None after an unclosed quote: nothing follows it.
    """

    text: str
    start: int
    at: int
    next: int | None

    @property
    def end(self) -> int:
        """The end of the word, without its quote."""
        return self.at + len(self.text)


def next_word(text: str, at: int | None) -> Word | None:
    r"""Return the next word from ``at`` on. Quotes keep blanks together, and cannot be escaped inside.

    word = [^ \t\r\n"'] [^ \t\r\n]* | '"' [^"]* '"' | "'" [^']* "'"

    HTCondor: tokener::next.
    """
    found = None if at is None else _NOT_BLANK.search(text, at)
    if found is None:
        return None
    start = found.start()
    if found[0] in "\"'":
        close = text.find(found[0], start + 1)
        if close < 0:
            return Word(text[start + 1 :], start, start + 1, None)
        return Word(text[start + 1 : close], start, start + 1, close + 1)
    blank = _BLANK.search(text, start)
    if blank is None:
        return Word(text[start:], start, start, None)
    return Word(text[start : blank.start()], start, start, blank.start())


class Pattern(NamedTuple):
    """A regular expression between slashes, its options, and where the next word is looked for."""

    text: str
    options: str
    next: int


def pattern(text: str, word: Word) -> Pattern | None:
    """Return the regular expression that begins at a word; None: it has no end, or an unknown option.

    A slash inside cannot be escaped.

    pattern = "/" [^/]* "/" [gimU]*
    """
    close = text.find("/", word.at + 1)
    if close < 0:
        return None
    blank = _BLANK.search(text, close + 1)
    end = len(text) if blank is None else blank.start()
    options = text[close + 1 : end]
    if set(options) - set("gimU"):
        return None
    return Pattern(text[word.at + 1 : close], options, end)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class LineFault(RunnableLine):
    """A line that HTCondor refuses when it reaches it."""

    def __init__(self, line: LogicalLine, make: Callable[[], Diagnostic], *, is_command: bool = False) -> None:
        """Keep the function that makes the reason: of thousands of faults most are never shown."""
        super().__init__(line, is_command=is_command)
        self._make = make
        self._made: Diagnostic | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        """The reason."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def run(self, _run: TransformRun) -> int | None:
        """Stop."""
        raise Stop(self.diagnostic)

    check = run


class LateFault(LineFault):
    """A line that HTCondor accepts on loading, and refuses when an ad reaches it."""

    def check(self, _run: TransformRun) -> int | None:
        """Accept it."""
        return None


class Nothing(RunnableLine):
    """A line without effect."""

    def run(self, _run: TransformRun) -> int | None:
        """Do nothing."""
        return None


class NamedCommand(RunnableLine):
    """A command with an attribute's name, and the text after it."""

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the keyword and the first argument; ``rest`` has macros."""
        super().__init__(line, is_command=True)
        self.words = words
        self.keyword = words[0].text.upper()
        self.name = name
        self.key = lower(name)
        self.rest = MacroTemplate(rest)

    def _filled(self, run: TransformRun) -> str:
        return self.rest.text if self.rest.is_plain else self.rest.fill(run.lookup, run.expand)

    def _store(self, run: TransformRun, value: str) -> None:
        if self.name:
            run.put(self.key, self.name, value)
        else:
            run.warn("set-name", f"could not set {self.name} to {value}", "write the name of an attribute")


class Set(NamedCommand):
    """SET and DEFAULT: store an expression as written."""

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        super().__init__(line, words, name, rest)
        self._keeps = self.keyword == "DEFAULT"
        self.fixed = settled(rest) if self.rest.is_plain and name else None

    def run(self, run: TransformRun) -> int | None:
        """Store it; for DEFAULT only if the ad has no attribute of that name."""
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


class _Eval(NamedCommand):
    """A command with an expression to evaluate."""

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        super().__init__(line, words, name, rest)
        self.evaluated = evaluation(rest) if self.rest.is_plain else None

    def run(self, run: TransformRun) -> int | None:
        """Evaluate, and keep the value."""
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"{self.keyword} {self.name} to {text}")
        value = run.value(self.evaluated or evaluation(text))
        if value is None:
            run.warn(self.keyword.lower(), f"{self.keyword} {self.name} could not evaluate : {text}", _NO_VALUE)
        else:
            self.keep(run, value)
        return None

    @abstractmethod
    def keep(self, run: TransformRun, value: Value) -> None:
        """Put the value where it belongs."""


class EvalSet(_Eval):
    """EVALSET: store the value of an expression."""

    def keep(self, run: TransformRun, value: Value) -> None:
        """Store it."""
        self._store(run, stored(value))
        if run.steps is not None:
            run.step(f"SET {self.name} to {as_macro(value)}", is_detail=True)


class EvalMacro(_Eval):
    """EVALMACRO: give a macro the value of an expression."""

    def keep(self, run: TransformRun, value: Value) -> None:
        """Define it."""
        result = as_macro(value)
        run.define(self.key, result, is_raw=True)
        if run.steps is not None:
            run.step(f"{self.name} = {result}", is_detail=True)


_NO_VALUE = "it is not an expression, or HTCondor finds no value for it: nothing is stored"


class Delete(NamedCommand):
    """DELETE of one attribute."""

    def run(self, run: TransformRun) -> int | None:
        """Delete it."""
        if run.steps is not None:
            run.step(f"DELETE {self.name}")
        run.delete(self.key)
        return None


class Move(NamedCommand):
    """COPY and RENAME of one attribute."""

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        super().__init__(line, words, name, rest)
        self.new = lower(rest) if is_attribute_name(rest) else ""

    def run(self, run: TransformRun) -> int | None:
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


def move(run: TransformRun, keyword: str, name: str, new: str) -> None:
    """Copy or rename an attribute; a missing one is silently skipped."""
    if run.steps is not None:
        run.step(f"{keyword} {name} to {new}")
    if not is_attribute_name(new):
        message = f"{keyword} {name} new name {new} is not valid"
        run.warn("new-name", message, "a name is made of letters, digits and _, and does not begin with a digit")
        return
    key = lower(name)
    code = run.codes.get(key)
    if code is not None:
        if keyword == "RENAME":
            run.delete(key)
        run.put(lower(new), new, code)


def is_attribute_name(text: str) -> bool:
    """Return whether HTCondor accepts a text as the new name of an attribute."""
    return _NAME.fullmatch(text) is not None


_GROUP = re.compile(rb"\\([0-9])")
_MOST_KNOWN = 64  # sets of names whose search is cached
_MOST_NAMES = 1 << 15  # characters of one such set
_LONG_PATTERN = 1 << 16  # bytes of a name that is made; HTCondor has no limit
_STEP = 16  # the cost of a search step in the budget of macros
_NAME_GROUP = 4  # the cost of examining a name once
_DOUBLED = "a pattern that matches its own results doubles them: make it match less"


class ByPattern(NamedCommand):
    """COPY, RENAME and DELETE of all attributes that a regular expression matches; ``name`` is the expression."""

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], found: Pattern, rest: str) -> None:
        super().__init__(line, words, found.text, rest)
        self.options = found.options
        self._compiled: Regex | bool | None = False
        self._found: dict[tuple[str, ...], tuple[_Found, ...]] = {}

    def compiled(self) -> Regex | None:
        """Return the expression, None if it is invalid. Names are matched ignoring case."""
        if isinstance(self._compiled, bool):
            ungreedy = "(?U)" if "U" in self.options else ""
            self._compiled = compiled(ungreedy + self.name, "im" if "m" in self.options else "i")
        return self._compiled

    def run(self, run: TransformRun) -> int | None:
        """Find all names first, then change them in the order of their bytes."""
        text = self._filled(run)
        regex = self.compiled()
        if regex is None:
            message = f"Error compiling regex '{self.name}': this entry will be ignored"
            run.warn("regex", message, "correct the expression")
            return None
        names = run.own_names()
        _spend(run, _NAME_GROUP * len(names))
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
            _spend(run, len(text))
            new = _substituted(text, groups)
            if new is None:
                run.stop("long-name", f"{self.keyword} makes a name of more than {_LONG_PATTERN} characters", _DOUBLED)
            move(run, self.keyword, name, new)
        return None

    def moves(self, names: tuple[str, ...]) -> list[tuple[str, str]] | None:
        """Return lower-case names with their new ones, if these names were searched before.

        None: they were not, or the new names do not depend on the old alone.
        """
        found = self._found.get(names)
        if found is None or not self.rest.is_plain:
            return None
        text = self.rest.text
        moves: list[tuple[str, str]] = []
        for _, key, groups in found:
            new = _substituted(text, groups)
            if new is None or not (self.keyword == "DELETE" or is_attribute_name(new)):
                return None
            moves.append((key, new))
        return moves

    def _search_all(self, run: TransformRun, regex: Regex, names: tuple[str, ...]) -> tuple[_Found, ...]:
        """Return the matches in the names of an ad, and cache them if all were searched: ads are similar."""
        found: list[_Found] = []
        complete = True
        for data, name in sorted((to_bytes(name), name) for name in names):
            match, is_known = self._search(run, regex, data)
            complete = complete and is_known
            # HTCondor's flag for g is PCRE2's for a match at the beginning only.
            if match is not None and not ("g" in self.options and match.span()[0]):
                found.append(_Found(name, lower(name), _groups(match, regex.groups)))
        if complete and sum(map(len, names)) <= _MOST_NAMES:
            if len(self._found) >= _MOST_KNOWN:
                self._found.clear()
            self._found[names] = tuple(found)
        return tuple(found)

    def _search(self, run: TransformRun, regex: Regex, data: bytes) -> tuple[RegexpMatch | None, bool]:
        """Return the match in a name, and whether it is known: a search that takes too long is ended."""
        try:
            return regex.first(data, lambda steps: _spend(run, _STEP * steps)), True
        except GivenUp:
            message = f"the search of '{short(self.name)}' in {short(data.decode('utf-8', 'replace'))} takes too long"
            run.warn("regex-limit", message, "the name counts as not found; repeat no group inside a repeated group")
            return None, False


class _Found(NamedTuple):
    """A name with its matched groups, the whole match first, up to the last that took part."""

    name: str
    key: str
    groups: tuple[bytes, ...]


def _groups(match: RegexpMatch, groups: int) -> tuple[bytes, ...]:
    r"""Return the groups that matched, up to ``\9``, the whole match first."""
    last = next((number for number in range(groups, 0, -1) if match.group(number) is not None), 0)
    return tuple(match.group(number) or b"" for number in range(min(last, 9) + 1))


def _spend(run: TransformRun, amount: int) -> None:
    """Subtract work from the rest of a run. Raises Stop when there is no more."""
    try:
        run.budget.spend(amount)
    except MacroError:
        run.stop(
            "too-much-work", "the search for names takes too long: there are too many, or they are too long", _DOUBLED
        )


def _substituted(template: str, groups: tuple[bytes, ...]) -> str | None:
    r"""Return a new name with ``\0`` to ``\9`` replaced; one beyond the last group that matched stays as it is.

    None: the name would be too long.
    """
    if "\\" not in template:
        return template
    data = to_bytes(template)
    last = len(groups) - 1
    numbers = [number for each in _GROUP.findall(data) if (number := int(each)) <= last]
    if len(data) + sum(len(groups[number]) - 2 for number in numbers) > _LONG_PATTERN:
        return None
    return from_bytes(_GROUP.sub(lambda found: groups[int(found[1])] if int(found[1]) <= last else found[0], data))


_TWO = frozenset(("COPY", "DEFAULT", "EVALMACRO", "EVALSET", "RENAME", "SET"))
_WITH_PATTERN = frozenset(("COPY", "DELETE", "RENAME"))
ENVELOPE = frozenset(("NAME", "REQUIREMENTS", "TRANSFORM", "UNIVERSE"))
KEYWORDS = _TWO | _WITH_PATTERN | ENVELOPE
_KINDS: dict[str, type[NamedCommand]] = {
    "SET": Set,
    "DEFAULT": Set,
    "EVALSET": EvalSet,
    "EVALMACRO": EvalMacro,
    "COPY": Move,
    "RENAME": Move,
    "DELETE": Delete,
}


def command(line: LogicalLine) -> RunnableLine:
    """Return what a line that is no assignment does; a line that is wrong is a LineFault.

    command = ("SET" | "DEFAULT" | "EVALSET" | "EVALMACRO") word ("=" | ",")? text
            | ("COPY" | "RENAME") (word | pattern) ("=" | ",")? text
            | "DELETE" (word | pattern)
            | ENVELOPE text
    """
    first = next_word(line.text, 0)
    if first is None or first.text == "#":
        return Nothing(line)
    keyword = first.text.upper()
    if keyword not in KEYWORDS:
        return LineFault(line, lambda: _unknown(line, first))
    second = next_word(line.text, first.next)
    if keyword in ENVELOPE and (second is not None or keyword == "TRANSFORM"):
        return Nothing(line, is_command=True)
    if second is None:
        return LineFault(line, lambda: _too_few(line, first), is_command=True)
    return _with_arguments(line, keyword, first, second)


def _with_arguments(line: LogicalLine, keyword: str, first: Word, second: Word) -> RunnableLine:
    text = line.text
    found, rest, behind = None, second, second.next
    if keyword in _WITH_PATTERN and text.startswith("/", second.at):
        found = pattern(text, second)
        if found is None:
            return LineFault(line, lambda: _bad_pattern(line, second), is_command=True)
        behind = found.next
    if keyword in _TWO:
        third = next_word(text, behind)
        if third is not None and third.text in {"=", ","}:
            third = next_word(text, third.next)
        if third is None:
            return LateFault(line, lambda: _too_few(line, first, second), is_command=True)
        rest = third
    if found is not None:
        return ByPattern(line, (first, second), found, text[rest.start :] if keyword in _TWO else "")
    name = second.text
    return _KINDS[keyword](line, (first, second), name[:-1] if name[-1:] in {",", "="} else name, text[rest.start :])


def _unknown(line: LogicalLine, word: Word) -> Diagnostic:
    message = f"{word.text} is not a valid transform keyword"
    span = line.span(word.at, max(word.end, word.at + 1))
    near = next(iter(similar(word.text.upper()[:40], sorted(KEYWORDS), 0.7)), None)
    help_text = f"the commands are {', '.join(sorted(KEYWORDS))}; NAME = VALUE defines a macro"
    if word.text.lower() == "queue":
        help_text = (
            "queue belongs to submit files, and HTCondor does not accept it as a macro either: choose another name"
        )
    if line.unterminated and line.text[:1] in BLANKS:
        help_text = "HTCondor does not strip blanks from a last line without a line end: add one"
    if line.text[word.end : word.end + 1] in {"", " "} and word.text[-1:] in {"=", ":"}:
        help_text = "a command has no = or : after its keyword"
    return fault("keyword", message, span, f"did you mean {near}?" if near else help_text, near)


def _too_few(line: LogicalLine, first: Word, second: Word | None = None) -> Diagnostic:
    keyword = first.text.upper()
    span = line.span(first.start)
    if keyword in ENVELOPE or keyword == "DELETE":
        return fault("arguments", f"{keyword} needs an argument", span, "write it after the keyword")
    name, sign, value = second.text.partition("=") if second is not None else ("", "", "")
    if is_attribute_name(name) and sign and value:
        shown = f"{first.text} {name} {value}"
        return fault("arguments", f"{keyword} needs 2 arguments, separated by a blank", span, f"write {shown}", shown)
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
        "write /expression/ with nothing but g, i, m or U after it; a slash inside cannot be escaped, . finds it"
    )
    return fault("regex", "invalid regex", line.span(word.at), help_text)
