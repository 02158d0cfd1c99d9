"""How programs end: with an exit code or by a signal."""

from __future__ import annotations

from typing import Final, NamedTuple


class Exit(NamedTuple):
    """How one program has ended: ``number`` is its exit code, or that of the signal."""

    number: int = 0
    by_signal: bool = False

    @property
    def attributes(self) -> dict[str, object]:
        """What the starter reports; a signal leaves the ExitCode of an earlier run as it is."""
        if self.by_signal:
            return {"ExitBySignal": True, "ExitSignal": self.number}
        return {"ExitBySignal": False, "ExitCode": self.number}


SUCCESS: Final = Exit()
