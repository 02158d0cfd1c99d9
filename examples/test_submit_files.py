"""A project's submit files as tests: copy it beside them, and `pytest` says what is wrong with each."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor import CheckSettings, Severity, Source, check_submit, read_submit
from crondor.diagnostics import render
from crondor.macro.files import Files

FOLDER = Path(__file__).parent


@pytest.fixture
def check() -> Callable[[Path], None]:
    """Return a function that fails with all errors and warnings of a submit file, as `crondor check` shows them."""

    def check(path: Path) -> None:
        files = Files([str(path.parent)], base=str(path.parent))  # what the file may include
        source = Source(path.read_text(encoding="utf-8"), path.name)
        settings = CheckSettings(now=int(time.time()), zone="Europe/Berlin")
        report = check_submit(source, settings, read=lambda text: read_submit(text, files=files))
        found = [each.diagnostic for each in report.findings if each.diagnostic.severity is not Severity.NOTE]
        if found:
            pytest.fail("\n".join(map(render, found)), pytrace=False)

    return check


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sub")), ids=lambda path: path.name)
def test_submit_file(path: Path, check: Callable[[Path], None]) -> None:
    """No error and no warning; a comment `# crondor: ignore[CRN401]` silences what is meant."""
    check(path)
