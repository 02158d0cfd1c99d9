"""What a text may cost: every bound of the ClassAd engine in one place, HTCondor's own where it has one."""

from __future__ import annotations

from typing import Final

MAX_TEXT: Final = 4 << 20
"""Characters of one expression or ad."""

MAX_TOKENS: Final = 200_000
"""Tokens of one expression or ad."""

MAX_NESTING: Final = 500
"""HTCondor's bound on the depth of its recursive parser; a pair of parentheses takes three."""

MAX_DEPTH: Final = 400
"""HTCondor's bound on the depth of evaluation: operators and attributes under way at one time."""

MAX_STEPS: Final = 2_000_000
"""The work of one evaluation, counted in nodes: a second or two. HTCondor allows ten million, a third of a second."""

MAX_STRING: Final = 4 << 20
"""Characters of a string an expression makes. HTCondor has no bound."""

MAX_LIST: Final = 100_000
"""Members of a list an expression makes. HTCondor has no bound."""

MAX_CACHED_TEXT: Final = 16 << 10
"""Longer texts are read anew each time: few of them would fill the cache."""

MAX_CACHED: Final = 8192
"""Distinct texts kept read and compiled."""

MAX_REFERENCES: Final = 100_000
"""Attributes looked at to collect the references of one expression."""
