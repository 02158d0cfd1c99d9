"""What the starter's hooks tell of a run where the journal is another user's: a small file for each time.

A startd that runs as root runs its own hooks as the user condor, but the starter's hooks as the owner of the job. These
leave a report in a folder where anybody may leave files, and nobody but condor sees them. The next writer of the
journal takes them in. It believes nothing: whoever may run a job here may leave whatever he likes.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.hooks.fetch.journal import FetchRunState, Writer
from crondor.job_queue.disk import sync_folder
from crondor.rights.accounts import current_user, user_id, user_name

MODE: Final = 0o1733
"""Anybody may leave a report; only the folder's owner may see them, and take away those of others."""

STATES: Final = frozenset({FetchRunState.PREPARED, FetchRunState.RUNNING, FetchRunState.EVICTED, FetchRunState.EXITED})
"""What a report may say: nothing that gives a run back."""

SAID: Final = ("JobState", "ExitCode", "ExitSignal", "ExitBySignal", "ExitReason", "JobDuration", "RemoteUserCpu")
"""The attributes of the job that are kept."""

_WORDS: Final = (*SAID, "reason")
_LONGEST: Final = 200  # characters of a value
_MOST_BYTES: Final = 32 << 10
_MOST_REPORTS: Final = 500  # at one time
_MOST_NAMES: Final = 20_000
_MOST_SECONDS: Final = 5.0
_OLD: Final = 3600  # seconds after which a report that was begun was left by a crash
_SUFFIX: Final = ".report"
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_TAKING: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_LEAVING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
_FOLDER: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)


class ReportFault(CrondorError, RuntimeError):
    """A report cannot be left: the journal will not say how far the run has come."""


class RunReport(NamedTuple):
    """How far a run has come, at a time (epoch seconds), and what else a hook was told."""

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
        """Name the state folder; nothing is looked at yet."""
        self.folder = state / "reports"

    def make(self, owner: str) -> list[Diagnostic]:
        """Make the folder if a job's owner is another user than this one; return what kept it from being made."""
        number = user_id(owner)
        if number is None or number == current_user():
            return []
        try:
            with suppress(FileExistsError):
                self.folder.mkdir(0o700)
            found = self.folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == current_user() and stat.S_IMODE(found.st_mode) != MODE:
                self._let_in()
        except OSError as error:
            message = f"{self.folder}: cannot make it for what {owner}'s jobs report: {error.strerror}"
            return [Diagnostic("fetch-report", printable(message), Severity.WARNING)]
        return []

    def _let_in(self) -> None:
        """Let anybody leave reports. Raises OSError where a link has come in the folder's place meanwhile."""
        folder = os.open(self.folder, _FOLDER)
        try:
            os.fchmod(folder, MODE)
        finally:
            os.close(folder)
        sync_folder(self.folder.parent)

    def leave(self, report: RunReport) -> None:
        """Put a report on disk, whole. Raises ReportFault."""
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
        """Say whether there is anything to take in, as far as this user may see."""
        try:
            with os.scandir(self.folder) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def take_in(self, writer: Writer, now: int) -> list[Diagnostic]:
        """Write down what the reports tell, and remove them; return what was wrong with some. Raises OSError."""
        try:
            folder = os.open(self.folder, _FOLDER)
        except OSError:  # there is none, or it is not for this user to see
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
            if _apply(found, writer, now):
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
        os.fchmod(descriptor, 0o644)  # whatever the umask says: the writer of the journal is another user
        os.fsync(descriptor)
        begun.replace(begun.with_name(begun.name[1:] + _SUFFIX))
        os.fsync(descriptor)  # its new name, too: the folder itself is not this user's to open

    def _fault(self, key: str, error: OSError) -> Diagnostic:
        me, state = user_name(current_user()), self.folder.parent
        what, hint = error.strerror or str(error), f"{self.folder} must be a folder with mode {MODE:o}"
        if isinstance(error, FileNotFoundError):
            what = "there is no such folder"
            hint = "FETCH_WORK makes it when it offers a job of another user than its own; give all hooks one --state"
        elif isinstance(error, PermissionError):
            what = f"{me} may leave nothing there"
            hint = f"let others pass {state} and each folder above it, chmod a+x; {hint}"
        message = f"{self.folder}: {what}, so that the journal will not say what became of {key[:_LONGEST]}"
        return Diagnostic("fetch-report", printable(message), help=printable(hint))


def _reports(folder: int, now: int, problems: list[str]) -> Iterator[_Found]:
    """Yield the reports that can be read, in the time and up to the number that are allowed; remove all else."""
    until, count = time.monotonic() + _MOST_SECONDS, 0
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MOST_NAMES or count >= _MOST_REPORTS or time.monotonic() > until:
                problems.append("there are more than are taken in at one time, the others wait")
                return
            if not entry.name.endswith(_SUFFIX) and _is_young(folder, entry.name, now):
                continue
            count += 1
            try:
                yield _read(folder, entry.name)
            except (OSError, ValueError, RecursionError) as error:
                problems.append(f"{entry.name}: {_reason(error)}")
                _remove(folder, entry.name, problems)


def _is_young(folder: int, name: str, now: int) -> bool:
    """Say whether a report is still being written."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True  # it has its name by now
    return stat.S_ISREG(found.st_mode) and abs(now - found.st_mtime) < _OLD


def _read(folder: int, name: str) -> _Found:
    """Read a report without waiting for anybody. Raises OSError, ValueError, RecursionError."""
    descriptor = os.open(name, _TAKING, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise ValueError("it is no plain file with one name")
        data = os.read(descriptor, _MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > _MOST_BYTES:
        raise ValueError("it is too long")
    return _Found(name, _report(json.loads(data)), _writer(found))


def _writer(found: os.stat_result) -> int:
    return found.st_uid


def _report(told: object) -> RunReport:
    """Check what a report says. Raises ValueError."""
    if not isinstance(told, dict):
        raise ValueError("it is no report")  # noqa: TRY004 - one kind of error for all that is wrong
    key, state, moment, said = (told.get(name) for name in ("key", "state", "time", "said"))
    if not (isinstance(key, str) and type(moment) is int and isinstance(said, dict)):
        raise ValueError("it is no report")
    if not isinstance(state, str) or state not in {each.value for each in STATES}:
        raise ValueError("it tells of a state that is not for a report to tell")
    texts = {name: text[:_LONGEST] for name, text in said.items() if name in _WORDS and isinstance(text, str)}
    return RunReport(key, FetchRunState(state), moment, texts)


def _distrust(found: _Found, writer: Writer) -> str | None:
    """Return why a report counts for nothing, None: it is the word of the run's owner, or of the journal's."""
    run = writer.runs.get(found.report.key)
    if run is None:
        return f"nothing is known of the run {found.report.key[:_LONGEST]}"
    if found.writer in {writer.owner, user_id(run.owner) if run.owner else None}:
        return None
    return f"{user_name(found.writer)} tells of {run.key}, a run of {run.owner or 'nobody'}'s"


def _apply(found: list[_Found], writer: Writer, now: int) -> bool:
    """Take down the latest of each state of a run, in the order of states; say whether there was any."""
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
    return str(error) if is_ours else "it is no report"


def _warning(folder: Path, problems: list[str]) -> Diagnostic:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    hint = "the journal says no more of the run than it did; nothing that is there can have a run start again"
    return Diagnostic("fetch-report", printable(f"{folder}: {problems[0]}{more}"), Severity.WARNING, help=hint)
