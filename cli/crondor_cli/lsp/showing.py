"""Findings as the protocol has them: diagnostics with their code, its page, and other places."""

from __future__ import annotations

import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
)

from crondor.check import Finding, address
from crondor.diagnostics import Severity
from crondor_cli.lsp.positions import Positions, TextOnScreen

SOURCE: Final = "crondor"
MOST: Final = 1000  # of one text; an editor shows no more, and a file may be made to have thousands
_SEVERITIES: Final = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.NOTE: DiagnosticSeverity.Information,
}
_PAGES: Final = ("crondor.check.pages", "crondor.router.rules.pages")


def shown(finding: Finding, text: TextOnScreen) -> Diagnostic:
    """Return a finding; one about a file that the text includes stands at the line that includes it, with its place."""
    found = finding.diagnostic
    span = found.span
    related = None
    start = end = 0
    message = found.message
    if span is not None and span.source is text.source:
        start, end = span.start, span.end
    elif span is not None:
        start, end = _naming(text, span.source.name)
        place = Location(
            Path(os.path.abspath(span.source.name)).as_uri(), Positions(span.source.text, text.encoding).range_of(span)
        )
        related = [DiagnosticRelatedInformation(place, message)]
        message = f"{span.location}: {message}"
    return Diagnostic(
        range=text.places.range(start, end),
        message=f"{message}\nhelp: {found.help}" if found.help else message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=_description(found.code),
        source=SOURCE,
        related_information=related,
    )


def page_uri(code: str) -> str | None:
    """Return where the page of a rule can be opened: on the web, else beside the program; None where it has none."""
    web = address(code)
    if web.startswith(("http://", "https://")):
        return web
    for package in _PAGES:
        page = Path(str(resources.files(package) / f"{code}.md"))
        if page.is_file():
            return page.as_uri()
    return None


@cache
def _description(code: str) -> CodeDescription | None:
    uri = page_uri(code) if code.isalnum() else None
    return None if uri is None else CodeDescription(uri)


def _naming(text: TextOnScreen, name: str) -> tuple[int, int]:
    """Return the piece of a text that names a file, its first line where none does."""
    last = os.path.basename(name)
    at = text.source.text.find(last) if last else -1
    return (at, at + len(last)) if at >= 0 else (0, text.places.line_end(0))
