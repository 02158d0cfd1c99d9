"""The jobs of a queue: an embedded one, a log, a live schedd, or ads."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timezone
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from crondor.classad.ad import ClassAd
from crondor.classad.formats.pieces import Report
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job.policy import read_queue
from crondor.job_queue.mirror import JobFilter
from crondor.job_queue.records import refused_by_disk
from crondor.job_queue.write import at_once
from crondor.preview.jobs import Job, ReadingTerms
from crondor.preview.queued import Known, QueueJob
from crondor.rights import walk
from crondor.rights.trust import Untrusted
from crondor.schedd.embedded import HISTORY, LOG, EmbeddedSchedd, no_queue
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Acted, Schedd, Scheduled, Selection
from crondor.schedd.reading import QueueLogSchedd, ScheduledJob, StatusReader, mirror_of, scheduled_among
from crondor.spec import Dialect
from crondor.submit import SubmitFile, job_ads
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import FirstFaults, ads_in, chunks, context_of, name_of
from crondor_cli.kit.options import Clock, QueueOptions, UsageProblem
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import account, show, usage
from crondor_cli.kit.services import LockWait
from crondor_cli.kit.tables import diagnostic_data, plural

if TYPE_CHECKING:
    from crondor_cli.kit import results

_LOG = "job_queue.log"
_MOST_JOBS = 100_000  # of one file; more are probably a typo
_MOST_COMPLETED = 8 << 20  # bytes of a log read for completion: half a second
_Function = TypeVar("_Function", bound=Callable[..., None])


class QueueJobs(NamedTuple):
    """The scheduled jobs among the selected ones, the number of those, and findings about the queue."""

    ads: list[ClassAd]
    total: int
    sees_deferral_time: bool
    findings: list[Diagnostic]


def _completed_jobs(ctx: click.Context) -> Iterable[str]:
    """Return the jobs of the selected embedded queue or log, for completion; none of a long log."""
    if any(ctx.params.get(name) for name in ("live", "name", "pool", "ads")):
        return []
    log = ctx.params.get("log") or opts.folder_of(ctx.params.get("queue")) / _LOG
    if os.path.getsize(log) > _MOST_COMPLETED:
        return []
    ads, _ = read_jobs(QueueOptions(log=str(log)), Clock(0, "UTC", timezone.utc))
    return [f"{ad.value('ClusterId')}.{ad.value('ProcId')}" for ad in ads]


complete_job = opts.completing(_completed_jobs)


def job_arguments(function: _Function) -> _Function:
    """Add the jobs: ids, owners, and --constraint."""
    return click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_job)(
        opts.constraint_option(function)
    )


def selection_of(jobs: tuple[str, ...], constraint: str | None, *, needed: bool = False) -> Selection:
    """Return the selected jobs; invalid words are a usage error, and with ``needed`` so is an empty selection."""
    if needed and not jobs and constraint is None:
        message = "select jobs: 12.0, 12, an owner, or --constraint EXPR (true for all)"
        raise usage(message)
    try:
        return Selection.parse(jobs, constraint)
    except CrondorError as error:
        raise UsageProblem(error) from None


def read_jobs(asked: QueueOptions, clock: Clock) -> tuple[list[ClassAd], list[Diagnostic]]:
    """Return all jobs of a queue, and findings about it; nothing is written. Raises CrondorError, UsageError."""
    if asked.kind == "ads":
        told = FirstFaults()
        ads = list(ads_in(asked.ads or "-", told.add))
        return ads, told.listed()
    with opened(asked, clock) as schedd:
        if schedd is None:
            return [], [no_queue(asked.folder)]
        return schedd.jobs(), [*getattr(schedd, "diagnostics", ())]


def read_scheduled(asked: QueueOptions, chosen: Selection, clock: Clock) -> QueueJobs:
    """Return the scheduled jobs of a queue, without writing anything. Raises CrondorError, UsageError."""
    kind = asked.kind
    if kind == "ads":
        return _of_ads(asked.ads or "-", chosen, clock)
    with opened(asked, clock) as schedd:
        if schedd is None:
            return QueueJobs([], 0, sees_deferral_time=True, findings=[no_queue(asked.folder)])
        findings = [*getattr(schedd, "diagnostics", ())]  # of the first reading: the next one replaces them
        found = schedd.scheduled(chosen)
        findings += [*getattr(schedd, "diagnostics", ()), *_unknown(chosen, found)]
        return QueueJobs(found.ads, found.total, schedd.capabilities.sees_deferral_time, findings)


@contextmanager
def opened(
    asked: QueueOptions, clock: Clock, ticks: Callable[[], int] | None = None, only: JobFilter | None = None
) -> Iterator[Schedd | None]:
    """Yield a schedd for reading; None for an embedded queue that does not exist yet. Raises CrondorError.

    ``ticks`` is its clock if it stays open; without it the time is fixed. ``only`` selects the jobs read from a log.
    """
    now = ticks or (lambda: clock.now)
    kind = asked.kind
    if kind == "live":
        with live_of(asked) as schedd:
            yield schedd
    elif kind == "log":
        yield _of_log(asked.log or "", clock, now, only=only)
    else:
        path = asked.folder / LOG
        if not is_there(path):
            yield None
            return
        yield _of_log(path, clock, now, asked.folder / HISTORY, only)


def _of_log(
    path: Path | str, clock: Clock, now: Callable[[], int], history: Path | None = None, only: JobFilter | None = None
) -> QueueLogSchedd:
    """Read a schedd's log, or with a history that of an embedded queue. Raises QueueIO."""
    size = 0
    with suppress(OSError, ValueError):  # reading reports it
        size = os.path.getsize(path)
    PROGRESS.begin("reading the queue", size)
    made = QueueLogSchedd(
        path,
        clock=now,
        zone=clock.zone,
        history_path=history,
        embedded=history is not None,
        on_read=PROGRESS.reach,
        only=only,
    )
    PROGRESS.begin("choosing jobs")
    return made


def live_of(asked: QueueOptions) -> LiveSchedd:
    """Return the selected live schedd."""
    return LiveSchedd(asked.name, asked.pool, address_file=asked.address_file)


def missing_of(schedd: Schedd, chosen: Selection) -> list[str]:
    """Return the selected numbers and clusters that a schedd lacks. Raises ScheddError."""
    if not chosen.jobs and not chosen.clusters:
        return []
    named = Selection(jobs=chosen.jobs, clusters=chosen.clusters)
    return chosen.missing(mirror_of(schedd.jobs(named, ["ClusterId"])))


def embedded_of(
    queue: str | None, clock: Clock, *, make: bool = False, ticks: Callable[[], int] | None = None, waits: bool = True
) -> EmbeddedSchedd:
    """Open the embedded queue for writing, show the findings about its log, and with ``make`` create it.

    ``ticks`` is its clock if it stays open; without it the time is fixed. If another process has the queue, ``waits``
    waits some seconds for it, with a message. Raises CrondorError if it is missing, JobQueueError.
    """
    folder = opts.folder_of(queue)
    if not make and not is_there(folder / LOG):  # a typo in a path must not create a queue
        raise CrondorError(no_queue(folder, Severity.ERROR))
    try:
        PROGRESS.begin("reading the queue")
        wait = LockWait(folder) if waits else at_once
        schedd = EmbeddedSchedd(folder, clock=ticks or (lambda: clock.now), zone=clock.zone, wait=wait)
    except Untrusted as error:
        raise error.naming("--queue PATH") from None
    show(schedd.diagnostics)
    PROGRESS.begin("changing the queue")
    return schedd


def ads_of_file(file: SubmitFile, cluster: int) -> list[ClassAd]:
    """Return the ads of a file's jobs in a cluster, in order. Raises InvalidSubmit, CrondorError for too many jobs."""
    if file.job_count > _MOST_JOBS:
        message = f"{file.job_count:,} jobs are more than the {_MOST_JOBS:,} that crondor submits at once"
        raise CrondorError(Diagnostic("submit-many", message, help="queue fewer jobs"))
    ads: list[ClassAd] = []
    owner = account()
    own = {"Owner": owner, "User": f"{owner}@{platform.node()}"}
    made_of = PROGRESS.counted(job_ads(file, in_order=True, cluster=cluster), "making ads", "jobs", file.job_count)
    for made in made_of:
        if "ProcId" not in made.ad:
            message = "these jobs are materialized later (max_materialize, max_idle), which no embedded queue does"
            raise CrondorError(Diagnostic("submit-late", message, span=made.jobs.queue, help="omit the command"))
        for name, value in own.items():
            if name not in made.ad:
                made.ad.set(name, value)
        ads += [made.ad] * made.jobs.count
    return ads


def without_owner(ad: ClassAd) -> ClassAd:
    """Return a copy of an ad for a live schedd, which sets the owner itself."""
    made = ad.copy()
    for name in ("Owner", "User"):
        made.prune(name)
    return made


def is_there(log: Path) -> bool:
    """Return whether a queue's log exists. Raises QueueIO if this user may not look."""
    try:
        return walk.is_there(log)
    except OSError as error:
        raise refused_by_disk(log.parent, "this queue cannot be opened", error) from None


def _of_ads(path: str, chosen: Selection, clock: Clock) -> QueueJobs:
    told = FirstFaults()
    context = context_of(clock)
    found = scheduled_among((ad for ad in ads_in(path, told.add) if chosen.holds(ad, context)), chosen)
    findings = [*told.listed(), *_unknown(chosen, found)]
    return QueueJobs(found.ads, found.total, sees_deferral_time=True, findings=findings)


def _unknown(chosen: Selection, found: Scheduled) -> list[Diagnostic]:
    """Return an error for each selected job and cluster that is missing."""
    beside = " for which the constraint is true" if chosen.constraint is not None else ""
    return [unknown_job(name, beside) for name in found.missing]


def no_job(beside: str = "") -> Diagnostic:
    """Return the warning for a valid selection without jobs."""
    hint = "crondor queue status lists the scheduled jobs"
    return Diagnostic("no-job", f"no job of the queue matches{beside}", Severity.WARNING, help=hint)


def unknown_job(name: str, beside: str = "") -> Diagnostic:
    """Return the error for a job missing from the queue."""
    what = "job" if "." in name else "job of cluster"
    hint = "crondor queue status lists the scheduled jobs, crondor queue history those that have left"
    return Diagnostic("unknown-job", f"there is no {what} {name}{beside} in the queue", help=hint)


def undone(acted: Acted, already: str, bad_status: str) -> Iterator[Diagnostic]:
    """Yield a warning for each reason why jobs were not changed."""
    denied = "owned by another user: the schedd refuses to change them"
    for count, why in ((acted.already, already), (acted.bad_status, bad_status), (acted.denied, denied)):
        if count:
            yield Diagnostic("not-done", f"{plural(count, 'job')} {why}", Severity.WARNING)


def acted_data(action: str, acted: Acted, findings: Iterable[Diagnostic]) -> results.Acted:
    """Return the JSON result of an action on jobs."""
    return {
        "action": action,
        "done": acted.done,
        "already": acted.already,
        "bad_status": acted.bad_status,
        "denied": acted.denied,
        "not_found": acted.not_found,
        "diagnostics": [diagnostic_data(each) for each in findings],
    }


class QueueReading(NamedTuple):
    """The jobs found in a queue, and how their schedules are read."""

    asked: QueueOptions
    clock: Clock
    found: QueueJobs
    dialect: Dialect
    policy: Policy | None

    @property
    def head(self) -> results.QueueHead:
        """The first keys of the JSON of all such commands."""
        clock = self.clock
        return {"source": self.asked.kind, "zone": clock.zone_name, "now": clock.now, "dialect": self.dialect.value}

    def looks(self) -> Iterator[ScheduledJob]:
        """Yield the present status of the jobs with a schedule."""
        looker = StatusReader(zone=self.clock.zone, dialect=self.dialect, policy=self.policy)
        looks = looker.looks(self.found.ads, self.clock.now)
        return PROGRESS.counted(looks, "looking at schedules", "jobs", len(self.found.ads))


def reading_of(
    asked: QueueOptions,
    jobs: tuple[str, ...],
    constraint: str | None,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
) -> QueueReading:
    """Return a reading for these options. Raises CrondorError; UsageError for an unreadable file."""
    chosen = selection_of(jobs, constraint)
    return QueueReading(asked, clock, read_scheduled(asked, chosen, clock), dialect or asked.dialect, policy)


def reads_queue(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for a queue, the clock and the dialect; with the jobs they come as one argument ``read``."""

    @wraps(function)
    def command(
        asked: QueueOptions,
        jobs: tuple[str, ...],
        constraint: str | None,
        clock: Clock,
        dialect: Dialect | None,
        policy: Policy | None,
        **options: object,
    ) -> None:
        function(read=reading_of(asked, jobs, constraint, clock, dialect, policy), **options)

    return opts.source_options(opts.clock_options(opts.reading_options(htcondor=True)(command)))


def jobs_of_ads(path: str, terms: ReadingTerms) -> tuple[list[Job], list[Diagnostic]]:
    """Return the scheduled jobs of a file of ads, and findings. Raises UsageError if it cannot be read."""
    told = FirstFaults()
    jobs, plain, total = _jobs(path, terms, told.add)
    faults = told.listed()
    if not total:
        faults.append(Diagnostic("no-ads", f"there is no ad in {name_of(path)}", Severity.NOTE))
    elif plain:
        jobs_have = f"{plain} {'job has' if plain == 1 else 'jobs have'}"
        message = f"{jobs_have} neither a cron attribute nor a DeferralTime, of {total} in {name_of(path)}"
        faults.append(Diagnostic("not-deferred", message, Severity.NOTE))
    return jobs, faults


def _jobs(path: str, terms: ReadingTerms, report: Report) -> tuple[list[Job], int, int]:
    """Return the scheduled jobs, the number of others, and the total."""
    jobs: list[Job] = []
    known: Known = {}
    total = 0
    for queued in read_queue(chunks(path), name=name_of(path), report=report):
        total += 1
        if queued.is_scheduled:
            jobs.append(QueueJob(queued, queued.id or name_of(path), terms, known))
    return jobs, total - len(jobs), total
