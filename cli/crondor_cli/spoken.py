"""Lengths, value sets and day rules in words, as `explain` and `diff` show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, MONTH, CronSpec, Dialect, Field

_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOST_ITEMS = 12
_LONGEST_TEXT = 28  # characters of a field as it was written


def length(seconds: int, start: date) -> str:
    """Return a length in calendar years, days and less: "8 years", "61 days", "1 hour 30 minutes"."""
    days, rest = divmod(seconds, 86400)
    end = start + timedelta(days=days)
    years = end.year - start.year - ((end.month, end.day) < (start.month, start.day))
    days = (end - _anniversary(start, years)).days
    counts = [("year", years), ("day", days)]
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        counts.append((name, count))
    return " ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts if count)


def _anniversary(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)


def members(values: Sequence[int], names: Sequence[str] = ()) -> str:
    """Return values as a list in which three or more in a row are a range; a long one is cut: "0, 2, 4 ... 58"."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    said = [names[value] if names else str(value) for value in range(values[-1] + 1)] if values else []
    items: list[str] = []
    for run in runs:
        items += [f"{said[run[0]]}-{said[run[-1]]}"] if len(run) > 2 else [said[value] for value in run]
    if len(items) <= _MOST_ITEMS:
        return ", ".join(items)
    shown = 3 if len({b - a for a, b in pairwise(values)}) == 1 else _MOST_ITEMS - 2
    return f"{', '.join(items[:shown])} ... {items[-1]} ({len(values)} values)"


def is_unrestricted(spec: CronSpec, field: Field) -> bool:
    """Say whether a field restricts nothing, and counts as such in the rule of the day fields."""
    if spec.bits[field.index] != field.full:
        return False
    # To the schedd 31 days of the month are `*`, however they are written.
    return spec.stars[field.index] or (spec.dialect is Dialect.HTCONDOR and field is DAY_OF_MONTH)


def value_set(spec: CronSpec, field: Field) -> str:
    """Return the values of a field, with the names of months and weekdays."""
    if is_unrestricted(spec, field):
        return "unrestricted"
    values = spec.values(field)
    if spec.bits[field.index] == field.full:
        return f"{members(values)} (every value, written out)"
    names = {MONTH: _MONTHS, DAY_OF_WEEK: _WEEKDAYS}.get(field)
    return members(values) + (f" ({members(values, names)})" if names else "")


def written(spec: CronSpec, field: Field) -> str:
    """Return a field as it was written, or what stands for one that was not."""
    text = spec.given[field.index]
    if text is None:
        return "not given"
    text = text.strip()
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."


class DayRule(NamedTuple):
    """How the two day fields decide on a day."""

    code: str  # every-day, day-of-month, day-of-week, or, and
    words: str


_EVERY_DAY = DayRule("every-day", "neither day field restricts: every day counts")
_ONE = {
    DAY_OF_MONTH: DayRule("day-of-month", "only the day of month restricts the days"),
    DAY_OF_WEEK: DayRule("day-of-week", "only the day of week restricts the days"),
}


def day_rule(spec: CronSpec) -> DayRule:
    """Return how the day fields of a spec decide in its dialect (docs/dialects.md)."""
    fields = DAY_OF_MONTH, DAY_OF_WEEK
    starred = [spec.stars[field.index] for field in fields]
    full = [spec.bits[field.index] == field.full for field in fields]
    if spec.dialect is Dialect.HTCONDOR:
        starred = [full[0], starred[1] or (full[0] and full[1])]
    if spec.dialect is Dialect.UNIX and any(starred):
        if not any(full):
            return DayRule("and", "AND: a day counts when both day fields name it, since one of them begins with `*`")
        starred = full
    if all(starred):
        return _EVERY_DAY
    if any(starred):
        return _ONE[DAY_OF_WEEK if starred[0] else DAY_OF_MONTH]
    words = "OR: a day counts when either day field names it"
    for field, covers in zip(fields, full, strict=True):
        if covers:
            return DayRule("or", f"{words}, and the {field.title} names every day")
    return DayRule("or", words)


def columns(rows: list[list[str]]) -> list[str]:
    """Return rows as indented lines of columns, the first at least as wide as the names of facts."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = max(12, widths[0])
    return ["  " + "  ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip() for row in rows]
