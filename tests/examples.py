"""How many examples Hypothesis tries: few in each run, and CRONDOR_EXAMPLES times as many to look for faults."""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("CRONDOR_EXAMPLES", "1"))


def examples(most: int) -> settings:
    """Return the settings of a property that tries so many examples, or CRONDOR_EXAMPLES times as many."""
    return settings(max_examples=most * TIMES)
