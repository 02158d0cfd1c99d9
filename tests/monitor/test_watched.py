"""A watched queue that is asked by another thread: what its look makes of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timezone
from pathlib import Path
from time import monotonic

import pytest

from crondor.diagnostics import Diagnostic
from crondor.monitor.watched import Wanted, WatchedQueue
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Selection, Unreachable
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.monitor.command import _Told
from tests.monitor.made import HOUR, SIX, MadeJob
from tests.schedd.conftest import PATIENCE, StandIn


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A schedd."""
    return StandIn(tmp_path / "stand_in.json")


@pytest.fixture
def queue(stand_in: StandIn) -> Iterator[WatchedQueue]:
    """It, watched."""
    with ExitStack() as stack:

        def opened() -> LiveSchedd:
            return stack.enter_context(LiveSchedd(timeout=PATIENCE, environment=stand_in.environment))

        asked = QueueOptions(None, live=True)
        yield WatchedQueue("one", Wanted(asked, Selection.of(None), None, None, 60, None, (), ()), clock(SIX), opened)


def clock(now: int) -> Clock:
    """Return a clock that stands still."""
    return Clock(now, "UTC", timezone.utc)


def asked(queue: WatchedQueue) -> int:
    """Ask all that is to be asked before a look, and return how many questions that were."""
    count = 0
    question = queue.ask()
    while question is not None:
        count += 1
        question = queue.hear(question(), monotonic(), monotonic())
    return count


def leave(stand_in: StandIn, **attributes: str) -> None:
    """Move all jobs to the history."""
    state = stand_in.read()
    left = [{**ad, **attributes} for ad in state["jobs"].values()]
    stand_in.write({**state, "jobs": {}, "history": left})


def test_a_look_asks_nothing_that_was_asked(queue: WatchedQueue, stand_in: StandIn) -> None:
    """Its jobs are those of the answer."""
    stand_in.add(MadeJob(ClusterId=None, ProcId=None).ad)
    assert asked(queue) == 1
    calls = stand_in.read()["calls"]
    look = queue.look(clock(SIX + 10))
    assert look is not None
    assert [each.status.id for each in look.jobs] == ["1.0"]
    assert stand_in.read()["calls"] == calls


def test_of_jobs_that_have_left_the_history_is_asked(queue: WatchedQueue, stand_in: StandIn) -> None:
    """Before the look, too; once."""
    stand_in.add(MadeJob(ClusterId=None, ProcId=None).ad)
    asked(queue)
    queue.look(clock(SIX + 120))
    leave(stand_in, JobStatus="3", EnteredCurrentStatus=str(SIX + 200), RemoveReason='"because"')
    assert asked(queue) == 2
    look = queue.look(clock(SIX + HOUR + 120))
    assert look is not None
    assert [(run.verdict.value, run.detail) for run in look.runs] == [("lost", "because")]
    assert asked(queue) == 1


def test_an_answer_that_waited_is_as_old_as_it_is(queue: WatchedQueue, stand_in: StandIn) -> None:
    """What it says was so when it came: nothing is late because it was read later."""
    stand_in.add(MadeJob(ClusterId=None, ProcId=None).ad)
    question = queue.ask()
    assert question is not None
    then = monotonic() - 130
    assert queue.hear(question(), then, then) is None
    look = queue.look(clock(SIX + 140))
    assert look is not None
    assert [run.verdict.value for run in look.runs] == ["due"]


def test_a_fault_is_that_of_the_look(queue: WatchedQueue, stand_in: StandIn) -> None:
    """And gone with the next one that succeeds; a look after it asks by itself."""
    stand_in.add(MadeJob(ClusterId=None, ProcId=None).ad)
    fault = Unreachable(Diagnostic("schedd-timeout", "it does not answer"))
    assert queue.ask() is not None
    assert queue.hear(fault, monotonic() - 20.0, monotonic()) is None
    assert queue.look(clock(SIX)) is None
    assert (queue.fault, queue.seconds >= 20.0) == (fault, True)
    assert queue.look(clock(SIX)) is not None
    assert queue.fault is None


def test_findings_are_said_once_and_not_kept_for_ever(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very many the oldest are forgotten, and said again where they come again."""
    monkeypatch.setattr("crondor_cli.monitor.command._MOST_TOLD", 3)
    told = _Told()
    found = [Diagnostic("x", f"number {number}") for number in range(5)]
    for each in (found[:2], found[:2], found[2:], found[2:], found[:1]):
        told.show_new(each)
    assert capsys.readouterr().err.splitlines() == [f"error: number {number} [x]" for number in (0, 1, 2, 3, 4, 0)]
