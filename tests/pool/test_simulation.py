"""What became of the runs, and which prep time and window would have been enough."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.pool.daemons.matching import Matching
from crondor.pool.settings import Exits, InvalidLength, Lengths
from crondor.pool.simulate import simulation as simulating
from crondor.pool.simulate.outcome import JobOutcome, RunOutcome
from crondor.pool.simulate.simulation import EndlessSecond, Enough, Life, Simulation, Terms
from crondor.spec import Dialect
from tests.examples import examples
from tests.pool.pools import NOW, POOL, ads

HOURLY = "cron_minute = 0\non_exit_remove = false"
DAY = 86_400


def simulation(text: str, days: int = 1, **changes: Any) -> Simulation:  # noqa: ANN401 - fields of Settings
    """Return a simulation of the jobs of a description."""
    pool = replace(POOL, **changes)
    return Simulation(pool, [ads(text, pool.schedd_interval)], NOW, NOW + days * DAY + 1800)


def counts(outcome: JobOutcome) -> dict[str, int]:
    """Return the counts that are not zero."""
    return {fate.value: count for fate, count in outcome.counts.items() if count}


def only(text: str, days: int = 1, **changes: Any) -> JobOutcome:  # noqa: ANN401 - the same
    """Return the outcome of the only job."""
    return simulation(text, days, **changes).run()[0]


def test_runs_on_time_and_the_slot_that_waits() -> None:
    """Each run waits from its arrival to its time."""
    outcome = only(HOURLY)
    assert (counts(outcome), outcome.starts, outcome.idle_slot) == ({"on_time": 24}, 24, 24 * 585)


def test_late_within_the_window() -> None:
    """They count as started."""
    outcome = only(f"{HOURLY}\ncron_window = 60", transfer=Lengths.fixed(640))
    assert (counts(outcome), outcome.failed) == ({"late": 24}, 0)


def test_a_time_that_asks_for_the_clock_is_met_by_whoever_waits_for_it() -> None:
    """It is read when the job arrives: 12:10:15 here, not what it was at the submission."""
    found = simulation("deferral_time = time() + 600")
    assert counts(found.run()[0]) == {"on_time": 1}
    assert found.enough() == [Enough(300, 0)]


def test_missed_and_held_and_then_on_hold() -> None:
    """Nothing releases the job: all other runs are lost too."""
    outcome = only(HOURLY, transfer=Lengths.fixed(640))
    assert counts(outcome) == {"missed_held": 1, "held": 23}
    assert outcome.hold == "Job missed deferred execution time"


def test_missed_without_a_match() -> None:
    """A crontab job gets its next time."""
    outcome = only(f"{HOURLY}\ncron_prep_time = 0", schedd_interval=5, match_delay=Lengths.fixed(30))
    assert counts(outcome) == {"missed": 24}


def test_skipped_while_the_last_run_goes_on() -> None:
    """Every second hour is skipped."""
    assert counts(only(HOURLY, run_time=Lengths.fixed(4000))) == {"on_time": 12, "skipped": 12}


def test_idle_for_ever() -> None:
    """A one-time job has no other time."""
    assert counts(only(f"deferral_time = {NOW + 2}")) == {"missed_idle": 1}


def test_what_lies_beyond_the_end_is_not_planned() -> None:
    """Nor is a run that waits when it comes."""
    assert counts(only(f"deferral_time = {NOW + 10 * DAY}")) == {}
    assert counts(Simulation(POOL, [ads(HOURLY)], NOW, NOW + 3500).run()[0]) == {}


def test_dialects_part() -> None:
    """Weekdays with a starred day of month run on the last day of the month too, and every two minutes then."""
    text = "cron_minute = 0\ncron_hour = 6\ncron_day_of_week = 1\non_exit_remove = false"
    assert only(text, 8, dialect=Dialect.MANUAL).planned == 1
    assert only(text, 8).planned > 100


def test_the_same_seed_gives_the_same() -> None:
    """And another one does not."""
    drawn = {"match_delay": Lengths(0, 400), "run_time": Lengths.parse("exp:30m"), "transfer": Lengths(0, 300)}
    one, same, other = (counts(only(HOURLY, 10, seed=seed, **drawn)) for seed in (1, 1, 2))
    assert one == same != other


def test_equal_jobs_share_the_slots() -> None:
    """Two jobs at the same minute with one slot: one of them waits for the other, and misses its time."""
    pair = Simulation(POOL, [ads(HOURLY) * 2], NOW, NOW + DAY - 1800)
    first, second = pair.run()
    assert counts(first) == {"on_time": 23}
    assert first.planned == second.planned
    assert second.counts[RunOutcome.MISSED] == 23


@examples(10)
@given(
    delay=st.integers(0, 300),
    transfer=st.integers(0, 900),
    prep=st.integers(0, 600),
    window=st.integers(0, 100),
    interval=st.integers(5, 300),
)
def test_what_is_enough_is_enough_and_a_second_less_is_not(
    delay: int, transfer: int, prep: int, window: int, interval: int
) -> None:
    """With the prep time nothing is late, with the window nothing is missed; both are the smallest."""
    text = f"{HOURLY}\ncron_prep_time = {prep}\ncron_window = {window}"
    drawn = {"match_delay": Lengths(delay // 2, delay), "transfer": Lengths(transfer // 2, transfer)}
    pool = simulation(text, 1, schedd_interval=interval, **drawn)
    enough = pool.enough()[0]
    assert enough.prep_time is not None
    assert enough.window is not None
    late = (RunOutcome.LATE, RunOutcome.MISSED, RunOutcome.MISSED_HELD)

    def lost(fates: tuple[RunOutcome, ...], prep_times: Terms | None = None, windows: Terms | None = None) -> int:
        outcome = pool.run(prep_times=prep_times, windows=windows)[0]
        return sum(outcome.counts[fate] for fate in fates)

    assert not lost(late, prep_times={0: enough.prep_time})
    assert not lost(late[1:], windows={0: enough.window})
    if enough.prep_time:
        assert lost(late, prep_times={0: enough.prep_time - 1})
    if enough.window:
        assert lost(late[1:], windows={0: enough.window - 1})


def test_nothing_is_enough_where_a_time_is_past() -> None:
    """No prep time helps a job that was submitted too late; a window does."""
    assert simulation(f"deferral_time = {NOW - 100}").enough() == [Enough(None, 115)]


@pytest.mark.parametrize(
    ("text", "low", "high"), [("90", 90, 90), ("5m", 300, 300), ("30-90", 30, 90), ("1h-1d", 3600, DAY)]
)
def test_lengths_are_read(text: str, low: int, high: int) -> None:
    """Seconds, units and ranges."""
    found = Lengths.parse(text)
    assert (found.low, found.high) == (low, high)
    assert {low <= found.draw(1, n) <= high for n in range(200)} == {True}


@pytest.mark.parametrize("text", ["", "x", "-5", "90-30", "1e3", "exp:", "99999d", "5 m", "٣"])
def test_what_is_no_length_is_refused(text: str) -> None:
    """With a word on what to write."""
    with pytest.raises(InvalidLength):
        Lengths.parse(text)


def test_drawn_lengths_fill_their_range() -> None:
    """All values occur, about equally often; an exponential one has its mean."""
    seen = [Lengths(0, 9).draw(7, n) for n in range(5000)]
    assert {seen.count(value) > 400 for value in range(10)} == {True}
    mean = sum(Lengths.parse("exp:100").draw(7, n) for n in range(5000)) / 5000
    assert 90 < mean < 110


def test_where_jobs_share_a_slot_each_change_is_enough_while_the_others_stay() -> None:
    """And one second less is not: what was found by changing both at once (1738 s here) would not do."""
    transfer, run_time = Lengths.parse("10s-20m"), Lengths.parse("1m-20m")
    pool = replace(POOL, match_delay=Lengths.parse("0-60"), transfer=transfer, run_time=run_time, slots=1)
    jobs = [ads(f"cron_minute = {minute}\non_exit_remove = false") for minute in ("*/30", "*/10")]
    shared = Simulation(pool, jobs, NOW, NOW + DAY)
    windows = [enough.window or 0 for enough in shared.enough()]
    assert windows == [952, 1758]
    for number, window in enumerate(windows):
        for seconds, is_enough in ((window, True), (window - 1, False)):
            found = shared.run(windows={number: seconds})[number]
            assert is_enough == (not found.counts[RunOutcome.MISSED] and not found.counts[RunOutcome.MISSED_HELD])


def test_a_run_that_ends_before_its_time_comes_again() -> None:
    """The machine's clock is ahead: to the schedd the time is still to come, and the second match is too late."""
    outcome = only(HOURLY, skew=120)
    assert counts(outcome) == {"on_time": 1, "missed_held": 1, "held": 23}
    assert (outcome.starts, outcome.repeated) == (1, 1)


@pytest.mark.parametrize("universe", ["vanilla", "local"])
def test_a_job_that_is_tried_again_after_its_window_is_idle_for_ever(universe: str) -> None:
    """Its Requirements match no more; what is tried again in a wide window asks for no wider one."""
    text = f"universe = {universe}\ndeferral_time = {NOW + 3600}\nmax_retries = 2"
    found = simulation(text, exits=Exits.parse("3"))
    outcome = found.run()[0]
    assert (counts(outcome), outcome.starts, outcome.is_stranded) == ({"on_time": 1}, 1, True)
    assert found.enough()[0].window == 0
    assert not only(text).is_stranded


PERIODS = st.lists(st.sampled_from(["*/30", "*/10", "0", "5,35"]), min_size=2, max_size=3)


@examples(3)
@given(PERIODS, st.integers(0, 3))
def test_tries_that_end_early_find_what_tries_to_the_end_find(minutes: list[str], seed: int) -> None:
    """A try that is in vain is known to be so at its first late or missed run."""
    transfer, run_time = Lengths.parse("10s-10m"), Lengths.parse("1m-10m")
    pool = replace(POOL, slots=1, seed=seed, transfer=transfer, run_time=run_time)
    jobs = [ads(f"cron_minute = {minute}\non_exit_remove = false") for minute in minutes]
    shared = Simulation(pool, jobs, NOW, NOW + DAY // 8)
    found = {}
    for steps in (1, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(simulating, "_FEW_STEPS", steps)
            found[steps] = shared.enough()
    assert found[1] == found[1 << 30] == shared.enough(life=shared.life())


def test_advice_on_a_long_life_costs_three_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that compete get no number of their own then, but each that they get is enough with all others."""
    monkeypatch.setattr(simulating, "_SHORT", 0)
    pool = replace(POOL, slots=1, run_time=Lengths.parse("1m-2m"))
    shared = Simulation(pool, [ads(HOURLY) for _ in range(12)], NOW, NOW + DAY)
    lives: list[Terms | None] = []
    live = Simulation.life

    def counted(simulated: Simulation, **said: Any) -> Life:  # noqa: ANN401 - whatever a life is asked for
        lives.append(said.get("windows"))
        return live(simulated, **said)

    life = shared.life()
    monkeypatch.setattr(Simulation, "life", counted)
    enough = shared.enough(life=life)
    assert len(lives) == 3
    windows = {n: each.window for n, each in enumerate(enough) if each.window is not None}
    assert len(windows) == 12
    assert not any(each.counts[RunOutcome.MISSED] for each in live(shared, windows=windows).outcomes)
    assert any(each.counts[RunOutcome.MISSED] for each in life.outcomes)


AT_ONCE: dict[str, Any] = {"match_delay": Lengths.fixed(0), "transfer": Lengths.fixed(0), "run_time": Lengths.fixed(0)}
ONCE = f"deferral_time = {NOW + 60}\ndeferral_window = 100\ndeferral_prep_time = 10"


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (f"{ONCE}\non_exit_remove = false", 100),
        (f"{ONCE}\nmax_retries = 1000000\nsuccess_exit_code = 3", 100),
        (f"{ONCE}\non_exit_hold = true\nperiodic_release = true", 100),
        (f"{ONCE}\nuniverse = local\non_exit_remove = false", 21),  # SCHEDD_MIN_INTERVAL is 5 s
        ("on_exit_remove = false", 901),
        ("universe = local\non_exit_remove = false", 181),
        ("deferral_time = time()\ndeferral_window = 100\non_exit_remove = false", 901),
        ("cron_minute = *\ncron_window = 100\non_exit_remove = false", 15),
        ("cron_minute = *\ncron_window = 100\nuniverse = local\non_exit_remove = false", 15),
    ],
)
def test_a_job_runs_once_a_second_at_most(text: str, starts: int, slots: int) -> None:
    """Where nothing takes any time, too, time goes by: who is queued again waits for another cycle."""
    world = replace(simulation(text, **AT_ONCE, slots=slots), end=NOW + 900)
    times: list[int] = []
    outcome = world.run(watchers=[lambda seen: times.append(seen.time) if seen.what.value == "started" else None])[0]
    assert len(times) == len(set(times)) == outcome.starts
    assert outcome.starts == starts


def test_a_second_without_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reason: there is a bound on what happens within one."""
    monkeypatch.setattr(Matching, "moment", lambda _self, _job, opens, _now: opens)
    with pytest.raises(EndlessSecond, match=rf"within second {NOW + 60}: time does not advance"):
        simulation(f"{ONCE}\non_exit_remove = false", **AT_ONCE).run()


def test_advice_does_not_run_a_job_of_one_time_again_for_days() -> None:
    """What its window lets it do after its run is nobody's plan: no life costs more than the one to be bettered."""
    world = simulation(f"{ONCE}\non_exit_remove = false", 8, **AT_ONCE | {"transfer": Lengths.fixed(20)})
    lived = world.life()
    costs: list[int] = []
    living = Simulation.life

    def count(self: Simulation, **changes: Any) -> Life:  # noqa: ANN401 - its own arguments
        made = living(self, **changes)
        costs.append(made.cost)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Simulation, "life", count)
        assert world.enough(life=lived) == [Enough(10, 0)]
    assert costs
    assert max(costs) <= lived.cost
