"""Jobs of a queue by batch, as condor_q of HTCondor 25.14 lists them where it is not told otherwise.

HTCondor: src/condor_q.V6/queue.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.job_queue.keys import JobId
from crondor.router.tools.listing import Listed, date

_WIDE: Final = 6
_ACTIVE: Final = (2, 6)
_IDLE: Final = (1, 7)
_HELD: Final = 5


class Batch(NamedTuple):
    """Jobs of one name and owner, or of one cluster; ``total`` 0 where a cluster does not say its TotalSubmitProcs.

    What is done already is not known of routed jobs: a constraint may leave out jobs of the same cluster.
    """

    owner: str
    name: str
    submitted: int | None
    active: int
    idle: int
    held: int
    total: int
    ids: str


def batches_of(jobs: Iterable[Listed]) -> list[Batch]:
    """Return the batches in the order of their first jobs."""
    found: dict[tuple[object, ...], list[Listed]] = {}
    for job in jobs:
        number = job.id or JobId(0, 0)
        key = (job.batch_name, job.owner) if job.batch_name is not None else (number.cluster,)
        found.setdefault(key, []).append(job)
    return [_batch(members) for members in found.values()]


def _batch(jobs: Sequence[Listed]) -> Batch:
    first = jobs[0]
    numbers = sorted(job.id for job in jobs if job.id is not None)
    totals = {job.id.cluster: job.total_procs for job in jobs if job.id is not None}
    known = [total for total in totals.values() if total]
    name = first.batch_name if first.batch_name is not None else f"ID: {numbers[0].cluster if numbers else '?'}"
    return Batch(
        first.owner,
        name,
        first.submitted,
        sum(job.status in _ACTIVE for job in jobs),
        sum(job.status in _IDLE for job in jobs),
        sum(job.status == _HELD for job in jobs),
        sum(known) if len(known) == len(totals) else 0,
        _ids(numbers),
    )


def _ids(numbers: Sequence[JobId]) -> str:
    if not numbers:
        return "?"
    low, high = numbers[0], numbers[-1]
    if low == high:
        return str(low)
    return f"{low}-{high.proc}" if low.cluster == high.cluster else f"{low} ... {high}"


def batch_lines(jobs: Iterable[Listed], zone: tzinfo) -> Iterator[str]:
    """Yield the heading of condor_q and a line for each batch; HOLD is a column where a job is held."""
    batches = batches_of(jobs)
    owner = max([8, *(len(batch.owner) for batch in batches)])
    name = max([10, *(len(batch.name) for batch in batches)])
    held = any(batch.held for batch in batches)
    heads = ["  DONE", "  RUN ", "  IDLE", *(["  HOLD"] if held else []), " TOTAL"]
    rows = [_counts(batch, held=held) for batch in batches]
    widths = [max([_WIDE, *(len(row[place]) for row in rows)]) for place in range(len(heads))]
    numbers = " ".join(f"{head:<{width}}" for head, width in zip(heads, widths, strict=True))
    yield f"{'OWNER':<{owner}} {'BATCH_NAME':<{name}} {'   SUBMITTED':<12} {numbers} JOB_IDS"
    for batch, row in zip(batches, rows, strict=True):
        numbers = " ".join(f"{count:>{width}}" for count, width in zip(row, widths, strict=True))
        day = date(batch.submitted, zone)
        yield f"{batch.owner:<{owner}} {batch.name:<{name}} {day:>12} {numbers} {batch.ids}"


def _counts(batch: Batch, *, held: bool) -> list[str]:
    counts = [0, batch.active, batch.idle, *([batch.held] if held else []), batch.total]
    return [str(count) if count > 0 else "_" for count in counts]
