"""The section [tool.crondor] of pyproject.toml."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, NamedTuple

import click

from crondor.diagnostics import printable


class Config(NamedTuple):
    """What the section sets; None where it says nothing. ``allow_dirs`` are relative to the file's own folder."""

    path: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    allow_dirs: tuple[str, ...] = ()
    tz: str | None = None
    schedd_interval: int | None = None
    strict: bool | None = None


# A table or a key of [tool.crondor], in any of TOML's spellings; most files have other tools only, and need no reader.
_MAY_SAY = re.compile(
    r"""^[ \t]*(?:\[\[?[ \t]*)?["']?tool["']?[ \t]*(?:[]=]|\.[ \t]*["']?crondor)""", re.MULTILINE
).search

_KEYS = {
    "select": "a list of codes",
    "ignore": "a list of codes",
    "allow-dirs": "a list of folders",
    "tz": "the name of a zone",
    "schedd-interval": "a number of seconds from 0 to 86400",
    "strict": "true or false",
}


def find_config() -> Config:
    """Return the section of the nearest pyproject.toml, from this folder upwards. Raises UsageError for a bad one."""
    try:
        folder = os.getcwd()
    except OSError:  # somebody has removed it
        return Config()
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return _read(path)
        if os.path.dirname(folder) == folder:
            return Config()
        folder = os.path.dirname(folder)


def _read(path: str) -> Config:
    context = click.get_current_context(silent=True)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        data = _parsed(text) if _MAY_SAY(text) else {}
    except (OSError, ValueError, RecursionError) as error:  # RecursionError: arrays in arrays, thousands deep
        raise click.UsageError(f"cannot read {printable(path)}: {printable(str(error))}", context) from None
    section = data.get("tool", {}).get("crondor", {}) if isinstance(data.get("tool"), dict) else {}
    faults = [_fault(key, value) for key, value in section.items()] if isinstance(section, dict) else ["is no table"]
    bad = [fault for fault in faults if fault]
    if bad:
        raise click.UsageError(f"{printable(path)}: [tool.crondor] {'; '.join(bad)}", context)
    return Config(
        path,
        tuple(section.get("select", ())),
        tuple(section.get("ignore", ())),
        tuple(os.path.join(os.path.dirname(path), folder) for folder in section.get("allow-dirs", ())),
        section.get("tz"),
        section.get("schedd-interval"),
        section.get("strict"),
    )


def _parsed(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises ValueError."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - 3 ms, and most files have nothing to read
    else:
        import tomli as tomllib  # noqa: PLC0415 - the same
    return tomllib.loads(text)


def _fault(key: str, value: Any) -> str | None:  # noqa: ANN401 - whatever TOML holds
    if key not in _KEYS:
        return f"knows no key {printable(key)}: it may set {', '.join(_KEYS)}"
    if key == "strict":
        good = isinstance(value, bool)
    elif key == "schedd-interval":
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 86400
    elif key == "tz":
        good = isinstance(value, str)
    else:
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return None if good else f"{key} must be {_KEYS[key]}"
