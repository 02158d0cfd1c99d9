"""The error of a submit description, and the list that faults are gathered in while reading goes on."""

from __future__ import annotations

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.source import Span

_MOST = 100  # a file with more faults than this is not a submit description; reading it on helps nobody


class InvalidSubmit(CrondorError, ValueError):
    """A submit description with at least one fault, or with a value that cannot be known."""


class SubmitFindings:
    """Errors and warnings in the order found; ``unknown`` are the warnings of what hides something from the reader."""

    def __init__(self) -> None:
        """Begin empty."""
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.unknown: list[Diagnostic] = []

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

    def hide(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Note something that HTCondor would look at or run, and crondor does not; the first hundred are kept."""
        if len(self.unknown) < _MOST:
            self.unknown.append(Diagnostic(code, message, Severity.WARNING, span, help))

    def stop(self) -> None:
        """End the reading. Raises InvalidSubmit with all errors found."""
        self.check()

    def check(self) -> None:
        """Raise InvalidSubmit with all errors found, if there are any."""
        if self.errors:
            raise InvalidSubmit(self.errors)
