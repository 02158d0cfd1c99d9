"""HTCondor's knobs from the files that the hook commands are given."""

from __future__ import annotations

import os
from pathlib import Path

from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.diagnostics import Diagnostic
from crondor.hooks.cron.templates import TEMPLATES
from crondor.macro.files import Files
from crondor_cli.common.given_files import read_source


class FileKnobs:
    """The knobs of some files, later ones over earlier ones; ``diagnostics`` are what is wrong with the files."""

    def __init__(self, configuration: Configuration) -> None:
        """Take what was read."""
        self.diagnostics: tuple[Diagnostic, ...] = tuple(configuration.diagnostics)
        self._configuration = configuration

    def get(self, name: str, /) -> str | None:
        """Return a knob's value with its macros replaced, None where it is not set.

        Raises CrondorError.
        """
        return self._configuration.string(name)

    def names(self) -> list[str]:
        """Return the names of all knobs, in lower case."""
        return list(self._configuration.texts())


def knobs_of(paths: tuple[str, ...], context: Context, subsystem: str) -> FileKnobs:
    """Return the knobs of configuration files. Raises UsageError for one that cannot be read, and InvalidText."""
    found: Configuration | None = None
    for path in paths:
        folder = str(Path(path).resolve().parent)
        found = read_config(
            read_source(path),
            files=Files([folder], base=folder),
            environ=os.environ,
            base=found,
            templates=TEMPLATES,
            subsystem=subsystem,
            context=context,
        )
    return FileKnobs(found or read_config(""))
