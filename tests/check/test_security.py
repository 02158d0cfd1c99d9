"""What a hostile description cannot do: run anything, read outside its folder, or use up time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment

# Runs the command with every audit event looked at; nothing that starts a program, or opens a file that is neither
# the interpreter's nor below the allowed folder, goes unseen. What was seen is the last line.
WATCHED = """
import json, os, resource, sys, zoneinfo
folder, *arguments = sys.argv[1:]
roots = [os.path.realpath(p) for p in (folder, *sys.path, sys.prefix, sys.base_prefix, *zoneinfo.TZPATH) if p]
seen = []
STARTS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "pty.",
          "socket.", "ctypes.", "urllib.", "webbrowser.")
LOOKS = ("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.chmod", "os.link", "os.symlink")

def watch(event, given):
    if event.startswith(STARTS):
        seen.append(event)
    elif event in LOOKS and given and isinstance(given[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(given[0]))
        if not any(path == root or path.startswith(root + os.sep) for root in roots):
            seen.append(f"{event} {path}")

limit = 1 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from crondor_cli.main import main
sys.addaudithook(watch)
sys.argv = ["crondor", *arguments]
try:
    main()
except SystemExit as end:
    print()
    print(json.dumps([end.code, seen]))
"""


def watched(folder: Path, *arguments: str) -> tuple[str, int, list[str]]:
    """Return what `crondor check` says, its exit status, and what it did that it must not do."""
    command = [sys.executable, "-c", WATCHED, str(folder), "check", "--no-config", "--tz", "UTC", *arguments]
    done = subprocess.run(command, capture_output=True, check=True, cwd=folder, env=environment(), timeout=120)
    *said, last = done.stdout.decode().splitlines()
    status, seen = json.loads(last)
    return "\n".join(said), status, seen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the submit file; beside it lies a secret."""
    (tmp_path / "secret.sub").write_text("cron_hour = 61\n", encoding="utf-8")
    (tmp_path / "jobs").mkdir()
    return tmp_path / "jobs"


COMMANDS = [
    "include command : touch {canary}",
    "include output : touch {canary}",
    "include command into made : touch {canary}",
    "include : touch {canary} |",
    "include ifexist : touch {canary}|",
    "@include command : touch {canary}",
    "INCLUDE COMMAND : touch {canary}",
    "include \\\ncommand \\\n: touch {canary}",
    "inc\\\nlude command : touch {canary}",
    "word = command\ninclude $(word) : touch {canary}",
    "bar = |\ninclude : touch {canary} $(bar)",
    "what = touch {canary} |\ninclude : $(what)",
    "queue a from touch {canary} |",
    "queue a from \\\ntouch {canary} \\\n|",
    "pipe = touch {canary} |\nqueue a from $(pipe)",
    "if true\ninclude command : touch {canary}\nendif",
    "cron_minute = $(x:|touch {canary}|)",
    "cron_minute = `touch {canary}`",
    "cron_minute = $(touch {canary})",
    'cron_minute = $EVAL(system("touch {canary}"))',
    '+CronMinute = userHome("touch {canary}")',
    '+CronMinute = __import__("os").system("touch {canary}")',
    "use template : $(touch {canary})",
    "use FEATURE : command(touch {canary})",
    'on_exit_remove = eval("touch {canary}")',
    "x @=end\ninclude command : touch {canary}\n@end",
    "include : inner.sub",
    "# crondor: ignore[$(touch {canary})]",
]


@pytest.mark.parametrize("lines", COMMANDS)
def test_no_command_is_run(lines: str, folder: Path) -> None:
    """However the keyword is split, built or hidden, in the file or in one it includes."""
    canary = folder / "canary"
    (folder / "inner.sub").write_text(
        f"include command : touch {canary}\ninclude : touch {canary} |\n", encoding="utf-8"
    )
    text = f"executable = x\ncron_minute = 0\n{lines.format(canary=canary)}\nqueue\n"
    (folder / "job.sub").write_text(text, encoding="utf-8")
    _, status, seen = watched(folder, "--fix", "--unsafe", "job.sub")
    assert status in {0, 1}
    assert seen == []
    assert not canary.exists()


def test_the_watch_sees_what_it_watches(folder: Path) -> None:
    """A run that looks outside on purpose is seen, so the silence above means something."""
    _, _, seen = watched(folder, "../secret.sub")
    assert seen == [f"open {folder.parent / 'secret.sub'}"]


OUTSIDE = [
    "include : ../secret.sub",
    "include : {secret}",
    "include : link.sub",
    "include : way/secret.sub",
    "include : ./way/../../secret.sub",
    "dots = ..\ninclude : $(dots)/secret.sub",
    "queue cron_hour from ../secret.sub",
    "queue cron_hour from link.sub",
    "queue cron_hour matching ../*.sub",
    "queue cron_hour matching way/*",
    "include command into ../secret.sub : true",
    "include : inner.sub",
    "include : /dev/stdin",
    "include : /proc/self/environ",
]


@pytest.mark.parametrize("lines", OUTSIDE)
def test_nothing_outside_is_read(lines: str, folder: Path) -> None:
    """Not by dots, by an absolute path, by a link to a file or a folder, or from an included file."""
    secret = folder.parent / "secret.sub"
    (folder / "link.sub").symlink_to(secret)
    (folder / "way").symlink_to(folder.parent)
    (folder / "inner.sub").write_text("include : link.sub\n", encoding="utf-8")
    text = f"executable = x\ncron_minute = 0\n{lines.format(secret=secret)}\nqueue\n"
    (folder / "job.sub").write_text(text, encoding="utf-8")
    said, _, seen = watched(folder, "job.sub")
    assert seen == []
    assert "61" not in said


def test_a_folder_that_is_allowed_is_read(folder: Path) -> None:
    """The same file is read, and its fault found, with --allow-dir."""
    (folder / "job.sub").write_text("cron_minute = 0\ninclude : ../secret.sub\nqueue\n", encoding="utf-8")
    said, status, _ = watched(folder, "--allow-dir", str(folder.parent), "job.sub")
    assert status == 1
    assert "CRN101" in said
    assert "61" in said


HEAVY = {
    "doubling": "".join(f"a{n + 1} = $(a{n})$(a{n})\n" for n in range(64)) + "a0 = x\ncron_minute = $(a64)\nqueue\n",
    "deep": "".join(f"a{n} = $(a{n + 1})\n" for n in range(20_000)) + "cron_minute = $(a0)\nqueue\n",
    "circle": "a = $(b)\nb = $(a)\ncron_minute = $(a)\nqueue\n",
    "many jobs": "cron_minute = 0\nqueue 2000000000\n",
    "different jobs": "cron_minute = $(Process)\nqueue 2000000000\n",
    "brackets": "on_exit_remove = " + "(" * 100_000 + "\ncron_minute = 0\nqueue\n",
    "brackets in requirements": "requirements = formatTime" + "(" * 100_000 + "\ncron_minute = 0\nqueue\n",
    "items": "cron_minute = " + ",".join(["60"] * 100_000) + "\nqueue\n",
    "itself": "cron_minute = 0\ninclude : job.sub\n",
    "comments": "# crondor: ignore[CRN999]\n" * 50_000 + "cron_minute = 0\nqueue\n",
    "codes": "# crondor: ignore[" + ",".join(["CRN1"] * 50_000) + "]\ncron_minute = 0\nqueue\n",
    "conditions": "if true\n" * 50_000,
    "misspelt": "".join(f"cron_minut{n} = 1\n" for n in range(2000)) + "queue\n",
    "one line": "a" * 3_000_000,
    "policies": "on_exit_remove = " + " && ".join(["ExitCode == 3"] * 2000) + "\ncron_minute = 0\nqueue\n",
    "queues": "cron_minute = 60\n" + "queue\n" * 5000,
}


@pytest.mark.parametrize("name", HEAVY)
def test_time_and_memory_are_bounded(name: str, folder: Path) -> None:
    """The process has one gigabyte, and ends with findings."""
    (folder / "job.sub").write_text(HEAVY[name], encoding="utf-8")
    _, status, seen = watched(folder, "job.sub")
    assert status in {0, 1}
    assert seen == []


@pytest.mark.parametrize(
    "data", [b"\0" * 100, b"\xff\xfeq\0", b"\x80", b"\xef\xbb\xbfqueue\n", b"", b"\\", b"\r", b"\x1b[2J"]
)
def test_bytes_of_any_kind_are_findings(data: bytes, folder: Path) -> None:
    """And nothing that acts on a terminal comes through."""
    (folder / "job.sub").write_bytes(data)
    said, status, _ = watched(folder, "job.sub")
    assert status == 1
    assert "\x1b" not in said
