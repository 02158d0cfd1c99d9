"""Schedules of every kind against independent oracles; CRONDOR_SCHEDULES=200 makes it the whole of ten years."""

from datetime import datetime, timedelta
from random import Random

import pytest

from crondor.compile.meaning import read_schedule
from crondor.zones import Policy
from tests.compile.cases import KINDS, ZONES, Case, instants, walls_of
from tests.compile.size import COUNT, YEARS

START = datetime(2020, 1, 1)  # noqa: DTZ001 - a time on the wall clock
END = START + timedelta(days=round(365.25 * YEARS))


def _same(case: Case, walls: list[datetime], zone: str, policy: Policy) -> None:
    expected = instants(case, walls, zone, policy, START, END)
    schedule = read_schedule(case.text, zone=zone, policy=policy)
    info = schedule.zone.info
    low, high = (int(each.replace(tzinfo=info).timestamp()) for each in (START, END))
    found = list(schedule.between(low, high))
    assert found == expected, (case.text, zone, policy, sorted(set(found) ^ set(expected))[:5])


@pytest.mark.parametrize("number", range(COUNT or 16))
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_the_times_that_others_find(kind: str, number: int) -> None:
    """Each instant of the years, clock changes among them; one zone and policy of many, or (the whole) all zones."""
    case = KINDS[kind](Random(f"{kind} {number}"))  # noqa: S311 - test data
    walls = walls_of(case, START, END)
    policy = tuple(Policy)[number % len(Policy)]
    for zone in ZONES if COUNT else (ZONES[number % len(ZONES)],):
        _same(case, walls, zone, policy)
