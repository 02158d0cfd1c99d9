"""JSON and CSV. Long output goes out in pieces, so that the whole is never in memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from crondor_cli.common.output import echo_pieces, emit, say

_PIECE = 1 << 16  # characters
_ENCODER = json.JSONEncoder(indent=2)


def echo_json(data: Mapping[str, object]) -> None:
    """Print an object as ``json.dumps(data, indent=2)`` does; an iterator becomes an array.

    It may be a value of the object, of objects within that, or of the items of another such array.
    """
    echo_pieces(chain(_object(data, ""), "\n"))


def say_json(data: object) -> None:
    """Write a value as one line of JSON; no terminal breaks it."""
    say(json.dumps(data), fits=False)


def echo_csv(rows: Iterable[Sequence[object]]) -> None:
    """Print rows as comma-separated values, each with a line end."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        if lines.tell() >= _PIECE:
            emit(lines.getvalue())
            lines.seek(0)
            lines.truncate()
    emit(lines.getvalue())


def _pieces(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Iterator):
        yield from _array(value, indent)
    elif isinstance(value, Mapping) and _streams(value):
        yield from _object(value, indent)
    else:  # a string of JSON has no line end
        yield _ENCODER.encode(value).replace("\n", f"\n{indent}")


def _streams(data: Mapping[str, object]) -> bool:
    """Say whether there is an iterator in an object, or in one within."""
    return any(hasattr(each, "__next__") or (isinstance(each, dict) and _streams(each)) for each in data.values())


def _object(data: Mapping[str, object], indent: str) -> Iterator[str]:
    before = "{"
    for key, value in data.items():
        yield f"{before}\n{indent}  {json.dumps(key)}: "
        yield from _pieces(value, f"{indent}  ")
        before = ","
    yield f"\n{indent}}}"


def _array(items: Iterator[object], indent: str) -> Iterator[str]:
    before = "["
    for item in items:
        yield f"{before}\n{indent}  "
        yield from _pieces(item, f"{indent}  ")
        before = ","
    yield "[]" if before == "[" else f"\n{indent}]"
