"""Programs to be called as hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
