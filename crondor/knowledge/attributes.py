"""The attributes that job and machine ads have, and GPUs, by name (HTCondor: condor_attributes.h and the manual)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

from crondor._types import Made
from crondor.knowledge.rows import columns, lines
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


class AttributeTable(Made):
    """The attributes of one type of ad; names are looked up whatever their case.

    An attribute is made of its row when it is asked for: of hundreds a description has a few.
    """

    def __init__(self, table: Iterable[str]) -> None:
        """Take the rows: name, type and sentence."""
        self._rows: dict[str, str] = {}
        self._many: list[tuple[str, str, str]] = []  # those that stand for many: how they begin and end, and the row
        for row in table:
            name = row[: row.index(" ")].lower()
            if "<" in name:
                self._many.append((name[: name.index("<")], name[name.rindex(">") + 1 :], row))
            else:
                self._rows[name] = row

    def __repr__(self) -> str:
        """Return the number of attributes."""
        return f"<AttributeTable of {len(self)} attributes>"

    def _made_of(self) -> tuple[object, ...]:
        return ((*self._rows.values(), *(row for _, _, row in self._many)),)

    def __iter__(self) -> Iterator[Attribute]:
        """Iterate over the attributes that have one name."""
        return map(_attribute, self._rows.values())

    def __len__(self) -> int:
        """Return how many attributes with one name there are."""
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Say whether a name is that of an attribute, or of one that stands for many."""
        return self.get(name) is not None

    def get(self, name: str) -> Attribute | None:
        """Return the attribute of a name, or the one that stands for it, None for a name that is not known."""
        small = name.lower()
        row = self._rows.get(small)
        if row is not None:
            return _attribute(row)
        many = (_attribute(row) for begin, end, row in self._many if small.startswith(begin) and small.endswith(end))
        return next((each for each in many if _pattern(each.name).fullmatch(name)), None)

    def is_one(self, name: str) -> bool:
        """Say whether a name is that of one attribute, and not of one that stands for many."""
        return name.lower() in self._rows

    def near(self, name: str) -> list[Attribute]:
        """Return the attributes whose names are one slip of the hand away from a name: see one_slip."""
        return [_attribute(row) for key, row in self._rows.items() if one_slip(name.lower(), key)]

    def names(self) -> Iterator[str]:
        """Iterate over the names, as HTCondor writes them, of attributes that have one."""
        return (row[: row.index(" ")] for row in self._rows.values())


_WILD: Final = {"<X>": r"\w+", "<N>": r"\d+"}


@cache
def _pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"(<[XN]>)", name)
    return re.compile("".join(_WILD.get(part, re.escape(part)) for part in parts), re.IGNORECASE | re.ASCII)


@cache
def job_attributes() -> AttributeTable:
    """Return the attributes that a job's ad may have."""
    return AttributeTable(lines("job_attributes.txt"))


@cache
def machine_attributes() -> AttributeTable:
    """Return the attributes that the ad of a machine's slot may have."""
    return AttributeTable(lines("machine_attributes.txt"))


@cache
def gpu_properties() -> AttributeTable:
    """Return the properties of a GPU, which are the ad that ``require_gpus`` is evaluated in."""
    return AttributeTable(lines("gpu_properties.txt"))


@cache
def _attribute(row: str) -> Attribute:
    name, kind, sentence = columns(row)
    return Attribute(name, AttributeType(kind), sentence)
