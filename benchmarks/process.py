"""The whole command against the import of its largest dependency, each in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Case, measure

_ROOT = Path(__file__).parent.parent


class Command(NamedTuple):
    """A command to measure, and how many times `import click` it may take at most."""

    arguments: tuple[str, ...]
    goal: float


COMMANDS = {
    "next": Command(("next", "--spec", "examples/nightly.sub", "--tz", "America/New_York"), 2.2),
    # The policies of this file need the engine of expressions, and the tables of attributes.
    "check": Command(("check", "--no-config", "--tz", "UTC", "examples/local.sub"), 2.4),
}


def ratio(name: str) -> tuple[float, float]:
    """Return the median seconds of a command on one file, and of `import click`."""
    script = Path(sys.executable).with_name("crondor")
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    arguments, goal = COMMANDS[name]

    def run(*command: str) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=_ROOT, env=environ)

    case = Case(
        f"crondor {name}, whole process",
        {name: lambda: run(str(script), *arguments), "click": lambda: run(sys.executable, "-c", "import click")},
        goal,
    )
    found = measure(case, rounds=15)
    return found[name] / 1e6, found["click"] / 1e6
