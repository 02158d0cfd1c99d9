"""Files with a changed text: the change as a diff, or made in the file."""

from __future__ import annotations

import difflib

from crondor.diagnostics import Source, lines_of, printable
from crondor_cli.common.findings.result import STDIN
from crondor_cli.kit.files import replace_file
from crondor_cli.kit.screen import usage


def diff_of(before: Source, after: Source) -> str:
    """Return a unified diff that patch(1) takes."""
    name = printable(before.name)
    return "".join(map(_ended, difflib.unified_diff(lines_of(before.text), lines_of(after.text), name, name)))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def write_source(before: Source, after: Source) -> None:
    """Replace a file's text in one step; raises UsageError where that cannot be done."""
    if before.name == STDIN:
        message = "standard input cannot be changed: leave --write out to see the diff"
        raise usage(message)
    old, new = (each.text.encode("utf-8", "surrogateescape") for each in (before, after))
    replace_file(before.name, old, new, "while it was read, and was not written to")
