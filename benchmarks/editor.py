"""`crondor lsp` as an editor meets it: from a keystroke in a submit file of 500 lines to its findings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

LINES = 496
_KEYSTROKES = 60
_URI = "file:///nowhere/nightly.sub"
_JOB = """executable = /opt/lab/run{0}.sh
arguments = "--part $(part{0})"
part{0} = {0}
cron_minute = {0}
cron_hour = 6
request_memory = 1024
log = run.log
queue
"""


class Measured(NamedTuple):
    """Medians in milliseconds: from a keystroke to the findings (20 ms of it wait for the next one), and of a hover.

    ``memory`` is what the server holds behind it all, in MiB.
    """

    keystroke: float
    hover: float
    memory: float


def measured() -> Measured:
    """Type into a file as an editor does."""
    with _server() as talk:
        talk("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, is_request=True)
        text = "".join(_JOB.format(number) for number in range(LINES // 8))
        item = {"uri": _URI, "languageId": "htcondor-submit", "version": 1, "text": text}
        talk("textDocument/didOpen", {"textDocument": item})
        keystrokes, hovers = list[float](), list[float]()
        for number in range(_KEYSTROKES):
            begun = perf_counter()
            place = {"line": 4, "character": 12}
            change = {"range": {"start": place, "end": {"line": 4, "character": 13}}, "text": str(number % 10)}
            document = {"uri": _URI, "version": number + 2}
            talk("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            keystrokes.append(perf_counter() - begun)
            begun = perf_counter()
            talk("textDocument/hover", {"textDocument": {"uri": _URI}, "position": place}, is_request=True)
            hovers.append(perf_counter() - begun)
        return Measured(median(keystrokes) * 1000, median(hovers) * 1000, _memory(talk.process.pid))


class _Talk:
    """Says something and waits for what belongs to it: the answer to a request, the findings behind a change."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._id = 0

    def __call__(self, method: str, params: object, *, is_request: bool = False) -> Any:  # noqa: ANN401 - JSON
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self._id += 1
            message["id"] = self._id
        data = json.dumps(message).encode()
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            return None
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        stdin.flush()
        while header := stdout.readline():
            size = int(header.split(b":")[1]) if header.startswith(b"Content-Length") else 0
            while stdout.readline().strip():
                continue
            said = json.loads(stdout.read(size))
            if said.get("id") == self._id if is_request else said.get("method") == "textDocument/publishDiagnostics":
                return said
        return None


@contextmanager
def _server() -> Iterator[_Talk]:
    program = "from crondor_cli.main import main; main()"
    command = [sys.executable, "-c", program, "lsp", "--now", "2026-11-20 12:00", "--tz", "Europe/Berlin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield _Talk(process)
        finally:
            process.kill()


def _memory(process: int) -> float:
    with open(f"/proc/{process}/status", encoding="ascii") as status:  # noqa: PTH123 - no file of this file system
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
