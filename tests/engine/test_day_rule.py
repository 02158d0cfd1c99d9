"""The rule of the two day fields: one answer for days, reasons, words and spellings, in each dialect."""

import ast
import re
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path

import pytest

from crondor.algebra import Untranslatable, portable
from crondor.calendar import MONTHS, WEEKDAYS, day_number, month_length, weekday
from crondor.day_rule import DecidedBy, day_rule, decided_by, has_day_zero, is_unrestricted, takes_every_day
from crondor.recurrence import Arm, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, CronSpec, Dialect, InvalidSpec
from crondor.words import describe
from tests.engine.clock_oracle import names_day

ROOT = Path(__file__).parents[2]
DAYS = ["*", "1", "1-31", "*/2", "*/1", "1,*", "31", "*/31", "1-15,16-31"]
WEEK = ["*", "1", "0-6", "*/2", "1,*", "7", "1-5", "*/7"]
YEAR = [datetime(2028, 1, 1, 6, tzinfo=timezone.utc) + timedelta(days=n) for n in range(0, 366, 3)]


def specs(*dialects: Dialect) -> list[CronSpec]:
    """Return every pair of day fields in every dialect."""
    found = []
    for days, week, dialect in product(DAYS, WEEK, dialects):
        with suppress(InvalidSpec):  # the schedd finds no day in */31 from 1 on
            found.append(CronSpec.from_line(f"0 6 {days} * {week}", dialect=dialect))
    return found


@pytest.mark.parametrize("spec", specs(Dialect.MANUAL, Dialect.UNIX), ids=repr)
def test_days_reasons_and_runs_go_by_one_rule(spec: CronSpec) -> None:
    """A day counts for the calendar, for `why` and for the runs if and only if the words of the dialect say so."""
    rule, by, recurrence = day_rule(spec), decided_by(spec), Recurrence(spec)
    assert recurrence.wall_clock.rule.in_month(2028, 2, 2) == rule.in_month(2028, 2, 2)
    for day in YEAR:
        counts = names_day(spec, day.replace(tzinfo=None))
        first = weekday(day_number(day.year, day.month, 1))
        why = recurrence.why(int(day.timestamp()))
        assert bool(rule.in_month(day.year, day.month, first) >> day.day & 1) == counts
        assert why.fires == counts
        assert (why.arm is not Arm.NEITHER) == counts
        assert (not {DAY_OF_MONTH, DAY_OF_WEEK} & set(why.blocking)) == counts
        assert counts or by is not DecidedBy.NEITHER
    every_day = all(rule.in_month(2028, m, 0).bit_count() == month_length(2028, m) for m in range(1, 13))
    assert takes_every_day(spec) == every_day or by in {DecidedBy.DAY_OF_MONTH, DecidedBy.DAY_OF_WEEK}


@pytest.mark.parametrize("spec", specs(*Dialect), ids=repr)
def test_words_and_spellings_go_by_the_same_rule(spec: CronSpec) -> None:
    """The sentence says "or" and "any" where the rule does, and only AND has no spelling for all dialects."""
    by, words = decided_by(spec), describe(spec)
    full = [spec.bits[field.index] == field.full for field in (DAY_OF_MONTH, DAY_OF_WEEK)]
    assert (", or" in words) == (by is DecidedBy.EITHER and not all(full))
    assert ("on any" in words) == (by is DecidedBy.BOTH)
    free = [is_unrestricted(spec, field) for field in (DAY_OF_MONTH, DAY_OF_WEEK)]
    assert by is not DecidedBy.EITHER or free == [False, False]
    if spec.dialect is Dialect.HTCONDOR:
        assert has_day_zero(spec) == (by is DecidedBy.DAY_OF_WEEK)
        return
    try:
        alike = portable(spec)
    except Untranslatable:
        assert by is DecidedBy.BOTH
    else:
        assert day_rule(alike).in_month(2028, 2, 2) == day_rule(spec).in_month(2028, 2, 2)


def test_the_names_of_weekdays_and_months_stand_in_one_place() -> None:
    """No other module writes them out, in full, in short or in capitals: all are made of the calendar's."""
    names = {text for name in (*WEEKDAYS, *MONTHS[1:]) for text in (name.lower(), name[:3].lower()) if text != "may"}
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("crondor", "cli")
        for path in (ROOT / folder).rglob("*.py")
        if (words := names & set(re.findall("[a-z]+", (text := path.read_text()).lower())))
        if len(words) > 2 or words & {"monday", "january"}
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if len(names & set(node.value.lower().replace(",", " ").split())) > 2
        or node.value.lower() in {"monday", "january"}
    }
    assert found == {"crondor/calendar.py"}
