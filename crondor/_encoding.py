"""Bytes that are no UTF-8, in the comments of files that are read all the same (surrogateescape)."""

from __future__ import annotations

import re
from typing import Final

from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Source

LINE_WITH_BYTES: Final = re.compile("^[^\\n\udc80-\udcff]*[\udc80-\udcff]", re.MULTILINE)
"""A line up to its first byte that is no UTF-8."""


def odd_comment(source: Source) -> Diagnostic | None:
    """Return a warning of the first byte of a text that is no UTF-8, None where there is none.

    Readers let such bytes stand in comments alone.
    """
    text = source.text
    found = None if text.isascii() else LINE_WITH_BYTES.search(text)
    if found is None:
        return None
    at = found.end() - 1
    message = f"this comment is not UTF-8 text: byte 0x{ord(text[at]) & 0xFF:02x}, passed over with the comment"
    return Diagnostic("odd-comment", message, Severity.WARNING, source.span(at, at + 1), "save the file as UTF-8")
