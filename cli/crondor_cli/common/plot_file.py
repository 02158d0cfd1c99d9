"""Files that a command writes beside its output, pictures above all: what stands against them is wrong usage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from crondor.diagnostics import printable
from crondor_cli.common.file_problem import file_problem


def check_plot(path: str | None) -> None:
    """Refuse a picture in a form that is not drawn. Raises UsageError."""
    if path is not None and Path(path).suffix.lower() not in {".svg", ".png"}:
        context = click.get_current_context(silent=True)
        raise click.UsageError(f"--plot draws .svg and .png; '{printable(path)}' is neither", context)


@contextmanager
def needs_matplotlib() -> Iterator[None]:
    """Import what draws inside this block. Raises UsageError where the extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("matplotlib", "numpy")):
            raise
        message = "--plot needs matplotlib, which is not installed: pip install '.[plot]' in a clone of crondor"
        raise click.UsageError(message, click.get_current_context(silent=True)) from None


@contextmanager
def writes(path: str) -> Iterator[None]:
    """Write a file inside this block. Raises UsageError where that cannot be done."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise file_problem("write", path, error) from None
