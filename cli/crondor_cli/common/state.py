"""Where crondor keeps what is to last."""

from __future__ import annotations

import os
from pathlib import Path

import click


def state_folder(name: str, option: str) -> Path:
    """Return crondor's folder of that name among the user's states. Raises UsageError where he has no home."""
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "crondor" / name
    except RuntimeError:
        raise click.UsageError(f"this user has no home folder: name another with {option}") from None
