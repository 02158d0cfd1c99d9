"""Why a job goes on a route: for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.diagnostics import printable, shortened
from crondor.router import JobVerdict, Route, RouteOutcome
from crondor_cli.route.jobs import CandidateJob

_LONGEST = 200  # characters of a reason; whoever wants all of it asks for JSON
_WIDEST = 24  # columns for the names of routes


def lines(job: CandidateJob, told: JobVerdict) -> Iterator[str]:
    """Yield a block for a job: where it goes, why it is no candidate, and each route."""
    place = "" if job.ad.place is None else f" ({job.ad.place.name}:{job.ad.place.line})"
    fate = "no route" if told.chosen is None else f"goes on {told.chosen.name}"
    yield printable(f"job {job.id}{place}: {fate}")
    for missed in told.missed:
        yield f"  not a candidate: {_short(missed.reason)}"
    width = min(_WIDEST, max((len(each.route.name) for each in told.verdicts), default=0))
    for verdict in told.verdicts:
        if verdict.outcome is RouteOutcome.NOT_CANDIDATE:
            said = "matched, if it were a candidate" + _every(verdict.route)
        elif verdict.reason is None:
            said = "matched" if verdict.route is told.chosen else "matched, but another route takes it"
            said += _every(verdict.route)
        else:
            said = f"{verdict.outcome.value}: {_short(verdict.reason)}"
        yield f"  {printable(verdict.route.name):<{width}}  {said}"


def _every(route: Route) -> str:
    """Say of a route without REQUIREMENTS that they have not been forgotten, or that they have."""
    return "" if route.transform.requirements is not None else " (it has no REQUIREMENTS: every candidate matches)"


def _short(reason: str) -> str:
    shown = printable(reason)
    return shortened(shown, _LONGEST)


def data(job: CandidateJob, told: JobVerdict) -> dict[str, object]:
    """Return an object; `crondor schema route explain` has the keys."""
    return {
        "job": job.id,
        "route": told.chosen and told.chosen.name,
        "missed": [{"clause": each.clause.name.lower(), "reason": each.reason} for each in told.missed],
        "routes": [
            {"route": each.route.name, "outcome": each.outcome.value, "reason": each.reason} for each in told.verdicts
        ],
    }
