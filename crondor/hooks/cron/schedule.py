"""When the jobs of a manager run: the four modes, periods, kills, loads and reconfiguration, on a clock that is told.

``CronManager.step(now)`` does what is due and returns what happened; ``next_time`` says when it is due again, unless
a program prints or ends before. Programs are behind the protocol ``CronPrograms``: real ones in ``live``, invented ones
in tests.

HTCondor: CronJobMgr::ScheduleAllJobs, CronJob::Schedule, CronJob::HandleReconfig.
"""

from __future__ import annotations

import math
import signal
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.hooks.cron.output import Block, BlockReader, CronAds, Published
from crondor.hooks.cron.settings import CronJob, CronMode, CronSettings, Manager
from crondor.hooks.runner import Clock, HookCall, HookEnd, HookLimits, HookRunner, RunningHook

_GRACE: Final = 1
"""Seconds from SIGTERM to SIGKILL."""

_RETRY: Final = 60
"""Seconds until a retry of a WaitForExit job that could not be started, unless its period is longer."""

_SLACK: Final = 1e-9  # loads are sums of hundredths


class CronOutput(NamedTuple):
    """The output of a program since the last call, and whether it has ended; ``said`` is how, with errors."""

    text: str
    ended: bool
    said: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


class CronProgram(Protocol):
    """A running program."""

    def progress(self, now: float) -> CronOutput:
        """Return its new output."""

    def send(self, number: signal.Signals, now: float) -> None:
        """Send it a signal."""


class CronPrograms(Protocol):
    """Starts programs."""

    def start(self, job: CronJob, now: float) -> CronProgram | Diagnostic:
        """Start a job's program, or return why it cannot be started."""


class CronStep(Enum):
    """A kind of event."""

    STARTED = "started"
    FAILED_TO_START = "failed-to-start"
    PUBLISHED = "published"
    ENDED = "ended"
    STILL_RUNNING = "still-running"
    SIGNALLED = "signalled"
    WAITS = "waits"


class CronEvent(NamedTuple):
    """An event of a job; ``block`` and ``published`` for PUBLISHED, ``text`` has details."""

    time: float
    job: str
    what: CronStep
    text: str = ""
    block: Block | None = None
    published: Published | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


class _State(Enum):
    IDLE = 0
    READY = 1
    RUNNING = 2
    TERM_SENT = 3
    KILL_SENT = 4


@dataclass
class _Running:
    """A job and its state."""

    job: CronJob
    reader: BlockReader
    state: _State = _State.IDLE
    program: CronProgram | None = None
    timer: float | None = None
    repeats: bool = False
    kill_timer: float | None = None
    runs: int = 0
    fails: int = 0
    blocks: int = 0
    last_start: float = 0.0
    last_exit: float = 0.0
    reruns: bool = False

    @property
    def is_alive(self) -> bool:
        return self.state in {_State.RUNNING, _State.TERM_SENT, _State.KILL_SENT}


@dataclass
class CronManager:
    """The jobs of one manager, their states and their ads.

    ``daemon_ad`` is used to evaluate CONDITION, with the clock of ``context``. ``blocked``: nothing is started (a
    startd runs no cron jobs while its benchmarks run).
    """

    settings: CronSettings
    programs: CronPrograms
    daemon_ad: ClassAd = field(default_factory=ClassAd)
    context: Context | None = None
    blocked: bool = False

    def __post_init__(self) -> None:
        """Start without jobs; ``configure`` adds them."""
        self.ads = CronAds(self.settings.manager, self.settings.auto_publish)
        self._jobs: dict[str, _Running] = {}
        self._waiting: dict[str, _Running] = {}
        self._alive: dict[str, float] = {}
        self._load = 0.0
        self._is_closed = False

    def configure(self, settings: CronSettings, now: float) -> Iterator[CronEvent]:
        """Apply a configuration, the first or a new one.

        A job whose mode has changed starts over. RECONFIG_RERUN runs a job again, RECONFIG sends a running one SIGHUP
        (not before its first block); a new PERIOD counts from the last start or exit.
        """
        self.settings = settings
        self.ads.auto_publish = settings.auto_publish
        wanted = {job.name: job for job in settings.jobs}
        for name, entry in list(self._jobs.items()):
            if name not in wanted or wanted[name].mode is not entry.job.mode:
                yield from self._remove(entry, now)
        for job in settings.jobs:
            entry = self._jobs.setdefault(job.name, _Running(job, self._reader(job)))
            old_period = entry.job.period
            entry.job = entry.reader.job = job
            self.ads.add_job(job)
            yield from self._reconfigured(entry, old_period, now)
        for entry in list(self._jobs.values()):
            is_first = not (entry.runs + entry.fails) and entry.job.mode is not CronMode.ON_DEMAND
            if entry.state is _State.READY or (is_first and entry.state is _State.IDLE):
                yield from self._start(entry, now)

    def demand(self, now: float) -> Iterator[CronEvent]:
        """Start the jobs of mode OnDemand that are idle: a startd's RunBenchmarks has become true."""
        for entry in self._jobs.values():
            if entry.job.mode is CronMode.ON_DEMAND and entry.state is _State.IDLE:
                entry.state = _State.READY
                yield from self._start(entry, now)
        yield from self._schedule(now)

    def step(self, now: float) -> Iterator[CronEvent]:
        """Read the programs' output, handle those that have ended, and do what is due."""
        for entry in list(self._jobs.values()):
            if entry.program is not None:
                yield from self._progress(entry, entry.program, now)
            if entry.kill_timer is not None and entry.kill_timer <= now:
                entry.kill_timer = None
                if entry.is_alive:
                    yield from self._kill(entry, now)
            if entry.timer is not None and entry.timer <= now:
                due = entry.timer
                entry.timer = _following(due, entry.job.period, now) if entry.repeats else None
                yield from self._run(entry, now) if entry.job.mode is CronMode.PERIODIC else self._start(entry, now)

    def next_time(self) -> float | None:
        """Return when something is due by the clock, None for never."""
        return min(
            (t for entry in self._jobs.values() for t in (entry.timer, entry.kill_timer) if t is not None), default=None
        )

    @property
    def load(self) -> float:
        """The sum of the loads of the programs that run."""
        return self._load

    @property
    def running(self) -> list[str]:
        """The names of the jobs whose programs run."""
        return [name for name, entry in self._jobs.items() if entry.is_alive]

    @property
    def waiting(self) -> list[str]:
        """The names of the jobs that wait for their load, their CONDITION or the end of benchmarks."""
        return [name for name, entry in self._waiting.items() if entry.state is _State.READY]

    def close(self, now: float) -> Iterator[CronEvent]:
        """Start nothing any more, and end all programs like a daemon: SIGTERM, and a second later SIGKILL.

        Call ``step`` until nothing is ``running``; the ads stay.
        """
        self._is_closed = True
        for entry in self._jobs.values():
            entry.timer = None
            if entry.state is _State.RUNNING:
                yield from self._kill(entry, now)

    def stop(self, now: float) -> Iterator[CronEvent]:
        """End all programs at once, and drop their ads."""
        for entry in list(self._jobs.values()):
            yield from self._remove(entry, now)

    def _reader(self, job: CronJob) -> BlockReader:
        return BlockReader(job, ignores_tags=self.settings.manager is not Manager.STARTD)

    def _remove(self, entry: _Running, now: float) -> Iterator[CronEvent]:
        if entry.program is not None:
            entry.program.send(signal.SIGKILL, now)
            yield CronEvent(now, entry.job.name, CronStep.SIGNALLED, "SIGKILL: the job is taken away")
        del self._jobs[entry.job.name]
        self._waiting.pop(entry.job.name, None)
        self._unload(entry)
        self.ads.remove_job(entry.job.name)

    def _reconfigured(self, entry: _Running, old_period: int, now: float) -> Iterator[CronEvent]:
        job = entry.job
        if job.reconfig_rerun and entry.runs:
            if entry.is_alive:
                entry.reruns = True
            else:
                entry.state = _State.READY
        elif entry.state is _State.RUNNING and job.reconfig:
            if entry.blocks and entry.program is not None:
                entry.program.send(signal.SIGHUP, now)
                yield CronEvent(now, job.name, CronStep.SIGNALLED, "SIGHUP: the configuration is new")
        elif entry.state is _State.IDLE and job.mode in {CronMode.PERIODIC, CronMode.WAIT_FOR_EXIT}:
            if job.period == old_period and entry.runs + entry.fails:
                return
            last = entry.last_start if job.mode is CronMode.PERIODIC else entry.last_exit
            entry.repeats = job.mode is CronMode.PERIODIC
            if not (entry.runs + entry.fails) or last + job.period < now:
                entry.state = _State.READY
                entry.timer = now + job.period if entry.repeats else None
            else:
                entry.timer = last + job.period

    def _schedule(self, now: float) -> Iterator[CronEvent]:
        """Start what is due."""
        for entry in list(self._waiting.values()):
            if entry.state is _State.READY:
                yield from self._start(entry, now)

    def _run(self, entry: _Running, now: float) -> Iterator[CronEvent]:
        if not entry.is_alive:
            yield from self._start(entry, now)
        elif entry.job.kill:
            yield from self._kill(entry, now)
        else:
            yield CronEvent(now, entry.job.name, CronStep.STILL_RUNNING, "this period is skipped")

    def _start(self, entry: _Running, now: float) -> Iterator[CronEvent]:
        if entry.is_alive or self._is_closed:
            return
        job = entry.job
        reason = self._why_not(job)
        if reason:
            if job.name not in self._waiting:
                yield CronEvent(now, job.name, CronStep.WAITS, reason)
            entry.state = _State.READY
            self._waiting[job.name] = entry
            return
        self._waiting.pop(job.name, None)
        program = self.programs.start(job, now)
        if isinstance(program, Diagnostic):
            entry.state = _State.IDLE
            entry.fails += 1
            if job.mode is CronMode.WAIT_FOR_EXIT:  # HTCondor never tries again
                entry.timer = now + max(job.period, _RETRY)
            yield CronEvent(now, job.name, CronStep.FAILED_TO_START, program.message, diagnostics=(program,))
            return
        entry.program, entry.state = program, _State.RUNNING
        entry.last_start = now
        self._alive[job.name] = job.load
        self._load += job.load
        entry.runs += 1
        yield CronEvent(now, job.name, CronStep.STARTED)

    def _why_not(self, job: CronJob) -> str:
        if self.blocked:
            return "benchmarks are running"
        if job.load + self.load > self.settings.max_load + _SLACK:
            return f"a load of {self.load:g} runs, and {self.settings.max_load:g} is the most"
        if job.condition is not None and not job.condition.holds(self.daemon_ad, None, self.context or Context()):
            return "its CONDITION is not true"
        return ""

    def _kill(self, entry: _Running, now: float) -> Iterator[CronEvent]:
        if entry.program is None:
            return
        is_first = entry.state is _State.RUNNING
        number = signal.SIGTERM if is_first else signal.SIGKILL
        entry.state = _State.TERM_SENT if is_first else _State.KILL_SENT
        entry.kill_timer = now + _GRACE if is_first else None
        entry.program.send(number, now)
        yield CronEvent(now, entry.job.name, CronStep.SIGNALLED, number.name)

    def _progress(self, entry: _Running, program: CronProgram, now: float) -> Iterator[CronEvent]:
        found = program.progress(now)
        blocks = entry.reader.feed(found.text, int(now))
        if found.ended:
            blocks += entry.reader.end(int(now), restarts=self._restarts(entry))
        for block in blocks:
            entry.blocks += 1
            yield CronEvent(now, entry.job.name, CronStep.PUBLISHED, "", block, self.ads.publish(entry.job, block))
        if found.ended:
            findings = (*found.diagnostics, *entry.reader.findings)
            entry.reader.findings = []
            yield CronEvent(now, entry.job.name, CronStep.ENDED, found.said, diagnostics=findings)
            yield from self._ended(entry, now)

    def _ended(self, entry: _Running, now: float) -> Iterator[CronEvent]:
        job = entry.job
        was_killed = entry.state in {_State.TERM_SENT, _State.KILL_SENT}
        entry.program, entry.state, entry.kill_timer = None, _State.IDLE, None
        self._unload(entry)
        entry.last_exit = now
        if entry.reruns:
            entry.reruns = False
            entry.state = _State.READY
            self._waiting[job.name] = entry
        elif job.mode is CronMode.WAIT_FOR_EXIT:
            if job.period:
                entry.timer, entry.repeats = now + job.period, False
            else:
                yield from self._start(entry, now)
        elif job.mode is CronMode.PERIODIC and was_killed:
            yield from self._start(entry, now)
        yield from self._schedule(now)

    def _restarts(self, entry: _Running) -> bool:
        """Return whether a finished job is restarted at once; HTCondor then still counts its own load."""
        job = entry.job
        was_killed = entry.state in {_State.TERM_SENT, _State.KILL_SENT}
        at_once = (job.mode is CronMode.WAIT_FOR_EXIT and not job.period) or (
            job.mode is CronMode.PERIODIC and was_killed
        )
        return at_once and not (entry.reruns or self._is_closed or self._why_not(job))

    def _unload(self, entry: _Running) -> None:
        self._load -= self._alive.pop(entry.job.name, 0.0)
        if not self._alive:
            self._load = 0.0  # the rounding error


def _following(due: float, period: int, now: float) -> float:
    """Return the next time of a period's rhythm after now: missed times are not made up for."""
    period = max(1, period)
    return due + period * (int((now - due) // period) + 1)


_LIMITS: Final = HookLimits(seconds=math.inf, output=8 << 20)
_LEFT: Final = "HTCondor does not end processes that a cron job leaves behind"
_SAID: Final = 2000  # characters of standard error in a message


def cron_environment(base: Mapping[str, str], settings: CronSettings, job: CronJob) -> dict[str, str]:
    """Return the environment of a job, as recorded with 25.14.

    A schedd's job gets the interface (SCHEDD_INTERFACE_VERSION, SCHEDD_CRON_NAME, and SCHEDD_CONFIG_VAL from its knob
    CONFIG_VAL_PROG), a startd's does not, contrary to the manual. Nothing reads SCHEDD_CRON_CONFIG_VAL.
    """
    found = {**base, **dict(job.environ)}
    if settings.manager is Manager.SCHEDD:
        found |= {"SCHEDD_INTERFACE_VERSION": "1", "SCHEDD_CRON_NAME": "SCHEDD"}
        found |= {"SCHEDD_CONFIG_VAL": job.config_val} if job.config_val else {}
    return found


class LiveProgram:
    """A process of a cron job."""

    def __init__(self, running: RunningHook, settings: CronSettings) -> None:
        self.running = running
        self._settings = settings
        self._decoder: IncrementalDecoder = getincrementaldecoder("utf-8")("surrogateescape")

    def progress(self, now: float) -> CronOutput:  # noqa: ARG002 - the runner has the clock
        """Return its new output, and whether it has ended."""
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
    """Starts the processes of one manager's jobs; ``folder`` is where they run unless CWD is set.

    A program without a full path is looked up in ``folder``, where the daemon runs.
    """

    def __init__(
        self, settings: CronSettings, environ: Mapping[str, str], clock: Clock, folder: str | None = None
    ) -> None:
        self.settings = settings
        self.started: list[RunningHook] = []
        self._environ = environ
        self._folder = folder
        self._runner = HookRunner(clock)

    def start(self, job: CronJob, now: float) -> LiveProgram | Diagnostic:  # noqa: ARG002 - the runner has the clock
        """Start a job's process, or return why it cannot be started."""
        environ = cron_environment(self._environ, self.settings, job)
        folder = job.folder or self._folder
        path = str(Path(self._folder or ".").absolute() / job.executable)
        call = HookCall(path, job.arguments, None, environ, folder, _LIMITS, name=job.name)
        running = self._runner.start(call)
        if running.result is not None:
            return running.result.diagnostics[0]
        self.started = [each for each in self.started if each.result is None] + [running]
        return LiveProgram(running, self.settings)


Read: TypeAlias = Callable[[], Sequence[CronSettings] | None]
"""Reads the configuration again: the settings of the managers in their order, None if that fails."""

Pause: TypeAlias = Callable[[Iterable[RunningHook], float], None]

_LONGEST: Final = 0.5  # seconds between two checks if nothing is due before
_MOST_CLOSING: Final = 5.0  # seconds for programs to end; SIGKILL is sent after one


class CronLoop:
    """Runs the cron jobs of some managers until the end, or until interrupted.

    ``start`` is the initial time in the ads; if it ``stands``, it does not advance. ``ticks`` is a clock for durations
    (seconds). ``renew`` reads the configuration again, like condor_reconfig; ``end`` ends the programs, on a second
    call at once.
    """

    def __init__(
        self, managers: Sequence[CronManager], start: float, *, stands: bool, read: Read, ticks: Callable[[], float]
    ) -> None:
        self._managers = managers
        self._start = start
        self._stands = stands
        self._read = read
        self._ticks = ticks
        self._began = ticks()
        self._done: set[tuple[Manager, str]] = set()
        self._asked = 0
        self._is_new = False

    def events(self, pause: Pause, *, once: bool, seconds: float | None) -> Iterator[CronEvent]:
        """Yield the events: until each job has run once (``once``), for some time, or until asked to end.

        ``pause`` waits for programs, at most some seconds. Raises KeyboardInterrupt if asked to end twice.
        """
        yield from self._configured([each.settings for each in self._managers], self._now())
        end = math.inf if seconds is None else self._began + seconds
        while not (self._asked or (once and self._is_through()) or self._ticks() >= end):
            self._wait(pause)
            yield from self._stepped(self._now())
            if self._is_new:
                self._is_new = False
                settings = self._read()
                yield from () if settings is None else self._configured(settings, self._now())
        yield from self._closed(pause)

    def end(self) -> None:
        """End the programs, and the loop."""
        self._asked += 1
        if self._asked > 1:
            raise KeyboardInterrupt

    def renew(self) -> None:
        """Read the configuration again after the next wait."""
        self._is_new = True

    def _now(self) -> float:
        return self._start + (0 if self._stands else self._ticks() - self._began)

    def _is_through(self) -> bool:
        """Return whether each job has had its run; a waiting one never will if nothing else is running."""
        left = {
            (manager.settings.manager, job.name)
            for manager in self._managers
            for job in manager.settings.jobs
            if job.mode is not CronMode.ON_DEMAND or manager.settings.manager is Manager.BENCHMARKS
        } - self._done
        waiting = {(manager.settings.manager, name) for manager in self._managers for name in manager.waiting}
        return left <= waiting and not (left and any(manager.running for manager in self._managers))

    def _wait(self, pause: Pause) -> None:
        due = [time for manager in self._managers if (time := manager.next_time()) is not None]
        longest = min([_LONGEST, *(time - self._now() for time in due if not self._stands)])
        pause([hook for manager in self._managers for hook in _started(manager)], longest)

    def _configured(self, settings: Sequence[CronSettings], now: float) -> Iterator[CronEvent]:
        for manager, theirs in zip(self._managers, settings, strict=True):
            starts = manager.configure(theirs, now)
            benchmarks = manager.demand(now) if theirs.manager is Manager.BENCHMARKS else ()
            yield from self._noted(chain(starts, benchmarks), manager)

    def _stepped(self, now: float) -> Iterator[CronEvent]:
        for manager in self._managers:
            for hook in _started(manager):  # including those of removed jobs
                hook.poll()
            yield from self._noted(manager.step(now), manager)
        is_busy = any(each.running for each in self._managers if each.settings.manager is Manager.BENCHMARKS)
        for manager in self._managers:
            manager.blocked = manager.settings.manager is Manager.STARTD and is_busy

    def _closed(self, pause: Pause) -> Iterator[CronEvent]:
        """End what still runs; time advances for that, even on a stopped clock."""
        began = self._ticks()
        base = self._now()
        for manager in self._managers:
            yield from manager.close(base)
        while any(manager.running for manager in self._managers) and self._ticks() - began < _MOST_CLOSING:
            self._wait(pause)
            yield from self._stepped(base + self._ticks() - began)

    def _noted(self, events: Iterable[CronEvent], manager: CronManager) -> Iterator[CronEvent]:
        """Yield events, and record which jobs have had a run."""
        for event in events:
            if event.what in {CronStep.ENDED, CronStep.FAILED_TO_START}:
                self._done.add((manager.settings.manager, event.job))
            yield event


def _started(manager: CronManager) -> list[RunningHook]:
    programs = manager.programs
    return programs.started if isinstance(programs, LivePrograms) else []
