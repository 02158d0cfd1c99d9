"""The files on a command line: read and write them, and find submit files."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import IO, Any, BinaryIO, Final

import click

from crondor.diagnostics import Diagnostic, Severity, Source, lines_of, printable
from crondor.knowledge.kinds import FileKind, recognised, submit_files_of_dag
from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.macro.files import FileRefused, Files
from crondor.rights.replacing import Changed, RightsRefused, replace_text, whole_file
from crondor.rights.trust import Untrusted
from crondor.rights.walk import open_named, open_plain
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import emit, not_installed, say, show, usage

STDIN = "<stdin>"
"""The name of the text of standard input."""

OWN_FILE = "crondor.toml"
PROJECT_FILE = "pyproject.toml"
VARIABLES = "CRONDOR_"  # prefix of our variables
MOST_SETTINGS = 1 << 20  # bytes of a file of settings
HAS_RULES = "crondor.has-rules"  # in click's meta: whether a file of settings may have rules of the site


# A table or a key of [tool.crondor], in any TOML spelling; most files have only other tools, and are not parsed.
_SECTION = r"""(?m)^[ \t]*(?:\[\[?[ \t]*)?["']?tool["']?[ \t]*(?:[]=]|\.[ \t]*["']?crondor)"""


def system_file() -> str | None:
    """Return the file of settings for all users of this host, None if there is no /etc."""
    return f"/etc/{OWN_FILE}" if os.name == "posix" else None


def user_folder() -> str:
    """Return the folder of the user's own settings: ~/.config/crondor on Linux."""
    return click.get_app_dir("crondor")


def folders_upwards(folder: str | None = None) -> Iterator[str]:
    """Yield a folder (None: the current one) and its parents, up to the root; none if it was removed."""
    try:
        folder = os.getcwd() if folder is None else os.path.abspath(folder)
    except OSError:
        return
    while True:
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def may_say(project: str) -> bool:
    """Return whether the text of a pyproject.toml may have a section of ours."""
    return "crondor" in project and re.search(_SECTION, project) is not None


def may_be_set() -> bool:
    """Return whether a variable or a file may have settings, or cannot be read."""
    for name in os.environ:
        if name.startswith(VARIABLES):
            return True
    for path in (system_file(), f"{user_folder()}/{OWN_FILE}"):
        if path is not None and os.path.lexists(path):
            return True
    for folder in folders_upwards():
        if os.path.lexists(os.path.join(folder, OWN_FILE)) or _may_set(os.path.join(folder, PROJECT_FILE)):
            return True
    return False


def may_have_rules() -> bool:
    """Return whether a file of settings that this command read may have rules of the site."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(HAS_RULES))


def _may_set(path: str) -> bool:
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            text = file.read(MOST_SETTINGS + 1).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return len(text) > MOST_SETTINGS or may_say(text)


class FileProblem(click.UsageError):
    """A file that cannot be read or written; the exit status is that of wrong usage, 2."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message without the usage."""
        line = f"Error: {self.format_message()}"
        if file is None:
            say(line, err=True)
        else:
            file.write(f"{line}\n")


def check_stdin(*paths: str | None) -> None:
    """Raise UsageError if standard input is given for two files."""
    if paths.count("-") > 1:
        raise usage("standard input (-) can be read only once")


def refuse_overwriting(out: str, inputs: Iterable[str]) -> None:
    """Raise UsageError if the output is also an input file; - is not a file."""
    if out == "-" or not os.path.isfile(out):
        return
    for path in inputs:
        if path != "-" and os.path.exists(path) and os.path.samefile(out, path):
            raise usage(f"--output '{printable(out)}' is also read: choose another file")


def file_problem(deed: str, path: str, error: OSError | ValueError) -> FileProblem:
    """Return the error for a file: ``cannot read 'job.sub': Permission denied``; ``deed`` is the action that failed."""
    reason = error.strerror if isinstance(error, OSError) else None
    return FileProblem(f"cannot {deed} '{printable(path)}': {reason or error}")


_MOST_NAMED: Final = 20  # submit files of a DAG
_OPTIONS: Final[Mapping[FileKind, str]] = {FileKind.ADS: "--ads", FileKind.CALENDAR: "--schedule"}
"""Options that take a file of some kind instead of a submit file."""

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
"""The command to use for a file of some kind, and its folder."""


class FoundPath(str):
    """The path of a file found below a given folder; it must not lead out of it."""

    __slots__ = ("folder",)
    folder: str

    @classmethod
    def below(cls, folder: str, path: str) -> FoundPath:
        """Return a path that was found below a folder."""
        made = cls(path)
        made.folder = folder
        return made

    def leads_out(self) -> bool:
        """Return whether the path is or passes a link that leads out of the folder."""
        try:
            self._files.real(self)
        except FileRefused as error:
            return error.is_outside
        return False

    def read(self) -> Source:
        """Return the text. Raises InvalidText, and UsageError if it cannot be read or leads out."""
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
    """Return standard input, None if it is closed; no progress is drawn while a user types it."""
    if sys.stdin is not None and sys.stdin.isatty():
        PROGRESS.hide()
    return getattr(sys.stdin, "buffer", None)


def open_given(path: str) -> BinaryIO:
    """Open a file of the command line: see ``open_named``. Raises OSError, and ValueError for an invalid path."""
    return os.fdopen(open_named(path), "rb")


def read_source(path: str, wanted: FileKind | None = None, *, dags: bool = False) -> Source:
    """Return the text of a file, or of standard input for ``-``.

    Raises CrondorError, and UsageError if it cannot be read, or is clearly of another kind than ``wanted``; with
    ``dags`` a DAG is accepted as well.
    """
    source = _read(path)
    if wanted is not None and not (dags and is_dag(source)):
        check_kind(source.text, path, wanted)
    return source


def is_dag(source: Source) -> bool:
    """Return whether a file is a DAG, by its name or its text."""
    return source.name.endswith(".dag") or recognised(source.text) is FileKind.DAG


def check_kind(text: str, path: str, wanted: FileKind) -> None:
    """Raise UsageError for a text that is clearly of another kind, with the command that takes it."""
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
    """Return the command for a file of some kind: the current one, if it takes such a file as well."""
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
    most = MAX_BYTES + 1  # one byte over the limit is enough, also of an endless stream
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


def replace_file(path: str, before: bytes, after: bytes, changed: str) -> None:
    """Replace a file if it still has the bytes ``before``; if not, ``changed`` ends the message. Raises UsageError."""
    with _refusals(path):
        try:
            replace_text(path, before, after)
        except Changed:
            raise usage(f"'{printable(path)}' has changed {changed}") from None


@contextmanager
def written_file(path: str) -> Iterator[BinaryIO]:
    """Yield a file that replaces an existing one when it is complete: see ``whole_file``. Raises UsageError."""
    with _refusals(path), whole_file(path) as file:
        yield file


def write_file(path: str, data: bytes) -> None:
    """Create or replace a file. Raises UsageError."""
    with written_file(path) as file:
        file.write(data)


_MANY: Final = 1 << 16  # characters written at once


def write_texts(texts: Iterable[str], out: str) -> None:
    """Write texts to a file, or to standard output for ``-``; invalid UTF-8 is preserved. Raises UsageError.

    Texts before an error in ``texts`` are written.
    """
    failed: list[Exception] = []
    with nullcontext() if out == "-" else written_file(out) as file:
        parts: list[str] = []
        size = 0
        for text in _up_to_failure(texts, failed):
            parts.append(text)
            size += len(text)
            if size >= _MANY:
                _flush(parts, file)
                size = 0
        _flush(parts, file)
    if failed:
        raise failed[0]


def _up_to_failure(texts: Iterable[str], failed: list[Exception]) -> Iterator[str]:
    """Yield texts, and store an error instead of raising it, so that earlier texts are written."""
    try:
        yield from texts
    except Exception as error:  # noqa: BLE001 - raised later
        failed.append(error)


def _flush(parts: list[str], file: BinaryIO | None) -> None:
    data = "".join(parts).encode("utf-8", "surrogateescape")
    parts.clear()
    if file is not None:
        file.write(data)
    elif data:
        emit(data)


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """Turn a failure to write in this block into UsageError."""
    try:
        yield
    except (RightsRefused, Untrusted) as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        raise usage(f"cannot write '{printable(path)}': {reason}") from None
    except (OSError, ValueError) as error:
        raise file_problem("write", path, error) from None


SUFFIXES: Final = (".sub", ".submit", ".jdl")
KINDS: Final = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
"""The kinds of submit files in a folder, for messages."""

_OF_FIELDS = re.compile(r"\s*(?:@\S+|[-\d*/,]+|\S+(?:\s+\S+){4})\s*", re.DOTALL).fullmatch
_OF_A_LINE = re.compile(r"@.*|.*\s.*|[-\d*/,]+", re.DOTALL).fullmatch


def find(names: Iterable[str]) -> tuple[str, ...]:
    """Return the paths, each once, in order; those below a folder sorted, without links that lead out of it.

    Such links cause a warning. Raises UsageError for a folder or pattern without files, for a crontab line, and for
    standard input given twice.
    """
    given = tuple(names)
    check_stdin(*given)
    found: dict[str, None] = {}
    for name in given:
        paths = [name] if name == "-" or "\0" in name else list(_expand(name))
        if _OF_A_LINE(name) and name != "-" and not any(map(os.path.lexists, paths)):
            _refuse_line(name)
        inside = list(inside_of(paths))
        if not inside:
            what = f"has no {KINDS}" if os.path.isdir(name) else "matches no file"
            raise usage(f"'{printable(name)}' {what}")
        found.update(dict.fromkeys(inside))
    return tuple(found)


def leads_out(folder: str, path: str) -> bool:
    """Return whether a path, from a folder, is outside it, with links followed; nothing is opened."""
    base = os.path.realpath(folder)
    try:
        return os.path.commonpath((base, os.path.realpath(os.path.join(base, path)))) != base
    except ValueError:  # it contains NUL, or is on another drive
        return True


def inside_of(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths without found ones that lead out of the folder: each of those causes a warning."""
    for path in paths:
        if isinstance(path, FoundPath) and path.leads_out():
            message = f"this link leads out of {printable(path.folder)} and is ignored"
            place = Source("", path).span()
            show([Diagnostic("link-outside", message, Severity.WARNING, place, "give the file itself to read it")])
        else:
            yield path


def _refuse_line(name: str) -> None:
    """Raise UsageError for a schedule given as a file, with the option to use."""
    context = click.get_current_context(silent=True)
    options = set() if context is None else {each for parameter in context.command.params for each in parameter.opts}
    option, what = ("--crontab", "a crontab line") if _OF_FIELDS(name) else ("--schedule", "a schedule in words")
    command = "crondor next" if context is None or option not in options else context.command_path
    is_whole = option == "--schedule" or len(name.split()) > 1 or name.startswith("@")
    instead = f": {command} {option} {printable(quote(name))}" if is_whole else ""
    raise usage(f"'{printable(name)}' is not a file: put {what} in quotes after {option}{instead}")


def _expand(name: str) -> Iterator[str]:
    if os.path.isdir(name):
        yield from below(name)
    elif any(character in name for character in "*?[") and not os.path.exists(name):
        yield from _matching(name)
    else:
        yield name


def _matching(pattern: str) -> Iterator[str]:
    """Yield the paths that match a shell pattern; ``**`` follows no links, which may form cycles."""
    folder = os.path.dirname(re.split(r"[*?[]", pattern, maxsplit=1)[0])
    rest = pattern[len(folder) :].lstrip("/")
    shows_hidden = f"/{rest}".count("/.") > 0
    try:
        found = sorted(str(path) for path in Path(folder).glob(rest))
    except ValueError:  # two stars adjacent to other characters
        return
    for path in found:
        if shows_hidden or "/." not in f"/{path.removeprefix(folder).lstrip('/')}":
            yield FoundPath.below(folder or os.curdir, path)


def below(folder: str) -> Iterator[str]:
    """Yield the submit files below a folder; hidden folders are skipped, links to folders not followed.

    Only files and broken links are included: opening a pipe would wait for a writer. An unreadable folder is yielded
    itself, last, so that reading it reports the error.
    """
    refused: list[str] = []
    for at, folders, files in os.walk(folder, onerror=lambda error: refused.append(os.fsdecode(error.filename))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (os.path.join(at, name) for name in sorted(files) if name.endswith(SUFFIXES))
        yield from (FoundPath.below(folder, path) for path in paths if os.path.isfile(path) or not os.path.exists(path))
    yield from refused


def check_plot(path: str | None) -> None:
    """Raise UsageError for a format of pictures that is not supported."""
    if path is not None and Path(path).suffix.lower() not in {".svg", ".png"}:
        raise usage(f"--plot draws .svg and .png; '{printable(path)}' is neither")


@contextmanager
def needs_matplotlib() -> Iterator[None]:
    """Import the drawing module in this block. Raises UsageError if the extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("matplotlib", "numpy")):
            raise
        raise not_installed("--plot", "matplotlib", "plot") from None


@contextmanager
def writes(path: str) -> Iterator[None]:
    """Write a file in this block. Raises UsageError on failure."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise file_problem("write", path, error) from None


def diff_of(before: Source, after: Source) -> str:
    """Return a unified diff for patch(1)."""
    name = printable(before.name)
    return "".join(map(_ended, difflib.unified_diff(lines_of(before.text), lines_of(after.text), name, name)))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def write_source(before: Source, after: Source) -> None:
    """Replace a file's text in one step. Raises UsageError on failure."""
    if before.name == STDIN:
        raise usage("standard input cannot be changed: omit --write to see the diff")
    old, new = (each.text.encode("utf-8", "surrogateescape") for each in (before, after))
    replace_file(before.name, old, new, "while it was read, and was not written")


def files_of(path: str, allow_dirs: Iterable[str]) -> Files:
    """Return the files that a submit file may read: those below its folder; none for standard input."""
    folder = os.path.dirname(path) or "."
    return Files((*([] if path == "-" else [folder]), *allow_dirs), base=folder, is_named_whole=True)
