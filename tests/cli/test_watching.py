"""--watch runs a command again after each change, whatever it says, until Ctrl-C."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from crondor_cli.kit.progress import run_on_changes
from crondor_cli.kit.screen import say


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Have two changes seen, and return which folders were watched."""
    seen: list[tuple[str, ...]] = []

    def watch(*folders: str, **_: object) -> Iterator[object]:
        seen.append(folders)
        yield from ({1}, {2})

    monkeypatch.setattr("watchfiles.watch", watch)
    return seen


def test_a_command_runs_at_first_and_after_each_change(
    changes: list[tuple[str, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And goes on where it finds something, or cannot read its input."""
    ends = iter([click.exceptions.Exit(1), click.UsageError("no file"), None])

    def once() -> None:
        say("looked")
        end = next(ends)
        if end is not None:
            raise end

    (tmp_path / "jobs").mkdir()
    run_on_changes(once, [str(tmp_path / "a.sub"), str(tmp_path / "b.sub"), str(tmp_path / "jobs")])
    shown = capsys.readouterr()
    assert shown.out == "looked\n" * 3
    assert "no file" in shown.err
    assert shown.err.count("Watching 2 folders; Ctrl-C ends it.") == 3
    assert changes == [(str(tmp_path), str(tmp_path / "jobs"))]


@pytest.mark.parametrize("paths", [["-"], ["nowhere/job.sub"]])
def test_what_cannot_be_watched_is_refused(paths: list[str]) -> None:
    """Before anything runs."""
    with pytest.raises(click.UsageError, match="--watch"):
        run_on_changes(lambda: pytest.fail("it ran"), paths)


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And nothing runs."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(click.UsageError, match="which is not installed"):
        run_on_changes(lambda: pytest.fail("it ran"), [str(tmp_path)])
