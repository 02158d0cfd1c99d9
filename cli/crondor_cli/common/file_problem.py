"""Files that cannot be read or written: one line says so, for no usage would help."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any

import click

from crondor.diagnostics import printable
from crondor_cli.common.output import say


class FileProblem(click.UsageError):
    """A file that cannot be read or written; the exit status is that of wrong usage, 2."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the line, without the usage."""
        line = f"Error: {self.format_message()}"
        if file is None:
            say(line, err=True)
        else:
            file.write(f"{line}\n")


def refuse_overwriting(out: str, inputs: Iterable[str]) -> None:
    """Refuse to write over a file that is read as well; - is none. Raises UsageError."""
    if out == "-" or not os.path.isfile(out):
        return
    for path in inputs:
        if path != "-" and os.path.exists(path) and os.path.samefile(out, path):
            message = f"--output '{printable(out)}' is read, too: name another file"
            raise click.UsageError(message, click.get_current_context(silent=True))


def file_problem(deed: str, path: str, error: OSError | ValueError) -> FileProblem:
    """Return the error for a file: ``cannot read 'job.sub': Permission denied``; ``deed`` is what failed."""
    reason = error.strerror if isinstance(error, OSError) else None
    return FileProblem(f"cannot {deed} '{printable(path)}': {reason or error}")
