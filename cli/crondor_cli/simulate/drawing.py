"""A picture of a simulation into a file, where one is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crondor_cli.common.plot_file import needs_matplotlib, writes

if TYPE_CHECKING:
    from crondor_cli.simulate.plot import Picture


def draw(picture: Callable[[], Picture], path: str | None) -> None:
    """Draw into a file. Raises UsageError where it cannot be written, and without matplotlib."""
    if path is None:
        return
    with needs_matplotlib():
        from crondor_cli.simulate.plot import save  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s
    with writes(path):
        save(picture(), path)
