"""The journal of offered runs, written before anybody is told, and the reports that change it.

Each event is a line of JSON, on disk before the caller goes on. A line that a crash has cut short is cut off at the
next writing. One process writes at a time; the others wait for it.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.job_queue.history import sync_folder
from crondor.rights.trust import Untrusted, check, current_user, make_folder, user_id, user_name

if sys.platform != "win32":
    import fcntl

_KEPT: Final = 86_400  # seconds that a run is kept after its last start, and after its last event
_COMPACT: Final = 1 << 20  # bytes
_MOST: Final = 64 << 20
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MAKING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY
_OPENING: Final = os.O_RDWR | os.O_APPEND | _SAFELY
_PASSABLE: Final = 0o711  # the starter's hooks, which run as the job's owner, must traverse the folder to leave reports
_WAIT: Final = 30.0  # seconds to wait for another writer
_PAUSE: Final = 0.005  # seconds between two tries


class JournalFault(CrondorError, RuntimeError):
    """The journal cannot be read or written: no run may be offered, since it might run twice."""


class NotPermitted(JournalFault):
    """The journal belongs to another user, or another user could have written it."""


class FetchRunState(str, Enum):
    """The state of a run."""

    OFFERED = "offered"
    REJECTED = "rejected"
    ACCEPTED = "accepted"
    PREPARED = "prepared"
    RUNNING = "running"
    LOST = "lost"
    """Its slot is free again, and its end was not reported."""

    EVICTED = "evicted"
    EXITED = "exited"

    def comes_after(self, known: FetchRunState) -> bool:
        """Return whether a run in a known state can have reached this one: late reports change nothing."""
        order = list(FetchRunState)
        if self in {FetchRunState.ACCEPTED, FetchRunState.REJECTED}:
            return known is FetchRunState.OFFERED
        if known in {FetchRunState.EXITED, FetchRunState.EVICTED}:
            return False
        return self is FetchRunState.RUNNING or order.index(self) > order.index(known)


@dataclass
class RunRecord:
    """One run: its state, since when (epoch seconds), until when it may start, where, and how often it was refused.

    ``owner`` is the name of the job's owner, whose reports about the run count; empty: only the journal's owner's.
    """

    key: str
    state: FetchRunState
    time: int
    last_start: int
    slot: str = ""
    rejections: int = 0
    owner: str = ""
    said: dict[str, object] = field(default_factory=dict)


class Journal:
    """The runs of one folder."""

    def __init__(self, folder: str | Path) -> None:
        """Name the folder; it is made at the first writing."""
        self.path = Path(folder) / "fetched.journal"

    @contextmanager
    def writing(self, *, is_first: bool = False) -> Iterator[Writer]:
        """Yield the exclusive writer, with the present runs. Raises JournalFault; NotPermitted for another's journal.

        A missing journal is created only with ``is_first``.
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
        """Return whether there is a journal, as far as this user can see."""
        return os.path.lexists(self.path)

    def read(self) -> dict[str, RunRecord]:
        """Return the runs by key, without waiting for a lock. Raises JournalFault."""
        try:
            return _records(self.path, _read(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _os_fault(self.path, error) from None

    def _open(self, *, is_first: bool) -> int:
        """Open the journal, creating it and its folder. Raises NotPermitted and OSError."""
        folder = self.path.parent
        try:
            check(self.path)
            if is_first and make_folder(folder, 0o755):
                folder.chmod(_PASSABLE)
        except Untrusted as error:
            raise NotPermitted([_not_trusted(found) for found in error.diagnostics]) from None
        return os.open(self.path, _OPENING | (os.O_CREAT if is_first else 0), 0o600)

    def _has_name(self, descriptor: int) -> bool:
        """Lock a file, and return whether it still has its name: the last writer may have replaced it."""
        _lock(descriptor)
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False


class Writer:
    """Writes events while it holds the lock; ``runs`` are the runs by key."""

    def __init__(self, path: Path, descriptor: int, data: bytes) -> None:
        """Take the contents of the journal, and remove an incomplete line. Raises JournalFault and OSError."""
        self._path, self._descriptor, self.runs = path, descriptor, _records(path, data)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(descriptor, whole)

    @property
    def owner(self) -> int:
        """The number of the journal's user."""
        return os.fstat(self._descriptor).st_uid

    def add(self, key: str, state: FetchRunState, now: int, last_start: int, **said: object) -> None:
        """Add an event, on disk after the next ``sync``."""
        event = {"key": key, "state": state.value, "time": now, "last_start": last_start, **said}
        line = json.dumps(event).encode() + b"\n"
        if os.write(self._descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _apply(self.runs, event)

    def sync(self) -> None:
        """Return when the added events are on disk. Raises OSError."""
        os.fsync(self._descriptor)
        sync_folder(self._path.parent)

    def write(self, key: str, state: FetchRunState, now: int, last_start: int, **said: object) -> None:
        """Write an event to disk. Raises OSError on failure; the next writer removes a partial line."""
        self.add(key, state, now, last_start, **said)
        self.sync()

    def compact(self, now: int) -> None:
        """Drop runs that can no longer be offered, once the file is long. Nothing is written after it.

        If that fails the journal stays long: its contents count, and a run just offered is not lost.
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
    """Wait for the lock of the file, for a limited time. Raises OSError if another process keeps it."""
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
        raise _fault(path, f"line {number} is not an event") from None
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
        "no work is offered while the journal cannot be trusted; repair it, or move it away at the risk of a second run"
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
    hint = f"FETCH_WORK, REPLY_FETCH and EVICT_CLAIM run as one user, who owns the folder; {found.help}"
    return replace(found, kind="fetch-journal", help=hint)


def not_permitted(path: Path) -> Diagnostic:
    """Return the error that this user may not use a file of the state folder, and the remedy."""
    folder, me = path.parent, user_name(current_user())
    try:
        owner = user_name(path.stat().st_uid)
        hint = f"FETCH_WORK, REPLY_FETCH and EVICT_CLAIM run as one user, its owner: run this as {owner}, or chown it"
        message = f"{path}: it belongs to {owner}, but this is {me}"
        if owner == me:
            message, hint = f"{path}: its mode does not let {me} read and write it", f"chmod 600 {path}"
    except PermissionError:
        message, hint = f"{folder}: it does not let {me} pass", f"chmod a+x {folder}, and each folder above it"
    except OSError:
        if folder.is_dir():
            message, hint = f"{folder}: {me} may not write in it", f"chown {me} {folder}"
        else:
            message = f"{folder}: it does not exist, and {me} may not create it"
            hint = f"install -d -m 711 -o {me} {folder}"
    return Diagnostic("fetch-journal", printable(message), help=printable(hint))


MODE: Final = 0o1733
"""Anybody may leave a report; only the folder's owner may see them, and remove those of others."""

STATES: Final = frozenset({FetchRunState.PREPARED, FetchRunState.RUNNING, FetchRunState.EVICTED, FetchRunState.EXITED})
"""The states that may be reported: none that frees a run."""

SAID: Final = ("JobState", "ExitCode", "ExitSignal", "ExitBySignal", "ExitReason", "JobDuration", "RemoteUserCpu")
"""The attributes of the job that are kept."""

_WORDS: Final = (*SAID, "reason")
_LONGEST: Final = 200  # characters of a value
_MOST_BYTES: Final = 32 << 10
_MOST_REPORTS: Final = 500  # at one time
_MOST_NAMES: Final = 20_000
_MOST_SECONDS: Final = 5.0
_OLD: Final = 3600  # seconds after which an unfinished report was left by a crash
_SUFFIX: Final = ".report"
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_TAKING: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_LEAVING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
_FOLDER: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)


# A startd that runs as root runs its own hooks as the user condor, but the starter's hooks as the owner of the job.
# These leave a report in a folder where anybody may leave files, and only condor sees them. The next writer of the
# journal reads them. They are not trusted: anybody who may run a job here may leave any file.
class ReportFault(CrondorError, RuntimeError):
    """A report cannot be left: the journal will not have the state of the run."""


class RunReport(NamedTuple):
    """The state of a run at a time (epoch seconds), and other facts given to a hook."""

    key: str
    state: FetchRunState
    time: int
    said: Mapping[str, str]


class _Found(NamedTuple):
    name: str
    report: RunReport
    writer: int


class Reports:
    """The reports of a state folder."""

    def __init__(self, state: Path) -> None:
        """Take the state folder; nothing is read yet."""
        self.folder = state / "reports"

    def make(self, owner: str) -> list[Diagnostic]:
        """Create the folder if a job's owner is another user than this one; return why that failed."""
        number = user_id(owner)
        if number is None or number == current_user():
            return []
        try:
            with suppress(FileExistsError):
                self.folder.mkdir(0o700)
            found = self.folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == current_user() and stat.S_IMODE(found.st_mode) != MODE:
                folder = os.open(self.folder, _FOLDER)
                try:
                    os.fchmod(folder, MODE)
                finally:
                    os.close(folder)
                sync_folder(self.folder.parent)
        except OSError as error:
            message = f"{self.folder}: cannot make it for what {owner}'s jobs report: {error.strerror}"
            return [Diagnostic("fetch-report", printable(message), Severity.WARNING)]
        return []

    def leave(self, report: RunReport) -> None:
        """Write a report to disk. Raises ReportFault."""
        said = {name: text[:_LONGEST] for name, text in report.said.items()}
        told = {"key": report.key, "state": report.state.value, "time": report.time, "said": said}
        begun = self.folder / f".{secrets.token_hex(16)}"
        try:
            if not stat.S_ISDIR(self.folder.lstat().st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            descriptor = os.open(begun, _LEAVING, 0o644)
            try:
                self._write(descriptor, json.dumps(told).encode(), begun)
            finally:
                os.close(descriptor)
        except OSError as error:
            with suppress(OSError):
                begun.unlink()
            raise ReportFault(self._fault(report.key, error)) from None

    def are_there(self) -> bool:
        """Return whether there are reports, as far as this user can see."""
        try:
            with os.scandir(self.folder) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def take_in(self, writer: Writer, now: int) -> list[Diagnostic]:
        """Apply the reports, and remove them; return the faults of some. Raises OSError."""
        try:
            folder = os.open(self.folder, _FOLDER)
        except OSError:  # there is none, or this user may not see it
            return []
        problems: list[str] = []
        try:
            found = []
            for each in _reports(folder, now, problems):
                if (problem := _distrust(each, writer)) is None:
                    found.append(each)
                    continue
                problems.append(problem)
                _remove(folder, each.name, problems)
            if _apply_reports(found, writer, now):
                writer.sync()
            for each in found:
                _remove(folder, each.name, problems)
        finally:
            os.close(folder)
        return [_warning(self.folder, problems)] if problems else []

    @staticmethod
    def _write(descriptor: int, data: bytes, begun: Path) -> None:
        if len(data) > _MOST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fchmod(descriptor, 0o644)  # whatever the umask is: the writer of the journal is another user
        os.fsync(descriptor)
        begun.replace(begun.with_name(begun.name[1:] + _SUFFIX))
        os.fsync(descriptor)  # its new name, too: this user may not open the folder itself

    def _fault(self, key: str, error: OSError) -> Diagnostic:
        me, state = user_name(current_user()), self.folder.parent
        what, hint = error.strerror or str(error), f"{self.folder} must be a folder with mode {MODE:o}"
        if isinstance(error, FileNotFoundError):
            what = "there is no such folder"
            hint = "FETCH_WORK creates it when it offers a job of another user than its own; give all hooks one --state"
        elif isinstance(error, PermissionError):
            what = f"{me} may not leave files there"
            hint = f"let others traverse {state} and each folder above it, chmod a+x; {hint}"
        message = f"{self.folder}: {what}, so the journal will not have the state of {key[:_LONGEST]}"
        return Diagnostic("fetch-report", printable(message), help=printable(hint))


def _reports(folder: int, now: int, problems: list[str]) -> Iterator[_Found]:
    """Yield the readable reports, within the limits of time and number; remove all others."""
    until, count = time.monotonic() + _MOST_SECONDS, 0
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MOST_NAMES or count >= _MOST_REPORTS or time.monotonic() > until:
                problems.append("there are more than are read at one time, the others wait")
                return
            if not entry.name.endswith(_SUFFIX) and _is_young(folder, entry.name, now):
                continue
            count += 1
            try:
                yield _read_report(folder, entry.name)
            except (OSError, ValueError, RecursionError) as error:
                problems.append(f"{entry.name}: {_reason(error)}")
                _remove(folder, entry.name, problems)


def _is_young(folder: int, name: str, now: int) -> bool:
    """Return whether a report is still being written."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True  # it has its name by now
    return stat.S_ISREG(found.st_mode) and abs(now - found.st_mtime) < _OLD


def _read_report(folder: int, name: str) -> _Found:
    """Read a report without blocking. Raises OSError, ValueError, RecursionError."""
    descriptor = os.open(name, _TAKING, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise ValueError("it is not a plain file with one name")
        data = os.read(descriptor, _MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > _MOST_BYTES:
        raise ValueError("it is too long")
    return _Found(name, _report(json.loads(data)), found.st_uid)


def _report(told: object) -> RunReport:
    """Check the contents of a report. Raises ValueError."""
    if not isinstance(told, dict):
        raise ValueError("it is not a report")  # noqa: TRY004 - one kind of error for all that is wrong
    key, state, moment, said = (told.get(name) for name in ("key", "state", "time", "said"))
    if not (isinstance(key, str) and type(moment) is int and isinstance(said, dict)):
        raise ValueError("it is not a report")
    if not isinstance(state, str) or state not in {each.value for each in STATES}:
        raise ValueError("it has a state that may not be reported")
    texts = {name: text[:_LONGEST] for name, text in said.items() if name in _WORDS and isinstance(text, str)}
    return RunReport(key, FetchRunState(state), moment, texts)


def _distrust(found: _Found, writer: Writer) -> str | None:
    """Return why a report does not count, None: it is from the run's owner, or from the journal's."""
    run = writer.runs.get(found.report.key)
    if run is None:
        return f"the run {found.report.key[:_LONGEST]} is unknown"
    if found.writer in {writer.owner, user_id(run.owner) if run.owner else None}:
        return None
    return f"{user_name(found.writer)} reports about {run.key}, a run of {run.owner or 'nobody'}'s"


def _apply_reports(found: list[_Found], writer: Writer, now: int) -> bool:
    """Apply the latest report of each state of a run, in the order of states; return whether there was any."""
    order = list(FetchRunState)
    latest: dict[tuple[str, FetchRunState], RunReport] = {}
    for report in sorted((each.report for each in found), key=lambda each: (order.index(each.state), each.time)):
        latest[report.key, report.state] = report
    news = False
    for report in latest.values():
        known = writer.runs[report.key]
        is_repeated = report.state is known.state and report.time <= known.time
        if report.state.comes_after(known.state) and not is_repeated:
            moment = min(max(report.time, known.time), max(now, known.time))
            writer.add(report.key, report.state, moment, known.last_start, **report.said)
            news = True
    return news


def _remove(folder: int, name: str, problems: list[str]) -> None:
    try:
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        (os.rmdir if is_folder else os.unlink)(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(f"{name} cannot be removed: {error.strerror}")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    is_ours = type(error) is ValueError
    return str(error) if is_ours else "it is not a report"


def _warning(folder: Path, problems: list[str]) -> Diagnostic:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    hint = "the journal is unchanged; the contents of the folder cannot start a run again"
    return Diagnostic("fetch-report", printable(f"{folder}: {problems[0]}{more}"), Severity.WARNING, help=hint)
