"""What programs that install this repository find: pip without an index, and a copy of the checkout as it is now."""

import os
import shutil
import sysconfig
from pathlib import Path

import pytest

from tests.cli.running import environment

ROOT = Path(__file__).resolve().parents[2]
_SHIPPED = (
    ".gitignore",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "hatch_build.py",
    ".pre-commit-hooks.yaml",
    "action.yml",
)


@pytest.fixture(scope="session")
def offline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which pip takes what is installed here, and asks nobody."""
    home = tmp_path_factory.mktemp("home")
    return {
        **environment(),
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
        "PIP_NO_COMPILE": "1",
        "PYTHONPATH": sysconfig.get_path("purelib"),  # pip too is found there: no environment needs its own
        "VIRTUALENV_NO_PIP": "1",
    }


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what is needed to install this repository, as it is now."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("crondor", "cli", "reference"):
        shutil.copytree(ROOT / name, folder / name)  # with what is compiled of it
    for name in _SHIPPED:
        shutil.copy2(ROOT / name, folder / name)
    return folder
