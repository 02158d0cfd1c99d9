"""Users of this machine, by name and number."""

from __future__ import annotations

import os


def current_user() -> int:
    """Return the number of the user that this process runs as."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def user_id(name: str) -> int | None:
    """Return a user's number, None: the machine knows none of that name."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows

        return pwd.getpwnam(name).pw_uid
    except (ImportError, KeyError, ValueError):  # ValueError: a name with a NUL
        return None


def user_name(number: int) -> str:
    """Return a user's name, or his number where the machine knows no name."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError, OverflowError):
        return str(number)
