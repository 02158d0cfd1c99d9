"""Recorded lives of jobs in real schedds, 25.14 and 23.9.6: each start in a user log is told, and no other.

The recordings have no JobCurrentStartExecutingDate: the user logs tell of starts, and the ads of the rest.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, JobEvent, read_events
from crondor.monitor import Cause, DueRun, QueueWatch, Verdict
from crondor.spec import FIELDS

FOLDER = Path(__file__).parents[1] / "golden" / "daemon"
EXPRESSION = re.compile(r"/Expr\((.*)\)/").fullmatch
ENDS = {EventType.JOB_EVICTED, EventType.JOB_TERMINATED, EventType.JOB_ABORTED, EventType.JOB_HELD}

ACCEPTED = {
    "a19_qedit_time_waiting": "its starter waits for the time that it had before an edit, which the ad shows no more",
    "a26_time_plus": "its time is another one whenever it is asked, and so no time is due",
    "a36_undefined": "the same: undefined at first",
    "c20_bad_minute": "its fields were edited, and are not in the recording",
    "k03_qedit_string": "DeferralTime became a string: no time is due, and schedd status says that it is held",
}
"""What is not told, and why."""


class Recording(NamedTuple):
    """One job's life: what its ad said when something had changed, and its user log."""

    name: str
    data: dict[str, Any]
    polls: list[dict[str, Any]]

    @property
    def events(self) -> list[JobEvent]:
        """The events of its user log."""
        return list(read_events(self.data.get("user_log") or "", now=self.data["t0"] + 10**6))

    @property
    def starts(self) -> list[int]:
        """When its programs began; a start that a hold of code 20 follows is none."""
        events, found = self.events, []
        for number, event in enumerate(events):
            end = next((later for later in events[number + 1 :] if later.number in ENDS), None)
            missed = end is not None and end.attributes.get("HoldReasonCode") == 20
            if event.number == EventType.EXECUTE and not missed:
                found.append(int(event.time))
        return found

    def ads(self) -> Iterator[tuple[int, list[ClassAd]]]:
        """Yield the times of the polls and the ads."""
        submit, t0 = self.data["submit"], self.data["t0"]
        cron = dict(re.findall(r"^(cron_\w+)\s*=\s*(.*)$", submit, re.MULTILINE))
        usual: dict[str, object] = {"ClusterId": self.data["cluster"], "ProcId": 0, "QDate": t0 - 3}
        usual["JobUniverse"] = 12 if self.data["universe"] == "local" else 5
        usual["OnExitRemove"] = "on_exit_remove = false" not in submit
        usual |= {field.attribute: cron[field.command] for field in FIELDS if field.command in cron}
        for poll in self.polls:
            ad = ClassAd({**usual, **{name: value_of(value) for name, value in poll.items() if value is not None}})
            yield int(t0 + poll["t"]), [] if poll.get("gone") else [ad]


def value_of(value: object) -> object:
    """Return a recorded value as an ad takes it."""
    found = EXPRESSION(value) if isinstance(value, str) else None
    return value if found is None else Expression(found[1])


def recordings() -> Iterator[Recording]:
    """Yield those of one job each."""
    for name in ("timeline", "timeline_23"):
        with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                data = json.loads(line)
                if len(data["procs"]) == 1:
                    yield Recording(data["name"], data, *data["procs"].values())


RECORDINGS = list(recordings())


def told(recording: Recording) -> list[DueRun]:
    """Return the last word on each due time, of a watch that saw each poll and read the user log."""
    watch = QueueWatch(since=recording.data["t0"] - 3600)
    found: dict[tuple[int, bool], DueRun] = {}
    events = recording.events
    for now, ads in recording.ads():
        new = [event for event in events if event.time <= now]
        del events[: len(new)]
        for run in watch.look(ads, now, events=new).runs:
            found[run.run.time, run.verdict is Verdict.UNPLANNED] = run
    return list(found.values())


def untold(recording: Recording, runs: list[DueRun]) -> bool:
    """Say whether a start, or a hold of code 20, is not told."""
    begun = [run.started for run in runs if run.started is not None]
    is_held = any(event.attributes.get("HoldReasonCode") == 20 for event in recording.events)
    starts = [start for start in recording.starts if not any(time <= start + 1 for time in begun)]
    return bool(starts) or (is_held and not any(run.cause is Cause.HELD_20 for run in runs))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: each.name)
def test_each_start_is_told_and_no_other(recording: Recording) -> None:
    """To the second; a run that was cut off and began anew in its window, or was tried again, is that of one time."""
    runs, starts = told(recording), recording.starts
    begun = [run.started for run in runs if run.started is not None]
    assert [time for time in begun if not any(abs(time - start) <= 1 for start in starts)] == []
    assert untold(recording, runs) == (recording.name in ACCEPTED)
    for run in runs:
        if run.verdict is Verdict.MISSED:
            assert not any(run.run.time <= start <= run.run.last_start for start in starts)


def test_no_name_is_accepted_that_is_none() -> None:
    """Each is that of a recording."""
    assert set(ACCEPTED) <= {recording.name for recording in RECORDINGS}
