"""HTCondor's knobs from the files that the hook commands are given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.macro import Around, Budget, MacroError, expand
from crondor.macro.text import source_from_bytes
from crondor.transform import Facts
from crondor.transform.loading import read_knobs


class FileKnobs:
    """The knobs of some files, later ones over earlier ones, with their macros replaced when they are asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Take texts by lower-case name."""
        self._texts = texts

    def get(self, name: str, /) -> str | None:
        """Return a knob's value, None where it is not set.

        Raises CrondorError.
        """
        text = self._texts.get(name.lower())
        if text is None:
            return None
        try:
            return expand(text, self._texts.get, Budget(), Around(environ=os.environ))
        except MacroError as error:
            raise CrondorError(Diagnostic("config-macro", f"{name}: {error}")) from None


def knobs_of(paths: tuple[str, ...]) -> FileKnobs:
    """Return the knobs of configuration files.

    Raises UsageError for a file that cannot be read, CrondorError for one that is no configuration.
    """
    texts: dict[str, str] = {}
    for path in paths:
        try:
            data = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise click.UsageError(f"cannot read '{printable(path)}': {reason}") from None
        texts |= read_knobs(source_from_bytes(data, path), Facts(texts, environ=os.environ))
    return FileKnobs(texts)
