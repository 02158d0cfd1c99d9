"""The schedules of jobs for other programs: lines of a crontab, and events of a calendar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from itertools import islice
from typing import NamedTuple, TypeVar

from crondor.algebra import same_meaning, translate
from crondor.compile.meaning import WrittenSchedule, read_schedule, schedule_line
from crondor.crontab.file import CalendarEvent, CronLine, JobProgram, rule_of, write_calendar, write_crontab
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, printable
from crondor.job.attributes import InvalidArguments, split_arguments, split_environment
from crondor.preview.facts import LAST_INSTANT
from crondor.preview.jobs import Clock
from crondor.recurrence import Recurrence, never_reason
from crondor.schedule import COMMANDS, JobSchedule, Universe
from crondor.spec import FIELDS, CronSpec, Dialect
from crondor.submit import SubmitFile
from crondor.times import REQUIREMENTS, JobTimes
from crondor.words import describe
from crondor.zones import Policy


def crontab_of(jobs: list[ExportJob]) -> tuple[bytes, list[Diagnostic]]:
    """Return a crontab of the jobs that cron can run, and the findings about all jobs."""
    lines: list[CronLine] = []
    findings: list[Diagnostic] = []
    for job in jobs:
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
    message = f"cron starts a command on the minute or not at all: {lengths} are dropped"
    yield Diagnostic("export-window", message, Severity.NOTE, job.place)


def _warning(code: str, message: str, job: ExportJob) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, job.place)


# The commands of the program, each with its other spellings; the first assigned counts.
_EXECUTABLE = ("executable", "cmd")


_ARGUMENTS = ("arguments", "args")


_ENVIRONMENT = ("environment", "env")


_INPUT = ("input", "in", "stdin")


_SHELL = ("shell",)


PROGRAM_COMMANDS = (*_EXECUTABLE, *_ARGUMENTS, *_ENVIRONMENT, *_INPUT, *_SHELL)


_LEFT_OUT = {
    "initialdir": "cron starts a command in the user's home folder",
    "getenv": "cron gives a command HOME, LOGNAME and the variables of the crontab only",
    "output": "cron mails what a command prints",
    "error": "cron mails what a command prints",
    "requirements": "a crontab has none, and those of a job may exclude some of its times",
    "my.requirements": "a crontab has none, and those of a job may exclude some of its times",
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
    """Equal jobs: schedule, program (None: unknown), line queued at, values. ``times`` are their run times."""

    name: str
    jobs: int
    schedule: JobSchedule
    program: JobProgram | None
    place: Span | None
    values: Mapping[str, str]
    times: JobTimes


def line_of(schedule: WrittenSchedule, clock: Clock) -> str:
    """Return the crontab line of a schedule. Raises CrondorError if there is none."""
    message = "five cron fields cannot express this schedule"
    if schedule.spec is not None and schedule.zone.name != clock.zone_name:
        message = f"a crontab has no zone, and this schedule uses the clock of {schedule.zone.name}"
    elif schedule.spec is not None:
        return " ".join(schedule.spec.canonical)
    help_text = "write --to ics; crondor compile makes an HTCondor job of it"
    raise CrondorError(
        Diagnostic("schedule-crontab", message, span=Source(schedule.text, "--schedule").span(), help=help_text)
    )


def as_own_schedule(file: SubmitFile, groups: list[ExportGroup], clock: Clock) -> list[ExportGroup]:
    """Return the groups of a file with the fields of its schedule line; the compiled fields contain more times.

    Jobs that share the times of the line are one. Raises CrondorError for a line that no crontab can express.
    """
    line = schedule_line(file.source)
    if line is None:
        return groups
    words = line_of(read_schedule(line, zone=clock.zone_name), clock).split()
    fields = {field.command: word for field, word in zip(FIELDS, words, strict=True)}
    found: dict[tuple[tuple[str, str], ...], ExportGroup] = {}
    for name, count, values, spans, place in groups:
        own = {each: text for each, text in values.items() if each not in REQUIREMENTS} | fields
        found.setdefault(tuple(sorted(own.items())), (name, count, own, spans, place))
    return list(found.values())


ExportGroup = tuple[str, int, Mapping[str, str], Mapping[str, Span], "Span | None"]


def groups_of(file: SubmitFile, names: Iterable[str]) -> Iterator[ExportGroup]:
    """Yield the groups of a file, equal ones of different queue statements as one. Raises InvalidSubmit."""
    merged: dict[tuple[tuple[str, str], ...], ExportGroup] = {}
    for group in file.groups(names):
        key = tuple(sorted(group.values.items()))
        count = merged[key][1] if key in merged else 0
        place = merged[key][4] if key in merged else group.queue
        merged[key] = (file.source.name, count + group.count, group.values, group.spans, place)
    yield from merged.values()


def schedule_of(values: Mapping[str, str], spans: Mapping[str, Span], asked: ScheduleOptions) -> JobSchedule:
    """Return the schedule among the commands of a job. Raises InvalidSchedule and InvalidSpec."""
    commands = {name: text for name, text in values.items() if name in _SCHEDULING}
    return JobSchedule.from_submit(
        commands, spans=spans, dialect=asked.dialect, zone=asked.clock.zone, policy=asked.policy
    )


def program_of(values: Mapping[str, str], spans: Mapping[str, Span]) -> JobProgram | None:
    """Return the program of a job, None if the file does not name it. Raises InvalidArguments."""
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
    """Read the first of ``names`` that has a value, with an error at its place."""
    name = next((name for name in names if values.get(name, "").strip()), None)
    if name is None:
        return None
    try:
        return reader(values[name])
    except InvalidArguments as error:
        raise InvalidArguments(replace(fault, span=spans.get(name)) for fault in error.diagnostics) from None


def left_out(file: SubmitFile) -> Iterator[Diagnostic]:
    """Yield the commands of a file that a crontab cannot express."""
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
    """Return a calendar of all jobs' runs, b"" if there are none, and the errors of the others. Raises NoCalendar."""
    events: list[CalendarEvent] = []
    findings: list[Diagnostic] = []
    for job in jobs:
        found, faults = _events(job, clock.now, count, end, rrule=rrule)
        events += found
        findings += faults
    return write_calendar(events, clock.zone, clock.now) if events else b"", findings


def asked_calendar(schedule: WrittenSchedule, clock: Clock, count: int | None, end: int | None) -> bytes:
    """Return a calendar of the coming runs of a schedule of any language, b"" if there are none. Raises NoCalendar."""
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
    """Return a key of the job that is unique and stays the same in each export."""
    schedule, program = job.schedule, job.program
    parts = [str(schedule.spec or schedule.time), str(schedule.zone), str(schedule.window), str(schedule.prep_time)]
    if program is not None:
        parts += [program.executable, *program.arguments, str(sorted(program.environment.items())), str(program.stdin)]
    return "\n".join(parts)
