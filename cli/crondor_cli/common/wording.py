"""Lengths, value sets and day rules in words, as `explain` and `diff` show them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise

from crondor.calendar import SHORT_MONTHS, SHORT_WEEKDAYS
from crondor.day_rule import DecidedBy, decided_by, is_unrestricted
from crondor.diagnostics import shortened
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, MONTH, CronSpec, Field
from crondor_cli.common.layout import in_columns, screen_columns

_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))
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


def value_set(spec: CronSpec, field: Field) -> str:
    """Return the values of a field, with the names of months and weekdays."""
    if is_unrestricted(spec, field):
        return "unrestricted"
    values = spec.values(field)
    if spec.bits[field.index] == field.full:
        return f"{members(values)} (every value, written out)"
    names = {MONTH: SHORT_MONTHS, DAY_OF_WEEK: SHORT_WEEKDAYS}.get(field)
    return members(values) + (f" ({members(values, names)})" if names else "")


def written(spec: CronSpec, field: Field) -> str:
    """Return a field as it was written, or what stands for one that was not."""
    text = spec.given[field.index]
    if text is None:
        return "not given"
    text = text.strip()
    return shortened(text, _LONGEST_TEXT)


_DAY_RULES = {
    DecidedBy.NEITHER: "neither day field restricts: every day counts",
    DecidedBy.DAY_OF_MONTH: "only the day of month restricts the days",
    DecidedBy.DAY_OF_WEEK: "only the day of week restricts the days",
    DecidedBy.EITHER: "OR: a day counts when either day field names it",
    DecidedBy.BOTH: "AND: a day counts when both day fields name it, since one of them begins with `*`",
}


def day_rule_words(spec: CronSpec) -> str:
    """Return how the day fields of a spec decide in its dialect (docs/dialects.md)."""
    by = decided_by(spec)
    for field in (DAY_OF_MONTH, DAY_OF_WEEK):
        if by is DecidedBy.EITHER and spec.bits[field.index] == field.full:
            return f"{_DAY_RULES[by]}, and the {field.title} names every day"
    return _DAY_RULES[by]


def columns(rows: list[list[str]]) -> list[str]:
    """Return rows as indented lines of columns, the first at least as wide as the names of facts."""
    named = [[row[0].ljust(12), *row[1:]] if len(row) > 1 else row for row in rows]
    return in_columns([""] * len(rows[0]), named, screen_columns(sys.stdout), margin="  ")
