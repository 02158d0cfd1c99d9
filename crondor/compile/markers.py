"""The comments about a file's schedule and its compiled lines; HTCondor ignores them."""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = re.compile(
    r"[ \t]*#[ \t]*crondor:[ \t]*compiled lines until (?P<until>\S+)( on a host in (?P<zone>\S+))?"
    r"( \(made by crondor compile --write(?P<options>[^)\n]*)\))?[^\n]*",
    re.IGNORECASE,
)
END: Final = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*end of compiled lines[ \t]*", re.IGNORECASE)
SCHEDULE: Final = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=[^\n]*", re.IGNORECASE)
EXPECTED: Final = ("CRN203", "CRN207")
"""Findings about fields that name too many times, suppressed if a clause excludes these."""

TO_CRONDOR: Final = re.compile(r"^[ \t]*#[ \t]*crondor[ \t]*:(.*)$", re.MULTILINE)


def is_order(line: str) -> bool:
    """Return whether a line is a comment for crondor."""
    return TO_CRONDOR.match(line) is not None
