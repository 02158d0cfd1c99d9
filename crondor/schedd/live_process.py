"""The worker process of the live adapter, seen from outside: one request at a time, within a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final, NamedTuple

from crondor.diagnostics import Diagnostic
from crondor.schedd.protocol import ScheddError, Unreachable

_PROGRAM: Final = str(Path(__file__).with_name("live_worker.py"))
_READ: Final = 1 << 16
_LONGEST: Final = 1 << 30  # bytes of one answer
_SAID: Final = 500  # characters of what the worker printed


class Answer(NamedTuple):
    """What the worker answered: ads in old syntax (``name = value`` lines), and the rest."""

    ads: list[str]
    done: dict[str, Any]


class Crashed(Unreachable):
    """The worker ended while it worked."""


class TimedOut(Unreachable):
    """The worker did not answer in time, and was ended."""


class WorkerProcess:
    """Starts the worker when it is needed, and anew where the last one was lost."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Start nothing yet; ``environment`` are changes of this process's own."""
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._rest = b""

    def ask(self, request: Mapping[str, Any], limit: float) -> Answer:
        """Send a request and return the answer; ``limit`` is in seconds.

        Raises TimedOut and Crashed, after which the worker is gone, ScheddError for what the bindings raised.
        """
        process = self._started()
        stdin = process.stdin
        if stdin is None:
            raise AssertionError("the worker has a standard input")
        deadline = monotonic() + limit
        try:
            stdin.write(json.dumps(dict(request)).encode() + b"\n")
            stdin.flush()
        except OSError:
            pass  # it has ended: what it said is read below
        ads: list[str] = []
        while True:
            message = self._message(process, deadline, limit)
            if "ads" in message:
                ads += message["ads"]
            elif "error" in message:
                raise _refused(str(message["kind"]), str(message["error"]))
            else:
                return Answer(ads, message["done"])

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
        if self._said is not None:
            self._said.close()
            self._said = None
        self._rest = b""

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
            self._process = subprocess.Popen(  # noqa: S603 - a program of this package, and nothing of the user's
                [sys.executable, _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env={**os.environ, **self._environment},
            )
        return self._process

    def _message(self, process: subprocess.Popen[bytes], deadline: float, limit: float) -> dict[str, Any]:
        while b"\n" not in self._rest:
            data = self._more(process, deadline, limit)
            if not data or len(self._rest) > _LONGEST:
                status = process.wait() if not data else 0
                said = self._printed()
                self.close()
                raise Crashed(_crash(status, said))
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _more(self, process: subprocess.Popen[bytes], deadline: float, limit: float) -> bytes:
        if process.stdout is None:
            raise AssertionError("the worker has a standard output")
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - monotonic())):
                self.close()
                message = f"the schedd has not answered within {limit:g} s"
                hint = "see that it runs (condor_status -schedd), or allow more time"
                raise TimedOut(Diagnostic("schedd-timeout", message, help=hint))
        return os.read(process.stdout.fileno(), _READ)

    def _printed(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        return self._said.read(_READ).decode("utf-8", "replace").strip()[-_SAID:]


def _crash(status: int, said: str) -> Diagnostic:
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    message = f"the process that talks to the schedd has ended ({how})"
    return Diagnostic("schedd-crashed", f"{message}: {said}" if said else message)


def _refused(kind: str, text: str) -> ScheddError:
    if kind == "ImportError":
        message = f"HTCondor's Python bindings are not there: {text}"
        return Unreachable(Diagnostic("schedd-bindings", message, help="pip install 'crondor[htcondor]' (Linux only)"))
    said = text.strip()[:_SAID] or kind
    unreachable = any(word in said.lower() for word in ("locate", "connect", "contact", "communicat", "collector"))
    if unreachable:
        hint = "see that it runs and that CONDOR_CONFIG names its pool (condor_status -schedd)"
        return Unreachable(Diagnostic("schedd-unreachable", f"no schedd answers: {said}", help=hint))
    return ScheddError(Diagnostic("schedd-refused", f"the schedd did not do it: {said}"))
