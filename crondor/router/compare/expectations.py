"""What is expected of a routing table: jobs like this go on that route, with these attributes, or on none.

An expectation says of a job only what is not as in the plainest one, and of its copy only what matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.diagnostics import Severity
from crondor.router.apply.applying import RoutedAd
from crondor.router.compare.copying import Copier, made_ad
from crondor.router.compare.made import plain_job
from crondor.router.compare.placing import Placing
from crondor.router.compare.read_rules import ReadRules
from crondor.router.match.reasons import JobVerdict, RouteOutcome, why
from crondor.router.match.route_state import RouteState
from crondor.router.table.conversion import DELETED, RESET
from crondor.router.table.table import RoutingTable
from crondor.transform import Changes

_UNTOLD = frozenset(
    lower(name)
    for name in (
        *(*DELETED, *(name for name, _ in RESET), "CurrentHosts", "Remote_JobUniverse"),
        *("RoutedBy", "RoutedFromJobId", "RouteName", "RoutedToJobId"),
    )
)
_READ_ALWAYS = ("JobUniverse", "JobStatus", "Managed", "RoutedBy", "Owner")
_IDS = frozenset(("clusterid", "procid"))
_MOST_RECORDED = 4  # of one route and one set of changes
_MOST_TESTS = 500
_MOST_CHOSEN = 60


@dataclass(frozen=True)
class Expectation:
    """A job and what is to become of it; texts are ClassAd expressions, None: the attribute is not there.

    ``route`` None: no route takes it, and ``reason`` is part of why. ``copy`` are attributes of the routed copy, or of
    the job that is edited.
    """

    name: str
    job: dict[str, str | None] = field(default_factory=dict)
    route: str | None = None
    reason: str = ""
    copy: dict[str, str | None] = field(default_factory=dict)


class Unmet(NamedTuple):
    """Something that is not as expected: what (``route``, ``reason``, ``copy``, an attribute), and both."""

    what: str
    expected: str
    found: str


def unmet(table: RoutingTable, expected: Expectation, context: Context | None = None) -> list[Unmet]:
    """Return what is not as expected, with all routes empty; nothing: all is."""
    return list(_Trial(table, context or table.facts.context).unmet(expected))


def record(
    table: RoutingTable, jobs: Iterable[tuple[str, dict[str, str | None]]], context: Context | None = None
) -> list[Expectation]:
    """Return what a table does today with jobs, each a name and what is chosen of it; of much that is alike a few."""
    return list(_Trial(table, context or table.facts.context).recorded(jobs))


def chosen_of(table: RoutingTable, ad: ClassAd) -> dict[str, str | None]:
    """Return of a job what a table may read of it, as far as the plainest job has it otherwise."""
    plain = plain_job()
    names = dict(ReadRules.of_table(table).names)
    names.update((lower(name), name) for name in _READ_ALWAYS)
    if "transferoutputremaps" in ad.codes:
        names.update((lower(name), name) for name in ("TransferOutputRemaps", "Out", "Err"))
    found: dict[str, str | None] = {}
    for key, name in names.items():
        mine = ad.text(name) if key in ad.codes else None
        if mine != (plain.text(name) if key in plain.codes else None) and key not in _IDS:
            found[ad.names.get(key) or plain.names.get(key) or name] = mine
    return dict(list(found.items())[:_MOST_CHOSEN])


class _Trial:
    """A table on which jobs are tried."""

    def __init__(self, table: RoutingTable, context: Context) -> None:
        self._table, self._context = table, context
        self._placing, self._copier = Placing(table, context), Copier(table, context)

    def unmet(self, expected: Expectation) -> Iterator[Unmet]:
        ad = plain_job(expected.job)
        taken, told = self._tried(ad)
        if lower(taken or "") != lower(expected.route or ""):
            yield Unmet("route", expected.route or "none", self._found(taken, expected.route, told))
            return
        if taken is None:
            reasons = reasons_of(told)
            if expected.reason and not any(lower(expected.reason) in lower(each) for each in reasons):
                yield Unmet("reason", expected.reason, "; ".join(reasons) or "none")
            return
        routed = self._routed(taken, ad)
        if routed.failed:
            if expected.copy:
                yield Unmet("copy", "a routed copy", f"it cannot be made: {_failure(routed)}")
            return
        made = made_ad(routed)
        for name, text in expected.copy.items():
            found = made.text(name) if name in made else None
            if not _same(text, found):
                yield Unmet(name, "nothing" if text is None else text, "nothing" if found is None else found)

    def recorded(self, jobs: Iterable[tuple[str, dict[str, str | None]]]) -> Iterator[Expectation]:
        seen: dict[object, int] = {}
        count = 0
        for name, chosen in jobs:
            ad = plain_job(chosen)
            taken, told = self._tried(ad)
            copy: dict[str, str | None] = {}
            reason = ""
            if taken is None:
                reason = next(iter(reasons_of(told)), "")
            else:
                routed = self._routed(taken, ad)
                if not routed.failed:
                    before = ad.flat()
                    changes = Changes(before, made_ad(routed))
                    copy = {each.name: each.after for each in changes if lower(each.name) not in _UNTOLD}
            key = (taken, reason if taken is None else tuple(copy.items()))
            seen[key] = seen.get(key, 0) + 1
            if seen[key] <= (1 if taken is None else _MOST_RECORDED):
                count += 1
                yield Expectation(name, chosen, taken, reason, copy)
                if count >= _MOST_TESTS:
                    return

    def _tried(self, ad: ClassAd) -> tuple[str | None, JobVerdict]:
        told = why(self._table, ad, RouteState(), self._context)
        return (told.chosen.name if told.chosen is not None else None), told

    def _routed(self, name: str, ad: ClassAd) -> RoutedAd:
        route = self._table.route(name)
        assert route is not None  # noqa: S101 - it took the job
        return self._copier.copy(route, ad)

    def _found(self, taken: str | None, wanted: str | None, told: JobVerdict) -> str:
        """Say where a job goes instead, and why not where it should."""
        if wanted is None:
            return str(taken)
        reason = next((each for each in reasons_of(told) if lower(each).startswith(f"{lower(wanted)}: ")), "")
        if self._table.route(wanted) is None:
            reason = f"there is no route {wanted}"
        elif not reason and taken is not None:
            reason = f"{taken} is asked before {wanted}"
        return f"{taken or 'none'}, since {reason}" if reason else taken or "none"


def reasons_of(told: JobVerdict) -> list[str]:
    """Return why a job goes on no route: what keeps it from being a candidate, then each route with its reason."""
    found = [each.reason for each in told.missed]
    found += [
        f"{each.route.name}: {each.reason}"
        for each in told.verdicts
        if each.reason is not None and each.outcome is not RouteOutcome.NOT_CANDIDATE
    ]
    return found


def _failure(routed: RoutedAd) -> str:
    return next((each.message for each in routed.diagnostics if each.severity is Severity.ERROR), "it fails")


def _same(expected: str | None, found: str | None) -> bool:
    """Say whether two texts are the same expression."""
    if expected is None or found is None:
        return expected == found
    try:
        return Expression(expected) == Expression(found)
    except ClassAdSyntaxError:
        return expected == found
