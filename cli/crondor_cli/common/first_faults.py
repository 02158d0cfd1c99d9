"""What is wrong with a stream of ads or events: the first faults in full, the others counted."""

from __future__ import annotations

from crondor.diagnostics import Diagnostic, Severity

_MOST = 20


class FirstFaults:
    """The first faults, and how many ``more`` there are; a stream of any length takes no more memory.

    ``is_bad``: one of all of them is an error.
    """

    def __init__(self, most: int = _MOST) -> None:
        """Begin with none; ``most`` are kept."""
        self.shown: list[Diagnostic] = []
        self.more = 0
        self.is_bad = False
        self._most = most

    def add(self, found: Diagnostic) -> None:
        """Keep a fault, or count it."""
        self.is_bad = self.is_bad or found.severity is Severity.ERROR
        if len(self.shown) < self._most:
            self.shown.append(found)
        else:
            self.more += 1

    def listed(self) -> list[Diagnostic]:
        """Return those that were kept, and a last one that says how many more there are."""
        if not self.more:
            return self.shown
        severity = Severity.ERROR if self.is_bad else Severity.WARNING
        return [*self.shown, Diagnostic("more-faults", f"{self.more:,} more faults like these", severity)]
