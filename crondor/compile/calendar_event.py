"""Calendar events as systemd.time(7) has them, `Mon..Fri *-*~01 09:00`, and calendars of holidays."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from types import ModuleType
from typing import NamedTuple, Protocol

from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR, MONTHS, WEEKDAYS, month_length
from crondor.compile.days import DAYS_END, UTC, DaySet, clock_list, listed, ordinal, year_start
from crondor.compile.rule import every_seventh
from crondor.compile.walls import (
    WHOLE_MINUTES,
    Context,
    DayTerm,
    Remarks,
    Timed,
    WallSchedule,
    any_year,
    epoch_of,
    named_zone,
    pieces,
    short,
)
from crondor.diagnostics import Source, Span, similar
from crondor.zones import Zone

__all__ = ["SHORTHANDS", "CalendarEvent", "looks_like_event", "parse_event", "read_event"]

SHORTHANDS = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00",
    "semi-annually": "*-01,07-01 00:00:00",
    "biannually": "*-01,07-01 00:00:00",
    "bi-annually": "*-01,07-01 00:00:00",
    "yearly": "*-01-01 00:00:00",
    "annually": "*-01-01 00:00:00",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_NAMES = {name.lower(): day for day, short_name in enumerate(_DAYS) for name in (short_name, WEEKDAYS[(day + 1) % 7])}
_FIRST_YEAR, _LAST_YEAR = 1970, 2199  # systemd's own
_PIECE = re.compile(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?(?:/([0-9]{1,9}))?")
_EPOCH = re.compile(r"@(\d{1,18})(?:\.0*)?")
_LEADING = re.compile(r"@\d+(?:\.0*)?$|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*(?:[,.-]|$)")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)+|UTC|GMT", re.IGNORECASE)


class Piece(NamedTuple):
    """A number, a range, or a number (or range) with a step; ``stop`` None: to the end of the field."""

    start: int
    stop: int | None
    step: int

    def values(self, high: int) -> range:
        """Return the values up to the field's highest."""
        if not self.step:
            return range(self.start, self.start + 1)
        return range(self.start, (high if self.stop is None else self.stop) + 1, self.step)

    def text(self, width: int) -> str:
        """Return it as systemd prints it."""
        stop = "" if self.stop is None else f"..{self.stop:0{width}}"
        step = f"/{self.step}" if self.step and (self.stop is None or self.step > 1) else ""
        return f"{self.start:0{width}}{stop}{step}"


Pieces = Sequence[Piece]  # empty: every value


class CalendarEvent(NamedTuple):
    """The components of an event, each with its pieces in order. Weekdays are 0 (Monday) to 6."""

    weekdays: frozenset[int] = frozenset()
    year: Pieces = ()
    month: Pieces = ()
    day: Pieces = ()
    from_end: bool = False  # days count from the end of the month: 1 is the last
    hour: Pieces = (Piece(0, None, 0),)
    minute: Pieces = (Piece(0, None, 0),)
    zone: str = ""
    names_days_only: bool = False

    def __str__(self) -> str:
        """Return the normal form, as systemd-analyze calendar prints it."""
        days = f"{_weekday_text(self.weekdays)} " if self.weekdays else ""
        mark = "~" if self.from_end else "-"
        date = f"{_text(self.year, 4)}-{_text(self.month, 2)}{mark}{_text(self.day, 2)}"
        zone = f" {self.zone}" if self.zone else ""
        return f"{days}{date} {_text(self.hour, 2)}:{_text(self.minute, 2)}:00{zone}"

    @property
    def times(self) -> int:
        """The minutes of a day as a bit set."""
        minutes = _values(self.minute, 0, 59)
        return sum(1 << 60 * hour + minute for hour in _values(self.hour, 0, 23) for minute in minutes)

    @property
    def follows(self) -> bool:
        """Whether it runs every hour: the hour is a star, or a step from 0."""
        return not self.hour or (len(self.hour) == 1 and self.hour[0][:2] == (0, None) and self.hour[0].step > 0)

    def days(self, year: int) -> int:
        """Return the days of a year, 1 January is bit 0."""
        if year not in _values(self.year, _FIRST_YEAR, _LAST_YEAR):
            return 0
        mask = first = 0
        months = _values(self.month, 1, 12)
        for month in range(1, 13):
            length = month_length(year, month)
            if month in months:
                for day in _days(self.day, length, from_end=self.from_end):
                    mask |= 1 << first + day - 1
            first += length
        if self.weekdays:
            base = year_start(year)
            kept = 0
            for day in self.weekdays:
                kept |= every_seventh(base, (day + 1) % 7, first)
            mask &= kept
        return mask


def _values(pieces: Pieces, low: int, high: int) -> set[int] | range:
    if not pieces:
        return range(low, high + 1)
    return {value for piece in pieces for value in piece.values(high) if value <= high}


def _days(pieces: Pieces, length: int, *, from_end: bool) -> set[int] | range:
    """Return the days of a month; if counted from its end, upwards from the earliest one named."""
    if not from_end:
        return _values(pieces, 1, length)
    if not pieces:
        return range(1, length + 1)
    found: set[int] = set()
    for start, stop, step in pieces:
        if not step:
            found.add(length - start + 1)
        elif stop is None:
            found.update(range(length - start + 1, length + 1, step))
        else:
            found.update(range(length - stop + 1, length - start + 2, step))
    return {day for day in found if day >= 1}


def _text(pieces: Pieces, width: int) -> str:
    return ",".join(piece.text(width) for piece in pieces) or "*"


def _weekday_text(days: frozenset[int]) -> str:
    runs: list[list[int]] = []
    for day in sorted(days):
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    texts = [
        _DAYS[run[0]] if len(run) == 1 else f"{_DAYS[run[0]]}{',' if len(run) == 2 else '..'}{_DAYS[run[-1]]}"
        for run in runs
    ]
    return ",".join(texts)


def looks_like_event(text: str) -> bool:
    """Return whether a text looks like a calendar event."""
    words = text.lower().split()
    if not words or len(words) > 4:
        return False
    first = words[0]
    if first in SHORTHANDS or _LEADING.match(first):
        return True
    return re.fullmatch(r"[\d*.,/~-]+[-~][\d*.,/~-]+|[\d*.,/]+:[\d*.,/:]+", first) is not None


def read_event(span: Span, context: Context) -> tuple[DaySet | None, DayTerm | None]:
    """Return the schedule of an event, or its days if it has no time; neither, and all faults, for another text.

    event = (SHORTHANDS | EPOCH | weekdays? date? time?) ZONE?
    """
    remarks = context.remarks
    before = len(remarks.errors)
    event = parse_event(span, remarks)
    zone: Zone | None = context.zone
    if event is not None and event.zone:
        zone = named_zone(event.zone, span.part(len(span.text.rstrip()) - len(event.zone)), remarks)
    if event is None or zone is None or len(remarks.errors) > before:
        return None, None
    days = any_year(event.days)
    where = day_words(event)
    if event.names_days_only:
        return None, DayTerm(days, where, zone, has_midnight=True)
    follows = context.policy.follows(hour_starred=event.follows, minute_starred=not event.minute)
    words = f"{clock_list(event.times)} {where}".strip()
    pattern = Timed(days, event.times)
    return WallSchedule(pattern, zone, words, context.policy, follows=follows), None


def parse_event(span: Span, remarks: Remarks) -> CalendarEvent | None:
    """Return the components of an event; faults go to the remarks."""
    words = [span.part(*found.span()) for found in re.finditer(r"\S+", span.text)]
    zone = ""
    if len(words) > 1 and _ZONE.fullmatch(words[-1].text):
        zone = "UTC" if words[-1].text.upper() == "UTC" else words[-1].text
        words = words[:-1]
    if len(words) == 1 and (line := SHORTHANDS.get(words[0].text.lower())) is not None:
        found = parse_event(Source(line).span(), remarks)
        return found and found._replace(zone=zone, names_days_only=False)
    if len(words) == 1 and (epoch := _EPOCH.fullmatch(words[0].text)) is not None:
        return _of_epoch(int(epoch[1]), zone, span, remarks)
    event = CalendarEvent(zone=zone)
    if words and words[0].text[:1].isalpha():
        event = event._replace(weekdays=_weekdays(words[0], remarks))
        words = words[1:]
    if words and ":" not in words[0].text:
        event = _with_date(event, words[0], remarks)
        words = words[1:]
    if not words:
        return event._replace(names_days_only=True)
    if len(words) > 1 or ":" not in words[0].text:
        message = f"cannot read `{short(words[-1].text)}` here"
        remarks.fault("event", message, words[-1], "write WEEKDAYS YEAR-MONTH-DAY HOUR:MINUTE ZONE, such as Mon 09:00")
        return None
    return _with_time(event, words[0], remarks)


def _of_epoch(epoch: int, zone: str, span: Span, remarks: Remarks) -> CalendarEvent | None:
    """Return a single instant: seconds since 1970 in UTC, as `@1798113600`."""
    if zone not in {"", "UTC"}:
        remarks.fault("event", "seconds since 1970 are in UTC, whatever the zone", span, "remove the zone")
        return None
    if epoch % 60:
        message = f"{WHOLE_MINUTES}, and this is {epoch % 60} s after one"
        remarks.fault("seconds", message, span, f"write @{epoch - epoch % 60}", f"@{epoch - epoch % 60}")
    if epoch >= DAYS_END * DAY:
        remarks.fault("event", "the years are 1970 to 2199", span, "write an instant within them")
        return None
    at = UTC.moment(epoch)
    date, time = (at.year, at.month, at.day), (at.hour, at.minute)
    year, month, day, hour, minute = ((Piece(value, None, 0),) for value in (*date, *time))
    return CalendarEvent(year=year, month=month, day=day, hour=hour, minute=minute, zone="UTC")


def _weekdays(span: Span, remarks: Remarks) -> frozenset[int]:
    """Return weekdays from 0 (Monday) and add faults to the remarks.

    weekdays = weekday_range ("," weekday_range)* ","?
    weekday_range = NAMES ((".." | "-") NAMES)?
    """
    found: set[int] = set()
    for place in pieces(span):
        text = place.text
        if not text and place.start == span.end:
            continue
        first, dash, last = text.replace("..", "-").partition("-")
        low, high = _NAMES.get(first.lower()), _NAMES.get((last if dash else first).lower())
        if low is None or high is None:
            remarks.fault("event", f"`{short(text)}` is not a weekday", place, "write Mon, Mon,Wed or Mon..Fri")
        elif low > high:
            fix = f"{_DAYS[low]}..Sun,Mon..{_DAYS[high]}".replace("Sun..Sun", "Sun").replace("Mon..Mon", "Mon")
            remarks.fault("event", f"`{text}` runs backwards: the week begins on Monday", place, f"write {fix}", fix)
        else:
            found.update(range(low, high + 1))
    return frozenset(found if len(found) < 7 else ())


def _with_date(event: CalendarEvent, span: Span, remarks: Remarks) -> CalendarEvent:
    """Add a date: year, month and day, or month and day.

    date = (component "-")? component ("-" | "~") component
    """
    marks = list(re.finditer(r"[-~]", span.text))
    if not 1 <= len(marks) <= 2 or any(mark[0] == "~" for mark in marks[:-1]):
        help_text = "write YEAR-MONTH-DAY or MONTH-DAY, such as *-*-15; ~ for - counts from the end: *-*~01"
        remarks.fault("event", f"`{short(span.text)}` is not a date of an event", span, help_text)
        return event
    parts, at = [], 0
    for mark in marks:
        parts.append(span.part(at, mark.start()))
        at = mark.end()
    parts.append(span.part(at))
    from_end = marks[-1][0] == "~"
    if len(parts) == 3:
        event = event._replace(year=_component(parts[0], _FIRST_YEAR, _LAST_YEAR, "year", remarks))
    month = _component(parts[-2], 1, 12, "month", remarks)
    day = _component(parts[-1], 1, 28 if from_end else 31, "day", remarks, from_end=from_end)
    return event._replace(month=month, day=day, from_end=from_end and bool(day))


def _four_digits(year: int) -> int:
    """Return a year in full: 70 to 99 are of the last century, 00 to 69 of this one."""
    return year if year >= 100 else year + (2000 if year < 70 else 1900)


def _with_time(event: CalendarEvent, span: Span, remarks: Remarks) -> CalendarEvent:
    """Add a time of day.

    time = component ":" component (":" "00")?
    """
    parts = list(pieces(span, ":"))
    if len(parts) > 3:
        remarks.fault("event", f"`{short(span.text)}` is not a time of day", span, "write HOUR:MINUTE, such as 09:00")
        return event
    if len(parts) == 3 and not re.fullmatch(r"0{1,2}(\.0*)?", parts[2].text):
        message = f"{WHOLE_MINUTES}: the seconds can only be 00"
        remarks.fault("seconds", message, parts[2], "remove the seconds")
    hour = _component(parts[0], 0, 23, "hour", remarks)
    return event._replace(hour=hour, minute=_component(parts[1], 0, 59, "minute", remarks))


def _component(
    span: Span, low: int, high: int, name: str, remarks: Remarks, *, from_end: bool = False
) -> tuple[Piece, ...]:
    """Return the pieces of a component, none for a star, and add faults to the remarks.

    component = "*" | piece ("," piece)*
    piece = [0-9]+ (".." [0-9]+)? ("/" [0-9]+)?
    """
    if span.text == "*":
        return ()
    found: list[Piece] = []
    for place in pieces(span):
        text = place.text
        match = _PIECE.fullmatch(text)
        if match is None:
            star = re.fullmatch(r"\*/(\d+)", text)
            fix = f"{low}/{star[1]}" if star else None
            help_text = f"write {fix}" if fix else f"write *, {low}, {low}..{high} or {low}/2"
            remarks.fault("event", f"`{short(text)}` is not a valid {name}", place, help_text, fix)
            continue
        start, stop = int(match[1]), int(match[2]) if match[2] else None
        if name == "year":
            start, stop = _four_digits(start), stop if stop is None else _four_digits(stop)
        step = int(match[3]) if match[3] else int(stop is not None)
        if stop is not None and stop > start and step:  # a range ends with its last step
            stop -= (stop - start) % step
        if stop == start:  # a range of one
            stop, step = None, 0
        if _fits(start, stop, step, low, high, is_zero=match[3] is not None and not int(match[3]), from_end=from_end):
            found.append(Piece(start, stop, step))
        else:
            help_text = f"write {low} to {high}; a range goes up, and its step fits into it"
            remarks.fault("event", f"{name} `{short(text)}` is out of range", place, help_text)
    order = {(piece.start, -1 if piece.stop is None else piece.stop, piece.step): piece for piece in found}
    return tuple(order[key] for key in sorted(order))


def _fits(start: int, stop: int | None, step: int, low: int, high: int, *, is_zero: bool, from_end: bool) -> bool:
    if not low <= start <= high or step > high - low or is_zero:
        return False
    if stop is not None:
        return low <= stop <= high and start + step <= stop
    return start - step >= low if from_end else start + step <= high


def day_words(event: CalendarEvent) -> str:
    """Return the days of an event in words: "on Monday to Friday that is the last day of the month"."""
    said = []
    if event.weekdays:
        names = _weekday_text(event.weekdays).split(",")
        spelled = [" to ".join(WEEKDAYS[(_NAMES[day.lower()] + 1) % 7] for day in name.split("..")) for name in names]
        said.append(listed(spelled))
    if event.day:
        said.append(_day_of_month_words(event))
    words = f"on {' that is '.join(said)}" if said else ""
    if event.month:
        months = sorted(_values(event.month, 1, 12))
        words += f" in {listed([MONTHS[month] for month in months])}"
    elif event.day:
        words += " of the month"
    if event.year:
        words += f" in {_text(event.year, 4).replace('..', ' to ').replace(',', ', ')}"
    if not words and not event.follows:
        return "every day"
    return words.strip()


def _day_of_month_words(event: CalendarEvent) -> str:
    if not event.from_end:
        return f"the {listed([ordinal(day) for day in sorted(_values(event.day, 1, 31))])}"
    length = 31
    places = sorted(length - day + 1 for day in _days(event.day, length, from_end=True))
    return f"the {listed(['last' if p == 1 else f'{ordinal(p)} last' for p in places])} day"


PREFIX = "holidays:"
_ESTIMATED = "stimated"  # how the package marks computed days of a lunar calendar in English
_RECENT = 2020  # earlier days are history; some lunar calendars compute them too
_MOST_KEPT = 16  # calendars


class _Calendar(Protocol):
    """The part used of a calendar of the package."""

    start_year: int
    end_year: int

    def __iter__(self) -> Iterator[date]:
        """Yield the days."""

    def get_list(self, key: date) -> list[str]:
        """Return the names of a day's holidays."""


def read_holidays(span: Span, context: Context) -> DayTerm | None:
    """Return the holidays that a text names; None, and a fault, for an unknown name.

    holidays = "holidays:" [A-Z]+ ("-" [A-Za-z0-9]+)?
    """
    remarks = context.remarks
    try:
        import holidays as package  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415 - an extra; 80 ms
    except ImportError:
        help_text = "in a clone of crondor: pip install '.[holidays]'"
        remarks.fault("holidays", "holidays need the package holidays, which is not installed", span, help_text)
        return None
    code = span.text[len(PREFIX) :]
    country, _, subdivision = code.partition("-")
    place = span.part(len(PREFIX))
    names = countries(package)
    country = country.upper()
    if country not in names:
        near = [each for each, name in names.items() if similar(code.lower(), [name.lower()], 0.75)]
        near = near or similar(country, names, 0.6)
        help_text = f"did you mean {PREFIX}{near[0]} ({names[near[0]]})?" if near else "write ISO codes: DE, CH, US-CA"
        remarks.fault("holidays", f"unknown country `{code[:20]}`", place, help_text)
        return None
    known = package.list_supported_countries().get(country, [])
    if subdivision and subdivision.upper() not in {each.upper() for each in known}:
        near = similar(subdivision.upper(), known, 0.5)
        help_text = f"did you mean {country}-{near[0]}? " if near else ""
        help_text += f"write one of {', '.join(known)}" if known else f"write {PREFIX}{country}"
        remarks.fault("holidays", f"{names[country]} has no part `{subdivision[:20]}`", place, help_text)
        return None
    subdivision = next((each for each in known if each.upper() == subdivision.upper()), "")
    label = f"{PREFIX}{country}{f'-{subdivision}' if subdivision else ''}"
    days, last = _calendar(package, country, subdivision)
    words = f"on public holidays of {names[country]}{f' ({subdivision})' if subdivision else ''}"
    reason = f"the calendar {label} is known until {last}-12-31"
    return DayTerm(days, words, context.zone, until=_end_of(last, context.zone), until_reason=reason)


def countries(package: ModuleType) -> dict[str, str]:
    """Return the names of all countries by their codes."""
    found = package.registry.COUNTRIES.values()
    return {codes[0]: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name) for name, *codes in found}


def _end_of(year: int, zone: Zone) -> int:
    return epoch_of((year_start(year + 1)) * 86400, zone) - 60


@lru_cache(maxsize=_MOST_KEPT)
def _calendar(package: ModuleType, country: str, subdivision: str) -> tuple[Callable[[int], int], int]:
    """Return the holidays of a year, and the last year for which they are known and not estimated."""
    years: dict[int, int] = {}

    def made(year: int) -> _Calendar | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about years that it does not know
            try:
                found: _Calendar = package.country_holidays(
                    country, subdiv=subdivision or None, years=year, language="en_US", expand=False
                )
            except (KeyError, ValueError, NotImplementedError):
                return None
        return found if found.start_year <= year <= found.end_year else None

    def of_year(year: int) -> int:
        found = years.get(year)
        if found is None:
            calendar = made(year) if FIRST_YEAR <= year <= LAST_YEAR else None
            base = year_start(year) + EPOCH_ORDINAL
            days = [] if calendar is None else list(calendar)
            found = years[year] = sum(1 << day.toordinal() - base for day in set(days) if day.year == year)
        return found

    whole: _Calendar = package.country_holidays(country)
    return of_year, _last_known(made, max(whole.start_year, _RECENT), whole.end_year)


def _last_known(made: Callable[[int], _Calendar | None], first: int, last: int) -> int:
    """Return the last year before the calendar ends or starts to estimate, as for lunar calendars."""
    for year in range(first, last + 1):
        calendar = made(year)
        if calendar is None or any(_ESTIMATED in name for day in calendar for name in calendar.get_list(day)):
            return year - 1
    return last
