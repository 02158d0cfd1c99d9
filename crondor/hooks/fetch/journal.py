"""What became of the runs that were offered: a file that says it before anybody else hears of it.

Each event is a line of JSON, on disk before the caller goes on. A line that a crash has cut short is cut off at the
next writing. One process writes at a time; the others wait for it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job_queue.disk import sync_folder

if sys.platform != "win32":
    import fcntl

_KEPT: Final = 86_400  # seconds that a run is remembered after its last start
_COMPACT: Final = 1 << 20  # bytes
_MOST: Final = 64 << 20
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OPENING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | _SAFELY
_WAIT: Final = 30.0  # seconds for a writer that has stopped in the middle
_PAUSE: Final = 0.005  # seconds between two tries


class JournalFault(CrondorError, RuntimeError):
    """The journal cannot be read or written: no run may be offered, since it might be one's second time."""


class RunState(str, Enum):
    """How far a run has come."""

    OFFERED = "offered"
    REJECTED = "rejected"
    ACCEPTED = "accepted"
    PREPARED = "prepared"
    RUNNING = "running"
    EVICTED = "evicted"
    EXITED = "exited"


@dataclass
class RunRecord:
    """One run: its state, since when (epoch seconds), until when it may start, where, and how often it was refused."""

    key: str
    state: RunState
    time: int
    last_start: int
    slot: str = ""
    rejections: int = 0
    said: dict[str, object] = field(default_factory=dict)

    @property
    def may_be_offered(self) -> bool:
        """Whether nobody has it: it was refused by all who were offered it."""
        return self.state is RunState.REJECTED


class Journal:
    """The runs of one folder."""

    def __init__(self, folder: str | Path) -> None:
        """Name the folder; it is made at the first writing."""
        self.path = Path(folder) / "fetched.journal"

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Give the only writer, with the runs as they are now. Raises JournalFault."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, _OPENING, 0o600)
        except OSError as error:
            raise _fault(self.path, error.strerror or str(error)) from None
        with ExitStack() as stack:
            stack.callback(os.close, descriptor)
            try:
                while not self._has_name(descriptor):
                    descriptor = os.open(self.path, _OPENING, 0o600)
                    stack.callback(os.close, descriptor)
                yield Writer(self.path, descriptor, _records(self.path, _read(self.path)))
            except OSError as error:
                raise _fault(self.path, error.strerror or str(error)) from None

    def read(self) -> dict[str, RunRecord]:
        """Return the runs by key, without waiting for anybody. Raises JournalFault."""
        try:
            return _records(self.path, _read(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _fault(self.path, error.strerror or str(error)) from None

    def _has_name(self, descriptor: int) -> bool:
        """Lock a file, and say whether the name is still its own: the last writer may have put a shorter one there."""
        _lock(descriptor)
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False


class Writer:
    """Writes events while it holds the lock; ``runs`` are the runs by key."""

    def __init__(self, path: Path, descriptor: int, runs: dict[str, RunRecord]) -> None:
        """Cut off a line that is not whole."""
        self._path, self._descriptor, self.runs = path, descriptor, runs
        data = _read(path)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(descriptor, whole)

    def write(self, key: str, state: RunState, now: int, last_start: int, **said: object) -> None:
        """Put an event on disk, whole. Raises OSError where it is not; what is there of it the next writer cuts off."""
        event = {"key": key, "state": state.value, "time": now, "last_start": last_start, **said}
        line = json.dumps(event).encode() + b"\n"
        if os.write(self._descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(self._descriptor)
        sync_folder(self._path.parent)
        _apply(self.runs, event)

    def compact(self, now: int) -> None:
        """Forget runs that nobody can be offered any more, once the file is long."""
        if os.fstat(self._descriptor).st_size < _COMPACT:
            return
        kept = [run for run in self.runs.values() if run.last_start + _KEPT > now]
        fresh = self._path.with_suffix(".new")
        with fresh.open("wb") as file:
            for run in kept:
                event = {"key": run.key, "state": run.state.value, "time": run.time, "last_start": run.last_start}
                file.write(json.dumps({**run.said, **event, "slot": run.slot, "rejections": run.rejections}).encode())
                file.write(b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(0o600)
        fresh.replace(self._path)
        sync_folder(self._path.parent)


def _lock(descriptor: int) -> None:
    """Wait until nobody else has the file, for a time. Raises OSError for one who does not let go."""
    if sys.platform == "win32":
        return
    until = time.monotonic() + _WAIT
    while not _is_locked(descriptor):
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, f"another process has had it for {_WAIT:g} s")
        time.sleep(_PAUSE)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | _SAFELY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _fault(path, "it is not a plain file")
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise _fault(path, "it is too long to be a journal")
    return data


def _records(path: Path, data: bytes) -> dict[str, RunRecord]:
    runs: dict[str, RunRecord] = {}
    number = 0
    try:
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):  # noqa: B007 - the message has it
            _apply(runs, json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _fault(path, f"line {number} is no event") from None
    return runs


def _apply(runs: dict[str, RunRecord], event: dict[str, object]) -> None:
    key, state = str(event["key"]), RunState(event["state"])
    known = runs.get(key)
    slot = str(event.get("slot") or (known.slot if known else ""))
    refused = event.get("rejections")
    count = refused if isinstance(refused, int) else (known.rejections if known else 0) + (state is RunState.REJECTED)
    said = {**(known.said if known else {}), **event}
    runs[key] = RunRecord(key, state, int(str(event["time"])), int(str(event["last_start"])), slot, count, said)


def _fault(path: Path, reason: str) -> JournalFault:
    hint = (
        "no work is given out while the journal cannot be trusted; mend it, or move it away at the risk of a second run"
    )
    return JournalFault(Diagnostic("fetch-journal", f"{path}: {reason}", help=hint))
