"""Diagnostics on stderr, in colour where a person is looking."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

import click

from crondor.diagnostics import CrondorError, Diagnostic, render

_SEVERITY = re.compile(r"\b(error|warning|note)(?=: )")
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to stderr, one block each."""
    for diagnostic in diagnostics:
        text = render(diagnostic)
        click.echo(_coloured(text) if _wants_colour() else text, err=True)


def show_error(error: CrondorError) -> None:
    """Write the diagnostics of an error to stderr."""
    show(error.diagnostics)


def _wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _coloured(text: str) -> str:
    head, _, rest = text.partition("\n")
    head = _SEVERITY.sub(lambda found: click.style(found[1], fg=_COLOURS[found[1]], bold=True), head, count=1)
    return f"{head}\n{rest}" if rest else head
