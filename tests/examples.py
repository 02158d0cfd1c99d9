"""How many examples are tried: few in each run, and CRONDOR_EXAMPLES times as many to look for faults."""

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

TIMES = int(os.environ.get("CRONDOR_EXAMPLES", "1"))
_T = TypeVar("_T")


def examples(most: int) -> settings:
    """Return the settings of a property that tries so many examples, or CRONDOR_EXAMPLES times as many."""
    return settings(max_examples=most * TIMES)


def some(cases: Sequence[_T], most: int) -> Sequence[_T]:
    """Return so many cases, from all over them, or CRONDOR_EXAMPLES times as many."""
    return cases[:: max(1, len(cases) // (most * TIMES))]
