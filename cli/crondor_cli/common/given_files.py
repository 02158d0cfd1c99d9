"""What a command line gives to be read: standard input, files that are named, and those found below a folder."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.macro.files import FileRefused, Files
from crondor.rights.walk import open_named
from crondor.source import Source
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.progress import PROGRESS


class FoundPath(str):
    """The path of a file that nobody has named: it was found below a folder that is named, and must not lead out."""

    __slots__ = ("folder",)
    folder: str

    @classmethod
    def below(cls, folder: str, path: str) -> FoundPath:
        """Return a path that was found below a folder."""
        made = cls(path)
        made.folder = folder
        return made

    def leads_out(self) -> bool:
        """Say whether it is, or is below, a link that leads out of the folder."""
        try:
            self._files.real(self)
        except FileRefused as error:
            return error.is_outside
        return False

    def read(self) -> Source:
        """Return the text. Raises InvalidText, and UsageError where it cannot be read or leads out."""
        try:
            return self._files.read(self)
        except FileRefused as error:
            said = error.diagnostics[0].message
            reason = f"it leads out of {self.folder}" if error.is_outside else said.rpartition(": ")[2]
            raise file_problem("read", self, ValueError(reason)) from None

    @property
    def _files(self) -> Files:
        return Files((self.folder,), base=os.curdir)


def standard_input() -> BinaryIO | None:
    """Return standard input, None where the shell has closed it; while somebody types it, nothing is drawn."""
    if sys.stdin is not None and sys.stdin.isatty():
        PROGRESS.hide()
    return getattr(sys.stdin, "buffer", None)


def open_given(path: str) -> BinaryIO:
    """Open a file that the command line names: see ``open_named``. Raises OSError, and ValueError for no path."""
    return os.fdopen(open_named(path), "rb")


def read_source(path: str) -> Source:
    """Return the text of a file, or of standard input for ``-``. Raises CrondorError, UsageError if unreadable."""
    most = MAX_BYTES + 1  # one byte more than is allowed says enough, of an endless stream too
    if isinstance(path, FoundPath):
        return path.read()
    if path == "-":
        stdin = standard_input()
        return source_from_bytes(stdin.read(most) if stdin is not None else b"", "<stdin>")
    try:
        with open_given(path) as file:
            data = file.read(most)
    except (OSError, ValueError) as error:
        raise file_problem("read", path, error) from None
    return source_from_bytes(data, path)
