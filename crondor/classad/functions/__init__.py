"""The built-in functions, by family; a name is found without regard to case."""

from __future__ import annotations

from crondor.classad.functions import (  # noqa: F401 - each declares its functions
    contexts,
    environment,
    lists,
    moments,
    numbers,
    patterns,
    stringlists,
    strings,
    types,
)
from crondor.classad.functions.registry import FUNCTIONS, CallArguments, Maker

__all__ = ["CallArguments", "find_function"]


def find_function(name: str) -> Maker | None:
    """Return what makes closures of calls of a function; None: there is no such function, and a call is error."""
    return FUNCTIONS.get(name.lower())
