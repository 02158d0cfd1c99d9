"""Ads from the files that the classad commands are given."""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import click

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.classad.formats import MAX_AD, ReadMode, read_ad
from crondor.diagnostics import printable
from crondor.knowledge.kinds import FileKind
from crondor.source import Source
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.given_files import check_kind, open_given, standard_input
from crondor_cli.common.options import Clock
from crondor_cli.common.progress import PROGRESS

_CHUNK = 1 << 16
_Function = TypeVar("_Function", bound=Callable[..., None])


def chunks(path: str) -> Iterator[str]:
    """Yield the text of a file of ads, or of standard input for ``-``, piece by piece; bytes of no UTF-8 are kept.

    Raises UsageError if it cannot be read, or is unmistakably a file of another kind.
    """
    is_first = True
    for text in decoded(byte_chunks(path)):
        if is_first:
            check_kind(text, path, FileKind.ADS)
            is_first = False
        yield text


def decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the text of bytes; those that are no UTF-8 are kept."""
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def byte_chunks(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input for ``-``, piece by piece.

    Raises UsageError if it cannot be read.
    """
    try:
        if path == "-":
            stdin = standard_input()
            PROGRESS.begin("reading standard input")
            while stdin is not None and (data := stdin.read(_CHUNK)):
                yield data
        else:
            with open_given(path) as file:
                PROGRESS.begin(f"reading {printable(os.path.basename(path))}", os.fstat(file.fileno()).st_size)
                while data := file.read(_CHUNK):
                    yield data
                    PROGRESS.done += len(data)
    except (OSError, ValueError) as error:
        raise file_problem("read", path, error) from None


def name_of(path: str) -> str:
    """Return the name that messages call a file by."""
    return "<stdin>" if path == "-" else path


def ad_of(path: str, mode: ReadMode) -> ClassAd:
    """Return the one ad of a file.

    Raises CrondorError for faults, none or a second one; UsageError if the file cannot be read.
    """
    parts: list[str] = []
    size = 0
    for chunk in chunks(path):
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_AD:  # the reader says so
            break
    return read_ad(Source("".join(parts), name_of(path)), mode=mode)


def context_of(clock: Clock, *, faithful: bool = False) -> Context:
    """Return what an evaluation may know beside its ads; ``faithful`` is that of Context."""
    return Context(now=clock.now, zone=clock.zone, faithful=faithful)


def lenient_option(function: _Function) -> _Function:
    """Add --lenient."""
    help_text = "Read as HTCondor's daemons do: what follows a bad line of an ad is dropped in silence."
    return click.option("--lenient", is_flag=True, help=help_text)(function)


def faithful_option(function: _Function) -> _Function:
    """Add --faithful."""
    help_text = 'Evaluate exactly as HTCondor 25.14 does, where crondor mends it: a name selected from x["y"].'
    return click.option("--faithful", is_flag=True, help=help_text)(function)


def mode_of(lenient: bool) -> ReadMode:
    """Return how strict to read."""
    return ReadMode.DAEMON if lenient else ReadMode.STRICT


def check_stdin(*paths: str | None) -> None:
    """Refuse standard input for two files at once. Raises UsageError."""
    if paths.count("-") > 1:
        raise click.UsageError("standard input is one file", click.get_current_context(silent=True))
