"""The jobs of a plan, from wherever they come: schedules, submit files, ads, a schedd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final, TypeAlias

from crondor._types import expect, wrong_type
from crondor.classad import Expression as Code
from crondor.classad.ad import ClassAd
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import Diagnostic, Severity
from crondor.job.expressions import NEW_JOB, submitted_schedule
from crondor.job.queued import QueuedJob
from crondor.job.status import JobStatus
from crondor.recurrence import Policy
from crondor.schedd.protocol import Schedd
from crondor.schedule import ExpressionText, InvalidSchedule, JobSchedule, commands_of
from crondor.source import Source, Span
from crondor.spec import FIELDS, Dialect, InvalidSpec
from crondor.submit import JobGroup, SubmitFile, job_ads

Plannable: TypeAlias = JobSchedule | SubmitFile | ClassAd | QueuedJob | Schedd
"""What has jobs with schedules."""

MOST_JOBS: Final = 50_000
"""So many jobs of a submit file are planned, of some 9 kB each; the plan says so where there are more."""

_REQUIREMENTS: Final = ("requirements", "my.requirements")
_OUT_OF_PLAY: Final = frozenset((JobStatus.HELD, JobStatus.REMOVED, JobStatus.COMPLETED))


@dataclass(frozen=True)
class JobSettings:
    """How jobs are read: the submit host's zone, the dialect of Cron attributes, and what submit files do not say.

    ``owner`` is the Owner of jobs that have none; ``schedd_interval`` (seconds) is SCHEDD_INTERVAL.
    """

    zone: str | tzinfo = "UTC"
    dialect: Dialect = Dialect.MANUAL
    policy: Policy | None = None
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    owner: str = "nobody"


@dataclass(frozen=True, eq=False)
class PlannedJob:
    """A job of a plan: its id ``cluster.proc``, its ad as the schedd would have it, and its schedule.

    ``schedule`` is None where it cannot be read, or where the job is out of play; ``findings`` say why. ``name`` says
    where it comes from.
    """

    id: str
    name: str
    ad: ClassAd
    schedule: JobSchedule | None
    findings: tuple[Diagnostic, ...] = ()
    spans: Mapping[str, Span] = field(default_factory=dict, repr=False)
    here: Span | None = field(default=None, repr=False)

    def place(self, *attributes: str) -> Span | None:
        """Return where the first of some attributes was written, else where the job is."""
        names = (name for attribute in attributes for name in commands_of(attribute))
        return next((self.spans[name] for name in names if name in self.spans), self.here)

    def command_place(self, *commands: str) -> Span | None:
        """Return where the first of some submit commands (lower case) was written, else where the job is."""
        return next((self.spans[name] for name in commands if name in self.spans), self.here)


_PLANNED: Final = "a JobSchedule, SubmitFile, ClassAd, QueuedJob or Schedd, or several of them"


def jobs_of(jobs: Plannable | Iterable[Plannable], now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    """Yield the scheduled jobs; others are left out. Raises InvalidSubmit, ScheddError, UnknownZone, TypeError.

    Submit files and schedules are numbered as clusters from 1 on, in their order.
    """
    expect("jobs", jobs, (Iterable, JobSchedule, SubmitFile, QueuedJob, Schedd), _PLANNED)
    cluster = 0
    for each in (jobs,) if isinstance(jobs, (JobSchedule, SubmitFile, ClassAd, QueuedJob, Schedd)) else jobs:
        cluster += isinstance(each, (JobSchedule, SubmitFile))
        yield from _jobs_of(each, cluster, now, reading)


def _jobs_of(each: object, cluster: int, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    if isinstance(each, JobSchedule):
        yield _of_schedule(each, cluster, now, reading)
    elif isinstance(each, SubmitFile):
        yield from _of_file(each, cluster, now, reading)
    elif isinstance(each, QueuedJob):
        yield from _of_queued(each, now, reading)
    elif isinstance(each, ClassAd):
        yield from _of_queued(QueuedJob(each), now, reading)
    elif isinstance(each, Schedd):
        for ad in each.jobs():
            yield from _of_queued(QueuedJob(ad), now, reading)
    else:
        raise wrong_type("a planned job", each, _PLANNED)


def _of_schedule(schedule: JobSchedule, cluster: int, now: int, reading: JobSettings) -> PlannedJob:
    """Take a schedule for a job that has nothing else; a crontab job stays in the queue, or it had one run."""
    ad = ClassAd(NEW_JOB)
    for name, value in (
        ("ClusterId", cluster),
        ("ProcId", 0),
        ("Owner", reading.owner),
        ("QDate", now),
        ("JobUniverse", int(schedule.universe)),
        ("ScheddInterval", schedule.schedd_interval),
    ):
        ad.set(name, value)
    if schedule.spec is not None:
        ad.set("OnExitRemove", value=False)
        for f, text in zip(FIELDS, schedule.spec.given, strict=True):
            if text is not None:
                ad.set(f.attribute, text)
    lengths = (
        (("DeferralWindow", schedule.window), ("DeferralPrepTime", schedule.prep_time)) if schedule.complete else ()
    )
    for name, number in (("DeferralTime", schedule.time), *lengths):
        if isinstance(number, ExpressionText):
            ad[name] = Code(number.text)
        elif number is not None:
            ad.set(name, number)
    clause = schedule.requirements_clause()
    if clause is not None:
        ad.set_text("Requirements", clause)
    here = Source("", f"job {cluster}.0").span()
    return PlannedJob(f"{cluster}.0", f"job {cluster}.0", ad, schedule, schedule.notes, {}, here)


def _of_file(file: SubmitFile, cluster: int, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    made = 0
    for each in job_ads(file, in_order=True, cluster=cluster):
        if not QueuedJob(each.ad).is_scheduled:
            continue
        first = each.jobs.first[1]
        schedule: JobSchedule | None = None
        found: tuple[Diagnostic, ...] = ()
        for proc in range(first, first + each.jobs.count):
            if made == MOST_JOBS:
                message = f"only the first {MOST_JOBS} jobs of {file.source.name} are planned"
                more = Diagnostic("plan-jobs", message, Severity.WARNING, each.jobs.queue, "plan fewer of them")
                yield PlannedJob("", file.source.name, each.ad, None, (more,))
                return
            ad = each.ad.copy()
            ad.set("ProcId", proc)
            for name, value in (("JobStatus", 1), ("Owner", reading.owner), ("QDate", now)):
                if name not in ad:
                    ad.set(name, value)
            if proc == first or any("procid" in text.lower() for text in each.jobs.values.values()):
                schedule, found = _submitted(each.jobs, proc, now, reading)
            made += 1
            name = f"{file.source.name}:{each.jobs.queue.line}" if each.jobs.queue else file.source.name
            yield PlannedJob(f"{cluster}.{proc}", name, ad, schedule, found, each.jobs.spans, each.jobs.queue)


def _submitted(
    group: JobGroup, proc: int, now: int, reading: JobSettings
) -> tuple[JobSchedule | None, tuple[Diagnostic, ...]]:
    commands = {name: text for name, text in group.values.items() if name not in _REQUIREMENTS}
    try:
        schedule = submitted_schedule(
            commands,
            now,
            spans=group.spans,
            proc_id=proc,
            dialect=reading.dialect,
            schedd_interval=reading.schedd_interval,
            zone=reading.zone,
            policy=reading.policy,
        )
    except (InvalidSchedule, InvalidSpec) as error:
        return None, error.diagnostics
    return schedule, schedule.notes


def _of_queued(queued: QueuedJob, now: int, reading: JobSettings) -> Iterator[PlannedJob]:
    if not queued.is_scheduled:
        return
    ad = queued.ad.flat()
    ad.place = queued.ad.place
    place = queued.place
    name = f"{place.name}:{place.line}"
    job_id = queued.id or name
    here = Source("", f"{name}: job {job_id}").span()
    why = _out_of_play(queued, here)
    schedule: JobSchedule | None = None
    found: tuple[Diagnostic, ...] = ()
    if why is not None:
        found = (why,)
    else:
        try:
            schedule = queued.schedule(
                now,
                dialect=reading.dialect,
                schedd_interval=reading.schedd_interval,
                zone=reading.zone,
                policy=reading.policy,
            )
            found = schedule.notes
        except InvalidSchedule as error:
            found = error.diagnostics
    yield PlannedJob(job_id, name, ad, schedule, found, queued.spans if schedule is not None else {}, here)


def _out_of_play(queued: QueuedJob, here: Span) -> Diagnostic | None:
    """Say why no router looks at a job of a queue, now or later, as things stand; None where one does."""
    status = queued.status
    if status in _OUT_OF_PLAY and status is not None:
        message = f"the job is {status.name.lower()}: no router takes it, and it has no runs"
        help_text = "condor_release lets it go on" if status is JobStatus.HELD else "submit it anew"
        return Diagnostic("plan-not-idle", message, Severity.WARNING, here, help_text)
    managed = queued.string("Managed")
    if managed == "External":
        to = queued.string("RoutedToJobId")
        message = f"the job is in the hands of a job router{f', its copy is {to}' if to else ''}: no route is asked"
        help_text = "plan the copy: its ad says what it does; remove the copy, and the job is idle again"
        return Diagnostic("plan-managed", message, Severity.NOTE, here, help_text)
    return None
