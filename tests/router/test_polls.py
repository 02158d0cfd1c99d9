"""What a poll costs: counted in instructions, so that the machine does not matter."""

import gc
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from crondor.classad import Context
from crondor.router.match.matcher import Matcher, RouteLoad, RouteState
from crondor.router.match.reasons import Candidates
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
