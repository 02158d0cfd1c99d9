"""The error of a submit description, and the list that faults are gathered in while reading goes on."""

from __future__ import annotations

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.source import Span

_MOST = 100  # a file with more faults than this is not a submit description; reading it on helps nobody


class InvalidSubmit(CrondorError, ValueError):
    """A submit description with at least one fault, or with something that crondor does not read yet."""


class Findings:
    """Errors and warnings in the order found."""

    def __init__(self) -> None:
        """Begin empty."""
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def error(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:  # noqa: A002 - a Diagnostic's own fields
        """Note a fault. Raises InvalidSubmit when there are so many that reading on makes no sense."""
        self.errors.append(Diagnostic(code, message, span=span, help=help, fix=fix))
        if len(self.errors) >= _MOST:
            last = Diagnostic("too-many-errors", f"reading stops after {_MOST} errors", span=span)
            raise InvalidSubmit([*self.errors, last])

    def warn(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Note something that will surprise; what is beyond a hundred of them is left out."""
        if len(self.warnings) < _MOST:
            self.warnings.append(Diagnostic(code, message, Severity.WARNING, span, help))

    def unread(self, what: str, span: Span, instead: str) -> None:
        """Note something that HTCondor reads and crondor does not yet. Raises InvalidSubmit as error() does."""
        self.error("not-read-yet", f"{what}, which crondor does not read yet", span, instead)

    def check(self) -> None:
        """Raise InvalidSubmit with all errors found, if there are any."""
        if self.errors:
            raise InvalidSubmit(self.errors)
