"""What is installed: crondor, its Python, and the packages of the extras."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic, Severity
from crondor_cli.common.homes import home_path

_REQUIREMENT: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
_USERS: Final = ("plot", "htcondor", "watch", "ics", "lsp", "holidays", "monitor")


class Extra(NamedTuple):
    """A package that an extra of ours brings, and its version where it is installed."""

    extra: str
    package: str
    version: str | None


class Installed(NamedTuple):
    """The versions; ``crondor`` is None in a checkout that is not installed."""

    crondor: str | None
    python: str
    executable: str
    extras: tuple[Extra, ...]

    def findings(self) -> Iterator[Diagnostic]:
        """Yield what a service's user would stumble over."""
        home = home_path(sys.prefix)
        if home is not None:
            message = f"this Python environment is in a home folder ({home}), which the user of a service cannot read"
            hint = "for a service make the environment below /opt or /usr/local: python3 -m venv /opt/crondor"
            yield Diagnostic("doctor-home", message, Severity.NOTE, help=hint)


def installed() -> Installed:
    """Look at this Python's packages; nothing of them is imported."""
    try:
        own = metadata.distribution("crondor")
    except metadata.PackageNotFoundError:
        version, requires = None, []
    else:
        version, requires = own.version, own.requires or []
    found = (_REQUIREMENT.fullmatch(line) for line in requires)
    extras = [
        Extra(each["extra"], each["name"], _version(each["name"]))
        for each in found
        if each is not None and each["extra"] in _USERS
    ]
    return Installed(version, ".".join(map(str, sys.version_info[:3])), sys.executable, tuple(extras))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
