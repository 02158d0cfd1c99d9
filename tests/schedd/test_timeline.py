"""The crontab bookkeeping against a real schedd: the same DeferralTimes at the same seconds, the same holds."""

import gzip
import json
from collections.abc import Iterator
from math import floor
from pathlib import Path
from typing import Any

import pytest

from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record
from crondor.schedd.cron_tabs import CronTabs
from crondor.spec import FIELDS

GOLDEN = Path(__file__).parents[1] / "golden" / "daemon" / "crontab_timeline.jsonl.gz"
TOLERANCE = 3  # seconds: the recording's own 2, and the poll's 1
JOB = JobId(1, 0)
EDITED = (*(field.attribute for field in FIELDS), "DeferralWindow")
UNDER_WAY, HELD = 2, 5
INVALID = 25
ON_HOLD = 15

Observation = dict[str, Any]


def recordings() -> Iterator[tuple[str, dict[str, Any], list[Observation]]]:
    """Yield each proc of the recording."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        for line in file:
            recorded = json.loads(line)
            for proc, seen in recorded["procs"].items():
                yield f"{recorded['name']}.{proc}", recorded, seen


class Replay:
    """A queue of one job whose status and schedule are the recording's, and whose DeferralTime is the book's."""

    def __init__(self, recorded: dict[str, Any], seen: list[Observation]) -> None:
        """Submit the job."""
        self.t0 = recorded["t0"]
        self.mirror = Mirror()
        self.book = CronTabs(self.mirror)
        self.times: list[tuple[int, int]] = []  # (t, DeferralTime)
        self.holds: list[tuple[str, int]] = []
        self.entered: int | None = None
        self.status = 1
        self.is_invalid = any(observation.get("HoldReasonCode") == INVALID for observation in seen)
        first = seen[0]
        self.change({name: first[name] for name in EDITED if name in first}, create=True)
        self.change({"JobStatus": HELD if first.get("HoldReasonCode") == ON_HOLD else 1})

    def change(self, values: dict[str, object], *, create: bool = False) -> None:
        """Set attributes in one transaction."""
        self.mirror.begin()
        if create:
            self.mirror.apply(Record(Op.NEW, str(JOB), "Job"))
        for name, value in values.items():
            self.mirror.apply(Record(Op.SET, str(JOB), name, json.dumps(value)))
        self.mirror.tell(self.mirror.changes())

    def look(self, t: int) -> None:
        """Let the schedd pass over its queue."""
        for edit in self.book.recalculate(self.t0 + t):
            if edit.time is not None:
                self.times.append((t, edit.time - self.t0))
                self.change({"DeferralTime": edit.time})
            else:
                self.holds.append((edit.hold or "", t))
                self.change({"JobStatus": HELD})

    def show(self, observation: Observation) -> None:
        """Take the recording's word for what happened to the job."""
        status, entered = observation["JobStatus"], observation["EnteredCurrentStatus"]
        edited = {name: observation[name] for name in EDITED if name in observation}
        anew = self.status == UNDER_WAY and entered != self.entered
        if status == UNDER_WAY and (anew or self.status == HELD):
            self.change({**edited, "JobStatus": 1})  # it was idle between two polls
            self.look(floor(observation["t"]))
        self.status, self.entered = status, entered
        if not self.is_invalid:  # then the hold is the book's to find
            edited["JobStatus"] = status
        self.change(edited)


def replayed(recorded: dict[str, Any], seen: list[Observation]) -> Replay:
    """Replay one job second by second."""
    replay = Replay(recorded, seen)
    start = floor(recorded["submitted"])
    replay.look(start)
    pending = list(seen)
    reconfigs = list(recorded["reconfig"])
    for t in range(start, floor(seen[-1]["t"]) + 1):
        if reconfigs and reconfigs[0] <= t:
            reconfigs.pop(0)
            replay.book.reconfig()
        while pending and floor(pending[0]["t"]) <= t:
            observation = pending.pop(0)
            if observation.get("gone"):
                return replay
            replay.show(observation)
        replay.look(t)
    return replay


def recorded_times(recorded: dict[str, Any], seen: list[Observation]) -> list[tuple[float, int]]:
    """Return when each DeferralTime was first seen."""
    found: list[tuple[float, int]] = []
    for observation in seen:
        time = observation.get("DeferralTime")
        if time is not None and (not found or found[-1][1] != time - recorded["t0"]):
            found.append((observation["t"], time - recorded["t0"]))
    return found


ALL = list(recordings())


@pytest.mark.parametrize(("recorded", "seen"), [case[1:] for case in ALL], ids=[case[0] for case in ALL])
def test_every_deferral_time_is_the_real_schedds(recorded: dict[str, Any], seen: list[Observation]) -> None:
    """The times in their order, each within the recording's tolerance."""
    replay = replayed(recorded, seen)
    expected = recorded_times(recorded, seen)
    assert [time for _, time in replay.times] == [time for _, time in expected]
    for (mine, time), (theirs, _) in zip(replay.times, expected, strict=True):
        assert abs(mine - theirs) <= TOLERANCE, (time, mine, theirs)
    holds = [(o["HoldReason"], o["t"]) for o in seen if o.get("HoldReasonCode") == INVALID][:1]
    assert [reason for reason, _ in replay.holds] == [reason for reason, _ in holds]
    assert all(abs(mine - t) <= TOLERANCE for (_, mine), (_, t) in zip(replay.holds, holds, strict=True))


def test_the_recording_is_whole() -> None:
    """A recording that has lost its jobs would pass everything."""
    assert len(ALL) == 15
    assert sum(len(recorded_times(recorded, seen)) for _, recorded, seen in ALL) == 49
    assert {o["HoldReasonCode"] for _, _, seen in ALL for o in seen if "HoldReasonCode" in o} == {1, 15, 25}
    assert any(recorded["reconfig"] for _, recorded, _ in ALL)
