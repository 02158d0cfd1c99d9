"""The files that `crondor check` is asked about: names, directories, and patterns that no shell has expanded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import iglob

import click

from crondor.diagnostics import printable

SUFFIXES = (".sub", ".submit", ".jdl")


def find(names: tuple[str, ...]) -> list[str]:
    """Return the paths to check, each once, in the order named; those below a directory sorted.

    Raises UsageError for a directory or pattern without files, and for standard input named twice.
    """
    context = click.get_current_context(silent=True)
    if names.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once", context)
    found: dict[str, None] = {}
    for name in names:
        paths = [name] if name == "-" or "\0" in name else list(_expand(name))
        if not paths:
            kinds = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
            what = f"holds no {kinds}" if os.path.isdir(name) else "matches no file"
            raise click.UsageError(f"'{printable(name)}' {what}", context)
        found.update(dict.fromkeys(paths))
    return list(found)


def _expand(name: str) -> Iterator[str]:
    if os.path.isdir(name):
        yield from _below(name)
    elif any(character in name for character in "*?[") and not os.path.exists(name):
        yield from sorted(iglob(name, recursive=True))
    else:
        yield name


def _below(folder: str) -> Iterator[str]:
    """Yield the submit files below a folder; hidden folders are passed over, links to folders not followed."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(at, name) for name in sorted(files) if name.endswith(SUFFIXES))
