"""Files that commands write: whole or not at all, with the mode they had, and a line that says why not."""

import os
import re
import stat
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.running import crondor
from tests.cli.test_denied import FILES as READABLE

FILES = {**READABLE, "old.conf": 'JOB_ROUTER_ENTRIES = [ name = "A"; GridResource = "batch slurm"; ]\n'}
WRITERS = {
    "export": ("out.ics", "export --to ics --minute 5 -o out.ics --force"),
    "import": ("out/date.sub", "import crontab -o out --force ok.tab"),
    "classad transform": ("out.ads", "classad transform --rules ok.rules -o out.ads --force ok.ads"),
    "route convert": ("out.conf", "route convert --config old.conf -o out.conf --force"),
    "route test": ("out.toml", "route test --record --config ok.conf -o out.toml --force"),
    "config service": ("out/crondor-run.service", "config service run --user -o out --force -- ok.sub"),
    "alerts": ("out/crondor.rules.yml", "monitor --alerts -o out --force"),
    "baseline": ("out.json", "check --baseline out.json --update-baseline ok.sub"),
    "picture": ("out.svg", "agenda --plot out.svg ok.sub --days 1"),
    "simulated": ("out.svg", "simulate --plot out.svg ok.sub --days 1"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with files to work on, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    empty = import_module("matplotlib.figure").Figure(
        (1, 1)
    )  # what a picture shows takes its time, and is nothing here
    for module in ("agenda", "simulate"):
        monkeypatch.setattr(f"crondor_cli.{module}.plot._draw", lambda *_: empty)
    return tmp_path


def run(command: str) -> tuple[int, str]:
    """Run a command, and return its status and what it said."""
    found = crondor(*command.split())
    return found.status, found.err


@pytest.mark.parametrize(("name", "command"), WRITERS.values(), ids=WRITERS)
def test_a_file_is_replaced_in_one_step(name: str, command: str) -> None:
    """Who has the old one open reads all of it; the mode stays, and nothing lies beside it."""
    run(command)
    out = Path(name)
    text = out.read_bytes()
    assert text
    if command.startswith("check"):
        Path("ok.sub").write_text("executable = /bin/true\ncron_minute = 77\nqueue\n", encoding="utf-8")
    out.chmod(0o640)
    beside = sorted(out.parent.iterdir())
    with out.open("rb") as before:
        status, said = run(command)
        assert (before.read(), "cannot write" in said, status < 2) == (text, False, True)
        assert os.fstat(before.fileno()).st_ino != out.stat().st_ino
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert sorted(out.parent.iterdir()) == beside


@pytest.mark.parametrize(("name", "command"), WRITERS.values(), ids=WRITERS)
def test_an_old_file_stays_where_the_disk_is_full(name: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so, status 2, and the old file is there, whole; where there was none, there is none."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    for is_new in (True, False):
        if not is_new:
            run(command)
            if command.startswith("check"):
                Path("ok.sub").write_text("executable = /bin/true\ncron_minute = 77\nqueue\n", encoding="utf-8")
        before = Path(name).read_bytes() if Path(name).exists() else None
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            status, said = run(command)
        assert (status, said.splitlines()[-1]) == (2, f"Error: cannot write '{name}': No space left on device")
        assert (Path(name).read_bytes() if Path(name).exists() else None) == before
        assert not list(Path(name).parent.glob(".crondor*"))


@pytest.mark.parametrize("name", ["export", "route convert", "route test", "classad transform"])
def test_a_pipe_or_a_device_is_written_to_as_it_is(name: str) -> None:
    """/dev/null stays one."""
    out, command = WRITERS[name]
    assert run(command.replace(out, "/dev/null")) == (0, run(command)[1])
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize(("name", "command"), WRITERS.values(), ids=WRITERS)
def test_no_link_is_written_to(name: str, command: str) -> None:
    """A repository would choose by it which file of this user, or of root, gets a new text."""
    run(command)
    if command.startswith("check"):
        Path("ok.sub").write_text("executable = /bin/true\ncron_minute = 77\nqueue\n", encoding="utf-8")
    old = Path(name).rename("victim").read_bytes()
    for target in ("victim", "gone"):
        out = Path(name)
        out.unlink(missing_ok=True)
        out.symlink_to(Path(target).absolute())
        status, said = run(command)
        assert status == 2
        assert f"Error: cannot write '{name}': it is a link to {Path(target).absolute()}" in said
        assert (out.is_symlink(), Path("victim").read_bytes(), Path("gone").exists()) == (True, old, False)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("compile --write a.sub", "# crondor: schedule = every day at 6:00\n"),
        ("agenda --suggest --write a.sub b.sub", "cron_minute = 0\ncron_hour = 6\n"),
    ],
)
def test_no_link_to_a_submit_file_is_written_to(command: str, lines: str) -> None:
    """As --fix --write does not."""
    text = f"executable = /bin/true\n{lines}queue\n"
    for name in "ab":
        Path(f"real-{name}").write_text(text, encoding="utf-8")
        Path(f"{name}.sub").symlink_to(f"real-{name}")
    status, said = run(command)
    assert status == 2
    assert re.search(r"cannot write '[ab].sub': it is a link to real-[ab]", said)
    assert [Path(f"real-{name}").read_text(encoding="utf-8") for name in "ab"] == [text, text]


def test_what_was_transformed_before_a_fault_is_written() -> None:
    """And the fault is told."""
    Path("bad.ads").write_text(FILES["ok.ads"] + "\n)(\n", encoding="utf-8")
    status, said = run("classad transform --rules ok.rules -o out.ads ok.ads bad.ads")
    assert status != 0
    assert "bad.ads" in said
    assert "A = 1" in Path("out.ads").read_text(encoding="utf-8")
