"""What can go wrong with a routed job's files, and how it is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.source import Source

Report: TypeAlias = Callable[[Diagnostic], None]
"""Takes what did not stop anything, and that somebody should know."""


class FilesRefused(CrondorError, RuntimeError):
    """Files that could not be moved: all that is wrong with them, at once."""


def fault(code: str, message: str, path: str = "", help: str | None = None) -> Diagnostic:  # noqa: A002 - Diagnostic's word
    """Return a finding that stops, about a file."""
    return Diagnostic(code, message, span=Source("", path).span() if path else None, help=help)


def warning(code: str, message: str, path: str = "", help: str | None = None) -> Diagnostic:  # noqa: A002 - the same
    """Return a finding that does not stop, about a file."""
    return Diagnostic(code, message, Severity.WARNING, Source("", path).span() if path else None, help)


def refused(path: str, doing: str, error: OSError | ValueError) -> FilesRefused:
    """Return the error for what the operating system refused."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return FilesRefused(fault("file-io", f"{doing} {path}: {reason}", path))


def ignored(_found: Diagnostic) -> None:
    """Report nothing."""
