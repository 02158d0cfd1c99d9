"""Columns and counted nouns: tables of text for people."""

from __future__ import annotations

import sys

from crondor.diagnostics import printable
from crondor_cli.common.layout import in_columns, screen_columns
from crondor_cli.common.output import echo_lines

_WIDEST = 40  # characters of a cell that comes from an ad


def print_rows(head: list[str], rows: list[list[str]]) -> None:
    """Print rows in columns below their heads; a row of one cell stands below the row before, indented."""
    echo_lines(in_columns(head, rows, screen_columns(sys.stdout)))


def cell(text: str | None) -> str:
    """Return an ad's text as a cell."""
    shown = printable(text or "-")
    return shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 3]}..."


def plural(count: int, word: str) -> str:
    """Return ``1 job``, ``1,200 jobs``."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
