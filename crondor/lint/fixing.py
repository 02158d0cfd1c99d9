"""Applying the fixes of a report, round after round, until none is left that fixes anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.lint.report import CheckReport
from crondor.lint.rule import ORDER, Finding, Fix, compatible
from crondor.lint.subject import CheckedFile, CheckSettings
from crondor.lint.submit import Read, read_file, report_of
from crondor.lint.values import POLICIES
from crondor.lint.written import faults
from crondor.schedule import COMMANDS
from crondor.spec import FIELDS
from crondor.submit import read_submit
from crondor.submit.edits import JobsValue, Meaning, TextChange, changed, differing, meaning, touched

_PLAIN = frozenset(name for field in FIELDS for name in (field.command, field.attribute.lower()))
_EXPRESSIONS = frozenset((*COMMANDS, *POLICIES, "requirements", "rank")) - _PLAIN - {"universe"}


def unreadable(file_says: Meaning, keys: Iterable[str]) -> list[str]:
    """Return which of some names have a value that should be a ClassAd expression, and is none."""
    wanted = sorted(key for key in keys if key in _EXPRESSIONS or key.startswith("my."))
    values = {(key, value.text) for key in wanted for value in file_says.get(key, ()) if isinstance(value, JobsValue)}
    return sorted({key for key, text in values if text.strip() and faults(text, key)})


_ROUNDS = 40  # a fix may bring another finding to light; whoever goes in a circle changes nothing
_DEPTH = 4  # fixes that are needed for what another one brings to light, and those for what they do
_MOST_CHECKS = 400  # of one short file; where so many fixes do not hold, nothing is changed
_LONG = 10_000  # characters that cost as much as another check
_DEAR = 100  # checks that one costs which takes all the effort that one may
_READING = "CRN0"  # with what such codes have found nobody can read a text, or, with the next, submit it
_REFUSED = "CRN017"
_VALUES = ("CRN1", "CRN3")  # of values: those of cron fields, and those of expressions and numbers
_TOO_MANY = "so many fixes of this file do not hold that none is made"
_FEW = 3  # codes that a reason names

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]


class LeftFix(NamedTuple):
    """A fix that was not made: what it is for, and why not, as the end of a sentence."""

    diagnostic: Diagnostic
    fix: Fix
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from others when it comes again: its code and title, and the line it is found in."""
        return _key(self.diagnostic, self.fix)


def _key(found: Diagnostic, fix: Fix) -> tuple[str, str, str]:
    span = found.span
    return found.code, fix.title, "" if span is None else span.source.line(span.line)


@dataclass(frozen=True)
class Cured:
    """The report of the changed text, what was done, in order, and what was left out."""

    report: CheckReport
    titles: tuple[str, ...]
    left: tuple[LeftFix, ...] = ()


def offered(
    report: CheckReport, settings: CheckSettings, choose: Choose = tuple, read: Read = read_submit
) -> CheckReport:
    """Return the report with the fixes alone that ``fixed`` makes: the safe ones, and those with ``unsafe``."""
    for unsafe in (False, True):
        if any(each.fix is not None and each.fix.safe is not unsafe for each in choose(report.findings)):
            left = fixed(report, settings, choose, unsafe=unsafe, read=read).left
            report = without_fixes(report, (each for each in left if each.fix.safe is not unsafe))
    return report


def without_fixes(report: CheckReport, left: Iterable[LeftFix]) -> CheckReport:
    """Return the report without the fixes that were not made; another one may have changed the line of a finding."""
    missing = list(left)
    exact = {each.key for each in missing}
    findings: list[Finding] = []
    for each in report.findings:
        if each.fix is not None and _key(each.diagnostic, each.fix) in exact:
            key = _key(each.diagnostic, each.fix)
            missing = [other for other in missing if other.key != key]
            findings.append(each._replace(fix=None))
        else:
            findings.append(each)
    for other in missing:
        at = next((at for at, each in enumerate(findings) if _is_alike(each, other)), None)
        if at is not None:
            findings[at] = findings[at]._replace(fix=None)
    return report._replace(findings=tuple(findings))


def _is_alike(finding: Finding, left: LeftFix) -> bool:
    return finding.fix is not None and (finding.diagnostic.code, finding.fix.title) == left.key[:2]


def fixed(
    report: CheckReport,
    settings: CheckSettings,
    choose: Choose = tuple,
    *,
    unsafe: bool = False,
    read: Read = read_submit,
) -> Cured:
    """Apply the safe fixes of the findings that ``choose`` leaves, with ``unsafe`` all of them, and check again.

    Where two fixes touch the same place the first one goes, and the other waits for the next round. Each new text is
    read and checked before it counts. A fix is left out after which its finding is still there, or the text cannot be
    read; with which the text would have an error that it did not have, or more findings as grave as the one that is
    fixed; and one that changes what another line means. What a fix brings to light may have a fix as well: they are
    then made together. A second time changes nothing.
    """
    if not _cures(choose, report.findings, unsafe=unsafe):
        return Cured(report, ())
    fixing = _Fixing(settings, read, lambda found: _cures(choose, found, unsafe=unsafe))
    begun = _State(report, read_file(report.source, settings, read))
    state, done = begun, list[str]()
    try:
        for _ in range(_ROUNDS):
            fixing.left.clear()  # what did not hold before may do so in another text
            after, titles = fixing.settle(state)
            if after is state:
                return Cured(state.report, tuple(dict.fromkeys(done)), fixing.left_of(state))
            state, done = after, [*done, *titles]
    except _TooMany:
        pass
    fixing.left.clear()
    return Cured(report, (), tuple(cure.left(_TOO_MANY) for cure in fixing.cures(begun)))


class _TooMany(Exception):
    """The text has been checked too often."""


class _Cure(NamedTuple):
    """A fix, and the finding that it fixes."""

    found: Diagnostic
    fix: Fix

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from others when it comes again."""
        return _key(self.found, self.fix)

    def left(self, reason: str) -> LeftFix:
        return LeftFix(self.found, self.fix, reason)


def _cures(choose: Choose, found: Iterable[Finding], *, unsafe: bool) -> list[_Cure]:
    return [
        _Cure(each.diagnostic, each.fix) for each in choose(found) if each.fix is not None and (each.fix.safe or unsafe)
    ]


@dataclass(frozen=True)
class _State:
    """A text, what was found in it, and what it says."""

    report: CheckReport
    file: CheckedFile

    @cached_property
    def meaning(self) -> Meaning | None:
        """What its names come to, None where it cannot be read."""
        return None if self.file.submit is None else meaning(self.file.submit)

    @cached_property
    def errors(self) -> Counter[str]:
        """How many errors there are of each code."""
        return self.grave(Severity.ERROR)

    def grave(self, severity: Severity) -> Counter[str]:
        """Return how many findings there are of each code that are as grave as some severity."""
        found = (each.diagnostic for each in self.report.findings)
        return Counter(each.code for each in found if ORDER[each.severity] <= ORDER[severity])

    def start(self, found: Diagnostic) -> int | None:
        """Return where a finding begins in the text, None for one that is about another."""
        span = found.span
        return span.start if span is not None and span.source is self.report.source else None


class _Fixing:
    """One run of fixes, with those that turned out to be none: ``left``, by their keys."""

    def __init__(self, settings: CheckSettings, read: Read, cures: Callable[[Iterable[Finding]], list[_Cure]]) -> None:
        self._settings = settings
        self._read = read
        self._choose = cures
        self._checks = _MOST_CHECKS
        self.left: dict[tuple[str, str, str], LeftFix] = {}

    def cures(self, state: _State) -> list[_Cure]:
        """Return what may be tried in a text."""
        return [cure for cure in self._choose(state.report.findings) if cure.key not in self.left]

    def left_of(self, state: _State) -> tuple[LeftFix, ...]:
        """Return what was tried in a text, and did not hold."""
        keys = dict.fromkeys(cure.key for cure in self._choose(state.report.findings))
        return tuple(self.left[key] for key in keys if key in self.left)

    def settle(self, state: _State, depth: int = 0, known: Iterable[_Cure] = ()) -> tuple[_State, list[str]]:
        """Return the text after all fixes that hold, those ``known`` aside, and their titles."""
        passed = {cure.key for cure in known}
        done: list[str] = []
        for _ in range(_ROUNDS):
            cures = [cure for cure in self.cures(state) if cure.key not in passed]
            after, titles = self._some(state, cures, depth) if cures else (state, [])
            if after is state:
                return state, done
            state, done = after, [*done, *titles]
        raise _TooMany

    def _some(self, state: _State, cures: Sequence[_Cure], depth: int) -> tuple[_State, list[str]]:
        """Return the text after those of some fixes that hold; at first all are tried at once, then by halves."""
        tried = self._tried(state, cures, depth)
        if not isinstance(tried, str):
            return tried
        if len(cures) == 1:
            self.left[cures[0].key] = cures[0].left(tried)
            return state, []
        half = len(cures) // 2
        first, done = self._some(state, cures[:half], depth)
        waiting = {cure.key for cure in cures[half:]}
        rest = [cure for cure in self.cures(first) if cure.key in waiting]
        last, more = self._some(first, rest, depth) if rest else (first, [])
        return last, [*done, *more]

    def _tried(self, state: _State, cures: Sequence[_Cure], depth: int) -> tuple[_State, list[str]] | str:
        """Return the text after those of some fixes that can be made at once, or why they are none."""
        fixes = compatible(state.report.source, [cure.fix for cure in cures])
        taken = [cure for cure in cures if any(cure.fix is fix for fix in fixes)]
        change = changed(state.report.source, [edit for cure in taken for edit in cure.fix.edits])
        after = self._checked(change.text, state.report.source.name)
        reason = _broken(state, after, change, taken)
        if reason is not None:
            return reason
        titles = [fix.title for fix in fixes]
        severity = max((cure.found.severity for cure in taken), key=ORDER.__getitem__)
        reason = _worse(state, after, severity)
        if reason is not None and depth < _DEPTH:  # what has come to light may have a fix
            after, more = self.settle(after, depth + 1, self.cures(state))
            reason = _worse(state, after, severity)
            titles += more
        return (after, titles) if reason is None else reason

    def _checked(self, text: str, name: str) -> _State:
        if self._checks < 0:
            raise _TooMany
        file = read_file(Source(text, name), self._settings, self._read)
        state = _State(report_of(file), file)
        self._checks -= 1 + len(text) // _LONG + int(_DEAR * file.effort.spent)
        return state


def _broken(before: _State, after: _State, change: TextChange, cures: Sequence[_Cure]) -> str | None:
    """Say why fixes are none by themselves, whatever else is found after them; None: they are."""
    if change.text == before.report.source.text:
        return "it changes nothing"
    left = [each.diagnostic for each in after.report.findings]
    found = {(each.code, each.message, after.start(each)) for each in left}
    for cure in cures:
        at = before.start(cure.found)
        if (cure.found.code, cure.found.message, None if at is None else change.place(at)) in found:
            return "its finding would still be there"
    return _unreadable(before, after) or _wrong_value(after, change) or _elsewhere(before, after, change, cures)


def _unreadable(before: _State, after: _State) -> str | None:
    known = {code for code in before.errors if code.startswith(_READING) and code != _REFUSED}
    faults = [each for each in _errors(after.report) if each.code.startswith(_READING)]
    fault = next((each for each in faults if each.code not in before.errors), None)
    if fault is not None and not known:  # else nothing else was seen of the text
        return f"the file could not be read, or submitted, any more: {fault.message} [{fault.code}]"
    return None


def _wrong_value(after: _State, change: TextChange) -> str | None:
    for fault in _errors(after.report):
        span = fault.span
        if span is None or span.source is not after.report.source or not fault.code.startswith(_VALUES):
            continue
        if any(span.start < end and start < span.end for _, (start, end) in change.written):
            return f"what it writes would be wrong: {fault.message} [{fault.code}]"
    return None


def _elsewhere(before: _State, after: _State, change: TextChange, cures: Sequence[_Cure]) -> str | None:
    """Say what fixes change that they are not about, or change though nobody can read it."""
    own = touched(before.report.source, change)
    is_list = "" in own and not any(cure.fix.safe for cure in cures)  # which --unsafe asked for, with all it gives
    if before.meaning is None or after.meaning is None or is_list:
        return None
    wrong = unreadable(after.meaning, own)
    if wrong:
        return f"{wrong[0]} could not be read as an expression"
    unread = unreadable(before.meaning, own)
    if unread and not all(cure.found.severity is Severity.ERROR for cure in cures):
        return f"{unread[0]} cannot be read as an expression, and nobody can say what it would mean"
    others = differing(before.meaning, after.meaning) - own
    if not others:
        return None
    if "" in others:
        return "it would change how many jobs there are"
    return f"it would change {', '.join(sorted(others)[:_FEW])} as well"


def _worse(before: _State, after: _State, severity: Severity) -> str | None:
    """Say what a text has that it should not have after fixes of findings that are at least so grave."""
    new = after.errors - before.errors
    had, has = before.grave(severity), after.grave(severity)
    if not new and has.total() <= had.total():
        return None
    codes = sorted(new or has - had)[:_FEW]
    names = {each.diagnostic.code: each.diagnostic.message for each in reversed(after.report.findings)}
    return "the file would then have " + ", ".join(f"{code} ({names[code]})" for code in codes)


def _errors(report: CheckReport) -> list[Diagnostic]:
    found = [each.diagnostic for each in (*report.findings, *report.silenced)]
    return [each for each in found if each.severity is Severity.ERROR]
