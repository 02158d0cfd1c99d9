"""Files that cannot be read or written: one line says so, for no usage would help."""

from __future__ import annotations

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


def file_problem(deed: str, path: str, error: OSError | ValueError) -> FileProblem:
    """Return the error for a file: ``cannot read 'job.sub': Permission denied``; ``deed`` is what failed."""
    reason = error.strerror if isinstance(error, OSError) else None
    return FileProblem(f"cannot {deed} '{printable(path)}': {reason or error}")
