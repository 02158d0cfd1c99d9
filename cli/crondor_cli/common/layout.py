"""Text laid out for the screen it goes to: lines that fit, and columns that stack where they do not.

What goes to no terminal keeps its lines, however long: programs read lines, and people can search them. ``COLUMNS``
and the setting ``width`` overrule the width of a terminal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import TextIO

from crondor.diagnostics import columns_of
from crondor_cli.common.screen import SCREEN

PROSE = 100
"""Columns of a line of prose at most, however wide the screen is."""

FACTS = 108
"""The same for what stands behind the name of a fact."""

_NARROWEST = 20  # columns; a narrower screen gets lines of this width
_TOGETHER = 512  # rows
_BETWEEN = "\0"  # the cells of a row that is kept: what is printed has none
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HANGING = re.compile(r" *(?:= \w+: |[#*>-] |\S+(?: \S+){0,3}? {2,})?")  # a margin, and what a text hangs behind


def screen_columns(stream: TextIO | None) -> int | None:
    """Return how many columns the terminal behind a stream has, None where none is."""
    if stream is None or not stream.isatty():
        return None
    if SCREEN.width is not None:
        return SCREEN.width
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(_NARROWEST, int(given))
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(_NARROWEST, found) if found else None


def drawn_columns(stream: TextIO | None) -> int | None:
    """Return how many columns a line has that is to be written over: what was chosen, and never more than there are."""
    wanted = screen_columns(stream)
    if stream is None or wanted is None:
        return wanted
    try:
        return min(wanted, os.get_terminal_size(stream.fileno()).columns or wanted)
    except (OSError, ValueError):
        return wanted


def fitted(text: str, columns: int) -> str:
    """Return text with each line that is wider than a screen broken between words, what follows below its beginning."""
    if len(text) <= columns and text.isascii():
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, columns))


def prose(text: str, columns: int | None, first: str = "", below: str = "", most: int = PROSE) -> list[str]:
    """Return prose in lines that fit a screen of so many ``columns`` (None: there is none), and have ``most`` at most.

    ``first`` stands before the first line, ``below`` before each that follows.
    """
    return _words_in_lines(first + text, most if columns is None else min(most, columns), below)


def _broken(line: str, columns: int) -> list[str]:
    if len(line) <= columns and line.isascii():
        return [line]
    bare = _COLOUR.sub("", line) if "\x1b" in line else line
    if columns_of(bare) <= columns:
        return [line]
    found = _HANGING.match(bare)
    hang = found.end() if found is not None else 0
    margin = len(bare) - len(bare.lstrip(" "))
    behind = hang if margin < hang <= columns // 2 else min(margin + 4, columns // 2)
    return _words_in_lines(line, columns, " " * behind)


def _words_in_lines(line: str, columns: int, below: str) -> list[str]:
    """Break a line at single blanks; wider gaps, which line columns up, stay where they do not end a line."""
    lines: list[str] = []
    made, width = "", 0
    for piece in re.findall(r" *[^ ]+", line):
        size = columns_of(_COLOUR.sub("", piece))
        if made.strip() and width + size > columns:
            lines.append(made)
            word = piece.lstrip(" ")
            made, width = below + word, columns_of(below + _COLOUR.sub("", word))
        else:
            made, width = made + piece, width + size
    return [*lines, made]


def clipped(text: str, columns: int) -> str:
    """Return as much of a text of one line as fits into so many columns."""
    if len(text) <= columns and text.isascii():
        return text
    end = min(len(text), columns)
    while end and columns_of(text[:end]) > columns:
        end -= 1
    return text[:end]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return text filled with blanks to a width in columns, on its left for ``right``."""
    blanks = " " * max(0, width - columns_of(text))
    return blanks + text if right else text + blanks


def in_columns(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int | None = None,
    *,
    margin: str = "",
    right: Container[int] = (),
    plain: Container[str] = ("", "-"),
) -> list[str]:
    """Return rows in columns below their heads, those whose numbers are in ``right`` to the right.

    A row of one cell is a note on the row before, and stands below it. Where the columns do not all fit into
    ``columns`` of a screen, the last ones stand below each row with their names: nothing of a table is lost on a
    narrow terminal, but for cells that say nothing (``plain``). A head of empty names is not shown.
    """
    return list(columns_of_rows(head, rows, columns, margin=margin, right=right, plain=plain))


def columns_of_rows(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    columns: int | None = None,
    *,
    margin: str = "",
    right: Container[int] = (),
    plain: Container[str] = ("", "-"),
) -> Iterator[str]:
    """Yield the lines of ``in_columns``; rows are taken once, and kept as a text each till widths are known."""
    widths = [columns_of(name) for name in head]
    kept: list[str] = []
    for some in _batches(rows, _TOGETHER):
        kept += map(_BETWEEN.join, some)
        for i, column in enumerate(zip(*(row for row in some if len(row) > 1), strict=True)):
            size = len if "".join(column).isascii() else columns_of
            widths[i] = max(widths[i], *map(size, column))
    beside = _how_many_fit(widths, None if columns is None else columns - len(margin))
    signs = [("" if i in right else "-", widths[i]) for i in range(beside)]
    form = "  ".join(f"%{sign}{width}s" for sign, width in signs)

    def line(row: Sequence[str]) -> str:
        if "".join(row).isascii():
            return (margin + form % tuple(row[:beside])).rstrip()
        cells = (padded(row[i], widths[i], right=i in right) for i in range(beside))
        return (margin + "  ".join(cells)).rstrip()

    if any(head):
        yield line(head)
    for text in kept:
        row = text.split(_BETWEEN)
        if len(row) == 1:
            yield f"{margin}      {text}"
            continue
        yield line(row)
        if beside < len(row):
            below = [f"{head[i]}: {row[i]}".removeprefix(": ") for i in range(beside, len(row)) if row[i] not in plain]
            yield from _stacked(below, margin + "      ", columns)


def _batches(rows: Iterable[Sequence[str]], size: int) -> Iterator[list[Sequence[str]]]:
    rest = iter(rows)
    while some := list(islice(rest, size)):
        yield some


def _how_many_fit(widths: Sequence[int], room: int | None) -> int:
    taken = 0
    for number, width in enumerate(widths):
        taken += width + (2 if number else 0)
        if room is not None and taken > room:
            return max(1, number)
    return len(widths)


def _stacked(cells: Sequence[str], margin: str, columns: int | None) -> list[str]:
    lines: list[str] = []
    for cell in cells:
        joined = f"{lines[-1]}, {cell}" if lines else ""
        if lines and (columns is None or columns_of(joined) <= columns):
            lines[-1] = joined
        else:
            lines.append(margin + cell)
    return lines
