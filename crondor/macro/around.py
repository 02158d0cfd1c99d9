"""What a macro may see beside its text: nothing but what the caller hands over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from crondor.macro.errors import MacroError


class Dice(Protocol):
    """Where $RANDOM_CHOICE() and $RANDOM_INTEGER() draw from; random.Random is one."""

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 up to ``stop``, which is not included."""


class Around(NamedTuple):
    """The surroundings of one expansion.

    ``environ`` is what $ENV() sees, None where the environment is not known. ``dice`` is drawn from, None where no
    seed is known. ``folder`` is what $Ff() puts before a relative path, or gives it when asked. ``evaluate`` gives
    $EVAL() the printed value of an expression, None where it has none; without it the expression is evaluated in an
    empty ad. ``now`` is the clock of ClassAd expressions in epoch seconds. ``soft`` takes the failures of functions
    that HTCondor prints and passes over; without it they are raised.
    """

    environ: Mapping[str, str] | None = None
    dice: Dice | None = None
    folder: str | Callable[[], str] = ""
    evaluate: Callable[[str], str | None] | None = None
    now: int | None = None
    soft: Callable[[MacroError], None] | None = None


NOTHING = Around()
