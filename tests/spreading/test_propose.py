"""What is proposed: never worse, never another number of runs, and nothing the second time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.recurrence import Policy
from crondor.schedule import JobSchedule
from crondor.spec import HOUR, CronSpec, Dialect
from crondor.spreading import (
    Cycle,
    Load,
    Spreading,
    SpreadJob,
    SpreadTime,
    cycle_of,
    may_move,
    own_offset,
    propose,
    use_of,
    with_minutes,
)
from crondor.times import JobTimes
from tests.examples import examples

BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"  # its clock changes by half an hour


def dates(zone: str, first: tuple[int, int, int], last: tuple[int, int, int], run_time: int = 0) -> SpreadTime:
    """Return the whole dates from one to another (excluded)."""
    start, end = (int(datetime(*day, tzinfo=ZoneInfo(zone)).timestamp()) for day in (first, last))
    return SpreadTime(start, end, run_time)


WEEK = dates(BERLIN, (2026, 11, 23), (2026, 11, 30))


def job(name: str, line: str, count: int = 1, *, zone: str = BERLIN, window: int = 0, fixed: str = "") -> SpreadJob:
    """Return a job with a place of its own."""
    schedule = JobSchedule(CronSpec.from_line(line), window=window, zone=zone)
    return SpreadJob(name, schedule, name, count, fixed)


def followed(jobs: list[SpreadJob], found: Spreading) -> list[SpreadJob]:
    """Return the jobs with the minutes that were proposed."""
    after = list(jobs)
    for move in found.moves:
        for number in move.jobs:
            old = jobs[number]
            assert old.schedule.spec is not None
            spec = with_minutes(old.schedule.spec, move.after)
            schedule = JobSchedule(spec, window=old.schedule.window, zone=old.schedule.zone)
            after[number] = SpreadJob(old.name, schedule, old.place, old.count, old.fixed)
    return after


def brute(jobs: list[SpreadJob], time: SpreadTime) -> tuple[int, int]:
    """Count, minute by minute and with no sum kept, the most starts and the most slots held."""
    starts: Counter[int] = Counter()
    held: Counter[int] = Counter()
    for each in jobs:
        recurrence = each.schedule.recurrence
        assert recurrence is not None
        taken: set[int] = set()
        for run in recurrence.between(time.start - 1, time.end - 1):
            starts[(run - time.start) // 60] += each.count
            deferral = each.schedule.deferral(run, time.start)
            last = max(deferral.last_start, run + time.run_time)
            taken |= set(range((deferral.match_opens - time.start) // 60, (last - time.start) // 60 + 1))
        held.update(dict.fromkeys((m for m in taken if 0 <= m < time.size), each.count))
    return max(starts.values(), default=0), max(held.values(), default=0)


def minutes_text() -> st.SearchStrategy[str]:
    """Return single minutes, steps, lists, and what stays where it is."""
    return st.one_of(
        st.integers(0, 59).map(str),
        st.sampled_from(["0", "0", "30", "*/15", "*/20", "*/30", "0,30", "5,35", "*/7", "1,2", "*"]),
    )


LINES = st.builds(
    "{} {} * * {}".format,
    minutes_text(),
    st.sampled_from(["*", "2", "2", "3", "0", "23", "1-4", "*/6"]),
    st.sampled_from(["*", "*", "1-5", "0"]),
)
JOBS = st.lists(st.tuples(LINES, st.integers(1, 3), st.sampled_from([0, 0, 120, 1800])), min_size=1, max_size=9)
TIMES = st.sampled_from(
    [
        (BERLIN, WEEK),
        (BERLIN, dates(BERLIN, (2026, 10, 24), (2026, 10, 27))),
        (BERLIN, dates(BERLIN, (2026, 3, 28), (2026, 3, 31), 900)),
        (LORD_HOWE, dates(LORD_HOWE, (2026, 4, 4), (2026, 4, 7))),
        (LORD_HOWE, dates(LORD_HOWE, (2026, 10, 3), (2026, 10, 6))),
    ]
)


@given(JOBS, TIMES)
@examples(15)
def test_laws(lines: list[tuple[str, int, int]], where: tuple[str, SpreadTime]) -> None:
    """Runs on each date and distances stay, no peak rises, the load is counted right, and a second time is idle."""
    zone, time = where
    jobs = [job(f"{n}.sub", line, count, zone=zone, window=window) for n, (line, count, window) in enumerate(lines)]
    found = propose(jobs, time)
    after = followed(jobs, found)
    assert (found.before.most_starts, found.before.most_held) == brute(jobs, time)
    for one, other in pairs_held(jobs, after, found, time):
        assert one.bits[1:] == other.bits[1:]
        spaced, kept = cycle_of(one), cycle_of(other)
        assert (spaced is None and one == other) or (spaced is not None and kept is not None)
        assert spaced is None or kept is None or spaced.step == kept.step
    assert propose(jobs, time).moves == found.moves
    assert propose(after, time).moves == ()


def pairs_held(
    jobs: list[SpreadJob], after: list[SpreadJob], found: Spreading, time: SpreadTime
) -> Iterator[tuple[CronSpec, CronSpec]]:
    """Hold that the load is right, no peak rises and no run changes its date; yield each spec and its new one."""
    assert (found.after.most_starts, found.after.most_held) == brute(after, time)
    assert found.after.most_starts <= found.before.most_starts
    assert found.after.most_held <= found.before.most_held
    for old, new in zip(jobs, after, strict=True):
        assert per_date(old, time) == per_date(new, time)
        assert old.schedule.spec is not None
        assert new.schedule.spec is not None
        yield old.schedule.spec, new.schedule.spec


def per_date(each: SpreadJob, time: SpreadTime) -> Counter[object]:
    """Count the runs of a job on each local date."""
    recurrence = each.schedule.recurrence
    assert recurrence is not None
    zone = ZoneInfo(str(each.schedule.zone))
    return Counter(datetime.fromtimestamp(r, zone).date() for r in recurrence.between(time.start - 1, time.end - 1))


def test_jobs_of_one_minute_part() -> None:
    """Twelve at two o'clock: no two of them start together, and fewer hold a slot at once."""
    found = propose([job(f"{n}.sub", "0 2 * * *") for n in range(12)], WEEK)
    assert (found.before.most_starts, found.before.most_held) == (12, 12)
    assert found.after.most_starts == 1
    assert found.after.most_held <= 3  # 12 x 11 minutes, in the hour and the ten minutes before


def test_jobs_that_do_not_meet_stay() -> None:
    """Nobody moves for a better minute where there is nothing to better."""
    assert propose([job("a.sub", "0 2 * * *"), job("b.sub", "0 4 * * *")], WEEK).moves == ()
    assert propose([job("a.sub", "0 2 * * *", 5)], WEEK).moves == ()


@given(JOBS, TIMES, st.integers(1, 3))
@examples(10)
def test_laws_of_hours(lines: list[tuple[str, int, int]], where: tuple[str, SpreadTime], most: int) -> None:
    """Runs on each date stay, no peak rises, the load is counted right, and no hour moves further than it may."""
    zone, time = where
    jobs = [
        replace(job(f"{n}.sub", line, count, zone=zone, window=window), hours=most)
        for n, (line, count, window) in enumerate(lines)
    ]
    found = propose(jobs, time)
    after = followed(jobs, found)
    for one, other in pairs_held(jobs, after, found, time):
        assert one.bits[2:] == other.bits[2:]
        moved = {there - here for here, there in zip(one.values(HOUR), other.values(HOUR), strict=True)}
        assert len(moved) == 1
        assert abs(moved.pop()) <= most
        assert one.stars[1:] == other.stars[1:]


def test_hours_move_only_where_the_own_ones_are_full() -> None:
    """Six that hold a slot for half an hour and more: the others go next door, and not without leave."""
    time = dates(BERLIN, (2026, 11, 23), (2026, 11, 24), 1500)
    jobs = [job(f"{n}.sub", "*/30 2 * * *") for n in range(6)]
    near = propose(jobs, time)
    assert all(not move.after.later for move in near.moves)
    far = propose([replace(each, hours=2) for each in jobs], time)
    assert far.after.most_held < near.after.most_held
    assert {move.hours for move in far.moves} <= {("2", "2"), ("2", "1"), ("2", "3"), ("2", "0"), ("2", "4")}
    assert any(move.after.later for move in far.moves)


@pytest.mark.parametrize(
    ("line", "most", "found"),
    [
        ("0 2 * * *", 3, (2, 3)),
        ("0 0,23 * * *", 3, (0, 0)),
        ("0 1-4 * * *", 9, (1, 9)),
        ("0 * * * *", 3, (0, 0)),
        ("0 0-23 * * *", 3, (0, 0)),
        ("0 */6 * * *", 3, (0, 0)),
    ],
)
def test_hours_keep_their_date(line: str, most: int, found: tuple[int, int]) -> None:
    """None goes over midnight; those that follow real time stay."""
    assert may_move(CronSpec.from_line(line), most) == found


def test_what_is_fixed_is_counted_and_not_moved() -> None:
    """The other one goes out of its way; the reason is there."""
    found = propose([job("a.sub", "0 2 * * *", fixed="--pin names it"), job("b.sub", "0 2 * * *")], WEEK)
    assert [move.jobs for move in found.moves] == [(1,)]
    assert found.fixed == {0: "--pin names it"}
    assert found.after.most_starts == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("*/7 * * * *", "its minutes are not evenly spaced"),
        ("0,5 * * * *", "its minutes are not evenly spaced"),
        ("* 2 * * *", "it runs in every minute"),
    ],
)
def test_what_cannot_be_moved_says_why(line: str, reason: str) -> None:
    """In words."""
    assert propose([job("a.sub", line), job("b.sub", "0 2 * * *")], WEEK).fixed == {0: reason}


def test_a_star_that_decides_at_clock_changes_stays() -> None:
    """Under the policy debian a starred minute follows real time, and a list would not."""
    spec = CronSpec.from_line("*/15 2 * * *")
    held = SpreadJob("a.sub", JobSchedule(spec, zone=BERLIN, policy=Policy.DEBIAN), "a")
    assert propose([held, job("b.sub", "0 2 * * *")], WEEK).fixed == {
        0: "its * in the minute decides what a clock change does to it"
    }


def test_jobs_of_one_place_move_together() -> None:
    """They share the line: one minute for all, and none where they differ in it."""
    one, other = (JobSchedule(CronSpec.from_line(line), zone=BERLIN) for line in ("0 2 * * *", "0 3 * * *"))
    jobs = [SpreadJob("a.sub", one, "a"), SpreadJob("a.sub", other, "a"), job("b.sub", "0 3 * * *", fixed="so")]
    found = propose(jobs, WEEK)
    assert [move.jobs for move in found.moves] == [(0, 1)]


@pytest.mark.parametrize("new", range(6))
def test_one_more_job_moves_one_other_at_most(new: int) -> None:
    """Once the files are as proposed, a new one takes a minute of its own, and at most one other one moves."""
    jobs = [job(f"{n}.sub", "0 2 * * *") for n in range(12)]
    settled = followed(jobs, propose(jobs, WEEK))
    found = propose([*settled, job(f"new{new}.sub", str(settled[new].schedule.spec))], WEEK)
    assert sum(move.jobs != (12,) for move in found.moves) <= 1
    assert found.after.most_starts == 1


def test_both_readings_agree_on_what_is_written() -> None:
    """A schedd keeps only multiples of a step: what is written is a list."""
    for step in (2, 5, 15, 20, 30, 60):
        cycle = Cycle(step, step - 1)
        both = [CronSpec(minute=cycle.text, dialect=dialect).bits for dialect in (Dialect.MANUAL, Dialect.HTCONDOR)]
        assert both[0] == both[1]
        assert cycle_of(CronSpec(minute=cycle.text)) == cycle


def test_a_slot_is_held_from_the_match_to_the_end_of_the_window() -> None:
    """Prep time and SCHEDD_INTERVAL before, window or run after; one job holds one slot."""
    schedule = JobSchedule(CronSpec.from_line("30 2 * * *"), window=120, prep_time=60, schedd_interval=60, zone=BERLIN)
    day = dates(BERLIN, (2026, 11, 23), (2026, 11, 24))
    assert use_of(JobTimes(schedule), day).held == ((148, 153),)
    assert use_of(JobTimes(schedule), day._replace(run_time=600)).held == ((148, 161),)
    often = JobSchedule(CronSpec.from_line("*/5 2 * * *"), zone=BERLIN)
    use = use_of(JobTimes(often), day)
    assert use.held == ((110, 176),)
    load = Load(day.size)
    load.add(use, 1)
    assert (load.most_held, load.most_starts) == (1, 1)


def test_times_that_requirements_exclude_count_for_nothing() -> None:
    """And a job whose requirements ask for its time stays where it is: at another minute they would exclude others."""
    schedule = JobSchedule(CronSpec.from_line("0 * * * *"), zone=BERLIN)
    even = SpreadJob("even.sub", schedule, "even", requirements="Memory > 5 && DeferralTime % 7200 == 0")
    day = dates(BERLIN, (2026, 11, 23), (2026, 11, 24))
    assert [start % 120 for start in use_of(even.times, day).starts] == [60] * 12
    found = propose([even, job("b.sub", "0 2 * * 1")], WEEK)
    assert found.fixed == {0: "its requirements ask for its DeferralTime"}


def test_a_deferral_time_counts_and_stays() -> None:
    """It is one run, and nobody's minute."""
    at = WEEK.start + 2 * 3600
    once = SpreadJob("once.sub", JobSchedule(time=at, zone=BERLIN), "once")
    found = propose([once, job("b.sub", "0 2 * * 1")], WEEK)
    assert found.fixed == {0: "it has no cron fields"}
    assert (found.before.most_starts, found.after.most_starts) == (2, 1)


def test_the_reading_of_the_schedd_is_spread_as_well() -> None:
    """Its chain of answers counts, in its dialect."""
    spec = CronSpec.from_line("0 2 * * *", dialect=Dialect.HTCONDOR)
    jobs = [SpreadJob(f"{n}.sub", JobSchedule(spec, zone=BERLIN), n) for n in range(4)]
    found = propose(jobs, WEEK)
    assert (found.before.most_starts, found.after.most_starts) == (4, 1)


def test_a_names_own_minute_is_always_the_same() -> None:
    """On every host, in every release."""
    assert [own_offset(name, 60) for name in ("a.sub 0", "a.sub 1", "nightly.sub 0")] == [48, 17, 56]
