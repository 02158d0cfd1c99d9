"""How many jobs in which state are on which route: condor_router_q -S, -R, -I and -H.

HTCondor: src/condor_job_router/condor_router_q.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.router.tools.values import AdValues

_LETTERS: Final = "UIRXCHES"
"""By JobStatus; S, for a suspended job, stands where condor_router_q prints the number 7."""

HEADING: Final = f"{'JOBS':>7} ST {'Route':<20} GridResource"


class SummaryRow(NamedTuple):
    """Jobs that are alike: the letter of their state (? for none that is known), route and GridResource."""

    jobs: int
    state: str
    route: str
    grid_resource: str

    @property
    def line(self) -> str:
        """The row as the tool prints it."""
        return f"{self.jobs:>7} {self.state:>2} {self.route:<20} {self.grid_resource}"


def state_letter(status: int | None) -> str:
    """Return the letter of a JobStatus as condor_router_q and condor_router_history write it."""
    return _LETTERS[status] if status is not None and 0 <= status < len(_LETTERS) else "?"


def summarise(ads: Iterable[ClassAd], context: Context) -> list[SummaryRow]:
    """Count jobs by state, route and GridResource, in the tool's order: by route, then by the number of jobs."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for ad in ads:
        job = AdValues(ad, context)
        state = state_letter(job.integer("JobStatus"))
        counts[state, job.text("RouteName") or "", job.text("GridResource") or ""] += 1
    rows = [SummaryRow(count, *key) for key, count in counts.items()]
    return sorted(rows, key=lambda row: (f"{row.route:<20} {row.grid_resource}", row.line))


def summary_lines(rows: Iterable[SummaryRow]) -> Iterator[str]:
    """Yield the lines of condor_router_q -S."""
    yield HEADING
    for row in rows:
        yield row.line
