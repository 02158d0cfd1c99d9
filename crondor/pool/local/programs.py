"""Programs that really run, each under a supervisor that outlives this process, and the queue on disk.

A run has a token, which is in the queue before its supervisor is started: whoever opens the queue later finds by it
what became of the run (run_records.py).
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.codes import FAILED_TO_CREATE_PROCESS
from crondor.job.attributes import ON_MACHINE, count, int32, string
from crondor.job_queue import JobId, cluster_key
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.schedd import ScheddQueue
from crondor.pool.daemons.starter import Lasting, failure, failure_of, killing_of, process_of, time_of
from crondor.pool.local import supervisor
from crondor.pool.local.run_records import Records, RunEnd, RunState
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Hold, write

TOKEN: Final = "CrondorRunToken"  # noqa: S105 - a name
"""The attribute with the token of a job's run, from before its start until the job is no longer running."""


class KeptQueue(ScheddQueue):
    """The queue of an EmbeddedSchedd; ``ads`` are those of the jobs passed to ``take``."""

    def __init__(self, schedd: EmbeddedSchedd) -> None:
        self.embedded = schedd
        self.ads: dict[JobId, ClassAd] = {}
        self.followers = []
        self.mirror = schedd.mirror
        self.book = schedd.book

    def take(self, job: JobId) -> ClassAd:
        """Return the complete ad of a job in the queue."""
        mirror = self.mirror
        parent = mirror.ads.get(cluster_key(job.cluster), {})
        ad = self.ads[job] = mirror.make_ad(mirror.key(job), {**parent, **mirror.own(job)})
        return ad

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        return self.embedded.next_cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Raise: jobs enter the queue all at once, by EmbeddedSchedd.submit."""
        raise NotImplementedError(
            f"job {job} is submitted to the EmbeddedSchedd, and then taken ({len(ad)} attributes)"
        )

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job, on disk on return; the token is written with the status it belongs to."""
        ad, status = self.ads[job], values.get("JobStatus")
        stays = status is None or (status in ON_MACHINE and int32(ad, "JobStatus") in ON_MACHINE)
        if not stays and TOKEN in ad and TOKEN not in values:
            values = {**values, TOKEN: None}
        self.embedded.write(job, values)
        write(ad, values)

    def count(self, job: PoolJob, numbers: Mapping[str, int]) -> None:
        """Set attributes of a run like ``write``."""
        self.write(job.id, numbers)

    def plan(self, job: PoolJob, time: int) -> None:
        """Set a DeferralTime like ``write``."""
        self.write(job.id, {"DeferralTime": time})

    def leave(self, job: JobId) -> None:
        """Move a job to the history, unless it is to stay in the queue."""
        self.embedded.leave(job)
        del self.ads[job]


RUN_TIME: Final = "CrondorRunTime"
"""The attribute with the DeferralTime of a job's last start."""

_MOST_SPARE: Final = 50
_PATIENCE: Final = 5.0  # seconds for a supervisor to report the start; a later answer counts too


class _Child:
    """A program, or the rest of one."""

    def __init__(self, token: str, job: JobId | None, supervisor: subprocess.Popen[bytes] | None = None) -> None:
        self.token = token
        self.owner = job  # its present or former job
        self.job = job  # None: nothing waits for its end
        self.supervisor = supervisor
        self.deadline: float | None = None  # for SIGKILL


class RealPrograms:
    """The programs of a session; ``clock`` returns epoch seconds.

    ``mark`` is written into a job at each start, with its token and its time.
    """

    def __init__(self, records: Records, clock: Callable[[], float], mark: Mapping[str, object]) -> None:
        self.records = records
        self._clock = clock
        self._mark = mark
        self._children: dict[str, _Child] = {}
        self._spare: list[subprocess.Popen[bytes]] = []

    # The interface of Programs

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:
        """Return a new token, the time of the run, and the number of starts: both are needed to undo it."""
        return {
            TOKEN: uuid.uuid4().hex,
            RUN_TIME: time_of(run.ad, Context(now=now)),
            "NumJobStarts": count(job.ad, "NumJobStarts") + 1,
            **self._mark,
        }

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting | Hold | None:  # noqa: ARG002 - the same
        """Start a supervisor and its program."""
        process = process_of(run.ad)
        if isinstance(process, Hold):
            return process
        left = self._finish(job.id)
        if left is not None:
            return left
        token = token_of(job.ad)
        killing = killing_of(run.ad, "RemoveKillSig")
        request = {**process._asdict(), "token": token, "job": str(job.id), "killing": killing}
        try:
            child = _Child(token, job.id, self._supervisor())
        except OSError as error:
            return failure("executable", process.executable, error.errno or 0)
        answer = _ask(child.supervisor, json.dumps(request).encode()) if child.supervisor else {}
        if "failed" in answer:
            _reap(child.supervisor)
            self.records.forget(token)
            return failure_of(answer)
        self._children[token] = child
        return None

    def stop(self, job: PoolJob, run: JobRun, signal: str) -> None:
        """Send the job's signal to the whole process group, and SIGKILL after its grace."""
        child = self._children.get(token_of(job.ad))
        if child is not None:
            child.job = None
            self._kill(child, *killing_of(run.ad, signal))

    def suspend(self, job: PoolJob, run: JobRun) -> None:  # noqa: ARG002 - the same
        """Stop the process group."""
        self.records.send(token_of(job.ad), signal.SIGSTOP)

    def resume(self, job: PoolJob, run: JobRun) -> None:  # noqa: ARG002 - the same
        """Continue the process group."""
        self.records.send(token_of(job.ad), signal.SIGCONT)

    # Programs of an earlier session

    def adopt(self, token: str, job: JobId) -> RunState:
        """Adopt an earlier run, and return its state; one that had not begun never will. Raises OSError."""
        course = self.records.settle(token)
        if course is not RunState.CALLED_OFF:
            self._children[token] = _Child(token, job)
        return course

    def sweep(self, wanted: Iterable[str]) -> int:
        """End the earlier programs that no job wants, forget finished ones, and return how many had to be ended."""
        found = 0
        for token in set(self.records.tokens()) - set(wanted):
            if self.records.course(token) is RunState.RUNS:
                child = self._children[token] = _Child(token, None)
                child.owner = JobId.parse(self.records.owner(token))
                self._kill(child, *self.records.killing(token))
                found += 1
            else:
                self.records.forget(token, int(self._clock()))
        return found

    # As time passes

    @property
    def running(self) -> int:
        """Return the number of programs, including those being ended."""
        return len(self._children)

    def pid(self, job: PoolJob) -> int | None:
        """Return the number of a job's process."""
        return self.records.pid(token_of(job.ad))

    def poll(self) -> list[tuple[JobId, RunEnd | None]]:
        """Return the jobs whose programs have ended, with None if the exit is unknown; kill those that do not end."""
        ended: list[tuple[JobId, RunEnd | None]] = []
        for child in list(self._children.values()):
            if child.deadline is not None and self._clock() >= child.deadline:
                self.records.send(child.token, signal.SIGKILL)
                child.deadline = self._clock() + 1
            course = self.records.course(child.token)
            if course is RunState.RUNS or (course is None and _is_there(child.supervisor)):
                continue
            if course is None:
                course = self.records.settle(child.token)
                if course is RunState.RUNS:
                    continue
            del self._children[child.token]
            _reap(child.supervisor)
            if child.job is None:
                self.records.forget(child.token)
            else:
                ended.append((child.job, self.records.ending(child.token)))
        return ended

    def wait(self, seconds: float, wakeups: Sequence[int] = ()) -> None:
        """Wait some seconds for a supervisor's report, or until one of ``wakeups`` (descriptors) is readable."""
        outputs = {
            child.supervisor.stdout.fileno(): child
            for child in self._children.values()
            if child.supervisor is not None and child.supervisor.stdout is not None
        }
        deadlines = [child.deadline - self._clock() for child in self._children.values() if child.deadline is not None]
        if len(outputs) < len(self._children):
            deadlines.append(0.2)  # earlier ones have no connection to us
        most = max(0.0, min([seconds, *deadlines]))
        for descriptor in select.select([*outputs, *wakeups], [], [], most)[0]:
            with suppress(BlockingIOError):
                if not os.read(descriptor, 1024) and descriptor in outputs:
                    _reap(outputs[descriptor].supervisor)
                    outputs[descriptor].supervisor = None

    def kill_all(self) -> None:
        """Send SIGKILL to every process group."""
        for child in self._children.values():
            self.records.send(child.token, signal.SIGKILL)

    def prepare(self, number: int) -> None:
        """Keep at most 50 supervisors ready, since Python takes longer to start than a program."""
        try:
            while len(self._spare) < min(number, _MOST_SPARE):
                self._spare.append(self._spawn())
        except OSError:
            pass  # reported when one is needed

    def let_go(self) -> None:
        """Leave running programs to their supervisors: the next session finds them again."""
        for spare in self._spare:
            if spare.stdin is not None:
                spare.stdin.close()
        for spare in self._spare:
            _reap(spare)
        self._spare.clear()
        for child in self._children.values():
            if child.supervisor is not None:
                _close(child.supervisor)
                child.supervisor.returncode = child.supervisor.poll() or 0  # so that Popen does not complain about it
        self._children.clear()

    def _finish(self, job: JobId) -> Hold | None:
        """Immediately end the job's previous program: there are never two. Return a hold if it does not end."""
        until = self._clock() + _PATIENCE
        for child in [child for child in self._children.values() if child.job is None and child.owner == job]:
            while self.records.course(child.token) is RunState.RUNS:
                if self._clock() > until:
                    return Hold(
                        "Failed to execute: the last program of this job does not end", FAILED_TO_CREATE_PROCESS, 0
                    )
                self.records.send(child.token, signal.SIGKILL)
                select.select([], [], [], 0.01)
            self._children.pop(child.token)
            _reap(child.supervisor)
            self.records.forget(child.token)
        return None

    def _kill(self, child: _Child, number: int, grace: int) -> None:
        if self.records.course(child.token) is None and self.records.settle(child.token) is RunState.CALLED_OFF:
            if child.supervisor is not None:
                child.supervisor.kill()
            return
        self.records.send(child.token, number)
        child.deadline = self._clock() + grace

    def _supervisor(self) -> subprocess.Popen[bytes]:
        """Return a supervisor that waits for its request. Raises OSError."""
        while self._spare:
            spare = self._spare.pop(0)
            if _is_there(spare):
                return spare
            _reap(spare)
        return self._spawn()

    def _spawn(self) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-I", "-S", str(Path(supervisor.__file__)), str(self.records.folder)]
        return subprocess.Popen(  # noqa: S603 - the interpreter, its own script, a folder of ours
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )


def token_of(ad: ClassAd) -> str:
    """Return the token of a job's run, empty if it has none or an unknown one."""
    token = string(ad, TOKEN) or ""
    return token if token.isalnum() and token.isascii() else ""


def _ask(child: subprocess.Popen[bytes], request: bytes) -> dict[str, Any]:
    """Send a request to a supervisor and return its answer, empty if there is none in time."""
    if child.stdin is None or child.stdout is None:
        return {}
    with suppress(BrokenPipeError):
        child.stdin.write(request)
        child.stdin.close()
    said = b""
    while not said.endswith(b"\n") and select.select([child.stdout], [], [], _PATIENCE)[0]:
        piece = os.read(child.stdout.fileno(), 4096)
        if not piece:
            break
        said += piece
    with suppress(ValueError):
        answer = json.loads(said)
        return answer if isinstance(answer, dict) else {}
    return {}


def _is_there(child: subprocess.Popen[bytes] | None) -> bool:
    return child is not None and child.poll() is None


def _reap(child: subprocess.Popen[bytes] | None) -> None:
    if child is not None:
        child.wait()
        _close(child)


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
