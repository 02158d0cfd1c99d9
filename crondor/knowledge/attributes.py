"""The attributes that job and machine ads have, by name (HTCondor: condor_attributes.h and the manual)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Final

from crondor._named_tuple import NamedTuple
from crondor.knowledge.rows import rows
from crondor.knowledge.slips import one_slip


class AttributeType(Enum):
    """What an attribute's value is; the value is the word to show."""

    STRING = "string"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TIME = "time"
    SECONDS = "seconds"
    LIST = "list"
    AD = "ad"
    EXPRESSION = "expression"


class Attribute(NamedTuple):
    """An attribute: its name as HTCondor writes it, what its value is, and a sentence.

    A name with ``<X>`` or ``<N>`` stands for many, with any word or number there: ``Request<X>``.
    """

    name: str
    type: AttributeType
    sentence: str


class AttributeTable:
    """The attributes of one type of ad; names are looked up whatever their case."""

    def __init__(self, attributes: Iterator[Attribute]) -> None:
        """Take the attributes, those that stand for many after the others."""
        self._named: dict[str, Attribute] = {}
        self._many: list[tuple[re.Pattern[str], Attribute]] = []
        for attribute in attributes:
            if "<" in attribute.name:
                self._many.append((_pattern(attribute.name), attribute))
            else:
                self._named[attribute.name.lower()] = attribute

    def __iter__(self) -> Iterator[Attribute]:
        """Iterate over the attributes that have one name."""
        return iter(self._named.values())

    def __len__(self) -> int:
        """Return how many attributes with one name there are."""
        return len(self._named)

    def __contains__(self, name: str) -> bool:
        """Say whether a name is that of an attribute, or of one that stands for many."""
        return self.get(name) is not None

    def get(self, name: str) -> Attribute | None:
        """Return the attribute of a name, or the one that stands for it, None for a name that is not known."""
        found = self._named.get(name.lower())
        if found is None:
            found = next((attribute for pattern, attribute in self._many if pattern.fullmatch(name)), None)
        return found

    def is_one(self, name: str) -> bool:
        """Say whether a name is that of one attribute, and not of one that stands for many."""
        return name.lower() in self._named

    def near(self, name: str) -> list[Attribute]:
        """Return the attributes whose names are one slip of the hand away from a name: see one_slip."""
        return [attribute for key, attribute in self._named.items() if one_slip(name.lower(), key)]

    def names(self) -> Iterator[str]:
        """Iterate over the names, as HTCondor writes them, of attributes that have one."""
        return (attribute.name for attribute in self._named.values())


_WILD: Final = {"<X>": r"\w+", "<N>": r"\d+"}


def _pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"(<[XN]>)", name)
    return re.compile("".join(_WILD.get(part, re.escape(part)) for part in parts), re.IGNORECASE | re.ASCII)


@cache
def job_attributes() -> AttributeTable:
    """Return the attributes that a job's ad may have."""
    return AttributeTable(_read("job_attributes.txt"))


@cache
def machine_attributes() -> AttributeTable:
    """Return the attributes that the ad of a machine's slot may have."""
    return AttributeTable(_read("machine_attributes.txt"))


def _read(table: str) -> Iterator[Attribute]:
    for name, kind, sentence in rows(table):
        yield Attribute(name, AttributeType(kind), sentence)
