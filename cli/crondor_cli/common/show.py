"""Diagnostics on stderr, in colour where a person is looking."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TextIO

from crondor.diagnostics import CrondorError, Diagnostic, render
from crondor_cli.common.layout import screen_columns
from crondor_cli.common.output import Visible, say, styled, together

_SEVERITY = r"\b(error|warning|note)(?=: )"
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to stderr, one block each."""
    for diagnostic in diagnostics:
        say(shown(diagnostic, sys.stderr), err=True)


def shown(diagnostic: Diagnostic, stream: TextIO | None) -> str:
    """Return a diagnostic as it is written to a stream, in colour where a person looks."""
    text = render(diagnostic, screen_columns(stream))
    return coloured(text) if wants_colour(stream) else text


def show_error(error: CrondorError) -> None:
    """Write the diagnostics of an error to stderr."""
    show(error.diagnostics)


def wants_colour(stream: TextIO | None) -> bool:
    """Say whether a person looks at a stream, on a terminal that has colours, and has not asked for none."""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def coloured(text: str) -> Visible:
    """Return a rendered diagnostic with its severity in colour."""
    head, end, rest = text.partition("\n")
    found = re.search(_SEVERITY, head)
    if found is None:
        return together(text)
    severity = styled(found[1], colour=_COLOURS[found[1]], bold=True)
    return together(head[: found.start()], severity, head[found.end() :], end, rest)
