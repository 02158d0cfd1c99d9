"""Standard input as bytes."""

from __future__ import annotations

import sys
from typing import BinaryIO

from crondor_cli.common.progress import PROGRESS


def standard_input() -> BinaryIO | None:
    """Return it, None where the shell has closed it; while somebody types it, nothing is drawn."""
    if sys.stdin is not None and sys.stdin.isatty():
        PROGRESS.hide()
    return getattr(sys.stdin, "buffer", None)
