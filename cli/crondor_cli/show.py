"""Diagnostics on stderr, in colour where a person is looking."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from crondor.diagnostics import CrondorError, Diagnostic, render

_SEVERITY = re.compile(r"\b(error|warning|note)(?=: )")
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to stderr, one block each."""
    for diagnostic in diagnostics:
        text = render(diagnostic)
        click.echo(coloured(text) if wants_colour(sys.stderr) else text, err=True)


def show_error(error: CrondorError) -> None:
    """Write the diagnostics of an error to stderr."""
    show(error.diagnostics)


def wants_colour(stream: TextIO | None) -> bool:
    """Say whether a person looks at a stream, on a terminal that has colours, and has not asked for none."""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def coloured(text: str) -> str:
    """Return a rendered diagnostic with its severity in colour."""
    head, _, rest = text.partition("\n")
    head = _SEVERITY.sub(lambda found: click.style(found[1], fg=_COLOURS[found[1]], bold=True), head, count=1)
    return f"{head}\n{rest}" if rest else head
