"""What is found wrong while a configuration is read, within bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Span

MOST = 100
"""Errors after which reading ends; as many warnings and notes are kept."""


class TooMany(Exception):
    """Ends a reading that makes no sense any more."""


class ConfigFindings:
    """The findings in the order they were made."""

    def __init__(self, earlier: Iterable[Diagnostic] = ()) -> None:
        """Begin with what was found before."""
        self._found = list(earlier)
        self._errors = 0
        self._others = 0

    def all(self) -> tuple[Diagnostic, ...]:
        """Return them."""
        return tuple(self._found)

    def error(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:  # noqa: A002 - a Diagnostic's own fields
        """Note what HTCondor does not take. Raises TooMany."""
        self._found.append(Diagnostic(code, message, Severity.ERROR, span, help, fix))
        self._errors += 1
        if self._errors >= MOST:
            message = f"reading stops after {MOST} errors"
            self._found.append(Diagnostic("config-many", message, Severity.ERROR, span))
            self.stop()

    def warn(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:  # noqa: A002
        """Note what will surprise."""
        self._add(Diagnostic(code, message, Severity.WARNING, span, help, fix))

    hide = warn

    def note(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Note what explains."""
        self._add(Diagnostic(code, message, Severity.NOTE, span, help))

    def stop(self) -> NoReturn:
        """End the reading."""
        raise TooMany

    def _add(self, found: Diagnostic) -> None:
        self._others += 1
        if self._others <= MOST:
            self._found.append(found)
