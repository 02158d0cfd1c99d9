"""Programs to be called as hooks."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hooks.party import Party

Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Return a function that writes a shell script and returns its path."""

    def write(text: str, name: str = "hook", mode: int = 0o755) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture
def party(monkeypatch: pytest.MonkeyPatch) -> Iterator[Party]:
    """Return the users around a folder that all of them may pass, as that of pytest is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    yield Party(folder, monkeypatch)
    shutil.rmtree(folder)
