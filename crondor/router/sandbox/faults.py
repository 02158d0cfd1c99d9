"""What can go wrong with a routed job's files, and how it is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.rights.accounts import Account
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


def refused(path: str, doing: str, error: OSError | ValueError, who: Account | None = None) -> FilesRefused:
    """Return the error for what the operating system refused, to ``who`` where it was done as an account."""
    if isinstance(error, CrondorError):
        return FilesRefused(error.diagnostics)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, PermissionError) and who is not None:
        message, hint = f"{doing} {path} as {who.name}: {reason}", "change its owner or its mode, or that of its folder"
        return FilesRefused(fault("file-denied", message, path, hint))
    return FilesRefused(fault("file-io", f"{doing} {path}: {reason}", path))


def ignored(_found: Diagnostic) -> None:
    """Report nothing."""
