"""The size of the house against its limits: ``python -m benchmarks.budget``.

The limits are `[tool.budget]` in pyproject.toml, a reason beside each that was changed. What a command enters is
counted, not timed, so the numbers are the same on every machine.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CODE = ("crondor", "cli/crondor_cli")
MADE = (  # what a build makes, or could make of the code
    "cli/share",
    "docs/cli/reference",
)
COMMANDS = {
    "next": ("next", "--spec", "examples/nightly.sub"),
    "check": ("check", "examples/nightly.sub"),
    "explain": ("route", "explain", "--config", "examples/routes.conf", "examples/routed-nightly.sub"),
}

# Runs in a process of its own, with its command as arguments, and prints how many modules and functions were entered.
_COUNTER = """
import os, sys
roots, *sys.argv[1:] = sys.argv[1:]
roots = tuple(roots.split(os.pathsep))
seen = set()
def called(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(roots):
        seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_code.co_name))
def end(code=0):
    sys.setprofile(None)
    functions = sum(name != "<module>" for _, _, name in seen)
    print(len({file for file, _, _ in seen}), functions, file=sys.stderr, flush=True)
    leave(code)
leave, os._exit = os._exit, end
sys.setprofile(called)
from crondor_cli.main import script
try:
    script()
except SystemExit:
    pass
end()
"""


def tracked(*places: str) -> list[Path]:
    """Return the files below some places that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *places]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in map(ROOT.joinpath, listed.splitlines()) if path.is_file()]


def entered(*command: str) -> tuple[int, int]:
    """Return how many modules and functions of ours a command enters, from its first import to its end."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("CRONDOR_", "COV_"))}
    environ |= {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "cli"))), "TZ": "UTC"}
    run = [sys.executable, "-c", _COUNTER, os.pathsep.join(f"{ROOT / place}{os.sep}" for place in CODE), *command]
    said = subprocess.run(run, cwd=ROOT, check=False, capture_output=True, text=True, env=environ).stderr
    modules, functions = said.splitlines()[-1].split()
    return int(modules), int(functions)


def lines(files: Iterable[Path]) -> int:
    """Return the lines of some files."""
    return sum(path.read_bytes().count(b"\n") for path in files)


def words(files: Iterable[Path]) -> int:
    """Return the words of some files, as ``wc -w`` counts them."""
    return sum(len(path.read_bytes().split()) for path in files)


def late_imports(files: Iterable[Path]) -> int:
    """Return the imports inside functions."""
    functions = (
        node
        for path in files
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    imports = (node for each in functions for node in ast.walk(each) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return len(set(imports))


def measures() -> Iterator[tuple[str, int]]:
    """Yield the name of each limit in pyproject.toml and what is measured."""
    python = [path for path in tracked(*CODE) if path.suffix == ".py"]
    yield "modules", len(python)
    yield "lines", lines(python)
    yield "lines-cli", lines(path for path in python if path.is_relative_to(ROOT / "cli"))
    for name, command in COMMANDS.items():
        modules, functions = entered(*command)
        yield f"{name}-modules", modules
        yield f"{name}-functions", functions
    yield "late-imports", late_imports(python)
    yield "noqa", sum(len(re.findall(r"#\s*noqa", path.read_text(encoding="utf-8"))) for path in python)
    yield "docs-words", words(path for path in tracked("docs", "README.md") if path.suffix == ".md")
    yield "made-files", len(tracked(*MADE))
    yield "widest-folder", max(Counter(path.parent for path in python).values())
    yield "lines-tests", lines(path for path in tracked("tests") if path.suffix == ".py")


def main() -> None:
    """Print the table, and exit with 1 where a number is over its limit."""
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["budget"]
    over = []
    for name, found in measures():
        limit = limits[name]
        print(f"{name:18}{found:8,}  of {limit:8,}{'  OVER' if found > limit else ''}")
        over += [name] if found > limit else []
    if over:
        sys.exit(f"over budget: {', '.join(over)}. Remove something, or change [tool.budget] and say why there.")


if __name__ == "__main__":
    main()
