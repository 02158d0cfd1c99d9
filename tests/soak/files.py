"""Jobs in files as a schedd writes them: its log, compacted now and then, history files, and user logs, both rotated.

Half of the jobs that are due begin on time, and say so in their logs.
"""

import sys
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, JobEvent, write_event
from crondor.job_queue.records import JobId
from crondor.schedd.embedded import HISTORY, LOG, EmbeddedSchedd
from tests.soak.world import Load

_SHARED: Final = 50  # jobs that have a user log in common
_ONCE: Final = 4  # of so many jobs one has a time of its own and no crontab
_AT_ONCE: Final = 50  # jobs of a cluster
_HOUR: Final = 3600


class Rotation(NamedTuple):
    """From how many bytes on user logs and history are rotated, and how many seconds lie between two compactions."""

    log: int = 5_000
    history: int = 2_000_000
    compaction: int = 600


class Files:
    """A schedd's files in a folder, and jobs that come and go there."""

    def __init__(self, folder: Path, now: int, rotation: Rotation = Rotation()) -> None:  # noqa: B008 - a value
        """Begin with an empty queue at ``now`` (epoch seconds)."""
        self._folder = folder
        self._rotation = rotation
        self._spool, self._logs = folder / "spool", folder / "logs"
        self._logs.mkdir()
        self._now = self._done = self._compacted = now
        self._schedd = self._opened()
        self._clusters: deque[list[JobId]] = deque()
        self._due: dict[JobId, int] = {}  # the first time of each, epoch seconds
        self._made = 0
        self.come = self.gone = 0

    def fill(self, jobs: int) -> None:
        """Make the jobs that are there at the begin."""
        for left in range(jobs, 0, -_AT_ONCE):
            self._submit(min(left, _AT_ONCE))

    def turn_over(self, jobs: int, now: int) -> int:
        """Have jobs run that are due, remove the oldest clusters, submit as many others, and return how many.

        ``now`` is epoch seconds.
        """
        self._now = now
        with self._schedd.together():
            for begin in range(self._done - self._done % 60 + 60, now + 1, 60):
                self._start(begin)
            self._done = now
            left = 0
            while self._clusters and left < jobs:
                cluster = self._clusters.popleft()
                self._schedd.remove(f"ClusterId == {cluster[0].cluster}", "it is time")
                for job in cluster:
                    del self._due[job]
                left += len(cluster)
            self._submit(left)
        self.gone += left
        self._rotate()
        return left

    def close(self) -> None:
        """Close the queue."""
        self._schedd.close()

    def monitored(self) -> Sequence[str]:
        """Return the options by which crondor monitor watches this queue."""
        log, history = self._spool / LOG, self._spool / HISTORY
        return ["--log", str(log), "--history", str(history), "--allow-dir", str(self._logs), "--tz", "UTC"]

    def routed(self, load: Load) -> Sequence[str]:
        """Return the command of a router; an embedded queue has one writer, so its jobs come and go in that process."""
        numbers = [f"--{name.replace('_', '-')}={number}" for name, number in load._asdict().items()]
        return [sys.executable, "-m", "tests.soak.routing", str(self._folder / "routed"), *numbers]

    @property
    def status_file(self) -> Path:
        """Where the router leaves how it stands."""
        return self._folder / "routed" / "RouterLock.status"

    def _opened(self) -> EmbeddedSchedd:
        return EmbeddedSchedd(self._spool, clock=lambda: self._now)

    def _submit(self, jobs: int) -> None:
        numbers = range(self._made, self._made + jobs)
        made = self._schedd.submit(list(map(self._ad, numbers)))
        self._made += jobs
        for job, number in zip(made, numbers, strict=True):
            self._due[job] = self._first(number)
        self._clusters.append(made)
        self.come += jobs

    def _ad(self, number: int) -> ClassAd:
        """Return a job of each hour, of 60 each with a minute of its own, or one of one time."""
        values: dict[str, object] = {
            "Owner": f"user{number % 17}",
            "Cmd": "/bin/true",
            "Iwd": str(self._logs),
            "UserLog": f"{number // _SHARED}.log",
            "JobUniverse": 5,
            "DeferralWindow": 60,
            "DeferralPrepTime": 300,
            "NumJobStarts": 0,
            "NumJobCompletions": 0,
            "NumShadowStarts": 0,
        }
        if number % _ONCE:
            return ClassAd({**values, "CronMinute": str(number % 60), "OnExitRemove": False})
        return ClassAd({**values, "DeferralTime": self._first(number)})

    def _first(self, number: int) -> int:
        """Return when a job is due first (epoch seconds)."""
        if number % _ONCE:
            return self._now + (60 * (number % 60) - self._now) % _HOUR
        return self._now - self._now % 60 + 60 + number % 600

    def _start(self, begin: int) -> None:
        """Have half of the jobs run that are due in the minute from ``begin`` on (epoch seconds)."""
        due = [job for job, time in self._due.items() if job.proc % 2 and self._is_due(time, begin)]
        for job in due:
            runs = self._schedd.mirror.ad(job).value("NumJobStarts")
            count = 1 + (runs if isinstance(runs, int) else 0)
            changes: dict[str, object] = {
                "DeferralTime": begin,
                "LastJobStatus": 2,
                "EnteredCurrentStatus": begin + 1,
                "JobLastStartDate": begin - 2,
                "JobCurrentStartExecutingDate": begin,
                "NumJobStarts": count,
                "NumJobCompletions": count,
                "NumShadowStarts": count,
                "LastRemoteWallClockTime": 3.0,
                "ExitBySignal": False,
                "ExitCode": 0,
            }
            self._schedd.write(job, changes)
            said = {"TerminatedAndRequeued": True, "ReturnValue": 0}
            events = [
                JobEvent(EventType.EXECUTE, job.cluster, job.proc, begin, attributes={"ExecuteHost": "<127.0.0.1:1>"}),
                JobEvent(EventType.JOB_EVICTED, job.cluster, job.proc, begin + 1, attributes=said),
            ]
            name = self._schedd.mirror.ad(job).value("UserLog")
            with (self._logs / str(name)).open("a") as log:
                log.writelines(map(write_event, events))

    @staticmethod
    def _is_due(time: int, begin: int) -> bool:
        return time <= begin + 59 and (time - begin) % _HOUR < 60

    def _rotate(self) -> None:
        """Compact the log when it is time, as the schedd does, and rotate what has become long."""
        oldest = self._made - len(self._due)
        for log in [*self._logs.iterdir()]:
            if int(log.name.partition(".")[0]) * _SHARED + _SHARED < oldest:
                log.unlink()
            elif log.suffix == ".log" and log.stat().st_size > self._rotation.log:
                log.rename(log.with_suffix(".log.old"))
        history = self._spool / HISTORY
        is_long = history.exists() and history.stat().st_size > self._rotation.history
        if not is_long and self._now - self._compacted < self._rotation.compaction:
            return
        self._compacted = self._now
        self._schedd.close()
        if is_long:
            history.rename(
                history.with_name(f"history.{datetime.fromtimestamp(self._now, timezone.utc):%Y%m%dT%H%M%S}")
            )
            for old in sorted(self._spool.glob("history.*"))[:-5]:
                old.unlink()
        self._schedd = self._opened()  # one with transactions is compacted when it is opened
