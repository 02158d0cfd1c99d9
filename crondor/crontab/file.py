"""A Unix crontab as cron reads it: schedules, commands and the variables above them; nothing is run or looked up.

The rules are those of crontab(5) of cronie and of Debian's cron. Where the two differ the text says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from crondor._encoding import odd_comment
from crondor.compile.context import Context
from crondor.compile.cron import read_cron
from crondor.compile.faults import Remarks
from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Source, Span
from crondor.spec import FIELDS, CronSpec, Dialect, InvalidSpec
from crondor.zones import zone_of

MAX_LINE = 131_072  # characters; cronie's own limit
MAX_ENTRIES = 10_000
MAX_VARIABLES = 256

_BLANKS = " \t\r\v\f"
_NAME = re.compile(r"""(?:'([^'=]*)'|"([^"=]*)"|([^\s='"][^\s=]*))\s*=""")
_WORD = re.compile(r"[^ \t]+")
_USER = re.compile(r"[A-Za-z_][\w.-]*\$?", re.ASCII)
_SHOWN = 40
_REBOOT = "@reboot"
_ANY_ZONE = zone_of("UTC")  # which does not matter to whether fields can be read
# Accounts of a system that are the name of no command.
_ACCOUNTS = frozenset(("root", "daemon", "nobody", "www-data", "condor", "postgres", "apache", "nginx"))


class CrontabEntry(NamedTuple):
    """One line with a schedule.

    ``spec`` is in the UNIX dialect, None for ``@reboot`` and for fields that only some crons, or crondor, can read;
    ``schedule`` is the place of its text. ``command`` is what
    the shell is given, ``stdin`` what the command finds on its standard input (``%``), None for nothing. ``comment``
    are the comment lines directly above, without their ``#``. ``variables`` are those that hold for the line.
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
    is_silent: bool  # begins with a hyphen: cronie then writes nothing into the system log

    @property
    def is_reboot(self) -> bool:
        """Whether it runs when the machine starts, and at no other time."""
        return self.schedule.text == _REBOOT


@dataclass(frozen=True)
class CrontabFile:
    """A crontab that was read: what its good lines say, and what is wrong or surprising about the others."""

    source: Source
    has_users: bool
    entries: tuple[CrontabEntry, ...]
    diagnostics: tuple[Diagnostic, ...]


def is_system_crontab(path: str) -> bool:
    """Say whether a file of this name has a user column: ``etc/crontab``, or any file in a folder ``cron.d``."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2:] == ["etc", "crontab"] or parts[-2:-1] == ["cron.d"]


def read_crontab(source: Source, *, has_users: bool = False) -> CrontabFile:
    """Read a crontab; ``has_users`` says that a user's name stands between schedule and command.

    A line that cron refuses becomes a diagnostic, and the others are read nevertheless. Never raises.
    """
    return _Reader(source, has_users=has_users).read()


class _Reader:
    """One pass over the lines, and what holds for the next one."""

    def __init__(self, source: Source, *, has_users: bool) -> None:
        self.source = source
        self.has_users = has_users
        self.entries: list[CrontabEntry] = []
        self.found: list[Diagnostic] = []
        self.comment: list[str] = []
        self.variables: dict[str, str] = {}
        self.places: dict[str, Span] = {}
        self.is_shared = False  # the variables belong to an entry already

    def read(self) -> CrontabFile:
        text = self.source.text
        at = 1 if text.startswith("\ufeff") else 0
        if at:
            self._warn("byte-order-mark", "the file begins with a byte order mark", self.source.span(0, 1), "remove it")
        odd = odd_comment(self.source)
        self.found += [] if odd is None else [odd]
        returns = text.find("\r\n")
        if returns >= 0:
            message = "lines end with a carriage return, which cron takes for a part of the command; it is left out"
            self._warn("crontab-return", message, self.source.span(returns, returns + 1), "save it with Unix line ends")
        while at < len(text) and len(self.entries) < MAX_ENTRIES:
            end = text.find("\n", at)
            if end < 0:
                end = len(text)
                message = "the last line has no line end, and cron refuses the file or passes over the line"
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
        """Read ``NAME = value``; quotes around name or value are taken off, and nothing is expanded."""
        text = line.text
        found = _NAME.match(text)
        if found is None:
            return False
        name = next(group for group in found.groups() if group is not None)
        value = text[found.end() :].strip(_BLANKS)
        if value[:1] in {"'", '"'}:
            if len(value) < 2 or value.find(value[0], 1) != len(value) - 1:
                message = (
                    f"the value of {name[:_SHOWN]} begins with a quote that does not end it: cron refuses the line"
                )
                place = line.part(text.index(value, found.end()))
                self._fault("crontab-quote", message, place, "put quotes around all of the value, or nowhere")
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
            message = f"{user.group()[:_SHOWN]} is no user's name"
            help_text = "a user's own crontab has no such column: read it with --user"
            self._fault("crontab-user", message, rest.part(*user.span()), help_text)
            return
        command = next(words, None)
        if command is None:
            missing = "a user's name and a command" if self.has_users and user is None else "a command"
            self._fault("crontab-command", f"the line has no command: behind the schedule belongs {missing}", line)
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
        """Return the schedule, None for @reboot and what crondor alone can read, or what is wrong with it."""
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
        """Warn where every command begins with an account's name: it may be a system crontab under another name."""
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

    def _fault(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002 - Diagnostic's word
        self.found.append(Diagnostic(code, message, span=span, help=help))

    def _warn(self, code: str, message: str, span: Span, help: str) -> None:  # noqa: A002 - the same
        self.found.append(Diagnostic(code, message, Severity.WARNING, span, help))
