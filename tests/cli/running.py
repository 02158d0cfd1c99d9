"""Run the command: in this process for what it says, in one of its own where the process is the subject."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from crondor_cli.main import main
from tests.cli.schemas import check_output

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.sub"))
NOW = "2026-11-20 18:27:05"  # a Friday
NOW_EPOCH = 1_795_195_625  # the same in Berlin
ZONE = "Europe/Berlin"
PROGRAM = (sys.executable, "-c", "from crondor_cli.main import main; main()")
SLOWEST = 180  # seconds; whatever takes longer hangs, on a machine with much else to do as well


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines on stdout."""
        return self.out.splitlines()

    @property
    def data(self) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Stdout read as JSON."""
        return json.loads(self.out)

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The jobs of a JSON answer."""
        jobs: list[dict[str, Any]] = self.data["jobs"]
        return jobs


def separate_runner() -> CliRunner:
    """Return click's runner that keeps both streams apart: click 8.1 wants to be asked, later ones always do."""
    asked = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**asked)  # type: ignore[arg-type]


def crondor(
    *arguments: str, stdin: str | bytes = b"", env: Mapping[str, str | None] | None = None, columns: int | None = None
) -> Result:
    """Run the command in this process, main() included, with Berlin as its local zone; its JSON fits its schema.

    With ``columns`` both streams are terminals of that width.
    """
    runner = separate_runner()
    environment = {"TZ": ZONE, "NO_COLOR": None, "COLUMNS": str(columns or 100), **(env or {})}
    with (
        runner.isolation(stdin, env=environment) as (out, err, *_),
        patch.object(sys, "argv", ["crondor", *arguments]),
        patch.object(sys.stdout, "isatty", lambda: columns is not None),
        patch.object(sys.stderr, "isatty", lambda: columns is not None),
        pytest.raises(SystemExit) as end,
    ):
        main()
    status = end.value.code
    assert isinstance(status, int)
    result = Result(status, out.getvalue().decode(), err.getvalue().decode())
    check_output(arguments, result.status, result.out)
    return result


def at_now(
    command: str, *arguments: str, stdin: str | bytes = b"", env: Mapping[str, str | None] | None = None
) -> Result:
    """Run a command at NOW."""
    return crondor(*command.split(), "--now", NOW, *arguments, stdin=stdin, env=env)


def next_of(line: str, *arguments: str) -> Result:
    """Run `crondor next` at NOW on a crontab line."""
    return at_now("next", "--crontab", line, *arguments)


def environment(**changes: str | None) -> dict[str, str]:
    """Return the environment of a process: this one's, Berlin, no colour settings, and some changes (None: unset)."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "NO_COLOR"))}
    paths = os.pathsep.join(str(path) for path in (ROOT, ROOT / "cli"))
    base |= {"TZ": ZONE, "TERM": "xterm", "LANG": "C.UTF-8", "PYTHONPATH": paths}
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def process(
    *arguments: str | bytes, stdin: bytes = b"", folder: Path | None = None, env: Mapping[str, str | None] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own; ``env`` are changes of its environment. Its JSON fits its schema."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env=environment(**(env or {})),
        timeout=SLOWEST,
        check=False,
    )
    check_output([os.fsdecode(each) for each in arguments], done.returncode, done.stdout.decode(errors="replace"))
    return done
