"""Schedds to test: an embedded queue, the follower of its log, and the live adapter with the bindings' stand-in."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.schedd.embedded import LOG, EmbeddedSchedd, MemorySchedd
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Schedd
from crondor.schedd.reading import QueueLogSchedd

ROOT = Path(__file__).parents[2]
NOW = 1_795_195_625  # 2026-11-20 17:27:05 UTC
PATIENCE = 60.0  # seconds; a worker that takes longer hangs

# The test with a real pool belongs to the run only where somebody has named one.
collect_ignore = [] if os.environ.get("CRONDOR_TEST_POOL") else ["test_live_pool.py"]

JOBS: tuple[Mapping[str, object], ...] = (
    {"Owner": "alice", "Cmd": "/bin/date", "JobStatus": 1, "CronMinute": "0", "DeferralTime": NOW + 100},
    {"Owner": "bob", "Cmd": "/bin/df", "JobStatus": 2, "Note": 'a "b" \\c'},
    {"Owner": "alice", "Cmd": "/bin/ls", "JobStatus": 5, "HoldReason": "because", "HoldReasonCode": 1},
)


class StandIn:
    """The file that the stand-in's schedd works on."""

    def __init__(self, path: Path) -> None:
        """Make an empty queue."""
        self.path = path
        self.write({"jobs": {}, "history": [], "next": 1, "faults": [], "calls": []})

    def read(self) -> dict[str, Any]:
        """Return its state."""
        state: dict[str, Any] = json.loads(self.path.read_text())
        return state

    def write(self, state: Mapping[str, Any]) -> None:
        """Change its state."""
        self.path.write_text(json.dumps(state))

    def add(self, ad: ClassAd) -> JobId:
        """Put a job into the queue."""
        state = self.read()
        cluster = state["next"]
        state["next"] += 1
        texts = {name: ad.text(name) for name in ad}
        state["jobs"][f"{cluster}.0"] = {"ClusterId": str(cluster), "ProcId": "0", **texts}
        self.write(state)
        return JobId(cluster, 0)

    def fail(self, *faults: tuple[str, str]) -> None:
        """Let the next calls go wrong: what is done, and how."""
        self.write({**self.read(), "faults": [list(fault) for fault in faults]})

    @property
    def environment(self) -> dict[str, str]:
        """What makes a worker find the stand-in instead of the bindings."""
        paths = os.pathsep.join([str(Path(__file__).with_name("stand_in")), str(ROOT)])
        return {"PYTHONPATH": paths, "STAND_IN": str(self.path), "STAND_IN_NOW": str(NOW)}


class Place:
    """A schedd, and ways to change its queue behind its back."""

    def __init__(
        self, schedd: Schedd, add: Callable[[ClassAd], JobId], edit: Callable[[JobId, str, object], None]
    ) -> None:
        """Take the schedd, and what adds a job and sets an attribute."""
        self.schedd = schedd
        self.add = add
        self.edit = edit

    def fill(self) -> list[JobId]:
        """Add the usual jobs."""
        return [self.add(ClassAd(job)) for job in JOBS]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A stand-in's queue."""
    return StandIn(tmp_path / "stand_in.json")


@pytest.fixture
def make(tmp_path: Path, stand_in: StandIn) -> Iterator[Callable[[str], Place]]:
    """Return what makes a schedd of a kind."""
    with ExitStack() as stack:

        def made(kind: str) -> Place:
            if kind == "live":
                live = stack.enter_context(LiveSchedd(timeout=PATIENCE, environment=stand_in.environment))

                def edit(job: JobId, name: str, value: object) -> None:
                    state = stand_in.read()
                    state["jobs"][str(job)][name] = ClassAd({name: value}).text(name)
                    stand_in.write(state)

                return Place(live, stand_in.add, edit)
            opened = MemorySchedd(clock=lambda: NOW) if kind == "memory" else None
            embedded = stack.enter_context(opened or EmbeddedSchedd(tmp_path / kind, clock=lambda: NOW))
            writer: Schedd = embedded

            def add(ad: ClassAd) -> JobId:
                return writer.submit([ad])[0]

            def set_one(job: JobId, name: str, value: object) -> None:
                writer.edit_if(job, "true", {name: value})

            if kind in {"embedded", "memory"}:
                return Place(embedded, add, set_one)
            return Place(QueueLogSchedd(tmp_path / kind / LOG, clock=lambda: NOW), add, set_one)

        yield made
