"""What each name meant at each moment of a submit description (HTCondor: insert_macro)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from crondor.source import Source, Span


class Definition(NamedTuple):
    """One assignment: the unexpanded text of the value, and the place it is written at."""

    version: int
    text: str
    span: Span


class Lost(NamedTuple):
    """A value that another one of the same file replaces, before a job or a line has seen it."""

    key: str
    earlier: Definition
    later: Definition


class Table:
    """All assignments of a file; ``version`` counts them, so a version is a moment between two lines.

    A queue statement keeps its version, not a copy: that makes a million queue statements cheap.
    """

    __slots__ = ("_assigned", "_history", "_kept", "_names", "has_prefixes", "lost", "source", "version")

    def __init__(self, source: Source) -> None:
        """Begin with nothing defined; ``source`` is the submit file itself, not one that it includes."""
        self.source = source
        self.version = 0
        self.has_prefixes = False
        self.lost: list[Lost] = []
        self._history: dict[str, list[Definition]] = {}
        self._names: dict[str, Span] = {}
        self._assigned: list[str] = []
        self._kept = 0

    def define(self, key: str, text: str, place: Span, name: Span | None = None) -> None:
        """Assign ``text`` to a lower-case key; ``place`` is where it is written, ``name`` where the key is."""
        self.version += 1
        self._assigned.append(key)
        definition = Definition(self.version, text, place)
        history = self._history.setdefault(key, [])
        if history and history[-1].version > self._kept:
            history[-1] = definition
        else:
            history.append(definition)
        if name is not None:
            self._names.setdefault(key, name)
        self.has_prefixes = self.has_prefixes or key.startswith(PREFIX)

    def unseen(self, key: str) -> Definition | None:
        """Return what a key means now if no queue statement has kept it, so that a definition would replace it."""
        history = self._history.get(key)
        return history[-1] if history and history[-1].version > self._kept else None

    def definitions(self) -> Iterator[tuple[str, Definition]]:
        """Yield every definition that a queue statement kept, and the last of each key, by lower-case key."""
        for key, history in self._history.items():
            for definition in history:
                yield key, definition

    def assigned(self, after: int, until: int) -> frozenset[str]:
        """Return the keys that were assigned after a version, until another."""
        return frozenset(self._assigned[after:until])

    def keep(self) -> int:
        """Return the present version, which can be asked for from now on."""
        self._kept = self.version
        return self.version

    def at(self, key: str, version: int) -> Definition | None:
        """Return what a key meant at a version that was kept, or at the end of the file."""
        history = self._history.get(key)
        if not history:
            return None
        if history[-1].version <= version:
            return history[-1]
        index = bisect_right(history, version, key=_version_of)
        return history[index - 1] if index else None

    def name(self, key: str) -> Span | None:
        """Return where a key was first written, None if never."""
        return self._names.get(key)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys that the file assigns, in the order of their first assignment."""
        return iter(self._names)


PREFIX = "submit."
"""What a name may begin with to be looked at first: SUBMIT is condor_submit's own name in configurations."""


def _version_of(definition: Definition) -> int:
    return definition.version
