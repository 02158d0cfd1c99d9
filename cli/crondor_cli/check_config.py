"""The section [tool.crondor] of pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from crondor.diagnostics import printable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Config(NamedTuple):
    """What the section sets; None where it says nothing. ``allow_dirs`` are relative to the file's own folder."""

    path: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    allow_dirs: tuple[str, ...] = ()
    tz: str | None = None
    schedd_interval: int | None = None
    strict: bool | None = None


_KEYS = {
    "select": "a list of codes",
    "ignore": "a list of codes",
    "allow-dirs": "a list of folders",
    "tz": "the name of a zone",
    "schedd-interval": "a number of seconds from 0 to 86400",
    "strict": "true or false",
}


def find_config(folder: Path) -> Config:
    """Return the section of the nearest pyproject.toml in a folder or above it. Raises UsageError for a bad one."""
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Config()


def _read(path: Path) -> Config:
    context = click.get_current_context(silent=True)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.UsageError(f"cannot read {printable(str(path))}: {printable(str(error))}", context) from None
    section = data.get("tool", {}).get("crondor", {}) if isinstance(data.get("tool"), dict) else {}
    faults = [_fault(key, value) for key, value in section.items()] if isinstance(section, dict) else ["is no table"]
    bad = [fault for fault in faults if fault]
    if bad:
        raise click.UsageError(f"{printable(str(path))}: [tool.crondor] {'; '.join(bad)}", context)
    return Config(
        path,
        tuple(section.get("select", ())),
        tuple(section.get("ignore", ())),
        tuple(str(path.parent / folder) for folder in section.get("allow-dirs", ())),
        section.get("tz"),
        section.get("schedd-interval"),
        section.get("strict"),
    )


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
