"""What is found in many ads, each once."""

from __future__ import annotations

from collections.abc import Iterable

from crondor.diagnostics import Diagnostic, Severity
from crondor_cli.common.show import show

_MOST_SHOWN = 10_000  # different findings that are remembered, so that none is shown for each ad


class AdFindings:
    """Shows each finding once, however many ads have it; ``failed``: there was one that counts."""

    def __init__(self) -> None:
        """Begin with none."""
        self.failed = False
        self._left_out = 0
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
            show([each])

    def end(self) -> None:
        """Say how many were not shown."""
        if self._left_out:
            show([Diagnostic("more-faults", f"{self._left_out:,} more findings like these", Severity.WARNING)])
