"""How programs end: with an exit code or by a signal, always the same or drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.pool.settings.lengths import share
from crondor.source import Source

_ONE: Final = re.compile(r"(sig|signal)?\s*(\d{1,3})(?:\s*:\s*(\d{1,6}))?", re.ASCII | re.IGNORECASE).fullmatch
_MOST_CODE: Final = 255
_MOST_SIGNAL: Final = 64
_HELP: Final = "write an exit code (0 to 255) or sig9; several with their weights: 0:95,1:4,sig9:1"


class InvalidExits(CrondorError, ValueError):
    """A text that says no exit codes."""


class Exit(NamedTuple):
    """How one program has ended: ``number`` is its exit code, or that of the signal."""

    number: int = 0
    by_signal: bool = False

    @property
    def attributes(self) -> dict[str, int]:
        """What the starter reports; a signal leaves the ExitCode of an earlier run as it is."""
        if self.by_signal:
            return {"ExitBySignal": True, "ExitSignal": self.number}
        return {"ExitBySignal": False, "ExitCode": self.number}

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"sig{self.number}" if self.by_signal else str(self.number)


SUCCESS: Final = Exit()


@dataclass(frozen=True)
class Exits:
    """Ways to end, each with its weight."""

    weights: tuple[tuple[Exit, int], ...] = ((SUCCESS, 1),)

    @classmethod
    def parse(cls, text: str, name: str = "<exits>") -> Exits:
        """Read ``1``, ``sig9``, or several with their weights: ``0:95,1:4,sig9:1``. Raises InvalidExits."""
        source = Source(text, name)
        faults, weights, at = [], [], 0
        for piece in text.split(","):
            span = source.span(at, at + len(piece))
            at += len(piece) + 1
            found = _ONE(piece.strip())
            if found is None:
                faults.append(Diagnostic("exits", f"{piece.strip()[:40]!r} is no way to end", span=span, help=_HELP))
                continue
            number, is_signal = int(found[2]), found[1] is not None
            if not is_signal <= number <= (_MOST_SIGNAL if is_signal else _MOST_CODE):
                what = f"there is no signal {number}" if is_signal else f"{number} is no exit code"
                faults.append(Diagnostic("exits", what, span=span, help=_HELP))
            weights.append((Exit(number, is_signal), int(found[3] or 1)))
        if not faults and not any(weight for _, weight in weights):
            faults.append(Diagnostic("exits", "all weights are 0", span=source.span(), help=_HELP))
        if faults:
            raise InvalidExits(faults)
        return cls(tuple(weights))

    @property
    def is_fixed(self) -> bool:
        """Say whether all programs end alike."""
        return len(self.weights) == 1

    def drawn(self, chance: int) -> Exit:
        """Return the way that belongs to a chance, see ``lengths``."""
        left = share(chance) * sum(weight for _, weight in self.weights)
        for one, weight in self.weights:
            left -= weight
            if left < 0:
                return one
        return next(one for one, weight in reversed(self.weights) if weight)

    def __str__(self) -> str:
        """Return it as it is written."""
        if self.is_fixed:
            return str(self.weights[0][0])
        return ",".join(f"{one}:{weight}" for one, weight in self.weights)
