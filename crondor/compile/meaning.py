"""Any schedule as text: its language, the meaning of its parts, and the line that records it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from crondor._types import Made
from crondor.compile.calendar_event import PREFIX, looks_like_event, read_event, read_holidays
from crondor.compile.calendar_file import is_calendar_file, read_calendar_file
from crondor.compile.cron import looks_like_cron, read_cron
from crondor.compile.days import MINUTES, DaySet, Spans, at_times, listed
from crondor.compile.english import UNDERSTOOD, looks_like_words, read_words
from crondor.compile.expression import (
    KEYWORDS,
    SET_WORDS,
    Atom,
    Clause,
    Join,
    Moment,
    Part,
    looks_like_dates,
    parse,
    read_dates,
)
from crondor.compile.rfc import looks_like_rfc, read_rfc
from crondor.compile.walls import (
    Active,
    Both,
    Context,
    CronSchedule,
    DayTerm,
    Either,
    Files,
    InvalidSchedule,
    KnownUntil,
    Remarks,
    Without,
    edge_of,
    epoch_of,
    named_zone,
    short,
)
from crondor.diagnostics import Diagnostic, Source, Span, lines_of, similar
from crondor.spec import CronSpec
from crondor.zones import Policy, Zone, zone_of

__all__ = ["Meaning", "meaning_of", "schedule_of"]

_MIDNIGHT = 1
_LANGUAGES = (
    'write cron fields ("0 18 * * 5L"), RRULE:..., a calendar event (Mon..Fri 09:00), words (every 2 hours), '
    "dates (2026-12-24..2027-01-06), holidays:DE, or the name of an .ics file"
)


@dataclass(frozen=True)
class Meaning:
    """Runs; or days, as their whole time (``whole``) and with a time of day (``at``); or spans, only ``whole``.

    ``cover`` is what a calendar file excludes: the whole time of its events, of which ``runs`` are the starts.
    """

    zone: Zone
    span: Span
    runs: DaySet | None = None
    whole: Callable[[], DaySet] | None = None
    at: Callable[[int], DaySet] | None = None
    has_midnight: bool = False
    cover: Callable[[], DaySet | None] | None = None

    def taken(self) -> DaySet | None:
        """Return the time that except removes, or only keeps, if this is on its right."""
        if self.cover is not None:
            return self.cover()
        return self.runs if self.whole is None else self.whole()


def schedule_of(part: Part, context: Context) -> DaySet | None:
    """Return the runs of a whole text; None, and faults, if it has none."""
    found = meaning_of(part, context)
    return None if found is None else _runs(found, context)


def _runs(found: Meaning, context: Context) -> DaySet | None:
    """Return runs; days without a time run at midnight if that is the usual meaning."""
    if found.runs is not None or found.whole is None:
        return found.runs
    if found.at is None:
        message = "this is a span of time without a run"
        help_text = "write the runs in it: `every hour only 2026-12-24T10:00..2026-12-24T14:00`"
        context.remarks.fault("no-time", message, found.span, help_text)
        return None
    if not found.has_midnight:
        message = "these are days, without a time of day"
        context.remarks.fault("no-time", message, found.span, f"write `{short(found.span.text)} at 09:00`")
        return None
    return found.at(_MIDNIGHT)


def meaning_of(part: Part, context: Context) -> Meaning | None:
    """Return the meaning of a part; None, and faults, if it cannot be read."""
    if isinstance(part, Atom):
        return _of_atom(part, context)
    if isinstance(part, Clause):
        return _of_clause(part, context)
    left = meaning_of(part.left, context)
    # The right side refers to the days of the schedule on the left, in its zone.
    right = meaning_of(part.right, context if left is None else context._replace(zone=left.zone))
    if left is None or right is None:
        return None
    span = left.span.source.span(left.span.start, right.span.end)
    if part.word == "or":
        return _either(left, right, span, context)
    return _limited(part.word, left, right, span)


def _limited(word: str, left: Meaning, right: Meaning, span: Span) -> Meaning | None:
    """Return the left without, or within, the right."""
    other = right.runs if word == "and" and right.cover is not None else right.taken()
    if other is None:
        return None

    def limit(runs: DaySet, other: DaySet = other) -> DaySet:
        return Without(runs, other) if word == "except" else Both(runs, other, word)

    whole, at, runs = left.whole, left.at, left.runs
    if whole is None:
        return None if runs is None else Meaning(left.zone, span, limit(runs))
    if word == "and" and right.whole is None:  # days and runs: the runs on those days
        return Meaning(right.zone, span, Both(other, whole(), word))
    return Meaning(
        left.zone,
        span,
        whole=lambda: limit(whole()),
        at=None if at is None else lambda times: limit(at(times)),
        has_midnight=left.has_midnight,
    )


def _either(left: Meaning, right: Meaning, span: Span, context: Context) -> Meaning | None:
    if left.whole is not None and right.whole is not None:
        first, second, first_at, second_at = left.whole, right.whole, left.at, right.at
        has_times = first_at is not None and second_at is not None
        return Meaning(
            left.zone,
            span,
            whole=lambda: Either(first(), second()),
            at=(lambda times: Either(first_at(times), second_at(times))) if has_times else None,  # type: ignore[misc]
            has_midnight=left.has_midnight and right.has_midnight,
        )
    one, other = _runs(left, context), _runs(right, context)
    if one is None or other is None:
        return None
    covers = [each.taken if each.cover is not None else None for each in (left, right)]
    if any(covers):
        return Meaning(left.zone, span, Either(one, other), cover=lambda: _cover_either(left, right))
    return Meaning(left.zone, span, Either(one, other))


def _cover_either(left: Meaning, right: Meaning) -> DaySet | None:
    first, second = left.taken(), right.taken()
    return None if first is None or second is None else Either(first, second)


def _of_clause(clause: Clause, context: Context) -> Meaning | None:
    """Return a part with a clause applied to all of it."""
    if clause.word == "zone":
        zone = named_zone(clause.value.text, clause.value, context.remarks)
        inner = meaning_of(clause.of, context if zone is None else context._replace(zone=zone))
        return None if zone is None else inner
    if clause.word == "name":
        return meaning_of(clause.of, context._replace(name=clause.value.text.strip('"')))
    if clause.word == "policy":
        policy = _policy(clause.value, context)
        return meaning_of(clause.of, context if policy is None else context._replace(policy=policy))
    if clause.word == "from" and clause.moment is not None:
        zone = own_zone(clause.of) or context.zone
        context = context._replace(start=edge_of(clause.moment.wall * 60, zone, context.policy))
    found = meaning_of(clause.of, context)
    if found is None:
        return None
    if clause.times is not None:
        return _timed(found, clause.times, clause.value, context)
    return None if clause.moment is None else _active(found, clause.word, clause.moment, context.policy)


def _policy(span: Span, context: Context) -> Policy | None:
    known = [policy.value for policy in Policy]
    if span.text.lower() in known:
        return Policy(span.text.lower())
    near = similar(span.text.lower(), known, 0.6)
    help_text = f"did you mean {near[0]}?" if near else f"write {listed(known, 'or')}"
    context.remarks.fault("policy", f"unknown policy `{short(span.text)}`", span, help_text)
    return None


def own_zone(part: Part) -> Zone | None:
    """Return the zone that a part names for all of it, None if it names none, or an unknown one."""
    while not isinstance(part, Atom):
        if isinstance(part, Join):
            part = part.left
        elif part.word == "zone":
            return named_zone(part.value.text, part.value, Remarks())
        else:
            part = part.of
    return None


def _timed(found: Meaning, times: int, span: Span, context: Context) -> Meaning | None:
    if found.at is None:
        message = "`at` gives days a time, but this has times already"
        context.remarks.fault("time", message, span, "remove it, or put the days it belongs to in parentheses")
        return None
    return Meaning(found.zone, found.span, found.at(times))


def _active(found: Meaning, word: str, moment: Moment, policy: Policy) -> Meaning:
    """Return the part from a moment on, or until it; a date means its whole day."""
    wall = moment.wall + (MINUTES - 1 if moment.is_date and word == "until" else 0)
    edge = edge_of(wall * 60, found.zone, policy, is_end=word == "until")
    start, end = (edge, None) if word == "from" else (None, edge)

    def limit(runs: DaySet) -> DaySet:
        comma = "," if "," in runs.words else ""
        said = f"{word} {moment.text[:10]}" in runs.words
        words = runs.words if said else f"{runs.words}{comma} {word} {moment.text}"
        return Active(runs, start, end, words)

    whole, at, cover = found.whole, found.at, found.cover
    return replace(
        found,
        runs=None if found.runs is None else limit(found.runs),
        whole=None if whole is None else lambda: limit(whole()),
        at=None if at is None else lambda times: limit(at(times)),
        cover=None if cover is None else lambda: None if (taken := cover()) is None else limit(taken),
    )


def _of_atom(atom: Atom, context: Context) -> Meaning | None:
    """Return the meaning of a piece in one of the languages, with the times and the start after it.

    atom = calendar_file | piece_of_text
    """
    if is_calendar_file(atom.span.text):
        both = read_calendar_file(atom.span, context)
        return None if both is None else Meaning(both[0].zone, atom.span, both[0], cover=lambda: both[1])
    anchor = None if atom.start is None else edge_of(atom.start.wall * 60, context.zone, context.policy)
    behind = "" if atom.times is None else f" {at_times(atom.times)}"
    runs, days = _read(atom.span, context._replace(behind=behind), anchor)
    if isinstance(runs, Spans):
        found = Meaning(runs.zone, atom.span, whole=lambda: runs)
    elif runs is not None:
        found = Meaning(runs.zone, atom.span, runs)
    elif days is not None:
        found = Meaning(
            days.zone,
            atom.span,
            whole=days.whole,
            at=lambda times: days.at(times, context.policy),
            has_midnight=days.has_midnight,
        )
    else:
        return None
    times = atom.times
    if times is None and atom.start is not None and not atom.start.is_date and found.at is not None:
        times = 1 << atom.start.wall % MINUTES
    if times is not None:
        timed = _timed(found, times, atom.span, context)
        if timed is None:
            return None
        found = timed
    return found if atom.start is None else _active(found, "from", atom.start, context.policy)


def _read(span: Span, context: Context, anchor: int | None) -> tuple[DaySet | None, DayTerm | None]:
    """Return the meaning of a piece in its language: runs, or days.

    piece_of_text = holidays | properties | words | dates | event | cron
    """
    for is_so, read in _READERS:
        if is_so(span.text):
            return read(span, context, anchor)
    _unknown(span, context)
    return None, None


def _names_holidays(text: str) -> bool:
    return text.lower().startswith(PREFIX)


# The first language that a piece looks like reads it.
_READERS: tuple[
    tuple[Callable[[str], bool], Callable[[Span, Context, int | None], tuple[DaySet | None, DayTerm | None]]], ...
] = (
    (_names_holidays, lambda span, context, _: (None, read_holidays(span, context))),
    (looks_like_rfc, lambda span, context, _: (read_rfc(span, context), None)),
    (looks_like_words, read_words),
    (looks_like_dates, lambda span, context, _: read_dates(span, context)),
    (looks_like_event, lambda span, context, _: read_event(span, context)),
    (looks_like_cron, lambda span, context, _: (read_cron(span, context), None)),
)


def _unknown(span: Span, context: Context) -> None:
    """Add that a piece is in no language, and which one may be meant."""
    text = span.text
    words = text.split()
    if re.fullmatch(r"[\d*?/,#~LWH-]+", words[0], re.IGNORECASE) and 1 < len(words) < 5:
        read_cron(span, context)
        return
    first = words[0].lower()
    known = ("every", "each", "first", "second", "third", "fourth", "last", "weekdays", "weekends", "holidays")
    near = similar(first, known, 0.7)
    help_text = f"did you mean `{near[0]}`? {UNDERSTOOD}" if near else _LANGUAGES
    context.remarks.fault("unknown", f"`{short(text)}` is not a schedule that crondor knows", span, help_text)


_LINE = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=[ \t]*(?P<text>.*?)[ \t]*", re.IGNORECASE)


class _FilesRead:
    """The calendar files that a schedule has read, by name; others come from ``files``."""

    def __init__(self, files: Files) -> None:
        self._files: Files | None = files
        self.texts: dict[str, Source] = {}

    def read(self, path: str) -> Source:
        """Return a file's text. Raises CrondorError."""
        found = self.texts.get(path)
        if found is None:
            if self._files is None:
                raise InvalidSchedule(Diagnostic("schedule-file", f"{path} may not be read"))
            found = self.texts[path] = self._files.read(path)
        return found

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, _FilesRead) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.texts))

    def __getstate__(self) -> dict[str, object]:
        return {"_files": None, "texts": self.texts}


class _Asked(NamedTuple):
    """The parameters that a schedule was read with, besides its text."""

    zone: Zone
    start: int | None
    until: int | None
    name: str
    files: _FilesRead | None
    policy: Policy
    is_whole: bool


class WrittenSchedule(Made, DaySet):
    """A schedule with the text it was read from.

    ``words`` is a sentence, ``warnings`` are the warnings. ``spec`` has the five fields if the schedule consists only
    of them, read like HTCondor's manual.
    """

    def __init__(self, text: str, of: DaySet, warnings: tuple[Diagnostic, ...], asked: _Asked) -> None:
        super().__init__(of.zone, of.words, of.until, of.until_reason)
        self.text = text
        self.warnings = warnings
        self._of = of
        self._asked = asked

    def _made_of(self) -> tuple[object, ...]:
        return self.text, self._asked

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the text and its parameters, calendar files included; it is read again."""
        return _read_again, (self.text, self._asked, self.warnings)

    @property
    def spec(self) -> CronSpec | None:
        """The five fields, if there is nothing else."""
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

    def backwards(self, before: int) -> Iterator[int]:
        """Yield the instants earlier than ``before``, the latest first."""
        while (found := self.previous(before)) is not None:
            yield found
            before = found

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants with ``start`` < instant <= ``end``."""
        return self._of.between(start, end)


def read_schedule(
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
    """Return the schedule of a text.

    ``zone`` is the IANA zone of its wall clock if the text names none. ``start`` (epoch seconds) is where periods begin
    if the text does not say, ``until`` the last instant of interest. ``name`` is the job's, from which H and ~ choose.
    ``files`` are those that may be read, only .ics files that the text names; None: none. ``policy`` decides on hours
    that a clock change skips or repeats. A span keeps its place in errors; ``label`` names a text without one.

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
    made.warnings = warnings  # with their places
    return made


class Beside(NamedTuple):
    """Parameters of a schedule besides its text: zone, exceptions, first instant (epoch seconds), name, policy."""

    zone: str | None = None
    excepted: tuple[str, ...] = ()
    start: int | None = None
    name: str = ""
    policy: Policy | None = None


def whole_text(text: str, beside: Beside, host: Zone, label: str = "<schedule>") -> str:
    """Return a text that includes the parameters given beside ``text``.

    What the text already has is not repeated. ``host`` is its zone if none is named. Raises InvalidSchedule for texts
    without a structure, and for what cannot be written.
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
    """Return a text after which words apply to all of it."""
    return text if isinstance(part, Atom) and part.start is None else f"({text})"


def _clauses(part: Part) -> Iterator[Clause]:
    """Yield the clauses that apply to all of a part, the last one first."""
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
    """Return the shapes of what is excluded from all of a part."""
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
    """Return an instant on the wall clock. Raises InvalidSchedule if that would mean an earlier instant."""
    wall = zone.local(start) // 60
    if epoch_of(wall * 60, zone) != start:
        message = (
            "the schedule begins in the second pass of an hour that the clock shows twice: words can only name the "
            "first"
        )
        raise InvalidSchedule(Diagnostic("schedule-from", message, help="begin an hour earlier, or later"))
    return Moment(wall, wall % MINUTES == 0)


def _name_text(name: str) -> str:
    if re.fullmatch(r"[\w.+-]+", name, re.ASCII) and name.lower() not in KEYWORDS:
        return name
    if '"' in name or "\n" in name:
        message = "a name in a schedule cannot contain quotes or line ends"
        raise InvalidSchedule(Diagnostic("schedule-name", message, help="choose a name without them"))
    return f'"{name}"'


def schedule_line(source: Source) -> Span | None:
    """Return the text after ``# crondor: schedule =`` in a file, None if missing. Raises InvalidSchedule if two."""
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
