"""Diagnostics on stderr, in colour where a person is looking."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TextIO

from crondor.diagnostics import CrondorError, Diagnostic, render
from crondor_cli.common.journal import LEVELS, levelled
from crondor_cli.common.layout import screen_columns
from crondor_cli.common.output import Visible, say, styled, together
from crondor_cli.common.screen import SCREEN

_SEVERITY = r"\b(error|warning|note)(?=: )"
_UNDERLINE = re.compile(r"^ *\| *(\^+)$", re.MULTILINE)
SEVERITIES = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to stderr, one block each: those of a file in the order of its lines, those of none last."""
    for diagnostic in in_order(diagnostics):
        say(levelled(shown(diagnostic, sys.stderr), LEVELS[diagnostic.severity], sys.stderr), err=True)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics by their places, the sources as they come; what has no place is last."""
    found = list(diagnostics)
    names: dict[str, int] = {}
    for each in found:
        if each.span is not None:
            names.setdefault(each.span.source.name, len(names))

    def place(each: Diagnostic) -> tuple[int, int]:
        span = each.span
        return (len(names), 0) if span is None else (names[span.source.name], span.start)

    return sorted(found, key=place)


def shown(diagnostic: Diagnostic, stream: TextIO | None) -> str:
    """Return a diagnostic as it is written to a stream, in colour where a person looks."""
    text = render(diagnostic, screen_columns(stream))
    return coloured(text) if SCREEN.wants_colour(stream) else text


def show_error(error: CrondorError) -> None:
    """Write the diagnostics of an error to stderr."""
    show(error.diagnostics)


def coloured(text: str) -> Visible:
    """Return a rendered diagnostic with its severity and its underline in colour."""
    head, end, rest = text.partition("\n")
    found = re.search(_SEVERITY, head)
    if found is None:
        return together(text)
    colour = SEVERITIES[found[1]]
    severity = styled(found[1], colour=colour, bold=True)
    line = _UNDERLINE.search(rest)
    if line is not None:
        rest = together(rest[: line.start(1)], styled(line[1], colour=colour, bold=True), rest[line.end(1) :])
    return together(head[: found.start()], severity, head[found.end() :], end, rest)
