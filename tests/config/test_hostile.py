"""Untrusted configurations: nothing runs, nothing outside is read, everything ends."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from crondor.config import Configuration, InvalidConfig, read_config
from crondor.diagnostics import Severity, Source
from crondor.macro.files import Files

ROOT = Path(__file__).resolve().parents[2]
SLOWEST = 60  # seconds of the processor


def read(text: str, folder: Path | None = None) -> Configuration:
    """Read a text that may include files below a folder."""
    files = None if folder is None else Files([str(folder)], base=str(folder))
    return read_config(Source(text, "x.conf"), files=files, environ={})


def codes(made: Configuration) -> list[str]:
    """Return the codes of what was found."""
    return [each.kind for each in made.diagnostics]


def test_a_file_below_the_folder_is_included(tmp_path: Path) -> None:
    """In the place of its line; its own conditionals end with it."""
    (tmp_path / "a.conf").write_text("B = $(A)2\nif true\nC = 3\nendif\n")
    made = read("A = 1\ninclude : a.conf\nA = 5\ninclude ifexist : none.conf\n", tmp_path)
    assert made.diagnostics == ()
    assert (made.string("B"), made.string("C")) == ("52", "3")
    knob = made.find("C")
    assert knob is not None
    assert knob.place().location == "a.conf:3:5"


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """HTCondor stops there."""
    made = read("include : none.conf\nA = 1\n", tmp_path)
    assert codes(made) == ["config-include"]
    assert made.string("A") == "1"


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.conf", "link.conf", "/proc/self/environ"])
def test_nothing_outside_is_read(tmp_path: Path, path: str) -> None:
    """Links are followed first."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.conf").write_text("SECRET = 1\n")
    (inside / "link.conf").symlink_to(tmp_path / "outside.conf")
    made = read(f"include : {path}\nA = 1\n", inside)
    assert codes(made) == ["config-hidden"]
    assert set(made.knobs) == {"a"}


# Runs in a process of its own: an audit hook cannot be taken away again, and slows down all that comes after it.
WATCHED = """
import json, sys
from crondor.config import read_config
from crondor.macro.files import Files
from crondor.diagnostics import Source

lines, folder = json.load(sys.stdin)
seen = []
read_config(Source("A = 1\\n", "x.conf"), environ={}).string("A")
sys.addaudithook(
    lambda event, _: seen.append(event)
    if event.startswith(("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork"))
    else None
)
found = []
for line in lines:
    made = read_config(Source(line, "x.conf"), files=Files([folder], base=folder), environ={})
    made.string("X")
    found.append([each.kind for each in made.diagnostics])
print(json.dumps([found, list(seen)]))
"""

RUNS = [
    "include command : touch {0}",
    "include output : touch {0}",
    "include command into cache.conf : touch {0}",
    "include : touch {0} |",
    "include : |touch {0}",
    "@include command : touch {0}",
    "X = $(touch {0})",
    "X = `touch {0}`",
]


def test_nothing_is_run(tmp_path: Path) -> None:
    """A command is named, and what it would print is missing."""
    lines = [line.format(tmp_path / "made") + "\n" for line in RUNS]
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps([lines, str(tmp_path)]),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    found, events = json.loads(ended.stdout)
    assert not list(tmp_path.iterdir())
    assert events == []
    assert [codes for line, codes in zip(RUNS, found, strict=True) if "include" in line] == [["config-command"]] * 6


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    """At HTCondor's depth."""
    (tmp_path / "a.conf").write_text("include : b.conf\ninclude : b.conf\n")
    (tmp_path / "b.conf").write_text("include : a.conf\ninclude : a.conf\n")
    made = read("include : a.conf\n", tmp_path)
    assert "includes nested too deep" in {each.message for each in made.diagnostics}


@pytest.mark.parametrize(
    "text",
    [
        "A = $(B)\nB = $(A)\nif $(A)\nendif\n",
        "A = 1\n" + "A = $(A)$(A)\n" * 200,
        "A = 1\n" + "A += $(A)\n" * 200,
        "".join(f"A{n} = $(A{n + 1})$(A{n + 1})\n" for n in range(60)) + "if $(A0)\nendif\n",
        "if true\n" * 5000,
        "X @=end\n" + "a\n" * 60_000,
        "nothing\n" * 60_000,
        "(" * 200_000,
        "X = " + "$(" * 100_000,
        "X = " + "a" * 3_000_000 + "\n",
        "a" * 200_000 + " = 1\n",
        "use FEATURE : " + "a," * 100_000,
        ":" * 100_000,
        "\\\n" * 200_000,
        "X @=\n@\n@=\n@=@=@\n",
        "\0",
        "A = \ud800",
        "\ufeffA = 1\n",
    ],
)
def test_every_text_comes_to_an_end_without_an_exception(text: str) -> None:
    """Bounded in time and depth."""
    begin = time.process_time()
    made = read(text)
    for name in ("A", "A0", "X"):
        with suppress(InvalidConfig):
            made.string(name)
    assert time.process_time() - begin < SLOWEST


def test_a_flood_of_faults_is_cut() -> None:
    """A hundred say enough."""
    made = read("nothing\n" * 1000)
    assert len(made.diagnostics) == 101
    assert made.diagnostics[-1].message == "reading stops after 100 errors"
    assert {each.severity for each in made.diagnostics} == {Severity.ERROR}
