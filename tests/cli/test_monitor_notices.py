"""`crondor monitor --on` and `--heartbeat`: commands without a shell, and a sign of life."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from crondor.classad.printing import Format
from crondor.schedd_adapter import EmbeddedSchedd
from tests.cli.running import Result, crondor
from tests.monitor.made import SIX, MadeJob

AT = ("--now", "2026-11-25 06:02", "--tz", "UTC")

Told = Callable[..., tuple[Result, list[dict[str, Any]]]]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """Return a function that makes one look with --on, and returns what the command has found."""
    program = tmp_path / "note.py"
    out = tmp_path / "told"
    program.write_text(
        "import json, os, sys\n"
        "said = {name: value for name, value in os.environ.items() if name.startswith('CRONDOR_RUN_')}\n"
        f"open({str(out)!r}, 'a').write(json.dumps({{**said, 'argv': sys.argv[1:]}}) + '\\n')\n"
        "print('heard')\n",
        encoding="utf-8",
    )

    def run(verdict: str, *jobs: MadeJob, more: str = "") -> tuple[Result, list[dict[str, Any]]]:
        path = tmp_path / "queue.long"
        path.write_text("\n".join(job.ad.print(Format.LONG) for job in jobs), encoding="utf-8")
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {more}"
        result = crondor("monitor", "--once", "--ads", str(path), *AT, "--on", verdict, command)
        return result, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []

    return run


def test_a_command_is_told_the_facts(told: Told) -> None:
    """In its environment, each time by itself."""
    held = MadeJob(ClusterId=8, JobStatus=5, HoldReasonCode=20, HoldReason="too late")
    _, (first, second) = told("missed", MadeJob(), held)
    assert (first["CRONDOR_RUN_JOB"], first["CRONDOR_RUN_CAUSE"]) == ("7.0", "no-match")
    assert first["CRONDOR_RUN_DUE"] == str(SIX)
    assert first["CRONDOR_RUN_DUE_LOCAL"] == "2026-11-25T06:00:00+00:00"
    assert (second["CRONDOR_RUN_HOLD_CODE"], second["CRONDOR_RUN_OWNER"]) == ("20", "alice")
    assert second["CRONDOR_RUN_WHY"].endswith(": too late")


def test_a_verdict_that_is_not_asked_for_runs_nothing(told: Told) -> None:
    """Only its own."""
    assert told("lost", MadeJob())[1] == []


@pytest.mark.parametrize(
    "text", ["$(touch pwned)", "; touch pwned", "`touch pwned`", "a\\\nb\tc\x1b[2J", "%s%n", "\u202e"]
)
def test_what_a_job_says_stays_text(told: Told, tmp_path: Path, text: str) -> None:
    """No shell sees it, whatever stands in the ad; what acts on a terminal is written as escapes."""
    held = MadeJob(JobStatus=5, HoldReasonCode=1, HoldReason=text, Owner=text, Cmd=text)
    result, (said,) = told("missed", held, more="'$HOME *' \"a b\"")
    assert said["argv"] == ["$HOME *", "a b"]
    assert said["CRONDOR_RUN_OWNER"].isprintable()
    assert not list(tmp_path.glob("**/pwned"))
    assert "heard" not in result.out


@pytest.mark.parametrize("sign", ["x", "é", "\x1b", "\U0001f600"])
def test_a_long_value_is_cut(told: Told, sign: str) -> None:
    """Linux would start no program with it; the command is run, and told how long it was."""
    text = sign * 200_000
    held = MadeJob(JobStatus=5, HoldReasonCode=1, HoldReason=text, Owner=text, Cmd=text)
    result, (said,) = told("missed", held)
    assert "notice-failed" not in result.err
    assert len(said["CRONDOR_RUN_WHY"].encode()) < 8300
    for name in ("OWNER", "CMD"):
        value = said[f"CRONDOR_RUN_{name}"]
        assert len(value.encode()) < 8300
        assert re.search(r"\.\.\. \[\d{3},\d{3} characters\]$", value)


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    """By its name; the look counts all the same."""
    path = tmp_path / "queue.long"
    path.write_text(MadeJob().ad.print(Format.LONG), encoding="utf-8")
    look = ("monitor", "--once", "--ads", str(path), *AT, "--fail-on", "none", "--on", "missed")
    failed = crondor(*look, "false")
    assert (failed.status, "false ended with status 1" in failed.err) == (0, True)
    missing = crondor(*look, str(tmp_path / "none"))
    assert (missing.status, "cannot be run: No such file" in missing.err) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--on", "missed", "'open"), "is not a command line: No closing quotation"),
        (("--on", "missed", " "), "give a command"),
        (("--on", "mised", "true"), "'mised' is not one of"),
        (("--heartbeat", "file:///etc/passwd"), "is not a URL that begins with http"),
        (("--heartbeat", "http://"), "is not a URL"),
        (("--heartbeat", "http://a:99999/"), "is not a URL"),
        (("--heartbeat", "http://a/\r\nX: y"), "is not a URL"),
    ],
)
def test_a_slip_is_told_before_anything_is_done(arguments: tuple[str, ...], said: str) -> None:
    """A usage error."""
    result = crondor("monitor", "--once", "--ads", "-", *arguments)
    assert result.status == 2
    assert said in result.err


class Heart(BaseHTTPRequestHandler):
    """Answers with a status and notes what it was asked for."""

    asked: list[str]
    status = 200

    def do_GET(self) -> None:
        """Answer."""
        self.asked.append(self.path)
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def heart() -> Iterator[tuple[str, type[Heart]]]:
    """Serve addresses on this machine; give the address and the handler."""
    handler = type("ThisHeart", (Heart,), {"asked": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/ping/me?a=b", handler
        server.shutdown()
        thread.join()


def test_a_look_that_succeeds_is_a_sign_of_life(heart: tuple[str, type[Heart]], tmp_path: Path) -> None:
    """A missed run is no reason to be silent, a queue that cannot be read is."""
    url, handler = heart
    path = tmp_path / "queue.long"
    path.write_text(MadeJob().ad.print(Format.LONG), encoding="utf-8")
    crondor("monitor", "--once", "--ads", str(path), *AT, "--heartbeat", url)
    assert handler.asked == ["/ping/me?a=b"]
    crondor("monitor", "--once", "--log", str(tmp_path / "none"), *AT, "--heartbeat", url)
    assert len(handler.asked) == 1


def test_an_address_that_does_not_take_it_is_told(heart: tuple[str, type[Heart]], tmp_path: Path) -> None:
    """The look counts all the same."""
    url, handler = heart
    handler.status = 503
    with EmbeddedSchedd(tmp_path / "q", clock=lambda: 0, zone="UTC"):
        pass
    look = ("monitor", "--once", "--queue", str(tmp_path / "q"), *AT, "--heartbeat")
    result = crondor(*look, url)
    assert (result.status, "--heartbeat failed: status 503" in result.err) == (0, True)
    gone = crondor(*look, "http://127.0.0.1:1/")
    assert (gone.status, "--heartbeat failed" in gone.err) == (0, True)
