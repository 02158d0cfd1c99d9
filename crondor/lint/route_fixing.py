"""Applying the fixes of a configuration's findings: each new text is read and checked again before it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckReport
from crondor.lint.fixing import Cured, LeftFix
from crondor.lint.routes import CheckedRoutes
from crondor.lint.rule import Finding, Fix, compatible
from crondor.submit.edits import changed

_ROUNDS: Final = 20
_MOST_CHECKS: Final = 100  # of one configuration; fixes that are not tried by then are left out

Check = Callable[[Sequence[Source]], CheckedRoutes]
"""Reads a configuration anew from the texts of the files that were named, in their order, and applies the rules."""

Choose = Callable[[Iterable[Finding]], Iterable[Finding]]


class _Cure(NamedTuple):
    finding: Finding
    fix: Fix

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from others when it comes again: its code and title, and the line it is found in."""
        span = self.fix.edits[0].span
        return self.finding.diagnostic.code, self.fix.title, span.source.line(span.line)


class _State(NamedTuple):
    sources: tuple[Source, ...]
    found: CheckedRoutes


def fixed_routes(sources: Sequence[Source], check: Check, choose: Choose = tuple) -> list[Cured]:
    """Apply the fixes of the findings that ``choose`` leaves in the files that were named, and check again.

    Return for each file its report after that, what was done, and what was left out. A fix is left out where its
    finding is still there after it, or where the configuration then has an error that it did not have, or more
    findings. Nothing is changed of a configuration that cannot be read. A second time changes nothing. Raises what
    ``check`` does.
    """
    state = _State(tuple(sources), check(sources))
    done: list[list[str]] = [[] for _ in sources]
    left: dict[tuple[str, str, str], str] = {}
    checks = _MOST_CHECKS
    for _ in range(_ROUNDS if state.found.table.configuration.is_valid else 0):
        cures = [each for each in _cures(state, choose) if each.key not in left]
        taken = _together(state, cures)
        while taken:
            checks -= 1
            after = _after(state, taken, check) if checks >= 0 else None
            reason = "too many fixes do not hold" if after is None else _worse(state, after, taken)
            if reason is None and after is not None:
                for number, source in enumerate(state.sources):
                    done[number] += [each.fix.title for each in taken if each.fix.edits[0].span.source is source]
                state = after
                break
            if len(taken) == 1:
                left[taken[0].key] = reason or ""
                break
            taken = taken[: len(taken) // 2]
        if not cures:
            break
    cures = [each for each in _cures(state, choose) if each.key in left]
    reasons = [LeftFix(each.finding.diagnostic, each.fix, left[each.key]) for each in cures]
    return [
        Cured(
            _report(state, number),
            tuple(dict.fromkeys(titles)),
            tuple(each for each in reasons if each.fix.edits[0].span.source is state.sources[number]),
        )
        for number, titles in enumerate(done)
    ]


def _report(state: _State, number: int) -> CheckReport:
    return next(each for each in state.found.reports if each.source is state.sources[number])


def _cures(state: _State, choose: Choose) -> list[_Cure]:
    """Return the safe fixes that change the named files alone."""
    found = [finding for report in state.found.reports for finding in choose(report.findings)]
    return [
        _Cure(each, each.fix)
        for each in found
        if each.fix is not None and each.fix.safe and all(_is_of(edit.span.source, state) for edit in each.fix.edits)
    ]


def _is_of(source: Source, state: _State) -> bool:
    return any(source is each for each in state.sources)


def _together(state: _State, cures: Sequence[_Cure]) -> list[_Cure]:
    """Return those that can be made at once."""
    taken: list[_Cure] = []
    for source in state.sources:
        own = [each for each in cures if each.fix.edits[0].span.source is source]
        fixes = compatible(source, [each.fix for each in own])
        taken += [each for each in own if any(each.fix is fix for fix in fixes)]
    return taken


def _after(state: _State, cures: Sequence[_Cure], check: Check) -> _State:
    made = []
    for source in state.sources:
        edits = [edit for cure in cures for edit in cure.fix.edits if edit.span.source is source]
        made.append(Source(changed(source, edits).text, source.name) if edits else source)
    return _State(tuple(made), check(made))


def _worse(before: _State, after: _State, cures: Sequence[_Cure]) -> str | None:
    """Say why fixes are none, None: they are."""
    if not after.found.table.configuration.is_valid:
        return "the configuration could not be read any more"
    new = _counted(after, {Severity.ERROR}) - _counted(before, {Severity.ERROR})
    had, has = (_counted(state, set(Severity)) for state in (before, after))
    if new or has.total() > had.total() - len(cures):
        codes = sorted(new or has - had)
        return f"the configuration would then have {', '.join(codes)}" if codes else "its finding would still be there"
    return None


def _counted(state: _State, severities: set[Severity]) -> Counter[str]:
    found = (each.diagnostic for report in state.found.reports for each in report.findings)
    return Counter(each.code for each in found if each.severity in severities)
