"""A process of the soak, and what /proc says of it and of those that it has started."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.soak.judging import Sample

CRONDOR: Final = (sys.executable, "-c", "from crondor_cli.main import main; main()")
"""The command of the Python that runs this."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_TICK: Final = os.sysconf("SC_CLK_TCK")
_MIB: Final = 1 << 20
_END: Final = 60.0  # seconds in which a process must end when it is told


class Process:
    """One of the processes that are measured; what it says goes into files in ``folder``."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        """Start it."""
        self.name = name
        self.samples: list[Sample] = []
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self._running = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    @property
    def process(self) -> int:
        """Its number."""
        return self._running.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._running.poll() is None

    @property
    def status(self) -> int | None:
        """How it ended, None while it runs."""
        return self._running.poll()

    def measure(self, second: float, poll: float | None, series: int | None) -> None:
        """Take a sample, ``second`` seconds after the begin."""
        me, *helpers = family(self.process)
        numbers = [_numbers(each) for each in (me, *helpers)]
        self.samples.append(
            Sample(
                second,
                numbers[0][0],
                sum(each[0] for each in numbers[1:]),
                len([*Path(f"/proc/{me}/fd").iterdir()]),
                numbers[0][1],
                sum(each[2] for each in numbers),
                poll,
                series,
            )
        )

    def end(self) -> None:
        """Tell it to end, as a service manager does, and wait for it; one that does not is killed."""
        if self.is_running:
            self._running.send_signal(signal.SIGTERM)
        try:
            self._running.wait(_END)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()


def family(process: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [process]
    for each in found:
        found += _children(each)
    return found


def _children(process: int) -> list[int]:
    """Return the processes that a process has started; none of one that has just ended."""
    try:
        threads = [*Path(f"/proc/{process}/task").iterdir()]
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []


def _numbers(process: int) -> tuple[float, int, float]:
    """Return memory (MiB), threads, and the CPU seconds of a process and its children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0, 0, 0.0
    ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return int(fields[21]) * _PAGE / _MIB, int(fields[17]), ticks / _TICK
