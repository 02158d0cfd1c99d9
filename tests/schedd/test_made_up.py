"""Runs that the guard makes up: after a downtime, and after a run that lasted too long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd
from crondor.schedd.guard import CatchUp, Guard
from crondor.schedd.protocol import Which

HOUR = 3600
START = 1_795_196_400 - 1_795_196_400 % HOUR
JOB: Mapping[str, object] = {
    "ClusterId": 1,
    "ProcId": 0,
    "JobStatus": 1,
    "QDate": START,
    "EnteredCurrentStatus": START,
    "CronMinute": "0,30",
    "DeferralPrepTime": 60,
    "DeferralWindow": 0,
    "ScheddInterval": 20,
    "JobCurrentStartExecutingDate": 0,
    "CrondorCatchUp": 2 * HOUR,
}
PERIOD = HOUR // 2


def next_due(now: int) -> int:
    """Return the job's next time."""
    return now - now % PERIOD + PERIOD


def found(now: int, **attributes: object) -> list[tuple[int, int]]:
    """Return the missed time and the new time, as seconds since START, for the job with other attributes."""
    ad = ClassAd({**JOB, "DeferralTime": next_due(now), **attributes})
    with MemorySchedd(clock=lambda: now, ads=[ad]) as schedd:
        return [(each.missed - START, each.time - START) for each in Guard(schedd).guard(now).catch_ups]


def after(seconds: int) -> int:
    """Return a time after START."""
    return START + seconds


LONG = {
    "JobLastStartDate": after(PERIOD - 20),
    "JobCurrentStartExecutingDate": after(PERIOD),
    "EnteredCurrentStatus": after(3 * PERIOD + 20),
    "LastJobStatus": 2,
}


def test_a_missed_run_is_made_up() -> None:
    """The last one, within the bound, a little later so that it can be matched; with a window at once."""
    assert found(after(5 * PERIOD + 100)) == [(5 * PERIOD, 5 * PERIOD + 220)]
    assert found(after(5 * PERIOD + 100), DeferralWindow=90) == [(5 * PERIOD, 5 * PERIOD + 130)]
    assert found(after(5 * PERIOD + 100), DeferralWindow=600) == [(5 * PERIOD, 5 * PERIOD + 100)]
    assert found(after(5 * PERIOD + 100), CrondorCatchUp=99) == []
    assert found(after(5 * PERIOD + 100), CrondorCatchUp="6h") == []


@pytest.mark.parametrize(
    ("now", "attributes"),
    [
        (100, {}),  # it was submitted at that time
        (PERIOD - 100, {}),  # no time since
        (2 * PERIOD - 130, {}),  # the next run is too close
        (PERIOD + 100, {"DeferralTime": after(PERIOD)}),  # the schedd has not been there
        (PERIOD + 100, {"DeferralTime": after(PERIOD), "DeferralWindow": 200}),  # it may still start
        (PERIOD + 100, {"JobCurrentStartExecutingDate": after(PERIOD - 2)}),  # it ran, by another clock
        (PERIOD + 100, {"JobCurrentStartExecutingDate": after(PERIOD + 50)}),  # it was late
        (PERIOD + 100, {"JobUniverse": 12, "NumJobStarts": 1, "JobLastStartDate": after(PERIOD - 70)}),  # local
        (PERIOD + 100, {"EnteredCurrentStatus": after(PERIOD + 50), "LastJobStatus": 5}),  # it was on hold
        (PERIOD + 100, {"JobStatus": 2}),
        (PERIOD + 100, {"DeferralTime": after(PERIOD + 130), "CrondorCatchUpTime": after(PERIOD + 130)}),  # on its way
        (3 * PERIOD + 50, LONG),  # a run lasted too long, and times during it are skipped
    ],
)
def test_nothing_else_is_made_up(now: int, attributes: Mapping[str, object]) -> None:
    """Each for another reason."""
    assert found(after(now), **attributes) == []


def test_a_run_that_was_late_and_held_is_made_up() -> None:
    """HoldReasonCode 20 is a missed run, whoever has released the job; its shadow has written a start."""
    held = {
        "EnteredCurrentStatus": after(PERIOD + 50),
        "LastJobStatus": 5,
        "LastHoldReasonCode": 20,
        "JobCurrentStartExecutingDate": after(PERIOD + 20),
    }
    assert found(after(PERIOD + 100), **held) == [(PERIOD, PERIOD + 220)]


@pytest.mark.parametrize("universe", [5, 12])
def test_a_match_alone_is_no_run(universe: int) -> None:
    """The schedd crashed while the job waited for its time: until it was back, the job counted as running."""
    waited = {**LONG, "JobCurrentStartDate": after(PERIOD - 20), "JobCurrentStartExecutingDate": None}
    assert found(after(3 * PERIOD + 50), **waited, JobUniverse=universe) == [(3 * PERIOD, 3 * PERIOD + 170)]


def test_a_long_run_is_followed_by_one_run() -> None:
    """With `queue`: for the last time that passed during it; a downtime needs catch_up."""
    queues = {"CrondorCatchUp": None, "CrondorOverlap": "queue"}
    assert found(after(3 * PERIOD + 50), **LONG, **queues) == [(3 * PERIOD, 3 * PERIOD + 170)]
    assert found(after(4 * PERIOD + 50), **LONG, **queues) == []
    assert found(after(4 * PERIOD + 50), **LONG) == [(4 * PERIOD, 4 * PERIOD + 170)]


class Stale(MemorySchedd):
    """A schedd as somebody sees it who looked earlier."""

    def __init__(self, schedd: EmbeddedSchedd) -> None:
        """Look."""
        self._schedd = schedd
        self._ads = [ad.copy() for ad in schedd.jobs()]

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:  # noqa: ARG002 - those of the interface
        """Return the jobs of then that were idle."""
        return [ad for ad in self._ads if ad.value("JobStatus") == 1]

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit the jobs of now."""
        return self._schedd.edit_if(job, condition, edits)


class Run(NamedTuple):
    """One run: its DeferralTime, when its program started and ended, and the time that it made up."""

    due: int
    begin: int
    end: int
    missed: int | None


# HTCondor: Scheduler::calculateCronTabSchedule, and the clause that condor_submit adds to Requirements.
WINDOWS = (0, 45, 300)


def history(dice: Random, policies: Mapping[str, object], *, is_up: bool = False) -> tuple[list[Run], list[CatchUp]]:
    """Return the runs of ten hours with random downtimes and run times, and two guards that look at random times."""
    now, job = START, JobId(1, 0)
    window = dice.choice(WINDOWS)
    ad = ClassAd({**JOB, "DeferralWindow": window, "DeferralTime": next_due(now), "CrondorCatchUp": None, **policies})
    runs: list[Run] = []
    edits: list[CatchUp] = []
    with MemorySchedd(clock=lambda: now, ads=[ad], atomic_edits=dice.random() < 0.5) as schedd:
        guards: list[Stale] = []
        down_until, ends, began, is_fresh = 0, 0, 0, False
        while now < after(10 * HOUR):
            now += dice.randint(1, 25)
            if not is_up and now > down_until + 600 and dice.random() < 0.01:
                down_until, is_fresh = now + dice.randint(60, 3 * HOUR), True
                waits = runs and ends and now < runs[-1].begin
                if waits and dice.random() < 0.5:  # its starter is gone as well
                    del runs[-1]
                    ended = {"JobStatus": 1, "JobCurrentStartExecutingDate": began}
                    schedd.edit_if(job, "JobStatus == 2", {**ended, "EnteredCurrentStatus": down_until})
            if now < down_until:
                continue
            (seen,) = schedd.jobs()
            status, due = seen.value("JobStatus"), int(str(seen.value("DeferralTime")))
            if status == 2 and now >= ends:
                ended = {"JobStatus": 1, "EnteredCurrentStatus": now, "DeferralTime": next_due(now)}
                schedd.edit_if(job, "true", ended)
            elif status == 1 and (is_fresh or now > due + window):
                schedd.edit_if(job, "true", {"DeferralTime": next_due(now)})
                is_fresh = False
            elif status == 1 and due - 80 <= now < due + window and (is_up or dice.random() < 0.6):
                made_up = seen.value("CrondorCatchUpTime") == due
                begin, ends = max(now, due), max(now, due) + dice.choice((30, 600, 2500, 5000))
                runs.append(Run(due, begin, ends, int(str(seen.value("CrondorCaughtUp"))) if made_up else None))
                began = int(str(seen.value("JobCurrentStartExecutingDate")))
                running = {"JobStatus": 2, "JobCurrentStartDate": now, "JobCurrentStartExecutingDate": begin}
                schedd.edit_if(job, "true", {**running, "EnteredCurrentStatus": now})
            if dice.random() < 0.3:
                guards.append(Stale(schedd))
            if guards and (is_up or dice.random() < 0.4):
                edits += Guard(guards.pop(0)).guard(now, apply=True).catch_ups
    return runs, edits


RANDOM = st.integers(0, 2**32).map(Random)  # noqa: S311 - no secret


@given(RANDOM, st.sampled_from(({"CrondorCatchUp": 4000}, {"CrondorOverlap": "queue"}, {})))
def test_a_time_is_made_up_at_most_once(dice: Random, policies: Mapping[str, object]) -> None:
    """Whatever happens: a time of the schedule without a run, within the bound, and no other run is strange."""
    runs, edits = history(dice, policies)
    regular = {run.due for run in runs if run.missed is None}
    missed = [run.missed for run in runs if run.missed is not None]
    assert all(due % PERIOD == 0 for due in regular)
    assert len(set(missed)) == len(missed)
    assert not regular & set(missed)
    assert all(time % PERIOD == 0 and time > START for time in missed)
    assert bool(policies) or not edits
    for edit in edits:
        assert edit.missed < edit.time < next_due(edit.missed)
        assert policies.get("CrondorCatchUp") is None or edit.time - edit.missed <= 4000 + 120


@given(RANDOM)
def test_each_last_time_of_a_long_run_is_made_up(dice: Random) -> None:
    """Where the schedd is up and a slot is free; and the times that did not pass during a run are run as usual."""
    runs, _ = history(dice, {"CrondorOverlap": "queue"}, is_up=True)
    for run, following in pairwise(runs):
        last, coming = next_due(run.end) - PERIOD, next_due(run.end)
        assert run.end < following.begin
        if last <= run.begin:
            assert (following.due, following.missed) == (coming, None)
        elif run.end + 200 + WINDOWS[-1] < coming:
            assert following.missed == last
