"""The command as a process: pipes, signals, terminals, encodings, completion, and what it imports."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.running import NOW, PROGRAM, ROOT, SLOWEST, crondor, environment, process

SHELL = ("bash", "-c")
SCRIPT = " ".join(f"'{word}'" for word in PROGRAM)


def shell(script: str, **changes: str | None) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which $crondor is the command."""
    return subprocess.run(
        [*SHELL, f'crondor() {{ {SCRIPT} "$@"; }}; {script}'],
        capture_output=True,
        env=environment(**changes),
        timeout=SLOWEST,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def on_terminal(
    *arguments: str,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
    react: Callable[[bytes, subprocess.Popen[bytes]], None] | None = None,
) -> str:
    """Return what a terminal gets to see of a command; ``react`` is called with all of it whenever there is more."""
    parent, child = pty.openpty()
    whole = environment(COLUMNS=str(columns), **(env or {}))
    with subprocess.Popen([*PROGRAM, *arguments], stdin=child, stdout=child, stderr=child, env=whole) as running:
        os.close(child)
        seen = b""
        end = time.monotonic() + SLOWEST
        while time.monotonic() < end:
            if not select.select([parent], [], [], SLOWEST)[0]:
                break
            try:
                piece = os.read(parent, 65536)
            except OSError:  # Linux says so when nobody holds the other end any more
                break
            if not piece:
                break
            seen += piece
            if react is not None:
                react(seen, running)
        running.wait(SLOWEST)
    os.close(parent)
    return seen.decode()


# Pipes and files


@pytest.mark.parametrize(
    ("form", "runs", "unbuffered"),
    [("table", 1500, None), ("json", 500, None), ("csv", 2000, None), ("epoch", 8000, None), ("epoch", 8000, "1")],
)
def test_a_closed_pipe_ends_quietly(form: str, runs: int, unbuffered: str | None) -> None:
    """The reader has seen enough: status 0 and nothing on stderr, though more is to come than a pipe holds."""
    line = f'crondor next --minute "*" -n {runs} --format {form} | head -1; echo "${{PIPESTATUS[0]}}" >&2'
    ended = shell(line, PYTHONUNBUFFERED=unbuffered)
    assert len(ended.stdout.splitlines()) == 1
    assert ended.stderr == b"0\n"


@pytest.mark.parametrize(
    "arguments", ["--help", "nxt 2>&1", "next --minute 60 2>&1", "next --at now", "next --previous --minute 5"]
)
def test_nobody_reads_at_all(arguments: str) -> None:
    """Help and errors meet a closed pipe too."""
    ended = shell(f'crondor {arguments} | true; echo "${{PIPESTATUS[0]}}"')
    assert ended.stderr == b""
    assert ended.stdout in {b"0\n", b"1\n", b"2\n"}


@pytest.mark.parametrize("form", ["table", "epoch"])
def test_a_full_disk_is_said(form: str) -> None:
    """What cannot be written is a failure, and no finding."""
    ended = shell(f"crondor next --minute 5 --format {form} > /dev/full")
    assert (ended.returncode, ended.stderr) == (2, b"Error: cannot write: No space left on device\n")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("crondor next --minute 5 >&-", 0),
        ("crondor next --minute 5 --format csv >&-", 0),
        ("crondor next --minute 60 >&-", 1),
        ("crondor next --minute 60 2>&-", 1),
        ("crondor next --spec - <&-", 1),
        ("crondor nxt 2>&-", 2),
        ("crondor nxt >&- 2>&-", 2),
        ("crondor nxt 2>/dev/full", 2),
        ("crondor nxt >&- 2>/dev/full", 2),
    ],
)
def test_closed_streams_are_no_surprise(line: str, status: int) -> None:
    """Services start programs without some of them."""
    ended = shell(line)
    assert ended.returncode == status
    assert b"Traceback" not in ended.stderr


# Signals


def interrupted(running: subprocess.Popen[bytes]) -> bytes:
    """Send SIGINT and return what a process says at its end.

    Python does not hear a signal that comes between its last look and the call that waits: then it is sent again.
    """
    for _ in range(SLOWEST // 10):
        running.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=10)[1]
    pytest.fail("it does not end")


@pytest.mark.parametrize("what", ["reading", "computing"])
def test_ctrl_c_ends_quietly(what: str) -> None:
    """Status 130, as shells have it, and nothing but the end of the terminal's ^C line."""
    with subprocess.Popen(
        [*PROGRAM, "next", "--spec", "-", "-n", "100000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as running:
        assert running.stdin is not None
        running.stdin.write(b"cron_minute = *\n" + b"#\n" * 100_000)  # more than a pipe holds: it has begun to read
        if what == "computing":
            running.stdin.write(b"queue\n")
            running.stdin.close()
            running.stdin = None
        err = interrupted(running)
    assert (running.returncode, err.strip()) == (130, b"")


# Terminals


def test_colour_is_for_terminals() -> None:
    """The severity is coloured where a person looks, and nowhere else."""
    assert "\x1b[31m\x1b[1merror\x1b[0m: minute 60" in on_terminal("next", "--minute", "60")
    assert b"\x1b" not in process("next", "--minute", "60").stderr


@pytest.mark.parametrize(
    ("changes", "is_coloured"), [({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)]
)
def test_colour_can_be_refused(changes: dict[str, str], is_coloured: bool) -> None:
    """NO_COLOR unless it is empty (no-color.org), and a terminal that has none."""
    seen = crondor("next", "--minute", "60", columns=80, env={"TERM": "xterm", **changes}).err
    assert ("\x1b[31m" in seen, "minute 60" in seen) == (is_coloured, True)


@pytest.mark.parametrize("columns", [1, 40, 300])
@pytest.mark.parametrize("arguments", ["next --help", "next --minute 5", "next --minute 60", "x"])
def test_any_width_will_do(columns: int, arguments: str) -> None:
    """Narrow terminals wrap, they do not break."""
    seen = crondor(*arguments.split(), columns=columns)
    assert seen.out + seen.err
    assert "Traceback" not in seen.err


# Encodings


WIDE, BYTES = "jöb 日本.sub".encode(), b"\xff\xfe.sub"


@pytest.mark.parametrize(
    ("form", "name", "changes"),
    [
        ("table", WIDE, {"LANG": "C", "LC_ALL": "C"}),
        ("table", WIDE, {"PYTHONIOENCODING": "ascii"}),
        ("table", WIDE, {"PYTHONIOENCODING": "latin-1"}),
        ("json", BYTES, {"LANG": "C", "LC_ALL": "C"}),
        ("csv", BYTES, {"LANG": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ],
)
def test_any_name_can_be_shown_in_any_encoding(
    name: bytes, form: str, changes: Mapping[str, str], tmp_path: Path
) -> None:
    """File names and contents beyond ASCII, on streams that have no such characters."""
    (tmp_path / os.fsdecode(name)).write_text(
        "# größe 日本\ncron_minute = 5é\ncron_hour = 日\nqueue\n", encoding="utf-8"
    )
    ended = process(b"next", b"--spec", name, b"--format", form.encode(), folder=tmp_path, env=changes)
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr
    (tmp_path / os.fsdecode(name)).write_text("# größe 日本\ncron_minute = 5\nqueue\n", encoding="utf-8")
    ended = process(b"next", b"--spec", name, b"--format", form.encode(), folder=tmp_path, env=changes)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout


# Completion


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(name: str) -> None:
    """As the documentation of click has it."""
    ended = crondor(env={"_CRONDOR_COMPLETE": f"{name}_source"})
    assert (ended.status, "_CRONDOR_COMPLETE" in ended.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("crondor ne", {"next"}),
        ("crondor next --sp", {"--spec"}),
        ("crondor next --format ", {"table", "json", "csv", "epoch"}),
    ],
)
def test_completion_knows_commands_options_and_values(words: str, expected: set[str]) -> None:
    """Answered to bash."""
    changes = {"_CRONDOR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert {line.partition(",")[2] for line in crondor(env=changes).out.split()} == expected


# Imports


def imported(*command: str) -> set[str]:
    """Return the modules that a Python program imports, by the interpreter's own account, with their packages."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        capture_output=True,
        env=environment(),
        timeout=SLOWEST,
        check=True,
    )
    names = re.findall(r"^import time:.*\|\s*(\S+)$", ended.stderr.decode(), re.MULTILINE)
    return {*names, *(name.partition(".")[0] for name in names)}


def test_the_library_knows_no_command_line() -> None:
    """Its modules, every one of them, import none of the command's libraries."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "crondor").rglob("*.py")
        if path.name != "__init__.py"
    ]
    found = imported("-c", f"import {', '.join(['crondor', *modules])}")
    assert "crondor" in found
    assert not found & {"click", "dateutil", "tzlocal", "crondor_cli", "hypothesis", "croniter", "cronsim"}


def test_next_imports_little() -> None:
    """Neither what reads typed dates nor what is for mistakes, other forms and tests; ClassAds where there are some."""
    plain, written = (
        imported(*PROGRAM[1:], "next", "--spec", str(ROOT / "examples" / name)) for name in ("nightly.sub", "qdate.sub")
    )
    assert {"click", "crondor.schedule", "zoneinfo"} <= plain
    assert not plain & {"crondor.classad", "dateutil", "tzlocal", "hypothesis", "croniter", "asyncio", "unittest"}
    assert "crondor.classad" in written


def test_words_for_times_need_no_dateutil() -> None:
    """Nor do dates in numbers; those with the name of a month do."""
    script = """
import sys
from crondor_cli.main import cli
for words in sys.argv[1:]:
    print("dateutil" in sys.modules)
    cli(["next", "--minute", "5", "-n", "1", "--format", "epoch", "--from", words], standalone_mode=False)
print("dateutil" in sys.modules)
"""
    words = ("next monday 06:00", NOW, "20.11.2026 06:00", "20 Nov 2026")
    command = (sys.executable, "-c", script, *words)
    ended = subprocess.run(command, capture_output=True, env=environment(), timeout=SLOWEST, check=True)
    assert ended.stdout.split()[::2] == [b"False"] * 4 + [b"True"]
