"""The programs of cron jobs as processes (HTCondor: CronJob::StartJobProcess, CronJob::KillJob)."""

from __future__ import annotations

import math
import signal
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.hooks.cron.schedule import CronOutput
from crondor.hooks.cron.settings import CronJob, CronSettings, Manager
from crondor.hooks.runner import Clock, HookCall, HookEnd, HookLimits, HookRunner, RunningHook

_LIMITS: Final = HookLimits(seconds=math.inf, output=8 << 20)
_LEFT: Final = "HTCondor lets what a cron job leaves behind go on"
_SAID: Final = 2000  # characters of standard error that are told


def cron_environment(base: Mapping[str, str], settings: CronSettings, job: CronJob) -> dict[str, str]:
    """Return the environment of a job, as recorded of 25.14.

    A schedd's job is told of the interface (SCHEDD_INTERFACE_VERSION, SCHEDD_CRON_NAME, and SCHEDD_CONFIG_VAL from its
    knob CONFIG_VAL_PROG), a startd's is not, though the manual says so. Nothing reads SCHEDD_CRON_CONFIG_VAL.
    """
    found = {**base, **dict(job.environ)}
    if settings.manager is Manager.SCHEDD:
        found |= {"SCHEDD_INTERFACE_VERSION": "1", "SCHEDD_CRON_NAME": "SCHEDD"}
        found |= {"SCHEDD_CONFIG_VAL": job.config_val} if job.config_val else {}
    return found


class LiveProgram:
    """A process of a cron job."""

    def __init__(self, running: RunningHook, settings: CronSettings) -> None:
        """Take a call that is under way."""
        self.running = running
        self._settings = settings
        self._decoder: IncrementalDecoder = getincrementaldecoder("utf-8")("surrogateescape")

    def progress(self, now: float) -> CronOutput:  # noqa: ARG002 - the runner has the clock
        """Return what it has printed, and whether it has ended."""
        run = self.running.poll()
        text = self._decoder.decode(self.running.take(), final=run is not None)
        if run is None:
            return CronOutput(text, ended=False)
        logs = run.ended is not HookEnd.EXITED or (run.status and self._settings.log_non_zero_exit)
        findings = [d for d in run.diagnostics if d.kind not in {"hook-status", "hook-output-long"}]
        findings = [replace(d, help=_LEFT) if d.kind == "hook-left-running" else d for d in findings]
        if logs and run.stderr:
            said = f"{run.call.name} wrote to standard error: {printable(run.stderr.strip()[:_SAID])}"
            findings.append(Diagnostic("hook-cron-stderr", said, Severity.NOTE))
        return CronOutput(text, ended=True, said=run.reason, diagnostics=tuple(findings))

    def send(self, number: signal.Signals, now: float) -> None:  # noqa: ARG002 - the same
        """Send it a signal."""
        self.running.send(number)
        if number is signal.SIGKILL:
            self.running.poll()


class LivePrograms:
    """Starts the processes of one manager's jobs; ``folder`` is where they run unless CWD says otherwise.

    A program without a full path is sought in ``folder``, where the daemon runs.
    """

    def __init__(
        self, settings: CronSettings, environ: Mapping[str, str], clock: Clock, folder: str | None = None
    ) -> None:
        """Take the clock that all times go by."""
        self.settings = settings
        self.started: list[RunningHook] = []
        self._environ = environ
        self._folder = folder
        self._runner = HookRunner(clock)

    def start(self, job: CronJob, now: float) -> LiveProgram | Diagnostic:  # noqa: ARG002 - the runner has the clock
        """Start a job's process, or say why it cannot be."""
        environ = cron_environment(self._environ, self.settings, job)
        folder = job.folder or self._folder
        path = str(Path(self._folder or ".").absolute() / job.executable)
        call = HookCall(path, job.arguments, None, environ, folder, _LIMITS, name=job.name)
        running = self._runner.start(call)
        if running.result is not None:
            return running.result.diagnostics[0]
        self.started = [each for each in self.started if each.result is None] + [running]
        return LiveProgram(running, self.settings)
