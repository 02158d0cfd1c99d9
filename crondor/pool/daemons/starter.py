"""A run on its machine: files, waiting, start, suspension, end, eviction; arrivals and programs.

HTCondor: Starter::SpawnJob, Starter::Suspend, Starter::Continue.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.codes import (
    FAILED_TO_CREATE_PROCESS,
    IWD_ERROR,
    MISSED_DEFERRED_EXECUTION_TIME,
    UNABLE_TO_OPEN_INPUT,
    UNABLE_TO_OPEN_OUTPUT,
)
from crondor.deferral import LATEST, MISSED_REASON, Arrival, Deferral, Verdict
from crondor.diagnostics import CrondorError, printable
from crondor.job import policy
from crondor.job.attributes import JobStatus, int32, integer, split_arguments, split_environment, string
from crondor.job.policy import Ruling
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.settings import SUCCESS, Exit, PoolSettings
from crondor.schedd.protocol import Hold, write


def arrival(ad: ClassAd, now: int, context: Callable[[int], Context], known: int | None = None) -> Arrival | None:
    """Return the verdict on a job at ``now``, epoch seconds of the execute machine; None if it is not deferred.

    ``known`` is the time that was read from the ad before: an expression is evaluated once. A time that is not a
    positive number counts as missed, and a window that is not a number as 0. A real loses its fraction.
    """
    if "DeferralTime" not in ad:
        return None
    time = integer(ad, "DeferralTime", context(now)) if known is None else known
    if time is None or time <= 0:
        return Arrival(Verdict.MISSED, now)
    if time > LATEST:
        return Arrival(Verdict.WAIT, time - now)
    if now < time:
        return Arrival(Verdict.WAIT, time - now)
    window = integer(ad, "DeferralWindow", context(now)) or 0
    return Deferral(time, min(max(window, 0), LATEST)).arrival(now)


def time_of(ad: ClassAd, context: Context) -> int | None:
    """Return the DeferralTime as the starter reads it (epoch seconds), None if it is not a number."""
    return integer(ad, "DeferralTime", context)


GRACE: Final = 30  # seconds from the job's signal to SIGKILL, unless kill_sig_timeout says otherwise

_NO_FILE: Final = "/dev/null"
_CODES: Final = {
    "executable": FAILED_TO_CREATE_PROCESS,
    "input": UNABLE_TO_OPEN_INPUT,
    "output": UNABLE_TO_OPEN_OUTPUT,
    "error": UNABLE_TO_OPEN_OUTPUT,
    "initialdir": IWD_ERROR,
}
_WORDS: Final = {
    "executable": "execute",
    "input": "open the input file",
    "output": "open the output file",
    "error": "open the error file",
    "initialdir": "enter the directory",
}
_WRITE: Final = os.O_WRONLY | os.O_CREAT


# The rules are those of the manual (condor_submit) and of HTCondor 25.14's starter for the local universe. No shell is
# involved, and every text of the ad stays one argument, one variable, one path. HTCondor: OsProc::StartJob.
class Process(NamedTuple):
    """A process to start, with surrogates for bytes that are not UTF-8.

    ``files`` are its standard input, output and error: their names, their paths, their flags.
    """

    executable: str
    argv: list[str]
    environ: dict[str, str]
    folder: str
    files: list[tuple[str, str, int]]


def process_of(ad: ClassAd) -> Process | Hold:
    """Return the process of a job, or the hold if it cannot be started."""
    folder, command = string(ad, "Iwd") or "/", string(ad, "Cmd")
    if not command:
        return Hold("The job has no executable", FAILED_TO_CREATE_PROCESS, 2)
    executable = os.path.join(folder, command)  # noqa: PTH118 - a Path would change what it is called
    try:
        arguments, environ = _arguments(ad), _environment(ad)
    except CrondorError as error:
        return Hold(
            f"Failed to execute '{printable(command)}': {error.diagnostics[0].message}", FAILED_TO_CREATE_PROCESS
        )
    appended = (string(ad, "AppendFiles") or "").replace(",", " ").split()
    files = [("input", string(ad, "In") or _NO_FILE, os.O_RDONLY)]
    for what, name in (("output", "Out"), ("error", "Err")):
        path = string(ad, name) or _NO_FILE
        files.append((what, path, _WRITE | (os.O_APPEND if path in appended else os.O_TRUNC)))
    texts = [executable, *arguments, folder, *environ, *environ.values(), *(path for _, path, _ in files)]
    if any("\0" in text for text in texts):
        return Hold(
            f"Failed to execute '{printable(command)}': a text of the job has a NUL character", FAILED_TO_CREATE_PROCESS
        )
    return Process(executable, [command, *arguments], {**environ, "_CONDOR_JOB_IWD": folder}, folder, files)


def failure(what: str, path: str, number: int, why: str = "") -> Hold:
    """Return the hold of a job whose program could not be started.

    ``number`` is the system's error number, and ``why`` its description; empty: the system's.
    """
    reason = f"Failed to {_WORDS[what]} '{printable(path)}' (errno={number}: '{printable(why) or os.strerror(number)}')"
    return Hold(reason, _CODES[what], number)


def failure_of(record: Mapping[str, Any]) -> Hold:
    """Return the same for a supervisor's record. Raises KeyError and ValueError for an invalid one."""
    return failure(str(record["failed"]), str(record["path"]), int(record["errno"]), str(record.get("why") or ""))


def killing_of(ad: ClassAd, attribute: str) -> tuple[int, int]:
    """Return the signal in an attribute of a job, or KillSig, or SIGTERM; and the seconds until SIGKILL."""
    grace = int32(ad, "KillSigTimeout")
    for name in (attribute, "KillSig"):
        found = _signal(ad, name)
        if found is not None:
            return found, GRACE if grace is None or grace < 0 else grace
    return int(signal.SIGTERM), GRACE if grace is None or grace < 0 else grace


def _signal(ad: ClassAd, name: str) -> int | None:
    number, text = int32(ad, name), string(ad, name)
    if number is None and text is not None:
        known = getattr(signal.Signals, "__members__", {}).get(text.upper())
        number = None if known is None else int(known)
    return number if number is not None and 0 < number < signal.NSIG else None


def _arguments(ad: ClassAd) -> list[str]:
    text = string(ad, "Arguments")
    return split_arguments(_quoted(text)) if text is not None else (string(ad, "Args") or "").split()


def _environment(ad: ClassAd) -> dict[str, str]:
    text = string(ad, "Environment")
    return split_environment(_quoted(text) if text is not None else string(ad, "Env") or "")


def _quoted(text: str) -> str:
    """Return an attribute's text as in the submit command, in the new syntax."""
    return '"' + text.replace('"', '""') + '"'


_PROGRAM: Final = 4
_EXIT: Final = 6
_made: Final = tuple.__new__  # takes a third of the time of the class itself
_NOTHING: Final[Mapping[str, object]] = {}


class Lasting(NamedTuple):
    """A program with a known end (seconds from its start) and exit."""

    seconds: int
    exit: Exit = SUCCESS


class Programs(Protocol):
    """Starts and ends programs; times are epoch seconds."""

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:
        """Return what to write into the job before its program is started."""

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting | Hold | None:
        """Start the program of a run, or return a Hold if that is impossible.

        None: its end is unknown, and ``Pool.ended`` will be called.
        """

    def stop(self, job: PoolJob, run: JobRun, signal: str) -> None:
        """End a started program; ``signal`` is the job's attribute with the signal: KillSig, RemoveKillSig."""

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Suspend a program."""

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Continue a suspended program."""


class DrawnPrograms:
    """Programs with run time and exit drawn from the settings."""

    def __init__(self, settings: PoolSettings) -> None:
        self._run_time = settings.run_time
        self._exits = settings.exits
        self._seed = settings.seed
        self._exit = self._exits.weights[0][0] if self._exits.is_fixed else None
        self._always = None
        if self._run_time.is_fixed and self._exit is not None:
            self._always = Lasting(self._run_time.low, self._exit)

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:  # noqa: ARG002 - the seam's signature
        """Write nothing."""
        return _NOTHING

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting | Hold | None:  # noqa: ARG002 - the same
        """Draw its run time and exit."""
        return self.drawn(job, now)

    def drawn(self, job: PoolJob, now: int) -> Lasting:
        """Return the run time and exit of the program of a job's run that is started at ``now``."""
        if self._always is not None:
            return self._always
        time = job.gate.time
        key = now if time is None else time
        seconds = self._run_time.drawn(job.chance(self._seed, _PROGRAM, key))
        ending = self._exit
        if ending is None:
            ending = self._exits.drawn(job.chance(self._seed, _EXIT, key))
        return _made(Lasting, (seconds, ending))

    def stop(self, job: PoolJob, run: JobRun, signal: str) -> None:
        """Do nothing: there is nothing to end."""

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Do nothing: the pool knows the remaining run time."""

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Do nothing: the pool knows the remaining run time."""


_TRANSFER: Final = 2
_PREEMPTION: Final = 5
_MISSED: Final = Hold(MISSED_REASON, MISSED_DEFERRED_EXECUTION_TIME, None)
LOST_REPORT: Final = "the shadow could not tell the schedd how the job ended"


@dataclass(eq=False)
class Starter:
    """The starters of a pool and of the schedd's own machine; all times are epoch seconds of the schedd's clock.

    The functions hold jobs, make them idle, apply exit policies and take slots back.
    """

    _core: Core
    _hold: Callable[[PoolJob, Hold], None]
    _vacate: Callable[[PoolJob], None]
    _exited: Callable[[PoolJob, Ruling], None]
    _freed: Callable[[Claim], None]
    programs: Programs

    def begin(self, job: PoolJob, run: JobRun) -> None:
        """Send the files of a matched job."""
        core = self._core
        settings, now = core.settings, core.timetable.now
        length = 0
        if run.claim is not None:
            length = self.transfer(job)
            lost = None if settings.preemption is None else settings.preemption.drawn(core.chance(job, _PREEMPTION))
            if lost is not None:
                run.taken = core.timetable.at(now + lost, lambda _: self._vacate(job))
            core.check_soon(job)
        run.next = core.timetable.at(now + length, lambda _: self.arrive(job, run))

    def transfer(self, job: PoolJob) -> int:
        """Return the time to transfer the files of a job's next run (seconds)."""
        transfer = self._core.settings.transfer
        return transfer.low if transfer.is_fixed else transfer.drawn(self._core.chance(job, _TRANSFER))

    def arrive(self, job: PoolJob, run: JobRun) -> None:
        """Wait, start, or miss the time, by the machine's clock: the files are there."""
        core = self._core
        run.arrived = now = core.timetable.now
        there = now if job.is_local else now + core.settings.skew
        if run.time is not None and there < run.time:
            core.tell(PoolEventKind.ARRIVED, job, run.time - there)
            due = now + run.time - there
            run.next = core.timetable.at(due, lambda _: self._wake(job, run, due))
            return
        verdict = arrival(run.ad, there, core.context, run.time)
        if verdict is None:
            self._start(job, run)
            return
        waits = verdict.seconds if verdict.verdict is Verdict.WAIT else -verdict.seconds
        if run.time is None and verdict.verdict is not Verdict.MISSED:
            run.time = there + waits
        core.tell(PoolEventKind.ARRIVED, job, waits)
        if verdict.verdict is Verdict.WAIT:
            run.next = core.timetable.at(now + waits, lambda _: self._wake(job, run, now + waits))
        elif verdict.verdict is Verdict.START:
            self._start(job, run)
        elif job.is_local:
            self._hold(job, _MISSED)
        else:
            starts = job.counter("numjobstarts") + 1
            core.count(job, {"NumJobStarts": starts, "JobCurrentStartExecutingDate": now})
            run.next = core.timetable.at(now + core.settings.missed_delay, lambda _: self._hold(job, _MISSED))

    def _wake(self, job: PoolJob, run: JobRun, due: int) -> None:
        """Start a waiting job; after a pause of the clock it may have missed its time."""
        if self._core.timetable.now > due:
            self.arrive(job, run)
        else:
            self._start(job, run)

    def _start(self, job: PoolJob, run: JobRun) -> None:
        core = self._core
        run.started = job.began = now = core.timetable.now
        starts = job.counter("numjobstarts")
        marks = self.programs.marks(job, run, now)
        values = {"NumJobStarts": starts + 1}
        if not job.is_local:
            values["JobCurrentStartExecutingDate"] = now
        if marks:
            core.write(job, {**values, **marks})  # at once: after a crash in between, nothing is started twice
        else:
            core.count(job, values)
        begun = self.programs.start(job, run, now)
        if isinstance(begun, Hold):
            run.started = None
            core.count(job, {"NumJobStarts": starts})
            self._hold(job, begun)
            return
        core.tell(PoolEventKind.STARTED, job)
        if run.claim is not None:
            core.check_soon(job)
        if begun is not None:
            run.exit = begun.exit
            run.next = core.timetable.at(now + begun.seconds, lambda _: self.end(job, run))
        if core.flow is not None:
            core.flow.start(job, lambda: self._vacate(job))
        if run.is_suspended:
            self._freeze(job, run, is_told=job.is_local)

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Suspend a run; one that waits is suspended as soon as it has started."""
        is_first, run.is_suspended = not run.is_suspended, True
        if run.started is not None and is_first:
            self._freeze(job, run)

    def _freeze(self, job: PoolJob, run: JobRun, *, is_told: bool = True) -> None:
        """Stop the clock of a program; unless ``is_told``, the queue learns of it with the starter's first update."""
        core = self._core
        if run.next is not None:
            run.left = run.next.time - core.now
            core.timetable.cancel(run.next)
        self.programs.suspend(job, run)
        core.tell(PoolEventKind.SUSPENDED, job)
        if core.flow is not None:
            core.flow.suspend(job, is_told=is_told)
        if is_told:
            self._report_suspended(job)
        else:
            later = core.now + core.settings.flow.first_update
            run.next = core.timetable.at(later, lambda _: self._report_suspended(job))

    def _report_suspended(self, job: PoolJob) -> None:
        core = self._core
        values = core.entered(job, JobStatus.SUSPENDED)
        values["LastSuspensionTime"] = core.now
        values["TotalSuspensions"] = job.counter("totalsuspensions") + 1
        core.count(job, values)

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Continue a suspended run."""
        core = self._core
        run.is_suspended = False
        if run.started is not None:
            self.programs.resume(job, run)
            core.count(job, core.entered(job, JobStatus.RUNNING))
            if run.left is not None:
                run.next = core.timetable.at(core.now + run.left, lambda _: self.end(job, run))
            core.tell(PoolEventKind.RESUMED, job)
            if core.flow is not None:
                core.flow.resume(job)

    def end(self, job: PoolJob, run: JobRun) -> None:
        """End a program: the starter reports it as soon as it can."""
        core = self._core
        run.is_over = True
        if core.flow is not None and not job.is_local:
            again = core.flow.exit(job, run.exit.attributes)
            if again is not None:
                run.next = core.timetable.at(again, lambda _: self.end(job, run))
                return
        self._report(job, run)

    def _report(self, job: PoolJob, run: JobRun) -> None:
        """Evaluate the exit policy after a program's end.

        In the local universe it sees the starter's ad, with the old NumJobStarts; the queue learns how the program
        ended only if the job is completed (JICLocalSchedd::notifyJobExit).
        """
        core = self._core
        values = run.exit.attributes
        is_told = not job.is_local or core.settings.counts_local_runs
        if is_told:
            values["NumJobCompletions"] = job.counter("numjobcompletions") + 1
            core.count(job, values)
        if job.is_local:
            write(run.ad, values)
        ruling = job.ruling
        if ruling is None:
            seen = run.ad if job.is_local else job.ad if core.flow is None else core.flow.policy_ad(job)
            ruling = policy.at_exit(seen, core.now, core.context(core.now), core.settings.system_policy)
        if not is_told and ruling.act is policy.Act.REMOVE:
            core.count(job, values)
        self._settle(job, run, ruling, 0)

    def _settle(self, job: PoolJob, run: JobRun, ruling: Ruling, attempt: int) -> None:
        """Have the shadow inform the schedd; after some tries the job is queued again as if it had not ended."""
        core = self._core
        if core.flow is not None and not job.is_local and not core.flow.final(job, attempt):
            settings = core.settings.flow
            if attempt < settings.shadow_max_job_cleanup_retries:
                later = core.now + settings.shadow_job_cleanup_retry_delay
                run.next = core.timetable.at(later, lambda _: self._settle(job, run, ruling, attempt + 1))
                return
            core.write(job, core.flow.forgotten(job))
            ruling = Ruling(policy.Act.STAY, LOST_REPORT)
        core.tell(PoolEventKind.ENDED, job, int(ruling.act is policy.Act.STAY), ruling.reason)
        self.free(job)
        self._exited(job, ruling)

    def leave(self, job: PoolJob, signal: str = "KillSig") -> None:
        """End a run from outside; a started program is evicted, with the signal named by an attribute."""
        run, core = job.run, self._core
        if run is None:
            return
        if run.started is not None and not run.is_over:
            self.programs.stop(job, run, signal)
            if not job.is_local:  # the starter reports how it has ended it, and the shadow informs the schedd
                core.count(job, Exit(killing_of(run.ad, signal)[0], by_signal=True).attributes)
        core.tell(PoolEventKind.EVICTED, job)
        lost = {} if core.flow is None else core.flow.evict(job)
        if lost:
            core.write(job, lost)
        self.free(job)

    def free(self, job: PoolJob) -> None:
        """Take a job off its machine, and give the machine to another."""
        run, job.run = job.run, None
        if run is None:
            return
        core = self._core
        core.timetable.cancel(run.next)
        if run.taken is not None:
            core.timetable.cancel(run.taken)
        if core.flow is not None:
            core.flow.free(job)
        if run.claim is not None:
            self._freed(run.claim)
