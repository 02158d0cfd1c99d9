"""The journal: where a stream leads there, its lines begin with their level (sd-daemon(3)), and `journalctl -p` tells.

systemd says in JOURNAL_STREAM which file that is (systemd.exec(5)).
"""

from __future__ import annotations

import os
from enum import IntEnum
from typing import TextIO

from crondor.diagnostics import Severity

_STREAM = "JOURNAL_STREAM"


class Level(IntEnum):
    """How grave a line is, as in syslog(3)."""

    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.NOTE: Level.NOTICE}
"""The levels of diagnostics."""


def levelled(text: str, level: Level, stream: TextIO | None) -> str:
    """Return a text with its level before each line, where the stream is the journal; else as it is."""
    if not _is_journal(stream):
        return text
    return "\n".join(f"<{level.value}>{line}" for line in text.split("\n"))


def _is_journal(stream: TextIO | None) -> bool:
    wanted = os.environ.get(_STREAM)
    if not wanted or stream is None:
        return False
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return wanted == f"{status.st_dev}:{status.st_ino}"
