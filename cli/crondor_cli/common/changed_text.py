"""Files with a changed text: the change as a diff, or made in the file."""

from __future__ import annotations

import difflib

import click

from crondor.diagnostics import CrondorError, printable
from crondor.rights.replacing import Changed, replace_text
from crondor.source import Source, lines_of
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.findings.result import STDIN


def diff_of(before: Source, after: Source) -> str:
    """Return a unified diff that patch(1) takes."""
    name = printable(before.name)
    return "".join(map(_ended, difflib.unified_diff(lines_of(before.text), lines_of(after.text), name, name)))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def write_source(before: Source, after: Source) -> None:
    """Replace a file's text in one step; raises UsageError where that cannot be done."""
    context = click.get_current_context(silent=True)
    shown = printable(before.name)
    if before.name == STDIN:
        raise click.UsageError("standard input cannot be changed: leave --write out to see the diff", context)
    try:
        replace_text(before.name, *(each.text.encode("utf-8", "surrogateescape") for each in (before, after)))
    except Changed:
        message = f"'{shown}' has changed while it was read, and was not written to"
        raise click.UsageError(message, context) from None
    except CrondorError as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        raise click.UsageError(f"cannot write '{shown}': {reason}", context) from None
    except OSError as error:
        raise file_problem("write", before.name, error) from None
