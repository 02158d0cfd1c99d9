"""JSON of any length, which goes out in pieces, so that no whole of it is ever in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from crondor_cli.common.output import echo_pieces


def echo_json(data: Mapping[str, object]) -> None:
    """Print an object as ``json.dumps(data, indent=2)`` does; a value that is an iterator becomes an array."""
    echo_pieces(_json(data))


def _json(data: Mapping[str, object]) -> Iterator[str]:
    before = "{\n"
    for key, value in data.items():
        yield f"{before}  {json.dumps(key)}: "
        if isinstance(value, Iterator):
            yield from _array(value)
        else:
            yield _indented(value, "  ")
        before = ",\n"
    yield "\n}\n"


def _array(items: Iterator[object]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield f"{before}    {_indented(item, '    ')}"
        before = ",\n"
    yield "[]" if before == "[\n" else "\n  ]"


def _indented(value: object, indent: str) -> str:
    return json.dumps(value, indent=2).replace("\n", f"\n{indent}")  # a string of JSON has no line end
