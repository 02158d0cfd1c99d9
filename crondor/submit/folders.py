"""The folder of a job, which its relative file names are meant in (HTCondor 25.14: SubmitHash::ComputeIWD, full_path).

Whether files and folders exist is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_COMMANDS: Final = (("initialdir", "iwd"), ("initial_dir", "job_iwd"))
_SLASHES: Final = re.compile(r"([/\\])[/\\]+")

NAMES: Final = tuple(name for names in _COMMANDS for name in names)


def job_folder(command: Callable[..., str | None], start: str) -> str:
    """Return the folder of a job from the root, nothing where it is relative to a folder that is not known.

    ``command`` gives the value of the first of some names that is assigned, None where it is empty or none is;
    ``start`` is the folder condor_submit is started in, empty where it is not known.
    """
    text = next((text for names in _COMMANDS if (text := command(*names))), start)
    if not text.startswith("/"):
        text = f"{start.rstrip('/')}/{text}" if start else ""
    return _SLASHES.sub(r"\1", text)


def full_path(path: str, folder: str) -> str:
    """Return a path from the root; a relative one stays where the folder is not known."""
    whole = path if path.startswith("/") or not folder else f"/{folder}/{path}"
    return _SLASHES.sub(r"\1", whole)
