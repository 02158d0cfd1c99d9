"""The whole command against the import of its largest dependency, each in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Case, measure

_ROOT = Path(__file__).parent.parent
GOAL = 1.8  # times `import click`, at most


def ratio() -> tuple[float, float]:
    """Return the median seconds of `crondor next` on a file, and of `import click`."""
    script = Path(sys.executable).with_name("crondor")
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(*command: str) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=_ROOT, env=environ)

    case = Case(
        "crondor next, whole process",
        {
            "next": lambda: run(str(script), "next", "--spec", "examples/nightly.sub", "--tz", "America/New_York"),
            "click": lambda: run(sys.executable, "-c", "import click"),
        },
        GOAL,
    )
    found = measure(case, rounds=15)
    return found["next"] / 1e6, found["click"] / 1e6
