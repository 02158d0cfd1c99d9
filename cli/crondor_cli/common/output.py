r"""The one way of text to the screen: nothing in it acts on a terminal but what is put there here.

A name, an attribute or an error of a file may hold the sequences that move a cursor, change a title or turn the order
of letters round. What people read is shown with escapes in their place (``\x1b``); what programs read stays as it is,
unless it goes to a terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import groupby

import click

from crondor.diagnostics import printable
from crondor_cli.common.layout import fitted, screen_columns
from crondor_cli.common.screen import SCREEN
from crondor_cli.common.status_line import STATUS


class Visible(str):
    """Text that was made visible, and may have colours of our own in it."""

    __slots__ = ()


_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|(?<=#)#(?=(?:vso|teamcity)?\[)", re.MULTILINE)


class Whole(Visible):
    """A line to be pasted somewhere, which no terminal breaks."""

    __slots__ = ()


_PIECE = 1 << 16  # characters written at once


def visible(text: str) -> str:
    """Return text with everything a terminal would act on as escapes, but for line ends and tabs."""
    bare = text.replace("\n", "").replace("\t", "")
    if bare.isprintable():
        return text
    return "".join(sign if sign in "\n\t" else printable(sign) for sign in text)


def reads_commands() -> bool:
    """Say whether what runs this command, as GitHub Actions does, takes some lines of its output for commands."""
    return any(name in os.environ for name in _RUNNERS)


def without_commands(text: str) -> str:
    """Return text in which no runner finds a command (``::error::``, ``##[error]``); JSON keeps its meaning."""
    return _COMMAND.sub(lambda found: f"{found[0][:-1]}\\u{ord(found[0][-1]):04x}", text)


def styled(text: str, *, colour: str | None = None, bold: bool = False) -> Visible:
    """Return visible text in a colour; where no terminal is, nobody sees it."""
    return Visible(click.style(visible(text), fg=colour, bold=bold or None))


def marked(line: str, words: re.Pattern[str], colours: Mapping[str, str]) -> str:
    """Return a line with the last of some words in its colour, where stdout has colours."""
    found = [*words.finditer(line)][-1:] if SCREEN.wants_colour(sys.stdout) else []
    if not found:
        return line
    start, end = found[0].span()
    word = line[start:end]
    return together(line[:start], styled(word, colour=colours[word], bold=True), line[end:])


def tinted(text: str, *, colour: str | None = None, bold: bool = False) -> str:
    """Return text for stdout in a colour, as it is where nobody wants colours."""
    return styled(text, colour=colour, bold=bold) if SCREEN.wants_colour(sys.stdout) else text


def together(*pieces: str) -> Visible:
    """Return pieces as one visible text."""
    return Visible("".join(piece if isinstance(piece, Visible) else visible(piece) for piece in pieces))


def say(text: object = "", *, err: bool = False, nl: bool = True, fits: bool = True) -> None:
    """Write text for people, on stdout or stderr; on a terminal its lines are broken between words, if it ``fits``."""
    shown = text if isinstance(text, Visible) else visible(str(text))
    shown = Visible(without_commands(shown)) if reads_commands() else shown
    stream = sys.stderr if err else sys.stdout
    columns = screen_columns(stream)
    fits = fits and not isinstance(text, Whole)
    color = True if SCREEN.wants_colour(stream) else None
    if columns is None:
        click.echo(shown, err=err, nl=nl, color=color)
        return
    with STATUS:
        click.echo(fitted(shown, columns) if fits else shown, err=err, nl=nl, color=color)
        STATUS.spoke("\n" if nl else shown)


def whole(line: str) -> Whole:
    """Return a line that ``echo_lines`` prints as it is, however narrow the terminal: for what people paste."""
    return Whole(visible(line))


def echo_lines(lines: Iterable[str], *, fits: bool = True) -> None:
    """Print lines, as ``say`` does; whole ones are not broken."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line) + 1
        if size >= _PIECE:
            _say_lines(waiting, fits=fits)
            waiting, size = [], 0
    if waiting:
        _say_lines(waiting, fits=fits)


def _say_lines(lines: list[str], *, fits: bool) -> None:
    if fits and any(isinstance(line, Whole) for line in lines):
        for is_whole, some in groupby(lines, lambda line: isinstance(line, Whole)):
            say(together(*(piece for line in some for piece in (line, "\n"))), nl=False, fits=not is_whole)
    elif any(isinstance(line, Visible) for line in lines):
        say(together(*(piece for line in lines for piece in (line, "\n"))), nl=False, fits=fits)
    else:
        say("\n".join((*lines, "")), nl=False, fits=fits)


def echo_pieces(pieces: Iterable[str]) -> None:
    """Print pieces of text for programs, with their lines as they are, on a terminal too."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            whole, end, begun = "".join(waiting).rpartition("\n")
            say(whole + end, nl=False, fits=False)
            waiting, size = [begun], len(begun)
    say("".join(waiting), nl=False, fits=False)


def emit(data: str | bytes, *, nl: bool = False) -> None:
    """Write data for programs on stdout, byte for byte; a terminal gets it as ``say`` writes it.

    A stdout that takes only text, as ``io.StringIO`` does, gets the text.
    """
    terminal = sys.stdout is not None and sys.stdout.isatty()
    if terminal or not hasattr(sys.stdout, "buffer"):
        text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
        say(text if terminal else Visible(text), nl=nl, fits=False)
        return
    raw = data if isinstance(data, bytes) else _encoded(data)
    if raw or nl:
        click.echo(raw + b"\n" if nl else raw, nl=False)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no byte stands for
        return text.encode("utf-8", "backslashreplace")
