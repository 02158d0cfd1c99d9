"""The comments that speak of a file's schedule and its compiled lines; HTCondor passes over them."""

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
"""What is said of fields that name too many times, and is no finding where a clause stands beside them."""

TO_CRONDOR: Final = re.compile(r"^[ \t]*#[ \t]*crondor[ \t]*:(.*)$", re.MULTILINE)


def is_order(line: str) -> bool:
    """Return whether a line is a comment that speaks to crondor."""
    return TO_CRONDOR.match(line) is not None
