"""How far a long run is, a line on standard error that is written over, and what was found on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from crondor.diagnostics import Diagnostic, Severity
from crondor_cli.common.output import overwrite
from crondor_cli.common.show import show

_EVERY = 1000  # ads between two lines
_MOST_SHOWN = 10_000  # different findings that are remembered, so that none is shown for each ad


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
            overwrite(f"{number:,} {self._what}")
            self._is_shown = True

    def clear(self) -> None:
        """Make room for something else."""
        if self._is_shown:
            overwrite("")
            self._is_shown = False


class AdFindings:
    """Shows each finding once, however many ads have it; ``failed``: there was one that counts."""

    def __init__(self, progress: Progress) -> None:
        """Begin with none; ``progress`` makes room for each."""
        self.failed = False
        self._left_out = 0
        self._progress = progress
        self._shown: set[Diagnostic] = set()

    def add(self, found: Iterable[Diagnostic], *, counts: bool = True) -> None:
        """Show what was not shown yet; without ``counts`` only an error makes the status 1."""
        for each in found:
            self.failed = self.failed or counts or each.severity is Severity.ERROR
            if each in self._shown:
                continue
            if len(self._shown) >= _MOST_SHOWN:
                self._left_out += 1
                continue
            self._shown.add(each)
            self._progress.clear()
            show([each])

    def end(self) -> None:
        """Say how many were not shown."""
        if self._left_out:
            self._progress.clear()
            show([Diagnostic("more-faults", f"{self._left_out:,} more findings like these", Severity.WARNING)])
