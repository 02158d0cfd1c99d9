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
_FORGOTTEN: Final = 86_400  # seconds until the record of a run that was called off is removed: no supervisor is so late


class RunState(Enum):
    """How a run stands."""

    CALLED_OFF = "called off"  # its program never began, and never will
    RUNS = "runs"
    ENDED = "ended"
    LOST = "lost"  # it began, and nobody knows how it ended


class RunEnd(NamedTuple):
    """How a run ended: an Exit, or the Hold of a program that could not be started; seconds of processor time."""

    result: Exit | Hold
    user: float = 0.0
    system: float = 0.0


class Records:
    """The folder of the records."""

    def __init__(self, folder: Path) -> None:
        """Make the folder where it is not there. Raises Untrusted where another user could change it, and QueueIO."""
        self.folder = folder.resolve()
        self._started: dict[str, Mapping[str, Any]] = {}  # they never change, and are needed where the folder is gone
        try:
            make_folder(self.folder)
        except OSError as error:
            raise refused_by_disk(self.folder, "the records of runs cannot be kept here", error) from error

    def tokens(self) -> Iterator[str]:
        """Yield the runs there are records of."""
        yield from {path.stem for path in self.folder.glob("*.*") if path.suffix in {_STARTED, _ENDED}}

    def settle(self, token: str) -> RunState:
        """Say how a run stands; one that has not begun is called off for ever. Raises OSError."""
        while True:
            course = self.course(token)
            if course is not None:
                return course
            try:
                is_ours = publish(str(self.folder), f"{token}{_STARTED}", {"called_off": True})
            except FileNotFoundError:  # the folder has been removed: no supervisor can begin either
                is_ours = True
            if is_ours:
                return RunState.CALLED_OFF

    def course(self, token: str) -> RunState | None:
        """Say how a run stands, None where it may still begin."""
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
        """Return how a run ended, None where there is no record of it."""
        found = self._read(token, _ENDED)
        if found is None:
            return None
        if "failed" in found:
            return RunEnd(failure_of(found))
        number = found.get("signal")
        result = Exit(int(found.get("code", 0))) if number is None else Exit(int(number), by_signal=True)
        return RunEnd(result, float(found["user"]), float(found["system"]))

    def pid(self, token: str) -> int | None:
        """Return the number of a run's process, the leader of its group; None where it runs no more."""
        started = self._read(token, _STARTED) or {}
        return int(started["program"][0]) if self.is_alive(token, "program") else None

    def owner(self, token: str) -> str:
        """Return the job of a run, as 1.0; empty where the record does not say."""
        return str((self._read(token, _STARTED) or {}).get("job", ""))

    def started_at(self, token: str) -> int | None:
        """Return when a program began (epoch seconds, by its record)."""
        return self._time(token, _STARTED)

    def is_alive(self, token: str, who: str) -> bool:
        """Return whether the ``supervisor`` or the ``program`` of a run is still the process that it was."""
        started = self._read(token, _STARTED) or {}
        if who not in started or started.get("boot") != boot():
            return False
        pid, begun = started[who]
        if begun:
            return start_time(int(pid)) == str(begun)
        try:  # no /proc: somebody has that number
            os.kill(int(pid), 0)
        except OSError:
            return False
        return True

    def send(self, token: str, number: int) -> bool:
        """Send a signal to the process group of a run; say whether it was there."""
        pid = self.pid(token)
        if pid is None:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
            if number not in {signal.SIGKILL, signal.SIGSTOP}:
                os.killpg(pid, signal.SIGCONT)  # one that is stopped would never hear of it
            return True
        return False

    def killing(self, token: str) -> tuple[int, int]:
        """Return the signal to end a run with, and the seconds until SIGKILL, as its job had it."""
        number, grace = (self._read(token, _STARTED) or {}).get("killing", (int(signal.SIGTERM), 0))
        return int(number), int(grace)

    def forget(self, token: str, now: int | None = None) -> None:
        """Remove the records of a run that is over; with ``now``, one that was called off only when it is old."""
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
_OWN: Final = "crondor"  # how the attributes of a session itself begin, in lower case
_GONE: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


# ``requests/TOKEN.asked`` in the session's folder is a request, ``requests/TOKEN.answered`` what came of it. Whoever
# removes a request first has it: the session, which then does it, or the one who asked, who then knows that it never
# will be done. ``requests/bell`` is a pipe that wakes the session up.
class Request:
    """One request of another process, given to whoever has the queue in a folder open.

    Look for the ``answer`` until it is there; ``withdraw`` says whether that came before it was taken up.
    """

    def __init__(self, folder: Path, request: Mapping[str, object]) -> None:
        """Leave the request there, and ring. Raises OSError where no session has ever listened."""
        self._folder = str(folder / FOLDER)
        self._name = uuid.uuid4().hex
        me = os.getpid()
        publish(self._folder, f"{self._name}{_ASKED}", {**request, "by": [me, start_time(me)]})
        with suppress(OSError):  # nobody listens now
            bell = os.open(f"{self._folder}/{_BELL}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if stat.S_ISFIFO(os.fstat(bell).st_mode):
                    os.write(bell, b"!")
            finally:
                os.close(bell)

    def answer(self) -> dict[str, Any] | None:
        """Return what came of it, None as long as that is open."""
        path = Path(self._folder) / f"{self._name}{_ANSWERED}"
        found = _read(path)
        if found is not None:
            with suppress(OSError):
                path.unlink()
        return found

    def withdraw(self) -> bool:
        """Take the request back; say whether nobody had taken it up."""
        try:
            (Path(self._folder) / f"{self._name}{_ASKED}").unlink()
        except OSError:
            return False
        return True


class Requests:
    """The requests to a session; ``bell`` is a descriptor that can be read when somebody rings, None without one."""

    def __init__(self, folder: Path) -> None:
        """Make their folder, and forget answers that nobody waits for.

        Raises Untrusted for a folder that another user could change, and OSError.
        """
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
        """Do what is asked for, in the order it came, and answer.

        Raises QueueIO where the disk refuses: then nobody is answered.
        """
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
        """Yield the requests of processes that still wait for the answer; none of them is there any more."""
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
    """Do to jobs what a request says: ``hold``, ``release``, ``remove`` or ``edit``, and return what was done.

    Jobs that the pool does not have are left to the queue. Raises CrondorError; what is no request raises KeyError,
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
        Diagnostic("schedd-fixed", f"{name} is of crondor run itself, and cannot be edited while that goes on")
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
    """Return whether the process that asked is still there."""
    if not isinstance(by, list) or len(by) != 2 or not isinstance(by[0], int):
        return False
    return start_time(by[0]) == by[1] if by[1] else True
