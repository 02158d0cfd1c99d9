"""Where settings may stand: cheap to ask, since every command does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import click

from crondor.rights.walk import open_plain

OWN_FILE = "crondor.toml"
PROJECT_FILE = "pyproject.toml"
VARIABLES = "CRONDOR_"  # what the names of our variables begin with
MAX_BYTES = 1 << 20  # of a file

# A table or a key of [tool.crondor], in any of TOML's spellings; most files have other tools only, and need no reader.
_SECTION = r"""(?m)^[ \t]*(?:\[\[?[ \t]*)?["']?tool["']?[ \t]*(?:[]=]|\.[ \t]*["']?crondor)"""


def system_file() -> str | None:
    """Return the file that sets something for all users of this host, None where there is no /etc."""
    return f"/etc/{OWN_FILE}" if os.name == "posix" else None


def user_folder() -> str:
    """Return the folder of the user's own settings: ~/.config/crondor on Linux."""
    return click.get_app_dir("crondor")


def folders_upwards(folder: str | None = None) -> Iterator[str]:
    """Yield a folder (None: the current one) and those around it, up to the root; none where it has been removed."""
    try:
        folder = os.getcwd() if folder is None else os.path.abspath(folder)
    except OSError:
        return
    while True:
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def may_say(project: str) -> bool:
    """Say whether the text of a pyproject.toml may have a section of ours."""
    return "crondor" in project and re.search(_SECTION, project) is not None


def may_be_set() -> bool:
    """Say whether there is a variable or a file that may set anything, or that cannot be read."""
    if any(name.startswith(VARIABLES) for name in os.environ):
        return True
    if any(path is not None and os.path.lexists(path) for path in (system_file(), f"{user_folder()}/{OWN_FILE}")):
        return True
    return any(
        os.path.lexists(os.path.join(folder, OWN_FILE)) or _may_set(os.path.join(folder, PROJECT_FILE))
        for folder in folders_upwards()
    )


def _may_set(path: str) -> bool:
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            text = file.read(MAX_BYTES + 1).decode()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return len(text) > MAX_BYTES or may_say(text)
