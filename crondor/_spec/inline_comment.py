"""A comment behind a value: HTCondor's submit language has none, so that it becomes a part of the value."""

from __future__ import annotations

import re
from typing import Final

MESSAGE: Final = "the value has a comment behind it, which HTCondor reads as a part of the value"
CURE: Final = "a # starts a comment only at the beginning of a line: move it to a line of its own"
_COMMENT = re.compile(r"(?<=[ \t])#")


def inline_comment(text: str) -> int | None:
    """Return where a comment begins behind a value, None where there is none."""
    found = _COMMENT.search(text)
    return found.start() if found and text[: found.start()].strip() else None
