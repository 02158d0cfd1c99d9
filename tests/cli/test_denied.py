"""Files that one may not read or write, and pipes in their place: one line says so, and the status is documented."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import crondor, process
from tests.rights.people import apart, be_bound

READ = """
next x.sub | next --spec x.sub | next --ads x.ads | next --pool-config x.conf ok.sub | next dir | next dir/x.sub
next --previous x.sub | next --previous --ads x.ads | explain x.sub | explain --ads x.ads
diff x.sub ok.sub | diff ok.sub dir/x.sub
agenda x.sub | agenda --ads x.ads | agenda dir | compile --write x.sub | export --to ics x.sub | import crontab x.tab
check x.sub | check dir | check --baseline x.json ok.sub | check --pool-config x.conf ok.sub | check --fix x.sub
preview x.sub | preview --pool-config x.conf ok.sub | simulate x.sub | simulate --routes x.conf ok.sub
simulate --pool-config x.conf ok.sub | run x.sub | queue status --ads x.ads | queue submit --queue q x.sub
queue advertise x.sub | queue advertise --ads x.ads | classad transform --rules x.rules ok.ads
classad transform --rules ok.rules x.ads
classad transform --config x.conf --job-transform A ok.ads
route show --config x.conf | route show --config-root dir | route show --config ok.conf --effective x.ads
route check --config x.conf | route check --config ok.conf --baseline x.json
route explain --summary --config x.conf --ads ok.ads
route explain --summary --config ok.conf --ads x.ads
route explain --config ok.conf x.sub | route explain --config ok.conf dir
route apply --config ok.conf --ads x.ads | route diff x.conf ok.conf | route diff ok.conf dir
route diff ok.conf ok.conf --ads x.ads | route test x.toml --config ok.conf | route plan --config ok.conf x.sub
route convert --config x.conf | hook run PREPARE_JOB ./ok.sh --job x.ads | hook daemon-cron --config x.conf
classad eval A --my x.ads | classad convert --to json x.ads | classad match ok.ads x.ads
"""
WRITTEN = """
agenda --plot dir/x.png --days 1 ok.sub | simulate --log dir/x.log ok.sub | import crontab -o dir/out ok.tab
export --to ics --minute 5 -o dir/x.ics | classad transform --rules ok.rules -o dir/x ok.ads
classad transform --rules ok.rules -o x.ads --force ok.ads | route convert --config ok.conf -o dir/x
"""
QUEUES = """
queue status --queue dir | queue status --log x.log | next --log x.log | queue recalc --log x.log
queue submit --queue dir ok.sub | queue hold --queue dir 1 | queue rm --queue dir 1 | queue history --queue dir
queue advertise --log x.log | run --state dir ok.sub | route status --config ok.conf --log x.log
route plan --config ok.conf --log x.log | route rm --config ok.conf --queue dir 1
"""
FILES = {
    "ok.sub": "executable = /bin/true\ncron_minute = 5\nqueue\n",
    "ok.ads": 'Owner="ada"\nClusterId=1\nProcId=0\nJobUniverse=5\n',
    "ok.tab": "0 3 * * * date\n",
    "ok.rules": "SET A 1\n",
    "ok.conf": "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\n  REQUIREMENTS true\n  UNIVERSE vanilla\n@end\n",
    "ok.sh": "#!/bin/sh\ncat\n",
}


def split(table: str) -> list[list[str]]:
    """Return the commands of a table as lists of arguments."""
    return [command.split() for line in table.strip().splitlines() for command in line.split(" | ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with some files, with some that nobody may read, and with a folder of that kind."""
    made = tmp_path_factory.mktemp("denied")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    for name in PLACES:
        (made / name).write_text("a = 1\n", encoding="utf-8")
        (made / name).chmod(0)
    (made / "dir").mkdir(mode=0)
    return made


def run(folder: Path, commands: list[list[str]]) -> list[tuple[list[str], int, str, str]]:
    """Run the commands in a folder, as somebody whom modes bind; return them with what they left behind."""

    def bound() -> None:
        be_bound()
        os.chdir(folder)

    answers = json.loads(apart(bound, lambda: json.dumps([crondor(*arguments) for arguments in commands])))
    return [(command, *each) for command, each in zip(commands, answers, strict=True)]


PLACES = ("x.sub", "x.ads", "x.conf", "x.tab", "x.rules", "x.log", "x.json", "x.toml")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_nobody_waits_for_a_pipe_or_a_device(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """In the place of any file that a command reads."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in PLACES:
        make(tmp_path / name)
    every = split(READ) + split(QUEUES)
    commands = [command for command in every if not any(each.startswith("dir") for each in command)]
    for command, status, out, err in run(tmp_path, commands):
        assert (command, status == 2 or "--log" in command, out) == (command, True, "")
        assert re.fullmatch(r"[^\n]*(x\.\w+)[^\n]* it is not a plain file[^\n]*\n", err), (command, err)


@pytest.mark.parametrize("text", [FILES["ok.sub"], ""])
def test_what_the_shell_has_opened_is_read(tmp_path: Path, text: str) -> None:
    """``<(command)`` and /dev/stdin; a pipe that somebody named is none of those."""
    path = tmp_path / "given"
    path.write_text(text, encoding="utf-8")
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    expected = crondor("check", "--quiet", str(path))
    with path.open() as file:
        for name in (f"/dev/fd/{reader}", f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            found = crondor("check", "--quiet", name)
            assert found == expected._replace(out=expected.out.replace(str(path), name)), name
    os.close(reader)
    assert process("check", "--quiet", "/dev/stdin", stdin=text.encode()).returncode == expected.status
    assert "Bad file descriptor" in crondor("check", "/dev/fd/987654").err
    assert crondor("check", "--quiet", "/dev/null").status == crondor("check", "--quiet", "-").status


@pytest.mark.parametrize(("deed", "table"), [("read", READ), ("write", WRITTEN)])
def test_one_line_names_the_file_and_the_reason(folder: Path, deed: str, table: str) -> None:
    """The status is 2, as for all that cannot be read or written, and nothing else is printed."""
    for command, status, out, err in run(folder, split(table)):
        denied = next(each for each in reversed(command) if each.startswith(("x.", "dir")))
        expected = f"Error: cannot {deed} '{denied}': Permission denied\n"
        assert (command, status, out, err) == (command, 2, "", expected)


def test_a_queue_that_one_may_not_read(folder: Path) -> None:
    """It is one line as well; the status is 1, since it is the queue that is asked about."""
    for command, status, out, err in run(folder, split(QUEUES)):
        assert (command, status, out, err.count("\n")) == (command, 1, "", 1)
        assert "Permission denied [queue-io]" in err


def test_the_other_files_of_a_folder_are_checked(folder: Path) -> None:
    """A folder in it that cannot be read is said, and makes the status 2: jobs may be in there."""
    (inner := folder / "jobs").mkdir()
    (inner / "ok.sub").write_text(FILES["ok.sub"], encoding="utf-8")
    (inner / "deep").mkdir(mode=0)
    ((_, status, out, err),) = run(folder, [["check", "jobs"]])
    assert status == 2
    assert "1 file checked" in out
    assert err == "Error: cannot read 'jobs/deep': Permission denied\n"
