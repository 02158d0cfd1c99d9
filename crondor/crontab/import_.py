"""Lines of a Unix crontab as submit descriptions, and what HTCondor cannot express."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.compile.cron import has_choice
from crondor.compile.meaning import Beside, WrittenSchedule, read_schedule, whole_text
from crondor.compile.walls import Remarks, named_zone
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.superset import wanted_days
from crondor.compile.writing.wish import Compiled, LineOptions, default_end, rewritten, spacing
from crondor.crontab.file import CrontabEntry, CrontabFile
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, printable
from crondor.job.attributes import InvalidArguments, as_text, join_arguments, join_environment
from crondor.recurrence import never_reason
from crondor.schedule import Universe
from crondor.zones import Policy, Zone, zone_of

_FREE: Final = frozenset(("*", "?", "*/1"))
# Seconds, for both prep time and window. A local job only waits for the schedd's next queue scan.
_LENGTHS: Final = {Universe.LOCAL: 60, Universe.VANILLA: 300}

_LONGEST_NAME = 40
# First words that do not tell what a command does.
_DULL = frozenset(
    ("bash", "cd", "chronic", "command", "env", "eval", "exec", "export", "flock", "for", "if", "ionice", "nice",
     "nohup", "perl", "php", "python", "python3", "sh", "sleep", "sudo", "test", "time", "timeout", "umask", "while")
)  # fmt: skip


class ImportedSchedule(NamedTuple):
    """A line's schedule, the jobs compiled from it, and the options used.

    ``changes_differ``: cron runs it at other times around clock changes.
    """

    schedule: WrittenSchedule
    compiled: Compiled
    options: LineOptions
    changes_differ: bool


def job_names(file: CrontabFile) -> list[str]:
    """Return a name for the job of each line: of the command, or of the line's number if that is not meaningful."""
    taken: set[str] = set()
    found = []
    for entry in file.entries:
        number = entry.span.line
        word = (entry.command.split(maxsplit=1) or [""])[0]
        stem = re.match(r"[a-z0-9_][\w-]*", word.rpartition("/")[2], re.ASCII | re.IGNORECASE)
        name = stem[0][:_LONGEST_NAME] if stem and stem[0] not in _DULL and "=" not in word else f"line-{number}"
        if name.lower() in taken:
            name = f"{name}-{number}"
        while name.lower() in taken:  # a repeated name gets a number
            name += "x"
        taken.add(name.lower())
        found.append(name)
    return found


def schedule_text(entry: CrontabEntry, name: str, host: Zone) -> str:
    """Return the complete schedule text of a line, for a job of a name on a submit host.

    Raises CrondorError for a name that cannot be written.
    """
    text = " ".join(entry.schedule.text.split())
    fields = text.split()
    if len(fields) == 5 and _wants_both_days(fields[2], fields[4]):
        minute, hour, day, month, weekday = fields
        text = f"({minute} {hour} {day} {month} *) and ({minute} {hour} * {month} {weekday})"
    zone = entry.variables.get("CRON_TZ")
    return whole_text(text, Beside(zone or None, name=name if has_choice(text) else ""), host)


def _wants_both_days(day: str, weekday: str) -> bool:
    """Return whether cron requires both day fields: if one begins with a star. Otherwise either is enough."""
    is_free = any(_FREE & {*field.split(",")} for field in (day, weekday))
    return not is_free and (day.startswith("*") or weekday.startswith("*"))


def entry_schedule(entry: CrontabEntry, name: str, host: Zone) -> WrittenSchedule:
    """Return when cron runs a line. Raises CrondorError if it never does."""
    return read_schedule(schedule_text(entry, name, host), zone=host, policy=Policy.DEBIAN)


@lru_cache(maxsize=128)
def imported_schedule(text: str, host: Zone, now: int, universe: Universe, given: LineOptions) -> ImportedSchedule:
    """Return the schedule of a line, by its own text, compiled from ``now`` (epoch seconds) on.

    Without a prep time or window, it is a minute (vanilla: five), or what the time between two runs allows. Raises
    CrondorError if it never runs, or cannot be expressed.
    """
    schedule = read_schedule(text, zone=host)
    until = default_end(now)
    wanted = wanted_days(schedule, now, until)
    longest = _LENGTHS[universe]
    shortest = spacing((day, bits, bits) for day, bits in wanted.items()).between_runs or longest + 1
    options = given.over(LineOptions(min(longest, shortest - 1), min(longest, shortest)))
    asked = options._replace(approximate=True)
    compiled = compile_schedule(asked.wish(schedule, host, now, until, universe=universe.name.lower()))
    changes_differ = False
    if not (host.is_fixed and schedule.zone.is_fixed):
        theirs = read_schedule(text, zone=host, policy=Policy.DEBIAN)
        changes_differ = not compiled.exact or wanted_days(theirs, now, until) != wanted
    return ImportedSchedule(schedule, compiled, options if compiled.exact else asked, changes_differ)


SHELL = "/bin/sh"  # cron's default
_SHOWN_TEXT = 40


def refusals(entry: CrontabEntry) -> Iterator[Diagnostic]:
    """Yield why a line cannot become a submit description."""
    if entry.is_reboot:
        message = "HTCondor cannot schedule at the start of the machine"
        help_text = "keep the line in cron, or make it a system service"
        yield Diagnostic("crontab-reboot", message, span=entry.schedule, help=help_text)
    elif entry.spec is not None and (never := never_reason(entry.spec)) is not None:
        message = f"the schedule never fires: {never}; cron does not report it, and a schedd searches forever"
        yield Diagnostic("cron-never", message, span=entry.schedule, help="write a date that occurs")
    shell = entry.variables.get("SHELL", SHELL)
    if not shell.startswith("/"):
        message = f"SHELL is {shell[:_SHOWN_TEXT]!r}, which is not an absolute path"
        yield Diagnostic("crontab-shell", message, span=entry.places["SHELL"], help=f"write SHELL={SHELL}, for example")
    zone, remarks = entry.variables.get("CRON_TZ"), Remarks()
    if zone and named_zone(zone, entry.places["CRON_TZ"], remarks) is None:
        yield from (replace(fault, kind="crontab-zone", fix=None) for fault in remarks.errors)


def surprises(entry: CrontabEntry, found: ImportedSchedule, universe: Universe) -> Iterator[Diagnostic]:
    """Yield the differences between a line and its job."""
    yield from _of_schedule(entry, found)
    variables, places = entry.variables, entry.places
    if "MAILTO" in variables:
        yield from _of_mail(variables["MAILTO"], places["MAILTO"], universe)
    if variables.get("RANDOM_DELAY", "0") != "0":
        message = "RANDOM_DELAY has no equivalent: the job starts on the minute"
        yield _warning("crontab-delay", message, places["RANDOM_DELAY"], "let the command sleep")
    if entry.user is not None:
        message = f"HTCondor runs a job as the user who submits it: submit this file as {entry.user[:_SHOWN_TEXT]}"
        yield _note("crontab-user", message, entry.span)
    if entry.is_silent:
        message = "the hyphen keeps the run out of the system log; HTCondor writes its events into the job's log"
        yield _note("crontab-silent", message, entry.span.part(0, 1))


def _of_schedule(entry: CrontabEntry, found: ImportedSchedule) -> Iterator[Diagnostic]:
    compiled = found.compiled
    if compiled.spoiled or compiled.proof.wrong:
        help_text = "try a shorter --window or --prep-time"
        yield _warning("crontab-inexact", "; ".join(compiled.reasons), entry.schedule, help_text)
    if found.changes_differ:
        message = "on days when the clocks change HTCondor and cron run it at different times"
        yield _note("clock-changes", message, entry.schedule, "crondor explain shows the coming changes")
    if not compiled.is_open:
        until = f"{compiled.wish.host.moment(compiled.proof.until):%Y-%m-%d}"
        message = f"the compiled lines are proven until {until}, and no time matches afterwards"
        yield _note("crontab-ends", message, entry.schedule, "before that: crondor compile --write FILE")


def _of_mail(address: str, place: Span, universe: Universe) -> Iterator[Diagnostic]:
    if not address:
        yield _note("crontab-mail", "no mail is wanted: this is notification = never", place)
        return
    message = (
        "cron mails what a command prints; HTCondor mails a summary, here only if a run fails; printed text goes to "
        "the files output and error"
    )
    every = "write notification = complete for a mail after every run" if universe is Universe.LOCAL else None
    yield _warning("crontab-mail", message, place, every)


def _note(code: str, message: str, span: Span, help: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, Severity.NOTE, span, help)


def _warning(code: str, message: str, span: Span, help: str | None) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, span, help)


_PATH = "/usr/bin:/bin"  # cron's default
_SHOWN = 200


def submit_text(name: str, entry: CrontabEntry, found: ImportedSchedule, universe: Universe) -> str:
    """Return the text, with the compiled lines of its schedule. Raises InvalidArguments."""
    lines = [
        *_heading(entry),
        f"# crondor: schedule = {found.schedule.text}",
        "",
        *_program(entry, universe),
        "",
        *_mail(entry),
        *_aligned({"log": f"{name}.log", "output": f"{name}.out", "error": f"{name}.err"}),
        "",
        "# Stay in the queue after a run, and come back after a run that was missed.",
        *_aligned(
            {"on_exit_remove": "false", "periodic_release": f"(HoldReasonCode == {MISSED_DEFERRED_EXECUTION_TIME})"}
        ),
        "",
        "queue",
    ]
    return rewritten(Source("".join(f"{line}\n" for line in lines), name), found.compiled, found.options, {})


def command_line(entry: CrontabEntry) -> tuple[str, str]:
    """Return the shell that runs an entry, and the text for it, standard input included."""
    shell = entry.variables.get("SHELL", SHELL)
    if entry.stdin is None:
        return shell, entry.command
    lines = " ".join(shlex.quote(line) for line in entry.stdin[:-1].split("\n"))
    return SHELL, f"printf '%s\\n' {lines} | {shlex.quote(shell)} -c {shlex.quote(entry.command)}"


def environment(entry: CrontabEntry) -> dict[str, str]:
    """Return the variables that cron sets for an entry, except those from the user's account."""
    return {"PATH": _PATH, "SHELL": SHELL, **entry.variables}


def _heading(entry: CrontabEntry) -> Iterator[str]:
    for line in entry.comment:
        yield f"# {printable(line)}".rstrip()
    if entry.comment:
        yield "#"
    written = printable(entry.span.text)
    yield f"# {printable(entry.span.source.name)}:{entry.span.line}"
    yield f"#   {written[:_SHOWN]}{'...' if len(written) > _SHOWN else ''}"
    if entry.user is not None:
        yield f"# To be submitted by {entry.user}."


def _program(entry: CrontabEntry, universe: Universe) -> Iterator[str]:
    shell, text = command_line(entry)
    home = entry.variables.get("HOME")
    commands = {
        "universe": universe.name.lower(),
        "executable": as_text(shell),
        "arguments": join_arguments(["-c", text]),
        "environment": join_environment(environment(entry)),
        "getenv": "HOME, LOGNAME, USER",
        "initialdir": "$ENV(HOME)" if home is None else as_text(home),
    }
    if universe is not Universe.LOCAL:
        commands["transfer_executable"] = "false"
    yield from _aligned(commands)


def _mail(entry: CrontabEntry) -> Iterator[str]:
    address = entry.variables.get("MAILTO")
    if address is not None:
        wanted = {"notify_user": as_text(address), "notification": "error"} if address else {"notification": "never"}
        yield from _aligned(wanted)
        yield ""


def _aligned(commands: dict[str, str]) -> Iterator[str]:
    width = max(map(len, commands))
    for name, value in commands.items():
        yield f"{name:<{width}} = {value}"


MAX_TEXT = 64 * 1024 * 1024  # characters of all submit descriptions together

MAX_SCHEDULES = 1000  # different ones: compiling each takes up to half a second


@dataclass(frozen=True)
class ImportSettings:
    """How to write: from when (epoch seconds), the universe (LOCAL or VANILLA), the zone of the submit host.

    ``window``, ``prep_time`` and ``schedd_interval`` are seconds. The default window and prep time are a minute
    (vanilla: five), or what the time between two runs allows.
    """

    now: int
    universe: Universe = Universe.LOCAL
    zone: str | tzinfo = "UTC"
    window: int | None = None
    prep_time: int | None = None
    schedd_interval: int | None = None


class SubmitText(NamedTuple):
    """One submit description: a name for it (without a suffix), the line, its compiled schedule, the text.

    ``diagnostics`` are the notes and warnings about the line.
    """

    name: str
    entry: CrontabEntry
    schedule: ImportedSchedule
    text: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass
class Imported:
    """The submit descriptions of a crontab's lines, and the diagnostics of the crontab and its other lines."""

    files: list[SubmitText] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def import_crontab(file: CrontabFile, settings: ImportSettings) -> Imported:
    """Return a submit description for each line of a crontab that HTCondor can express.

    A line that it cannot is an error among the diagnostics, which begin with those of the file. Never raises.
    """
    return _Import(settings).of(file)


class TooManySchedules(CrondorError, ValueError):
    """A crontab whose schedules would take too long."""


class _Import:
    """One import, with the schedules that were compiled so far."""

    def __init__(self, settings: ImportSettings) -> None:
        self.settings = settings
        self.host = zone_of(settings.zone)
        self.options = LineOptions(settings.window, settings.prep_time, settings.schedd_interval)
        self.schedules: set[str] = set()  # that were compiled

    def of(self, file: CrontabFile) -> Imported:
        found = Imported(diagnostics=list(file.diagnostics))
        size = 0
        for entry, name in zip(file.entries, job_names(file), strict=True):
            faults = list(refusals(entry))
            found.diagnostics += faults
            if faults:
                continue
            try:
                submit = self._submit(entry, name)
            except InvalidArguments as error:
                found.diagnostics += [replace(fault, span=entry.span) for fault in error.diagnostics]
                continue
            except CrondorError as error:
                found.diagnostics += [replace(fault, span=entry.schedule, fix=None) for fault in error.diagnostics]
                continue
            size += len(submit.text)
            if size > MAX_TEXT:
                message = f"the submit descriptions take more than {MAX_TEXT} characters, the limit of crondor"
                found.diagnostics.append(Diagnostic("crontab-many", message, span=entry.span, help="divide the file"))
                break
            found.files.append(submit)
        return found

    def _submit(self, entry: CrontabEntry, name: str) -> SubmitText:
        universe = self.settings.universe
        text = schedule_text(entry, name, self.host)
        self.schedules.add(text)
        if len(self.schedules) > MAX_SCHEDULES:
            message = f"crondor compiles no more than {MAX_SCHEDULES} different schedules"
            raise TooManySchedules(Diagnostic("crontab-many", message, help="divide the file"))
        schedule = imported_schedule(text, self.host, self.settings.now, universe, self.options)
        findings = tuple(surprises(entry, schedule, universe))
        return SubmitText(name, entry, schedule, submit_text(name, entry, schedule, universe), findings)
