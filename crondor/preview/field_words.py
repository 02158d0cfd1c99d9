"""The fields of a schedule in words: their values, how the day fields combine, and why it fires at an instant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from crondor.calendar import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from crondor.compile.days import listed
from crondor.day_rule import DecidedBy, decided_by, is_unrestricted
from crondor.diagnostics import printable, shortened
from crondor.recurrence import Arm, FieldMatch, Why
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Field

_DAYS = {DAY_OF_MONTH, DAY_OF_WEEK}
_MOST_ITEMS = 12
_LONGEST_TEXT = 28  # characters of a field as it was written


def members(values: Sequence[int], names: Sequence[str] = ()) -> str:
    """Return values as a list with three or more in a row as a range; a long one is cut: "0, 2, 4 ... 58"."""
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
    """Return a field as it was written, or what replaces a missing one."""
    text = spec.given[field.index]
    if text is None:
        return "not given"
    text = text.strip()
    return shortened(text, _LONGEST_TEXT)


_DAY_RULES = {
    DecidedBy.NEITHER: "neither day field restricts: every day matches",
    DecidedBy.DAY_OF_MONTH: "only the day of month restricts the days",
    DecidedBy.DAY_OF_WEEK: "only the day of week restricts the days",
    DecidedBy.EITHER: "OR: a day matches when either day field names it",
    DecidedBy.BOTH: "AND: a day matches when both day fields name it, since one of them begins with `*`",
}


def day_rule_words(spec: CronSpec) -> str:
    """Return how the day fields of a spec combine in its dialect (docs/dialects.md)."""
    by = decided_by(spec)
    for field in (DAY_OF_MONTH, DAY_OF_WEEK):
        if by is DecidedBy.EITHER and spec.bits[field.index] == field.full:
            return f"{_DAY_RULES[by]}, and the {field.title} names every day"
    return _DAY_RULES[by]


def why_words(spec: CronSpec, why: Why, time: str) -> str:
    """Return why a schedule fires at an instant, or why not; ``time`` is the instant in words."""
    if why.fires:
        reason = why.note if why.blocking and why.note else _taken(spec, why)
        return printable(f"fires at {time}: {reason}")
    reasons = [_blocked(spec, match) for match in why.fields if match.field in why.blocking]
    days = [match for match in why.fields if match.field in why.blocking and match.field in _DAYS]
    if len(days) == 2:
        reasons = reasons[: -len(days)] if MONTH not in why.blocking else [*reasons[:-3], reasons[-2]]
        reasons.append(_no_day(spec, why))
    return printable(f"not at {time}: {'; '.join(reasons + ([why.note] if why.note else []))}")


def value_name(match: FieldMatch) -> str:
    """Return the value of a field at an instant in words."""
    if match.field == MONTH:
        return MONTHS[match.value]
    return WEEKDAYS[match.value] if match.field == DAY_OF_WEEK else str(match.value)


def _blocked(spec: CronSpec, match: FieldMatch) -> str:
    names = _names(match.field, spec)
    return f"the {match.field.title} is {value_name(match)} and the schedule names {names}"


def _names(field: Field, spec: CronSpec) -> str:
    return members(spec.values(field), {MONTH: MONTHS, DAY_OF_WEEK: WEEKDAYS}.get(field, ()))


def _no_day(spec: CronSpec, why: Why) -> str:
    month, day = why.fields[MONTH.index], why.wall.day
    which = f"{WEEKDAYS[why.fields[DAY_OF_WEEK.index].value]}, {day} {MONTHS[month.value]}"
    named = "; ".join(f"{f.title} {_names(f, spec)}" for f in (DAY_OF_MONTH, DAY_OF_WEEK))
    if decided_by(spec) is DecidedBy.BOTH:
        return f"both day fields would have to match {which}, and neither does ({named})"
    return f"neither day field matches {which} ({named})"


def _taken(spec: CronSpec, why: Why) -> str:
    by = decided_by(spec)
    restricted = [f.title for f in (MINUTE, HOUR, MONTH) if spec.bits[f.index] != f.full]
    fields = (
        f"{listed(restricted)} {'matches' if len(restricted) == 1 else 'match'} the time, and " if restricted else ""
    )
    if why.arm is Arm.EVERY_DAY:
        return f"{fields}every day matches" if fields else "every minute of every day matches"
    if why.arm is Arm.EITHER:
        return f"{fields}both day fields name the day" + ("" if by is DecidedBy.BOTH else ", of which one would do")
    other = "day of week" if why.arm is Arm.DAY_OF_MONTH else "day of month"
    enough = f", which is enough though the {other} does not" if by is DecidedBy.EITHER else ""
    return f"{fields}the {why.arm.value} names the day{enough}"
