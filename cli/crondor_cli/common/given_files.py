"""What a command line gives to be read: standard input, files that are named, and those found below a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from shlex import quote
from typing import BinaryIO, Final

import click

from crondor.diagnostics import printable
from crondor.knowledge.kinds import FileKind, recognised, submit_files_of_dag
from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.macro.files import FileRefused, Files
from crondor.rights.walk import open_named
from crondor.source import Source
from crondor_cli.common.file_problem import FileProblem, file_problem
from crondor_cli.common.progress import PROGRESS

_MOST_NAMED: Final = 20  # submit files of a DAG
_OPTIONS: Final[Mapping[FileKind, str]] = {FileKind.ADS: "--ads", FileKind.CALENDAR: "--schedule"}
"""The options that take a file of a kind in place of a submit file."""

_TAKES: Final[Mapping[FileKind, str]] = {
    FileKind.ADS: "crondor next --ads {0}",
    FileKind.CALENDAR: "crondor compile {0}",
    FileKind.CONFIG: "crondor check --pool-config {0} JOB.sub",
    FileKind.CRONTAB: "crondor import crontab {0}",
    FileKind.DAG: "crondor check {0}",
    FileKind.QUEUE_LOG: "crondor queue status --log {0}",
    FileKind.ROUTE_TESTS: "crondor route test {0}",
    FileKind.RULES: "crondor classad transform --rules {0} JOBS.ads",
    FileKind.SUBMIT: "crondor check {0}",
    FileKind.USER_LOG: "crondor monitor --log JOB_QUEUE.LOG --allow-dir {1}",
}
"""What to type for a file of a kind, and its folder."""


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


def read_source(path: str, wanted: FileKind | None = None) -> Source:
    """Return the text of a file, or of standard input for ``-``.

    Raises CrondorError, and UsageError if it cannot be read, or is unmistakably of another kind than ``wanted``.
    """
    source = _read(path)
    if wanted is not None:
        check_kind(source.text, path, wanted)
    return source


def check_kind(text: str, path: str, wanted: FileKind) -> None:
    """Refuse a text that is unmistakably of another kind. Raises UsageError, which names the command that takes it."""
    kind = recognised(text)
    begin = text.lstrip()[:2]
    also = {
        FileKind.ADS: kind is FileKind.USER_LOG and not begin[:1].isdigit(),  # events are ads
        FileKind.CONFIG: begin[:1] == "[" and begin != "[{",  # routes are ads in old ones
        FileKind.RULES: kind is FileKind.CONFIG,
    }
    if kind is None or kind is wanted or also.get(wanted, False):
        return
    shown = "standard input" if path == "-" else f"'{printable(path)}'"
    raise FileProblem(f"{shown} is {kind.value}, not {wanted.value}; write {_instead(kind, wanted, path, text)}")


def _instead(kind: FileKind, wanted: FileKind, path: str, text: str) -> str:
    """Return the command that takes a file of a kind: the one that runs, where it takes such a file as well."""
    is_asked = wanted is FileKind.SUBMIT or kind is FileKind.SUBMIT
    context = click.get_current_context(silent=True) if is_asked else None
    options = set() if context is None else {name for each in context.command.params for name in each.opts}
    folder = os.path.dirname(path)
    name = quote(path)
    if kind is FileKind.DAG:
        files = [quote(os.path.join(folder, each)) for each in submit_files_of_dag(text)]
        name = " ".join(files[:_MOST_NAMED]) or "the submit files of its nodes"
        command = _TAKES[kind] if context is None else f"{context.command_path} {{0}}"
    elif kind is FileKind.CONFIG and "JOB_ROUTER_" in text.upper():
        command = "crondor route check --config {0}"
    elif context is not None and _OPTIONS.get(kind) in options:
        command = f"{context.command_path} {_OPTIONS[kind]} {{0}}"
    elif context is not None and kind is FileKind.SUBMIT and "--spec" in options:
        command = f"{context.command_path} {{0}}"
    else:
        command = _TAKES[kind]
    return printable(command.format(name, quote(folder or ".")))


def _read(path: str) -> Source:
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
