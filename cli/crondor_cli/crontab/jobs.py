"""The jobs that `crondor export` is asked about: what they run and when, and what of them the answer leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from crondor.compile.text import WrittenSchedule, read_schedule, schedule_line
from crondor.crontab.export import JobProgram
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job.arguments import InvalidArguments, split_arguments, split_environment
from crondor.schedule import COMMANDS, JobSchedule
from crondor.source import Source, Span
from crondor.spec import FIELDS, Dialect
from crondor.submit import SubmitFile
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor.zones import Policy
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import Clock
from crondor_cli.common.progress import PROGRESS

# The commands that say what runs, each with its other spellings; the first that is assigned counts.
_EXECUTABLE = ("executable", "cmd")
_ARGUMENTS = ("arguments", "args")
_ENVIRONMENT = ("environment", "env")
_INPUT = ("input", "in", "stdin")
_SHELL = ("shell",)
_PROGRAM = (*_EXECUTABLE, *_ARGUMENTS, *_ENVIRONMENT, *_INPUT, *_SHELL)
_LEFT_OUT = {
    "initialdir": "cron starts a command in the user's home folder",
    "getenv": "cron gives a command HOME, LOGNAME and the variables of the crontab only",
    "output": "cron mails what a command prints",
    "error": "cron mails what a command prints",
    "requirements": "a crontab has none, and those of a job may keep it from some of its times",
    "my.requirements": "a crontab has none, and those of a job may keep it from some of its times",
}
_SCHEDULING = frozenset(COMMANDS)
_Value = TypeVar("_Value")


class ScheduleOptions(NamedTuple):
    """How to read the schedules."""

    clock: Clock
    dialect: Dialect
    policy: Policy | None
    is_crontab: bool


class ExportJob(NamedTuple):
    """Equal jobs: their schedule, what they run (None: not known), the line they are queued at, and their values.

    ``times`` says when they run.
    """

    name: str
    jobs: int
    schedule: JobSchedule
    program: JobProgram | None
    place: Span | None
    values: Mapping[str, str]
    times: JobTimes


def jobs_of(
    request: ScheduleRequest, asked: ScheduleOptions, command: str | None
) -> tuple[list[ExportJob], list[Diagnostic]]:
    """Return the jobs, and every finding about them; a job with an error among its findings is left out.

    ``command`` is what to run instead of what a file says. Raises CrondorError where nothing can be read.
    """
    request.check()
    found: list[ExportJob] = []
    given = None if command is None else JobProgram("/bin/sh", ("-c", command))
    groups, findings = _of_files(request, asked, is_given=given is not None) if request.paths else _typed(request)
    for name, count, values, spans, place in PROGRESS.counted(groups, "reading schedules", "jobs"):
        try:
            schedule = _schedule(values, spans, asked)
            program = _program(values, spans) if given is None and request.paths else given
        except CrondorError as error:
            findings += error.diagnostics
            continue
        findings += schedule.notes
        if not schedule.is_deferred:
            message = "the job has no cron field and no deferral_time: there is no schedule to export"
            findings.append(Diagnostic("not-deferred", message, Severity.NOTE, place))
            continue
        found.append(
            ExportJob(name, count, schedule, program, place, values, JobTimes(schedule, requirements_of(values)))
        )
    return found, list(dict.fromkeys(findings))


def _typed(request: ScheduleRequest) -> tuple[list[_Group], list[Diagnostic]]:
    jobs, findings = request.jobs()
    return [(job.name, job.count, job.commands, job.spans, job.queue) for job in jobs], findings


def _of_files(
    request: ScheduleRequest, asked: ScheduleOptions, *, is_given: bool
) -> tuple[list[_Group], list[Diagnostic]]:
    """Return the groups of all files; of several, what is refused is a finding, and the others count."""
    groups: list[_Group] = []
    findings: list[Diagnostic] = []
    for path in PROGRESS.counted(request.paths, "reading", "files"):
        try:
            file = request.read(path)
            made = list(_merged(file, (*COMMANDS, *REQUIREMENTS, *(() if is_given else _PROGRAM))))
            made = _of_own_schedule(file, made, asked.clock) if asked.is_crontab else made
        except CrondorError as error:
            if len(request.paths) == 1:
                raise
            findings += error.diagnostics
            continue
        groups += made
        findings += file.warnings
        findings += _left_out(file) if asked.is_crontab and not is_given else ()
    return groups, findings


def line_of(schedule: WrittenSchedule, clock: Clock) -> str:
    """Return the crontab line of a schedule that is one. Raises CrondorError for any other."""
    message = "five cron fields cannot say this schedule"
    if schedule.spec is not None and schedule.zone.name != clock.zone_name:
        message = f"a crontab has no zone, and this schedule means the clock of {schedule.zone.name}"
    elif schedule.spec is not None:
        return " ".join(schedule.spec.canonical)
    help_text = "write --to ics; crondor compile makes a job of HTCondor of it"
    raise CrondorError(
        Diagnostic("schedule-crontab", message, span=Source(schedule.text, "--schedule").span(), help=help_text)
    )


def _of_own_schedule(file: SubmitFile, groups: list[_Group], clock: Clock) -> list[_Group]:
    """Return the groups of a file with the fields that its schedule line says, of which the compiled ones hold more.

    Jobs that share the times of the line are one. Raises CrondorError for a line that no crontab can say.
    """
    line = schedule_line(file.source)
    if line is None:
        return groups
    words = line_of(read_schedule(line, zone=clock.zone_name), clock).split()
    fields = {field.command: word for field, word in zip(FIELDS, words, strict=True)}
    found: dict[tuple[tuple[str, str], ...], _Group] = {}
    for name, count, values, spans, place in groups:
        own = {each: text for each, text in values.items() if each not in REQUIREMENTS} | fields
        found.setdefault(tuple(sorted(own.items())), (name, count, own, spans, place))
    return list(found.values())


_Group = tuple[str, int, Mapping[str, str], Mapping[str, Span], "Span | None"]


def _merged(file: SubmitFile, names: Iterable[str]) -> Iterator[_Group]:
    """Yield the groups of a file, equal ones of different queue statements as one. Raises InvalidSubmit."""
    merged: dict[tuple[tuple[str, str], ...], _Group] = {}
    for group in file.groups(names):
        key = tuple(sorted(group.values.items()))
        count = merged[key][1] if key in merged else 0
        place = merged[key][4] if key in merged else group.queue
        merged[key] = (file.source.name, count + group.count, group.values, group.spans, place)
    yield from merged.values()


def _schedule(values: Mapping[str, str], spans: Mapping[str, Span], asked: ScheduleOptions) -> JobSchedule:
    commands = {name: text for name, text in values.items() if name in _SCHEDULING}
    return JobSchedule.from_submit(
        commands, spans=spans, dialect=asked.dialect, zone=asked.clock.zone, policy=asked.policy
    )


def _program(values: Mapping[str, str], spans: Mapping[str, Span]) -> JobProgram | None:
    """Return what a job runs, None where the file does not say. Raises InvalidArguments."""
    variables = _read(_ENVIRONMENT, values, spans, split_environment) or {}
    stdin = _first(_INPUT, values)
    stdin = None if stdin == "/dev/null" else stdin
    shell = _first(_SHELL, values)
    if shell is not None:
        return JobProgram("/bin/sh", ("-c", shell), variables, stdin)
    executable = _first(_EXECUTABLE, values)
    if executable is None:
        return None
    return JobProgram(executable, tuple(_read(_ARGUMENTS, values, spans, split_arguments) or ()), variables, stdin)


def _first(names: Iterable[str], values: Mapping[str, str]) -> str | None:
    return next((values[name] for name in names if values.get(name, "").strip()), None)


def _read(
    names: Iterable[str], values: Mapping[str, str], spans: Mapping[str, Span], reader: Callable[[str], _Value]
) -> _Value | None:
    """Read the first of ``names`` that has a value, and point an error at its place."""
    name = next((name for name in names if values.get(name, "").strip()), None)
    if name is None:
        return None
    try:
        return reader(values[name])
    except InvalidArguments as error:
        raise InvalidArguments(replace(fault, span=spans.get(name)) for fault in error.diagnostics) from None


def _left_out(file: SubmitFile) -> Iterator[Diagnostic]:
    for key in file.keys:
        if key in _LEFT_OUT:
            place = file.name(key)
            name = place.text if place is not None else key
            severity = Severity.WARNING if key.endswith("requirements") else Severity.NOTE
            yield Diagnostic("export-left-out", f"{name} is left out: {_LEFT_OUT[key]}", severity, place)
