"""The built-in functions, by family; names ignore case."""

from __future__ import annotations

from crondor.classad.functions import contexts, moments, registry, texts
from crondor.classad.functions.registry import FUNCTIONS, CallArguments, Maker

__all__ = ["CallArguments", "contexts", "find_function", "moments", "registry", "texts"]


def find_function(name: str) -> Maker | None:
    """Return the maker of closures for calls of a function; None: it is unknown, and a call is error."""
    return FUNCTIONS.get(name.lower())
