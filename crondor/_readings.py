"""The schedd's own walk through a schedule, why it fires or not, and a spelling that all dialects read alike."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crondor._spec import field_text, values
from crondor.calendar import DAY, EPOCH_ORDINAL, LONGEST, day_number, month_length, weekday
from crondor.day_rule import DecidedBy, counts_as_star, decided_by, has_day_zero, takes_every_day
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field, InvalidSpec
from crondor.zones import Zone

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11 on

_RETRY = 120
_PROBES = 6  # mktime gives up after this many


# HTCondor: CronTab::nextRunTime, CronTab::matchFields.
class ScheddAnswer(int):
    """The DeferralTime that the schedd sets: epoch seconds, with its origin.

    ``computed`` is the past instant that the search found if the answer is a retry, "now + 120 s", else None. ``moved``
    is by how many seconds the clock at the instant found is ahead of the local time searched for: nonzero only if a
    clock change skips that time, negative if the instant is before the change.
    """

    computed: int | None = None
    moved: int = 0

    def __new__(cls, time: int, computed: int | None = None, moved: int = 0) -> Self:
        """Make an answer at ``time`` (epoch seconds)."""
        self = super().__new__(cls, time)
        if computed is not None or moved:  # rare: most answers are just a number, and take its memory
            self.computed = computed
            self.moved = moved
        return self

    @property
    def is_plain(self) -> bool:
        """Return whether it is a time that the schedule names: not a retry, and not moved by a clock change."""
        return self.computed is None and not self.moved

    @property
    def is_retry(self) -> bool:
        """Return whether the search found an instant in the past and postponed the job by two minutes."""
        return self.computed is not None


class ScheddWalk:
    """The schedd's search: months, days, hours and minutes, each level a sorted list."""

    __slots__ = ("_days", "_hours", "_listed", "_minutes", "_months", "_table", "_weekdays", "_zone", "hangs")

    def __init__(self, spec: CronSpec, zone: Zone) -> None:
        """Take a HTCONDOR spec and the schedd's zone."""
        minutes, hours, days, months, weekdays = spec.bits
        self._minutes = values(minutes)
        self._hours = values(hours)
        self._months = values(months)
        self._weekdays = 0 if spec.stars[4] else weekdays
        self._days = (0,) if has_day_zero(spec) else values(days)  # the engine's 31 zeros; one has the same effect
        self._zone = zone
        self._table: tuple[int, ...] = ()  # the seconds of a day that hours and minutes name, once they are needed
        self._listed: tuple[int, int, tuple[int, ...]] = 0, 0, ()  # the year and month whose days were listed last
        self.hangs = not self._weekdays and not any(
            day <= LONGEST[month] for month in self._months for day in self._days
        )

    def next(self, after: int) -> ScheddAnswer:
        """Return a fresh process's answer at ``after`` (epoch seconds) if there is a date (CronTab::nextRunTime)."""
        return self._answer(after, 0)[0]

    def chain(self, after: int) -> Iterator[ScheddAnswer]:
        """Yield the answers of one process, each the input of the next; see docs/dialects.md for folds."""
        offset = 0
        while True:
            answer, offset = self._answer(after, offset)
            yield answer
            after = int(answer)
            for later in self._rest_of_day(after, offset):
                yield ScheddAnswer(later)
                after = later

    def _rest_of_day(self, after: int, known_offset: int) -> Iterator[int]:
        """Yield the answers after ``after`` on its day while its offset lasts; none if the day is not plain.

        With the offset that the process knows, mktime finds each of them at once, and none is in the past.
        """
        _, end, offset, _ = self._zone.at(after)
        if offset != known_offset or offset % 60:  # the search drops the seconds of an offset: it may go back
            return iter(())
        day, second = divmod(after + offset, DAY)
        today = date.fromordinal(day + EPOCH_ORDINAL)
        if today.month not in self._months or today.day not in self._days_of(today.year, today.month):
            return iter(())
        if not self._table:
            self._table = tuple([3600 * hour + 60 * minute for hour in self._hours for minute in self._minutes])
        midnight = day * DAY - offset
        first, past = bisect_right(self._table, second), bisect_left(self._table, end - midnight)
        return map(midnight.__add__, self._table[first:past])

    def _answer(self, after: int, known_offset: int) -> tuple[ScheddAnswer, int]:
        """Return the answer at ``after``, and the offset that the process then knows."""
        start = after + 60 - after % 60
        wall = self._search(start)
        found = self._instant(wall, known_offset)
        moved = self._zone.local(found) - wall
        if found >= start:
            return ScheddAnswer(found, None, moved), wall - found
        return ScheddAnswer(after + _RETRY, found, moved), wall - found

    def _search(self, start: int) -> int:
        """Return the local time (s) of the first match; day 0 is the day before a month (CronTab::matchFields)."""
        day_number, second = divmod(self._zone.local(start), DAY)
        today = date.fromordinal(day_number + EPOCH_ORDINAL)
        hour, minute = second // 3600, second % 3600 // 60
        year, month = today.year, today.month
        if month in self._months:
            for day in self._days_of(year, month):
                if day < today.day:
                    continue
                if day > today.day:
                    return _seconds(year, month, day, self._hours[0], self._minutes[0])
                later = self._time_from(hour, minute)
                if later:
                    return _seconds(year, month, day, *later)
        # From here on every level takes the first value of its list: day 0 if there is one.
        while True:
            later_months = [m for m in self._months if m > month]
            year, month = (year, later_months[0]) if later_months else (year + 1, self._months[0])
            days = self._days_of(year, month)
            if days:
                return _seconds(year, month, days[0], self._hours[0], self._minutes[0])

    def _time_from(self, hour: int, minute: int) -> tuple[int, int] | None:
        for h in self._hours:
            if h > hour:
                return h, self._minutes[0]
            if h == hour:
                for m in self._minutes:
                    if m >= minute:
                        return h, m
        return None

    def _days_of(self, year: int, month: int) -> tuple[int, ...]:
        listed = self._listed
        if listed[:2] == (year, month):
            return listed[2]
        length = month_length(year, month)
        days = sum(1 << day for day in self._days if day <= length)
        first = weekday(date(year, month, 1).toordinal() - EPOCH_ORDINAL)
        for day in range(1, length + 1):
            days |= (self._weekdays >> (first + day - 1) % 7 & 1) << day
        self._listed = year, month, values(days)
        return self._listed[2]

    def _instant(self, wall: int, known_offset: int) -> int:
        """Return mktime's result for a local time (seconds) with "DST unknown": glibc, time/mktime.c.

        Its search begins with the offset of the process's last answer (0 in a fresh one), which decides in a fold. In a
        gap it alternates between the offsets of both sides, and ends with that of daylight saving time, or if both have
        the same, with its first one. The offset before the change gives a time after the gap, the one after it a time
        before the gap.
        """
        at = last = last_but_one = wall - known_offset
        for _ in range(_PROBES):
            guess = wall - self._zone.at(at).offset
            if guess == at or (at == last_but_one != last and self._is_dst(last) <= self._is_dst(at)):
                return at
            last_but_one, last, at = last, at, guess
        return -1

    def _is_dst(self, instant: int) -> bool:
        """Return tm_isdst; the rules of Ireland and Morocco set it in winter, with the clock an hour back."""
        return bool(self._zone.moment(instant).dst())


def _seconds(year: int, month: int, day: int, hour: int, minute: int) -> int:
    return (day_number(year, month, 1) + day - 1) * DAY + hour * 3600 + minute * 60


_MOST_MOMENTS = 24  # of a day-0 clause that lists every moment


class Untranslatable(CrondorError, ValueError):
    """A schedule that another dialect cannot express."""


class FieldDifference(NamedTuple):
    """A field that the schedd reads differently than the manual: both value sets, why, and what to write.

    ``schedd`` is None if nothing is left and the schedd holds the job.
    """

    field: Field
    text: str
    manual: tuple[int, ...]
    schedd: tuple[int, ...] | None
    why: str
    portable: str


def reread(spec: CronSpec, dialect: Dialect) -> CronSpec:
    """Return the same texts read in another dialect. Raises InvalidSpec."""
    minute, hour, day_of_month, month, day_of_week = spec.given
    return CronSpec(
        minute=minute, hour=hour, day_of_month=day_of_month, month=month, day_of_week=day_of_week, dialect=dialect
    )


def portable(spec: CronSpec) -> CronSpec:
    """Return a MANUAL spec that all three dialects read alike, with the days and times of ``spec``.

    A field that some dialect reads differently becomes a list. Lists do not help against the schedd's day-0 defect and
    its handling of clock changes. ``spec`` is MANUAL or UNIX. Raises Untranslatable.
    """
    texts: dict[str, str] = {}
    by = decided_by(spec)
    if by is DecidedBy.BOTH:
        message = f"{spec} needs both day fields at once, which only the UNIX dialect can say"
        minute, hour, dates, month, weekdays = spec.given
        both = f"({minute} {hour} {dates} {month} *) and ({minute} {hour} * {month} {weekdays})"
        help_text = f"crondor compile writes fields and a clause for it: crondor compile '{both}'"
        raise Untranslatable(Diagnostic("untranslatable", message, help=help_text))
    every_day = takes_every_day(spec)
    for field in FIELDS:
        text = spec.given[field.index]
        bits, star = spec.bits[field.index], spec.stars[field.index]
        day = field in {DAY_OF_MONTH, DAY_OF_WEEK}
        joined = spec.dialect is Dialect.UNIX and by is not DecidedBy.EITHER  # a full day field then restricts nothing
        if (day and every_day) or (bits == field.full and (star or (day and joined))):
            texts[field.name] = "*"
        elif text is not None and _read_alike(text, spec, field):
            texts[field.name] = text
        else:
            texts[field.name] = _listed(bits, field)
    return CronSpec.from_mapping({field.attribute: texts[field.name] for field in FIELDS})


def field_differences(spec: CronSpec) -> list[FieldDifference]:
    """Return the fields of a MANUAL spec that the schedd reads differently."""
    wanted = portable(spec)
    found = []
    for field in FIELDS:
        text = spec.given[field.index]
        if text is None:
            continue
        manual = spec.bits[field.index], spec.stars[field.index]
        schedd = _alone(text, field, Dialect.HTCONDOR)
        why = _why(text, field, manual, schedd)
        if field is DAY_OF_MONTH and spec.stars[DAY_OF_WEEK.index] and manual[0] == field.full:
            why = ""  # irrelevant without a restricted day of week
        if why:
            found.append(
                FieldDifference(
                    field,
                    text,
                    values(manual[0]),
                    None if schedd is None else values(schedd[0]),
                    why,
                    wanted.given[field.index] or "*",
                )
            )
    return found


def day_zero_clause(spec: CronSpec) -> str:
    """Return a Requirements clause under which the wrong times of the day-0 defect never match (docs/dialects.md).

    formatTime uses the zone of the host that evaluates it.
    """
    minutes, hours, _, months, weekdays = (spec.values(field) for field in FIELDS)
    moments = [f"{d} {h:02}:{m:02}" for d in weekdays for h in hours for m in minutes]
    if len(moments) <= _MOST_MOMENTS:
        clauses = [_one_of("%w %H:%M", moments)]
    else:
        clauses = [_one_of("%w", [str(d) for d in weekdays])]
        clauses += [_one_of("%H", [f"{h:02}" for h in hours])] if len(hours) < 24 else []
        clauses += [_one_of("%M", [f"{m:02}" for m in minutes])] if len(minutes) < 60 else []
    if len(months) < 12:
        clauses.append(_one_of("%m", [f"{m:02}" for m in months]))
    return " && ".join(clauses)


def _one_of(form: str, allowed: list[str]) -> str:
    time = f'formatTime(DeferralTime, "{form}")'
    return f'{time} == "{allowed[0]}"' if len(allowed) == 1 else f'stringListMember({time}, "{",".join(allowed)}", ",")'


@lru_cache(maxsize=256)  # comparing, explaining and respelling ask for the same schedule
def _alone(text: str, field: Field, dialect: Dialect) -> tuple[int, bool] | None:
    """Return bits and star flag of one field's text in a dialect, None if it is invalid."""
    try:
        spec = CronSpec.from_mapping({field.attribute: text}, dialect=dialect)
    except InvalidSpec:
        return None
    return spec.bits[field.index], counts_as_star(spec, field)


def _read_alike(text: str, spec: CronSpec, field: Field) -> bool:
    own = _meaning((spec.bits[field.index], counts_as_star(spec, field)), field)
    others = (_alone(text, field, dialect) for dialect in Dialect if dialect is not spec.dialect)
    return all(reading is not None and _meaning(reading, field) == own for reading in others)


def _meaning(reading: tuple[int, bool] | None, field: Field) -> tuple[int, bool] | None:
    """Return the relevant part of a reading: the values, and for day fields whether they restrict."""
    if reading is None or field in {DAY_OF_MONTH, DAY_OF_WEEK}:
        return reading
    return reading[0], False


def _listed(bits: int, field: Field) -> str:
    """Return values and ranges without steps: HTCONDOR canonical text of a day of week has no others."""
    text = field_text(bits, field, Dialect.HTCONDOR, star=False)
    return text if "/" not in text else ",".join(map(str, values(bits)))


def _why(text: str, field: Field, manual: tuple[int, bool], schedd: tuple[int, bool] | None) -> str:
    """Return why the schedd reads a field differently, "" if it does not."""
    if schedd is not None and _meaning(manual, field) == _meaning(schedd, field):
        return ""
    if field is DAY_OF_WEEK and "*" in text and schedd is not None:
        return "the schedd drops items with `*` there" + (
            ", so that nothing is left to restrict the days" if schedd[1] else ", and the others count"
        )
    if field is DAY_OF_MONTH and schedd is not None and manual[0] == schedd[0] == field.full and not manual[1]:
        return "the schedd reads 31 values as `*`, so that only the day of week counts"
    if "/" in text:
        lost = ", of which none is left here: it holds the job" if schedd is None else ""
        return f"the schedd keeps the multiples of the step, whatever the range begins with{lost}"
    return "the schedd reads it differently"


def translate(spec: CronSpec, dialect: Dialect) -> CronSpec:
    """Return a spec of another dialect with the same wall-clock instants.

    Clock changes follow the other dialect's policy. Raises Untranslatable with the reason: only the UNIX dialect can
    require both day fields, and a schedd's answers under the day-0 defect are not a schedule.
    """
    if spec.dialect is dialect:
        return spec
    if spec.dialect is Dialect.HTCONDOR:
        spec = _as_manual(spec)
    found = reread(portable(spec), dialect)
    if dialect is Dialect.HTCONDOR and has_day_zero(found):
        message = f"the schedd's day-0 defect affects {found}: it adds the last day of the month, and retries"
        help_text = f"write the schedule, and add to requirements: {day_zero_clause(spec)}"
        raise Untranslatable(Diagnostic("day-zero", message, help=help_text))
    return found


def _as_manual(spec: CronSpec) -> CronSpec:
    """Return the instants that a schedd uses as a MANUAL spec, if they are a set."""
    if has_day_zero(spec):
        message = f"with the schedd's day-0 defect {spec} is not a set of instants"
        raise Untranslatable(Diagnostic("day-zero", message, help="translate the MANUAL reading instead"))
    every_day = takes_every_day(spec)
    texts: dict[str, object] = {}
    for field in FIELDS:
        day = field in {DAY_OF_MONTH, DAY_OF_WEEK}
        star = (every_day and day) or (spec.stars[field.index] and field is not DAY_OF_MONTH)
        texts[field.attribute] = "*" if star else _listed(spec.bits[field.index], field)
    return CronSpec.from_mapping(texts)


class Arm(str, Enum):
    """Which of the two day fields matches a day, or whether both do."""

    EVERY_DAY = "every day"  # neither field restricts the days
    DAY_OF_MONTH = "day of month"
    DAY_OF_WEEK = "day of week"
    EITHER = "day of month and day of week"  # both match, or both fields are required
    NEITHER = "neither"


class FieldMatch(NamedTuple):
    """One field at a wall-clock time: the value there, and whether the field names it."""

    field: Field
    value: int
    matches: bool


class Why(NamedTuple):
    """Why a schedule fires at an instant or does not.

    ``instant`` (epoch seconds) has the wall-clock time ``wall``. ``blocking`` are the fields that do not match, the day
    fields only if the day rule fails. ``note`` has another reason: seconds, or a clock change. ``earlier`` and
    ``later`` are the nearest instants that fire, None if there is none in 1970 to 2200.
    """

    fires: bool
    instant: int
    wall: datetime
    fields: tuple[FieldMatch, ...]
    arm: Arm
    blocking: tuple[Field, ...]
    note: str | None
    earlier: int | None
    later: int | None


def field_matches(spec: CronSpec, wall: datetime) -> tuple[FieldMatch, ...]:
    """Return how each field matches a wall-clock time."""
    values = wall.minute, wall.hour, wall.day, wall.month, (wall.weekday() + 1) % 7
    fields = MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK
    return tuple(
        FieldMatch(field, value, bool(spec.bits[field.index] >> value & 1))
        for field, value in zip(fields, values, strict=True)
    )


def day_arm(spec: CronSpec, matches: tuple[FieldMatch, ...]) -> Arm:
    """Return which day field matches the day."""
    day, weekday = matches[DAY_OF_MONTH.index].matches, matches[DAY_OF_WEEK.index].matches
    by = decided_by(spec)
    if by is DecidedBy.NEITHER:
        return Arm.EVERY_DAY
    if by is DecidedBy.BOTH:
        return Arm.EITHER if day and weekday else Arm.NEITHER
    day, weekday = day and by is not DecidedBy.DAY_OF_WEEK, weekday and by is not DecidedBy.DAY_OF_MONTH
    if day and weekday:
        return Arm.EITHER
    return Arm.DAY_OF_MONTH if day else Arm.DAY_OF_WEEK if weekday else Arm.NEITHER


def blocking_fields(matches: tuple[FieldMatch, ...], arm: Arm) -> tuple[Field, ...]:
    """Return the fields that keep a time from matching."""
    found = [match.field for match in matches if not match.matches]
    days = () if arm is Arm.NEITHER else (DAY_OF_MONTH, DAY_OF_WEEK)
    return tuple(field for field in found if field not in days)
