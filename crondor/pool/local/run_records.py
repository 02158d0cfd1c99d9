"""What supervisors record of their programs in a folder, and what one crondor asks of another that runs jobs there."""

from __future__ import annotations

import json
import os
import signal
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

from crondor.classad import Expression, lower
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.job_queue.records import QueueIO, refused_by_disk
from crondor.pool.daemons.pool import Pool
from crondor.pool.daemons.starter import failure_of
from crondor.pool.local.supervisor import boot, publish, start_time
from crondor.pool.settings import Exit
from crondor.rights.trust import make_folder
from crondor.rights.walk import open_plain
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Acted, Hold, ScheddError, Selection, read_constraint

_STARTED: Final = ".started"
_ENDED: Final = ".ended"
_FORGOTTEN: Final = 86_400  # seconds until the record of a cancelled run is removed: no supervisor is that late


class RunState(Enum):
    """The state of a run."""

    CALLED_OFF = "called off"  # its program never began, and never will
    RUNS = "runs"
    ENDED = "ended"
    LOST = "lost"  # it began, and its end is unknown


class RunEnd(NamedTuple):
    """The end of a run: an Exit, or the Hold of a program that could not be started; seconds of processor time."""

    result: Exit | Hold
    user: float = 0.0
    system: float = 0.0


class Records:
    """The folder of the records."""

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is missing. Raises Untrusted if another user could change it, and QueueIO."""
        self.folder = folder.resolve()
        self._started: dict[str, Mapping[str, Any]] = {}  # immutable, and needed if the folder is gone
        try:
            make_folder(self.folder)
        except OSError as error:
            raise refused_by_disk(self.folder, "the records of runs cannot be kept here", error) from error

    def tokens(self) -> Iterator[str]:
        """Yield the runs with records."""
        yield from {path.stem for path in self.folder.glob("*.*") if path.suffix in {_STARTED, _ENDED}}

    def settle(self, token: str) -> RunState:
        """Return the state of a run; one that has not begun is cancelled forever. Raises OSError."""
        while True:
            course = self.course(token)
            if course is not None:
                return course
            try:
                is_ours = publish(str(self.folder), f"{token}{_STARTED}", {"called_off": True})
            except FileNotFoundError:  # the folder was removed: no supervisor can begin either
                is_ours = True
            if is_ours:
                return RunState.CALLED_OFF

    def course(self, token: str) -> RunState | None:
        """Return the state of a run, None if it may still begin."""
        if self.ending(token) is not None:
            return RunState.ENDED
        started = self._read(token, _STARTED)
        if started is None:
            return None
        if started.get("called_off"):
            return RunState.CALLED_OFF
        if self.is_alive(token, "supervisor") or self.is_alive(token, "program"):
            return RunState.RUNS
        return RunState.ENDED if self.ending(token) is not None else RunState.LOST

    def ending(self, token: str) -> RunEnd | None:
        """Return how a run ended, None if there is no record of it."""
        found = self._read(token, _ENDED)
        if found is None:
            return None
        if "failed" in found:
            return RunEnd(failure_of(found))
        number = found.get("signal")
        result = Exit(int(found.get("code", 0))) if number is None else Exit(int(number), by_signal=True)
        return RunEnd(result, float(found["user"]), float(found["system"]))

    def pid(self, token: str) -> int | None:
        """Return the number of a run's process, the leader of its group; None if it no longer runs."""
        started = self._read(token, _STARTED) or {}
        return int(started["program"][0]) if self.is_alive(token, "program") else None

    def owner(self, token: str) -> str:
        """Return the job of a run, as 1.0; empty if the record does not have it."""
        return str((self._read(token, _STARTED) or {}).get("job", ""))

    def started_at(self, token: str) -> int | None:
        """Return when a program began (epoch seconds, by its record)."""
        return self._time(token, _STARTED)

    def is_alive(self, token: str, who: str) -> bool:
        """Return whether the ``supervisor`` or the ``program`` of a run is still the same process."""
        started = self._read(token, _STARTED) or {}
        if who not in started or started.get("boot") != boot():
            return False
        pid, begun = started[who]
        if begun:
            return start_time(int(pid)) == str(begun)
        try:  # no /proc: some process has that number
            os.kill(int(pid), 0)
        except OSError:
            return False
        return True

    def send(self, token: str, number: int) -> bool:
        """Send a signal to the process group of a run; return whether it existed."""
        pid = self.pid(token)
        if pid is None:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
            if number not in {signal.SIGKILL, signal.SIGSTOP}:
                os.killpg(pid, signal.SIGCONT)  # a stopped process would not receive it
            return True
        return False

    def killing(self, token: str) -> tuple[int, int]:
        """Return the signal to end a run with, and the seconds until SIGKILL, from its job."""
        number, grace = (self._read(token, _STARTED) or {}).get("killing", (int(signal.SIGTERM), 0))
        return int(number), int(grace)

    def forget(self, token: str, now: int | None = None) -> None:
        """Remove the records of a finished run; with ``now``, those of a cancelled one only when they are old."""
        if now is not None and self.course(token) is RunState.CALLED_OFF:
            made = self._time(token, _STARTED)
            if made is not None and now - made < _FORGOTTEN:
                return
        self._started.pop(token, None)
        for suffix in (_STARTED, _ENDED):
            with suppress(OSError):
                (self.folder / f"{token}{suffix}").unlink()

    def _time(self, token: str, suffix: str) -> int | None:
        try:
            return int((self.folder / f"{token}{suffix}").stat().st_mtime)
        except OSError:
            return None

    def _read(self, token: str, suffix: str) -> Mapping[str, Any] | None:
        if suffix == _STARTED and token in self._started:
            return self._started[token]
        try:
            with os.fdopen(open_plain(self.folder / f"{token}{suffix}"), "rb") as file:
                data = json.load(file)
        except (OSError, ValueError):
            return None
        if not isinstance(data, dict):
            return None
        if suffix == _STARTED:
            self._started[token] = data
        return data


FOLDER: Final = "requests"

_ASKED: Final = ".asked"
_ANSWERED: Final = ".answered"
_BELL: Final = "bell"
_LARGEST: Final = 1 << 20  # bytes of a request
_OWN: Final = "crondor"  # prefix of a session's own attributes, in lower case
_GONE: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


# ``requests/TOKEN.asked`` in the session's folder is a request, ``requests/TOKEN.answered`` its result. Removing the
# request file takes it: the session then performs it, or the requester knows that it never will be. ``requests/bell``
# is a pipe that wakes the session up.
class Request:
    """One request to the process that has the queue in a folder open.

    Poll ``answer``; ``withdraw`` returns whether the request was still unread.
    """

    def __init__(self, folder: Path, request: Mapping[str, object]) -> None:
        """Write the request, and wake the session. Raises OSError if no session has ever listened."""
        self._folder = str(folder / FOLDER)
        self._name = uuid.uuid4().hex
        me = os.getpid()
        publish(self._folder, f"{self._name}{_ASKED}", {**request, "by": [me, start_time(me)]})
        with suppress(OSError):  # nothing listens now
            bell = os.open(f"{self._folder}/{_BELL}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if stat.S_ISFIFO(os.fstat(bell).st_mode):
                    os.write(bell, b"!")
            finally:
                os.close(bell)

    def answer(self) -> dict[str, Any] | None:
        """Return the answer, None while there is none."""
        path = Path(self._folder) / f"{self._name}{_ANSWERED}"
        found = _read(path)
        if found is not None:
            with suppress(OSError):
                path.unlink()
        return found

    def withdraw(self) -> bool:
        """Take the request back; return whether it was still unread."""
        try:
            (Path(self._folder) / f"{self._name}{_ASKED}").unlink()
        except OSError:
            return False
        return True


class Requests:
    """The requests to a session; ``bell`` is a descriptor that is readable after a request, None without one."""

    def __init__(self, folder: Path) -> None:
        """Make the folder; delete unclaimed answers. Raises OSError, Untrusted if another user could change it."""
        self._folder = folder / FOLDER
        make_folder(self._folder)
        for left in self._folder.glob(f"*{_ANSWERED}"):
            with suppress(OSError):
                left.unlink()
        self.bell: int | None = None
        with suppress(OSError):
            path = self._folder / _BELL
            with suppress(FileExistsError):
                os.mkfifo(path, 0o600)
            self.bell = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
            if not stat.S_ISFIFO(os.fstat(self.bell).st_mode):
                self.close()

    def serve(self, perform: Callable[[Mapping[str, Any]], Mapping[str, object]]) -> None:
        """Perform the requests in order, and answer. Raises QueueIO if the disk fails: then nothing is answered."""
        for name, request in self._taken():
            try:
                answer = perform(request)
            except QueueIO:
                raise
            except CrondorError as error:
                answer = {"faults": [[fault.kind, fault.message, fault.help] for fault in error.diagnostics]}
            except (KeyError, TypeError, ValueError, AttributeError):
                answer = {"faults": [["queue-request", "this crondor does not understand the request", None]]}
            with suppress(OSError):
                publish(str(self._folder), f"{name}{_ANSWERED}", answer)

    def close(self) -> None:
        """Listen no more."""
        if self.bell is not None:
            os.close(self.bell)
            self.bell = None

    def _taken(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the requests of processes that still wait for the answer, and delete all."""
        try:
            with os.scandir(self._folder) as found:
                waiting = [(each.stat().st_mtime_ns, each.name) for each in found if each.name.endswith(_ASKED)]
        except OSError:
            return
        for _, name in sorted(waiting):
            path = self._folder / name
            request = _read(path)
            try:
                path.unlink()
            except OSError:
                continue  # it was taken back
            if request is not None and _waits(request.pop("by", None)):
                yield name.removesuffix(_ASKED), request


def perform(pool: Pool, embedded: EmbeddedSchedd, request: Mapping[str, Any]) -> dict[str, object]:
    """Apply a request to jobs: ``hold``, ``release``, ``remove`` or ``edit``, and return what was done.

    Jobs that the pool does not have are left to the queue. Raises CrondorError; an invalid request raises KeyError,
    TypeError or ValueError.
    """
    chosen = Selection.parse(request["jobs"], request["constraint"])
    missing = chosen.missing(embedded.mirror)
    jobs = [job for job, _ in chosen.of_mirror(embedded.mirror, embedded.context())]
    if request["what"] == "edit":
        return {**_edited(pool, embedded, jobs, request), "missing": missing}
    act = _ACTS[request["what"]]
    total = Acted(not_found=len(missing))
    for job in jobs:
        total = Acted(*map(sum, zip(total, act(pool, embedded, job, str(request["reason"])), strict=True)))
    return {**total._asdict(), "missing": missing}


def _hold(pool: Pool, embedded: EmbeddedSchedd, job: JobId, reason: str) -> Acted:
    hold = Hold(reason)
    found = pool.jobs.get(job)
    if found is None:
        return embedded.hold(job, hold)
    if found.is_over or found.status in _GONE:
        return Acted(bad_status=1)
    return Acted(done=1) if pool.hold(job, hold) else Acted(already=1)


def _release(pool: Pool, embedded: EmbeddedSchedd, job: JobId, reason: str) -> Acted:
    if job not in pool.jobs:
        return embedded.release(job, reason)
    return Acted(done=1) if pool.release(job, reason) else Acted(bad_status=1)


def _remove(pool: Pool, embedded: EmbeddedSchedd, job: JobId, reason: str) -> Acted:
    if job not in pool.jobs:
        return embedded.remove(job, reason)
    return Acted(done=1) if pool.remove(job, reason) else Acted(already=1)


_ACTS: Final = {"hold": _hold, "release": _release, "rm": _remove}


def _edited(pool: Pool, embedded: EmbeddedSchedd, jobs: list[JobId], request: Mapping[str, Any]) -> dict[str, object]:
    """Edit the jobs for which the condition holds; new cron fields count from now on."""
    values: dict[str, object] = {
        str(name): Expression.parse(Source(str(text), f"--set {name}")) for name, text in request["values"].items()
    }
    _refuse_own(values)
    condition = read_constraint(request["condition"], "--if")
    done, is_schedule = [], any(lower(name).startswith("cron") for name in values)
    for job in jobs:
        if not condition.holds(embedded.mirror.ad(job), None, embedded.context()):
            continue
        if pool.edit(job, values) if job in pool.jobs else embedded.edit_if(job, "true", values):
            done.append(job)
    if done and is_schedule:
        pool.reconfig()
    left = set(jobs).difference(done)
    return {"edited": [str(job) for job in done], "unchanged": [str(job) for job in jobs if job in left]}


def _refuse_own(values: Mapping[str, object]) -> None:
    """Raise ScheddError for attributes by which a session knows its jobs and their runs."""
    faults = [
        Diagnostic("schedd-fixed", f"{name} belongs to crondor run itself, and cannot be edited while it runs")
        for name in values
        if lower(name).startswith(_OWN)
    ]
    if faults:
        raise ScheddError(faults)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            text = file.read(_LARGEST + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
        found = json.loads(text) if len(text) <= _LARGEST else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _waits(by: object) -> bool:
    """Return whether the requesting process still exists."""
    if not isinstance(by, list) or len(by) != 2 or not isinstance(by[0], int):
        return False
    return start_time(by[0]) == by[1] if by[1] else True
