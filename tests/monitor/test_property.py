"""Every due time gets exactly one verdict that stays, whatever a job does and whenever it is looked at."""

from collections import defaultdict
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from crondor.event_log import EventType, JobEvent
from crondor.monitor import DueRun, QueueWatch, Totals, Verdict
from crondor.monitor.judging import SETTLE
from crondor.recurrence import Recurrence
from crondor.schedd.reading import ScheduledJob
from crondor.spec import CronSpec
from tests.monitor.made import SIX, MadeJob

SPAN = 3 * 3600
MINUTES = ("0", "*/7", "3-58/5", "30", "1,2,50")

changes = st.fixed_dictionaries(
    {},
    optional={
        "JobStatus": st.sampled_from([1, 1, 2, 2, 5, 6, 7]),
        "HoldReasonCode": st.sampled_from([1, 20, 25]),
        "Managed": st.sampled_from(["External", "Schedd"]),
        "DeferralTime": st.integers(SIX - 600, SIX + SPAN + 600),
        "JobCurrentStartDate": st.integers(SIX - 600, SIX + SPAN),
        "JobCurrentStartExecutingDate": st.integers(SIX - 600, SIX + SPAN),
        "JobLastStartDate": st.integers(SIX - 600, SIX + SPAN),
        "LastJobStatus": st.sampled_from([1, 2, 5]),
        "NumJobStarts": st.integers(0, 9),
        "NumJobCompletions": st.integers(0, 9),
    },
)
steps = st.lists(st.tuples(st.integers(0, 1500), changes), max_size=25)
logged = st.lists(
    st.tuples(
        st.sampled_from([EventType.EXECUTE, EventType.JOB_EVICTED, EventType.JOB_HELD, EventType.JOB_RELEASED]),
        st.integers(SIX - 600, SIX + SPAN),
    ),
    max_size=8,
)


@given(minute=st.sampled_from(MINUTES), window=st.sampled_from([0, 30, 900]), steps=steps, logged=logged)
def test_each_due_time_has_one_last_verdict(
    minute: str, window: int, steps: list[tuple[int, dict[str, Any]]], logged: list[tuple[EventType, int]]
) -> None:
    """A final verdict is the last that is given of a time; none is left out, that of the first moment included."""
    watch = QueueWatch(since=SIX)
    job = MadeJob(watch, CronMinute=minute, DeferralWindow=window)
    now = SIX
    told: dict[int, list[DueRun]] = defaultdict(list)
    totals = Totals()

    def look(**attributes: object) -> None:
        events = [JobEvent(kind, 7, 0, time) for kind, time in logged if time <= now]
        runs = [run for run in job.look(now, events=events, **attributes) if run.verdict is not Verdict.UNPLANNED]
        totals.add(runs)
        for run in runs:
            assert run.run.time <= now
            told[run.run.time].append(run)

    for wait, attributes in steps:
        now += wait
        look(**attributes, EnteredCurrentStatus=now - wait // 2)
    now += window + SETTLE + 1
    look()
    due = list(Recurrence(CronSpec(minute=minute), "UTC").between(SIX - 1, now))
    assert sorted(told) == due
    assert totals.due == len(due)
    for runs in told.values():
        *before, last = runs
        assert not any(run.is_final for run in before)
        assert last.verdict not in {Verdict.AHEAD, Verdict.DUE} or last.run.last_start + SETTLE >= now
        assert [run.verdict for run in runs].count(Verdict.MISSED) <= 1
    assert totals.missed.total() + totals.lost.total() + totals.unknown <= len(due)


@given(minute=st.sampled_from([*MINUTES, None]), window=st.sampled_from([0, 30, 900]), steps=steps, logged=logged)
def test_an_ad_that_has_not_changed_need_not_be_read_and_a_job_may_rest(
    minute: str | None, window: int, steps: list[tuple[int, dict[str, Any]]], logged: list[tuple[EventType, int]]
) -> None:
    """The news and how the job stands are the same as where each look reads it anew, and as where none is packed."""

    def seen(slow: AbstractContextManager[object]) -> list[tuple[list[DueRun], list[object]]]:
        with slow:
            watch = QueueWatch(since=SIX)
            time = None if minute else SIX + 1200
            job = MadeJob(watch, CronMinute=minute, DeferralTime=time, DeferralWindow=window)
            now, read = SIX, 0
            found: list[tuple[list[DueRun], list[object]]] = []
            for wait, attributes in steps:
                job.set(**attributes, EnteredCurrentStatus=now)
                for part in (0, 1, wait // 3, wait // 2):
                    events = [JobEvent(kind, 7, 0, time) for kind, time in logged if read < time <= now + part]
                    read = now + part
                    look = watch.look([job.ad], now + part, events=events)
                    (each,) = look.jobs
                    status = replace(each.status, queued=job_of(each.status))
                    found.append((look.runs, [status, replace(each, schedule=None), look.late]))
                now += wait
            return found

    found = seen(nullcontext())
    assert found == seen(patch("crondor.monitor.queue_watch.fresh_until", return_value=0))
    assert found == seen(patch("crondor.monitor.judging.JobWatch.at_rest", return_value=None))


def job_of(status: ScheduledJob) -> Any:  # noqa: ANN401 - stands in for an ad, which is equal to itself only
    """Return what is said of a job beside its status."""
    return status.id, status.queued.string("Owner"), status.queued.string("Cmd")
