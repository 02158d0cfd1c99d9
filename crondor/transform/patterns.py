"""COPY, RENAME and DELETE of all attributes whose names a regular expression finds (HTCondor: DoRegexAttrOp)."""

from __future__ import annotations

import re
from typing import NamedTuple

from crondor.classad.regexp import GivenUp, Regex, RegexpMatch, compiled
from crondor.classad.text import from_bytes, lower, to_bytes
from crondor.macro.errors import MacroError
from crondor.macro.lines import LogicalLine
from crondor.transform.apply import TransformRun
from crondor.transform.commands import NamedCommand, is_name, move
from crondor.transform.errors import short
from crondor.transform.words import Pattern, Word

_GROUP = re.compile(rb"\\([0-9])")
_MOST_KNOWN = 64  # sets of names whose search is remembered
_MOST_NAMES = 1 << 15  # characters of one such set
_LONG = 1 << 16  # bytes of a name that is made; HTCondor has no bound
_STEP = 16  # what a step of a search costs of the budget of macros
_NAME = 4  # what it costs to look at a name once
_DOUBLED = "a pattern that finds what it has made doubles it: let it find less"


class ByPattern(NamedCommand):
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
            ungreedy = "(?U)" if "U" in self.options else ""
            self._compiled = compiled(ungreedy + self.name, "im" if "m" in self.options else "i")
        return self._compiled

    def run(self, run: TransformRun) -> int | None:
        """Find all names first, then change them in the order of their bytes."""
        text = self._filled(run)
        regex = self.compiled()
        if regex is None:
            message = f"Error compiling regex '{self.name}': this entry will be ignored"
            run.warn("regex", message, "mend the expression")
            return None
        names = run.own_names()
        _spend(run, _NAME * len(names))
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
                run.stop("long-name", f"{self.keyword} makes a name of more than {_LONG} characters", _DOUBLED)
            move(run, self.keyword, name, new)
        return None

    def moves(self, names: tuple[str, ...]) -> list[tuple[str, str]] | None:
        """Return names in lower case with their new ones, of names that were searched before.

        None: they were not, or the new names depend on more than the old.
        """
        found = self._found.get(names)
        if found is None or not self.rest.is_plain:
            return None
        text = self.rest.text
        moves: list[tuple[str, str]] = []
        for _, key, groups in found:
            new = _substituted(text, groups)
            if new is None or not (self.keyword == "DELETE" or is_name(new)):
                return None
            moves.append((key, new))
        return moves

    def _search_all(self, run: TransformRun, regex: Regex, names: tuple[str, ...]) -> tuple[_Found, ...]:
        """Return what is found in the names of an ad, and keep it where all were searched: ads are much alike."""
        found: list[_Found] = []
        complete = True
        for data, name in sorted((to_bytes(name), name) for name in names):
            match, is_known = self._search(run, regex, data)
            complete = complete and is_known
            # HTCondor's flag for g is PCRE2's for a match at the beginning alone.
            if match is not None and not ("g" in self.options and match.span()[0]):
                found.append(_Found(name, lower(name), _groups(match, regex.groups)))
        if complete and sum(map(len, names)) <= _MOST_NAMES:
            if len(self._found) >= _MOST_KNOWN:
                self._found.clear()
            self._found[names] = tuple(found)
        return tuple(found)

    def _search(self, run: TransformRun, regex: Regex, data: bytes) -> tuple[RegexpMatch | None, bool]:
        """Return what is found in a name, and whether that is known: a search that takes too long ends."""
        try:
            return regex.first(data, lambda steps: _spend(run, _STEP * steps)), True
        except GivenUp:
            message = f"the search of '{short(self.name)}' in {short(data.decode('utf-8', 'replace'))} takes too long"
            run.warn("regex-limit", message, "the name counts as not found; repeat no group inside a repeated group")
            return None, False


class _Found(NamedTuple):
    """A name with the groups that matched in it, the whole match first, up to the last that took part."""

    name: str
    key: str
    groups: tuple[bytes, ...]


def _groups(match: RegexpMatch, groups: int) -> tuple[bytes, ...]:
    r"""Return the groups that matched, up to ``\9``, the whole match first."""
    last = next((number for number in range(groups, 0, -1) if match.group(number) is not None), 0)
    return tuple(match.group(number) or b"" for number in range(min(last, 9) + 1))


def _spend(run: TransformRun, amount: int) -> None:
    """Take work from what is left to a run. Raises Stop when there is no more."""
    try:
        run.spend(amount)
    except MacroError:
        run.stop("too-much-work", "the search for names takes too long: there are too many, or too long ones", _DOUBLED)


def _substituted(template: str, groups: tuple[bytes, ...]) -> str | None:
    r"""Return a new name with ``\0`` to ``\9`` replaced; one beyond the last group that matched stays as it is.

    None: the name would be too long.
    """
    if "\\" not in template:
        return template
    data = to_bytes(template)
    last = len(groups) - 1
    numbers = [number for each in _GROUP.findall(data) if (number := int(each)) <= last]
    if len(data) + sum(len(groups[number]) - 2 for number in numbers) > _LONG:
        return None
    return from_bytes(_GROUP.sub(lambda found: groups[int(found[1])] if int(found[1]) <= last else found[0], data))
