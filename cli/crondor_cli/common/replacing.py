"""A file that gets other bytes in one step, and what is said where it cannot."""

from __future__ import annotations

import click

from crondor.diagnostics import CrondorError, printable
from crondor.rights.replacing import Changed, replace_text
from crondor_cli.common.file_problem import file_problem


def replace_file(path: str, before: bytes, after: bytes, changed: str) -> None:
    """Replace a file that has had some bytes; ``changed`` is what is said of one that has others by now.

    Raises UsageError where that cannot be done.
    """
    context = click.get_current_context(silent=True)
    shown = printable(path)
    try:
        replace_text(path, before, after)
    except Changed:
        raise click.UsageError(f"'{shown}' has changed {changed}", context) from None
    except CrondorError as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        raise click.UsageError(f"cannot write '{shown}': {reason}", context) from None
    except (OSError, ValueError) as error:
        raise file_problem("write", path, error) from None
