"""What goes into the journal has its level; what goes anywhere else has none."""

import os
import subprocess
from pathlib import Path

import pytest

from crondor_cli.kit.screen import Level, levelled
from tests.cli.running import PROGRAM, SLOWEST, environment


def stream_of(descriptor: int) -> str:
    """Return what systemd says of a stream that leads to the journal."""
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


def test_each_line_has_the_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one stream alone: another one may lead elsewhere."""
    with (tmp_path / "journal").open("w") as journal, (tmp_path / "other").open("w") as other:
        monkeypatch.setenv("JOURNAL_STREAM", stream_of(journal.fileno()))
        assert levelled("a\n b", Level.WARNING, journal) == "<4>a\n<4> b"
        assert levelled("a\n b", Level.WARNING, other) == "a\n b"
        assert levelled("a", Level.ERROR, None) == "a"
        for wrong in ("", "x", "1:", ":2"):
            monkeypatch.setenv("JOURNAL_STREAM", wrong)
            assert levelled("a", Level.ERROR, journal) == "a"
    assert levelled("a", Level.ERROR, journal) == "a"


@pytest.mark.parametrize("is_journal", [True, False])
def test_what_is_wrong_is_an_error_there(tmp_path: Path, is_journal: bool) -> None:
    """Its place and its help too, so that `journalctl -p err` shows all of it."""
    reader, writer = os.pipe()
    try:
        env = environment() | ({"JOURNAL_STREAM": stream_of(writer)} if is_journal else {})
        command = [*PROGRAM, "monitor", "--once", "--log", str(tmp_path / "none")]
        status = subprocess.run(command, stderr=writer, env=env, timeout=SLOWEST, check=False).returncode
    finally:
        os.close(writer)
    with os.fdopen(reader) as file:
        lines = file.read().splitlines()
    assert status == 1
    assert lines
    assert all(line.startswith("<3>") is is_journal for line in lines)
