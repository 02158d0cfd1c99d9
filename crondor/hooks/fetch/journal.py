"""What became of the runs that were offered: a file that says it before anybody else is told.

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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.job_queue.disk import sync_folder
from crondor.rights.accounts import current_user, user_name
from crondor.rights.trust import Untrusted, check, make_folder

if sys.platform != "win32":
    import fcntl

_KEPT: Final = 86_400  # seconds that a run is remembered after its last start, and after the last news of it
_COMPACT: Final = 1 << 20  # bytes
_MOST: Final = 64 << 20
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MAKING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY
_OPENING: Final = os.O_RDWR | os.O_APPEND | _SAFELY
_PASSABLE: Final = 0o711  # the starter's hooks, which run as the job's owner, go through the folder to leave reports
_WAIT: Final = 30.0  # seconds for a writer that has stopped in the middle
_PAUSE: Final = 0.005  # seconds between two tries


class JournalFault(CrondorError, RuntimeError):
    """The journal cannot be read or written: no run may be offered, since it might be one's second time."""


class NotPermitted(JournalFault):
    """The journal is another user's, or he could have written it."""


class FetchRunState(str, Enum):
    """How far a run has come."""

    OFFERED = "offered"
    REJECTED = "rejected"
    ACCEPTED = "accepted"
    PREPARED = "prepared"
    RUNNING = "running"
    LOST = "lost"
    """Its slot is free again, and nobody has told how it ended."""

    EVICTED = "evicted"
    EXITED = "exited"

    def comes_after(self, known: FetchRunState) -> bool:
        """Say whether a run that is known to be in a state can have come to this one: late news change nothing."""
        order = list(FetchRunState)
        if self in {FetchRunState.ACCEPTED, FetchRunState.REJECTED}:
            return known is FetchRunState.OFFERED
        if known in {FetchRunState.EXITED, FetchRunState.EVICTED}:
            return False
        return self is FetchRunState.RUNNING or order.index(self) > order.index(known)


@dataclass
class RunRecord:
    """One run: its state, since when (epoch seconds), until when it may start, where, and how often it was refused.

    ``owner`` is the name of the job's owner, whose word of the run counts; empty: nobody's but the journal's owner's.
    """

    key: str
    state: FetchRunState
    time: int
    last_start: int
    slot: str = ""
    rejections: int = 0
    owner: str = ""
    said: dict[str, object] = field(default_factory=dict)

    @property
    def may_be_offered(self) -> bool:
        """Whether nobody has it: it was refused by all who were offered it."""
        return self.state is FetchRunState.REJECTED


class Journal:
    """The runs of one folder."""

    def __init__(self, folder: str | Path) -> None:
        """Name the folder; it is made at the first writing."""
        self.path = Path(folder) / "fetched.journal"

    @contextmanager
    def writing(self, *, is_first: bool = False) -> Iterator[Writer]:
        """Give the only writer, with the runs as they are now. Raises JournalFault; NotPermitted for another's journal.

        Only with ``is_first`` a journal is made where there is none.
        """
        with ExitStack() as stack:
            try:
                descriptor = self._open(is_first=is_first)
                stack.callback(os.close, descriptor)
                while not self._has_name(descriptor):
                    descriptor = self._open(is_first=is_first)
                    stack.callback(os.close, descriptor)
                yield Writer(self.path, descriptor, _read(self.path))
            except OSError as error:
                raise _os_fault(self.path, error) from None

    def is_there(self) -> bool:
        """Say whether there is a journal, as far as this user may see."""
        return os.path.lexists(self.path)

    def read(self) -> dict[str, RunRecord]:
        """Return the runs by key, without waiting for anybody. Raises JournalFault."""
        try:
            return _records(self.path, _read(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _os_fault(self.path, error) from None

    def _open(self, *, is_first: bool) -> int:
        """Open the journal, and make it and its folder. Raises NotPermitted and OSError."""
        folder = self.path.parent
        try:
            check(self.path)
            if is_first and make_folder(folder, 0o755):
                folder.chmod(_PASSABLE)
        except Untrusted as error:
            raise NotPermitted([_not_trusted(found) for found in error.diagnostics]) from None
        return os.open(self.path, _OPENING | (os.O_CREAT if is_first else 0), 0o600)

    def _has_name(self, descriptor: int) -> bool:
        """Lock a file, and say whether the name is still its own: the last writer may have put a shorter one there."""
        _lock(descriptor)
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False


class Writer:
    """Writes events while it holds the lock; ``runs`` are the runs by key."""

    def __init__(self, path: Path, descriptor: int, data: bytes) -> None:
        """Take what is in the journal, and cut off a line that is not whole. Raises JournalFault and OSError."""
        self._path, self._descriptor, self.runs = path, descriptor, _records(path, data)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(descriptor, whole)

    @property
    def owner(self) -> int:
        """The number of the user whose journal it is."""
        return os.fstat(self._descriptor).st_uid

    def add(self, key: str, state: FetchRunState, now: int, last_start: int, **said: object) -> None:
        """Take down an event, to be on disk after the next ``sync``."""
        event = {"key": key, "state": state.value, "time": now, "last_start": last_start, **said}
        line = json.dumps(event).encode() + b"\n"
        if os.write(self._descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _apply(self.runs, event)

    def sync(self) -> None:
        """Return when what was added is on disk. Raises OSError."""
        os.fsync(self._descriptor)
        sync_folder(self._path.parent)

    def write(self, key: str, state: FetchRunState, now: int, last_start: int, **said: object) -> None:
        """Put an event on disk, whole. Raises OSError where it is not; what is there of it the next writer cuts off."""
        self.add(key, state, now, last_start, **said)
        self.sync()

    def compact(self, now: int) -> None:
        """Forget runs that nobody can be offered any more, once the file is long. Nothing is written after it.

        Where that fails the journal stays as long as it is: what is in it counts, and a run just offered is not lost.
        """
        if os.fstat(self._descriptor).st_size >= _COMPACT:
            with suppress(OSError):
                self._compact(now)

    def _compact(self, now: int) -> None:
        kept = [run for run in self.runs.values() if max(run.last_start, run.time) + _KEPT > now]
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)  # of a crash; or a link, which is not to be followed
        with os.fdopen(os.open(fresh, _MAKING, 0o600), "wb") as file:
            for run in kept:
                event = {"key": run.key, "state": run.state.value, "time": run.time, "last_start": run.last_start}
                file.write(json.dumps({**run.said, **event, "slot": run.slot, "rejections": run.rejections}).encode())
                file.write(b"\n")
            file.flush()
            os.fsync(file.fileno())
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
        for number, line in enumerate(data.split(b"\n")[:-1], 1):  # noqa: B007 - the message has it
            _apply(runs, json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _fault(path, f"line {number} is no event") from None
    return runs


def _apply(runs: dict[str, RunRecord], event: dict[str, object]) -> None:
    key, state = str(event["key"]), FetchRunState(event["state"])
    known = runs.get(key)
    slot = str(event.get("slot") or (known.slot if known else ""))
    refused = event.get("rejections")
    count = (
        refused if isinstance(refused, int) else (known.rejections if known else 0) + (state is FetchRunState.REJECTED)
    )
    owner = str(event.get("owner") or (known.owner if known else ""))
    said = {**(known.said if known else {}), **event}
    runs[key] = RunRecord(key, state, int(str(event["time"])), int(str(event["last_start"])), slot, count, owner, said)


def _fault(path: Path, reason: str) -> JournalFault:
    hint = (
        "no work is given out while the journal cannot be trusted; mend it, or move it away at the risk of a second run"
    )
    return JournalFault(Diagnostic("fetch-journal", f"{path}: {reason}", help=hint))


def _os_fault(path: Path, error: OSError) -> JournalFault:
    if isinstance(error, PermissionError):
        return NotPermitted(not_permitted(path))
    if isinstance(error, FileNotFoundError):
        hint = "give all hooks the same --state; FETCH_WORK makes the journal"
        return JournalFault(Diagnostic("fetch-journal", f"{path}: there is no journal", help=hint))
    return _fault(path, error.strerror or str(error))


def _not_trusted(found: Diagnostic) -> Diagnostic:
    hint = f"FETCH_WORK, REPLY_FETCH and EVICT_CLAIM run as one user, whose the folder is; {found.help}"
    return replace(found, kind="fetch-journal", help=hint)


def not_permitted(path: Path) -> Diagnostic:
    """Say why this user may not have a file of the state folder, and what is to be done."""
    folder, me = path.parent, user_name(current_user())
    try:
        owner = user_name(path.stat().st_uid)
        hint = f"FETCH_WORK, REPLY_FETCH and EVICT_CLAIM run as one user, whose it is: run this as {owner}, or chown it"
        message = f"{path}: it belongs to {owner}, and this is {me}"
        if owner == me:
            message, hint = f"{path}: its mode does not let {me} read and write it", f"chmod 600 {path}"
    except PermissionError:
        message, hint = f"{folder}: it does not let {me} pass", f"chmod a+x {folder}, and each folder above it"
    except OSError:
        if folder.is_dir():
            message, hint = f"{folder}: {me} may not write in it", f"chown {me} {folder}"
        else:
            message = f"{folder}: it is not there, and {me} may not make it"
            hint = f"install -d -m 711 -o {me} {folder}"
    return Diagnostic("fetch-journal", printable(message), help=printable(hint))
