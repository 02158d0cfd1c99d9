"""Jobs that come to a real schedd and go, by condor_submit and condor_rm."""

import getpass
import re
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.soak.processes import CRONDOR
from tests.soak.world import Load

_ROUTED: Final = 20  # of so many jobs one is for the router, and has no schedule
_AT_ONCE: Final = 200  # jobs of one condor_submit
_PATIENCE: Final = 300.0  # seconds for one of HTCondor's tools
_CLUSTER: Final = re.compile(r"submitted to cluster (\d+)").search

_SCHEDULED: Final = """\
universe = vanilla
executable = /bin/true
transfer_executable = false
should_transfer_files = no
log = {logs}/$(Cluster).log
cron_minute = $(minute)
cron_hour = $(hour)
cron_window = 120
on_exit_remove = false
My.CrondorSoak = "{mark}"
queue minute, hour from (
{times}
)
"""
_ROUTABLE: Final = """\
universe = vanilla
executable = /bin/true
transfer_executable = false
should_transfer_files = no
requirements = false
log = {logs}/$(Cluster).log
My.CrondorSoak = "{mark}"
My.WantsRoute = true
queue {count}
"""
_ROUTES: Final = """\
JOB_ROUTER_NAME = soak
JOB_ROUTER_LOCK = {folder}/RouterLock
JOB_ROUTER_POLLING_PERIOD = {poll}
JOB_ROUTER_MAX_JOBS = 500
JOB_ROUTER_ROUTE_NAMES = soak
JOB_ROUTER_ROUTE_soak @=end
  REQUIREMENTS WantsRoute =?= true
  UNIVERSE vanilla
  SET Requirements true
  SET WantsRoute false
@end
"""


class Pool:
    """The queue of the schedd that HTCondor's configuration names; ``mark`` is in each of our jobs."""

    def __init__(self, folder: Path, mark: str) -> None:
        """Submit nothing yet."""
        self._logs = folder / "logs"
        self._logs.mkdir()
        self._folder = folder
        self._mark = mark
        self._clusters: deque[tuple[int, int]] = deque()
        self._made = 0
        self.come = self.gone = 0

    def fill(self, jobs: int) -> None:
        """Submit the jobs that are there at the begin."""
        for left in range(jobs, 0, -_AT_ONCE):
            self._submit(min(left, _AT_ONCE))

    def turn_over(self, jobs: int, _now: int) -> int:
        """Remove clusters, the oldest first, and submit as many others; return how many jobs."""
        left = 0
        while self._clusters and left < jobs:
            cluster, count = self._clusters.popleft()
            _tool("condor_rm", str(cluster), may_fail=True)
            left += count
        self.gone += left
        self._submit(left)
        for log in sorted(self._logs.iterdir(), key=lambda each: int(each.stem))[: -3 * len(self._clusters) - 10]:
            log.unlink()
        return left

    def close(self) -> None:
        """Remove all of them."""
        _tool("condor_rm", "-constraint", f'CrondorSoak == "{self._mark}"', may_fail=True)

    def monitored(self) -> Sequence[str]:
        """Return the options by which crondor monitor watches this queue."""
        return ["--live", "--allow-dir", str(self._logs), "--constraint", f'CrondorSoak == "{self._mark}"']

    def routed(self, load: Load) -> Sequence[str]:
        """Return the command of a router over this queue."""
        config = self._folder / "routes.conf"
        config.write_text(_ROUTES.format(folder=self._folder, poll=load.poll))
        options = ["--live", "--owner", getpass.getuser(), "--user-logs", str(self._logs), "--log-format", "json"]
        return [*CRONDOR, "route", "run", "--config", str(config), *options]

    @property
    def status_file(self) -> Path:
        """Where the router leaves how it stands."""
        return self._folder / "RouterLock.status"

    def _submit(self, jobs: int) -> None:
        routed = jobs // _ROUTED
        times = "\n".join(self._times(jobs - routed))
        self._send(_SCHEDULED.format(logs=self._logs, mark=self._mark, times=times), jobs - routed)
        if routed:
            self._send(_ROUTABLE.format(logs=self._logs, mark=self._mark, count=routed), routed)
        self.come += jobs

    def _times(self, jobs: int) -> Iterator[str]:
        """Yield minutes and hours, so that each minute of a day has as many jobs."""
        for number in range(self._made, self._made + jobs):
            yield f"{number % 60} {number // 60 % 24}"
        self._made += jobs

    def _send(self, text: str, jobs: int) -> None:
        file = self._folder / "jobs.sub"
        file.write_text(text)
        found = _CLUSTER(_tool("condor_submit", str(file)))
        if found is None:
            raise RuntimeError("condor_submit names no cluster")
        self._clusters.append((int(found[1]), jobs))


def _tool(*arguments: str, may_fail: bool = False) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode and not may_fail:
        raise RuntimeError(f"{' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout
