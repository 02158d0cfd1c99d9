"""The schedules that a command line names: jobs of files, a crontab line, fields, or words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor._schedule.leaving import LEAVING, leaves_by
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import Files
from crondor.schedule import COMMANDS, InvalidSchedule, JobSchedule, misspelt, needs_evaluation, speaks_of_time
from crondor.source import Source, Span
from crondor.spec import FIELDS, CronSpec, Dialect, InvalidSpec
from crondor.submit import InvalidSubmit, JobGroup, Origin, SubmitFile, SubmitHost, read_submit
from crondor.submit.named import groups_with_attributes
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor.zones import Policy
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Clock, Surroundings
from crondor_cli.kit.progress import PROGRESS

_HOST = SubmitHost()
_BESIDE = {*REQUIREMENTS, *LEAVING}  # what is asked of a job beside its schedule


class ReadSchedule(NamedTuple):
    """One schedule in one dialect: what it asks for, or why it is refused."""

    dialect: Dialect
    schedule: JobSchedule | None
    error: CrondorError | None = None

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if there are any."""
        return self.schedule.spec if self.schedule is not None else None


class Job:
    """Equal jobs of a file, or one schedule from the command line, and how to read it in a dialect."""

    def __init__(
        self,
        name: str,
        queue: Span | None,
        count: int,
        commands: Mapping[str, str],
        spans: Mapping[str, Span],
        request: ScheduleRequest,
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
        self.clock = request.clock
        self.present: int | None = None  # DeferralTime that a schedd has computed (epoch seconds)
        self.state: JobState | None = None
        self.requirements = ""  # those that speak of the time
        self.submitted = request.clock.now if needs_evaluation(commands) else None
        self.leaves_by: str | None = None  # what makes a job of a file leave the queue after its first run
        self._request = request
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
        request = self._request
        try:
            if self.submitted is not None:
                return ReadSchedule(dialect, self._submitted(dialect, self.submitted))
            schedule = JobSchedule.from_submit(
                self.commands,
                spans=self.spans,
                dialect=dialect,
                zone=self.clock.zone,
                policy=request.policy,
                schedd_interval=request.schedd_interval,
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
            policy=self._request.policy,
            schedd_interval=self._request.schedd_interval,
        )
        if self.count == 1 or not any("procid" in text.lower() for text in self.commands.values()):
            return schedule
        message = f"an expression asks for ProcId, and what is shown is that of the first of {self.count} jobs"
        note = Diagnostic(
            "expression-job", message, Severity.WARNING, self.queue, f"the others differ from {self._proc_id}"
        )
        return replace(schedule, notes=(*schedule.notes, note))


class JobState(NamedTuple):
    """What a queue says of a job: JobStatus in words, and whether it runs at none of its times as things stand.

    ``facts`` are lines for people, ``data`` the same for programs. ``is_idle``: it waits to be matched.
    """

    title: str
    is_idle: bool
    is_halted: bool
    facts: list[tuple[str, str]]
    data: dict[str, object]


class Through(NamedTuple):
    """What submitted jobs go through: an access point whose configuration is known.

    ``host`` is what that says of the submit machine, ``commands`` are those that it adds. ``schedules`` gives the jobs
    of a file as they are stored, and what was changed of their schedules; it raises CrondorError where they are
    refused.
    """

    host: SubmitHost
    commands: frozenset[str]
    schedules: Callable[[SubmitFile, ScheduleRequest], tuple[list[Job], list[Diagnostic]]]


class ScheduleRequest(NamedTuple):
    """What the command line says about the schedules to read."""

    paths: tuple[str, ...]
    crontab: str | None
    fields: Mapping[str, str | None]
    clock: Clock
    dialect: Dialect | None = None
    schedd_interval: int = 300
    policy: Policy | None = None
    line_name: str = "--crontab"  # what errors call the line
    surroundings: Surroundings = Surroundings()
    ads: tuple[str, ...] = ()  # files with the jobs of a queue
    through: Through | None = None

    def each(self) -> Iterator[tuple[str, ScheduleRequest]]:
        """Yield a request for each file alone, with its name; without files the request itself."""
        for path in PROGRESS.counted(self.paths, "reading", "files"):
            yield "<stdin>" if path == "-" else path, self._replace(paths=(path,))
        if not self.paths:
            yield (self.crontab or next(iter(self.ads), "command line")).strip(), self

    def check(self) -> None:
        """Look whether schedules are named, in one way. Raises UsageError."""
        given = any(text is not None for text in self.fields.values())
        if sum([bool(self.paths), self.crontab is not None, bool(self.ads), given]) != 1:
            raise click.UsageError(_ways(), click.get_current_context(silent=True))
        if self.ads.count("-") > 1:
            raise click.UsageError("standard input (-) can be read only once", click.get_current_context(silent=True))

    def jobs(self) -> tuple[list[Job], list[Diagnostic]]:
        """Return the jobs and the warnings about their file; those of a queue are not looked for.

        Raises CrondorError, and UsageError for a file that cannot be read.
        """
        given = {name: text for name, text in self.fields.items() if text is not None}
        if self.paths:
            return self._of_files()
        if self.crontab is not None:
            return [self._of_line(self.crontab)], []
        spans = {f"cron_{name}": Source(text, f"--{name.replace('_', '-')}").span() for name, text in given.items()}
        return [self._job("command line", None, 1, {f"cron_{n}": t for n, t in given.items()}, spans)], []

    def _job(
        self, name: str, queue: Span | None, count: int, commands: Mapping[str, str], spans: Mapping[str, Span]
    ) -> Job:
        return Job(name, queue, count, commands, spans, self)

    def _of_line(self, line: str) -> Job:
        """Take a crontab line apart; which of its fields are valid is the dialects' business."""
        source = Source(line, self.line_name)
        words = [source.span(word.start(), word.end()) for word in re.finditer(r"\S+", line)]
        if len(words) == len(FIELDS):
            spans = {field.command: word for field, word in zip(FIELDS, words, strict=True)}
            return self._job(line.strip(), None, 1, {name: word.text for name, word in spans.items()}, spans)
        # A nickname, or a line that is wrong as a whole.
        spec = CronSpec.from_line(line, dialect=self.dialect or Dialect.MANUAL, name=source.name)
        commands = {field.command: text or "*" for field, text in zip(FIELDS, spec.given, strict=True)}
        return self._job(line.strip(), None, 1, commands, {name: source.span() for name in commands})

    def _of_files(self) -> tuple[list[Job], list[Diagnostic]]:
        """Read the files in their order; of several, what is refused is a finding, and the others count."""
        jobs: list[Job] = []
        findings: list[Diagnostic] = []
        for path in PROGRESS.counted(self.paths, "reading", "files"):
            try:
                found, said = self._of_file(path)
            except CrondorError as error:
                if len(self.paths) == 1:
                    raise
                findings += error.diagnostics
                continue
            jobs += found
            findings += said
        return jobs, findings

    def _of_file(self, path: str) -> tuple[list[Job], list[Diagnostic]]:
        file = self.read(path)
        known = frozenset() if self.through is None else self.through.commands
        names = ((key, file.name(key)) for key in file.keys if key not in known)
        warnings = [*file.warnings, *misspelt((span.text if span else key, span) for key, span in names)]
        groups = _with_attributes(file)
        warnings += dict.fromkeys(finding for group in groups for finding in group.findings)
        if self.through is not None:
            changed, said = self.through.schedules(file, self)
            if said:
                return changed, [*warnings, *said]
        return list(self._merged(file, groups)), warnings

    def read(self, path: str) -> SubmitFile:
        """Return a submit file, read with all it may see. Raises CrondorError, UsageError if unreadable."""
        return self.read_from(
            read_source(path, FileKind.SUBMIT), path, _HOST if self.through is None else self.through.host
        )

    def read_from(self, source: Source, path: str, host: SubmitHost = _HOST) -> SubmitFile:
        """Return a submit file of which the text is known. Raises CrondorError."""
        allow_dirs, seed, environ = self.surroundings
        return read_submit(
            source,
            files=files_of(path, allow_dirs),
            environ=environ,
            now=self.clock.now,
            zone=self.clock.zone,
            seed=seed,
            host=host,
        )

    def _merged(self, file: SubmitFile, groups: list[JobGroup]) -> Iterator[Job]:
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
            job = Job(file.source.name, group.queue, count, commands, group.spans, self, group.first[1], group.origins)
            job.leaves_by = leaves
            job.requirements = requirements_of(group.values)
            yield job


def _ways() -> str:
    """Say how a schedule is named in the command that runs."""
    context = click.get_current_context(silent=True)
    takes = {name for parameter in context.command.params for name in parameter.opts} if context is not None else set()
    ways = ["FILES", *(way for way in ("--crontab LINE", "--ads FILE") if way.split()[0] in takes)]
    return f"name the schedule, in one way: {', '.join(ways)}, or --minute, --hour and so on"


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


def files_of(path: str, allow_dirs: Iterable[str]) -> Files:
    """Return the files that a submit file may read: those below its folder, for standard input none of its own."""
    folder = os.path.dirname(path) or "."
    return Files((*([] if path == "-" else [folder]), *allow_dirs), base=folder, is_named_whole=True)


def not_deferred(job: Job) -> Diagnostic:
    """Say that a job has no schedule."""
    message = "the job has no cron field and no deferral_time: it may run at once"
    return Diagnostic(
        "not-deferred", message, Severity.NOTE, job.queue, "define cron_minute, cron_hour ... or deferral_time"
    )


if TYPE_CHECKING:
    pass


if TYPE_CHECKING:
    pass
