"""Callers that write more than once: wherever they are stopped, the next one finishes their work."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.schedd.cron_tabs import apply_edits, recalculate
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.guard import Guard
from crondor.schedd.protocol import Acted, Hold, Schedd, Unreachable, Which
from crondor.schedd.reading import mirror_of

NOW = 1_795_195_625
WEEKLY = {"CronMinute": "0", "CronHour": "1-10/3"}  # the schedd reads 3, 6, 9; the manual 1, 4, 7, 10


class Stopping:
    """A schedd that is lost after some writes."""

    def __init__(self, schedd: EmbeddedSchedd, writes: int) -> None:
        """Take the schedd, and how many writes it takes."""
        self._schedd = schedd
        self._left = writes

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the schedd has
        """Everything else is the schedd's."""
        return getattr(self._schedd, name)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit, or be lost."""
        self._count()
        assert len(edits) == 1, "more than one attribute may be half written"
        return self._schedd.edit_if(job, condition, edits)

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Hold, or be lost."""
        self._count()
        return self._schedd.hold(which, hold)

    def _count(self) -> None:
        if not self._left:
            raise Unreachable(Diagnostic("schedd-crashed", "lost"))
        self._left -= 1


@pytest.fixture
def schedd(tmp_path: Path) -> Iterator[EmbeddedSchedd]:
    """Return a queue with three jobs, one of them invalid."""
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW) as made:
        for minute in ("0", "abc", "0"):
            made.submit([ClassAd({"Cmd": "/bin/date", **WEEKLY, "CronMinute": minute})])
        yield made


def recalc(schedd: Schedd) -> None:
    """Make one pass as the real schedd does."""
    apply_edits(schedd, recalculate(mirror_of(schedd.jobs()), NOW))


def guard(schedd: Schedd) -> None:
    """Make one pass of the guard."""
    Guard(schedd).guard(NOW, apply=True)


def state(schedd: EmbeddedSchedd) -> list[tuple[object, object]]:
    """Return what the jobs have come to."""
    jobs = map(QueuedJob, schedd.jobs())
    return [(job.status, job.integer("DeferralTime")) for job in jobs]


@pytest.mark.parametrize("caller", [recalc, guard])
@pytest.mark.parametrize("writes", range(4))
def test_a_caller_that_is_stopped_is_finished_by_the_next(
    schedd: EmbeddedSchedd, tmp_path: Path, caller: Callable[[Schedd], None], writes: int
) -> None:
    """After each write in turn: the end is that of a pass that was not stopped."""
    if caller is guard:
        recalc(schedd)
    before = state(schedd)
    with EmbeddedSchedd(tmp_path / "other", clock=lambda: NOW) as whole:
        for ad in schedd.jobs():
            whole.submit([ad])
        caller(whole)
        expected = state(whole)
    try:
        caller(Stopping(schedd, writes))
    except Unreachable:
        assert all(now in (was, to) for now, was, to in zip(state(schedd), before, expected, strict=True))
    caller(schedd)
    assert state(schedd) == expected


def test_a_pass_leaves_alone_what_has_started(schedd: EmbeddedSchedd) -> None:
    """The edits of a pass are conditions too: a job that was matched in the meantime keeps its time."""
    edits = recalculate(mirror_of(schedd.jobs()), NOW)
    schedd.edit_if(JobId(1, 0), "true", {"JobStatus": 2})
    schedd.edit_if(JobId(2, 0), "true", {"JobStatus": 2})
    assert [edit.job for edit in apply_edits(schedd, edits)] == [JobId(3, 0)]


# The guard


def test_the_guard_says_what_it_would_do(schedd: EmbeddedSchedd) -> None:
    """Without apply nothing is written; what the manual refuses is trouble."""
    recalc(schedd)
    schedd.edit_if(JobId(2, 0), "true", {"JobStatus": 1, "DeferralTime": NOW + 60})
    before = state(schedd)
    found = Guard(schedd).guard(NOW)
    assert state(schedd) == before
    assert [correction.job for correction in found.corrections] == [JobId(1, 0), JobId(3, 0)]
    assert {correction.applied for correction in found.corrections} == {None}
    assert list(found.trouble) == [JobId(2, 0)]
    assert found.jobs == 3


def test_the_guard_keeps_the_manuals_time(schedd: EmbeddedSchedd) -> None:
    """1:00 where the schedd would wait for 3:00; a second pass finds nothing."""
    recalc(schedd)
    (correction, _) = Guard(schedd).guard(NOW, apply=True).corrections
    assert correction.applied
    assert (correction.time % 86_400) // 3600 == 1
    assert correction.time < (correction.before or 0)
    assert Guard(schedd).guard(NOW, apply=True).corrections == []


def test_the_guard_leaves_a_right_run_in_its_window(tmp_path: Path) -> None:
    """It may still start; a wrong one in its window is moved on."""
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW) as schedd:
        (job,) = schedd.submit([ClassAd({**WEEKLY, "DeferralWindow": 600})])
        right = NOW - NOW % 86_400 + 86_400 + 3600
        schedd.edit_if(job, "true", {"DeferralTime": right})
        assert Guard(schedd).guard(right + 600).corrections == []
        assert len(Guard(schedd).guard(right + 601).corrections) == 1
        schedd.edit_if(job, "true", {"DeferralTime": right + 2 * 3600})
        assert len(Guard(schedd).guard(right + 2 * 3600 + 10).corrections) == 1


def test_a_faster_schedd_wins(schedd: EmbeddedSchedd) -> None:
    """The edit is under the condition that the job is as it was seen."""
    recalc(schedd)

    class Late(Stopping):
        def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
            schedd.edit_if(job, "true", {"JobStatus": 2})
            return schedd.edit_if(job, condition, edits)

    found = Guard(Late(schedd, 0)).guard(NOW, apply=True)
    assert [correction.applied for correction in found.corrections] == [False, False]
