"""Every due time gets exactly one verdict that stays, whatever a job does and whenever it is looked at."""

import gc
import pickle
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd
from crondor.event_log import EventType, JobEvent
from crondor.monitor import DueRun, QueueWatch, Totals, Verdict
from crondor.monitor.judging import SETTLE
from crondor.monitor.queue_watch import job_filter
from crondor.monitor.verdicts import JobCondition, JobHistory, Start, Turn
from crondor.recurrence import Recurrence
from crondor.schedd.protocol import Selection
from crondor.schedd.reading import QueueLogSchedd, ScheduledJob
from crondor.spec import CronSpec
from tests.monitor.made import ENTERED, SIX, MadeJob

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


def weight(watch: QueueWatch) -> int:
    """Return how much a watch keeps of its jobs, as bytes of a pickle."""
    kept = [(each.history, each.open, each.said) for each in (*watch._jobs.values(), *watch._gone.values())]
    return sum(len(each.packed) for each in watch._resting.values()) + sum(
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


@pytest.mark.parametrize("turns", [3, 12, 100])
def test_the_end_of_the_last_run_is_not_another_turn(turns: int) -> None:
    """However often the job was matched and held after it, at rest and pruned."""
    history = JobHistory()
    history.start(Start(100))
    for time, condition in ((100, JobCondition.RUNNING), (190, JobCondition.IDLE)):
        history.turn(Turn(time, condition))
    for number in range(turns):
        history.turn(Turn(1000 + number, (JobCondition.HELD, JobCondition.IDLE)[number % 2]))
    packed = JobHistory.unpacked(history.packed(is_whole=False))
    assert packed.end_of(Start(100)) == history.end_of(Start(100)) == Turn(190, JobCondition.IDLE)
    history.prune()
    assert history.end_of(Start(100)) == (Turn(190, JobCondition.IDLE) if turns < 64 else None)


def test_a_look_that_fails_loses_no_verdict() -> None:
    """The next one tells it."""
    job = MadeJob(DeferralTime=SIX)
    gone = MadeJob(job.watch, ClusterId=99, DeferralTime=SIX + 86_400)
    job.watch.look([job.ad, gone.ad], SIX - 10)
    late = SIX + 7200

    def fail(_: object) -> list[ClassAd]:
        raise OSError("no history")

    with pytest.raises(OSError, match="no history"):
        job.watch.look([job.ad], late, find_left=fail)
    assert "7.0" in {run.job for run in job.watch.look([job.ad], late + 1, find_left=lambda _: []).runs}


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
    assert [len(each.awake("").open) <= 2 for each in job.watch._resting.values()] == [True]


HEADER = "107 1 CreationTimestamp 1700000000\n"
REQUIREMENTS = f"(TARGET.Arch == {'X' * 300})"
AT_SEVEN = f"""CronMinute "0"
CronHour "7"
DeferralWindow 600
DeferralPrepTime 300
ScheddInterval 60
DeferralTime {SIX + 3600}
"""


def job(number: int, terms: str) -> str:
    """Return the records of an idle job that is alone in its cluster, with forty other attributes."""
    others = "".join(f'Other{each} "{number} and {each}"\n' for each in range(40))
    cluster = (
        f'ClusterId {number}\nOwner "alice"\nCmd "/bin/{number % 10}"\nQDate {ENTERED + number}\nJobUniverse 5\n'
        f"OnExitRemove false\nRequirements {REQUIREMENTS}\n{terms}{others}"
    )
    own = f"ProcId 0\nJobStatus 1\nEnteredCurrentStatus {ENTERED + number}\nNumJobStarts 0\n"
    made = ((f"0{number}.-1", cluster), (f"{number}.0", own))
    return "".join(
        f"101 {key} Job Machine\n" + "".join(f"103 {key} {line}\n" for line in text.splitlines()) for key, text in made
    )


def objects_of(roots: list[object]) -> Iterator[object]:
    """Yield what is reachable from some objects, each once; no types, modules and functions."""
    seen: set[int] = set()
    while roots:
        each = roots.pop()
        if id(each) not in seen and not isinstance(each, (type, ModuleType, FunctionType)):
            seen.add(id(each))
            yield each
            roots += gc.get_referents(each)


def run(number: int, begin: int, count: int) -> str:
    """Return the records of a job's ``count``-th run, which begins then (epoch seconds) and succeeds."""
    there = f"JobStatus 2\nJobCurrentStartDate {begin - 9}\nEnteredCurrentStatus {begin - 9}\nNumShadowStarts {count}\n"
    begun = f"JobCurrentStartExecutingDate {begin}\nNumJobStarts {count}\n"
    ended = f"JobStatus 1\nEnteredCurrentStatus {begin + 9}\nJobLastStartDate {begin - 9}\nNumJobCompletions {count}\n"
    texts = (there, begun, f"{ended}LastJobStatus 2\nLastRemoteWallClockTime 18.0\nExitCode 0\n")
    edits = ("".join(f"103 {number}.0 {line}\n" for line in text.splitlines()) for text in texts)
    return "".join(f"105 \n{each}106 \n" for each in edits)


def kept_of(folder: Path, scheduled: int, others: int, runs: int = 0) -> tuple[int, Counter[str]]:
    """Return what is kept of a log after some looks: bytes, and the objects of our own by the names of their types.

    Each scheduled job has run so many times.
    """
    path = folder / f"{scheduled}-{others}.log"
    jobs = [job(number, AT_SEVEN if number <= scheduled else "") for number in range(1, scheduled + others + 1)]
    path.write_text(HEADER + "".join(jobs), encoding="utf-8")
    watch = QueueWatch(sees_deferral_time=False)
    schedd = QueueLogSchedd(path, clock=lambda: SIX, only=job_filter(has_logs=False))
    for step in range(3):
        look = watch.look(schedd.unread(Selection()), SIX + 30 * step)
        assert len(look.jobs) == scheduled
    for count in range(1, runs + 1):
        begin = SIX + 3600 + 86_400 * (count - 1)
        with path.open("a", encoding="utf-8") as log:
            log.writelines(run(number, begin, count) for number in range(1, scheduled + 1))
        look = watch.look(schedd.unread(Selection(), anew=False), begin + 1000)
        assert [found.verdict for found in look.runs] == [Verdict.STARTED] * scheduled
    found = list(objects_of([watch, schedd.mirror.ads.held, schedd.mirror.ads.jobs]))
    own = Counter(type(each).__name__ for each in found if type(each).__module__.startswith("crondor"))
    return sum(map(sys.getsizeof, found)), own


def test_a_scheduled_job_takes_no_more_than_2_kb(tmp_path: Path) -> None:
    """It is two objects of ours; what it has in common with others is there once."""
    few, many = (kept_of(tmp_path, jobs, 0) for jobs in (100, 500))
    assert (many[0] - few[0]) / 400 < 1800
    assert many[1] - few[1] == Counter(RestingJob=400, JobId=400)


def test_a_job_that_runs_takes_no_more_than_2_kb_either(tmp_path: Path) -> None:
    """However many runs it has had."""
    few, many = (kept_of(tmp_path, jobs, 0, runs=12) for jobs in (20, 120))
    assert (many[0] - few[0]) / 100 < 2048
    assert many[1] - few[1] == Counter(RestingJob=100, JobId=100)


def test_other_jobs_take_nothing(tmp_path: Path) -> None:
    """However many there are."""
    assert kept_of(tmp_path, 20, 1000) == kept_of(tmp_path, 20, 10)
