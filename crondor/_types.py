"""A value of the wrong type, told by the name of its parameter with what to write instead."""

from __future__ import annotations


def expect(name: str, value: object, kinds: type | tuple[type, ...], what: str, instead: str = "") -> None:
    """Raise TypeError where a value is none of some types; ``instead`` is what to do, a piece of a sentence."""
    if not isinstance(value, kinds):
        raise wrong_type(name, value, what, instead)


def wrong_type(name: str, value: object, what: str, instead: str = "") -> TypeError:
    """Return the error: what the parameter is, what was given, and what to write instead."""
    kind = "None" if value is None else type(value).__name__
    return TypeError(f"{name} is {what}, not {kind}{instead and f': {instead}'}")
