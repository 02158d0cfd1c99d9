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
"""The attribute that names the program of a job's run, from before its start until the job is no longer running."""


class KeptQueue(ScheddQueue):
    """The queue of an EmbeddedSchedd; ``ads`` are those of the jobs that ``take`` was called for."""

    def __init__(self, schedd: EmbeddedSchedd) -> None:
        """Take a queue that is open for writing."""
        self.embedded = schedd
        self.ads: dict[JobId, ClassAd] = {}
        self.followers = []
        self.mirror = schedd.mirror
        self.book = schedd.book

    def take(self, job: JobId) -> ClassAd:
        """Return the ad of a job in the queue, whole."""
        mirror = self.mirror
        parent = mirror.ads.get(cluster_key(job.cluster), {})
        ad = self.ads[job] = mirror.make_ad(mirror.key(job), {**parent, **mirror.own(job)})
        return ad

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        return self.embedded.next_cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Refuse: jobs come into the queue all at once, by EmbeddedSchedd.submit."""
        raise NotImplementedError(
            f"job {job} is submitted to the EmbeddedSchedd, and then taken ({len(ad)} attributes)"
        )

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job, on the disk when it returns; the token goes with the status it belongs to."""
        ad, status = self.ads[job], values.get("JobStatus")
        stays = status is None or (status in ON_MACHINE and int32(ad, "JobStatus") in ON_MACHINE)
        if not stays and TOKEN in ad and TOKEN not in values:
            values = {**values, TOKEN: None}
        self.embedded.write(job, values)
        write(ad, values)

    def count(self, job: PoolJob, numbers: Mapping[str, int]) -> None:
        """Set attributes of a run as ``write`` does it."""
        self.write(job.id, numbers)

    def plan(self, job: PoolJob, time: int) -> None:
        """Set a DeferralTime as ``write`` does it."""
        self.write(job.id, {"DeferralTime": time})

    def leave(self, job: JobId) -> None:
        """Move a job to the history, unless it is to stay in the queue."""
        self.embedded.leave(job)
        del self.ads[job]


RUN_TIME: Final = "CrondorRunTime"
"""The attribute with the DeferralTime of a job's last start."""

_MOST_SPARE: Final = 50
_PATIENCE: Final = 5.0  # seconds for a supervisor to say that the program has begun; a later answer counts too


class _Child:
    """A program, or what is left of one."""

    __slots__ = ("deadline", "job", "owner", "supervisor", "token")

    def __init__(self, token: str, job: JobId | None, supervisor: subprocess.Popen[bytes] | None = None) -> None:
        self.token = token
        self.owner = job  # whose it is, or was
        self.job = job  # None: nobody waits for its end any more
        self.supervisor = supervisor
        self.deadline: float | None = None  # for SIGKILL


class RealPrograms:
    """The programs of a session; ``clock`` returns epoch seconds.

    ``mark`` is what is written into a job at each start, beside its token and its time.
    """

    def __init__(self, records: Records, clock: Callable[[], float], mark: Mapping[str, object]) -> None:
        """Begin with no program."""
        self.records = records
        self._clock = clock
        self._mark = mark
        self._children: dict[str, _Child] = {}
        self._spare: list[subprocess.Popen[bytes]] = []

    # The seam

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:
        """Return a new token, the time the run is for, and the number of starts: whoever takes it back needs both."""
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
        """Let the process group go on."""
        self.records.send(token_of(job.ad), signal.SIGCONT)

    # What was left by a session before

    def adopt(self, token: str, job: JobId) -> RunState:
        """Take over a run of before, and say how it stands; one that had not begun never will. Raises OSError."""
        course = self.records.settle(token)
        if course is not RunState.CALLED_OFF:
            self._children[token] = _Child(token, job)
        return course

    def sweep(self, wanted: Iterable[str]) -> int:
        """End the programs of before that no job wants, forget what is over, and say how many had to be ended."""
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
        """How many programs there are, those included that are being ended."""
        return len(self._children)

    def pid(self, job: PoolJob) -> int | None:
        """Return the number of a job's process."""
        return self.records.pid(token_of(job.ad))

    def poll(self) -> list[tuple[JobId, RunEnd | None]]:
        """Return the jobs whose programs have ended, with None where nobody knows how; kill those that do not end."""
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
        """Wait until a supervisor speaks, or one of ``wakeups`` (descriptors) can be read, at most some seconds."""
        outputs = {
            child.supervisor.stdout.fileno(): child
            for child in self._children.values()
            if child.supervisor is not None and child.supervisor.stdout is not None
        }
        deadlines = [child.deadline - self._clock() for child in self._children.values() if child.deadline is not None]
        if len(outputs) < len(self._children):
            deadlines.append(0.2)  # those of before have no line to us
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
        """Have some supervisors ready, since Python takes longer to start than a program; 50 at most."""
        try:
            while len(self._spare) < min(number, _MOST_SPARE):
                self._spare.append(self._spawn())
        except OSError:
            pass  # it will be said where one is needed

    def let_go(self) -> None:
        """Leave what runs to its supervisors: whoever opens the queue next finds it again."""
        for spare in self._spare:
            if spare.stdin is not None:
                spare.stdin.close()
        for spare in self._spare:
            _reap(spare)
        self._spare.clear()
        for child in self._children.values():
            if child.supervisor is not None:
                _close(child.supervisor)
                child.supervisor.returncode = child.supervisor.poll() or 0  # so that Popen does not complain of it
        self._children.clear()

    def _finish(self, job: JobId) -> Hold | None:
        """End at once what is left of the program that a job had before: there are never two. Say if it does not."""
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
    """Return the token of a job's run, empty where it has none or one that no supervisor was ever given."""
    token = string(ad, TOKEN) or ""
    return token if token.isalnum() and token.isascii() else ""


def _ask(child: subprocess.Popen[bytes], request: bytes) -> dict[str, Any]:
    """Send a request to a supervisor and return what it says within its time, nothing if that is nothing."""
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
