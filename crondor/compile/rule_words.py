"""A recurrence rule in words."""

from __future__ import annotations

from crondor.calendar import MONTHS, WEEKDAYS
from crondor.compile.days import MINUTES, day_text
from crondor.compile.phrases import clock_list, listed, ordinal
from crondor.compile.rule import Frequency, Rule, RulePattern

_UNITS = ("year", "month", "week", "day", "hour", "minute")


def rule_words(pattern: RulePattern, given: Rule) -> str:
    """Return a rule in words: "at 17:00 on the last of Monday to Friday of every month"."""
    rule, frequency = pattern.rule, pattern.rule.frequency
    unit = _UNITS[frequency]
    often = f"every {unit}" if rule.interval == 1 else f"every {rule.interval} {unit}s"
    said = [often]
    if frequency < Frequency.HOURLY:
        said.insert(0, clock_list(pattern.times))
    elif rule.hours or rule.minutes:
        if rule.minutes:
            said.append(f"at minute{'s' * (len(rule.minutes) > 1)} {listed([str(m) for m in rule.minutes])}")
        if rule.hours:
            said.append(f"in hour{'s' * (len(rule.hours) > 1)} {listed([str(h) for h in rule.hours])}")
    limits = _limits(rule)
    if rule.positions and limits:
        said.append(f"on the {listed([_place(p) for p in rule.positions])} of {limits.removeprefix('on ')}")
    elif limits:
        said.append(limits)
    if given.months or (frequency == Frequency.YEARLY and rule.months):
        said.append(f"in {listed([MONTHS[month] for month in rule.months])}")
    if rule.interval > 1:
        said.append(f"from {day_text(rule.start // MINUTES)}")
    if rule.runs is not None:
        said.append(f"({rule.runs} times)")
    return " ".join(said)


def _limits(rule: Rule) -> str:
    """Return the days that the parts name."""
    said = []
    if rule.weekdays:
        days = [f"the {_place(n)} {WEEKDAYS[d]}" if n else WEEKDAYS[d] for n, d in rule.weekdays]
        said.append(listed(days))
    if rule.month_days:
        said.append(f"the {listed([_place(n) for n in rule.month_days])} of the month")
    if rule.year_days:
        said.append(f"the {listed([_place(n) for n in rule.year_days])} day of the year")
    if rule.week_numbers:
        said.append(f"week {listed([str(n) for n in rule.week_numbers])}")
    return f"on {' that is '.join(said)}" if said else ""


def _place(number: int) -> str:
    if number > 0:
        return ordinal(number)
    return "last" if number == -1 else f"{ordinal(-number)} last"
