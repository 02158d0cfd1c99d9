"""The universes that UNIVERSE names, by name and number (HTCondor: CondorUniverseName)."""

from __future__ import annotations

import re

UNIVERSES = (
    *("", "STANDARD", "PIPE", "LINDA", "PVM", "VANILLA", "PVMD", "SCHEDULER", "MPI", "GRID", "JAVA", "PARALLEL"),
    *("LOCAL", "VM"),
)
"""The name of each universe at its number, as CondorUniverseName() has it; nothing at 0."""


def universe_number(text: str) -> int:
    """Return the universe that a UNIVERSE statement names, by number or by name; 0 for none, which counts as unset."""
    found = re.match(r"[ \t\r\n\v\f]*([-+]?[0-9]{1,9})", text)
    if found is not None and int(found[1]):
        return int(found[1])
    name = text.upper()
    return UNIVERSES.index(name) if name in UNIVERSES else 0


def universe_name(number: int) -> str:
    """Return the name of a universe, UNKNOWN for a number without one."""
    return UNIVERSES[number] if 0 < number < len(UNIVERSES) else "UNKNOWN"
