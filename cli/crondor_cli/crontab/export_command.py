"""`crondor export`: the schedule of a job for programs that are not HTCondor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import click

from crondor.algebra import same_meaning, translate
from crondor.compile.text import WrittenSchedule, read_schedule, schedule_line
from crondor.crontab.export import CronLine, JobProgram, write_crontab
from crondor.crontab.ical import CalendarEvent, rule_of, write_calendar
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.job.arguments import InvalidArguments, split_arguments, split_environment
from crondor.preview.facts import LAST_INSTANT
from crondor.recurrence import Recurrence, never_reason
from crondor.schedule import COMMANDS, JobSchedule, Universe
from crondor.source import Source, Span
from crondor.spec import FIELDS, CronSpec, Dialect
from crondor.submit import SubmitFile
from crondor.times import REQUIREMENTS, JobTimes, requirements_of
from crondor.words import describe
from crondor.zones import Policy
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import write_file
from crondor_cli.kit.jobs import ScheduleRequest
from crondor_cli.kit.options import (
    Clock,
    Surroundings,
    clock_of,
    clock_options,
    file_options,
    output_option,
    reading_options,
    schedule_options,
    until_option,
)
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import check_alone, read_asked, schedule_text_option, without_fields
from crondor_cli.kit.screen import emit, show


def crontab_of(jobs: list[ExportJob]) -> tuple[bytes, list[Diagnostic]]:
    """Return a crontab of the jobs that cron can run, and the findings about them and the others."""
    lines: list[CronLine] = []
    findings: list[Diagnostic] = []
    for job in PROGRESS.counted(jobs, "writing lines", "jobs"):
        faults = list(_refusals(job))
        findings += faults
        if faults or job.schedule.spec is None or job.program is None:
            continue
        comment = f"{job.place.location if job.place else job.name}: {describe(job.schedule.spec)}"
        line = CronLine(job.schedule.spec, job.program, comment)
        try:
            write_crontab([line])
        except CrondorError as error:
            findings += error.diagnostics
            continue
        lines.append(line)
        findings += _surprises(job, job.schedule.spec)
    return write_crontab(lines).encode("utf-8", "surrogateescape"), findings


def _refusals(job: ExportJob) -> Iterator[Diagnostic]:
    spec = job.schedule.spec
    if spec is None:
        message = "the job runs once, at its deferral_time: a crontab line repeats"
        yield Diagnostic("export-once", message, span=job.place, help="use at(1), or --to ics")
    elif (never := never_reason(spec)) is not None:
        yield Diagnostic("cron-never", f"the schedule never fires: {never}", span=job.place)
    elif job.program is None:
        message = "the file does not say what the job runs"
        yield Diagnostic("export-command", message, span=job.place, help="name a command with --command")


def _surprises(job: ExportJob, spec: CronSpec) -> Iterator[Diagnostic]:
    schedule = job.schedule
    if job.jobs > 1:
        yield _warning("export-count", f"{job.jobs} equal jobs become one line", job)
    if schedule.universe is not Universe.LOCAL and job.place is not None:
        message = f"a job of the {schedule.universe.name.lower()} universe runs in the pool, a crontab line on its host"
        yield _warning("export-universe", message, job)
    executable = job.program.executable if job.program is not None else "/"
    if not executable.startswith("/"):
        message = f"{executable[:40]!r} is relative to where the file is submitted; cron looks it up in PATH or at home"
        yield _warning("export-relative", message, job)
    zone = schedule.zone
    if schedule.recurrence is not None and not same_meaning(spec, translate(spec, Dialect.UNIX), zone):
        message = "on days when the clocks change cron and HTCondor run it at different times"
        yield Diagnostic("clock-changes", message, Severity.NOTE, job.place)
    lengths = f"window ({schedule.window} s) and prep time ({schedule.prep_time} s)"
    message = f"cron starts a command on the minute or not at all: {lengths} are left out"
    yield Diagnostic("export-window", message, Severity.NOTE, job.place)


def _warning(code: str, message: str, job: ExportJob) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, job.place)


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


_RUNS = 10


def calendar_of(
    jobs: list[ExportJob], clock: Clock, count: int | None, end: int | None, *, rrule: bool
) -> tuple[bytes, list[Diagnostic]]:
    """Return a calendar of the runs of all jobs, b"" where there are none, and what stands against the others.

    Raises NoCalendar.
    """
    events: list[CalendarEvent] = []
    findings: list[Diagnostic] = []
    for job in PROGRESS.counted(jobs, "listing runs", "jobs"):
        found, faults = _events(job, clock.now, count, end, rrule=rrule)
        events += found
        findings += faults
    return write_calendar(events, clock.zone, clock.now) if events else b"", findings


def asked_calendar(schedule: WrittenSchedule, clock: Clock, count: int | None, end: int | None) -> bytes:
    """Return a calendar of the coming runs of a schedule of any language, b"" where there are none.

    Raises NoCalendar.
    """
    end = LAST_INSTANT if end is None else end
    runs = islice(schedule.between(clock.now, end), count or _RUNS)
    key = f"{schedule.text}\n{schedule.zone.name}"
    events = [
        CalendarEvent(JobSchedule(time=run).deferral(run, clock.now), printable(schedule.text)[:200], key)
        for run in runs
    ]
    return write_calendar(events, clock.zone, clock.now) if events else b""


def _events(
    job: ExportJob, now: int, count: int | None, end: int | None, *, rrule: bool
) -> tuple[list[CalendarEvent], tuple[Diagnostic, ...]]:
    recurrence = job.schedule.recurrence
    try:
        if rrule and recurrence is not None and not job.times.is_restricted:
            return [_repeated(job, recurrence, now, count, end)], ()
        return list(_single(job, now, count or _RUNS, end)), ()
    except CrondorError as error:
        return [], tuple(replace(fault, span=fault.span or job.place) for fault in error.diagnostics)


def _repeated(job: ExportJob, recurrence: Recurrence, now: int, count: int | None, end: int | None) -> CalendarEvent:
    first, rule = rule_of(recurrence, now)
    if end is not None:
        rule["until"] = datetime.fromtimestamp(end, timezone.utc)
    elif count is not None:
        rule["count"] = count
    return CalendarEvent(job.schedule.deferral(first, now), _summary(job), _key(job), rule)


def _single(job: ExportJob, now: int, count: int, end: int | None) -> Iterator[CalendarEvent]:
    times = job.times.runs(now, end, now=now)
    for time in islice(times, count):
        yield CalendarEvent(job.schedule.deferral(time, now), _summary(job), _key(job))


def _summary(job: ExportJob) -> str:
    if job.program is None:
        return job.name
    program = job.program
    shown = program.arguments[1] if tuple(program.arguments[:1]) == ("-c",) and len(program.arguments) == 2 else ""
    return (shown or " ".join((program.executable, *program.arguments)))[:200]


def _key(job: ExportJob) -> str:
    """Return what tells a job from the others, and stays the same from one export to the next."""
    schedule, program = job.schedule, job.program
    parts = [str(schedule.spec or schedule.time), str(schedule.zone), str(schedule.window), str(schedule.prep_time)]
    if program is not None:
        parts += [program.executable, *program.arguments, str(sorted(program.environment.items())), str(program.stdin)]
    return "\n".join(parts)


EXAMPLE = """\
crondor export --to crontab --crontab "30 2 * * *" --command backup"""

EPILOG = """\b
Examples:
  crondor export job.sub --to crontab
  crondor export --crontab '0 6 * * 1' --command 'report --weekly' \\
      --to crontab
  crondor export job.sub --to ics -n 50 -o runs.ics
  crondor export job.sub --to ics --rrule
  crondor export --schedule 'every 2 weeks from 2026-12-01' --to ics

A crontab has no window, no prep time, no pool and no deferral_time: what is lost is said. Calendars need the Python
library icalendar (in a clone of crondor: pip install '.[ics]').

Exit status: 0 fine, 1 a finding (a job that cannot be exported), 2 wrong usage."""


@click.command(
    "export",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@schedule_options
@schedule_text_option
@click.option(
    "--to",
    type=click.Choice(["crontab", "ics"]),
    required=True,
    help="What to write: lines for Unix cron, or a calendar (RFC 5545).",
)
@output_option("Where it goes; - prints it.")
@click.option("--command", "text", metavar="TEXT", help="The command of the lines, instead of what the file runs.")
@click.option("-n", "--count", type=click.IntRange(1, 100_000), help="Runs in the calendar (default: 10).")
@until_option("Put runs into the calendar")
@click.option("--rrule", is_flag=True, help="One event with a recurrence rule, instead of an event for each run.")
@file_options
@clock_options
@reading_options(htcondor=False)
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    schedule: str | None,
    own_zone: str | None,
    to: str,
    out: str,
    text: str | None,
    count: int | None,
    until: str | None,
    rrule: bool,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Write the schedules of a submit file, a crontab line or single fields in another form."""
    clock = clock_of(now, tz)
    if to == "crontab" and (rrule or until is not None or count is not None):
        raise _usage("--count, --until and --rrule go with --to ics: a crontab line has no end")
    if to == "crontab" and not paths and text is None:
        raise _usage("a crontab line needs a command: name it with --command")
    if check_alone(schedule, own_zone, without_fields(paths, crontab, fields) | {"--dialect": dialect}):
        wanted = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show(wanted.warnings)
        if to == "ics":
            if rrule:
                raise _usage("--rrule is for cron fields; a schedule is exported run by run")
            _put(asked_calendar(wanted, clock, count, clock.last(until, "no run")), out)
            return
        crontab = line_of(wanted, clock)
    asked = ScheduleOptions(clock, dialect or Dialect.MANUAL, policy, to == "crontab")
    request = ScheduleRequest(
        paths, crontab, fields, clock, asked.dialect, policy=asked.policy, surroundings=surroundings
    )
    jobs, findings = jobs_of(request, asked, text)
    end = clock.last(until, "no run")
    data, more = crontab_of(jobs) if to == "crontab" else calendar_of(jobs, clock, count, end, rrule=rrule)
    findings += more
    show(dict.fromkeys(findings))
    _put(data, out)
    if has_error(findings):
        raise click.exceptions.Exit(1)


def _put(data: bytes, out: str) -> None:
    """Write what was exported. Exits with 1 where there is nothing."""
    if out == "-":
        emit(data)
    elif data:
        _write(Path(out), data)
    if not data:
        raise click.exceptions.Exit(1)


def _write(path: Path, data: bytes) -> None:
    write_file(str(path), data)


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
