"""The universes of HTCondor 25.14 by name and number, and what $(Node) stands for in them.

HTCondor: CondorUniverseNumber.
"""

from __future__ import annotations

from typing import Final

from crondor.macro.numbers import leading_int

PARALLEL: Final = 11
MPI: Final = 8
NAMES: Final = (
    *("NULL", "Standard", "Pipe", "Linda", "PVM", "Vanilla", "PVMD", "Scheduler"),
    *("MPI", "Grid", "Java", "Parallel", "Local", "VM"),
)
COMMANDS: Final = ("universe", "jobuniverse")
_NUMBERS: Final = {name.lower(): number for number, name in enumerate(NAMES) if number}
_NODES: Final = {PARALLEL: "#pArAlLeLnOdE#", MPI: "#MpInOdE#"}


def universe_number(text: str) -> int:
    """Return the number of a universe, given by number or by name; 0 for none (CondorUniverseNumberEx)."""
    return leading_int(text) or _NUMBERS.get(text.lower(), 0)


def node_of(universe: str) -> str:
    """Return what $(Node) stands for in the jobs of a universe: the mark that the shadow replaces, or nothing."""
    return _NODES.get(universe_number(universe), "")
