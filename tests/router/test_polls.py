"""What a poll costs: counted in instructions, so that the machine does not matter."""

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Context
from crondor.router import Route
from crondor.router.match.matcher import (
    NO_THROTTLE,
    Limit,
    Matcher,
    RouteLoad,
    RouteState,
    Throttle,
    limit_of,
    limit_text,
    room_of,
)
from crondor.router.match.reasons import Candidates
from crondor.transform import Transform
from tests.router.tables import job, table_of

_CONTEXT = Context(now=1)
_ROUTES = {"A": "REQUIREMENTS Color == 1\nMaxJobs = 100", "B": "REQUIREMENTS Color == 2\nMaxJobs = 100"}
_TABLE = table_of(_ROUTES, "JOB_ROUTER_MAX_JOBS = 1000\nJOB_ROUTER_SOURCE_JOB_CONSTRAINT = JobUniverse == 5")


def _operations(work: Callable[[], object]) -> int:
    """Return how many instructions of Python some work takes; none of those that clear up after other work."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    gc.disable()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def _cost(count: int, universe: str, route_state: RouteState) -> int:
    """Return what the second poll of so many jobs costs."""
    kept = Candidates(Matcher(_TABLE))
    for number in range(count):
        kept.put(f"1.{number}", job(ProcId=str(number), Color=str(number % 4), JobUniverse=universe), _CONTEXT)
    kept.poll(route_state, _CONTEXT)
    _operations(lambda: None)  # Python 3.12 counts no instructions the first time it is asked to
    return _operations(partial(kept.poll, route_state, _CONTEXT))


_FULL = {"a": RouteLoad(100, 0), "b": RouteLoad(100, 0)}


@pytest.mark.parametrize(
    ("universe", "route_state"),
    [
        ("7", RouteState()),
        ("5", RouteState(_FULL)),
        ("5", RouteState(_FULL, managed=1000)),
        ("5", RouteState(managed=999)),
    ],
    ids=["no route matches", "routes are full", "the router is full", "one job is taken"],
)
def test_a_poll_does_not_count_the_jobs(universe: str, route_state: RouteState) -> None:
    """Polls of many jobs take the same steps as polls of few jobs of as many kinds."""
    few, many = (_cost(count, universe, route_state) for count in (12, 60))
    assert few == many > 10


def test_jobs_that_left_are_not_passed_over_again() -> None:
    """A queue that is taken one job a poll costs the same at its end as at its beginning."""
    kept = Candidates(Matcher(_TABLE))
    for number in range(500):
        kept.put(f"1.{number}", job(ProcId=str(number), Color="1"), _CONTEXT)
    taken = [kept.poll(RouteState(managed=999), _CONTEXT).matches[0].job for _ in range(490)]
    assert taken == [f"1.{number}" for number in range(490)]


_TRANSFORM = Transform.parse("SET A 1", name="A")
ROUTE = Route("A", _TRANSFORM.source, _TRANSFORM)


@pytest.mark.parametrize(
    ("max_jobs", "max_idle", "load", "expected"),
    [
        (100, 50, RouteLoad(), None),
        (100, 50, RouteLoad(99, 49), None),
        (100, 50, RouteLoad(100, 0), Limit.FULL),
        (100, 50, RouteLoad(60, 50), Limit.IDLE_LIMIT),
        (100, 50, RouteLoad(100, 50), Limit.IDLE_LIMIT),
        (100, 0, RouteLoad(), Limit.IDLE_LIMIT),
        (100, -1, RouteLoad(99, 99), None),
        (-1, -1, RouteLoad(), Limit.FULL),
        (0, -1, RouteLoad(), Limit.FULL),
        (-1, 0, RouteLoad(), Limit.IDLE_LIMIT),
    ],
)
def test_the_limits(max_jobs: int, max_idle: int, load: RouteLoad, expected: Limit | None) -> None:
    """A negative MaxJobs never takes a job, a negative MaxIdleJobs is no limit, and that one is asked first."""
    assert limit_of(replace(ROUTE, max_jobs=max_jobs, max_idle_jobs=max_idle), load) is expected


def test_the_throttle_is_asked_first() -> None:
    """A route that is throttled and full is throttled."""
    throttle = Throttle(0, routed=18, jobs=18.0)
    assert limit_of(replace(ROUTE, max_jobs=0), RouteLoad(), throttle) is Limit.THROTTLED
    assert limit_of(ROUTE, RouteLoad(), throttle._replace(routed=17)) is None


@given(
    st.integers(-2, 6),
    st.integers(-2, 6),
    st.integers(0, 6),
    st.integers(0, 6),
    st.floats(-1, 6, allow_nan=False),
    st.integers(0, 6),
)
def test_the_room_is_what_the_limits_leave(
    most: int, idle: int, jobs: int, idle_jobs: int, rate: float, routed: int
) -> None:
    """Room is the number of jobs that are taken one after the other until a limit is reached."""
    route = replace(ROUTE, max_jobs=most, max_idle_jobs=idle)
    load, throttle = RouteLoad(jobs, idle_jobs), Throttle(0, routed=routed, jobs=rate)
    room, taken = room_of(route, load, throttle), 0
    while limit_of(route, load, throttle) is None:
        load, throttle, taken = load.routed(), throttle.with_routed(), taken + 1
    assert taken == room


def test_a_limit_says_its_figures() -> None:
    """Full, idle and throttled are told apart with the numbers after them."""
    assert limit_text(ROUTE, RouteLoad(100, 3), NO_THROTTLE, Limit.FULL) == "full: 100 jobs, MaxJobs = 100"
    assert (
        limit_text(ROUTE, RouteLoad(60, 50), NO_THROTTLE, Limit.IDLE_LIMIT) == "idle limit: 50 idle, MaxIdleJobs = 50"
    )
    negative = limit_text(replace(ROUTE, max_jobs=-1), RouteLoad(), NO_THROTTLE, Limit.FULL)
    assert negative == "full: MaxJobs = -1 is negative, and such a route never takes a job"
    throttled = limit_text(ROUTE, RouteLoad(), Throttle(0, routed=18, jobs=18.0), Limit.THROTTLED)
    assert throttled == "throttled: too many failures; 18 routed in 600 s, the limit is 18"


def test_a_window_has_to_be_over() -> None:
    """Nothing changes before 600 s have passed; then all is counted anew."""
    seen = Throttle(1000, routed=40, failed=30, succeeded=2)
    assert seen.adjusted(1599, 0.03, 0) == seen
    assert seen.adjusted(1600, 0.03, 0)[:4] == (1600, 0, 0, 0)


@pytest.mark.parametrize(
    ("before", "current", "expected"),
    [
        (Throttle(0, failed=18), 0, 0.0),  # at the threshold of 18 in 600 s, not above
        (Throttle(0, failed=19), 0, 18.0),
        (Throttle(0, failed=19, succeeded=19), 0, 36.0),
        (Throttle(0, failed=19, succeeded=9), 10, 36.0),
        (Throttle(0, succeeded=10, jobs=10.0), 0, 50.0),
        (Throttle(0, failed=5, succeeded=5, jobs=10.0), 0, 25.0),
        (Throttle(0, jobs=10.0), 0, 20.0),
        (Throttle(0, failed=1, jobs=10.0), 0, 10.0),  # only failures, but few
        (Throttle(0, failed=2, succeeded=1, jobs=10.0), 0, 10.0),
        (Throttle(0, jobs=0.2), 0, 1.0),
        (Throttle(0, failed=1, succeeded=1, jobs=0.2), 0, 0.5),
        (Throttle(0, succeeded=1, jobs=100_000.0), 0, 0.0),
        (Throttle(0, succeeded=1), 0, 0.0),
    ],
)
def test_the_next_window(before: Throttle, current: int, expected: float) -> None:
    """Failures above the threshold of 0.03 a second throttle; below it, it is eased, and taken off in the end."""
    assert before.adjusted(600, 0.03, current).jobs == pytest.approx(expected)


def test_a_longer_window_has_a_lower_rate() -> None:
    """The rate is that of the time that has passed."""
    assert Throttle(0, failed=30).adjusted(1200, 0.03, 0).jobs == 0
    assert Throttle(0, failed=37).adjusted(1200, 0.03, 0).jobs == pytest.approx(18)


def test_it_is_shown_as_the_tools_do() -> None:
    """In jobs a second, with six digits."""
    assert str(NO_THROTTLE) == "none"
    assert str(Throttle(jobs=18.0)) == "0.03 jobs/sec"
    assert str(Throttle(jobs=1.0)) == "0.00166667 jobs/sec"
    assert str(Throttle(jobs=-1.0)) == "none"
