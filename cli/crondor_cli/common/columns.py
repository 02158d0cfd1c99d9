"""Columns and counted nouns: tables of text for people."""

from __future__ import annotations

from crondor.diagnostics import printable
from crondor_cli.common.output import echo_lines

_WIDEST = 40  # characters of a cell that comes from an ad


def print_rows(head: list[str], rows: list[list[str]]) -> None:
    """Print rows in columns below their heads; a row of one cell stands below the row before, indented."""
    widths = list(map(len, head))
    for row in rows:
        if len(row) > 1:
            widths = list(map(max, widths, map(len, row)))
    echo_lines(_line(row, widths) for row in (head, *rows))


def _line(row: list[str], widths: list[int]) -> str:
    if len(row) == 1:
        return f"      {row[0]}"
    return "  ".join(map(str.ljust, row, widths)).rstrip()


def cell(text: str | None) -> str:
    """Return an ad's text as a cell."""
    shown = printable(text or "-")
    return shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 3]}..."


def plural(count: int, word: str) -> str:
    """Return ``1 job``, ``1,200 jobs``."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
