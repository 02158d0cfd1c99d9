"""Values compared by what made them, errors of wrong types, names imported on demand, and bounded memories."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from importlib import import_module
from typing import Generic, TypeVar


class Made:
    """A value that is compared, hashed, copied and pickled as the arguments of its constructor.

    Derived values are computed again in a copy: no closure, lock or cache is sent.
    """

    __slots__ = ()

    def _made_of(self) -> tuple[object, ...]:
        """Return the arguments of the class."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or self._made_of() == other._made_of()

    def __hash__(self) -> int:
        return hash(self._made_of())

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._made_of()


def expect(name: str, value: object, kinds: type | tuple[type, ...], what: str, instead: str = "") -> None:
    """Raise TypeError if a value is none of some types; ``instead`` is what to do, a part of a sentence."""
    if not isinstance(value, kinds):
        raise wrong_type(name, value, what, instead)


def wrong_type(name: str, value: object, what: str, instead: str = "") -> TypeError:
    """Return the error: what the parameter is, what was given, and what to write instead."""
    kind = "None" if value is None else type(value).__name__
    return TypeError(f"{name} is {what}, not {kind}{instead and f': {instead}'}")


def late(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package: ``homes`` has the late names of each module, with blanks."""
    space = vars(sys.modules[package])
    home = {name: module for module, names in homes.items() for name in names.split()}

    def getattr_(name: str) -> object:
        module = home.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value: object = getattr(import_module(module), name)
        space[name] = value
        return value

    def dir_() -> list[str]:
        return sorted({*space, *space["__all__"]})

    return getattr_, dir_


Kept = TypeVar("Kept")


class Memory(Generic[Kept]):
    """Cached answers to questions of their key alone; those unused in two consecutive turns are dropped."""

    def __init__(self) -> None:
        self._about: Hashable = None
        self._before: dict[Hashable, Kept] = {}
        self._now: dict[Hashable, Kept] = {}

    def turn(self) -> None:
        """Begin another turn."""
        self._before, self._now = self._now, {}

    def about(self, surroundings: Hashable) -> None:
        """Clear the cache if the answers were found in other surroundings."""
        if self._about != surroundings:
            self._about = surroundings
            self._before, self._now = {}, {}

    def get(self, key: Hashable) -> Kept | None:
        """Return the answer of a key, None if there is none."""
        found = self._now.get(key)
        if found is None:
            found = self._before.get(key)
            if found is not None:
                self._now[key] = found
        return found

    def keep(self, key: Hashable, answer: Kept) -> Kept:
        """Store an answer, and return it."""
        self._now[key] = answer
        return answer

    def ask(self, key: Hashable, find: Callable[[], Kept]) -> Kept:
        """Return the answer of a key, computing and storing a missing one."""
        found = self.get(key)
        return self.keep(key, find()) if found is None else found
