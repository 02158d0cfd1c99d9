"""Whether a path is in somebody's home folder, which the users of services cannot read."""

from __future__ import annotations

import os
from typing import Final

_HOMES: Final = ("/home/", "/root/")


def home_path(path: str) -> str | None:
    """Return the path with its links followed where it is in a home folder, None elsewhere."""
    real = os.path.realpath(path)
    return real if real.startswith(_HOMES) else None
