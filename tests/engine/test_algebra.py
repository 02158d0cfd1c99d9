"""Schedules compared: every pair of small sets against brute force; portable spelling, translation, day-0 clause."""

import heapq
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from functools import cache
from itertools import combinations, islice, product
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from crondor.algebra import (
    Difference,
    Untranslatable,
    day_zero_clause,
    field_differences,
    first_collision,
    first_difference,
    has_day_zero,
    is_subset,
    portable,
    reread,
    same_meaning,
    translate,
)
from crondor.recurrence import NeverRuns, NotASet, OutOfRange, Policy, Recurrence, ScheddAnswer, ScheddHangs
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, InvalidSpec
from tests.examples import some

UTC = timezone.utc
DAY = 86400
LAST = 7289654400  # 2201-01-01, where instants end
SETS = (Dialect.MANUAL, Dialect.UNIX)  # the dialects whose schedules are sets of instants


def spec(line: str, dialect: Dialect = Dialect.MANUAL) -> CronSpec:
    """Return a crontab line as a spec."""
    return CronSpec.from_line(line, dialect=dialect)


def recur(line: str, zone: str = "UTC", dialect: Dialect = Dialect.MANUAL, policy: Policy | None = None) -> Recurrence:
    """Return the recurrence of a crontab line."""
    return Recurrence(spec(line, dialect), zone, policy)


def at(text: str) -> int:
    """Return the epoch seconds of an ISO time, UTC where it has no offset."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def unix(line: str) -> CronSpec:
    """Return a crontab line in UNIX."""
    return spec(line, Dialect.UNIX)


# --- Every pair, on the wall clock -----------------------------------------------------------------------------------

# Four times of the day are all that these schedules use, so that 400 years are 584,388 bits of one integer.
CYCLE_DAYS = 146_097
TIMES = (0, 30, 720, 750)
HOURS_AND_MINUTES = ("0 0", "*/30 */12", "0-30/30 0", "30 12")
DAYS = (
    "* * *",
    "1-31 * *",
    "* * 0-6",
    "1-31 * 1",
    "* 1-12 */1",
    "*/2 * *",
    "1-31/2 * *",
    "* * */2",
    "* * 0,2,4,6",
    "* * 1",
    "* * 1-5",
    "13 * 5",
    "1-7 * */7",
    "*/2 * 1",
    "29 2 *",
    "29 2 1",
    "29 2 */7",
    "31 * *",
    "31 2,4 1",
    "30 2,4 *",
    "29,30 2 */1",
    "28-31 2 *",
    "31 2 *",
    "1 1 *",
    "1,2 1,6 *",
    "* 6 0",
    "1,*/1 6 0",
    "15 */3 *",
)


@cache
def day_sets() -> dict[tuple[str, int], int]:
    """Return the days of 1970 to 2369 with a given day of month, month or weekday, each as a bit set."""
    sets = {
        (field.name, value): bytearray(CYCLE_DAYS // 8 + 1)
        for field in FIELDS[2:]
        for value in range(field.low, field.high + 1)
    }
    first = date(1970, 1, 1).toordinal()
    for number in range(CYCLE_DAYS):
        day = date.fromordinal(first + number)
        for key in (("day_of_month", day.day), ("month", day.month), ("day_of_week", day.isoweekday() % 7)):
            sets[key][number >> 3] |= 1 << (number & 7)
    return {key: int.from_bytes(bits, "little") for key, bits in sets.items()}


def days_by_definition(schedule: CronSpec) -> int:
    """Return the days of 1970 to 2369 that a spec names, from the words of docs/dialects.md."""

    def union(name: str, values: tuple[int, ...]) -> int:
        taken = 0
        for value in values:
            taken |= day_sets()[name, value]
        return taken

    everything = (1 << CYCLE_DAYS) - 1
    by_day = union("day_of_month", schedule.values(DAY_OF_MONTH))
    by_weekday = union("day_of_week", schedule.values(DAY_OF_WEEK))
    day_starred, weekday_starred = schedule.stars[2], schedule.stars[4]
    if not (day_starred or weekday_starred):
        days = by_day | by_weekday
    elif schedule.dialect is Dialect.UNIX:
        days = by_day & by_weekday
    else:
        days = (everything if day_starred else by_day) & (everything if weekday_starred else by_weekday)
    return days & union("month", schedule.values(MONTH))


def spread(days: int) -> int:
    """Return a bit set of days with a bit for every fourth place: the first time of each day."""
    text = f"{days:b}"
    return int("000".join(text), 2)


class Member(NamedTuple):
    """A schedule and its instants of 1970 to 2369: one bit for each of the four times of each day."""

    spec: CronSpec
    recurrence: Recurrence
    instants: int


@cache
def members() -> list[Member]:
    """Return a few hundred schedules: MANUAL and UNIX, equal meanings in different words among them."""
    found = []
    spreads: dict[int, int] = {}
    for dialect, days, time in product(SETS, DAYS, HOURS_AND_MINUTES):
        schedule = spec(f"{time} {days}", dialect)
        taken = days_by_definition(schedule)
        if taken not in spreads:
            spreads[taken] = spread(taken)
        instants = 0
        for place, minute in enumerate(TIMES):
            if minute // 60 in schedule.values(HOUR) and minute % 60 in schedule.values(MINUTE):
                instants |= spreads[taken] << place
        found.append(Member(schedule, Recurrence(schedule), instants))
    return found


def instant_of(place: int) -> int:
    """Return the epoch seconds of a bit."""
    return (place >> 2) * DAY + TIMES[place & 3] * 60


def lowest(bits: int) -> int:
    """Return the place of the lowest bit."""
    return (bits & -bits).bit_length() - 1


def test_the_small_calendar_is_the_library_s() -> None:
    """The four times are all there are, and each schedule has in 230 years as many runs as its bits say."""
    assert len(members()) == 224
    until_2200 = (1 << LAST // DAY * 4) - 1
    for member in members():
        instants = member.instants & until_2200
        first = instants & 1  # the very first instant lies at the excluded start
        assert member.recurrence.count(0, LAST) == instants.bit_count() - first, member.spec


def test_every_pair_subset_and_meaning() -> None:
    """One of a pair is a subset of the other, and has the same meaning, where the bits say so."""
    subsets = same = 0
    for a, b in product(some(members(), 15), members()):
        expected = a.instants & ~b.instants == 0
        assert is_subset(a.spec, b.spec) == expected, (a.spec, b.spec)
        subsets += expected
        expected = a.instants == b.instants
        assert same_meaning(a.spec, b.spec) == expected, (a.spec, b.spec)
        same += expected
    assert subsets > 240  # both answers are common
    assert same > 24


START = at("2026-11-20T00:00")
START_PLACE = START // DAY * 4


@cache
def later() -> list[tuple[Recurrence, int]]:
    """Return recurrences of different meaning that do run, with their instants after START until 2200 ends."""
    whole = (1 << (LAST - START) // DAY * 4) - 1
    found: dict[int, Recurrence] = {}
    for member in members():
        instants = member.instants >> START_PLACE & whole & ~1
        if instants:
            found.setdefault(instants, member.recurrence)
    return [(recurrence, instants) for instants, recurrence in found.items()]


def test_every_pair_first_collision() -> None:
    """The first common bit is the first collision; where there is none, there is none until 2200 ends."""
    none = 0
    for (a, ours), (b, theirs) in product(some(later(), 8), later()):
        both = ours & theirs
        expected = START + instant_of(lowest(both)) if both else None
        assert first_collision(a, b, START) == expected, (a.spec, b.spec)
        none += not both
    assert none > 20


def test_every_pair_first_difference() -> None:
    """The first bit that one has alone is the first difference, and each answer there is the first from it on."""
    for (a, ours), (b, theirs) in combinations(later(), 2):
        place = lowest(ours ^ theirs)
        rest = [bits >> place for bits in (ours, theirs)]
        expected = Difference(*(START + instant_of(place + lowest(bits)) if bits else None for bits in rest))
        found = first_difference(a, b, START)
        assert found == expected, (a.spec, b.spec)
        assert found.instant == START + instant_of(place)


def test_equal_meanings_never_differ() -> None:
    """Schedules of the same bits in other words or another dialect have no first difference in UTC."""
    by_meaning: dict[int, list[Recurrence]] = {}
    for member in members():
        by_meaning.setdefault(member.instants, []).append(member.recurrence)
    for instants, (first, *others) in by_meaning.items():
        for other in others if instants else []:
            assert first_difference(first, other, START) is None, (first.spec, other.spec)


# --- Every pair, at clock changes ------------------------------------------------------------------------------------

# Caracas changed its clocks twice since 1970: back by half an hour at 03:00 in 2007, forth at 02:30 in 2016.
CARACAS = ZoneInfo("America/Caracas")
FOLD, GAP = at("2007-12-09T07:00"), at("2016-05-01T07:00")
CHANGE_LINES = [
    f"{time} {days}"
    for time in (
        "30 2",
        "0,30 2",
        "*/30 2",
        "45 2",
        "45 2,3",
        "0 3",
        "0,15 3",
        "15 2,3",
        "*/15 2-3",
        "*/15 *",
        "*/15 0-23",
        "0-45/15 */1",
        "45 */2",
    )
    for days in ("* * *", "* 5,12 0")
]


def starts_of_minutes(middle: int) -> range:
    """Return the minutes from six hours before an instant to six hours after it."""
    return range(middle - 6 * 3600, middle + 6 * 3600, 60)


def by_definition(recurrence: Recurrence, zone: ZoneInfo, minutes: range) -> int:
    """Return which minutes fire as a bit set: each wall-clock minute around them is placed by the policy."""
    schedule, policy = recurrence.spec, recurrence.policy
    minute_starred, hour_starred = schedule.stars[:2]
    by_stars = policy is not Policy.SKIP and (hour_starred or (minute_starred and policy is Policy.DEBIAN))
    follows = policy is Policy.KUBERNETES or by_stars
    bits = 0
    wall = datetime.fromtimestamp(minutes[0], zone).replace(tzinfo=None) - timedelta(hours=4)
    for _ in range(len(minutes) + 8 * 60):
        wall += timedelta(minutes=1)
        if not fires_on(schedule, wall):
            continue
        first, second = (int(wall.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
        if first <= second:
            runs = {first, second} if follows else {first}
        elif follows or policy is Policy.SKIP:
            runs = set()
        else:  # a gap: fold 0 counts with the offset before, and so lies after the gap
            runs = {first if policy is Policy.COMPATIBLE else gap_end(zone, second, first)}
        for run in runs & set(minutes):
            bits |= 1 << (run - minutes[0]) // 60
    return bits


def gap_end(zone: ZoneInfo, before: int, after: int) -> int:
    """Return the first instant with the offset of ``after``."""
    known = datetime.fromtimestamp(before, zone).utcoffset()
    return next(i for i in range(before, after + 1) if datetime.fromtimestamp(i, zone).utcoffset() != known)


def fires_on(schedule: CronSpec, wall: datetime) -> bool:
    """Say whether a schedule names a wall-clock minute."""
    if wall.minute not in schedule.values(MINUTE) or wall.hour not in schedule.values(HOUR):
        return False
    day = (wall.date() - date(1970, 1, 1)).days
    return bool(wall_days(schedule) >> day & 1)


@cache
def wall_days(schedule: CronSpec) -> int:
    """Return the days of a spec, made once."""
    return days_by_definition(schedule)


def test_every_pair_subset_and_meaning_with_clock_changes() -> None:
    """With a zone a subset is one on the wall clock and at each of the two changes; each dialect has its policy."""
    schedules = [spec(line, dialect) for dialect in SETS for line in CHANGE_LINES]
    windows = [
        [by_definition(Recurrence(s, CARACAS), CARACAS, starts_of_minutes(c)) for c in (FOLD, GAP)] for s in schedules
    ]
    only_with_zone = 0
    for (a, ours), (b, theirs) in product(zip(schedules, windows, strict=True), repeat=2):
        wall = is_subset(a, b)
        expected = wall and all(x & ~y == 0 for x, y in zip(ours, theirs, strict=True))
        assert is_subset(a, b, CARACAS) == expected, (a, b)
        back = is_subset(b, a) and all(y & ~x == 0 for x, y in zip(ours, theirs, strict=True))
        assert same_meaning(a, b, CARACAS) == (expected and back), (a, b)
        only_with_zone += wall and not expected
    assert only_with_zone > 80


CHANGES = [
    pytest.param("America/Caracas", FOLD, id="Caracas-fold"),
    pytest.param("America/Caracas", GAP, id="Caracas-gap"),
    pytest.param("America/New_York", at("2026-03-08T07:00"), id="New_York-gap"),
    pytest.param("Australia/Lord_Howe", at("2024-10-05T15:30"), id="Lord_Howe-gap"),
]
PAIRED = [
    (line, dialect, policy)
    for line in ("30 2 * * *", "0,30 2 * * *", "*/30 2 * * *", "15 2,3 * * *", "*/15 * * * *", "0-45/15 0-23 * * *")
    for dialect, policy in product(SETS, (Policy.COMPATIBLE, Policy.DEBIAN))
] + [("45 2 * * *", Dialect.MANUAL, Policy.SKIP), ("0 3 * * *", Dialect.UNIX, Policy.SKIP)]


@pytest.mark.parametrize(("zone", "change"), CHANGES)
def test_every_pair_around_a_clock_change(zone: str, change: int) -> None:
    """Collision and difference are the first common and the first lonely minute, under any two policies."""
    minutes = starts_of_minutes(change)
    start, end = minutes[0], minutes[-1]
    info = ZoneInfo(zone)
    recurrences = [Recurrence(spec(line, dialect), info, policy) for line, dialect, policy in PAIRED]
    known = [(r, by_definition(r, info, minutes) & ~1) for r in recurrences]
    for (a, ours), (b, theirs) in combinations(known, 2):
        both, alone = ours & theirs, ours ^ theirs
        names = (a.spec, a.policy, b.spec, b.policy)
        assert first_collision(a, b, start, end) == (start + 60 * lowest(both) if both else None), names
        found = first_difference(a, b, start, end)
        if not alone:
            assert found is None, names
            continue
        place = lowest(alone)
        rest = [bits >> place for bits in (ours, theirs)]
        expected = [start + 60 * (place + lowest(bits)) if bits else None for bits in rest]
        assert found == Difference(*expected), names


class TestCollisionAndDifference:
    """Ends, zones and refusals."""

    def test_the_start_is_excluded_and_the_end_included(self) -> None:
        """As in every interval of the library."""
        a, b, six = recur("0 6 * * *"), recur("0 6,7 * * *"), at("2026-11-25T06:00")
        assert first_collision(a, b, six - 1, six) == six
        assert first_collision(a, b, six, six + DAY - 1) is None
        assert first_collision(a, b, six, six + DAY) == six + DAY
        assert first_difference(a, b, six, six + 3599) is None
        assert first_difference(a, b, six, six + 3600) == Difference(None, six + 3600)
        assert first_difference(a, b, six + 3600, six + DAY) is None

    def test_two_zones(self) -> None:
        """Six in Tokyo is 21 UTC the day before."""
        tokyo, utc = recur("0 6 * * *", "Asia/Tokyo"), recur("0 21 * * *")
        start = at("2026-11-25T00:00")
        assert first_collision(tokyo, utc, start, LAST) == at("2026-11-25T21:00")
        assert first_difference(tokyo, utc, start, start + 400 * DAY) is None
        assert first_collision(tokyo, recur("0 6 * * *"), start, start + 400 * DAY) is None
        assert first_difference(tokyo, recur("0 6 * * *"), start, LAST) == Difference(
            at("2026-11-25T21:00"), at("2026-11-25T06:00")
        )

    def test_a_moved_run_collides(self) -> None:
        """02:30 and 03:30 never meet, but for the day on which the clocks skip the hour between."""
        a, b = recur("30 2 * * *", "America/New_York"), recur("30 3 * * *", "America/New_York")
        found = first_collision(a, b, at("2026-11-20T00:00"))
        assert found == at("2027-03-14T03:30-04:00")
        assert first_collision(a, b, found) == at("2028-03-12T03:30-04:00")
        assert first_collision(a, b, at("2026-11-20T00:00"), found - 1) is None

    def test_one_zone_under_two_names(self) -> None:
        """UTC by any name is compared right, if not as fast."""
        a, b = Recurrence(spec("0 6 * * 1"), UTC), Recurrence(spec("0 6 * * 1,2"), ZoneInfo("Etc/UTC"))
        assert first_difference(a, b, START, LAST) == Difference(at("2026-11-30T06:00"), at("2026-11-24T06:00"))
        assert first_collision(a, b, START, LAST) == at("2026-11-23T06:00")

    def test_what_never_runs(self) -> None:
        """It is a subset of all and collides with nothing; a difference has no answers to compare."""
        never, daily = spec("0 0 31 2 *"), spec("0 0 * * *")
        assert is_subset(never, daily)
        assert not is_subset(daily, never)
        assert same_meaning(never, unix("5 5 30 2 *"))
        assert is_subset(never, daily, "America/New_York")
        assert first_collision(Recurrence(never), Recurrence(daily), START) is None
        with pytest.raises(NeverRuns):
            first_difference(Recurrence(never), Recurrence(daily), START)
        with pytest.raises(ScheddHangs):
            first_difference(Recurrence(daily), recur("0 0 31 2 *", dialect=Dialect.HTCONDOR), START, LAST)

    def test_the_schedd_has_no_sets(self) -> None:
        """HTCONDOR can be compared answer by answer only."""
        schedd = recur("0 6 * * *", dialect=Dialect.HTCONDOR)
        calls: list[Callable[[], object]] = [
            lambda: same_meaning(schedd.spec, spec("0 6 * * *")),
            lambda: is_subset(spec("0 6 * * *"), schedd.spec),
            lambda: is_subset(schedd.spec, schedd.spec, "Asia/Tokyo"),
            lambda: first_collision(recur("0 6 * * *"), schedd, START),
        ]
        for call in calls:
            with pytest.raises(NotASet):
                call()

    @pytest.mark.parametrize("start", [-1, -DAY, LAST])
    def test_other_centuries_are_out_of_range(self, start: int) -> None:
        """Both refuse a start outside 1970 to 2200, and neither passes over runs in silence."""
        a, b = recur("* * * * *"), recur("0 * * * *")
        with pytest.raises(OutOfRange):
            first_difference(a, b, start)
        with pytest.raises(OutOfRange):
            first_collision(a, b, start)

    def test_at_the_end_of_the_years(self) -> None:
        """The last hour of 2200 is compared; what lies later is not."""
        a, b = recur("0 * * * *"), recur("0 0-22 * * *")
        assert first_difference(a, b, LAST - 3 * 3600) == Difference(LAST - 3600, None)
        assert first_difference(a, b, LAST - 3600) is None
        assert first_collision(a, b, LAST - 3 * 3600) == LAST - 2 * 3600
        assert first_collision(a, b, LAST - 2 * 3600) is None


class TestSchedd:
    """The readings of one text."""

    def test_the_step_phase(self) -> None:
        """The manual begins at 1, the schedd at 3."""
        text = "1-10/3 6 * * *"
        found = first_difference(recur(text), recur(text, dialect=Dialect.HTCONDOR), at("2026-11-25T00:00"), LAST)
        assert found == Difference(at("2026-11-25T06:01"), at("2026-11-25T06:03"))
        assert found.instant == at("2026-11-25T06:01")

    def test_day_zero(self) -> None:
        """After the last Monday the schedd takes the last day of the month, and then retries."""
        a, b = recur("0 6 * * 1"), recur("0 6 * * 1", dialect=Dialect.HTCONDOR)
        assert first_difference(a, b, at("2026-10-21T12:00"), LAST) == Difference(
            at("2026-11-02T06:00"), at("2026-10-31T06:00")
        )
        # The last Monday of November is its last day: the retries are what differs.
        assert first_difference(a, b, at("2026-11-25T12:00"), LAST) == Difference(
            at("2026-12-07T06:00"), at("2026-11-30T06:02")
        )
        assert first_difference(a, b, at("2026-10-21T12:00"), at("2026-10-31T05:59")) is None

    def test_an_end_before_the_schedd_answers(self) -> None:
        """Where one chain has ended, the difference has one answer."""
        a, b = recur("0 6 * * 1"), recur("0 6 * * 1", dialect=Dialect.HTCONDOR)
        assert first_difference(a, b, at("2026-10-27T00:00"), at("2026-10-31T12:00")) == Difference(
            None, at("2026-10-31T06:00")
        )

    def test_two_schedds_are_compared_as_well(self) -> None:
        """Chains with retries in both."""
        a, b = (recur(f"0 6 * * {days}", dialect=Dialect.HTCONDOR) for days in ("1", "1,2"))
        found = first_difference(a, b, at("2026-11-18T00:00"), LAST)
        assert found == Difference(at("2026-11-30T06:00"), at("2026-11-24T06:00"))


# --- Portable spelling and translation -------------------------------------------------------------------------------

EXAMPLES = [
    ("1-10/3 6 * * *", "1,4,7,10 6 * * *"),
    ("0 6 */2 * *", "0 6 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * *"),
    ("0 6 * * */2", "0 6 * * 0,2,4,6"),
    ("0 6 * * 1-7/2", "0 6 * * 0,1,3,5"),
    ("0 6 * * *,1", "0 6 * * *"),
    ("0 6 1-31 * 1", "0 6 * * *"),
    ("0 6 3 * 0-6", "0 6 * * *"),
    ("0 6 1 */3 *", "0 6 1 1,4,7,10 *"),
    ("*/20 */6 * * 1-5", "*/20 */6 * * 1-5"),
    ("10-30/5 8-18/2 1,15 1-6 1-5", "10-30/5 8-18/2 1,15 1-6 1-5"),
]


class TestPortable:
    """The spelling that all three dialects read alike."""

    @pytest.mark.parametrize(("line", "written"), EXAMPLES)
    def test_examples(self, line: str, written: str) -> None:
        """Lists for what is read otherwise; what is read alike stays as it was written."""
        found = portable(spec(line))
        assert " ".join(text or "*" for text in found.given) == written
        assert same_meaning(found, spec(line))
        assert field_differences(found) == []
        assert portable(found).given == found.given

    def test_unix_items_become_lists(self) -> None:
        """Names and open steps are UNIX only."""
        found = portable(unix("5/15 6 * JAN-MAR MON-FRI"))
        assert found.dialect is Dialect.MANUAL
        assert [found.given[f.index] for f in (MINUTE, MONTH, DAY_OF_WEEK)] == ["5,20,35,50", "1-3", "1-5"]

    @pytest.mark.parametrize("line", ["0 6 */2 * 1", "0 0 29 2 */7", "0 0 1-7 * */7", "0 0 */10 * 1-5"])
    def test_both_day_fields_at_once_have_no_portable_spelling(self, line: str) -> None:
        """Only UNIX can say AND."""
        with pytest.raises(Untranslatable, match="both day fields at once"):
            portable(unix(line))

    @pytest.mark.parametrize(
        "line", ["0 0 */2 * 0-6", "0 0 1-31 * */2", "0 0 */2 * 0-7", "0 0 1-31 2 */3", "0 0 */1 * 1-3", "0 0 */2 * */1"]
    )
    def test_a_full_day_field_beside_a_starred_one(self, line: str) -> None:
        """With AND a full list restricts nothing; in MANUAL it would, by OR, take every day."""
        assert same_meaning(portable(unix(line)), unix(line))

    def test_the_differences_name_both_readings(self) -> None:
        """A table for people: sets, reason, remedy."""
        minute, weekday = field_differences(spec("1-10/3 6 * * */2"))
        assert (minute.field, minute.text, minute.manual, minute.schedd) == (MINUTE, "1-10/3", (1, 4, 7, 10), (3, 6, 9))
        assert "multiples of the step" in minute.why
        assert minute.portable == "1,4,7,10"
        assert (weekday.field, weekday.manual, weekday.schedd) == (DAY_OF_WEEK, (0, 2, 4, 6), tuple(range(7)))
        assert "nothing is left" in weekday.why
        (held,) = field_differences(spec("1-2/3 6 * * *"))
        assert held.schedd is None
        assert "holds the job" in held.why

    def test_all_pieces_of_one_field(self) -> None:
        """Each line has a portable spelling with the same days, read alike by all."""
        pieces = ["*", "*/2", "1", "1-31", "1-7/2", "2-6/2", "0-6", "1-6/5", "*/1"]
        texts = [",".join(chosen) for n in (1, 2) for chosen in product(pieces, repeat=n)]
        tried = 0
        for day, weekday in product(texts[: len(pieces)], some(texts, 30)):
            for line in {f"0 0 {day} * {weekday}", f"0 0 {weekday} * {day}"}:
                try:
                    given = spec(line)
                except InvalidSpec:
                    continue
                tried += 1
                found = portable(given)
                assert field_differences(found) == [], line
                assert same_meaning(found, given), line
                assert same_meaning(reread(found, Dialect.UNIX), given), line
                if not has_day_zero(found):
                    assert same_meaning(translate(reread(found, Dialect.HTCONDOR), Dialect.MANUAL), given), line
        assert tried > 200


FORM = re.compile(r'formatTime\(DeferralTime, "([^"]*)"\) == "([^"]*)"')
MEMBER = re.compile(r'stringListMember\(formatTime\(DeferralTime, "([^"]*)"\), "([^"]*)", ","\)')


def passes(clause: str, deferral_time: int) -> bool:
    """Evaluate a day-0 clause as an execute host in UTC does."""
    moment = datetime.fromtimestamp(deferral_time, UTC)
    for term in clause.split(" && "):
        equal, member = FORM.fullmatch(term), MEMBER.fullmatch(term)
        if equal:
            if moment.strftime(equal[1]) != equal[2]:
                return False
        else:
            assert member, term
            if moment.strftime(member[1]) not in member[2].split(","):
                return False
    return True


CLAUSE_LINES = [
    "0 6 * * 1",
    "0 6 * * 1,3",
    "30 4 * * 0",
    "0 6 1-31 * 5",
    "0,30 6-8 * * 1-5",
    "*/5 6 * * 2",
    "*/20 * * * 1-3",
    "15 */6 * * 0,6",
    "0 6 * 12 1",
    "0 6 * 1,11,12 4",
    "* 6 * * 1",
    "0 0 * * 0-5",
]


class TestDayZero:
    """The defect's clause, against what the schedd sets."""

    @pytest.mark.parametrize("line", [line for line in CLAUSE_LINES if "1-31" not in line])
    def test_of_the_chain_exactly_the_runs_of_the_manual_pass(self, line: str) -> None:
        """Over 60 days and two ends of a month; the right ones all pass where a retry has not gone past them."""
        given = spec(line)
        assert has_day_zero(given)
        clause = day_zero_clause(given)
        start, end = at("2026-11-18T12:00"), at("2027-01-17T12:00")
        wanted = set(Recurrence(given).between(start, end))
        chain = [a for a in recur(line, dialect=Dialect.HTCONDOR).between(start, end) if isinstance(a, ScheddAnswer)]
        assert any(answer.is_retry for answer in chain)
        passed = {int(answer) for answer in chain if passes(clause, answer)}
        assert passed <= wanted
        # Each answer that is wanted passes: what the clause holds back are wrong times only.
        assert passed == wanted & set(chain)
        missing = sorted(wanted - passed)
        last_days = {date(2026, 11, 30), date(2026, 12, 31)}
        assert all(datetime.fromtimestamp(time, UTC).date() in last_days for time in missing)

    def test_the_example_of_the_manual_pages(self) -> None:
        """Mondays at six: many wrong times are set in 60 days, and all Mondays pass."""
        clause = day_zero_clause(spec("0 6 * * 1"))
        assert clause == 'formatTime(DeferralTime, "%w %H:%M") == "1 06:00"'
        start, end = at("2026-10-01T00:00"), at("2026-11-30T00:00")
        chain = list(recur("0 6 * * 1", dialect=Dialect.HTCONDOR).between(start, end))
        wanted = list(recur("0 6 * * 1").between(start, end))
        assert len(chain) > 500
        assert [time for time in chain if passes(clause, time)] == wanted
        assert len(wanted) == 8

    @pytest.mark.parametrize("line", ["0 6 * * *", "0 6 * * 0-6", "0 6 1 * 1", "0 6 1 * *", "0 6 1-30 * 1"])
    def test_it_strikes_weekdays_alone(self, line: str) -> None:
        """Neither all weekdays nor a day of month beside them."""
        assert not has_day_zero(spec(line))
        start = at("2026-11-18T12:00")
        assert first_difference(recur(line), recur(line, dialect=Dialect.HTCONDOR), start, start + 90 * DAY) is None


class TestTranslate:
    """From dialect to dialect, with the same wall-clock instants or a reason."""

    def test_every_small_schedule_there_and_back(self) -> None:
        """MANUAL to UNIX and UNIX to MANUAL keep the instants; what cannot be said is refused for its reason."""
        refused: dict[CronSpec, str] = {}
        for member in members():
            there = Dialect.UNIX if member.spec.dialect is Dialect.MANUAL else Dialect.MANUAL
            try:
                found = translate(member.spec, there)
            except Untranslatable as error:
                refused[member.spec] = str(error)
                continue
            assert found.dialect is there
            assert same_meaning(found, member.spec), member.spec
            assert same_meaning(translate(found, member.spec.dialect), member.spec), member.spec
        assert all("both day fields at once" in reason for reason in refused.values())
        assert {s.dialect for s in refused} == {Dialect.UNIX}
        assert {" ".join(text or "" for text in s.given[2:]) for s in refused} == {"1-7 * */7", "*/2 * 1", "29 2 */7"}

    @pytest.mark.parametrize(
        "line",
        [
            "1-10/3 6 * * *",
            "60 6 * * *",
            "5-100 6 * * *",
            "1.5 6 * * *",
            "1,,2 6 * * *",
            "** 6 1-31 */3 *",
            "0 6 */2 * *",
            "0 6 1,15 * */2",
            "0 6 1,15 * *,1",
            "0 6 13 * 5",
            "0 6 13 * 0-6",
            "0 6 * * 6-2",
            "0 6 * * 0-6",
            "0 6 32 * 1-5,0,6",
            "0 6 29 2 7",
        ],
    )
    def test_the_schedd_s_schedule_in_the_words_of_the_manual(self, line: str) -> None:
        """Two years of the schedd's answers in UTC are the runs of the translation."""
        given = spec(line, Dialect.HTCONDOR)
        start = at("2026-11-18T12:00")
        chain = list(islice(Recurrence(given).upcoming(start), 2000))
        for dialect in SETS:
            found = translate(given, dialect)
            assert found.dialect is dialect
            assert list(islice(Recurrence(found).upcoming(start), 2000)) == chain

    def test_each_small_text_as_the_schedd_reads_it(self) -> None:
        """Of all pairs of day fields the schedd's chain is the translation's, wherever there is one."""
        days = ["*", "*/2", "1-31", "1", "31", "5-100", "40", "1-7/2", "31-5,2"]
        weekdays = ["*", "*/2", "0-6", "1", "*,1", "6-2", "1-7/2", "1,,3", "9"]
        start, translated = at("2026-11-18T12:00"), 0
        for day, weekday in product(days, weekdays):
            given = spec(f"5-100/30 0 {day} * {weekday}", Dialect.HTCONDOR)
            if has_day_zero(given):
                with pytest.raises(Untranslatable, match="day-0 defect"):
                    translate(given, Dialect.MANUAL)
                continue
            translated += 1
            found = Recurrence(translate(given, Dialect.MANUAL))
            assert list(islice(found.upcoming(start), 150)) == list(islice(Recurrence(given).upcoming(start), 150))
        assert translated > 50

    @pytest.mark.parametrize("line", ["1-10/3 6 */2 * *", "0 6 1,15 * */2", "*/20 */6 * */3 *", "0 6 1-31 * 0-6"])
    @pytest.mark.parametrize("source", SETS)
    def test_to_the_schedd(self, line: str, source: Dialect) -> None:
        """The schedd's chain of the translation is the schedule."""
        given = spec(line, source)
        with suppress(Untranslatable):
            found = translate(given, Dialect.HTCONDOR)
            assert found.dialect is Dialect.HTCONDOR
            start = at("2026-11-18T12:00")
            assert first_difference(Recurrence(given), Recurrence(found), start, start + 400 * DAY) is None
            return
        assert (line, source) == ("0 6 1,15 * */2", Dialect.UNIX)

    def test_reasons(self) -> None:
        """Each refusal says why, and what to do instead."""
        with pytest.raises(Untranslatable, match="day-0 defect") as caught:
            translate(spec("0 6 * * 1"), Dialect.HTCONDOR)
        assert caught.value.diagnostics[0].kind == "day-zero"
        assert 'formatTime(DeferralTime, "%w %H:%M") == "1 06:00"' in str(caught.value.diagnostics[0].help)
        with pytest.raises(Untranslatable, match="not a set of instants") as caught:
            translate(spec("0 6 * * 1", Dialect.HTCONDOR), Dialect.UNIX)
        assert caught.value.diagnostics[0].help
        with pytest.raises(Untranslatable, match="only the UNIX dialect") as caught:
            translate(unix("0 6 */2 * 1"), Dialect.HTCONDOR)
        assert caught.value.diagnostics[0].kind == "untranslatable"

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_to_its_own_dialect_it_is_itself(self, dialect: Dialect) -> None:
        """Even where no other dialect could say it."""
        given = spec("0 6 * * 1", dialect)
        assert translate(given, dialect) is given


def test_merging_schedules_is_merging_their_iterators() -> None:
    """Several schedules at once are no new spec: heapq.merge keeps the order, and tells whose run it is."""
    schedules = {"nightly": recur("30 2 * * *"), "hourly": recur("30 * * * *"), "weekly": recur("0 6 * * 1")}
    start, end = at("2026-11-22T12:00"), at("2026-11-29T12:00")

    def named(name: str, recurrence: Recurrence) -> Iterator[tuple[int, str]]:
        return ((time, name) for time in recurrence.between(start, end))

    merged = list(heapq.merge(*(named(name, recurrence) for name, recurrence in schedules.items())))
    assert merged == sorted(merged)
    assert len(merged) == sum(recurrence.count(start, end) for recurrence in schedules.values()) == 7 + 7 * 24 + 1
    night = at("2026-11-23T02:30")
    assert [name for time, name in merged if time == night] == ["hourly", "nightly"]
    assert first_collision(schedules["nightly"], schedules["hourly"], start) == night
