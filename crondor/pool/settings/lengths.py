"""Lengths of time that are the same each time, or drawn: run times, transfers, the wait for a match."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source

LONGEST: Final = 10 * 366 * 86400  # seconds

_FORM: Final = re.compile(r"(\d{1,12})([smhd]?)(?:-(\d{1,12})([smhd]?))?|exp:(\d{1,12})([smhd]?)", re.ASCII).fullmatch
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_MASK: Final = (1 << 64) - 1
_BEGIN: Final = 0x9E3779B97F4A7C15


class InvalidLength(CrondorError, ValueError):
    """A text that is no length, or one that is too long."""


class Shape(Enum):
    """How a length is drawn."""

    UNIFORM = "uniform"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True)
class Lengths:
    """Whole seconds between ``low`` and ``high``, both included, all alike; or exponential with the mean ``low``."""

    low: int
    high: int
    shape: Shape = Shape.UNIFORM

    @classmethod
    def fixed(cls, seconds: int) -> Lengths:
        """Return a length that is always the same."""
        return cls(seconds, seconds)

    @classmethod
    def parse(cls, text: str, name: str = "<length>") -> Lengths:
        """Read ``90``, ``90s``, ``5m``, ``2h``, ``1d``, a range ``30-90``, or ``exp:5m``. Raises InvalidLength."""
        found = _FORM(text.strip().lower())
        span = Source(text, name).span()
        if found is None:
            message = f"{text[:40]!r} is no length of time"
            hint = "write seconds (90), 5m, 2h or 1d; a range 30-90; or exp:5m, exponential with that mean"
            raise InvalidLength(Diagnostic("length", message, span=span, help=hint))
        if found[5] is not None:
            mean = int(found[5]) * _UNITS[found[6]]
            low, high, shape = mean, mean, Shape.EXPONENTIAL
        else:
            low = int(found[1]) * _UNITS[found[2]]
            high = low if found[3] is None else int(found[3]) * _UNITS[found[4]]
            shape = Shape.UNIFORM
        if high < low:
            raise InvalidLength(
                Diagnostic("length", f"{text[:40]!r} ends before it begins", span=span, help="write the shorter first")
            )
        if high > LONGEST:
            raise InvalidLength(
                Diagnostic("length", f"{text[:40]!r} is longer than ten years", span=span, help="write a shorter one")
            )
        return cls(low, high, shape)

    @property
    def is_fixed(self) -> bool:
        """Say whether it is the same each time."""
        return self.shape is Shape.UNIFORM and self.low == self.high

    def draw(self, *parts: int) -> int:
        """Return the length (seconds) that belongs to some numbers: equal ones give equal lengths, everywhere."""
        return self.drawn(chance(*parts))

    def drawn(self, chance: int) -> int:
        """Return the length (seconds) that belongs to a chance, see there."""
        if self.low == self.high and self.shape is Shape.UNIFORM:
            return self.low
        part = share(chance)
        if self.shape is Shape.EXPONENTIAL:
            return min(int(-self.low * math.log1p(-part)), LONGEST)
        return self.low + int(part * (self.high - self.low + 1))

    def __str__(self) -> str:
        """Return it as it is written."""
        if self.shape is Shape.EXPONENTIAL:
            return f"exp:{self.low}"
        return str(self.low) if self.is_fixed else f"{self.low}-{self.high}"


def chance(*parts: int, after: int = _BEGIN) -> int:
    """Return what is drawn for some numbers (SplitMix64 over them), ``after`` what was drawn for those before."""
    state = after
    for part in parts:
        state = (state ^ (part & _MASK)) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state = (state ^ state >> 31) + _BEGIN & _MASK
    return state


def share(chance: int) -> float:
    """Return a chance as a number from 0 to below 1."""
    state = (chance ^ chance >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    return ((state ^ state >> 27) >> 11) / (1 << 53)
