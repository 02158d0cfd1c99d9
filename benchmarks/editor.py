"""`crondor lsp` as an editor meets it: from a keystroke in a file of 500 lines to its findings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

LINES = 496
GOAL = 100.0  # milliseconds from a keystroke to the findings
_KEYSTROKES = 60
_URI = "file:///nowhere/"
_JOB = """executable = /opt/lab/run{0}.sh
arguments = "--part $(part{0})"
part{0} = {0}
cron_minute = {0}
cron_hour = 6
request_memory = 1024
log = run.log
queue
"""
_ROUTE = """JOB_ROUTER_ROUTE_R{0} @=end
  REQUIREMENTS TARGET.RequestMemory < 1024 * ({0} + 1)
  UNIVERSE GRID
  GridResource = "batch slurm"
  SET RequestMemory {0}
  SET CronHour "6"
  EVALSET Share 1 + {0}
@end
"""


class _Typed(NamedTuple):
    """A file that is typed into: what it is, its language, its text, and lines with the column of their digit."""

    what: str
    language: str
    text: str
    lines: tuple[int, ...]
    column: int


class Measured(NamedTuple):
    """Milliseconds from a keystroke to the findings (median; 20 of them wait for the next one), and of processor time.

    ``hover`` is the median of a question, ``memory`` what the server holds after it all, in MiB.
    """

    what: str
    keystroke: float
    processor: float
    hover: float
    memory: float


def _files() -> Iterator[_Typed]:
    jobs = LINES // 8
    submit = "".join(_JOB.format(number) for number in range(jobs))
    yield _Typed(f"{jobs} queue statements", "htcondor-submit", submit, tuple(range(4, LINES, 8)), 12)
    rows = "".join(f"{number}, {number * 7}\n" for number in range(LINES - 7))
    listed = f"executable = /bin/x\ncron_minute = 0\ncron_hour = 6\narguments = $(a) $(b)\nqueue a, b from (\n{rows})\n"
    yield _Typed("a list of many rows", "htcondor-submit", listed, (2,), 12)
    names = " ".join(f"R{number}" for number in range(jobs - 1))
    routes = "".join(_ROUTE.format(number) for number in range(jobs - 1))
    config = f"JOB_ROUTER_ROUTE_NAMES = {names}\n{routes}"
    yield _Typed(f"a router of {jobs - 1} routes", "htcondor-config", config, tuple(range(7, 400, 8)), 19)
    rules = "".join(f"SET A{number:03} 1 + {number}\n" for number in range(LINES))
    yield _Typed("transform rules", "htcondor-transform", rules, tuple(range(LINES)), 9)
    ad = "".join(f"A{number:03} = 1 + A{number // 2:03}\n" for number in range(LINES))
    yield _Typed("a ClassAd", "classad", ad, tuple(range(LINES)), 7)
    crontab = "".join(f"{number % 60:02} 2 * * 1-5 /bin/x {number}\n" for number in range(LINES))
    yield _Typed("a crontab", "crontab", crontab, tuple(range(LINES)), 3)


def measured() -> Iterator[Measured]:
    """Type into files of each kind as an editor does."""
    yield from map(_typed, _files())


def _typed(file: _Typed) -> Measured:
    uri = _URI + file.language
    with _server() as talk:
        talk("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, is_request=True)
        item = {"uri": uri, "languageId": file.language, "version": 1, "text": file.text}
        talk("textDocument/didOpen", {"textDocument": item})
        keystrokes, hovers, spent = list[float](), list[float](), list[float]()
        for number in range(_KEYSTROKES):
            line = file.lines[number * 7 % len(file.lines)]
            place, end = {"line": line, "character": file.column}, {"line": line, "character": file.column + 1}
            change = {"range": {"start": place, "end": end}, "text": str(number % 9 + 1)}
            document = {"uri": uri, "version": number + 2}
            begun, before = perf_counter(), _processor(talk.process.pid)
            talk("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            keystrokes.append(perf_counter() - begun)
            spent.append(_processor(talk.process.pid) - before)
            begun = perf_counter()
            talk("textDocument/hover", {"textDocument": {"uri": uri}, "position": place}, is_request=True)
            hovers.append(perf_counter() - begun)
        memory = _memory(talk.process.pid)
    return Measured(file.what, median(keystrokes) * 1000, sum(spent) / len(spent) * 1000, median(hovers) * 1000, memory)


class _Talk:
    """Says something and waits for what belongs to it: the answer to a request, the findings after a change."""

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


def _processor(process: int) -> float:
    """Return the seconds of processor time that a process has had; whoever else is busy does not count."""
    with open(f"/proc/{process}/stat", encoding="ascii") as stat:  # noqa: PTH123 - no file of this file system
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
