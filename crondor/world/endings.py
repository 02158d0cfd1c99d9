"""How a program ends."""

from __future__ import annotations

from typing import NamedTuple


class Exit(NamedTuple):
    """An exit code, or the signal that ended it."""

    code: int = 0
    signal: int | None = None

    def attributes(self) -> dict[str, object]:
        """Return what it writes into the job; None deletes."""
        if self.signal is None:
            return {"ExitCode": self.code, "ExitBySignal": False, "ExitSignal": None}
        return {"ExitCode": None, "ExitBySignal": True, "ExitSignal": self.signal}
