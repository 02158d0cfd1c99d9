"""A schedule as one English sentence, derived from its values, star flags and dialect, not from its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from crondor._types import expect
from crondor.calendar import LONGEST, MONTHS, WEEKDAYS
from crondor.day_rule import DecidedBy, decided_by
from crondor.spec import FIELDS, CronSpec, Field

_STEP = re.compile(r"[ \t]*\*/0*(\d{1,9})[ \t]*").fullmatch
_ROUNDS = (("hour", "hourly"), ("day", "daily"), ("month", "monthly"), ("year", "yearly"), ("week", "weekly"))

__all__ = ["clock_words", "describe", "steps_beyond"]

_LONGEST = 200
_LIST_SIZES = (60, 16, 10, 7, 5, 4, 3, 2, 1)  # list everything, or less of each list until the sentence fits
_FEW = 6  # items that a reader takes in at a glance

_FEBRUARY, _LEAP_DAY = 2, 29
_MONDAY_FIRST = (1, 2, 3, 4, 5, 6, 0)
_WORKING_DAYS = [1, 2, 3, 4, 5]

# "Every 6 minutes and every 10 minutes": pairs of divisors of an hour, neither of which divides the other.
_PAIRS = {
    tuple(minute for minute in range(60) if minute % a == 0 or minute % b == 0): (a, b)
    for a, b in combinations((2, 3, 4, 5, 6, 10, 12, 15, 20, 30), 2)
    if b % a
}

_Values = Sequence[int]


def describe(spec: CronSpec) -> str:
    """Return the schedule in words: "at 06:00 on Mondays, or on the 1st and 15th".

    Times are wall-clock times, whatever the zone; equal specs have equal sentences. No sentence is longer than 200
    characters: a list that is cut short says "and 12 more", and a sentence without "more" is exact. A schedule that
    names no existing date reads "never" and the reason. What the schedd does beyond the values of a schedule
    (docs/dialects.md) is not included. Raises nothing.
    """
    expect("spec", spec, CronSpec, "a CronSpec", "write CronSpec.from_line('30 2 * * *')")
    text = ""
    for size in _LIST_SIZES:
        text = _sentence(spec, size)
        if len(text) <= _LONGEST:
            break
    return text


def steps_beyond(spec: CronSpec) -> list[str]:
    """Return a remark on each step that is longer than its field: ``*/90`` minutes are hourly, not every 90 minutes."""
    remarks = []
    for field in FIELDS:
        remark = step_beyond(field, spec.given[field.index] or "")
        if remark is not None:
            remarks.append(remark)
    return remarks


def step_beyond(field: Field, text: str) -> str | None:
    """Return a remark on a field's text if it is a step longer than the field, else None."""
    unit, how = _ROUNDS[field.index]
    step = _STEP(text)
    if step is None or int(step[1]) <= field.high:
        return None
    only = f"so only matches {field.title} {field.low}: {how}"
    return f"{step[0].strip()} starts again in each {unit}, and {only}"


def clock_words(minutes: Sequence[int], hours: Sequence[int]) -> str:
    """Return the times of a day that have one of the minutes and one of the hours: "at 09:00 and 17:00"."""
    return _times(minutes, hours, _LIST_SIZES[2])


def _sentence(spec: CronSpec, size: int) -> str:
    minutes, hours, days, months, weekdays = (spec.values(field) for field in FIELDS)
    either = decided_by(spec) is DecidedBy.EITHER
    if not either and all(day > LONGEST[month] for month in months for day in days):
        return f"never ({_absences(days, months)})"
    if len(days) == 31 and len(weekdays) == 7:
        # "Every 10 minutes" needs no "every day", "at 06:00" does.
        often = "" if len(hours) > 4 and _goes_round(hours, 24) else "every day"
        dates = _spaced(often, _months(months, "in", size))
    elif either:
        dates = _either_day(days, months, weekdays, size)
    else:
        dates = _both_days(days, months, weekdays, size)
    return _spaced(_times(minutes, hours, size), dates)


# Times of day


def _times(minutes: _Values, hours: _Values, size: int) -> str:
    if len(minutes) == 1:
        return _once_an_hour(minutes[0], hours, size)
    step, spans, pair = _step(minutes), _runs(hours), _PAIRS.get(tuple(minutes))
    steady = pair is not None or _goes_round(minutes, 60)  # the interval continues across hours
    from_to = (step > 0 and len(hours) == 1) or (steady and len(hours) < 24 and len(spans) <= (1 if pair else 2))
    if len(minutes) * len(hours) <= (4 if from_to and len(spans) == 1 else _FEW):
        return _clock_times(minutes, hours)
    often = f"every {pair[0]} minutes and every {pair[1]} minutes" if pair else _every(step, "minute")
    if from_to:
        return f"{often} {_from_to(minutes, spans)}"
    if steady and minutes[0] == 0:
        return often if len(hours) == 24 else f"{often} during {_hours(hours, size)}"
    return f"{_some_minutes(minutes, step, size)} of {_hours(hours, size)}"


def _once_an_hour(minute: int, hours: _Values, size: int) -> str:
    step, spans = _step(hours), _runs(hours)
    if len(hours) == 24:
        return f"every hour at minute {minute}"
    if (step == 1 and len(hours) > 3) or (len(hours) > _FEW and len(spans) <= 2 and all(len(s) > 2 for s in spans)):
        return f"every hour {_from_to((minute,), spans)}"
    steady = _goes_round(hours, 24) and len(hours) > 4  # "every 12 hours" would hide more than it tells
    if steady or (step and len(hours) > _FEW):
        return f"{_every(step, 'hour')} {_from_to((minute,), [hours])}"
    if len(hours) <= _FEW:
        return _clock_times((minute,), hours)
    return f"at minute {minute} of {_hours(hours, size)}"


def _some_minutes(minutes: _Values, step: int, size: int) -> str:
    """Return minutes that restart in each hour, shown by the two ends."""
    if len(minutes) > (3 if step == 1 else _FEW) and step:
        return f"{_every(step, 'minute')} from minute {minutes[0]} to {minutes[-1]}"
    return f"at minutes {_numbers(minutes, size)}"


def _hours(hours: _Values, size: int) -> str:
    if len(hours) == 24:
        return "every hour"
    step = _step(hours)
    if step > 1 and len(hours) > _FEW:
        return f"every {'second' if step == 2 else 'third'} hour from {hours[0]} to {hours[-1]}"
    return f"{'hour' if len(hours) == 1 else 'hours'} {_numbers(hours, size)}"


def _every(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {step} {unit}s"


def _from_to(minutes: _Values, spans: Sequence[_Values]) -> str:
    """Return the first and the last time of each span of hours."""
    return _listed([f"from {_clock(span[0], minutes[0])} to {_clock(span[-1], minutes[-1])}" for span in spans])


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def _clock_times(minutes: _Values, hours: _Values) -> str:
    return f"at {_listed([_clock(hour, minute) for hour in hours for minute in minutes])}"


# Days


def _either_day(days: _Values, months: _Values, weekdays: _Values, size: int) -> str:
    """Return the days on which either field matches; the months, which restrict both, come first."""
    where = _months(months, "in", size)
    dates, names = _dates(days, months, size), _weekdays(weekdays, size)
    if len(days) == 31:
        return _spaced("every day", where, f"(days 1 to 31, or {names})")
    if len(weekdays) == 7:
        return _spaced("every day", where, f"(Sunday to Saturday, or {dates})")
    # A comma before "or" would make the months one of three choices.
    return f"{where}, on {names} or on {dates}" if where else f"on {names}, or on {dates}"


def _both_days(days: _Values, months: _Values, weekdays: _Values, size: int) -> str:
    """Return the days that match every restricted field; there is at least one."""
    if len(days) == 31:
        return _spaced(f"on {_weekdays(weekdays, size)}", _months(months, "in", size))
    if len(weekdays) == 7:
        return f"on {_dates(days, months, size, scoped=True)}"
    return f"on any {_any_weekday(weekdays, size)} that falls on {_dates(days, months, size, scoped=True, one=True)}"


def _dates(days: _Values, months: _Values, size: int, *, scoped: bool = False, one: bool = False) -> str:
    """Return days of the month, or one, with a remark on short months; ``scoped``: names the months, unless all."""
    named = scoped and len(months) < 12
    word = "or" if one else "and"
    of_months = _months(months, "of", size, word) if named else ""
    if parity := _parity(days):
        return f"{f'an {parity} day' if one else f'{parity} days'} {of_months or 'of the month'}"
    if not (len(days) <= 3 or (len(days) <= _FEW and _step(days) != 1)):
        return f"days {_numbers(days, size)} {of_months or 'of the month'}"
    if named and len(months) == 1:
        dates = f"{_listed([str(day) for day in days], word, size)} {MONTHS[months[0]]}"
    else:
        dates = _spaced(f"the {_listed([_ordinal(day) for day in days], word, size)}", of_months)
    return _spaced(dates, _short_months(days, months)) if size > _FEW else dates


def _parity(days: _Values) -> str:
    if tuple(days) in (tuple(range(1, 32, 2)), tuple(range(2, 32, 2))):
        return "odd" if days[0] == 1 else "even"
    return ""


def _short_months(days: _Values, months: _Values) -> str:
    """Return, in parentheses, in which of the named months the days do not exist, or that short months lack them."""
    lacking = [month for month in months if any(day > LONGEST[month] for day in days)]
    if len(months) == 12 or len(lacking) > 2:
        return f"(in months that have {'one' if len(days) == 1 else 'them'})" if days[0] >= _LEAP_DAY else ""
    notes = []
    if _LEAP_DAY in days and _FEBRUARY in months:
        which = "29 February in " if len(months) > 1 else "the 29th in " if len(days) > 1 else ""
        notes.append(f"{which}leap years only")
    if lacking:
        notes.append(_absences(days, lacking))
    return f"({', '.join(notes)})" if notes else ""


def _absences(days: _Values, months: _Values) -> str:
    """Return which of the months lack such a day: "February and April have no 31st"."""
    lacking: dict[tuple[int, ...], list[str]] = {}
    for month in months:
        lacking.setdefault(tuple(day for day in days if day > LONGEST[month]), []).append(MONTHS[month])
    return ", ".join(
        f"{_listed(names)} {'has' if len(names) == 1 else 'have'} no {_listed([_ordinal(day) for day in absent], 'or')}"
        for absent, names in lacking.items()
    )


def _months(months: _Values, preposition: str, size: int, word: str = "and") -> str:
    """Return the months after "in" or "of", or nothing for all months."""
    if len(months) == 12:
        return ""
    ordered, unbroken = _around(months, range(1, 13))
    if len(months) == 11 or (not unbroken and len(months) > _FEW):
        others = [MONTHS[month] for month in range(1, 13) if month not in months]
        but = "except in" if preposition == "in" else "of every month except"
        return f"{but} {_listed(others, size=size)}"
    if unbroken and len(months) > 2:
        each = "of each month " if preposition == "of" else ""
        return f"{each}from {MONTHS[ordered[0]]} to {MONTHS[ordered[-1]]}"
    return f"{preposition} {_listed([MONTHS[month] for month in ordered], word, size)}"


def _weekdays(weekdays: _Values, size: int) -> str:
    ordered, unbroken = _around(weekdays, _MONDAY_FIRST)
    if ordered == _WORKING_DAYS:
        return "weekdays (Monday to Friday)"
    names = [f"{WEEKDAYS[day]}s" for day in ordered]
    return f"{names[0]} to {names[-1]}" if unbroken and len(names) > 3 else _listed(names, size=size)


def _any_weekday(weekdays: _Values, size: int) -> str:
    ordered, unbroken = _around(weekdays, _MONDAY_FIRST)
    if ordered == _WORKING_DAYS:
        return "weekday (Monday to Friday)"
    names = [WEEKDAYS[day] for day in ordered]
    return f"day from {names[0]} to {names[-1]}" if unbroken and len(names) > 3 else _listed(names, "or", size)


# Lists and numbers


def _listed(words: Sequence[str], word: str = "and", size: int = _LIST_SIZES[0]) -> str:
    return _cut([(text, 1) for text in words], word, size)


def _numbers(numbers: _Values, size: int) -> str:
    """Return numbers as a list, with three or more in a row as a range."""
    runs = _runs(numbers)
    if len(runs) == 1 and len(numbers) > 2:
        return f"{numbers[0]} to {numbers[-1]}"
    items: list[tuple[str, int]] = []
    for run in runs:
        items += [(f"{run[0]}-{run[-1]}", len(run))] if len(run) > 2 else [(str(number), 1) for number in run]
    return _cut(items, "and", size)


def _cut(items: Sequence[tuple[str, int]], word: str, size: int) -> str:
    """Join texts, each of which stands for some values; omitted values are counted."""
    texts = [text for text, _ in items]
    if len(items) == 1:
        return texts[0]
    if len(items) > size + 1:
        hidden = sum(count for _, count in items[size:])
        return f"{', '.join(texts[:size])} {word} {hidden} more"
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def _ordinal(day: int) -> str:
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _around(members: _Values, cycle: _Values) -> tuple[list[int], bool]:
    """Return the members in the cycle's order, from the beginning of their run, and whether they form one."""
    wanted = set(members)
    for start in range(len(cycle)):
        run = [*cycle[start:], *cycle[:start]][: len(members)]
        if set(run) == wanted:
            return run, True
    return [member for member in cycle if member in wanted], False


def _runs(numbers: _Values) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _step(numbers: _Values) -> int:
    """Return the common difference, 0 if there is none."""
    steps = {after - before for before, after in pairwise(numbers)}
    return steps.pop() if len(steps) == 1 else 0


def _goes_round(numbers: _Values, size: int) -> bool:
    """Return whether the numbers keep their step across the end of the hour or day."""
    step = _step(numbers)
    return step > 0 and len(numbers) * step == size


def _spaced(*parts: str) -> str:
    return " ".join(part for part in parts if part)
