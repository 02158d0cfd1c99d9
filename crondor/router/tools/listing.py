"""Jobs of a queue as condor_q -nobatch of HTCondor 25.14 lists them, and its last lines.

HTCondor: src/condor_q.V6/queue.cpp.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.diagnostics import printable
from crondor.job_queue.keys import JobId
from crondor.router.tools.values import AdValues

UNKNOWN_DATE: Final = "    ???    "
_LETTERS: Final = " IRXCH>SFBP"
_SCHEDULER: Final = 7
_RUNNING: Final = 2
_TRANSFERRING_OUTPUT: Final = 6
_SUSPENDED: Final = 7
_RUNS: Final = (_RUNNING, _TRANSFERRING_OUTPUT, _SUSPENDED)
_COUNTED: Final = {
    1: "idle", 2: "running", 3: "removed", 4: "completed", 5: "held", 6: "running", 7: "suspended", 8: "completed",
}  # fmt: skip
_ORDER: Final = ("completed", "removed", "idle", "running", "held", "suspended")
_DAY: Final = 86400


class Listed(NamedTuple):
    """A routed job; ``submitted`` in epoch seconds, ``run_time`` in seconds, ``size`` in megabytes."""

    id: JobId | None
    owner: str
    route: str
    source: str
    grid_resource: str
    status: int | None
    letters: str
    submitted: int | None
    run_time: int
    priority: int
    size: float | None
    description: str
    batch_name: str | None
    total_procs: int | None


class Totals(NamedTuple):
    """Jobs by their state; those of the scheduler universe are not among them, as condor_q counts."""

    completed: int = 0
    removed: int = 0
    idle: int = 0
    running: int = 0
    held: int = 0
    suspended: int = 0

    @classmethod
    def of(cls, ads: Iterable[ClassAd], context: Context) -> Totals:
        """Count jobs."""
        counts: Counter[str | None] = Counter()
        for ad in ads:
            job = AdValues(ad, context)
            if job.integer("JobUniverse") != _SCHEDULER:
                counts[_COUNTED.get(job.integer("JobStatus") or 0)] += 1
        return cls(*(counts[name] for name in _ORDER))

    @property
    def text(self) -> str:
        """The numbers as condor_q prints them."""
        counts = ", ".join(f"{count} {name}" for name, count in zip(_ORDER, self, strict=True))
        return f"{sum(self)} jobs; {counts}"


def look_at(ad: ClassAd, context: Context) -> Listed:
    """Return what a list says of a job; ``context.now`` is the time where the ad has no ServerTime."""
    job = AdValues(ad, context)
    now = job.integer("ServerTime") or context.now or 0
    status = job.integer("JobStatus")
    cluster, proc = job.integer("ClusterId"), job.integer("ProcId")
    return Listed(
        id=None if cluster is None or proc is None else JobId(cluster, proc),
        owner=job.text("Owner") or "??",
        route=job.text("RouteName") or "",
        source=job.text("RoutedFromJobId") or "",
        grid_resource=job.text("GridResource") or "",
        status=status,
        letters=_letters(job, status, now),
        submitted=job.integer("QDate"),
        run_time=_run_time(job, status, now),
        priority=job.integer("JobPrio") or 0,
        size=_size(job),
        description=_description(job),
        batch_name=_batch_name(job, cluster),
        total_procs=job.integer("TotalSubmitProcs"),
    )


def _letters(job: AdValues, status: int | None, now: int) -> str:
    """Return the two characters of column ST: the state, and what the job's files do."""
    first = _LETTERS[status] if status is not None and 0 < status < len(_LETTERS) else " "
    second, queued = " ", job.is_true("TransferQueued")
    if job.is_true("TransferringInput"):
        first, second = "<", "q" if queued else " "
    if job.is_true("TransferringOutput") or status == _TRANSFERRING_OUTPUT:
        first, second = "q" if queued else " ", ">"
    return first + ("c" if (job.integer("JobCoolDownExpiration") or 0) > now else second)


def _run_time(job: AdValues, status: int | None, now: int) -> int:
    """Return the wall clock time of earlier runs and of this one."""
    before = job.integer("RemoteWallClockTime") or 0
    born = job.integer("ShadowBday") or 0
    return max(0, before + (now - born if born and status in _RUNS else 0))


def _size(job: AdValues) -> float | None:
    memory, image = job.integer("MemoryUsage"), job.integer("ImageSize")
    if memory is not None:
        return float(memory)
    return None if image is None else image / 1024


def _description(job: AdValues) -> str:
    said = job.string("MATCH_EXP_JobDescription") or job.string("JobDescription")
    if said:
        return f"({printable(said)})"
    arguments = job.string("Arguments")
    parts = (posixpath.basename(job.string("Cmd") or ""), job.string("Args") if arguments is None else arguments)
    return printable(" ".join(part for part in parts if part))


def _batch_name(job: AdValues, cluster: int | None) -> str | None:
    named = job.text("JobBatchName")
    if named is not None:
        return named
    if job.integer("JobUniverse") == _SCHEDULER:
        return f"DAG: {cluster}"
    node = job.text("DAGNodeName") if "DAGManJobId" in job.ad else None
    return None if node is None else f"NODE: {node}"


def banner(source: str, now: int, zone: tzinfo) -> list[str]:
    """Return the lines above a list: where the jobs are from, and when (epoch seconds)."""
    return ["", "", f"-- {printable(source)} @ {_moment(now, zone, '%m/%d/%y %H:%M:%S') or '???'}"]


def job_lines(jobs: Sequence[Listed], zone: tzinfo) -> Iterator[str]:
    """Yield the heading of condor_q -nobatch and a line for each job."""
    cluster = max((len(str(job.id.cluster)) for job in jobs if job.id is not None), default=4)
    proc = max((len(str(job.id.proc)) for job in jobs if job.id is not None), default=3)
    id_wide = max(4, cluster) + 1 + max(3, proc)
    owner = max([14, *(len(job.owner) for job in jobs)])
    prio = max([3, *(len(str(job.priority)) for job in jobs)])
    sizes = ["?" if job.size is None else f"{job.size:.1f}" for job in jobs]
    size_wide = max([4, *map(len, sizes)])
    numbers = f"{'  SUBMITTED':<11} {'    RUN_TIME':<12} ST {'PRI':<{prio}} {'SIZE':<{size_wide}}"
    yield f"{' ID':<{id_wide}} {'OWNER':<{owner}} {numbers} CMD"
    for job, size in zip(jobs, sizes, strict=True):
        number = "?" if job.id is None else f"{job.id.cluster:>{max(4, cluster)}}.{job.id.proc}"
        yield (
            f"{number:<{id_wide}} {job.owner:<{owner}} {date(job.submitted, zone):>11} {_duration(job.run_time):>12}"
            f" {job.letters} {job.priority:<{prio}} {size:>{size_wide}} {job.description}"
        )


def totals_lines(query: Totals, everybody: Totals | None) -> Iterator[str]:
    """Yield the lines below a list; None for ``everybody`` where nobody has counted all jobs."""
    yield ""
    if everybody is None:
        yield f"Total for query: {query.text}"
    else:
        yield f"Total for query: {query.text} "
        yield f"Total for all users: {everybody.text}"
    yield ""


def date(epoch: int | None, zone: tzinfo) -> str:
    """Return a moment as condor_q's lists show it: month, day, hour and minute."""
    if epoch is None or epoch < 0:
        return UNKNOWN_DATE
    try:
        moment = datetime.fromtimestamp(epoch, zone)
    except (OverflowError, OSError, ValueError):
        return UNKNOWN_DATE
    return f"{moment.month:2}/{moment.day:<2} {moment.hour:02}:{moment.minute:02}"


def _moment(epoch: int, zone: tzinfo, form: str) -> str | None:
    try:
        return datetime.fromtimestamp(epoch, zone).strftime(form)
    except (OverflowError, OSError, ValueError):
        return None


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, _DAY)
    return f"{days:3}+{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
