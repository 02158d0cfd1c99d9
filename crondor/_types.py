"""Values that are what they were made of; and a value of the wrong type, told by the name of its parameter."""

from __future__ import annotations


class Made:
    """A value that is compared, hashed, copied and pickled as the arguments that make it.

    What was worked out of them is worked out again where a copy is used: no closure, lock or cache is sent.
    """

    __slots__ = ()

    def _made_of(self) -> tuple[object, ...]:
        """Return the arguments of the class."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Compare what two values of one class were made of."""
        if type(self) is not type(other):
            return NotImplemented
        return self is other or self._made_of() == other._made_of()

    def __hash__(self) -> int:
        """Hash what it was made of."""
        return hash(self._made_of())

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle as a call of the class."""
        return type(self), self._made_of()


def expect(name: str, value: object, kinds: type | tuple[type, ...], what: str, instead: str = "") -> None:
    """Raise TypeError where a value is none of some types; ``instead`` is what to do, a piece of a sentence."""
    if not isinstance(value, kinds):
        raise wrong_type(name, value, what, instead)


def wrong_type(name: str, value: object, what: str, instead: str = "") -> TypeError:
    """Return the error: what the parameter is, what was given, and what to write instead."""
    kind = "None" if value is None else type(value).__name__
    return TypeError(f"{name} is {what}, not {kind}{instead and f': {instead}'}")
