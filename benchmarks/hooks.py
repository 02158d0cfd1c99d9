"""The cases with hooks: a call against a bare subprocess call, and 1,000 cron jobs of a minute on the virtual clock."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from crondor.hooks.cron.schedule import CronManager, CronOutput
from crondor.hooks.cron.settings import CronJob, CronMode, CronSettings, Manager
from crondor.hooks.runner import HookCall, HookRunner

JOBS = 1000
PERIOD = 60
SPAN = 3600  # seconds on the schedule's clock
MOST = 2.0  # times a bare call
_CALLS = 200
_INPUT = "".join(f'Attribute{n} = "value {n}"\n' for n in range(80))
_ENVIRON = {"PATH": "/usr/bin:/bin"}


class Measured(NamedTuple):
    """Median milliseconds of a hook call and of a bare one with the same program and text, and their ratio."""

    ours: float
    bare: float
    ratio: float


def call() -> Measured:
    """Time calls of a shell script that reads an ad and prints it, ours and bare ones in turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hook")
        path.write_text("#!/bin/sh\nexec cat\n", encoding="ascii")
        path.chmod(0o755)
        runner, ours, bare = HookRunner(), [], []
        hook = HookCall(str(path), stdin=_INPUT, environ=_ENVIRON)
        for _ in range(_CALLS):
            begun = perf_counter()
            run = runner.run(hook)
            middle = perf_counter()
            done = subprocess.run([str(path)], input=_INPUT.encode(), capture_output=True, env=_ENVIRON, check=True)
            bare.append(perf_counter() - middle)
            ours.append(middle - begun)
            if run.stdout.encode() != done.stdout:
                raise AssertionError("both print the ad")
    ratios = [our / other for our, other in zip(ours, bare, strict=True)]
    return Measured(median(ours) * 1000, median(bare) * 1000, median(ratios))


class _Programs:
    """Programs that end at once and print one attribute."""

    def __init__(self) -> None:
        self.runs = 0

    def start(self, job: CronJob, now: float) -> _Program:  # noqa: ARG002 - the protocol's
        self.runs += 1
        return _Program()


class _Program:
    def progress(self, now: float) -> CronOutput:  # noqa: ARG002 - the protocol's
        return CronOutput("Value = 1\n", ended=True)

    def send(self, number: signal.Signals, now: float) -> None:
        """Take a signal: too late."""


def cron() -> tuple[int, float]:
    """Return how many runs an hour of the jobs has, and the microseconds of one."""
    jobs = tuple(CronJob(f"J{n}", "/bin/true", CronMode.PERIODIC, PERIOD, load=0) for n in range(JOBS))
    settings = CronSettings(Manager.STARTD, jobs)
    programs = _Programs()
    manager = CronManager(settings, programs)
    begun = perf_counter()
    for _ in manager.configure(settings, 0):
        pass
    while (due := manager.next_time()) is not None and due < SPAN:
        for _ in manager.step(due):
            pass
    return programs.runs, (perf_counter() - begun) / programs.runs * 1e6
