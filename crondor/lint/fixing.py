"""Applying the fixes of findings, round after round, until none is left that fixes anything; for every kind of text."""

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

_ROUNDS = 40  # a fix may bring another finding to light; whoever goes in a circle changes nothing
_DEPTH = 4  # fixes that are needed for what another one brings to light, and those for what they do
_MOST_CHECKS = 400  # of one short file; where so many fixes do not hold, nothing is changed
_LONG = 10_000  # characters that cost as much as another check
_TOO_MANY = "too many of the fixes do not work, so none is made"
_FEW = 3  # codes that a reason names

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]
Read = TypeVar("Read")


class LeftFix(NamedTuple):
    """A fix that was not made: what it is for, and why not, as the end of a sentence."""

    diagnostic: Diagnostic
    fix: Fix
    reason: str


class Cured(NamedTuple):
    """The report of the changed text, what was done, in order, and what was left out."""

    report: CheckReport
    titles: tuple[str, ...] = ()
    left: tuple[LeftFix, ...] = ()


class Cure(NamedTuple):
    """A fix, and the finding that it fixes."""

    found: Diagnostic
    fix: Fix

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from others when it comes again: its code and title, and the line it is found in."""
        span = self.found.span
        return self.found.code, self.fix.title, "" if span is None else span.source.line(span.line)


@dataclass(frozen=True)
class Checked(Generic[Read]):
    """Texts that are read together, what was found in each, and ``read``, what they say.

    ``cost`` is what it took to check them, in checks of a short text.
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
        """How many errors there are of each code."""
        return self.grave(Severity.ERROR)

    def grave(self, severity: Severity) -> Counter[str]:
        """Return how many findings there are of each code that are as grave as some severity."""
        return Counter(each.code for each in self.found if ORDER[each.severity] <= ORDER[severity])

    @property
    def found(self) -> Iterator[Diagnostic]:
        """What was found in all of them."""
        return (each.diagnostic for report in self.reports for each in report.findings)

    def cures(self, choose: Choose, *, unsafe: bool) -> list[Cure]:
        """Return the fixes of the findings that ``choose`` leaves, with ``unsafe`` all of them."""
        return [cure for report in self.reports for cure in _cures(report, choose, unsafe=unsafe)]


@dataclass(frozen=True)
class Kind(Generic[Read]):
    """A kind of text: how to check texts anew, and why some fixes are none, whatever else is found after them.

    ``check`` is given all of the texts in their order, and raises nothing of its own. ``objection`` is given the texts
    before and after, each change, and the fixes. ``noun`` is what a person calls the texts: the file.
    """

    noun: str
    check: Callable[[Sequence[Source]], Checked[Read]]
    objection: Callable[[Checked[Read], Checked[Read], Sequence[TextChange], Sequence[Cure]], str | None]


def cured(kind: Kind[Read], begun: Checked[Read], choose: Choose, *, unsafe: bool = False) -> list[Cured]:
    """Apply the safe fixes of the findings that ``choose`` leaves, with ``unsafe`` all of them, and check again.

    Return what became of each text. Where two fixes touch the same place the first one goes, and the other waits for
    the next round. Each new text is read and checked before it counts. A fix is left out after which its finding is
    still there; with which the texts would have an error that they did not have, or more findings as grave as the one
    that is fixed; and one that the kind of text objects to. What a fix brings to light may have a fix as well: they are
    then made together. A second time changes nothing.
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
    """Return the report without the fixes that were not made; another one may have changed the line of a finding."""
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
    """One run of fixes, with those that turned out to be none: ``left``, by their keys."""

    def __init__(self, kind: Kind[Read], cures: Callable[[Checked[Read]], list[Cure]]) -> None:
        self._kind = kind
        self._all = cures
        self._checks = _MOST_CHECKS
        self.left: dict[tuple[str, str, str], LeftFix] = {}

    def cures(self, state: Checked[Read]) -> list[Cure]:
        """Return what may be tried."""
        return [cure for cure in self._all(state) if cure.key not in self.left]

    def settled(self, state: Checked[Read]) -> tuple[Checked[Read], list[Cure]]:
        """Return the texts after all fixes that hold, and these fixes; what did not hold may do so in another text."""
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
        """Return the texts after all fixes that hold, those ``known`` aside, and these fixes."""
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
        """Return the texts after those of some fixes that hold; at first all are tried at once, then by halves."""
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
        """Return the texts after those of some fixes that can be made at once, or why they are none."""
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
        if reason is not None and depth < _DEPTH:  # what has come to light may have a fix
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
        """Say what texts have that they should not have after fixes of findings that are at least so grave."""
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
    """Return whether fixes change nothing, or not what they are for."""
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
    """Return in which of some texts a finding begins, and where; None for one that is about another text."""
    span = found.span
    number = None if span is None else names.get(span.source)
    return number, None if span is None or number is None else span.start
