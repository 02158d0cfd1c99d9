"""Apply the fixes of findings, round after round, until none is left; for every kind of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.lint.report import CheckReport
from crondor.lint.rule import ORDER, Finding, Fix, compatible
from crondor.submit.edits import TextChange, changed

_ROUNDS = 40  # a fix may reveal another finding; fixes that go in a circle change nothing
_DEPTH = 4  # how deep fixes may depend on fixes for findings that they reveal
_MOST_CHECKS = 400  # of one short file; if so many fixes fail, nothing is changed
_LONG = 10_000  # characters that cost as much as one more check
_TOO_MANY = "too many of the fixes do not work, so none is applied"
_FEW = 3  # codes named in a reason

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]
Read = TypeVar("Read")


class LeftFix(NamedTuple):
    """A fix that was not applied: what it is for, and why not, as the end of a sentence."""

    diagnostic: Diagnostic
    fix: Fix
    reason: str


class Cured(NamedTuple):
    """The report of the changed text, the applied fixes in order, and the fixes left out."""

    report: CheckReport
    titles: tuple[str, ...] = ()
    left: tuple[LeftFix, ...] = ()


class Cure(NamedTuple):
    """A fix and its finding."""

    found: Diagnostic
    fix: Fix

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the fix in later rounds: its code and title, and the line of the finding."""
        span = self.found.span
        return self.found.code, self.fix.title, "" if span is None else span.source.line(span.line)


@dataclass(frozen=True)
class Checked(Generic[Read]):
    """Texts that are checked together, the findings of each, and ``read``, the parsed result.

    ``cost`` is the cost of checking them, in checks of a short text.
    """

    reports: tuple[CheckReport, ...]
    read: Read
    cost: int = 1

    @property
    def sources(self) -> tuple[Source, ...]:
        """The texts."""
        return tuple(each.source for each in self.reports)

    @cached_property
    def errors(self) -> Counter[str]:
        """The number of errors per code."""
        return self.grave(Severity.ERROR)

    def grave(self, severity: Severity) -> Counter[str]:
        """Return the number of findings per code that are at least as severe."""
        return Counter(each.code for each in self.found if ORDER[each.severity] <= ORDER[severity])

    @property
    def found(self) -> Iterator[Diagnostic]:
        """The findings of all texts."""
        return (each.diagnostic for report in self.reports for each in report.findings)

    def cures(self, choose: Choose, *, unsafe: bool) -> list[Cure]:
        """Return the fixes of the findings that ``choose`` keeps; with ``unsafe`` also the unsafe ones."""
        return [cure for report in self.reports for cure in _cures(report, choose, unsafe=unsafe)]


@dataclass(frozen=True)
class Kind(Generic[Read]):
    """A kind of text: how to check it, and an extra objection to fixes.

    ``check`` gets all texts in order and raises nothing of its own. ``objection`` gets the texts before and after, each
    change, and the fixes. ``noun`` is the user's word for the texts: the file.
    """

    noun: str
    check: Callable[[Sequence[Source]], Checked[Read]]
    objection: Callable[[Checked[Read], Checked[Read], Sequence[TextChange], Sequence[Cure]], str | None]


def cured(kind: Kind[Read], begun: Checked[Read], choose: Choose, *, unsafe: bool = False) -> list[Cured]:
    """Apply the safe fixes of the findings that ``choose`` keeps (with ``unsafe`` all of them) and check again.

    Return the result for each text. If two fixes touch the same place, the second waits for the next round. Each new
    text is read and checked before it counts. A fix is left out if its finding remains, if it would add an error or
    more findings of the same severity, or if the kind of text objects. If a fix reveals a finding that has a fix too,
    both are applied together. Applying it again changes nothing.
    """
    fixing = _Fixing(kind, lambda state: state.cures(choose, unsafe=unsafe))
    try:
        state, done = fixing.settled(begun)
    except _TooMany:
        state, done = begun, []
        fixing.left = {cure.key: LeftFix(*cure, _TOO_MANY) for cure in begun.cures(choose, unsafe=unsafe)}
    result = []
    for report in state.reports:
        titles = (cure.fix.title for cure in done if cure.fix.edits[0].span.source.name == report.source.name)
        keys = dict.fromkeys(cure.key for cure in _cures(report, choose, unsafe=unsafe))
        left = tuple(fixing.left[key] for key in keys if key in fixing.left)
        result.append(Cured(report, tuple(dict.fromkeys(titles)), left))
    return result


def _cures(report: CheckReport, choose: Choose, *, unsafe: bool) -> list[Cure]:
    found = choose(report.findings)
    return [Cure(each.diagnostic, each.fix) for each in found if each.fix is not None and (each.fix.safe or unsafe)]


def without_fixes(report: CheckReport, left: Iterable[LeftFix]) -> CheckReport:
    """Return the report without the fixes that were left out; other fixes may have moved their findings."""
    missing = [Cure(each.diagnostic, each.fix).key for each in left]
    findings = list(report.findings)
    for length in (3, 2):  # the same line, then any
        for at, each in enumerate(findings):
            key = Cure(each.diagnostic, each.fix).key[:length] if each.fix is not None else None
            match = next((other for other in missing if other[:length] == key), None)
            if match is not None:
                missing.remove(match)
                findings[at] = each._replace(fix=None)
    return report._replace(findings=tuple(findings))


class _TooMany(Exception):
    """The texts have been checked too often."""


class _Fixing(Generic[Read]):
    """One run of fixes; ``left`` has the fixes that do not work, by key."""

    def __init__(self, kind: Kind[Read], cures: Callable[[Checked[Read]], list[Cure]]) -> None:
        self._kind = kind
        self._all = cures
        self._checks = _MOST_CHECKS
        self.left: dict[tuple[str, str, str], LeftFix] = {}

    def cures(self, state: Checked[Read]) -> list[Cure]:
        """Return the fixes to try."""
        return [cure for cure in self._all(state) if cure.key not in self.left]

    def settled(self, state: Checked[Read]) -> tuple[Checked[Read], list[Cure]]:
        """Return the texts after all fixes that work, and these fixes; a failed fix may work on another text."""
        done: list[Cure] = []
        for _ in range(_ROUNDS):
            self.left.clear()
            after, made = self.settle(state)
            if after is state:
                return state, done
            state, done = after, [*done, *made]
        raise _TooMany

    def settle(
        self, state: Checked[Read], depth: int = 0, known: Iterable[Cure] = ()
    ) -> tuple[Checked[Read], list[Cure]]:
        """Return the texts after all fixes that work, except ``known``, and these fixes."""
        passed = {cure.key for cure in known}
        done: list[Cure] = []
        for _ in range(_ROUNDS):
            cures = [cure for cure in self.cures(state) if cure.key not in passed]
            after, made = self._some(state, cures, depth) if cures else (state, [])
            if after is state:
                return state, done
            state, done = after, [*done, *made]
        raise _TooMany

    def _some(self, state: Checked[Read], cures: Sequence[Cure], depth: int) -> tuple[Checked[Read], list[Cure]]:
        """Return the texts after the fixes that work: first all are tried at once, then halves."""
        tried = self._tried(state, cures, depth)
        if not isinstance(tried, str):
            return tried
        if len(cures) == 1:
            self.left[cures[0].key] = LeftFix(*cures[0], tried)
            return state, []
        half = len(cures) // 2
        first, done = self._some(state, cures[:half], depth)
        waiting = {cure.key for cure in cures[half:]}
        rest = [cure for cure in self.cures(first) if cure.key in waiting]
        last, more = self._some(first, rest, depth) if rest else (first, [])
        return last, [*done, *more]

    def _tried(self, state: Checked[Read], cures: Sequence[Cure], depth: int) -> tuple[Checked[Read], list[Cure]] | str:
        """Return the texts after some fixes applied together, or why they do not work."""
        taken: list[Cure] = []
        changes: list[TextChange] = []
        for source in state.sources:
            fixes = compatible(source, [cure.fix for cure in cures])
            own = [cure for cure in cures if any(cure.fix is fix for fix in fixes)]
            changes.append(changed(source, [edit for cure in own for edit in cure.fix.edits]))
            taken += own
        after = self._checked([Source(new.text, old.name) for new, old in zip(changes, state.sources, strict=True)])
        reason = _unchanged(state, after, changes, taken) or self._kind.objection(state, after, changes, taken)
        if reason is not None:
            return reason
        severity = max((cure.found.severity for cure in taken), key=ORDER.__getitem__)
        reason = self._worse(state, after, severity)
        if reason is not None and depth < _DEPTH:  # the findings revealed may have fixes
            after, more = self.settle(after, depth + 1, self.cures(state))
            reason = self._worse(state, after, severity)
            taken += more
        return (after, taken) if reason is None else reason

    def _checked(self, sources: Sequence[Source]) -> Checked[Read]:
        if self._checks < 0:
            raise _TooMany
        state = self._kind.check(sources)
        self._checks -= state.cost + sum(len(each.text) for each in sources) // _LONG
        return state

    def _worse(self, before: Checked[Read], after: Checked[Read], severity: Severity) -> str | None:
        """Return what is worse after the fixes of findings of some severity, None if nothing is."""
        new = after.errors - before.errors
        had, has = before.grave(severity), after.grave(severity)
        if not new and has.total() <= had.total():
            return None
        messages = {each.code: each.message for each in reversed(list(after.found))}
        codes = sorted(new or has - had)[:_FEW]
        return f"the {self._kind.noun} would then have " + ", ".join(f"{code} ({messages[code]})" for code in codes)


def _unchanged(
    before: Checked[Read], after: Checked[Read], changes: Sequence[TextChange], cures: Sequence[Cure]
) -> str | None:
    """Return why fixes do not count: they change nothing, or their finding remains."""
    moved: Mapping[Source, TextChange] = dict(zip(before.sources, changes, strict=True))
    if all(change.text == source.text for source, change in moved.items()):
        return "it changes nothing"
    names = {source: number for sources in (before.sources, after.sources) for number, source in enumerate(sources)}
    found = {(each.code, each.message, *_place(each, names)) for each in after.found}
    for cure in cures:
        number, at = _place(cure.found, names)
        place = None if at is None or number is None else changes[number].place(at)
        if (cure.found.code, cure.found.message, number, place) in found:
            return "its finding would still be there"
    return None


def _place(found: Diagnostic, names: Mapping[Source, int]) -> tuple[int | None, int | None]:
    """Return which of some texts a finding is in, and where; None if it is about another text."""
    span = found.span
    number = None if span is None else names.get(span.source)
    return number, None if span is None or number is None else span.start
