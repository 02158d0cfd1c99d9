"""The submit files a command is asked about: names, folders, and patterns that no shell has expanded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import Final

import click

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.source import Source
from crondor_cli.common.given_files import FoundPath
from crondor_cli.common.show import show

SUFFIXES: Final = (".sub", ".submit", ".jdl")
KINDS: Final = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
"""What a folder's submit files are called, for messages."""

_OF_FIELDS = re.compile(r"\s*(?:@\S+|[-\d*/,]+|\S+(?:\s+\S+){4})\s*", re.DOTALL).fullmatch
_OF_A_LINE = re.compile(r"@.*|.*\s.*|[-\d*/,]+", re.DOTALL).fullmatch


def submit_files(text: str = "A submit file, as FILES.") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add FILES and --spec FILE, which come as one argument ``paths``: all submit files, with those of folders."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(*args: object, files: tuple[str, ...], specs: tuple[str, ...], **options: object) -> None:
            function(*args, paths=find((*specs, *files)), **options)

        add_spec = click.option("--spec", "specs", multiple=True, metavar="FILE", help=text)
        return click.argument("files", nargs=-1, metavar="[FILES]...")(add_spec(command))

    return add


def find(names: Iterable[str]) -> tuple[str, ...]:
    """Return the paths, each once, in the order named; those below a folder sorted, and no link that leads out of it.

    A warning names such links. Raises UsageError for a folder or pattern without files, for a crontab line, and for
    standard input named twice.
    """
    given = tuple(names)
    if given.count("-") > 1:
        raise _usage("standard input (-) can be read only once")
    found: dict[str, None] = {}
    for name in given:
        paths = [name] if name == "-" or "\0" in name else list(_expand(name))
        if _OF_A_LINE(name) and name != "-" and not any(map(os.path.lexists, paths)):
            _refuse_line(name)
        inside = list(inside_of(paths))
        if not inside:
            what = f"holds no {KINDS}" if os.path.isdir(name) else "matches no file"
            raise _usage(f"'{printable(name)}' {what}")
        found.update(dict.fromkeys(inside))
    return tuple(found)


def inside_of(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths without those that were found, and lead out of the folder: a warning says so of each."""
    for path in paths:
        if isinstance(path, FoundPath) and path.leads_out():
            message = f"this link leads out of {printable(path.folder)} and is ignored"
            place = Source("", path).span()
            show([Diagnostic("link-outside", message, Severity.WARNING, place, "name the file itself to have it read")])
        else:
            yield path


def _refuse_line(name: str) -> None:
    """Say how a schedule is given that is named like a file. Raises UsageError."""
    context = click.get_current_context(silent=True)
    options = set() if context is None else {each for parameter in context.command.params for each in parameter.opts}
    option, what = ("--crontab", "a crontab line") if _OF_FIELDS(name) else ("--schedule", "a schedule in words")
    command = "crondor next" if context is None or option not in options else context.command_path
    is_whole = option == "--schedule" or len(name.split()) > 1 or name.startswith("@")
    instead = f": {command} {option} {printable(quote(name))}" if is_whole else ""
    raise _usage(f"'{printable(name)}' is no file: {what} goes in quotes after {option}{instead}")


def _expand(name: str) -> Iterator[str]:
    if os.path.isdir(name):
        yield from below(name)
    elif any(character in name for character in "*?[") and not os.path.exists(name):
        yield from _matching(name)
    else:
        yield name


def _matching(pattern: str) -> Iterator[str]:
    """Yield the paths that a pattern of the shell matches; ``**`` follows no links, of which some lead in circles."""
    folder = os.path.dirname(re.split(r"[*?[]", pattern, maxsplit=1)[0])
    rest = pattern[len(folder) :].lstrip("/")
    shows_hidden = f"/{rest}".count("/.") > 0
    try:
        found = sorted(str(path) for path in Path(folder).glob(rest))
    except ValueError:  # two stars beside other characters
        return
    for path in found:
        if shows_hidden or "/." not in f"/{path.removeprefix(folder).lstrip('/')}":
            yield FoundPath.below(folder or os.curdir, path)


def below(folder: str) -> Iterator[str]:
    """Yield the submit files below a folder; hidden folders are passed over, links to folders not followed.

    So is what is neither a file nor a broken link: opening a pipe, for one, would wait for whoever writes into it.
    A folder that cannot be looked into comes itself, last: whoever reads it is told why.
    """
    refused: list[str] = []
    for at, folders, files in os.walk(folder, onerror=lambda error: refused.append(os.fsdecode(error.filename))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (os.path.join(at, name) for name in sorted(files) if name.endswith(SUFFIXES))
        yield from (FoundPath.below(folder, path) for path in paths if os.path.isfile(path) or not os.path.exists(path))
    yield from refused


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
