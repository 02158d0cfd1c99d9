"""A Unix crontab as cron reads it, and schedules written as crontab lines or as iCalendar.

The rules are those of crontab(5) of cronie and of Debian's cron. Differences between them are mentioned.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from importlib import import_module
from itertools import islice
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from crondor._files import odd_comment
from crondor._recurrence import END_OF_INSTANTS
from crondor.algebra import translate
from crondor.calendar import WEEKDAYS
from crondor.compile.cron import read_cron
from crondor.compile.walls import Context, Remarks
from crondor.day_rule import day_rule
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, printable
from crondor.recurrence import Policy, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, InvalidSpec
from crondor.zones import LONGEST_GAP, zone_of

MAX_LINE = 131_072  # characters; cronie's own limit
MAX_ENTRIES = 10_000
MAX_VARIABLES = 256

_BLANKS = " \t\r\v\f"
_NAME = re.compile(r"""(?:'([^'=]*)'|"([^"=]*)"|([^\s='"][^\s=]*))\s*=""")
_WORD = re.compile(r"[^ \t]+")
_USER = re.compile(r"[A-Za-z_][\w.-]*\$?", re.ASCII)
_SHOWN = 40
_REBOOT = "@reboot"
_ANY_ZONE = zone_of("UTC")  # the zone is irrelevant to whether fields can be read
# System accounts whose names are not commands.
_ACCOUNTS = frozenset(("root", "daemon", "nobody", "www-data", "condor", "postgres", "apache", "nginx"))


class CrontabEntry(NamedTuple):
    """One line with a schedule.

    ``spec`` is in the UNIX dialect, None for ``@reboot`` and for fields that only some crons, or crondor, can read;
    ``schedule`` is the place of its text. ``command`` is given to the shell, ``stdin`` is the command's standard input
    (``%``), None for nothing. ``comment`` are the comment lines directly above, without their ``#``. ``variables`` are
    those in effect for the line.
    """

    span: Span
    schedule: Span
    spec: CronSpec | None
    user: str | None
    command: str
    stdin: str | None
    command_span: Span
    variables: Mapping[str, str]
    places: Mapping[str, Span]
    comment: tuple[str, ...]
    is_silent: bool  # begins with a hyphen: cronie then does not write to the system log

    @property
    def is_reboot(self) -> bool:
        """Whether it only runs when the machine starts."""
        return self.schedule.text == _REBOOT


@dataclass(frozen=True)
class CrontabFile:
    """A crontab: its good lines, and diagnostics about the others."""

    source: Source
    has_users: bool
    entries: tuple[CrontabEntry, ...]
    diagnostics: tuple[Diagnostic, ...]


def is_system_crontab(path: str) -> bool:
    """Return whether a file of this name has a user column: ``etc/crontab``, or any file in a folder ``cron.d``."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2:] == ["etc", "crontab"] or parts[-2:-1] == ["cron.d"]


def read_crontab(source: Source, *, has_users: bool = False) -> CrontabFile:
    """Read a crontab; ``has_users``: a user's name is between schedule and command.

    A line that cron refuses becomes a diagnostic, and the others are still read. Never raises.
    """
    return _Reader(source, has_users=has_users).read()


class _Reader:
    """One pass over the lines, with the state for the next line."""

    def __init__(self, source: Source, *, has_users: bool) -> None:
        self.source = source
        self.has_users = has_users
        self.entries: list[CrontabEntry] = []
        self.found: list[Diagnostic] = []
        self.comment: list[str] = []
        self.variables: dict[str, str] = {}
        self.places: dict[str, Span] = {}
        self.is_shared = False  # the variables are already used by an entry

    def read(self) -> CrontabFile:
        text = self.source.text
        at = 1 if text.startswith("\ufeff") else 0
        if at:
            self._warn("byte-order-mark", "the file begins with a byte order mark", self.source.span(0, 1), "remove it")
        odd = odd_comment(self.source)
        self.found += [] if odd is None else [odd]
        returns = text.find("\r\n")
        if returns >= 0:
            message = "lines end with a carriage return, which cron reads as part of the command; it is ignored"
            self._warn("crontab-return", message, self.source.span(returns, returns + 1), "save it with Unix line ends")
        while at < len(text) and len(self.entries) < MAX_ENTRIES:
            end = text.find("\n", at)
            if end < 0:
                end = len(text)
                message = "the last line has no line end: cron refuses the file or ignores the line"
                self._warn("no-line-end", message, self.source.span(end), "end the file with a line end")
            self._line(at, end - text.endswith("\r", at, end))
            at = end + 1
        if at < len(text):
            message = f"crondor reads no more than {MAX_ENTRIES} lines with a schedule"
            self._fault("crontab-many", message, self.source.span(at, at + 1), "divide the file")
        self._look_for_users()
        if not self.entries and not self.found:
            self._fault("crontab-empty", "the file has no line with a schedule", self.source.span(len(text)))
        return CrontabFile(self.source, self.has_users, tuple(self.entries), tuple(self.found))

    def _line(self, begin: int, end: int) -> None:
        text = self.source.text
        if end - begin > MAX_LINE:
            message = f"the line is longer than {MAX_LINE} characters, and cron does not read it"
            self._fault("crontab-long", message, self.source.span(begin, begin + 1), "put the command into a script")
            self.comment.clear()
            return
        while begin < end and text[begin] in _BLANKS:
            begin += 1
        if begin == end:
            self.comment.clear()
        elif text[begin] == "#":
            self.comment.append(text[begin + 1 : end].strip())
        else:
            line = self.source.span(begin, end)
            if not self._variable(line):
                self._entry(line)
            self.comment.clear()

    def _variable(self, line: Span) -> bool:
        """Read ``NAME = value``; quotes around name or value are removed, and nothing is expanded."""
        text = line.text
        found = _NAME.match(text)
        if found is None:
            return False
        name = next(group for group in found.groups() if group is not None)
        value = text[found.end() :].strip(_BLANKS)
        if value[:1] in {"'", '"'}:
            if len(value) < 2 or value.find(value[0], 1) != len(value) - 1:
                message = (
                    f"the value of {name[:_SHOWN]} begins with a quote but does not end with it: cron refuses the line"
                )
                place = line.part(text.index(value, found.end()))
                self._fault("crontab-quote", message, place, "put quotes around the whole value, or nowhere")
                return True
            value = value[1:-1]
        if self.is_shared:
            self.variables, self.places, self.is_shared = dict(self.variables), dict(self.places), False
        if name not in self.variables and len(self.variables) >= MAX_VARIABLES:
            message = f"crondor reads no more than {MAX_VARIABLES} variables"
            self._fault("crontab-variables", message, line, "set them in the commands that need them")
        else:
            self.variables[name], self.places[name] = value, line
        return True

    def _entry(self, line: Span) -> None:
        is_silent = line.text.startswith("-")
        rest = line.part(1) if is_silent else line
        words = _WORD.finditer(rest.text)
        head = list(islice(words, 1 if rest.text.startswith("@") else len(FIELDS)))
        schedule = rest.part(0, head[-1].end()) if head else rest
        spec = self._spec(schedule)
        if isinstance(spec, list):
            self.found += spec
            return
        user = next(words, None) if self.has_users else None
        if user is not None and not _USER.fullmatch(user.group()):
            message = f"{user.group()[:_SHOWN]} is not a user's name"
            help_text = "a user's own crontab has no such column: read it with --user"
            self._fault("crontab-user", message, rest.part(*user.span()), help_text)
            return
        command = next(words, None)
        if command is None:
            missing = "a user's name and a command" if self.has_users and user is None else "a command"
            self._fault("crontab-command", f"the line has no command: after the schedule belongs {missing}", line)
            return
        place = rest.part(command.start())
        text, stdin = self._divide(place)
        self.is_shared = True
        variables, places = MappingProxyType(self.variables), MappingProxyType(self.places)
        name, comment = user and user.group(), tuple(self.comment)
        self.entries.append(
            CrontabEntry(line, schedule, spec, name, text, stdin, place, variables, places, comment, is_silent)
        )

    def _spec(self, schedule: Span) -> CronSpec | list[Diagnostic] | None:
        """Return the schedule, None for @reboot and for what only crondor can read, or the fault."""
        text = schedule.text
        if text == _REBOOT:
            return None
        try:
            return CronSpec.from_line(text, dialect=Dialect.UNIX)
        except InvalidSpec as error:
            faults = list(error.diagnostics)
        if len(text.split()) == len(FIELDS):
            remarks = Remarks()
            read_cron(Source(text).span(), Context(_ANY_ZONE, remarks, name="x"))
            if not remarks.errors:
                return None
            if any(fault.kind == "cron-unsupported" for fault in faults):
                faults = remarks.errors
        return [fault.relocated(schedule) for fault in faults]

    def _divide(self, place: Span) -> tuple[str, str | None]:
        r"""Divide a command at its first ``%``; the others are line ends of its standard input, ``\%`` stays one."""
        text = place.text
        if "%" not in text:
            return text, None
        odd = text.find("\\\\%")
        if odd >= 0:
            message = r"crons differ about `\\%`: it is read as a backslash and a percent sign of the command"
            self._warn("crontab-percent", message, place.part(odd, odd + 3), "put the command into a script")
        pieces = re.split(r"(?<!\\)%", text, maxsplit=1)
        command = pieces[0].replace("\\%", "%")
        if len(pieces) == 1 or not pieces[1]:
            return command, None
        data = re.sub(r"\\?%", lambda found: "%" if found[0] == "\\%" else "\n", pieces[1])
        return command, data if data.endswith("\n") else data + "\n"

    def _look_for_users(self) -> None:
        """Warn if every command begins with an account's name: it may be a system crontab under another name."""
        if self.has_users or not self.entries:
            return
        users = {entry.command.split(maxsplit=1)[0] for entry in self.entries if len(entry.command.split()) > 1}
        if not users <= _ACCOUNTS or any(len(entry.command.split()) < 2 for entry in self.entries):
            return
        named = ", ".join(sorted(users))
        message = f"every command begins with a user's name ({named}): this looks like a system crontab"
        first = self.entries[0]
        user = first.command.split(maxsplit=1)[0]
        self._warn("crontab-system", message, first.command_span.part(0, len(user)), "read it with --system")

    def _fault(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, span=span, help=help))

    def _warn(self, code: str, message: str, span: Span, help: str) -> None:
        self.found.append(Diagnostic(code, message, Severity.WARNING, span, help))


_SHELL = "/bin/sh"
_ALL_BLANKS = " \t\r\n\v\f"


class NoCommand(CrondorError, ValueError):
    """A program that no crontab line can start."""


@dataclass(frozen=True)
class JobProgram:
    """The program of a job: the executable, its arguments, its variables, and its input file."""

    executable: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None


@dataclass(frozen=True)
class CronLine:
    """A schedule of any dialect and its program; ``comment`` goes above the line."""

    spec: CronSpec
    program: JobProgram
    comment: str = ""


def write_crontab(lines: Sequence[CronLine]) -> str:
    """Return a crontab with these lines.

    Variables that all lines share are set above them; others are set by env(1) in the command. Raises NoCommand for a
    program that cannot be written, and Untranslatable for a schedule that cron cannot express.
    """
    variables = _common_variables(lines)
    texts = [f"{name}={value}\n" for name, value in (variables or {}).items()]
    for line in lines:
        spec = translate(line.spec, Dialect.UNIX)
        comment = f"# {printable(line.comment)}\n" if line.comment else ""
        texts.append(f"{comment}{spec} {_command(line.program, env=variables is None)}\n")
    return "".join(texts)


def _command(program: JobProgram, *, env: bool) -> str:
    """Return the command field; with ``env`` the command sets the variables itself."""
    words = [program.executable, *program.arguments]
    if any(re.search(r"[\n\0]", word) for word in words) or not program.executable:
        raise NoCommand(Diagnostic("export-command", "a crontab line cannot contain an empty name, a line end or NUL"))
    shell = _SHELL if env else program.environment.get("SHELL", _SHELL)
    if words[:2] == [shell, "-c"] and len(words) == 3 and words[2].strip() and not (env and program.environment):
        text = words[2]
    else:
        text = shlex.join(words)
        if env and program.environment:
            text = f"env {shlex.join(f'{name}={value}' for name, value in program.environment.items())} {text}"
    if program.stdin is not None:
        text = f"{_in_shell(text)} < {shlex.quote(program.stdin)}"
    # Crons differ about a backslash before an escaped percent sign, and drop blanks at the ends.
    if "\\%" in text or text != text.strip(_ALL_BLANKS):
        text = _in_shell(text)
    return text.replace("%", "\\%")


def _in_shell(text: str) -> str:
    """Return a command that runs ``text`` without a backslash before a percent sign in its quotes."""
    return f"{_SHELL} -c " + shlex.quote(text).replace("\\%", "\\''%")


def _common_variables(lines: Sequence[CronLine]) -> dict[str, str] | None:
    """Return the variables that all lines share, in crontab syntax; None if that is not possible."""
    first: Mapping[str, str] = lines[0].program.environment if lines else {}
    if any(line.program.environment != first for line in lines):
        return None
    found: dict[str, str] = {}
    for name, value in first.items():
        text = _variable(value)
        if text is None or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            return None
        found[name] = text
    return found


def _variable(value: str) -> str | None:
    """Return a variable's value with quotes if needed; None if that is not possible."""
    if re.search(r"[\n\0]", value):
        return None
    if value and value == value.strip(_ALL_BLANKS) and value[0] not in "'\"":
        return value
    return next((f"{quote}{value}{quote}" for quote in "\"'" if quote not in value), None)


_PRODUCT = "-//crondor//crondor//EN"
_DAYS = tuple(name[:2].upper() for name in WEEKDAYS)  # RFC 5545
_DAY = timedelta(days=1)


class NoCalendar(CrondorError, ImportError):
    """The library icalendar is not installed."""


class NoRule(CrondorError, ValueError):
    """A schedule that no single recurrence rule expresses exactly."""


class CalendarEvent(NamedTuple):
    """One run: its moments, a line that names it, and a text that identifies its schedule.

    ``rule`` is a recurrence rule that repeats the run, from ``rule_of``.
    """

    run: Deferral
    summary: str
    key: str
    rule: dict[str, Any] | None = None


def write_calendar(events: Iterable[CalendarEvent], zone: tzinfo, stamp: int) -> bytes:
    """Return a calendar with one event for each run: its start in ``zone``, its window as the duration.

    ``stamp`` is the time of writing (epoch seconds). An event's UID is made from its key and its start, so that a later
    calendar updates the events of an earlier one. Raises NoCalendar.
    """
    library = _library()
    calendar = library.Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    starts: list[datetime] = []
    has_rule = False
    for event in events:
        calendar.add_component(_component(library, event, zone, stamp))
        starts.append(datetime.fromtimestamp(event.run.time, zone))
        has_rule = has_rule or event.rule is not None
    if has_rule:
        calendar.add_missing_timezones(min(starts).date() - _DAY)  # up to 2038, the library's end
    elif starts:
        calendar.add_missing_timezones(min(starts).date() - _DAY, max(starts).date() + _DAY)
    return bytes(calendar.to_ical())


def rule_of(recurrence: Recurrence, after: int) -> tuple[int, dict[str, Any]]:
    """Return a run and the rule that repeats it: one recurrence rule for the runs of a schedule from that run on.

    The run is the first after ``after`` (epoch seconds), or if a clock change moves that one, the last before it that
    is not moved. Raises NoRule if no rule has the same instants: the days are those of either day field, or coming
    clock changes are handled differently than in RFC 5545 (a skipped time moves by the gap, of a repeated time the
    first counts). Raises NeverRuns and OutOfRange.
    """
    spec = recurrence.spec
    if spec.dialect is Dialect.HTCONDOR:
        raise _no_rule("the schedd's answers depend on when it is asked")
    as_rfc = recurrence.policy is Policy.COMPATIBLE and not recurrence.follows_real_time
    changes = recurrence.zone.changes(after, END_OF_INSTANTS)
    if any(not as_rfc or change.offset - change.before >= LONGEST_GAP for change in changes):
        raise _no_rule("when the clocks change its runs are not those of a recurrence rule")
    days = day_rule(spec)
    by_day, by_weekday = days.days != DAY_OF_MONTH.full, days.weekdays != DAY_OF_WEEK.full
    if days.either:
        if by_day and by_weekday:
            raise _no_rule(
                "it matches the days of the month and the days of the week; a rule only matches both together"
            )
        by_day = by_weekday = False  # either field alone matches every day
    rule: dict[str, Any] = {"freq": "DAILY", "byhour": spec.values(HOUR), "byminute": spec.values(MINUTE)}
    if spec.bits[MONTH.index] != MONTH.full:
        rule["bymonth"] = spec.values(MONTH)
    if by_day:
        rule["bymonthday"] = spec.values(DAY_OF_MONTH)
    if by_weekday:
        rule["byday"] = [_DAYS[number] for number in spec.values(DAY_OF_WEEK)]
    first = recurrence.next(after)
    while not _is_unmoved(recurrence, first):
        first = recurrence.previous(first)
    return first, {name: list(value) if name != "freq" else value for name, value in rule.items()}


def _is_unmoved(recurrence: Recurrence, instant: int) -> bool:
    second = recurrence.zone.local(instant) % 86_400
    return second in recurrence.wall_clock.table


def _no_rule(why: str) -> NoRule:
    message = f"no single recurrence rule expresses this schedule: {why}"
    return NoRule(Diagnostic("export-rule", message, help="omit --rrule: each run is then an event"))


def _component(library: ModuleType, event: CalendarEvent, zone: tzinfo, stamp: int) -> Any:  # noqa: ANN401 - imported late
    run = event.run
    found = library.Event()
    uid = hashlib.sha256(f"{event.key}\n{run.time}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    found.add("uid", f"{uid}@crondor")
    found.add("dtstamp", datetime.fromtimestamp(stamp, timezone.utc))
    start = datetime.fromtimestamp(run.time, zone)
    # A repeated local time means its first pass in a calendar: the second is written in UTC.
    found.add("dtstart", start.astimezone(timezone.utc) if start.fold else start)
    if run.window:
        found.add("duration", timedelta(seconds=run.window))
    if event.rule is not None:
        found.add("rrule", event.rule)
    found.add("summary", printable(event.summary))
    lengths = f"prep time {run.prep_time} s, window {run.window} s, SCHEDD_INTERVAL {run.schedd_interval} s"
    if event.rule is None:
        moments = {"match opens": run.match_opens, "last start": run.last_start}
        lines = [f"{name} {datetime.fromtimestamp(at, zone).isoformat(' ')}" for name, at in moments.items()]
    else:
        lines = [f"match opens {run.time - run.match_opens} s before", f"last start {run.window} s after"]
    found.add("description", "\n".join([*lines, lengths]))
    return found


def _library() -> ModuleType:
    try:
        return import_module("icalendar")
    except ImportError:
        message = "calendars need the Python library icalendar, which is not installed"
        help_text = "in a clone of crondor: pip install '.[ics]'"
        raise NoCalendar(Diagnostic("no-icalendar", message, help=help_text)) from None
