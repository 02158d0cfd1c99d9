"""A watched queue that is asked by another thread: what its look makes of the answers."""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from datetime import timezone
from pathlib import Path
from random import Random
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue import JobId
from crondor.monitor.queue_watch import job_filter, texts_of
from crondor.monitor.watched import Wanted, WatchedQueue
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Selection, Unreachable
from crondor.schedd.reading import QueueLogSchedd, job_id
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
    assert asked(queue) == 3  # changed jobs, then all, then the history
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


class TestChanges:
    """A queue that asks for changes only, and one that asks for all jobs each time, of one schedd."""

    JOBS = 6

    def test_both_say_the_same(self, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
        """Over random runs, holds, removals, submissions and minutes, each change written as a schedd writes it."""
        rng, now = Random(35), SIX  # noqa: S311 - which jobs change, no secret
        moment = SimpleNamespace(monotonic=lambda: float(now))
        monkeypatch.setattr("crondor.monitor.watched.time", moment)
        with LiveSchedd(timeout=PATIENCE, environment=stand_in.environment) as schedd:
            opts = QueueOptions(None, live=True)
            wanted = Wanted(opts, Selection.of(None), None, None, 60, None, (), ())
            part, whole = (WatchedQueue("one", wanted, clock(SIX), lambda: schedd) for _ in range(2))
            few = 0
            for _ in range(self.JOBS):
                stand_in.add(self.made(rng, now))
            for _ in range(120):
                now += rng.choice((7, 10, 30, 90, 700))
                state = {**stand_in.read(), "now": now, "calls": []}
                stand_in.write(state)
                for key in list(state["jobs"]):
                    if rng.random() < 0.1:
                        self.change(state, key, now, rng)
                stand_in.write(state)
                if rng.random() < 0.1:
                    stand_in.add(self.made(rng, now))
                whole._next_whole = 0.0
                looks = []
                for queue in (whole, part):
                    count = 0
                    question = queue.ask()
                    while question is not None:
                        answer = question()
                        count += len(answer.ads)
                        question = queue.hear(answer, now, now)
                    if queue is part:
                        few += count < len(state["jobs"])
                    calls = stand_in.read()["calls"]
                    looks.append(queue.look(clock(now)))
                    assert stand_in.read()["calls"] == calls  # what is due was asked for, together
                assert looks[0] is not None
                assert looks[1] is not None
                assert looks[0].runs == looks[1].runs
                assert list(looks[0].jobs) == list(looks[1].jobs)
                assert looks[0].late == looks[1].late
            assert few > 30

    @staticmethod
    def made(rng: Random, now: int) -> ClassAd:
        """Return a job that runs at some minutes, or once."""
        made = MadeJob(ClusterId=None, ProcId=None, QDate=now, EnteredCurrentStatus=now)
        if rng.random() < 0.3:
            return made.set(CronMinute=None, DeferralTime=now + rng.randrange(2000)).ad
        return made.set(CronMinute=rng.choice(("0", "*/7", "30"))).ad

    @staticmethod
    def change(state: dict[str, Any], key: str, now: int, rng: Random) -> None:
        """Start, end, hold, release or remove a job, as a schedd does."""
        ad = state["jobs"][key]
        status = rng.choice({"1": "253", "2": "1543", "5": "13"}[ad["JobStatus"]])
        ad |= {"LastJobStatus": ad["JobStatus"], "JobStatus": status, "EnteredCurrentStatus": str(now)}
        if status == "2":
            ad |= {"JobCurrentStartDate": str(now), "JobCurrentStartExecutingDate": str(now + 1)}
            ad["NumJobStarts"] = str(int(ad["NumJobStarts"]) + 1)
        if status in "34":
            state["history"].append(state["jobs"].pop(key))


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


keys = st.sampled_from(["01.-1", "1.0", "1.1", "02.-1", "2.0", "03.-1", "3.0"])
values = st.sampled_from(
    [
        *("CronMinute 5", 'CronHour "3"', "cronminute Mine + 1", "DeferralTime 1795586400", "DeferralWindow Mine"),
        *("Mine 7", "JobStatus 2", 'Owner "alice"', "QDate 1795000000", 'Other "x"', "JobStatus 1", "Bad {"),
    ]
)
records = st.one_of(
    st.builds("101 {} Job Machine\n".format, keys),
    st.builds("103 {} {}\n".format, keys, values),
    st.builds("103 {} {}\n".format, keys, values),
    st.builds("104 {} {}\n".format, keys, st.sampled_from(["CronMinute", "Mine", "JobStatus", "Other"])),
    st.builds("102 {}\n".format, keys),
)
HEADER = "107 1 CreationTimestamp 1700000000\n"
whole = st.lists(records, max_size=12).map(lambda each: "".join(["105 \n", *each, "106 \n"]))
pieces = st.one_of(records, whole, st.sampled_from(["105 \n", "106 \n", HEADER, "\n", "105 \n103 1.0"]))
steps = st.lists(pieces, max_size=14)


@given(steps=steps)
def test_the_jobs_are_the_same(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    """After each step, and where a compaction has written the log anew; and where only changed ads are told."""
    path = tmp_path_factory.mktemp("log") / "job_queue.log"
    path.write_text(HEADER, encoding="utf-8")
    every = QueueLogSchedd(path, clock=lambda: SIX)
    some, again = (QueueLogSchedd(path, clock=lambda: SIX, only=job_filter()) for _ in range(2))
    texts: dict[JobId, Hashable] = {}
    for step in steps:
        if step == HEADER:
            path.unlink()
        with path.open("a", encoding="utf-8") as file:
            file.write(step)
        wanted = {job_id(ad): texts_of(ad) for ad in every.scheduled().ads}
        answer, changed = some.unread(Selection()), again.unread(Selection(), anew=False)
        texts = {ad.job: texts[ad.job] if ad.text is None else ad.text for ad in changed}
        assert texts == {ad.job: ad.text for ad in answer}
        found = {ad.job: read for ad in answer if (read := ad.read()) is not None}
        assert {job: texts_of(ad) for job, ad in found.items()} == wanted
        whole = {job: every.jobs(job)[0] for job in found}
        refers = [job for job in found if "mine" in str(texts_of(whole[job])).lower()]
        assert [whole[job].get("Mine") for job in refers] == [found[job].get("Mine") for job in refers]
