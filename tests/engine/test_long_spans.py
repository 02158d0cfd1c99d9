"""Years in which a zone's rule alone decides: what is known of one year of a kind holds for all of them."""

from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor import zones
from crondor._recurrence import ZoneWalk
from crondor.algebra import is_subset
from crondor.recurrence import Recurrence
from crondor.spec import CronSpec, Dialect
from crondor.zones import NEVER, Policy, Zone, rule_year, year_kind
from tests.engine.random_schedules import specs
from tests.examples import examples

END = 7289654400  # 2201-01-01
ZONES = [
    *("Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Santiago", "America/Nuuk", "Australia/Lord_Howe"),
    *("Africa/Casablanca", "Africa/Cairo", "Asia/Gaza", "Asia/Tokyo", "Antarctica/Troll", "Pacific/Apia"),
]


@cache
def without_rule(name: str) -> Zone:
    """Return a zone that looks at each year by itself."""
    zone = Zone(ZoneInfo(name))
    zone._rule_year = NEVER
    return zone


@pytest.mark.parametrize("name", ZONES)
def test_a_rule_has_the_changes_that_each_year_has(name: str) -> None:
    """To the year 2200, asked for at once, or a year at a time."""
    expected = list(without_rule(name).changes(0, END))
    assert rule_year(name) < 2100
    by_years = Zone(ZoneInfo(name))
    for zone, steps in ((Zone(ZoneInfo(name)), [END]), (by_years, [4 * 10**9, END, END - 10**9])):
        for step in steps:
            list(zone.changes(0, step))
        found = [(each.start, each.offset, each.before) for each in zone.changes(0, END)]
        assert found == [(each.start, each.offset, each.before) for each in expected]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "No/Such", "", "Europe", "zone.tab", "a/../b"])
def test_what_is_no_zone_has_no_rule(name: str) -> None:
    """Nothing outside the database is read, and what is no zone file tells nothing."""
    assert rule_year(name) == NEVER


def test_a_zone_of_another_file_than_that_of_its_name_has_no_rule() -> None:
    """Its years are looked at one by one."""
    with resources.files("tzdata.zoneinfo.Europe").joinpath("Berlin").open("rb") as file:
        zone = Zone(ZoneInfo.from_file(file, key="Asia/Tokyo"))
    assert zone.rule_year == NEVER
    expected = [(each.start, each.offset) for each in without_rule("Europe/Berlin").changes(0, END)]
    assert [(each.start, each.offset) for each in zone.changes(0, END)] == expected


@examples(15)
@given(specs(), st.sampled_from(ZONES), st.sampled_from(Policy), st.integers(0, END - 1), st.integers(0, END))
def test_a_long_count_is_that_of_its_years(spec: CronSpec, name: str, policy: Policy, one: int, two: int) -> None:
    """Whatever the policy moves, drops and holds back, at the ends of the span too."""
    low, high = sorted((one, min(two, END - 1)))
    recurrence = Recurrence(spec, name, policy)
    follows = recurrence.follows_real_time
    slow = ZoneWalk(recurrence.wall_clock, without_rule(name), recurrence.policy, follows=follows)
    expected = 0 if recurrence.wall_clock.never else slow._count(low, high)
    assert recurrence.count(low, high) == slow.count(low, high) == expected


@examples(15)
@given(specs([Dialect.MANUAL]), specs([Dialect.UNIX]), st.booleans(), st.sampled_from(ZONES))
def test_a_subset_is_one_whether_each_year_is_looked_at_or_each_kind(
    one: CronSpec, two: CronSpec, same: bool, name: str
) -> None:
    """The same fields under another policy are what a clock change tells apart."""
    other = CronSpec.from_line(str(one), dialect=Dialect.UNIX) if same else two
    found = is_subset(one, other, name), is_subset(other, one, name)
    slow = without_rule(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crondor.recurrence.zone_of", lambda _: slow)
        assert found == (is_subset(one, other, name), is_subset(other, one, name))


def test_the_kinds_of_years_repeat() -> None:
    """There are 7 weekdays for a leap year, one after it, and others; all occur in 400 years."""
    kinds = {year_kind(year) for year in range(2000, 2400)}
    assert len(kinds) == 21
    assert {year_kind(year) for year in range(2400, 2800)} == kinds
    assert zones.year_of(zones.year_start(2038)) == 2038
