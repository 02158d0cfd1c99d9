"""A router over an embedded queue whose jobs come and go: the process of the soak that has both.

An embedded queue has one writer, so the jobs come and go in the router's own process.
"""

import argparse
import json
import signal
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.router import load_table
from crondor.router.daemon import LogEntry, Router, RouterLock, RouterOptions
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.reading import job_id

_ROUTED: Final = 20  # of so many jobs one is for the router
_AT_ONCE: Final = 50  # jobs of a cluster
ROUTES: Final = """\
JOB_ROUTER_NAME = soak
JOB_ROUTER_MAX_JOBS = 500
JOB_ROUTER_ROUTE_NAMES = soak
JOB_ROUTER_ROUTE_soak @=end
  REQUIREMENTS WantsRoute =?= true
  UNIVERSE vanilla
  SET WantsRoute false
@end
"""


class Turnover:
    """Jobs of a queue that come and go; copies run as soon as they are seen, and end well."""

    def __init__(self, schedd: EmbeddedSchedd) -> None:
        """Begin with the jobs that are there."""
        self._schedd = schedd
        self._clusters: deque[tuple[int, int]] = deque()
        self._made = 0

    def step(self, jobs: int, now: int) -> None:
        """End the copies that are idle, remove the oldest jobs, and submit as many others."""
        for ad in self._schedd.jobs('RoutedBy =?= "soak" && JobStatus == 1', ["JobStatus"]):
            job = job_id(ad)
            assert job is not None
            ended = {"JobStatus": 4, "CompletionDate": now, "ExitCode": 0, "ExitBySignal": False}
            self._schedd.write(job, {**ended, "JobFinishedHookDone": now})
        left = 0
        while self._clusters and left < jobs:
            cluster, count = self._clusters.popleft()
            self._schedd.remove(f"ClusterId == {cluster}", "it is time")
            left += count
        self.fill(left)

    def fill(self, jobs: int) -> None:
        """Submit jobs."""
        for left in range(jobs, 0, -_AT_ONCE):
            made = self._schedd.submit(list(self._ads(min(left, _AT_ONCE))))
            self._clusters.append((made[0].cluster, len(made)))

    def _ads(self, jobs: int) -> Iterator[ClassAd]:
        for number in range(self._made, self._made + jobs):
            common = {"Owner": f"user{number % 17}", "Cmd": "/bin/true", "JobUniverse": 5, "Requirements": True}
            if number % _ROUTED == 0:
                yield ClassAd({**common, "WantsRoute": True})
            else:
                yield ClassAd({**common, "CronMinute": str(number % 60), "OnExitRemove": False})
        self._made += jobs


def main() -> None:
    """Route until SIGTERM comes."""
    options = _options()
    is_over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: is_over.append(number))
    with EmbeddedSchedd(options.folder, clock=lambda: int(time.time())) as schedd:
        table = load_table(read_config(ROUTES))
        lock = options.folder / "RouterLock"
        with RouterLock(lock, table.settings.name):
            router = Router(table, schedd, clock=lambda: int(time.time()), options=RouterOptions(log=_say))
            jobs = Turnover(schedd)
            jobs.fill(options.jobs)
            while not is_over:
                _poll(router, schedd, jobs, options, lock)


def _poll(router: Router, schedd: EmbeddedSchedd, jobs: Turnover, options: argparse.Namespace, lock: Path) -> None:
    """Let jobs come and go, poll as crondor route run does, leave a report, and wait for the next poll."""
    with schedd.together():
        jobs.step(options.turn_over * options.poll // 60, int(time.time()))
        began = time.monotonic()
        router.poll()
        schedd.clear_finished()
    replace(router.report(), poll_seconds=time.monotonic() - began).write(f"{lock}.status")
    time.sleep(options.poll)


def _say(entry: LogEntry) -> None:
    print(json.dumps({"what": entry.what.name.lower(), "text": str(entry)}), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.routing", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--turn-over", type=int, required=True)
    parser.add_argument("--poll", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
