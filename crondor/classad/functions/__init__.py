"""The built-in functions, by family; a name is found without regard to case."""

from __future__ import annotations

from crondor.classad.functions import contexts, moments, registry, texts
from crondor.classad.functions.registry import FUNCTIONS, CallArguments, Maker

__all__ = ["CallArguments", "contexts", "find_function", "moments", "registry", "texts"]


def find_function(name: str) -> Maker | None:
    """Return what makes closures of calls of a function; None: there is no such function, and a call is error."""
    return FUNCTIONS.get(name.lower())
