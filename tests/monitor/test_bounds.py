"""What is kept: it goes with the jobs that are there, and not with the time that passes."""

from __future__ import annotations

import pickle
from typing import Any

from crondor.monitor import QueueWatch
from tests.monitor.made import SIX, MadeJob


def weight(watch: QueueWatch) -> int:
    """Return how much a watch keeps of its jobs, as bytes of a pickle."""
    kept = [(each.history, each.open, each.said) for each in (*watch._jobs.values(), *watch._gone.values())]
    return sum(
        len(pickle.dumps([(name, getattr(history, name)) for name in history.__slots__] + [open_, said]))
        for history, open_, said in kept
    )


def test_a_job_that_runs_for_ever_weighs_no_more() -> None:
    """Five hundred runs, each with a start and an end, are no more than a hundred."""
    job = MadeJob(CronMinute="*", DeferralWindow=0)
    weights = []
    for number in range(500):
        now = SIX + 60 * number
        begun: dict[str, Any] = {
            "JobCurrentStartExecutingDate": now,
            "JobCurrentStartDate": now - 10,
            "NumJobStarts": number + 1,
        }
        job.look(now + 2, JobStatus=2, EnteredCurrentStatus=now - 10, DeferralTime=now, **begun)
        ended: dict[str, Any] = {"JobStatus": 1, "EnteredCurrentStatus": now + 5, "NumJobCompletions": number + 1}
        job.look(now + 10, **ended, DeferralTime=now + 60)
        if number in {99, 499}:
            weights.append(weight(job.watch))
    assert weights[1] <= weights[0] * 1.05


def test_jobs_that_come_and_go_leave_nothing() -> None:
    """Also those that are removed, once the time after is lost."""
    watch = QueueWatch()
    for number in range(120):
        now = SIX + 600 * number
        jobs = [
            MadeJob(watch, ClusterId=n, QDate=now, EnteredCurrentStatus=now) for n in range(number + 1, number + 11)
        ]
        watch.look([job.ad for job in jobs], now)
        assert len(watch) <= 10 + 7
    watch.look([], now + 600)
    watch.look([], now + 7200)
    assert len(watch) == 0


def test_a_job_that_stays_on_hold_has_no_due_time_open_for_long() -> None:
    """Each is missed, and done with."""
    job = MadeJob(CronMinute="*", DeferralWindow=0, JobStatus=5, HoldReasonCode=1)
    told = [run for number in range(300) for run in job.look(SIX + 60 * number)]
    assert len(told) > 500
    assert all(len(each.open) <= 2 for each in job.watch._jobs.values())
