"""Compiled schedules: what is written and refused, and that the schedd starts the wanted times and no other."""

from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import AdValue, Context, Expression
from crondor.compile.meaning import read_schedule
from crondor.compile.writing.compiler import LONGEST_CLAUSE, compile_schedule
from crondor.compile.writing.evaluation import Clause
from crondor.compile.writing.wish import CannotCompile, Compiled, Timing, Wish, spacing, spoiled
from crondor.zones import zone_of
from tests.compile.cases import KINDS, ZONES
from tests.compile.compiled import DAY, START, Trial, trial, tried
from tests.compile.simulated import simulated
from tests.examples import TIMES, examples

USUAL = Timing()


def compiled(
    text: str,
    zone: str = "UTC",
    host: str = "UTC",
    days: int = 1830,
    *,
    timing: Timing = USUAL,
    local: bool = False,
    approximate: bool = False,
) -> Compiled:
    """Compile a schedule from 2020-12-01 on."""
    schedule = read_schedule(text, zone=zone, start=START)
    return compile_schedule(
        Wish(schedule, zone_of(host), START, START + days * DAY, timing, local=local, approximate=approximate)
    )


expression_of = lru_cache(Expression)


def passes(clause: str, instant: int, zone: str) -> bool:
    """Evaluate a clause as a whole, at one instant."""
    ad = AdValue({"deferraltime": str(instant)}, {"deferraltime": "DeferralTime"})
    return not clause or expression_of(clause).holds(ad, None, Context(now=instant, zone=zone_of(zone).info))


def test_what_is_compiled_is_what_was_asked_for_to_htcondors_own_library() -> None:
    """Random schedules of each kind on hosts in several zones; a zone-proof clause in three other zones too."""
    trials = [trial(kind, number, 400) for kind in KINDS for number in range(6 * TIMES)]
    tally = tried(trials, 100, Random("kinds"))  # noqa: S311 - a sample
    assert tally.faults == []
    assert tally.exact.total() > len(trials) // 2


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("0 9 * * 1-5", {"cron_day_of_month": "31", "requirements": "(DeferralTime / 86400 + 3) % 7 < 5"}),
        ("0 0 13 * 5", {"cron_day_of_month": "13", "cron_day_of_week": "5"}),
        ("every 2 days at 06:00", {"cron_hour": "6", "requirements": "DeferralTime / 86400 % 2 == 1"}),
        ("every 90 minutes", {"requirements": "DeferralTime % 5400 == 0"}),
        ("*/15 * * * *", {"cron_minute": "0,15,30,45"}),
        ("every day at 09:00, 17:30", {"requirements": "member(DeferralTime % 86400 / 60, {540,1050})"}),
    ],
)
def test_lines_are_short(text: str, commands: dict[str, str]) -> None:
    """A rule is written as a rule, without a clause where none is needed."""
    (job,) = compiled(text).jobs
    assert commands.items() <= job.commands.items()
    assert ("requirements" in commands) == ("requirements" in job.commands)


@pytest.mark.parametrize("text", ["0 9 * * 1", "0 9 * 4 1-5", "weekends at 12:00"])
def test_no_fields_have_a_day_zero(text: str) -> None:
    """A weekday stands beside a day of the month."""
    for job in compiled(text).jobs:
        assert not job.superset.has_day_zero


def test_the_schedd_starts_nothing_in_an_hour_that_is_shown_twice() -> None:
    """There it may answer "now + 120 s" at any second, two minutes beyond the last time of the hour too."""
    found = compiled("30 2 * * *", "Europe/Berlin", "Europe/Berlin")
    (job,) = found.jobs
    change = next(c for c in zone_of("Europe/Berlin").changes(START, START + 365 * DAY) if c.offset < c.before)
    for second in range(change.start, change.start + 1800 + 120, 7):
        assert not passes(job.clause, second, "Europe/Berlin")


def test_another_zone_is_followed_through_its_clock_changes() -> None:
    """At nine in Berlin on a host in New York."""
    found = compiled("0 9 * * *", "Europe/Berlin", "America/New_York")
    assert found.exact
    assert found.proof.wanted == 1830


@pytest.mark.parametrize(
    ("text", "kind", "timing"),
    [
        ("every minute except 2021-01-01T10:00..2021-01-01T14:00", "compile-distance", Timing(window=2 * DAY)),
        ("every 15 minutes zone UTC", "compile-inexact", Timing()),
        ("2020-01-01T10:00", "compile-empty", Timing()),
    ],
)
def test_what_cannot_be_said_is_refused_with_the_reason(text: str, kind: str, timing: Timing) -> None:
    """The first sentence says why, the second what would help."""
    with pytest.raises(CannotCompile) as refused:
        compiled(text, host="Europe/Berlin", timing=timing)
    (fault,) = refused.value.diagnostics
    assert fault.kind == kind
    assert fault.help


def test_a_clause_has_a_bound() -> None:
    """Random dates have no short rule."""
    dice = Random(7)  # noqa: S311 - test data
    days = sorted(dice.sample(range(1800), 800))
    dates = ", ".join(f"{zone_of('UTC').moment(START + day * DAY):%Y-%m-%d}" for day in days)
    with pytest.raises(CannotCompile, match=f"{LONGEST_CLAUSE}"):
        compiled(f"{dates} at 09:00")


def test_the_nearest_comes_with_what_differs() -> None:
    """The second pass of an hour that a clock shows twice."""
    found = compiled("every 15 minutes", "Europe/Berlin", "Europe/Berlin", approximate=True)
    assert not found.exact
    assert found.reasons
    assert len(found.proof.lost) == 20
    assert not found.proof.wrong


def test_the_nearest_of_times_too_near_loses_no_other_than_it_says(tmp_path: Path) -> None:
    """With a window of two days: what the schedd may jump over is listed, and a pool starts the others."""
    text = "every 20 minutes except 2020-12-02T10:00..2020-12-02T14:00"
    timing = Timing(window=2 * DAY, prep_time=60)
    found = compiled(text, timing=timing, days=30, approximate=True)
    assert not found.exact
    assert found.reasons[0].startswith("a time to skip is 1200 s before a wanted one")
    assert found.spoiled
    run = simulated(Trial(text, "UTC", "UTC", timing, 30, local=False), found, Random(1), tmp_path)  # noqa: S311 - any
    assert run is not None
    risky = {f"{zone_of('UTC').moment(time):%Y-%m-%d %H:%M:%S}" for time in found.spoiled}
    assert set(run.started) <= set(run.wanted)
    assert set(run.wanted) - set(run.started) <= risky


def test_the_nearest_of_a_clause_too_long_ends_sooner() -> None:
    """It is exact as far as it reaches, and what is wanted after that is listed."""
    dice = Random(7)  # noqa: S311 - test data
    days = sorted(dice.sample(range(1800), 800))
    dates = ", ".join(f"{zone_of('UTC').moment(START + day * DAY):%Y-%m-%d}" for day in days)
    found = compiled(f"{dates} at 09:00", approximate=True)
    assert not found.exact
    (job,) = found.jobs
    assert len(job.clause) <= LONGEST_CLAUSE
    wanted = [START + day * DAY + 9 * 3600 for day in days]
    assert list(found.proof.lost) == [time for time in wanted if time > found.proof.until]
    assert len(found.proof.lost) < 300
    for day in range(0, 1800, 7):
        time = START + day * DAY + 9 * 3600
        assert passes(job.clause, time, "UTC") == (day in days and time <= found.proof.until)


def test_a_schedule_without_a_run_has_no_nearest() -> None:
    """It is refused in any case."""
    with pytest.raises(CannotCompile, match="has no run"):
        compiled("2020-01-01T10:00", approximate=True)


@given(
    days=st.lists(st.tuples(st.integers(0, 2**1440 - 1), st.integers(0, 2**1440 - 1)), min_size=1, max_size=3),
    needed=st.integers(0, 200_000),
)
@examples(10)
def test_spoiled_are_those_behind_a_wrong_time(days: list[tuple[int, int]], needed: int) -> None:
    """By looking at each pair."""
    given_ = [(number, some, some & taken) for number, (some, taken) in enumerate(days)]
    times = [
        (number * DAY + 60 * minute, taken >> minute & 1)
        for number, some, taken in given_
        for minute in range(1440)
        if some >> minute & 1
    ]
    expected, last = [], -(10**9)
    for time, is_wanted in times:
        if not is_wanted:
            last = time
        elif time - last < needed:
            expected.append(time)
    assert spoiled(given_, needed) == expected


def test_wrong_times_too_near_are_shared_among_jobs() -> None:
    """Each job then has its right ones far enough after its wrong ones."""
    found = compiled("every 5 minutes except 2021-01-01T10:00..2021-01-01T14:00")
    assert [job.commands["cron_minute"] for job in found.jobs] == ["0,10,20,30,40,50", "5,15,25,35,45,55"]
    assert all((job.spacing.least or 0) >= found.wish.timing.needed for job in found.jobs)
    assert (
        len(compiled("every 5 minutes except 2021-01-01T10:00..2021-01-01T14:00", timing=Timing(0, 60, 60)).jobs) == 1
    )


def test_the_prep_time_shrinks_to_what_fits() -> None:
    """From 300 s to what is left between a wrong time and the pass before a right one."""
    (job,) = compiled("every day at 09:00, 17:08").jobs
    assert job.spacing.least == 8 * 60
    assert job.commands["cron_prep_time"] == "180"


def test_a_text_that_leaves_nothing_out_is_no_clause() -> None:
    """The last working day by a clock whose changes lie on such days, seen from UTC."""
    assert compiled("(4 0,1 LW 9,10,11 *) except (every Friday)", "Antarctica/Troll", days=1100).exact


def test_distances_reach_over_midnight() -> None:
    """Offered and wanted minutes of two days."""
    found = spacing([(0, 1 << 1430, 0), (1, 1 | 1 << 20, 1)])
    assert (found.least, found.wrong, found.between_runs) == (600, 2, None)


@examples(4)
@given(
    minutes=st.sets(st.integers(0, 59), min_size=1, max_size=3),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=3),
    left_out=st.sampled_from(
        ["every Friday", "2021-01-01..2021-01-20", "first Monday of the month", "2021-01-05T08:00..2021-01-06T09:30"]
    ),
    zone=st.sampled_from(ZONES),
    host=st.sampled_from(ZONES),
    window=st.sampled_from([0, 30, 300, 3600]),
    interval=st.sampled_from([5, 60, 300]),
)
def test_it_is_exact_or_refused_and_never_wrong(
    minutes: set[int], hours: set[int], left_out: str, zone: str, host: str, window: int, interval: int
) -> None:
    """The schedd's own chain of answers, each evaluated by itself, has the wanted times and no other that passes."""
    fields = f"{','.join(map(str, sorted(minutes)))} {','.join(map(str, sorted(hours)))} * * *"
    schedule = read_schedule(f"{fields} except ({left_out})", zone=zone, start=START)
    end = START + 200 * DAY
    try:
        found = compile_schedule(Wish(schedule, zone_of(host), START, end, Timing(window, None, interval)))
    except CannotCompile:
        return
    started: list[int] = []
    for job in found.jobs:
        answers = takewhile(end.__ge__, job.superset.schedd.upcoming(START))
        started += [int(time) for time in answers if passes(job.clause, int(time), host)]
    assert sorted(started) == list(schedule.between(START, end))


@pytest.mark.parametrize(
    "text",
    [
        "(DeferralTime / 86400 + 4) % 7 < 5 && !(DeferralTime % 3600 == 0)",
        "DeferralTime / 60 % 90 == 30 || DeferralTime < 1620000000",
        "(((DeferralTime + 7200) / 86400 * 4 - 44065) % 1461 / 4 * 5 + 2) % 153 / 5 <= 6",
        "(DeferralTime + (DeferralTime >= 1616893200 && DeferralTime < 1635642000 ? 7200 : 3600)) % 86400 / 60 == 540",
        'stringListMember(formatTime(DeferralTime, "%H:%M"), "09:00,10:30", ",")',
        'int(formatTime(DeferralTime + 604800, "%d")) <= 7',
        "DeferralTime - 3600 == 5 || (DeferralTime + 60) % 86400 / 3600 != 3",
        "member((DeferralTime - 3600) / 86400, {18700,18800}) && DeferralTime % 100 == 40",
    ],
)
def test_whole_days_are_evaluated_as_each_minute_is(text: str) -> None:
    """Also where the clock changes, within the day of a comparison's turn, and for parts of no known shape."""
    clause = Clause(text, zone_of("Europe/Berlin"))
    for day in (18700, 18713, 18714, 18931):
        each = sum(1 << m for m in range(1440) if passes(text, day * DAY + 60 * m, "Europe/Berlin"))
        assert clause.minutes(day, (1 << 1440) - 1) == each
        assert clause.minutes(day, 0b1010) == each & 0b1010


@pytest.mark.parametrize("number", range(TIMES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_simulated_pool_starts_the_wanted_runs(kind: str, number: int, tmp_path: Path) -> None:
    """To the second and no other, around a change of the submit host's clock."""
    dice = Random(f"pool {kind} {number}")  # noqa: S311 - test data
    found = None
    while found is None:
        each = trial(kind, dice.randrange(10_000), 400)
        done = each.compiled()
        found = simulated(each, done, dice, tmp_path) if isinstance(done, Compiled) else None
    assert found.started == found.wanted, each


def test_a_simulated_pool_shares_a_schedule_among_jobs(tmp_path: Path) -> None:
    """Each of them starts its own part, every minute from hour to hour."""
    each = Trial("every 5 minutes except 2020-12-02T10:00..2020-12-02T14:00", "UTC", "UTC", Timing(), 30, local=False)
    done = each.compiled()
    assert isinstance(done, Compiled)
    found = simulated(each, done, Random(1), tmp_path)  # noqa: S311 - which time is simulated
    assert found is not None
    assert len(done.jobs) > 1
    assert found.started == found.wanted
