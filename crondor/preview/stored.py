"""The jobs of a submit file as the access point of --pool-config would store them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from crondor._schedule import ATTRIBUTES, LEAVING, leaves_by
from crondor.access_point import AccessPoint, Admission, SentJob, Submitter, TransformStep, Verdict, sent_jobs
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, has_error, printable
from crondor.job.attributes import JobStatus, expression, int32, printed
from crondor.job.policy import QueuedJob
from crondor.schedule import COMMANDS, InvalidSchedule, JobSchedule, misspelt, needs_evaluation, speaks_of_time
from crondor.spec import FIELDS, CronSpec, Dialect, InvalidSpec
from crondor.submit import InvalidSubmit, JobGroup, Origin, SubmitFile, job_ads
from crondor.submit.file import groups_with_attributes
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor.zones import Policy

if TYPE_CHECKING:
    pass

_BESIDE = {*REQUIREMENTS, *LEAVING}  # what is asked of a job beside its schedule


class Clock(Protocol):
    """The time that is taken for now (epoch seconds), and the submit host's zone with its name."""

    @property
    def now(self) -> int:
        """The time."""

    @property
    def zone(self) -> tzinfo:
        """The zone."""

    @property
    def zone_name(self) -> str:
        """Its name."""

    @property
    def is_given(self) -> bool:
        """Whether the zone was named, and is not just that of this host."""


class ReadingTerms(NamedTuple):
    """How schedules are read: the clock, the policy at clock changes, and SCHEDD_INTERVAL (seconds)."""

    clock: Clock
    policy: Policy | None = None
    schedd_interval: int = 300


class ReadSchedule(NamedTuple):
    """One schedule in one dialect: what it asks for, or why it is refused."""

    dialect: Dialect
    schedule: JobSchedule | None
    error: CrondorError | None = None

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if there are any."""
        return self.schedule.spec if self.schedule is not None else None


class JobState(NamedTuple):
    """What a queue says of a job; ``is_halted``: as things stand it runs at none of its times.

    ``title`` names it for people, ``data`` has its attributes for programs. ``is_idle``: it waits to be matched.
    """

    queued: QueuedJob
    title: str
    is_idle: bool
    is_halted: bool
    data: dict[str, object]


class Job:
    """Equal jobs of a file, or one schedule from the command line, and how to read it in a dialect."""

    def __init__(
        self,
        name: str,
        queue: Span | None,
        count: int,
        commands: Mapping[str, str],
        spans: Mapping[str, Span],
        terms: ReadingTerms,
        proc_id: int = 0,
        origins: Mapping[str, tuple[Origin, ...]] | None = None,
    ) -> None:
        """Take the queue statement, the commands by lower-case name, the places they are written at, the first job."""
        self.name = name
        self.queue = queue
        self.line = queue.line if queue is not None else None
        self.count = count
        self.commands = commands
        self._spans = spans
        self.clock = terms.clock
        self.present: int | None = None  # DeferralTime that a schedd has computed (epoch seconds)
        self.state: JobState | None = None
        self.requirements = ""  # those that speak of the time
        self.submitted = terms.clock.now if needs_evaluation(commands) else None
        self.leaves_by: str | None = None  # what makes a job of a file leave the queue after its first run
        self._terms = terms
        self._proc_id = proc_id
        self._origins = origins or {}

    @property
    def spans(self) -> Mapping[str, Span]:
        """The places of the commands by lower-case name."""
        return self._spans

    @property
    def time_span(self) -> Span | None:
        """The place of the deferral time, if there is one."""
        return next((self.spans[name] for name in ("deferral_time", "deferraltime") if name in self.spans), None)

    def read(self, dialect: Dialect) -> ReadSchedule:
        """Read the schedule in a dialect; where there are expressions, as that of a job submitted now."""
        terms = self._terms
        try:
            if self.submitted is not None:
                return ReadSchedule(dialect, self._submitted(dialect, self.submitted))
            schedule = JobSchedule.from_submit(
                self.commands,
                spans=self.spans,
                dialect=dialect,
                zone=self.clock.zone,
                policy=terms.policy,
                schedd_interval=terms.schedd_interval,
            )
        except (InvalidSchedule, InvalidSpec) as error:
            error.diagnostics = tuple(map(self._traced, error.diagnostics))
            return ReadSchedule(dialect, None, error)
        return ReadSchedule(dialect, schedule)

    def times(self, schedule: JobSchedule) -> JobTimes:
        """Return when the job runs by one reading of its schedule."""
        return JobTimes(schedule, self.requirements, self.present)

    def _traced(self, fault: Diagnostic) -> Diagnostic:
        """Say which macros a value with a fault was made of."""
        name = next((name for name, span in self.spans.items() if span == fault.span), "")
        way = "; ".join(str(origin) for origin in self._origins.get(name, ()))
        if not way:
            return fault
        return replace(fault, help=f"{fault.help}; the value comes {way}" if fault.help else f"the value comes {way}")

    def _submitted(self, dialect: Dialect, now: int) -> JobSchedule:
        from crondor.job.expressions import submitted_schedule  # noqa: PLC0415 - the engine takes 17 ms, and plain numbers need none

        schedule = submitted_schedule(
            self.commands,
            now,
            spans=self.spans,
            proc_id=self._proc_id,
            dialect=dialect,
            zone=self.clock.zone,
            policy=self._terms.policy,
            schedd_interval=self._terms.schedd_interval,
        )
        if self.count == 1 or not any("procid" in text.lower() for text in self.commands.values()):
            return schedule
        message = f"an expression asks for ProcId, and what is shown is that of the first of {self.count} jobs"
        note = Diagnostic(
            "expression-job", message, Severity.WARNING, self.queue, f"the others differ from {self._proc_id}"
        )
        return replace(schedule, notes=(*schedule.notes, note))


def jobs_of_file(file: SubmitFile, terms: ReadingTerms) -> tuple[list[Job], list[Diagnostic]]:
    """Return the jobs of a submit file, equal ones as one, and what is wrong with the expressions in it."""
    groups = _with_attributes(file)
    findings = list(dict.fromkeys(finding for group in groups for finding in group.findings))
    return list(_merged(file, groups, terms)), findings


def job_of_line(source: Source, terms: ReadingTerms, dialect: Dialect = Dialect.MANUAL) -> Job:
    """Take a crontab line apart; which of its fields are valid is the dialects' business. Raises InvalidSpec."""
    line = source.text
    words = [source.span(word.start(), word.end()) for word in re.finditer(r"\S+", line)]
    if len(words) == len(FIELDS):
        spans = {field.command: word for field, word in zip(FIELDS, words, strict=True)}
        return Job(line.strip(), None, 1, {name: word.text for name, word in spans.items()}, spans, terms)
    # A nickname, or a line that is wrong as a whole.
    spec = CronSpec.from_line(line, dialect=dialect, name=source.name)
    commands = {field.command: text or "*" for field, text in zip(FIELDS, spec.given, strict=True)}
    return Job(line.strip(), None, 1, commands, {name: source.span() for name in commands}, terms)


def _merged(file: SubmitFile, groups: list[JobGroup], terms: ReadingTerms) -> Iterator[Job]:
    """Merge equal groups of different queue statements, in order of their first jobs."""
    merged: dict[tuple[str | None, tuple[tuple[str, str], ...]], tuple[JobGroup, int]] = {}
    for group in groups:
        key = (
            leaves_by(group.values),
            tuple(sorted(each for each in group.values.items() if each[0] not in LEAVING)),
        )
        first, count = merged.get(key, (group, 0))
        merged[key] = first, count + group.count
    for (leaves, _), (group, count) in merged.items():
        commands = {name: text for name, text in group.values.items() if name not in _BESIDE}
        job = Job(file.source.name, group.queue, count, commands, group.spans, terms, group.first[1], group.origins)
        job.leaves_by = leaves
        job.requirements = requirements_of(group.values)
        yield job


def _with_attributes(file: SubmitFile) -> list[JobGroup]:
    """Return the groups of a file, where there are expressions with the attributes that they name.

    The requirements are among the values where something in the file speaks of the time, and they can be expanded.
    """
    names: tuple[str, ...] = COMMANDS
    groups = list(file.groups(names))
    leaving = tuple(name for name in LEAVING if name in file.keys)
    if leaving:
        with suppress(InvalidSubmit):
            groups = list(file.groups((*names, *leaving)))
            names = (*names, *leaving)
    speaks = any(speaks_of_time(source.text) for source in file.sources)
    if speaks and any(name in file.keys for name in REQUIREMENTS):
        with suppress(InvalidSubmit):
            groups = list(file.groups((*names, *REQUIREMENTS)))
            names = (*names, *REQUIREMENTS)
    if not any(needs_evaluation(group.values) for group in groups):
        return groups
    return groups_with_attributes(file, names)


def not_deferred(job: Job) -> Diagnostic:
    """Say that a job has no schedule."""
    message = "the job has no cron field and no deferral_time: it may run at once"
    return Diagnostic(
        "not-deferred", message, Severity.NOTE, job.queue, "define cron_minute, cron_hour ... or deferral_time"
    )


MOST_JOBS: Final = 10_000
_TERMS: Final = (*ATTRIBUTES, "ScheddInterval")


class StoredJobs(NamedTuple):
    """Jobs that are alike: as the file has them, and what becomes of them."""

    jobs: JobGroup
    admission: Admission

    @property
    def ad(self) -> ClassAd:
        """The ad that is stored, of the first of them."""
        return self.admission.after


def stored_jobs(
    file: SubmitFile, access_point: AccessPoint, now: int, *, cluster: int = 1
) -> tuple[list[StoredJobs], list[Diagnostic]]:
    """Return the jobs of a file that is submitted at ``now`` (epoch seconds), and what transforms change of them.

    Raises InvalidSubmit for what condor_submit refuses, CrondorError for what the access point does.
    """
    limit = access_point.too_many(file)
    if limit is not None:
        raise CrondorError(_refused(limit, next((queue.span for queue in file.queues if queue.jobs), None)))
    knobs, host = access_point.submit_knobs, file.host
    who = Submitter(host.user, knobs.get("uid_domain") or host.uid_domain, now)
    made = job_ads(file, config=knobs, in_order=True, limit=MOST_JOBS, cluster=cluster)
    found: list[StoredJobs] = []
    said: dict[Diagnostic, None] = {}
    for sent in sent_jobs(made, who, file.job_count):
        admission = access_point.admit(sent.ad)
        if admission.refusal is not None:
            raise CrondorError(_refused(admission.refusal, sent.jobs.queue))
        found.append(StoredJobs(sent.jobs, admission))
        said.update(dict.fromkeys(_changes(sent.jobs, admission)))
    return found, list(said)


def schedules_of(
    file: SubmitFile, access_point: AccessPoint, terms: ReadingTerms
) -> tuple[list[Job], list[Diagnostic]]:
    """Return the jobs as an access point stores them, and what it changes of their schedules; none where nothing.

    Raises CrondorError where it refuses them.
    """
    stored, said = stored_jobs(file, access_point, terms.clock.now)
    return (list(_schedules(file, stored, terms)) if said else []), said


def _schedules(file: SubmitFile, stored: Iterable[StoredJobs], terms: ReadingTerms) -> Iterator[Job]:
    """Yield the jobs, each once."""
    seen: dict[tuple[object, ...], Job] = {}
    for each in stored:
        ad = each.ad
        texts = {f"my.{name.lower()}": printed(ad, name) for name in _TERMS if expression(ad, name) is not None}
        universe = int32(ad, "JobUniverse")
        commands = {**texts, "universe": str(universe or 5)}
        leaves = leaves_by({"my.onexitremove": printed(ad, "OnExitRemove")} if "OnExitRemove" in ad else {})
        requirements = printed(ad, "Requirements") if "Requirements" in ad else ""
        requirements = requirements if speaks_of_time(requirements) else ""
        key = (leaves, requirements, tuple(sorted(commands.items())))
        known = seen.get(key)
        if known is not None:
            known.count += each.jobs.count
            continue
        spans = {**each.jobs.spans, **dict(_places(each.admission))}
        job = Job(file.source.name, each.jobs.queue, each.jobs.count, commands, spans, terms, each.jobs.first[1])
        job.leaves_by = leaves
        job.requirements = requirements
        seen[key] = job
    yield from seen.values()


def _places(admission: Admission) -> Iterator[tuple[str, Span]]:
    for step, change in admission.schedule_changes:
        place = step.place(change.name)
        if place is not None:
            yield f"my.{change.name.lower()}", place


def _changes(jobs: JobGroup, admission: Admission) -> Iterator[Diagnostic]:
    for step, change in admission.schedule_changes:
        before, after = (line or f"no {change.name}" for line in change.lines)
        message = f"{step.transform.knob} makes {after} of {before}"
        yield Diagnostic("access-point", message, Severity.NOTE, step.place(change.name) or jobs.queue)


def _refused(verdict: Verdict, queue: Span | None) -> Diagnostic:
    place = verdict.place
    where = "" if place is None else f" ({place.source.name}:{place.line})"
    message = f"the access point refuses the job: {verdict.knob}{where}: {' '.join(verdict.reason.split())}"
    return Diagnostic("access-point", message, span=queue, help=verdict.help)


if TYPE_CHECKING:
    pass


class PreviewedJobs(NamedTuple):
    """Jobs that meet the same end: ``number`` of them from ``first`` on, and what becomes of the first.

    ``is_same``: their ads differ in nothing but their numbers.
    """

    cluster: int
    first: int
    number: int
    queue: Span | None
    admission: Admission
    is_same: bool = True

    @property
    def title(self) -> str:
        """Which jobs they are."""
        beside = "" if self.number == 1 else f", and {self.number - 1:,} {self._like}"
        place = "" if self.queue is None else f" of {self.queue.source.name}:{self.queue.line}"
        return f"job {self.cluster}.{self.first}{place}{beside}"

    @property
    def _like(self) -> str:
        return "like it" if self.is_same else f"that end{'s' * (self.number == 2)} alike"


@dataclass(frozen=True)
class PreviewedFile:
    """One submit file: its jobs, what refuses them together, and what was said on the way."""

    name: str
    cluster: int
    jobs: tuple[PreviewedJobs, ...] = ()
    limit: Verdict | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def together(self) -> Iterator[PreviewedJobs]:
        """Yield the jobs, neighbours that end alike as one, whatever else of their ads differs."""
        found: PreviewedJobs | None = None
        for each in self.jobs:
            if found is not None and found.queue == each.queue and _alike(found.admission, each.admission):
                found = found._replace(number=found.number + each.number, is_same=False)
                continue
            if found is not None:
                yield found
            found = each
        if found is not None:
            yield found

    @property
    def is_accepted(self) -> bool:
        """Whether all its jobs are."""
        refused = self.limit is not None or any(each.admission.refusal is not None for each in self.jobs)
        return not refused and not has_error(self.diagnostics) and bool(self.jobs)


def _said(file: SubmitFile, access_point: AccessPoint) -> tuple[Diagnostic, ...]:
    names = ((key, file.name(key)) for key in file.keys)
    written = ((span.text if span else key, span) for key, span in names)
    known = access_point.commands
    found = [each for each in misspelt(written) if each.span is None or each.span.text.lower() not in known]
    return tuple(dict.fromkeys((*file.warnings, *found)))


def _check_size(file: SubmitFile) -> None:
    if file.job_count > MOST_JOBS * 100:
        message = f"{file.job_count:,} jobs are more than crondor looks at"
        raise CrondorError(Diagnostic("preview-many", message, help="queue fewer"))


def _admitted(sent: SentJob, cluster: int, wanted: int | None, access_point: AccessPoint) -> Iterator[PreviewedJobs]:
    """Yield the jobs of a group; one by one only where their numbers make a difference, and neighbours together."""
    first = int(sent.ad.text("ProcId"))
    numbers = range(first, first + sent.jobs.count)
    if wanted is not None:
        numbers = range(wanted, wanted + 1) if wanted in numbers else range(0)
    if numbers and not (access_point.tells_jobs_apart and len(numbers) <= MOST_JOBS):
        yield _one(sent, cluster, numbers[0], len(numbers), access_point)
        return
    found: PreviewedJobs | None = None
    for number in numbers:
        one = _one(sent, cluster, number, 1, access_point)
        if found is not None and _alike(found.admission, one.admission):
            found = found._replace(number=found.number + 1)
            continue
        if found is not None:
            yield found
        found = one
    if found is not None:
        yield found


def _one(sent: SentJob, cluster: int, number: int, count: int, access_point: AccessPoint) -> PreviewedJobs:
    ad = sent.ad.copy()
    ad.set("ProcId", number)
    return PreviewedJobs(cluster, number, count, sent.jobs.queue, access_point.admit(ad))


def _alike(one: Admission, other: Admission) -> bool:
    mine, theirs = (replace(each, before=one.before, after=one.after, steps=()) for each in (one, other))
    return mine == theirs and list(one.changes) == list(other.changes)


def changed_by(steps: Iterable[TransformStep], name: str) -> str:
    """Return which transforms changed an attribute, each with its place."""
    key = name.lower()
    found = [step for step in steps if any(change.name.lower() == key for change in step.changes)]
    return ", then ".join(f"{step.transform.knob}{place_text(step.place(name))}" for step in found)


def place_text(place: Span | None) -> str:
    """Return a place in brackets, empty for none."""
    return "" if place is None else f" ({place.source.name}:{place.line})"


def accepted_jobs(
    file: SubmitFile, cluster: int, access_point: AccessPoint, who: Submitter, wanted: int | None = None
) -> PreviewedFile:
    """Return what an access point makes of the jobs of a file, or of the one with the ProcId ``wanted``.

    Raises InvalidSubmit for what condor_submit refuses.
    """
    name, said = file.source.name, _said(file, access_point)
    limit = access_point.too_many(file)
    if limit is not None:
        return PreviewedFile(name, cluster, (), limit, said)
    _check_size(file)
    made = job_ads(file, config=access_point.submit_knobs, in_order=True, limit=MOST_JOBS, cluster=cluster)
    jobs = [
        each for sent in sent_jobs(made, who, file.job_count) for each in _admitted(sent, cluster, wanted, access_point)
    ]
    if not file.job_count:
        end = file.source.span(len(file.source.text))
        said = (*said, Diagnostic("no-jobs", "the file queues no job", Severity.WARNING, end))
    return PreviewedFile(name, cluster, tuple(jobs), None, said)


HALTED: Final = frozenset((JobStatus.REMOVED, JobStatus.COMPLETED, JobStatus.HELD))

Known: TypeAlias = "dict[tuple[Hashable, ...], JobSchedule]"


class QueueJob(Job):
    """One job of a queue."""

    def __init__(self, queued: QueuedJob, name: str, terms: ReadingTerms, known: Known) -> None:
        """Take the ad's job, its name, and the schedules that other jobs have already."""
        super().__init__(name, None, 1, {}, {}, terms)
        self.line = queued.place.line
        self.present = queued.present
        self.requirements = queued.requirements
        self.state = _state(queued, name)
        self._queued = queued
        self._known = known

    @property
    def spans(self) -> Mapping[str, Span]:
        """Where the attributes stand, found when a message needs it."""
        return self._queued.spans

    def read(self, dialect: Dialect) -> ReadSchedule:
        """Read the schedule in a dialect."""
        terms = self._terms
        key = (dialect, *self._queued.terms)
        schedule = self._known.get(key)
        if schedule is not None:
            return ReadSchedule(dialect, schedule)
        try:
            schedule = self._queued.schedule(
                self.clock.now,
                dialect=dialect,
                zone=self.clock.zone,
                policy=terms.policy,
                schedd_interval=terms.schedd_interval,
            )
        except InvalidSchedule as error:
            return ReadSchedule(dialect, None, error)
        if not schedule.notes and not self._queued.has_expressions:
            self._known[key] = schedule
        return ReadSchedule(dialect, schedule)


def _state(queued: QueuedJob, name: str) -> JobState:
    status, owner, cmd = queued.status, queued.string("Owner"), queued.string("Cmd")
    reason, code = queued.string("HoldReason"), queued.integer("HoldReasonCode")
    title = "  ".join(printable(word) for word in (f"job {name}" if queued.id else name, owner, cmd) if word)
    data: dict[str, object] = {
        "job": queued.id,
        "owner": owner,
        "cmd": cmd,
        "state": status.name.lower() if status is not None else None,
        "hold_reason": reason if status is JobStatus.HELD else None,
        "hold_reason_code": code if status is JobStatus.HELD else None,
        "deferral_time": queued.present,
        "leaves": queued.leaves,
    }
    return JobState(queued, title, status in (JobStatus.IDLE, None), status in HALTED, data)
