"""The records that supervisors leave in a folder: which programs began, which have ended, which still run."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

from crondor.job_queue.records import refused_by_disk
from crondor.pool.daemons.starter import failure_of
from crondor.pool.local.supervisor import boot, publish, start_time
from crondor.pool.settings import Exit
from crondor.rights.trust import make_folder
from crondor.rights.walk import open_plain
from crondor.schedd.protocol import Hold

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
        """Say whether the ``supervisor`` or the ``program`` of a run is still the process that it was."""
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
