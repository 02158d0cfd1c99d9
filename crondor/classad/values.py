"""The values of the ClassAd language as Python values."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, TypeAlias


class Exceptional(Enum):
    """The two values that are none: ``undefined`` and ``error``. Both are false."""

    UNDEFINED = "undefined"
    ERROR = "error"

    def __bool__(self) -> bool:
        """Neither counts as true."""
        return False

    def __repr__(self) -> str:
        """Return the name of the value in this package."""
        return self.name

    def __str__(self) -> str:
        """Return the value as the language spells it."""
        return str(self.value)


UNDEFINED: Final = Exceptional.UNDEFINED
ERROR: Final = Exceptional.ERROR


class AbsTime(NamedTuple):
    """A moment: seconds since 1970 (UTC) and the offset from UTC, in seconds, it is shown with."""

    seconds: int
    offset: int


class RelTime(NamedTuple):
    """A length of time in seconds."""

    seconds: float


class LocalTime(NamedTuple):
    """A literal ``absTime("...")`` without offset: the seconds its fields would have in UTC.

    Only the tree holds it: HTCondor reads such a text in the zone of the machine, which the evaluation context says.
    """

    seconds: int


Simple: TypeAlias = bool | int | float | str | Exceptional | AbsTime | RelTime
Constant: TypeAlias = Simple | LocalTime

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1


def wrap(number: int) -> int:
    """Return an integer cut to 64 bits, as C overflows."""
    if INT_MIN <= number <= INT_MAX:
        return number
    return ((number + (1 << 63)) & 0xFFFFFFFFFFFFFFFF) - (1 << 63)


def wrap32(number: int) -> int:
    """Return an integer cut to 32 bits."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def truncate(real: float) -> int:
    """Return a real as 64-bit integer; out of range (NaN, infinities) gives the minimum, as x86 does."""
    if -9.3e18 < real < 9.3e18:  # false for NaN
        number = int(real)
        if INT_MIN <= number <= INT_MAX:
            return number
    return INT_MIN


def truncate32(real: float) -> int:
    """Return a real as 32-bit integer; out of range gives the minimum."""
    if -2147483649.0 < real < 2147483648.0:
        return int(real)
    return -0x80000000
