"""Notifications: a command for a verdict, and a heartbeat to an address."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.monitor import DueRun

PREFIX: Final = "CRONDOR_RUN_"
LONGEST: Final = 60.0  # seconds allowed for a command
_ANSWER: Final = 10.0  # seconds allowed for an answer of the address
_MOST: Final = 1000  # waiting notifications
_MOST_BYTES: Final = 8192  # per variable: Linux allows 128 KiB for one, and 2 MiB for all together
_LAST: Final = 10.0  # seconds allowed for waiting notifications when the monitor ends


# One thread does both, one at a time, apart from the looks: a hanging command delays no look. A command is an argument
# vector, run without a shell; the facts are in its environment.
class Notice(NamedTuple):
    """A command to run for due times with a verdict."""

    verdict: str
    command: tuple[str, ...]


def facts(run: DueRun, zone: tzinfo) -> dict[str, str]:
    """Return the facts of a due time as environment variables for a command."""
    said: dict[str, object] = {
        "VERDICT": run.verdict.value,
        "CAUSE": "" if run.cause is None else run.cause.value,
        "WHY": run.why,
        "SCHEDD": run.queue,
        "JOB": run.job,
        "OWNER": run.owner or "",
        "CMD": run.cmd or "",
        "DUE": run.run.time,
        "DUE_LOCAL": _local(run.run.time, zone),
        "STARTED": "" if run.started is None else run.started,
        "HOLD_CODE": "" if run.code is None else run.code,
    }
    return {f"{PREFIX}{name}": _bounded(printable(str(value))) for name, value in said.items()}


def _local(epoch: int, zone: tzinfo) -> str:
    """Return a time as ISO 8601 with offset, empty outside the calendar."""
    try:
        return datetime.fromtimestamp(epoch, zone).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _bounded(text: str) -> str:
    """Return a text that fits in an environment variable; a long one is truncated, with its length added."""
    data = text.encode()
    if len(data) <= _MOST_BYTES:
        return text
    return f"{data[:_MOST_BYTES].decode(errors='ignore')}... [{len(text):,} characters]"


class Notifier:
    """Runs commands and requests an address, apart from the looks; a failing address is reported once until it answers.

    ``environ`` is the environment of commands; the facts are added.
    """

    def __init__(
        self,
        notices: Iterable[Notice],
        url: str | None,
        environ: Mapping[str, str],
        report: Callable[[Diagnostic], object],
    ) -> None:
        """Start nothing yet; ``report`` receives failures."""
        self._report = report
        self._notices = tuple(notices)
        self._url = url
        self._environ = dict(environ)
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue(_MOST)
        self._thread: threading.Thread | None = None
        self._is_silent = False
        self._is_full = False

    def tell(self, runs: Iterable[DueRun], zone: tzinfo) -> None:
        """Run the commands for new verdicts."""
        for run in runs:
            for notice in self._notices:
                if notice.verdict == run.verdict.value:
                    self._add(partial(self._run, notice.command, facts(run, zone)))

    def beat(self) -> None:
        """Send a heartbeat."""
        if self._url is not None:
            self._add(self._ask)

    def close(self, limit: float = _LAST) -> None:
        """Finish the waiting notifications, within ``limit`` seconds."""
        if self._thread is None:
            return
        with suppress(queue.Full):
            self._waiting.put(None, timeout=limit)
        self._thread.join(limit)

    def _add(self, deed: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(deed)
            self._is_full = False
        except queue.Full:
            if not self._is_full:
                self._warn("notice-full", f"{_MOST:,} commands are waiting: further ones are skipped until then")
            self._is_full = True

    def _work(self) -> None:
        while (deed := self._waiting.get()) is not None:
            deed()

    def _run(self, command: Sequence[str], said: Mapping[str, str]) -> None:
        """Run a command; its output goes to stderr, since stdout is the monitor's."""
        try:
            done = subprocess.run(  # noqa: S603 - the command of whoever started the monitor; no shell sees it
                command, stdin=subprocess.DEVNULL, stdout=2, env={**self._environ, **said}, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            self._warn("notice-failed", f"{command[0]} was ended: it took more than {LONGEST:.0f} seconds")
        except (OSError, ValueError) as error:
            self._warn("notice-failed", f"{command[0]} cannot be run: {getattr(error, 'strerror', None) or error}")
        else:
            if done.returncode:
                self._warn("notice-failed", f"{command[0]} ended with status {done.returncode}")

    def _ask(self) -> None:
        """Request the address, and report when it starts to fail."""
        fault = _answer(self._url or "")
        if fault and not self._is_silent:
            self._warn("heartbeat", f"the address of --heartbeat failed: {fault}")
        self._is_silent = bool(fault)

    def _warn(self, kind: str, message: str) -> None:
        self._report(Diagnostic(kind, message, Severity.WARNING))


def _answer(url: str) -> str:
    """Return what is wrong with an address's answer, empty if nothing is."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER)
    try:
        connection.request("GET", path, headers={"User-Agent": "crondor"})
        status = connection.getresponse().status
    except (OSError, HTTPException, ValueError) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
    return "" if status < 400 else f"status {status}"
