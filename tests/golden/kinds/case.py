"""One recorded line, strict access to its fields, and what a replay may find out about it."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_PROSE = frozenset({"name", "note", "origin", "source", "upstream_defect"})  # said in any recording, never compared
_ABSENT = object()
_SHOWN = 300  # characters of a value


class Difference(NamedTuple):
    """One field in which recording and crondor part, or that the recording has wrong."""

    field: str
    text: str


class Malformed(ValueError):
    """A field of the line is missing, unknown, of the wrong shape, or contradicts another."""

    def __init__(self, field: str, text: str) -> None:
        """Name the field, and say what is wrong with it."""
        super().__init__(field, text)
        self.difference = Difference(field, f"malformed recording: {text}")


class NotApplicable(Exception):
    """The line is well-formed and this kind has nothing to compare in it; the argument says why."""


@dataclass(frozen=True)
class Case:
    """A line of a recording: its number, its id in a list of accepted differences, and what it holds.

    ``folder`` is where the recording lies: files that the line names lie there too. ``repeated`` is a field that
    stands twice in an object of the line.
    """

    number: int
    id: str
    value: object
    folder: Path
    repeated: str | None = None

    def record(self, required: Collection[str], optional: Collection[str] = ()) -> Mapping[str, object]:
        """Return the line's fields. Raises Malformed unless all required ones are there and no unknown ones."""
        if self.repeated is not None:
            raise Malformed(self.repeated, "stands twice in one object")
        if not isinstance(self.value, dict):
            raise Malformed("line", f"an object is expected, not {shown(self.value)}")
        check_fields(self.value, required, {*optional, *_PROSE})
        return self.value


Replay = Callable[[Case], list[Difference]]


def check_fields(found: Collection[str], required: Collection[str], optional: Collection[str] = ()) -> None:
    """Raise Malformed unless all required fields are there and all others are optional."""
    for field in required:
        if field not in found:
            raise Malformed(field, "is missing")
    for field in found:
        if field not in required and field not in optional:
            raise Malformed(field, "is no field of this kind here: nothing would compare it")


def text(record: Mapping[str, object], field: str) -> str:
    """Return a field that is text. Raises Malformed."""
    value = record[field]
    if not isinstance(value, str):
        raise Malformed(field, f"text is expected, not {shown(value)}")
    return value


def optional_text(record: Mapping[str, object], field: str) -> str | None:
    """Return a field that is text or null. Raises Malformed."""
    return None if record[field] is None else text(record, field)


def one_of(record: Mapping[str, object], field: str, allowed: Collection[str]) -> str:
    """Return a field that is one of some words. Raises Malformed."""
    value = text(record, field)
    if value not in allowed:
        raise Malformed(field, f"one of {', '.join(sorted(allowed))} is expected, not {shown(value)}")
    return value


def integer(value: object, field: str) -> int:
    """Return a value that is an integer (true and 1.0 are none). Raises Malformed."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(field, f"an integer is expected, not {shown(value)}")
    return value


def items(record: Mapping[str, object], field: str, lengths: Collection[int] | None = None) -> list[object]:
    """Return a field that is a list, of one of some lengths. Raises Malformed."""
    value = record[field]
    if not isinstance(value, list):
        raise Malformed(field, f"a list is expected, not {shown(value)}")
    if lengths is not None and len(value) not in lengths:
        expected = " or ".join(map(str, sorted(lengths)))
        raise Malformed(field, f"{expected} entries are expected, not {len(value)}")
    return value


def texts(record: Mapping[str, object], field: str) -> list[str]:
    """Return a field that is a list of texts. Raises Malformed."""
    return [text({f"{field}[{n}]": item}, f"{field}[{n}]") for n, item in enumerate(items(record, field))]


def mapping(record: Mapping[str, object], field: str) -> dict[str, object]:
    """Return a field that is an object. Raises Malformed."""
    value = record[field]
    if not isinstance(value, dict):
        raise Malformed(field, f"an object is expected, not {shown(value)}")
    return value


def compare(field: str, expected: object, said: object) -> list[Difference]:
    """Return where two JSON values part: exactly equal or not, types included, objects and lists item by item."""
    return list(_differences(field, expected, said))


def shown(value: object) -> str:
    """Return a value as JSON in ASCII, shortened."""
    if value is _ABSENT:
        return "nothing"
    whole = json.dumps(value, sort_keys=True, default=repr)
    return whole if len(whole) <= _SHOWN else whole[:_SHOWN] + "..."


def _differences(field: str, expected: object, said: object) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(said, dict):
        for name in {**expected, **said}:
            inner = f"{field}.{name}" if field else name
            yield from _differences(inner, expected.get(name, _ABSENT), said.get(name, _ABSENT))
    elif isinstance(expected, list) and isinstance(said, list) and len(expected) == len(said):
        for n, (one, other) in enumerate(zip(expected, said, strict=True)):
            yield from _differences(f"{field}[{n}]", one, other)
    elif type(expected) is not type(said) or expected != said:
        yield Difference(field, f"recorded {shown(expected)}, crondor says {shown(said)}")
