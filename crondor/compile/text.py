"""A schedule from its text, whatever language it is written in: the one entry to the room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crondor._types import Made
from crondor.compile.context import Context, Files, epoch_of
from crondor.compile.dates import Moment
from crondor.compile.days import MINUTES, DaySet
from crondor.compile.expression import KEYWORDS, SET_WORDS, Atom, Clause, Join, Part, parse
from crondor.compile.faults import InvalidSchedule, Remarks
from crondor.compile.meaning import own_zone, schedule_of
from crondor.compile.protocol import CronSchedule
from crondor.compile.sets import KnownUntil
from crondor.diagnostics import Diagnostic
from crondor.source import Source, Span, lines_of
from crondor.spec import CronSpec
from crondor.zones import Policy, Zone, zone_of

__all__ = ["Beside", "InvalidSchedule", "WrittenSchedule", "read_schedule", "schedule_line", "whole_text"]

_LINE = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=[ \t]*(?P<text>.*?)[ \t]*", re.IGNORECASE)


class _FilesRead:
    """The calendar files that a schedule has read, by the names that it has for them; others are ``files``."""

    def __init__(self, files: Files) -> None:
        self._files: Files | None = files
        self.texts: dict[str, Source] = {}

    def read(self, path: str) -> Source:
        """Return a file's text. Raises CrondorError."""
        found = self.texts.get(path)
        if found is None:
            if self._files is None:
                raise InvalidSchedule(Diagnostic("schedule-file", f"{path} is not to be read"))
            found = self.texts[path] = self._files.read(path)
        return found

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, _FilesRead) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.texts))

    def __getstate__(self) -> dict[str, object]:
        return {"_files": None, "texts": self.texts}


class _Asked(NamedTuple):
    """What a schedule was read with, beside its text."""

    zone: Zone
    start: int | None
    until: int | None
    name: str
    files: _FilesRead | None
    policy: Policy
    is_whole: bool


class WrittenSchedule(Made, DaySet):
    """A schedule with the text it was read from.

    ``words`` is a sentence, ``warnings`` what may surprise. ``spec`` has the five fields of a schedule that is nothing
    but them, as HTCondor's manual reads them.
    """

    def __init__(self, text: str, of: DaySet, warnings: tuple[Diagnostic, ...], asked: _Asked) -> None:
        """Take what was read, and what it was read with."""
        super().__init__(of.zone, of.words, of.until, of.until_reason)
        self.text = text
        self.warnings = warnings
        self._of = of
        self._asked = asked

    def _made_of(self) -> tuple[object, ...]:
        return self.text, self._asked

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the text and all that was said beside it, calendar files included; it is read again."""
        return _read_again, (self.text, self._asked, self.warnings)

    @property
    def spec(self) -> CronSpec | None:
        """The five fields, where there is nothing else."""
        return self._of.spec if isinstance(self._of, CronSchedule) else None

    def days(self, year: int) -> int:
        """Return the days of a UTC year (bit 0 is 1 January) that may have instants."""
        return self._of.days(year)

    def minutes(self, day: int) -> int:
        """Return a UTC day's instants as a bit set of its minutes."""
        return self._of.minutes(day)

    def next(self, after: int) -> int | None:
        """Return the first instant later than ``after``."""
        return self._of.next(after)

    def previous(self, before: int) -> int | None:
        """Return the last instant earlier than ``before``."""
        return self._of.previous(before)

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``."""
        return self._of.between(start, end)


def read_schedule(  # noqa: PLR0913 - all that a schedule may see beside its text, by name
    text: str | Span,
    *,
    zone: str | Zone,
    start: int | None = None,
    until: int | None = None,
    name: str = "",
    files: Files | None = None,
    policy: Policy = Policy.COMPATIBLE,
    label: str = "<schedule>",
    is_whole: bool = False,
) -> WrittenSchedule:
    """Return the schedule that a text says.

    ``zone`` is the IANA zone of its wall clock where the text names none. ``start`` (epoch seconds) is what periods
    are counted from where the text does not say, ``until`` the last instant that anybody asks about. ``name`` is the
    job's, from which H and ~ choose. ``files`` are the ones that may be read, only .ics files that the text names;
    None: none. ``policy`` decides on hours that a clock change skips or repeats. A span keeps its place in errors;
    ``label`` names a text that has none.

    Raises InvalidSchedule with all faults of the text, and UnknownZone for ``zone``.
    """
    source = Source(text.text if isinstance(text, Span) else text, label)
    remarks = Remarks()
    own = zone if isinstance(zone, Zone) else zone_of(zone)
    calendars = None if files is None else _FilesRead(files)
    context = Context(own, remarks, policy, start, name, calendars, is_whole)
    part = parse(source, remarks)
    found = None if part is None else schedule_of(part, context)
    if isinstance(text, Span):
        remarks.found = [fault.relocated(text) for fault in remarks.found]
    if found is None or remarks.errors:
        raise InvalidSchedule(remarks.errors)
    if until is not None and (found.until is None or until < found.until):
        reason = f"it is asked about until {own.moment(until):%Y-%m-%d %H:%M}"
        found = KnownUntil(found, until, reason)
    elif found.until is not None:
        found = KnownUntil(found, found.until, found.until_reason)
    read = calendars if calendars is not None and calendars.texts else None
    asked = _Asked(own, start, until, name, read, policy, is_whole)
    return WrittenSchedule(source.text, found, remarks.warnings, asked)


def _read_again(text: str, asked: _Asked, warnings: tuple[Diagnostic, ...]) -> WrittenSchedule:
    made = read_schedule(text, **asked._asdict())
    made.warnings = warnings  # with the places that they had
    return made


class Beside(NamedTuple):
    """What is said of a schedule beside its text: zone, exceptions, first instant (epoch seconds), name, policy."""

    zone: str | None = None
    excepted: tuple[str, ...] = ()
    start: int | None = None
    name: str = ""
    policy: Policy | None = None


def whole_text(text: str, beside: Beside, host: Zone, label: str = "<schedule>") -> str:
    """Return a text that means by itself what ``text`` means with all that is said beside it.

    What the text says already is not said again. ``host`` is the zone that it means where nobody names another.
    Raises InvalidSchedule for texts without a structure, and what cannot be said in words.
    """
    if beside == Beside():
        return text
    part = _parsed(text, label)
    for each in beside.excepted:
        if _shape(_parsed(each, "--except")) not in _taken_from(part):
            is_chain = isinstance(part, Join) and part.word in SET_WORDS
            text = f"{text if is_chain else _grouped(text, part)} except ({' '.join(each.split())})"
            part = _parsed(text, label)
    zone = own_zone(part)
    said = {clause.word for clause in _clauses(part)}
    words = []
    if beside.start is not None:
        moment = _moment(beside.start, zone or (host if beside.zone is None else zone_of(beside.zone)))
        if moment not in _starts(part):
            words.append(f"from {moment.text.replace(' ', 'T')}")
    if beside.name and "name" not in said:
        words.append(f"name {_name_text(beside.name)}")
    if beside.policy is not None and "policy" not in said:
        words.append(f"policy {beside.policy.value}")
    if beside.zone is not None and zone is None:
        words.append(f"zone {beside.zone}")
    return " ".join([_grouped(text, part), *words]) if words else text


def _parsed(text: str, label: str) -> Part:
    remarks = Remarks()
    part = parse(Source(text, label), remarks)
    if part is None or remarks.errors:
        raise InvalidSchedule(remarks.errors)
    return part


def _grouped(text: str, part: Part) -> str:
    """Return a text that words can stand behind which hold for all of it."""
    return text if isinstance(part, Atom) and part.start is None else f"({text})"


def _clauses(part: Part) -> Iterator[Clause]:
    """Yield the clauses that hold for all of a part, the last one first."""
    while isinstance(part, Clause):
        yield part
        part = part.of


def _starts(part: Part) -> list[Moment | None]:
    """Return the moments from which all of a part is counted."""
    clauses = list(_clauses(part))
    inner = clauses[-1].of if clauses else part
    own = [inner.start] if isinstance(inner, Atom) else []
    return [*own, *(clause.moment for clause in clauses if clause.word == "from")]


def _taken_from(part: Part) -> list[object]:
    """Return the shapes of what is taken from all of a part."""
    found: list[object] = []
    while isinstance(part, Clause) or (isinstance(part, Join) and part.word in SET_WORDS):
        if isinstance(part, Join) and part.word == "except":
            found.append(_shape(part.right))
        part = part.of if isinstance(part, Clause) else part.left
    return found


def _shape(part: Part) -> object:
    """Return a part without the places of its words."""
    if isinstance(part, Atom):
        return " ".join(part.span.text.split()), part.times, part.start
    if isinstance(part, Join):
        return part.word, _shape(part.left), _shape(part.right)
    return part.word, _shape(part.of), part.value.text, part.moment, part.times


def _moment(start: int, zone: Zone) -> Moment:
    """Return an instant as the wall clock has it. Raises InvalidSchedule where that would mean an earlier one."""
    wall = zone.local(start) // 60
    if epoch_of(wall * 60, zone) != start:
        message = "the schedule begins in the second pass of an hour that the clock shows twice: words mean the first"
        raise InvalidSchedule(Diagnostic("schedule-from", message, help="begin an hour earlier, or later"))
    return Moment(wall, wall % MINUTES == 0)


def _name_text(name: str) -> str:
    if re.fullmatch(r"[\w.+-]+", name, re.ASCII) and name.lower() not in KEYWORDS:
        return name
    if '"' in name or "\n" in name:
        message = "a name with quotes or line ends cannot stand in a schedule"
        raise InvalidSchedule(Diagnostic("schedule-name", message, help="choose a name without them"))
    return f'"{name}"'


def schedule_line(source: Source) -> Span | None:
    """Return the text behind ``# crondor: schedule =`` in a submit file, None where it has no such line.

    Raises InvalidSchedule where there are two.
    """
    found: Span | None = None
    at = 0
    for line in lines_of(source.text):
        match = _LINE.fullmatch(line.rstrip("\r\n"))
        if match is not None:
            place = source.span(at + match.start("text"), at + match.end("text"))
            if found is not None:
                message = f"the file has two schedules, the first in line {found.line}"
                help_text = "join them into one with `or`"
                raise InvalidSchedule(Diagnostic("schedule-twice", message, span=place, help=help_text))
            found = place
        at += len(line)
    return found
