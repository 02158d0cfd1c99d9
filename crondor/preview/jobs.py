"""The jobs whose runs are requested: those of a submit file, a crontab line, or a queue, read in any dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crondor._schedule import HOLD, LEAVING, ON_HOLD, RELEASED, is_on_hold, leaves_by
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.schedule import COMMANDS, InvalidSchedule, JobSchedule, needs_evaluation, speaks_of_time
from crondor.spec import FIELDS, CronSpec, Dialect, InvalidSpec
from crondor.submit import InvalidSubmit, JobGroup, Origin, SubmitFile
from crondor.submit.file import groups_with_attributes
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor.zones import Policy

if TYPE_CHECKING:
    from crondor.job.policy import QueuedJob

_BESIDE = {*REQUIREMENTS, *LEAVING, HOLD}  # read from a job besides its schedule


class Clock(Protocol):
    """The time used as now (epoch seconds), and the submit host's zone with its name."""

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
    """One schedule in one dialect, or why it is refused."""

    dialect: Dialect
    schedule: JobSchedule | None
    error: CrondorError | None = None

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if there are any."""
        return self.schedule.spec if self.schedule is not None else None


class JobState(NamedTuple):
    """The state of a job in a queue; ``is_halted``: as things stand it never runs.

    ``title`` names the state for people. ``is_idle``: it waits to be matched.
    """

    queued: QueuedJob
    title: str
    is_idle: bool
    is_halted: bool


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
        """Take the queue statement, the commands by lower-case name, the places of their values, the first job."""
        self.name = name
        self.queue = queue
        self.line = queue.line if queue is not None else None
        self.count = count
        self.commands = commands
        self._spans = spans
        self.clock = terms.clock
        self.present: int | None = None  # DeferralTime that a schedd has computed (epoch seconds)
        self.state: JobState | None = None
        self.requirements = ""  # those that depend on the time
        self.submitted = terms.clock.now if needs_evaluation(commands) else None
        self.leaves_by: str | None = None  # what makes a job of a file leave the queue after its first run
        self.is_on_hold = False  # at submission
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
        """Read the schedule in a dialect; expressions are evaluated for a job submitted now."""
        terms = self._terms
        try:
            if self.submitted is not None:
                schedule = self._submitted(dialect, self.submitted)
                return ReadSchedule(dialect, self._noted(schedule) if self.is_on_hold else schedule)
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
        return ReadSchedule(dialect, self._noted(schedule) if self.is_on_hold else schedule)

    def _noted(self, schedule: JobSchedule) -> JobSchedule:
        """Return a schedule with the note that the job is submitted on hold."""
        if not schedule.is_deferred:
            return schedule
        note = Diagnostic("submitted-on-hold", ON_HOLD, Severity.NOTE, self.queue, RELEASED)
        return replace(schedule, notes=(*schedule.notes, note))

    def times(self, schedule: JobSchedule) -> JobTimes:
        """Return the run times of the job by one reading of its schedule."""
        return JobTimes(schedule, self.requirements, self.present)

    def _traced(self, fault: Diagnostic) -> Diagnostic:
        """Add which macros a faulty value was made of."""
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
        message = f"an expression uses ProcId: the result shown is that of the first of {self.count} jobs"
        note = Diagnostic(
            "expression-job", message, Severity.WARNING, self.queue, f"the results differ from {self._proc_id}"
        )
        return replace(schedule, notes=(*schedule.notes, note))


def jobs_of_file(file: SubmitFile, terms: ReadingTerms) -> tuple[list[Job], list[Diagnostic]]:
    """Return the jobs of a submit file, equal ones as one, and what is wrong with the expressions in it."""
    groups = _with_attributes(file)
    findings = list(dict.fromkeys(finding for group in groups for finding in group.findings))
    return list(_merged(file, groups, terms)), findings


def job_of_line(source: Source, terms: ReadingTerms, dialect: Dialect = Dialect.MANUAL) -> Job:
    """Split a crontab line; its fields are checked by the dialects. Raises InvalidSpec."""
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
        key = (leaves_by(group.values), tuple(sorted(each for each in group.values.items() if each[0] not in LEAVING)))
        first, count = merged.get(key, (group, 0))
        merged[key] = first, count + group.count
    for (leaves, _), (group, count) in merged.items():
        commands = {name: text for name, text in group.values.items() if name not in _BESIDE}
        job = Job(file.source.name, group.queue, count, commands, group.spans, terms, group.first[1], group.origins)
        job.leaves_by = leaves
        job.is_on_hold = HOLD in group.values and is_on_hold(group.values)
        job.requirements = requirements_of(group.values)
        yield job


def _with_attributes(file: SubmitFile) -> list[JobGroup]:
    """Return the groups of a file; if there are expressions, with the attributes that they name.

    The requirements are among the values if something in the file depends on the time, and they can be expanded.
    """
    names: tuple[str, ...] = COMMANDS
    groups = list(file.groups(names))
    leaving = tuple(name for name in (*LEAVING, HOLD) if name in file.keys)
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
    """Return the note that a job has no schedule."""
    message = "the job has no cron field and no deferral_time: it may run at once"
    return Diagnostic(
        "not-deferred", message, Severity.NOTE, job.queue, "define cron_minute, cron_hour ... or deferral_time"
    )
