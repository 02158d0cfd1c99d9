"""Leaps over runs come to what the runs come to, event by event."""

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Expression
from crondor.job_queue import JobId
from crondor.pool.daemons import pool_job
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.pool import Pool
from crondor.pool.daemons.pool_job import CLOCK, VOLATILE, is_moving
from crondor.pool.settings import Exits, Lengths, Machine, PoolSettings, Preemption
from crondor.pool.simulate.outcome import JobOutcome, OutcomeCounts
from crondor.spec import Dialect
from tests.examples import examples
from tests.pool.pools import NOW, POOL, ads

DAY = 86_400
STAYS = "on_exit_remove = false"
HOURLY = f"cron_minute = 0\n{STAYS}"


class Lived(NamedTuple):
    """What is left of a life: outcomes, how many events were counted, whether one had to wait, the queue."""

    outcomes: list[JobOutcome]
    seen: int
    waited: bool
    queue: dict[JobId, dict[str, str]]


def lived(pool_settings: PoolSettings, texts: list[str], days: float, *, leaps: bool) -> tuple[Lived, list[PoolEvent]]:
    """Live with or without leaps; return also what was told."""
    pool = Pool(pool_settings, NOW)
    counts, told = OutcomeCounts(pool), list[PoolEvent]()
    pool.watchers.append(told.append)
    if leaps:
        pool.let_leap()
    jobs = [job for text in texts for job in pool.submit(ads(text, pool_settings.schedd_interval))]
    pool.advance(NOW + int(days * DAY))
    counts.close()
    queue = {job: {name.lower(): each.ad.text(name) for name in each.ad} for job, each in pool.jobs.items()}
    waited = pool.matching.negotiator.has_kept_waiting
    outcomes = [replace(counts[job], trouble=()) for job in jobs]  # whose texts are others each time
    return Lived(outcomes, counts.seen, waited, queue), told


def story(told: list[PoolEvent]) -> dict[JobId, list[tuple[int, PoolEventKind, int, str]]]:
    """Return what happened to each job, in its order."""
    found: dict[JobId, list[tuple[int, PoolEventKind, int, str]]] = {}
    for event in told:
        found.setdefault(event.job.id, []).append((event.time, event.what, event.number, event.text))
    return found


def check(pool_settings: PoolSettings, texts: list[str], days: float = 1) -> None:
    """Compare both ways to live."""
    leapt, told = lived(pool_settings, texts, days, leaps=True)
    walked, happened = lived(pool_settings, texts, days, leaps=False)
    assert story(told) == story(happened)
    assert leapt == walked


SCHEDULES = st.sampled_from(
    [
        "cron_minute = 0",
        "cron_minute = */7",
        "cron_minute = *",
        "cron_minute = 5,6,30-40/3",
        "cron_hour = */3",
        "cron_minute = 30\ncron_hour = 2",
        "cron_minute = 0\ncron_day_of_week = 4",
        "cron_minute = 61",
    ]
)
EXITS = st.sampled_from(
    [STAYS, STAYS, STAYS, "", "on_exit_remove = NumJobStarts > 3", f"{STAYS}\non_exit_hold = ExitCode == 1"]
)
OTHERS = st.sampled_from(
    [
        "",
        "",
        "",
        "cron_window = 90",
        "cron_window = NumJobStarts * 30",
        "cron_prep_time = 0",
        "cron_prep_time = 20\ncron_window = 600",
        "requirements = NumJobStarts < 3",
        "requirements = Memory > 100 && time() % 2 == 0",
        "requirements = false",
        "universe = local",
        "periodic_hold = NumJobStarts > 2\nperiodic_release = true",
        "arguments = $$(Arch)",
        "priority = 3",
        "+NumJobStarts = JobStatus",
        "+JobRunCount = 2147483640",
        "+JobStartDate = 7",
        "+NumJobCompletions = -4",
    ]
)
JOBS = st.lists(st.tuples(SCHEDULES, EXITS, OTHERS).map("\n".join), min_size=1, max_size=4)
LENGTHS = st.sampled_from(["0", "1", "0-60", "10s-10m", "exp:2m", "59m", "3h"]).map(Lengths.parse)
EXIT_CODES = st.sampled_from(["0", "1", "sig9", "0:3,1:2,sig9:1"]).map(Exits.parse)
POOLS = st.builds(
    PoolSettings,
    schedd_interval=st.sampled_from([60, 300]),
    match_delay=LENGTHS,
    transfer=LENGTHS,
    run_time=LENGTHS,
    slots=st.sampled_from([1, 4, 100]),
    exits=EXIT_CODES,
    skew=st.sampled_from([0, 0, 0, -30, 30]),
    machines=st.sampled_from([(), (), (), (Machine.parse("cpus=2,memory=4G"),)]),
    preemption=st.sampled_from([None, None, None, Preemption.parse("30%@20m")]),
    zone=st.sampled_from(["UTC", "America/New_York"]),
    dialect=st.sampled_from([Dialect.HTCONDOR, Dialect.MANUAL]),
    seed=st.integers(0, 9),
)


@examples(15)
@given(POOLS, JOBS, st.sampled_from([0.1, 0.2, 0.5]))
@example(replace(POOL, slots=9), [HOURLY, HOURLY], 1)
def test_a_leap_comes_to_what_the_runs_come_to(pool_settings: PoolSettings, jobs: list[str], days: float) -> None:
    """All that happens to a job, the counts, and the queue that is left are the same."""
    check(pool_settings, jobs, days)


@pytest.mark.parametrize("run_time", ["20-120", "59m-61m", "100s-130m", "0"])
def test_jobs_that_never_wait_leap(run_time: str) -> None:
    """A month of some jobs takes few steps."""
    pool_settings = replace(POOL, slots=20, run_time=Lengths.parse(run_time), match_delay=Lengths(0, 60))
    check(pool_settings, [HOURLY] * 20, 1.5)
    pool = Pool(pool_settings, NOW)
    pool.let_leap()
    for _ in range(20):
        pool.submit(ads(HOURLY))
    assert pool.advance(NOW + 30 * DAY, 20 * 30)


COMPETING = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("cron_minute = 0", "cron_minute = 0-3", "cron_minute = */7", "cron_minute = *", "cron_hour = */3"),
                *("cron_minute = 0\ncron_hour = 14", "cron_minute = 0\ncron_day_of_month = 25\ncron_month = 11"),
            ]
        ),
        st.sampled_from([STAYS] * 6 + ["", "on_exit_remove = NumJobStarts > 3"]),
        st.sampled_from(
            [
                *("", "", "", "cron_window = 90", "cron_window = 900", "+DeferralWindow = -5", "+DeferralTime = 5"),
                *("cron_prep_time = 20\ncron_window = 600", "cron_prep_time = 4000", "priority = 3"),
                *("universe = local", "requirements = NumJobStarts < 3"),
                "requirements = Memory > 100 && time() % 2 == 0",
                "periodic_hold = NumJobStarts > 2\nperiodic_release = true",
            ]
        ),
        st.sampled_from(["", "queue", "queue 2"]),
    ).map("\n".join),
    min_size=2,
    max_size=6,
)


@examples(15)
@given(POOLS, JOBS | COMPETING, st.sampled_from([1, 2, 3, 5, 8]), st.sampled_from([0.1, 0.2, 0.5]))
@example(replace(POOL, run_time=Lengths.parse("59m")), [HOURLY, f"cron_minute = */7\n{STAYS}"], 1, 0.5)
@example(POOL, ["cron_minute = 0", f"cron_minute = */7\n{STAYS}"], 1, 0.5)
def test_a_hop_comes_to_what_the_run_comes_to(
    pool_settings: PoolSettings, jobs: list[str], slots: int, days: float
) -> None:
    """Where jobs compete for slots, too: late and missed runs, windows, priorities, jobs that leave or are no crowd."""
    check(replace(pool_settings, slots=slots), jobs, days)


def test_jobs_that_may_have_to_wait_hop() -> None:
    """One slot for two jobs: of each run the pool sees its match and its end."""
    pool_settings = replace(POOL, slots=1)
    steps = []
    for shortcuts in (False, True):
        pool = Pool(pool_settings, NOW)
        if shortcuts:
            pool.let_leap()
        pool.submit(ads(f"{HOURLY}\nqueue"))
        number = 0
        while not pool.advance(NOW + 3 * DAY, 1):
            number += 1
        steps.append(number)
    assert steps[1] < 0.75 * steps[0]
    check(pool_settings, [HOURLY, HOURLY], 3)


def test_the_ad_of_a_job_that_hops_is_right_whenever_it_is_looked_at() -> None:
    """What a hop has not written is written for whoever asks, and not twice."""
    found = []
    for shortcuts in (False, True):
        pool = Pool(replace(POOL, slots=1), NOW)
        if shortcuts:
            pool.let_leap()
        jobs = pool.submit(ads(f"{HOURLY}\nqueue"))
        ads_seen = []
        for hour in range(1, 6):  # in between the pool takes steps of its own
            while not pool.advance(NOW + hour * 3600 + 1800, 1):
                pass
            ads_seen.append([{name: pool.jobs[job].ad.text(name) for name in pool.jobs[job].ad} for job in jobs])
        found.append([[dict(sorted(ad.items())) for ad in seen] for seen in ads_seen])
    assert found[0] == found[1]


NAMES = ("A", "B", "C", "JobStatus", "My", "Cpus")
TEXTS = (
    "1", "undefined", '"text"', "time()", "A + 1", "B", "C > 2", "MY.A", "TARGET.Cpus", "TARGET.A > B",
    "JobStatus == 2",
    "CurrentTime - A", "[A = time()]", "[A = 1].A", "B.A", "B[0]", "{A, B}", "My.C", "eval(B)", "isUndefined(A)",
    "nope(A)", "A.B.C", ".A", "OTHER.B", "ServerTime", "size(A)",
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(NAMES), st.one_of(st.none(), st.sampled_from(TEXTS))), max_size=12
)


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), CHANGES, st.sampled_from([CLOCK, VOLATILE | CLOCK]))
def test_the_answer_is_that_without_a_memory(
    texts: list[str], changes: list[tuple[bool, str, str | None]], names: frozenset[str]
) -> None:
    """Whatever changes in both ads between two questions, one name after the other."""
    job, machine = ClassAd(), ClassAd()
    parts = [Expression(text) for text in texts]
    for is_job, name, text in changes:
        ad = job if is_job else machine
        if text is not None:
            ad.put(name, text)
        elif name in ad:
            del ad[name]
        remembered = [is_moving(part, job, machine, names) for part in parts]
        pool_job._MOVING.clear()
        assert remembered == [is_moving(part, job, machine, names) for part in parts]
        assert remembered == [is_moving(part, job, machine, names) for part in parts]


def test_a_new_text_of_a_reached_attribute_counts() -> None:
    """Of the job's, and of the machine's."""
    job, machine = ClassAd.of_texts({"A": "B", "B": "1"}), ClassAd.of_texts({"Load": "2"})
    part = Expression("A > TARGET.Load")
    assert not is_moving(part, job, machine, CLOCK)
    job.set_text("B", "time()")
    assert is_moving(part, job, machine, CLOCK)
    job.set_text("B", "3")
    assert not is_moving(part, job, machine, CLOCK)
    machine.set_text("Load", "time() % 3")
    assert is_moving(part, job, machine, CLOCK)
