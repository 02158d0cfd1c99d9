"""Recurrences of random schedules, against a definition on the wall clock, against each other, against peers."""

import time
import zoneinfo
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice, pairwise, takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given
from hypothesis import strategies as st

from crondor.recurrence import NeverRuns, OutOfRange, Policy, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, CronSpec, Dialect, Field
from tests.engine.clock_oracle import DAY, ZONES, changes, runs
from tests.engine.random_schedules import specs
from tests.examples import examples

UTC = timezone.utc
SLOWEST = 60.0  # seconds of the processor; it takes a fraction of one


def test_the_zones_exist() -> None:
    """Twenty-six zones, each of the database."""
    assert len(ZONES) == 26
    assert set(ZONES) <= zoneinfo.available_timezones()


class Near(NamedTuple):
    """A zone and an interval beside one of its changes."""

    zone: ZoneInfo
    low: int
    high: int


@st.composite
def intervals(draw: st.DrawFn) -> Near:
    """Return an interval of up to two days that begins within a day of a clock change."""
    zone = draw(st.sampled_from(ZONES))
    instants = [change.instant for change in changes(zone)] or [366 * DAY]
    low = draw(st.sampled_from(instants)) + draw(st.integers(-DAY, 7200))
    return Near(ZoneInfo(zone), low, low + draw(st.integers(1, 2 * DAY)))


@examples(15)
@given(spec=specs(), near=intervals(), policy=st.sampled_from(Policy))
def test_around_clock_changes_the_definition_holds(spec: CronSpec, near: Near, policy: Policy) -> None:
    """All questions agree with a definition that looks at every minute of the wall clock."""
    zone, low, high = near
    expected = list(runs(spec, zone.key, policy, low, high))
    recurrence = Recurrence(spec, zone, policy)
    try:
        recurrence.next(low)
    except NeverRuns:
        assert expected == []
        return
    assert list(recurrence.between(low, high)) == expected
    assert recurrence.count(low, high) == len(expected)
    forth, at = [], low
    while (at := recurrence.next(at)) <= high:
        forth.append(at)
    assert forth == expected
    back, at = [], high + 1
    with suppress(OutOfRange):  # before the first run since 1970
        while (at := recurrence.previous(at)) > low:
            back.append(at)
    assert back[::-1] == expected


@examples(20)
@given(spec=specs(), near=intervals(), policy=st.sampled_from(Policy))
def test_datetimes_equal_epochs(spec: CronSpec, near: Near, policy: Policy) -> None:
    """Asked with datetimes, fractions of a second and all, the answers name the same instants."""
    zone, low, high = near
    recurrence = Recurrence(spec, zone, policy)
    start, end = (datetime.fromtimestamp(instant, zone) for instant in (low, high))
    try:
        epochs = list(recurrence.between(low, high))
    except NeverRuns:
        return
    moments = list(recurrence.between(start, end.replace(microsecond=999_999)))
    assert [moment.timestamp() for moment in moments] == epochs
    assert [moment.utcoffset() for moment in moments] == [
        datetime.fromtimestamp(epoch, zone).utcoffset() for epoch in epochs
    ]
    assert recurrence.next(start).timestamp() == recurrence.next(low)
    assert recurrence.next(start.replace(microsecond=999_999)).timestamp() == recurrence.next(low)
    assert recurrence.count(start, end) == len(epochs)
    with suppress(OutOfRange):  # before the first run since 1970
        assert recurrence.previous(start.replace(microsecond=1)).timestamp() == recurrence.previous(low + 1)
        assert recurrence.previous(start).timestamp() == recurrence.previous(low)


SOME_TIME = st.integers(40 * 366 * DAY, 130 * 365 * DAY)
SOME_ZONE = st.sampled_from(["UTC", *ZONES])


@examples(15)
@given(spec=specs(), zone=SOME_ZONE, policy=st.sampled_from(Policy), start=SOME_TIME)
def test_next_and_previous_are_inverse(spec: CronSpec, zone: str, policy: Policy, start: int) -> None:
    """Before the next run of a run lies that run, and nothing lies between."""
    recurrence = Recurrence(spec, zone, policy)
    try:
        first = recurrence.next(start)
    except NeverRuns:
        return
    second = recurrence.next(first)
    assert start < first < second
    assert recurrence.previous(second) == first
    assert recurrence.previous(first + 1) == first
    assert recurrence.previous(first) <= start
    assert recurrence.next(recurrence.previous(first)) == first
    assert recurrence.matches(first)
    assert not recurrence.matches((first + second) // 2)


@examples(15)
@given(
    spec=specs(), zone=SOME_ZONE, policy=st.sampled_from(Policy), start=SOME_TIME, length=st.integers(0, 3 * 366 * DAY)
)
def test_count_equals_enumeration(spec: CronSpec, zone: str, policy: Policy, start: int, length: int) -> None:
    """Counting over months and years, clock changes among them, finds what upcoming yields."""
    recurrence = Recurrence(spec, zone, policy)
    try:
        epochs = recurrence.upcoming(start)
    except NeverRuns:
        assert recurrence.count(start, start + length) == 0
        return
    end = start + length
    some = list(islice(takewhile(lambda found: found <= end, epochs), 20_000))
    end = some[-1] if len(some) == 20_000 else end
    assert recurrence.count(start, end) == len(some)


@examples(15)
@given(spec=specs(list(Dialect)), zone=SOME_ZONE, start=SOME_TIME, length=st.integers(-DAY, 40 * DAY))
def test_between_filters_upcoming(spec: CronSpec, zone: str, start: int, length: int) -> None:
    """Between is upcoming up to an end, in every dialect."""
    recurrence = Recurrence(spec, zone)
    end = start + length
    try:
        expected = list(takewhile(lambda found: found <= end, recurrence.upcoming(start)))
    except NeverRuns:
        with pytest.raises(NeverRuns):
            recurrence.between(start, end)
        return
    assert list(recurrence.between(start, end)) == expected
    assert expected == sorted(set(expected))


@pytest.mark.parametrize("name", ZONES)
def test_time_never_runs_backwards(name: str) -> None:
    """Through every change of a zone since 1970 each answer is later than its question, and upcoming increases."""
    zone = ZoneInfo(name)
    lines = ["30 1-3 * * *", "*/20 * * * *", "0,1 */2 * * *", "15 0,23 * * *"]
    recurrences = [Recurrence(CronSpec.from_line(line), zone, policy) for line in lines for policy in Policy]
    for change in changes(name):
        for recurrence in recurrences:
            coming = list(islice(recurrence.upcoming(change.instant - 4 * 3600), 12))
            assert all(a < b for a, b in pairwise(coming))
            for start in range(change.instant - 7200, change.instant + 7201, 1800):
                answer = recurrence.next(start)
                assert answer > start
                assert recurrence.previous(answer) <= start


class PeerTexts(NamedTuple):
    """The fields of a schedule that a peer reads as UNIX does."""

    minute: str
    hour: str
    day_of_month: str
    month: str
    day_of_week: str


def _peer_items(field: Field) -> st.SearchStrategy[str]:
    high = 6 if field is DAY_OF_WEEK else field.high
    value = st.integers(field.low, high)
    # Not `5-5`: croniter takes the whole field. Not `10-5`: croniter wraps around.
    ends = st.tuples(st.integers(field.low, high - 1), value).filter(lambda pair: pair[0] < pair[1])
    ranges = ends.map(lambda pair: f"{pair[0]}-{pair[1]}")
    # Not steps longer than their range: some versions of croniter refuse them.
    stepped = ends.flatmap(lambda pair: st.integers(1, pair[1] - pair[0]).map(lambda n: f"{pair[0]}-{pair[1]}/{n}"))
    return st.one_of(value.map(str), ranges, stepped)


@st.composite
def peer_texts(draw: st.DrawFn) -> PeerTexts:
    """Return fields without what a peer is known to read otherwise."""

    def text(field: Field) -> str:
        listed = st.lists(_peer_items(field), min_size=1, max_size=3).map(",".join)
        # Not a list that contains a star: what begins with `*` is starred, and the peers disagree on the rest.
        choices = [st.just("*"), listed]
        if field not in {DAY_OF_MONTH, DAY_OF_WEEK}:
            # Star steps of the day fields: AND in UNIX and cronsim, OR in croniter.
            choices.append(st.integers(1, field.high).map(lambda n: f"*/{n}"))
        return draw(st.one_of(choices))

    return PeerTexts(*(text(field) for field in FIELDS))


def ours(line: str, start: int, number: int) -> list[int]:
    """Return our answers for a line of the UNIX dialect, in UTC: at a clock change no peer is an oracle."""
    return list(islice(Recurrence(CronSpec.from_line(line, dialect=Dialect.UNIX)).upcoming(start), number))


@examples(20)
@given(fields=peer_texts(), start=st.integers(0, 60 * 366 * DAY))
def test_agreement_with_croniter(fields: PeerTexts, start: int) -> None:
    """Where croniter is an oracle its next three answers are ours."""
    line = " ".join(fields)
    try:
        expected = ours(line, start, 3)
    except NeverRuns:
        assume(False)  # croniter searches 50 years and raises
    peer = croniter(line, float(start), ret_type=float)
    assert [int(peer.get_next()) for _ in expected] == expected


@examples(20)
@given(
    fields=peer_texts(),
    day_star=st.none() | st.tuples(st.sampled_from([2, 4]), st.integers(1, 6)),
    start=st.integers(0, 60 * 366 * DAY),
)
def test_agreement_with_cronsim(fields: PeerTexts, day_star: tuple[int, int] | None, start: int) -> None:
    """Cronsim knows the star steps of the day fields as well: AND, as Debian's cron has it."""
    texts_ = list(fields)
    if day_star is not None:
        texts_[day_star[0]] = f"*/{day_star[1]}"
    line = " ".join(texts_)
    try:
        expected = ours(line, start, 3)
    except NeverRuns:
        assume(False)  # cronsim refuses such a line when it reads it
    peer = CronSim(line, datetime.fromtimestamp(start, UTC))
    assert [int(next(peer).timestamp()) for _ in expected] == expected


@examples(15)
@given(
    spec=specs(list(Dialect)),
    zone=SOME_ZONE,
    policy=st.none() | st.sampled_from(Policy),
    start=st.integers(0, 7289654399),
)
def test_any_schedule_answers_at_once(spec: CronSpec, zone: str, policy: Policy | None, start: int) -> None:
    """From 1970 to 2200 and in every dialect the next run, or that there is none, is known within a moment."""
    recurrence = Recurrence(spec, zone, policy)
    begin = time.process_time()
    with suppress(NeverRuns):
        assert recurrence.next(start) > start
    assert time.process_time() - begin < SLOWEST


@pytest.mark.parametrize("line", ["0 0 29 2 */7", "30 2 29 2 */7", "0 0 29 */2 */7", "0 0 30 12 *", "59 23 29 2 *"])
@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Apia", "America/New_York"])
def test_the_rarest_schedules_answer_at_once(line: str, policy: Policy, zone: str) -> None:
    """Decades may lie between two runs, and centuries of them are soon enumerated."""
    recurrence = Recurrence(CronSpec.from_line(line, dialect=Dialect.UNIX), zone, policy)
    begin = time.process_time()
    at, found = 0, 0
    while (at := recurrence.next(at)) < 7_000_000_000:
        found += 1
    assert time.process_time() - begin < SLOWEST
    assert found == recurrence.count(0, 7_000_000_000) >= 4
