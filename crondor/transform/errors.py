"""The error of transform rules, and where findings are gathered while reading goes on."""

from __future__ import annotations

import re

from crondor.diagnostics import CrondorError, Diagnostic, Severity, shortened
from crondor.macro.errors import MacroError
from crondor.source import Source, Span

_NO_TEXT = re.compile("[\\0\\ud800-\\udc7f\\udd00-\\udfff]")
MOST = 100  # findings kept of one kind; whoever has more learns nothing from the rest


class InvalidTransform(CrondorError, ValueError):
    """Transform rules that HTCondor would not load, with all their faults."""


class Stop(Exception):
    """Ends the application of a transform to an ad; carries the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """Keep the reason."""
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


def fault(code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> Diagnostic:  # noqa: A002 - Diagnostic's word
    """Return the finding that ends a transform."""
    return Diagnostic(code, message, Severity.ERROR, span, help, fix)


def warning(code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> Diagnostic:  # noqa: A002
    """Return a finding after which HTCondor goes on."""
    return Diagnostic(code, message, Severity.WARNING, span, help, fix)


def check_text(source: Source) -> None:
    """Raise InvalidTransform for a text with a NUL, or with half a character."""
    found = _NO_TEXT.search(source.text)
    if found is not None:
        what = "a NUL" if found[0] == "\0" else "half a character"
        raise InvalidTransform(fault("not-text", f"rules are text, and this has {what}", source.span(*found.span())))


def short(text: str, most: int = 60) -> str:
    """Return a text for a message, cut where it is long."""
    return shortened(text, most)


def macro_fault(error: MacroError, span: Span) -> Stop:
    """Return the end that a macro which cannot be expanded makes."""
    only = error.diagnostics[0]
    inside = f"; it is met in the text of $({error.inside})" if error.inside else ""
    return Stop(fault(only.kind, only.message, span, f"{only.help}{inside}" if only.help else inside[2:] or None))
