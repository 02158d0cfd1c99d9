"""Where settings may stand: cheap to ask, since every command does."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

OWN_FILE = "crondor.toml"
PROJECT_FILE = "pyproject.toml"
VARIABLES = "CRONDOR_"  # what the names of our variables begin with


def user_folder() -> str:
    """Return the folder of the user's own settings: ~/.config/crondor on Linux."""
    return click.get_app_dir("crondor")


def folders_upwards() -> Iterator[str]:
    """Yield the current folder and those that it is in, up to the root; none where it has been removed."""
    try:
        folder = os.getcwd()
    except OSError:
        return
    while True:
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def may_be_set() -> bool:
    """Say whether there is a variable or a file that may set anything."""
    if any(name.startswith(VARIABLES) for name in os.environ):
        return True
    if os.path.exists(os.path.join(user_folder(), OWN_FILE)):
        return True
    return any(
        os.path.exists(os.path.join(folder, name)) for folder in folders_upwards() for name in (OWN_FILE, PROJECT_FILE)
    )
