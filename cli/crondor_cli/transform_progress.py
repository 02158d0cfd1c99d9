"""How far a long run is: a line on standard error that is written over."""

from __future__ import annotations

import sys

import click

_EVERY = 1000  # ads between two lines
_ERASE = "\r\033[K"


class Progress:
    """Counts ads on stderr where that is a terminal."""

    __slots__ = ("_is_shown", "_is_wanted", "_what")

    def __init__(self, *, is_wanted: bool, what: str = "ads") -> None:
        """Begin; ``is_wanted`` is False where what is counted goes to the terminal itself."""
        self._is_wanted = is_wanted and sys.stderr is not None and sys.stderr.isatty()
        self._is_shown = False
        self._what = what

    def show(self, number: int) -> None:
        """Say how many ads there have been, now and then."""
        if self._is_wanted and not number % _EVERY:
            click.echo(f"{_ERASE}{number:,} {self._what}", err=True, nl=False)
            self._is_shown = True

    def clear(self) -> None:
        """Make room for something else."""
        if self._is_shown:
            click.echo(_ERASE, err=True, nl=False)
            self._is_shown = False
