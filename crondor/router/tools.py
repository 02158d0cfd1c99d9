"""What HTCondor's reporting tools of a job router say, made of ads: routed jobs in the queue, and those that have left.

``routed(...)`` is the Selection of the routed copies that condor_router_q and condor_router_rm mean. ``summarise`` and
``summary_lines`` are condor_router_q -S; ``look_at``, ``job_lines``, ``batch_lines``, ``Totals`` the lists of condor_q.
``Period`` and ``ended_of`` make the records of condor_router_history, ``record_lines`` and ``sites_of`` with
``site_lines`` its two reports. Now is an argument (epoch seconds), and so is the zone.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad import Context, Value, print_string, print_value
from crondor.classad.ad import ClassAd
from crondor.classad.tree import ERROR, UNDEFINED
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.job import attributes
from crondor.job_queue.records import JobId
from crondor.schedd.protocol import Selection, read_constraint


class AdValues:
    """Reads attributes of one ad, in one context."""

    def __init__(self, ad: ClassAd, context: Context) -> None:
        self.ad = ad
        self._context = context

    def value(self, name: str) -> Value | None:
        """Return a value, None where there is none."""
        found = attributes.value(self.ad, name, self._context)
        return None if found is UNDEFINED or found is ERROR else found

    def number(self, name: str) -> int | float | None:
        """Return a number of which sums and dates can be made."""
        return attributes.finite(self.ad, name, self._context)

    def integer(self, name: str) -> int | None:
        """Return such a number without its fraction."""
        found = self.number(name)
        return None if found is None else int(found)

    def string(self, name: str) -> str | None:
        """Return a string as it is."""
        return attributes.string(self.ad, name, self._context)

    def text(self, name: str) -> str | None:
        """Return a value as text that a terminal may show, a string without quotes."""
        found = self.value(name)
        if found is None:
            return None
        return printable(found if isinstance(found, str) else print_value(found))

    def is_true(self, name: str) -> bool:
        """Whether a value is true."""
        return attributes.boolean(self.ad, name, self._context) is True


UNKNOWN_DATE: Final = "    ???    "
_STATUS_LETTERS: Final = " IRXCH>SFBP"
_SCHEDULER: Final = 7
_RUNNING: Final = 2
_TRANSFERRING_OUTPUT: Final = 6
_SUSPENDED: Final = 7
_RUNS: Final = (_RUNNING, _TRANSFERRING_OUTPUT, _SUSPENDED)
_COUNTED: Final = {
    1: "idle", 2: "running", 3: "removed", 4: "completed", 5: "held", 6: "running", 7: "suspended", 8: "completed",
}  # fmt: skip
DAY: Final = 86400
_ORDER: Final = ("completed", "removed", "idle", "running", "held", "suspended")


# HTCondor: src/condor_q.V6/queue.cpp.
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
    first = _STATUS_LETTERS[status] if status is not None and 0 < status < len(_STATUS_LETTERS) else " "
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
    moment = _local(now, zone)
    return ["", "", f"-- {printable(source)} @ {'???' if moment is None else f'{moment:%m/%d/%y %H:%M:%S}'}"]


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
    moment = None if epoch is None or epoch < 0 else _local(epoch, zone)
    return UNKNOWN_DATE if moment is None else f"{moment.month:2}/{moment.day:<2} {moment.hour:02}:{moment.minute:02}"


def _local(epoch: float, zone: tzinfo) -> datetime | None:
    try:
        return datetime.fromtimestamp(epoch, zone)
    except (OverflowError, OSError, ValueError):
        return None


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    return f"{days:3}+{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


_WIDE: Final = 6
_ACTIVE: Final = (2, 6)
_IDLE: Final = (1, 7)
_HELD: Final = 5


# HTCondor: src/condor_q.V6/queue.cpp.
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


_LETTERS: Final = "UIRXCHES"
"""By JobStatus; S, for a suspended job, stands where condor_router_q prints the number 7."""

HEADING: Final = f"{'JOBS':>7} ST {'Route':<20} GridResource"


# HTCondor: src/condor_job_router/condor_router_q.
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


_COMPLETED: Final = "C"
_RULE: Final = "-" * 55
_FORM: Final = "%Y-%m-%d %H:%M"
_NAME: Final = "history"


# The tool goes by CompletionDate, which is 0 in a job that was removed: its column Aborted is always 0. Here such a job
# ended when it entered its last state. ``Times.HTCONDOR`` is the tool's own reading.
# HTCondor: src/condor_job_router/condor_router_history.
class Times(Enum):
    """When a job ended, and where it ran.

    ENDED: CompletionDate, or EnteredCurrentStatus for a job that never completed; SUBMIT_Iwd, or Iwd of a job whose
    files were not spooled. HTCONDOR: CompletionDate and SUBMIT_Iwd alone, as condor_router_history does.
    """

    ENDED = "ended"
    HTCONDOR = "htcondor"


class Period(NamedTuple):
    """A time from ``start`` to ``end``, both included, epoch seconds."""

    start: float
    end: float


class EndedJob(NamedTuple):
    """A routed job that has left; ``runtime`` in seconds, ``time`` epoch seconds or None where the ad does not say."""

    id: str
    state: str
    route: str
    runtime: float
    iwd: str
    time: float | None


class RouteHistory(NamedTuple):
    """What became of the jobs of a route; ``seconds`` is the run time of those that completed."""

    name: str
    seconds: float
    completed: int
    aborted: int

    @property
    def line(self) -> str:
        """The row as the tool prints it."""
        return f"{self.name:<15} {round(self.seconds / 3600):>5} {self.completed:>7} {self.aborted:>5}"


def ended_of(ad: ClassAd, context: Context, times: Times = Times.ENDED) -> EndedJob | None:
    """Return what the history says of a routed job, None for another one."""
    job = AdValues(ad, context)
    route = job.text("RouteName") or job.text("RoutedFromRoute")  # the second is what old routers wrote
    cluster, proc = job.integer("ClusterId"), job.integer("ProcId")
    if not route or cluster is None or proc is None:
        return None
    time = job.number("CompletionDate")
    iwd = job.text("SUBMIT_Iwd")
    if times is Times.ENDED:
        time = time if time is not None and time > 0 else job.number("EnteredCurrentStatus")
        iwd = iwd or job.text("Iwd")
    state = state_letter(job.integer("JobStatus"))
    runtime = max(0.0, float(job.number("RemoteWallClockTime") or 0))
    return EndedJob(f"{cluster}.{proc}", state, route.replace('"', ""), runtime, iwd or "", time)


def ended_in(
    ads: Iterable[ClassAd], period: Period, context: Context, times: Times, report: Callable[[Diagnostic], None]
) -> list[EndedJob]:
    """Return the routed jobs that ended in a period, of several ads of one job the last, in the order of the first."""
    found: dict[str, EndedJob] = {}
    timeless, others = "", 0
    for ad in ads:
        job = ended_of(ad, context, times)
        if job is None:
            continue
        if job.time is None:
            others += bool(timeless)
            timeless = timeless or job.id
        elif period.start <= job.time <= period.end:
            found[job.id] = job
        else:
            found.pop(job.id, None)
    if timeless:
        more = f" and {others:,} other{'s' if others > 1 else ''}" if others else ""
        message = f"job {timeless}{more} not counted: the history does not say when it ended"
        report(Diagnostic("history-time", message, Severity.WARNING))
    return list(found.values())


def history_files(folder: Path | str, since: float) -> list[Path]:
    """Return a spool's history files written to at or after ``since`` (epoch seconds), oldest first. Raises OSError."""
    found = [path for path in Path(folder).iterdir() if path.name.startswith(_NAME) and path.is_file()]
    return sorted(
        (path for path in found if path.stat().st_mtime >= since), key=lambda path: (path.name == _NAME, path.name)
    )


def heading(period: Period, zone: tzinfo) -> str:
    """Return the first line of both reports."""
    ends = ((epoch, _local(epoch, zone)) for epoch in period)
    begin, end = (f"epoch {epoch:.0f}" if moment is None else moment.strftime(_FORM) for epoch, moment in ends)
    return f"Routed job history from {begin} to {end}"


def record_lines(jobs: Iterable[EndedJob], *, iwd: bool = False) -> Iterator[str]:
    """Yield a line for each job, each with a blank at its end as the tool writes it."""
    yield "JobID Status Site Runtime " + ("IWD " if iwd else "")
    for job in jobs:
        yield f"{job.id} {job.state} {job.route} {round(job.runtime)} " + (f"{job.iwd} " if iwd else "")


def sites_of(jobs: Iterable[EndedJob]) -> list[RouteHistory]:
    """Return what became of the jobs, by route: the one with most hours completed first."""
    found: dict[str, RouteHistory] = {}
    for job in jobs:
        site = found.get(job.route, RouteHistory(job.route, 0.0, 0, 0))
        if job.state == _COMPLETED:
            found[job.route] = site._replace(seconds=site.seconds + round(job.runtime), completed=site.completed + 1)
        else:
            found[job.route] = site._replace(aborted=site.aborted + 1)
    return sorted(found.values(), key=lambda site: (-site.seconds, site.name))


def site_lines(sites: Iterable[RouteHistory]) -> Iterator[str]:
    """Yield the summary: a row for each route, and their total."""
    total = RouteHistory("TOTAL", 0.0, 0, 0)
    yield f"{'Site':<15} {'Hours':>5} {'Jobs':>7} {'Runs':>7}"
    yield f"{'':<15} {'':>5} Completed Aborted"
    yield _RULE
    for site in sites:
        yield site.line
        seconds = total.seconds + site.seconds
        total = RouteHistory("TOTAL", seconds, total.completed + site.completed, total.aborted + site.aborted)
    yield _RULE
    yield total.line


ROUTED: Final = "RouteName =!= undefined"
IDLE: Final = "JobStatus == 1"
RUNNING: Final = "JobStatus == 2"
NOT_RUNNING: Final = "JobStatus != 2"
HELD: Final = "JobStatus == 5"


def routed(
    which: Selection | None = None,
    *,
    routes: Iterable[str] = (),
    states: Iterable[str] = (),
    constraints: Iterable[str] = (),
) -> Selection:
    """Return the routed copies among ``which`` (None: all jobs).

    ``routes`` are names, any of which will do, without regard to case; ``states`` and ``constraints`` must all hold.
    Each constraint is an expression by itself: ``x) || (true`` does not get out of its parentheses. Raises
    ClassAdSyntaxError.
    """
    chosen = (which or Selection()).where(ROUTED)
    for state in states:
        chosen = chosen.where(state)
    names = [f"RouteName == {print_string(name)}" for name in routes]
    if names:
        chosen = chosen.where(" || ".join(names))
    for text in constraints:
        chosen = chosen.where(str(read_constraint(text, "--constraint")))
    return chosen
