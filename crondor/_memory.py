"""Answers kept from one look at a text to the next, of which most is the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Memory(Generic[Kept]):
    """The answers to questions that depend on nothing but their key.

    What two looks in a row did not ask for is forgotten, so that it holds no more than two of them needed.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._about: Hashable = None
        self._before: dict[Hashable, Kept] = {}
        self._now: dict[Hashable, Kept] = {}

    def turn(self) -> None:
        """Begin another look."""
        self._before, self._now = self._now, {}

    def about(self, surroundings: Hashable) -> None:
        """Forget everything if the answers were found in other surroundings."""
        if self._about != surroundings:
            self._about = surroundings
            self._before, self._now = {}, {}

    def get(self, key: Hashable) -> Kept | None:
        """Return what is known under a key, None for nothing."""
        found = self._now.get(key)
        if found is None:
            found = self._before.get(key)
            if found is not None:
                self._now[key] = found
        return found

    def keep(self, key: Hashable, answer: Kept) -> Kept:
        """Keep an answer, and return it."""
        self._now[key] = answer
        return answer

    def ask(self, key: Hashable, find: Callable[[], Kept]) -> Kept:
        """Return what is known under a key; what is not is found, and kept."""
        found = self.get(key)
        return self.keep(key, find()) if found is None else found
