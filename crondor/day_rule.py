"""The rule of the two day fields, in each dialect: which of them decide whether a day counts (docs/dialects.md)."""

from __future__ import annotations

from enum import Enum

from crondor._spec import DAY_OF_MONTH, DAY_OF_WEEK, FULL, MONTH, Dialect, Field
from crondor.calendar import DayRule
from crondor.spec import CronSpec

_FULL_DAYS, _FULL_YEAR, _FULL_WEEK = FULL[DAY_OF_MONTH.index], FULL[MONTH.index], FULL[DAY_OF_WEEK.index]
_EVERY_DAY = DayRule(_FULL_YEAR, _FULL_DAYS, _FULL_WEEK, either=False)  # most schedules: made once


class DecidedBy(str, Enum):
    """Which of the two day fields decide whether a day matches."""

    NEITHER = "every-day"  # neither restricts
    DAY_OF_MONTH = "day-of-month"
    DAY_OF_WEEK = "day-of-week"
    EITHER = "or"  # a day matches if either names it
    BOTH = "and"  # only UNIX: a day matches if both name it, since one of them begins with a star


# Members of an Enum are slow to look up, and every Recurrence uses the rule.
_NEITHER, _BY_DAY, _BY_WEEKDAY, _EITHER, _BOTH = DecidedBy
_HTCONDOR, _UNIX = Dialect.HTCONDOR, Dialect.UNIX


def decided_by(spec: CronSpec) -> DecidedBy:
    """Return which of the day fields decide in the dialect of a spec.

    Two fields without a star are joined by OR. With a star, MANUAL only uses the other field, and so does the schedd,
    which treats 31 days as a star. In UNIX a star means AND, in which a field of all values restricts nothing.
    """
    _, _, days, _, weekdays = spec.bits
    _, _, free_day, _, free_weekday = spec.stars
    dialect = spec.dialect
    if dialect is _HTCONDOR:
        free_day = days == _FULL_DAYS
        free_weekday = free_weekday or (free_day and weekdays == _FULL_WEEK)
    if not (free_day or free_weekday):
        return _EITHER
    if dialect is _UNIX:
        free_day, free_weekday = days == _FULL_DAYS, weekdays == _FULL_WEEK
        if not (free_day or free_weekday):
            return _BOTH
    if free_day:
        return _NEITHER if free_weekday else _BY_WEEKDAY
    return _BY_DAY


def day_rule(spec: CronSpec) -> DayRule:
    """Return the matching days of a spec; for HTCONDOR those that it names, without the day-0 defect."""
    _, _, days, months, weekdays = spec.bits
    if days == _FULL_DAYS and weekdays == _FULL_WEEK and months == _FULL_YEAR:
        return _EVERY_DAY
    by = decided_by(spec)
    if by is _EITHER or by is _BOTH:
        return DayRule(months, days, weekdays, either=by is _EITHER)
    # A field that does not decide restricts nothing, whatever its list names.
    days = days if by is _BY_DAY else _FULL_DAYS
    weekdays = weekdays if by is _BY_WEEKDAY else _FULL_WEEK
    return DayRule(months, days, weekdays, either=False)


def takes_every_day(spec: CronSpec) -> bool:
    """Return whether every day of its months matches: neither field restricts, or one joined by OR names all."""
    by = decided_by(spec)
    if by is not _EITHER:
        return by is _NEITHER
    return spec.bits[DAY_OF_MONTH.index] == _FULL_DAYS or spec.bits[DAY_OF_WEEK.index] == _FULL_WEEK


def counts_as_star(spec: CronSpec, field: Field) -> bool:
    """Return whether a field counts as starred in its dialect; for the schedd so do 31 days of the month."""
    schedds = spec.dialect is _HTCONDOR and field is DAY_OF_MONTH
    return spec.stars[field.index] or (schedds and spec.bits[field.index] == _FULL_DAYS)


def is_unrestricted(spec: CronSpec, field: Field) -> bool:
    """Return whether a field restricts nothing, and counts as such in the rule of the day fields."""
    return spec.bits[field.index] == field.full and counts_as_star(spec, field)


def has_day_zero(spec: CronSpec) -> bool:
    """Return whether the schedd's day-0 defect is possible: day of month ``*``, not the weekday (docs/dialects.md)."""
    weekdays_free = spec.stars[DAY_OF_WEEK.index] or spec.bits[DAY_OF_WEEK.index] == _FULL_WEEK
    return spec.bits[DAY_OF_MONTH.index] == _FULL_DAYS and not weekdays_free
