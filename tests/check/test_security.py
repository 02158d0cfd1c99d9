"""What a hostile description cannot do: run anything, read outside its folder, or use up time and memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.running import environment

# Runs the command for each of some folders, with every audit event looked at; nothing that starts a program, or opens
# a file that is neither the interpreter's nor below the folder, goes unseen.
WATCHED = """
import contextlib, io, json, os, resource, sys, zoneinfo
own = [os.path.realpath(p) for p in (*sys.path, sys.prefix, sys.base_prefix, *zoneinfo.TZPATH) if p]
roots, seen = [], []
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
results = []
cases = json.load(sys.stdin)
sys.addaudithook(watch)
for folder, arguments in cases:
    os.chdir(folder)
    roots[:] = [os.path.realpath(folder), *own]
    seen.clear()
    sys.argv = ["crondor", "check", "--no-config", "--tz", "UTC", *arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
    except SystemExit as end:
        results.append([said.getvalue(), end.code, list(seen)])
print(json.dumps(results))
"""


class Watched(NamedTuple):
    """What `crondor check` says in a folder, its exit status, and what it did that it must not do."""

    said: str
    status: int
    seen: list[str]


def watched_in(cases: list[tuple[Path, tuple[str, ...]]]) -> list[Watched]:
    """Run the command once for each folder, all in one process of its own."""
    given = json.dumps([(str(folder), arguments) for folder, arguments in cases])
    command = [sys.executable, "-c", WATCHED]
    data = given.encode()
    done = subprocess.run(command, input=data, capture_output=True, check=True, env=environment(), timeout=300)
    return [Watched(*result) for result in json.loads(done.stdout)]


def watched(folder: Path, *arguments: str) -> Watched:
    """Run the command in one folder."""
    return watched_in([(folder, arguments)])[0]


def folder_in(place: Path) -> Path:
    """Return the folder of the submit file; beside it lies a secret."""
    (place / "jobs").mkdir(parents=True)
    (place / "secret.sub").write_text("cron_hour = 61\n", encoding="utf-8")
    return place / "jobs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a submit file."""
    return folder_in(tmp_path)


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


def write_commands(folder: Path, lines: str) -> None:
    """Write a file that tries to make a canary file, and one that it may include."""
    canary = folder / "canary"
    (folder / "inner.sub").write_text(
        f"include command : touch {canary}\ninclude : touch {canary} |\n", encoding="utf-8"
    )
    text = f"executable = x\ncron_minute = 0\n{lines.format(canary=canary)}\nqueue\n"
    (folder / "job.sub").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Watched]]:
    """Run the command on each of COMMANDS."""
    folders = {lines: folder_in(tmp_path_factory.mktemp("commands")) for lines in COMMANDS}
    for lines, folder in folders.items():
        write_commands(folder, lines)
    results = watched_in([(folder, ("--fix", "--unsafe", "job.sub")) for folder in folders.values()])
    return dict(zip(COMMANDS, zip(folders.values(), results, strict=True), strict=True))


@pytest.mark.parametrize("lines", COMMANDS)
def test_no_command_is_run(lines: str, commands: dict[str, tuple[Path, Watched]]) -> None:
    """However the keyword is split, built or hidden, in the file or in one it includes."""
    folder, (_, status, seen) = commands[lines]
    assert status in {0, 1}
    assert seen == []
    assert not (folder / "canary").exists()


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


def write_ways_out(folder: Path, lines: str) -> None:
    """Write a file that tries to read the secret, and links that lead to it."""
    secret = folder.parent / "secret.sub"
    (folder / "link.sub").symlink_to(secret)
    (folder / "way").symlink_to(folder.parent)
    (folder / "inner.sub").write_text("include : link.sub\n", encoding="utf-8")
    text = f"executable = x\ncron_minute = 0\n{lines.format(secret=secret)}\nqueue\n"
    (folder / "job.sub").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def ways_out(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Watched]:
    """Run the command on each of OUTSIDE."""
    folders = [folder_in(tmp_path_factory.mktemp("outside")) for _ in OUTSIDE]
    for folder, lines in zip(folders, OUTSIDE, strict=True):
        write_ways_out(folder, lines)
    return dict(zip(OUTSIDE, watched_in([(folder, ("job.sub",)) for folder in folders]), strict=True))


@pytest.mark.parametrize("lines", OUTSIDE)
def test_nothing_outside_is_read(lines: str, ways_out: dict[str, Watched]) -> None:
    """Not by dots, by an absolute path, by a link to a file or a folder, or from an included file."""
    said, _, seen = ways_out[lines]
    assert seen == []
    assert "61 is out of range" not in said


def test_a_folder_that_is_allowed_is_read(folder: Path) -> None:
    """The same file is read, and its fault found, with --allow-dir."""
    (folder / "job.sub").write_text("cron_minute = 0\ninclude : ../secret.sub\nqueue\n", encoding="utf-8")
    said, status, _ = watched(folder, "--allow-dir", str(folder.parent), "job.sub")
    assert status == 1
    assert "CRN101" in said
    assert "61 is out of range" in said


HEAVY = {
    "doubling": "".join(f"a{n + 1} = $(a{n})$(a{n})\n" for n in range(64)) + "a0 = x\ncron_minute = $(a64)\nqueue\n",
    "deep": "".join(f"a{n} = $(a{n + 1})\n" for n in range(2_000)) + "cron_minute = $(a0)\nqueue\n",
    "circle": "a = $(b)\nb = $(a)\ncron_minute = $(a)\nqueue\n",
    "many jobs": "cron_minute = 0\nqueue 2000000000\n",
    "brackets": "on_exit_remove = " + "(" * 20_000 + "\ncron_minute = 0\nqueue\n",
    "brackets in requirements": "requirements = formatTime" + "(" * 20_000 + "\ncron_minute = 0\nqueue\n",
    "items": "cron_minute = " + ",".join(["60"] * 20_000) + "\nqueue\n",
    "itself": "cron_minute = 0\ninclude : job.sub\n",
    "comments": "# crondor: ignore[CRN999]\n" * 10_000 + "cron_minute = 0\nqueue\n",
    "codes": "# crondor: ignore[" + ",".join(["CRN1"] * 10_000) + "]\ncron_minute = 0\nqueue\n",
    "conditions": "if true\n" * 10_000,
    "misspelt": "".join(f"cron_minut{n} = 1\n" for n in range(700)) + "queue\n",
    "one line": "a" * 1_000_000,
    "policies": "on_exit_remove = " + " && ".join(["ExitCode == 3"] * 1000) + "\ncron_minute = 0\nqueue\n",
    "texts that double": "".join(f"+a{n} = strcat(a{n + 1}, a{n + 1})\n" for n in range(60))
    + '+a60 = "xxxxxxxx"\ncron_minute = 0\non_exit_remove = size(a0) == -1\nqueue\n',
    "attributes in a row": "".join(f"+a{n} = a{n + 1}\n" for n in range(300))
    + "deferral_time = a0 + $(Process)\nqueue 5000\n",
    "clauses": "cron_minute = 0\ncron_day_of_week = 1\n"
    'requirements = formatTime(DeferralTime, "%w") == "1" || DeferralTime == $(Process)\nqueue 5000\n',
    "queues": "cron_minute = 60\n" + "queue\n" * 2000,
}


BYTES = [b"\0" * 100, b"\xff\xfeq\0", b"\x80", b"\xef\xbb\xbfqueue\n", b"", b"\\", b"\r", b"\x1b[2J"]


@pytest.fixture(scope="module")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> dict[str | bytes, Watched]:
    """Run the command on each of HEAVY and of BYTES."""
    data: dict[str | bytes, bytes] = {name: text.encode() for name, text in HEAVY.items()}
    data.update({piece: piece for piece in BYTES})
    folders = [folder_in(tmp_path_factory.mktemp("heavy")) for _ in data]
    for folder, content in zip(folders, data.values(), strict=True):
        (folder / "job.sub").write_bytes(content)
    return dict(zip(data, watched_in([(folder, ("job.sub",)) for folder in folders]), strict=True))


@pytest.mark.parametrize("name", HEAVY)
def test_time_and_memory_are_bounded(name: str, heavy: dict[str | bytes, Watched]) -> None:
    """The process has one gigabyte, and ends with findings."""
    _, status, seen = heavy[name]
    assert status in {0, 1}
    assert seen == []


@pytest.mark.parametrize("data", BYTES)
def test_bytes_of_any_kind_are_findings(data: bytes, heavy: dict[str | bytes, Watched]) -> None:
    """And nothing that acts on a terminal comes through."""
    said, status, _ = heavy[data]
    assert status == 1
    assert "\x1b" not in said
