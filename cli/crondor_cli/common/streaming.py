"""Output of any length: lines and JSON that go out in pieces, so that no whole of them is ever in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from crondor_cli.common.output import say

_PIECE = 1 << 16  # characters written at once


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    echo_pieces(f"{line}\n" for line in lines)


def echo_json(data: Mapping[str, object]) -> None:
    """Print an object as ``json.dumps(data, indent=2)`` does; a value that is an iterator becomes an array."""
    echo_pieces(_json(data))


def echo_pieces(pieces: Iterable[str]) -> None:
    """Print pieces of text, as they are."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            say("".join(waiting), nl=False)
            waiting, size = [], 0
    say("".join(waiting), nl=False)


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
