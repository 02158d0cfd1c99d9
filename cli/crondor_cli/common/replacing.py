"""Files that a command writes, each in one step, and what is said where it cannot: the one place that does so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from crondor.diagnostics import printable
from crondor.rights.acting import RightsRefused
from crondor.rights.replacing import Changed, replace_text, whole_file
from crondor.rights.trust import Untrusted
from crondor_cli.common.file_problem import file_problem


def replace_file(path: str, before: bytes, after: bytes, changed: str) -> None:
    """Replace a file that has had some bytes; ``changed`` is what is said of one that has others by now.

    Raises UsageError where that cannot be done.
    """
    with _refusals(path):
        try:
            replace_text(path, before, after)
        except Changed:
            context = click.get_current_context(silent=True)
            raise click.UsageError(f"'{printable(path)}' has changed {changed}", context) from None


@contextmanager
def written_file(path: str) -> Iterator[BinaryIO]:
    """Give a file to write to, which is there, or in an old one's place, when all is written: see ``whole_file``.

    Raises UsageError where that cannot be done.
    """
    with _refusals(path), whole_file(path) as file:
        yield file


def write_file(path: str, data: bytes) -> None:
    """Make a file of some bytes, or give them to the one that is there. Raises UsageError."""
    with written_file(path) as file:
        file.write(data)


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """Write inside this block. Raises UsageError for what stands against it."""
    try:
        yield
    except (RightsRefused, Untrusted) as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        context = click.get_current_context(silent=True)
        raise click.UsageError(f"cannot write '{printable(path)}': {reason}", context) from None
    except (OSError, ValueError) as error:
        raise file_problem("write", path, error) from None
