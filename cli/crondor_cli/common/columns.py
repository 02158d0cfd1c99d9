"""Columns and counted nouns: tables of text for people."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from crondor.diagnostics import printable, shortened
from crondor_cli.common.layout import in_columns, screen_columns
from crondor_cli.common.output import echo_lines, marked
from crondor_cli.common.show import SEVERITIES

_WIDEST = 40  # characters of a cell that comes from an ad


def print_rows(head: list[str], rows: list[list[str]], colours: Mapping[str, str] | None = None) -> None:
    """Print rows in columns below their heads; a row of one cell stands below the row before, indented.

    ``colours`` are those of words that may be a cell; the severity of a finding has its own.
    """
    colours = {**(colours or {}), **SEVERITIES}
    lines = in_columns(head, rows, screen_columns(sys.stdout))
    words = "|".join(map(re.escape, colours))
    pattern = re.compile(rf"(?<=  )(?:{words})(?=  | \(|$)|(?<=^ {{6}})(?:{'|'.join(SEVERITIES)})(?=: )")
    echo_lines(marked(line, pattern, colours) for line in lines)


def cell(text: str | None) -> str:
    """Return an ad's text as a cell."""
    shown = printable(text or "-")
    return shortened(shown, _WIDEST)


def plural(count: int, word: str) -> str:
    """Return ``1 job``, ``1,200 jobs``."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
