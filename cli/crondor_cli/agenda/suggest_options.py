"""The options that go with `crondor agenda --suggest`."""

from __future__ import annotations

from typing import NamedTuple

import click


class SuggestOptions(NamedTuple):
    """What the command line says of a suggestion; ``run_time`` in seconds, ``hours`` that may move."""

    is_asked: bool
    write: bool
    pins: tuple[str, ...]
    run_time: int
    hours: int = 0

    def check(self) -> None:
        """Refuse options that go with --suggest, without it. Raises UsageError."""
        given = {"--write": self.write, "--pin": bool(self.pins), "--run-time": bool(self.run_time)}
        given["--hours"] = bool(self.hours)
        for name, is_given in given.items():
            if is_given and not self.is_asked:
                raise click.UsageError(f"{name} goes with --suggest", click.get_current_context(silent=True))
