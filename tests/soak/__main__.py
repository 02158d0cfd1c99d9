"""Watch and route a queue whose jobs come and go, for an hour: ``python -m tests.soak --minutes 60 --jobs 10000``.

`crondor monitor` and a router run as processes of their own. Their memory, descriptors, threads and CPU time are
measured each minute, how long a poll takes, and how many series the metrics have. At the end a table is printed; status
1 where any of these grew after the warm-up, a process ended, or a queue could not be read.

Without ``--live`` the queue is files as a schedd writes them: its log, compacted now and then, history and user logs,
both rotated; the router works on an embedded queue. With ``--live`` it is that of the schedd which HTCondor's
configuration names: condor_submit and condor_rm must be there, and the jobs are removed at the end.
"""

import argparse
import json
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from tests.soak.files import Files
from tests.soak.judging import growth, slope, table
from tests.soak.pool import Pool
from tests.soak.processes import CRONDOR, Process
from tests.soak.world import Load, World

_SAMPLE: Final = 60.0  # seconds between two samples
_WARM_UP: Final = 15.0  # minutes: the monitor remembers the 10,000 jobs that were removed last
_SERIES: Final = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE).findall
_PORT: Final = re.compile(r"metrics on (http://\S+)").search
_START: Final = 120.0  # seconds in which the metrics must be there


def main() -> None:
    """Run the soak, print what was measured, and judge it."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    with tempfile.TemporaryDirectory(prefix="soak", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        world: World = Pool(Path(name), Path(name).name) if options.live else Files(Path(name), int(time.time()))
        try:
            processes, faults = _run(world, options, Path(name))
        finally:
            world.close()
        sys.exit(_report(world, processes, faults, options))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs of the queue (default: 10000)")
    parser.add_argument(
        "--turn-over", type=int, default=1000, help="jobs a minute that leave, and come (default: 1000)"
    )
    parser.add_argument("--poll", type=int, default=10, help="seconds between two polls (default: 10)")
    parser.add_argument("--warm-up", type=float, help="minutes that are not judged (default: a quarter, and 15)")
    parser.add_argument("--live", action="store_true", help="over the schedd that HTCondor's configuration names")
    return parser.parse_args()


def _run(world: World, options: argparse.Namespace, folder: Path) -> tuple[list[Process], list[str]]:
    world.fill(options.jobs)
    told = ["--on", "missed", "true", "--metrics", "0", "--router", str(world.status_file)]
    polls = ["--poll", str(options.poll), "--format", "json"]
    router = Process("router", world.routed(Load(options.jobs, options.turn_over, options.poll)), folder)
    monitor = Process("monitor", [*CRONDOR, "monitor", *world.monitored(), *told, *polls], folder)
    processes = [monitor, router]
    faults: list[str] = []
    try:
        _follow(world, processes, faults, options)
    finally:
        for each in processes:
            each.end()
    return processes, faults


def _follow(world: World, processes: list[Process], faults: list[str], options: argparse.Namespace) -> None:
    """Let jobs come and go, and measure, until the time is over or a process has ended."""
    monitor, router = processes
    address = _address(monitor)
    begin = time.monotonic()
    samples = 0
    left = 0.0
    before = begin
    while (now := time.monotonic()) < begin + 60 * options.minutes:
        left += (now - before) / 60 * options.turn_over
        before = now
        if left >= options.turn_over / 6:
            left -= world.turn_over(int(left), int(time.time()))
        if time.monotonic() - begin >= samples * _SAMPLE:
            samples += 1
            faults += _measure(monitor, router, address, time.monotonic() - begin)
        ended = [each for each in processes if not each.is_running]
        if ended:
            faults += [f"{each.name} has ended with status {each.status}" for each in ended]
            return
        time.sleep(1)


def _address(monitor: Process) -> str:
    """Return where the metrics are."""
    end = time.monotonic() + _START
    while time.monotonic() < end and monitor.is_running:
        found = _PORT(monitor.err.read_text())
        if found is not None:
            return found[1]
        time.sleep(0.5)
    raise SystemExit(f"the monitor does not serve metrics: {monitor.err.read_text()}")


def _measure(monitor: Process, router: Process, address: str, second: float) -> list[str]:
    """Take a sample of both, and return what is wrong."""
    with urlopen(address, timeout=60) as answer:  # noqa: S310 - it is the monitor's
        found = _SERIES(answer.read().decode())
    numbers = {name: float(number) for name, _, number in found}
    monitor.measure(second, numbers.get("crondor_poll_seconds"), len(found))
    router.measure(second, numbers.get("crondor_router_poll_seconds"), None)
    now = [
        f"{each.name} {each.samples[-1].memory:.0f} MiB, poll {each.samples[-1].poll or 0:.2f} s"
        for each in (monitor, router)
    ]
    print(f"{second / 60:6.1f} min", *now, sep="  ", file=sys.stderr, flush=True)
    return [
        f"in minute {second / 60:.0f} {what}"
        for name, what in (
            ("crondor_queue_up", "the monitor could not read the queue"),
            ("crondor_router_up", "no router ran, or its queue did not answer"),
        )
        if numbers.get(name) == 0 and second > _SAMPLE
    ]


def _said(process: Process) -> str:
    """Return what a process has said on stdout, counted."""
    counts: Counter[str] = Counter()
    with process.out.open() as lines:
        for line in lines:
            said = json.loads(line)
            counts[" ".join(filter(None, (said.get("what"), said.get("verdict"), said.get("reason"))))] += 1
    return ", ".join(f"{count:,} {what}" for what, count in counts.most_common())


def _report(world: World, processes: list[Process], faults: list[str], options: argparse.Namespace) -> int:
    """Print what was measured, and return the exit status."""
    warm_up = 60 * (max(options.minutes / 4, _WARM_UP) if options.warm_up is None else options.warm_up)
    print(f"{world.come:,} jobs came, {world.gone:,} went")
    for each in processes:
        print("\n".join(table(each.name, each.samples)))
        try:
            faults += [f"{each.name}: {found}" for found in growth(each.samples, warm_up)]
            print(f"memory after the warm-up: {slope(each.samples, warm_up):+.1f} MiB an hour")
        except ValueError as error:
            faults.append(f"{each.name}: {error}")
        print(f"said: {_said(each)}")
        said = each.err.read_text(errors="replace").splitlines()
        print(f"said on stderr: {len(said)} lines", *said[-10:], sep="\n  ")
    for fault in faults:
        print(f"fault: {fault}")
    print("steady" if not faults else f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    main()
