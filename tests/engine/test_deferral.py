"""The moments of one run, the gates before it and the verdict on arrival, in numbers (docs/deferral.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.deferral import Deferral, InvalidDeferral, Verdict

NOON = 1_795_521_600  # 2026-11-24 12:00 UTC


def test_the_defaults_are_those_of_condor_submit() -> None:
    """Window 0, prep time 300, SCHEDD_INTERVAL 300."""
    assert Deferral(NOON) == Deferral(NOON, window=0, prep_time=300, schedd_interval=300)


@pytest.mark.parametrize(
    ("run", "nominal_match", "match_opens", "last_match", "last_start"),
    [
        (Deferral(NOON), NOON - 300, NOON - 600, NOON - 1, NOON),
        (Deferral(NOON, window=120), NOON - 300, NOON - 600, NOON + 119, NOON + 120),
        (Deferral(NOON, prep_time=60), NOON - 60, NOON - 360, NOON - 1, NOON),
        (Deferral(NOON, 360, 0, 60), NOON, NOON - 60, NOON + 359, NOON + 360),
        (Deferral(NOON, 0, 0, 0), NOON, NOON, NOON - 1, NOON),
    ],
)
def test_the_four_moments(
    run: Deferral, nominal_match: int, match_opens: int, last_match: int, last_start: int
) -> None:
    """What the manual says, what the gates allow, the last second of each."""
    assert (run.nominal_match, run.match_opens, run.last_match, run.last_start) == (
        nominal_match,
        match_opens,
        last_match,
        last_start,
    )


@pytest.mark.parametrize(
    ("now", "start", "match"),
    [
        (NOON - 601, False, False),
        (NOON - 600, True, True),  # time() + 300 >= 12:00 - 300
        (NOON, True, True),
        (NOON + 119, True, True),
        (NOON + 120, True, False),  # time() < DeferralTime + DeferralWindow is strict
        (NOON + 10_000, True, False),
    ],
)
def test_the_gates(now: int, start: bool, match: bool) -> None:
    """The schedd's start test has no end; the Requirements clause ends before the window's last second."""
    run = Deferral(NOON, window=120)
    assert (run.may_start(now), run.may_match(now)) == (start, match)


def test_without_a_window_the_match_must_come_before_the_time() -> None:
    """At the very second of its time a job with window 0 matches no more, though it would still start."""
    run = Deferral(NOON)
    assert run.may_match(NOON - 1)
    assert not run.may_match(NOON)
    assert run.arrival(NOON).verdict is Verdict.START


@pytest.mark.parametrize(
    ("now", "verdict", "seconds"),
    [
        (NOON - 75, Verdict.WAIT, 75),
        (NOON - 1, Verdict.WAIT, 1),
        (NOON, Verdict.START, 0),
        (NOON + 45, Verdict.START, 45),
        (NOON + 120, Verdict.START, 120),  # exactly at the window's end
        (NOON + 121, Verdict.MISSED, 121),
        (NOON + 86400, Verdict.MISSED, 86400),
    ],
)
def test_the_verdict_on_arrival(now: int, verdict: Verdict, seconds: int) -> None:
    """Early waits, late inside the window starts at once, later is missed; the window's end is inside."""
    arrival = Deferral(NOON, window=120).arrival(now)
    assert (arrival.verdict, arrival.seconds) == (verdict, seconds)


def test_a_missed_run_is_held() -> None:
    """Code 20 with the starter's words; the other verdicts hold nothing."""
    run = Deferral(NOON)
    missed = run.arrival(NOON + 1)
    assert (missed.hold_code, missed.hold_reason) == (20, "Job missed deferred execution time")
    for now in (NOON - 1, NOON):
        assert (run.arrival(now).hold_code, run.arrival(now).hold_reason) == (None, None)


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ((0, 0, 0, 0), ["deferral-time"]),
        ((-5, 0, 0, 0), ["deferral-time"]),
        ((NOON, -1, 0, 0), ["deferral-length"]),
        ((NOON, 0, -1, 0), ["deferral-length"]),
        ((NOON, 0, 0, -1), ["deferral-length"]),
        ((0, -1, -1, -1), ["deferral-time", "deferral-length", "deferral-length", "deferral-length"]),
    ],
)
def test_what_no_job_can_run_by_cannot_be_built(numbers: tuple[int, int, int, int], codes: list[str]) -> None:
    """All faults at once: a time that is not positive, negative lengths."""
    with pytest.raises(InvalidDeferral) as caught:
        Deferral(*numbers)
    assert [found.kind for found in caught.value.diagnostics] == codes
    assert isinstance(caught.value, ValueError)


def test_a_run_never_changes() -> None:
    """A deferral is a value: immutable, comparable, hashable."""
    run = Deferral(NOON)
    with pytest.raises(AttributeError):
        run.time = 5  # type: ignore[misc]
    assert len({run, Deferral(NOON), Deferral(NOON, 1)}) == 2


SMALL = st.integers(0, 100_000)


@given(run=st.builds(Deferral, st.integers(10**6, 10**10), SMALL, SMALL, SMALL), offset=st.integers(-400_000, 400_000))
def test_moments_and_gates_say_the_same(run: Deferral, offset: int) -> None:
    """The gate is open exactly from match_opens to last_match, a start possible exactly until last_start."""
    now = run.time + offset
    assert run.may_match(now) == (run.match_opens <= now <= run.last_match)
    assert run.may_start(now) == (now >= run.match_opens)
    assert (run.arrival(now).verdict is Verdict.MISSED) == (now > run.last_start)
    assert (run.arrival(now).verdict is Verdict.WAIT) == (now < run.time)
