"""The knobs of HTCondor's configuration that jobs, their schedd and a job router meet, by name and by release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

from crondor._types import Made
from crondor.knowledge.releases import NEWEST, Releases
from crondor.knowledge.rows import rows

JOB_ROUTER: Final = "job router"
"""Whose knobs a job router reads; the table has all of them."""


class KnobKind(Enum):
    """What a knob's value is."""

    STRING = "string"
    PATH = "path"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    EXPRESSION = "expression"
    NAMES = "list of names"
    TRANSFORM = "transform"
    CLASSADS = "ClassAds"


class ConfigKnob(NamedTuple):
    """A knob: ``<name>`` in its name stands for any. ``default`` is as one would write it, empty: unset.

    ``whose`` is the daemon or tool that reads it.
    """

    name: str
    kind: KnobKind
    default: str
    whose: str
    releases: Releases
    sentence: str

    @property
    def is_removed(self) -> bool:
        """Whether the newest release does not look at it any more."""
        return NEWEST not in self.releases


class KnobTable(Made):
    """The knobs; names are looked up whatever their case."""

    def __init__(self, knobs: Iterable[ConfigKnob]) -> None:
        """Take the knobs."""
        self._all = tuple(knobs)
        self._named = {knob.name.lower(): knob for knob in self._all if "<" not in knob.name}
        self._many = [(_pattern(knob.name), knob) for knob in self._all if "<" in knob.name]

    def __repr__(self) -> str:
        """Return the number of knobs."""
        return f"<KnobTable of {len(self)} knobs>"

    def _made_of(self) -> tuple[object, ...]:
        return (self._all,)

    def __iter__(self) -> Iterator[ConfigKnob]:
        """Iterate over the knobs, the job router's first."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return how many knobs there are."""
        return len(self._all)

    def get(self, name: str) -> ConfigKnob | None:
        """Return the knob of a name, or the one that stands for it, None for a name that is not known.

        What a daemon alone is told, ``SCHEDD.NAME``, is the knob NAME.
        """
        key = name.lower().rpartition(".")[2]
        found = self._named.get(key)
        return found or next((knob for pattern, knob in self._many if pattern.fullmatch(key)), None)


@cache
def config_knobs() -> KnobTable:
    """Return the knobs of HTCondor 23.0 to the newest that crondor knows."""
    return KnobTable(_read())


def _read() -> Iterator[ConfigKnob]:
    for name, kind, default, whose, releases, sentence in rows("config_knobs.txt"):
        yield ConfigKnob(
            name, KnobKind(kind), "" if default == "-" else default, whose, Releases.parse(releases), sentence
        )


def _pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"(<\w+>)", name.lower())
    return re.compile("".join(_WILD.get(part, r"\w+") if part[:1] == "<" else re.escape(part) for part in parts))


_WILD: Final = {"<n>": r"\d+"}
