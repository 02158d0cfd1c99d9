"""The stretches of constant offset of every zone, against the transition tables of the standard library."""

import zoneinfo
from bisect import bisect_right
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from importlib import import_module, resources
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import tz as dateutil_zones
from hypothesis import given
from hypothesis import strategies as st

from crondor import zones
from crondor._recurrence import ZoneWalk
from crondor.algebra import is_subset
from crondor.recurrence import Recurrence
from crondor.spec import CronSpec, Dialect
from crondor.zones import NEVER, Policy, UnknownZone, Zone, load_zone, rule_year, year_kind, zone_of
from tests.engine.random_schedules import specs
from tests.examples import examples, some

START = int(datetime(1970, 1, 1, tzinfo=timezone.utc).timestamp())
END = int(datetime(2111, 1, 1, tzinfo=timezone.utc).timestamp())

Changes = tuple[tuple[int, int], ...]


def changes_of_table(name: str) -> Changes:
    """Return (instant, offset from then on) of a zone from the tables of the pure-Python zoneinfo.

    The offset at START comes first. Table and rule for later years are read, no datetime is converted.
    """
    table: Any = import_module("zoneinfo._zoneinfo").ZoneInfo.no_cache(name)
    moments = list(table._trans_utc)
    offsets = [_seconds(info.utcoff) for info in table._ttinfos]
    rule = table._tz_after
    if hasattr(rule, "transitions"):
        standard, summer = _seconds(rule.std.utcoff), _seconds(rule.dst.utcoff)
        last = moments[-1] if moments else START - 1
        coming = []
        for year in range(1969, 2112):
            begin, end = rule.transitions(year)
            coming += [(begin - standard, summer), (end - summer, standard)]
        for moment, offset in sorted(coming):
            if moment > last:
                moments.append(moment)
                offsets.append(offset)
    else:
        # The rule is one offset for ever; it agrees with the end of the table.
        offsets = offsets or [_seconds(rule.utcoff)]
    first = bisect_right(moments, START)
    initial = offsets[first - 1] if first else _seconds(table._tti_before.utcoff if moments else rule.utcoff)
    found = [(START, initial)]
    for moment, offset in zip(moments[first:], offsets[first:], strict=False):
        if moment < END and offset != found[-1][1]:
            found.append((moment, offset))
    return tuple(found)


def changes_of_zone(zone: Zone) -> Changes:
    """Return the same from the stretches of a Zone; a change whose `before` is wrong is left out."""
    found: list[tuple[int, int]] = []
    at = START
    while at < END:
        stretch = zone.at(at)
        assert stretch.start <= at < stretch.end
        if not found or stretch.offset != found[-1][1]:
            found.append((at, stretch.offset))
        at = stretch.end
    # Only now: a stretch that ended where the years looked at ended has grown when the next year was looked at.
    fits = [zone.at(at).before == before for (at, _), (_, before) in zip(found[1:], found, strict=False)]
    return tuple(found[:1] + [change for change, fit in zip(found[1:], fits, strict=True) if fit])


def _seconds(offset: timedelta | None) -> int:
    assert offset is not None
    return offset // timedelta(seconds=1)


def test_every_zone_from_1970_to_2110() -> None:
    """The stretches of each zone change exactly where the database says, and nowhere else."""
    tables: dict[Changes, list[str]] = {}
    for name in some(sorted(zoneinfo.available_timezones()), 40):
        tables.setdefault(changes_of_table(name), []).append(name)
    assert len(tables) > 25
    wrong = [names for table, names in tables.items() if changes_of_zone(Zone(ZoneInfo(names[0]))) != table]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "year"),
    [
        ("America/New_York", 2026),
        ("Australia/Lord_Howe", 2024),
        ("Africa/Casablanca", 2024),
        ("Africa/Cairo", 2010),
        ("Asia/Gaza", 2011),
        ("Pacific/Apia", 2011),
        ("America/Noronha", 2000),
        ("Africa/Monrovia", 1971),
    ],
)
def test_every_half_hour_of_two_years(name: str, year: int) -> None:
    """Asked every half hour, a zone says what datetime says."""
    zone, info = Zone(ZoneInfo(name)), ZoneInfo(name)
    first = int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp())
    for epoch in range(first, first + 2 * 366 * 86400, 1800):
        offset = _seconds(datetime.fromtimestamp(epoch, info).utcoffset())
        assert zone.at(epoch).offset == offset
        assert zone.local(epoch) == epoch + offset


FACTS = [
    # zone, UTC instant of the change, offset before and after in minutes
    ("America/New_York", "2026-03-08T07:00:00", -300, -240),
    ("America/New_York", "2026-11-01T06:00:00", -240, -300),
    ("Australia/Lord_Howe", "2024-04-06T15:00:00", 660, 630),  # half an hour
    ("Australia/Lord_Howe", "2024-10-05T15:30:00", 630, 660),
    ("Pacific/Apia", "2011-12-30T10:00:00", -600, 840),  # 30 December is missing
    ("Pacific/Kwajalein", "1993-08-21T12:00:00", -720, 720),  # 21 August is missing
    ("Africa/Cairo", "2024-04-25T22:00:00", 120, 180),  # at midnight
    ("Africa/Cairo", "2024-10-31T21:00:00", 180, 120),
    ("Asia/Tehran", "2022-03-21T20:30:00", 210, 270),
    ("Asia/Tehran", "2022-09-21T19:30:00", 270, 210),  # the last one
    ("Africa/Casablanca", "2024-03-10T02:00:00", 60, 0),  # Ramadan
    ("Africa/Casablanca", "2024-04-14T02:00:00", 0, 60),
    ("Africa/Monrovia", "1972-01-07T00:44:30", -44.5, 0),
    ("Antarctica/Troll", "2024-03-31T01:00:00", 0, 120),  # two hours
    ("Asia/Kathmandu", "1985-12-31T18:30:00", 330, 345),
    ("America/St_Johns", "2010-11-07T02:31:00", -150, -210),  # at one minute past midnight
    ("Antarctica/Casey", "2010-03-04T15:00:00", 660, 480),  # three hours back
]


@pytest.mark.parametrize(("name", "moment", "before", "after"), FACTS)
def test_known_changes(name: str, moment: str, before: float, after: float) -> None:
    """The odd changes of the world are found to the second."""
    epoch = int(datetime.fromisoformat(f"{moment}+00:00").timestamp())
    zone = Zone(ZoneInfo(name))
    earlier, later = zone.at(epoch - 1), zone.at(epoch)
    assert (earlier.end, later.start) == (epoch, epoch)
    assert (earlier.offset / 60, later.before / 60, later.offset / 60) == (before, before, after)


@pytest.mark.parametrize("order", [(1975, 2190, 2026), (2026, 1970, 2200), (2200, 1970, 2025)])
def test_the_order_of_questions_does_not_matter(order: tuple[int, ...]) -> None:
    """Years are looked at as they are asked for, backwards too; the stretches are the same."""
    zone = Zone(ZoneInfo("Europe/Berlin"))
    for year in order:
        zone.at(int(datetime(year, 7, 1, tzinfo=timezone.utc).timestamp()))
    assert changes_of_zone(zone) == changes_of_table("Europe/Berlin")


@pytest.mark.parametrize("info", [timezone.utc, timezone(timedelta(hours=-5)), timezone(timedelta(minutes=345))])
def test_a_fixed_offset_is_one_stretch(info: timezone) -> None:
    """Without changes one stretch covers all time."""
    zone = Zone(info)
    assert zone.is_fixed
    assert len({zone.at(epoch) for epoch in (-(10**12), 0, 10**12)}) == 1
    assert zone.at(0).offset == zone.at(0).before == _seconds(info.utcoffset(None))


def test_a_zone_without_changes_since_1970_has_one_offset() -> None:
    """A named zone may be constant as well, without being a fixed offset."""
    zone = Zone(ZoneInfo("Etc/GMT+5"))
    assert changes_of_zone(zone) == ((START, -18000),)


class Summer(tzinfo):
    """A zone of our own: an hour ahead from the first of June until the end of August, by local standard time."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the offset; unknown without a time."""
        return None if moment is None else self.dst(moment)

    def dst(self, moment: datetime | None) -> timedelta:
        """Return the summer hour."""
        return timedelta(hours=1 if moment is not None and 6 <= moment.month <= 8 else 0)

    def tzname(self, moment: datetime | None) -> str:
        """Return a name."""
        return "summer" if self.dst(moment) else "winter"


def test_any_tzinfo_serves() -> None:
    """Only the offsets of a tzinfo count."""
    zone = zone_of(Summer())
    june = int(datetime(2026, 6, 1, tzinfo=timezone.utc).timestamp())
    assert (zone.at(june - 7200).offset, zone.at(june + 7200).offset) == (0, 3600)


def test_a_tzinfo_that_cannot_be_hashed_serves() -> None:
    """The zones of dateutil, the most widespread after those of zoneinfo, have no hash."""
    berlin = dateutil_zones.gettz("Europe/Berlin")
    assert berlin is not None
    assert zone_of(berlin).at(1782000000) == zone_of("Europe/Berlin").at(1782000000)


def test_a_name_is_looked_up_once() -> None:
    """The stretches of a zone are shared by all who name it."""
    assert zone_of("Europe/Berlin") is zone_of("Europe/Berlin")
    assert zone_of("UTC").is_fixed


def test_a_moment_is_an_aware_datetime() -> None:
    """In a fold the second pass is told from the first."""
    zone = zone_of("America/New_York")
    first, second = zone.moment(1793511000), zone.moment(1793514600)
    assert [m.isoformat() for m in (first, second)] == ["2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00"]
    assert (first.fold, second.fold) == (0, 1)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "Europe",
        "../etc/passwd",
        "/etc/passwd",
        "Europe/Berlin\0",
        "\ud800",
        "x" * 300,
        "x" * 5000,
        "a/" * 5000,
        "CEST",
        "right/UTC",
        "localtime",
        ".",
    ],
    ids=lambda name: repr(name[:20]),
)
def test_an_unknown_name_is_refused(name: str) -> None:
    """Whatever is no zone of the database is one error, never a file that is read or a traceback."""
    with pytest.raises(UnknownZone, match="not a time zone") as caught:
        load_zone(name)
    assert isinstance(caught.value, ValueError)
    assert [found.kind for found in caught.value.diagnostics] == ["zone-unknown"]
    assert all(line.isprintable() for line in str(caught.value).split("\n"))
    assert len(str(caught.value)) < 300


LAST_INSTANT = 7289654400  # 2201-01-01
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
    expected = list(without_rule(name).changes(0, LAST_INSTANT))
    assert rule_year(name) < 2100
    by_years = Zone(ZoneInfo(name))
    for zone, steps in (
        (Zone(ZoneInfo(name)), [LAST_INSTANT]),
        (by_years, [4 * 10**9, LAST_INSTANT, LAST_INSTANT - 10**9]),
    ):
        for step in steps:
            list(zone.changes(0, step))
        found = [(each.start, each.offset, each.before) for each in zone.changes(0, LAST_INSTANT)]
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
    expected = [(each.start, each.offset) for each in without_rule("Europe/Berlin").changes(0, LAST_INSTANT)]
    assert [(each.start, each.offset) for each in zone.changes(0, LAST_INSTANT)] == expected


@examples(15)
@given(
    specs(),
    st.sampled_from(ZONES),
    st.sampled_from(Policy),
    st.integers(0, LAST_INSTANT - 1),
    st.integers(0, LAST_INSTANT),
)
def test_a_long_count_is_that_of_its_years(spec: CronSpec, name: str, policy: Policy, one: int, two: int) -> None:
    """Whatever the policy moves, drops and holds back, at the ends of the span too."""
    low, high = sorted((one, min(two, LAST_INSTANT - 1)))
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
