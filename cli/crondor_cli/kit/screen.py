"""Output on the screen: text safe for terminals, laid out to its width, and diagnostics."""

from __future__ import annotations

import getpass
import os
import re
import sys
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from itertools import groupby, islice
from threading import RLock
from typing import Final, TextIO

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, columns_of, printable, render

COLORS = ("auto", "always", "never")


class Screen:
    """The choice of --color, and the width of lines in columns, None for the terminal's."""

    def __init__(self) -> None:
        self.color = "auto"
        self.width: int | None = None

    def wants_colour(self, stream: TextIO | None) -> bool:
        """Return whether output to a stream is coloured.

        ``--color`` decides, then NO_COLOR, then FORCE_COLOR (each if not empty), then whether the stream is a terminal
        with colours.
        """
        if stream is None or self.color == "never":
            return False
        if self.color == "always":
            return True
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return stream.isatty() and os.environ.get("TERM") != "dumb"


SCREEN = Screen()
ERASE: Final = "\r\033[K"


# Output on the terminal first erases the line; drawing in another thread waits for the end of the output.
class StatusLine:
    """The status line; nothing is drawn on the terminal during a block ``with STATUS:``.

    ``spoken`` is the time of the last output, in seconds of the monotonic clock.
    """

    def __init__(self) -> None:
        """Start closed: nothing is drawn, and there is no lock."""
        self.spoken = 0.0
        self._drawn = ""
        self._is_at_begin = True
        self._lock: RLock | None = None

    def open(self) -> None:
        """Allow a thread to draw."""
        self._drawn, self._is_at_begin, self.spoken = "", True, time.monotonic()
        self._lock = RLock()

    def close(self) -> None:
        """Erase the line, and draw no more."""
        self.clear()
        self._lock = None

    def draw(self, text: str) -> None:
        """Replace the line with visible text of one line, unless the output so far ends within a line."""
        lock = self._lock
        if lock is None or not lock.acquire(timeout=0.1):
            return
        try:
            if self._is_at_begin and text != self._drawn:
                _write(ERASE + text)
                self._drawn = text
        finally:
            lock.release()

    def clear(self) -> None:
        """Erase the line."""
        with self:
            pass

    def spoke(self, text: str) -> None:
        """Record output to the terminal, inside the block."""
        if self._lock is not None and text:
            self._is_at_begin = text.endswith("\n")
            self.spoken = time.monotonic()

    def __enter__(self) -> None:
        if self._lock is not None:
            self._lock.acquire()
            if self._drawn:
                self._drawn = ""
                _write(ERASE)

    def __exit__(self, *_error: object) -> None:
        if self._lock is not None:
            self._lock.release()


def clean_line() -> None:
    """Erase the terminal's echo of Ctrl-C (``^C``), so that the next output starts a line.

    A signal handler may call it: it bypasses the stream, which may be in use.
    """
    with suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\n" if os.environ.get("TERM") == "dumb" else ERASE.encode())


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


STATUS: Final = StatusLine()

PROSE = 100
"""The limit of columns for a line of prose, however wide the screen is."""

FACTS = 108
"""The same after the name of a fact."""

_NARROWEST = 20  # columns; lines are at least this wide
_TOGETHER = 512  # rows
_BETWEEN = "\0"  # separates the cells of a stored row: printed text does not contain it
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HANGING = re.compile(r" *(?:= \w+: |[#*>-] |\S+(?: \S+){0,3}? {2,})?")  # a margin, and the label a text hangs after


# Output that is not on a terminal keeps its lines, however long: programs read lines, and people search them.
# ``COLUMNS`` and the setting ``width`` override the width of a terminal.
def screen_columns(stream: TextIO | None) -> int | None:
    """Return the width of a stream's terminal in columns, None without a terminal."""
    if stream is None or not stream.isatty():
        return None
    if SCREEN.width is not None:
        return SCREEN.width
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(_NARROWEST, int(given))
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(_NARROWEST, found) if found else None


def drawn_columns(stream: TextIO | None) -> int | None:
    """Return the columns of a line that is redrawn: the chosen width, limited to the terminal's."""
    wanted = screen_columns(stream)
    if stream is None or wanted is None:
        return wanted
    try:
        return min(wanted, os.get_terminal_size(stream.fileno()).columns or wanted)
    except (OSError, ValueError):
        return wanted


def fitted(text: str, columns: int) -> str:
    """Return text with wide lines broken between words; continuation lines are indented like their start."""
    if len(text) <= columns and text.isascii():
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, columns))


def prose(text: str, columns: int | None, first: str = "", below: str = "", most: int = PROSE) -> list[str]:
    """Return prose in lines that fit a screen with ``columns`` (None: no screen), of at most ``most`` columns.

    ``first`` precedes the first line, ``below`` each further line.
    """
    return _words_in_lines(first + text, most if columns is None else min(most, columns), below)


def _broken(line: str, columns: int) -> list[str]:
    if len(line) <= columns and line.isascii():
        return [line]
    bare = _COLOUR.sub("", line) if "\x1b" in line else line
    if columns_of(bare) <= columns:
        return [line]
    found = _HANGING.match(bare)
    hang = found.end() if found is not None else 0
    margin = len(bare) - len(bare.lstrip(" "))
    behind = hang if margin < hang <= columns // 2 else min(margin + 4, columns // 2)
    return _words_in_lines(line, columns, " " * behind)


def _words_in_lines(line: str, columns: int, below: str) -> list[str]:
    """Break a line at single blanks; wider gaps, which align columns, stay except at the end of a line."""
    lines: list[str] = []
    made, width = "", 0
    for piece in re.findall(r" *[^ ]+", line):
        size = columns_of(_COLOUR.sub("", piece))
        if made.strip() and width + size > columns:
            lines.append(made)
            word = piece.lstrip(" ")
            made, width = below + word, columns_of(below + _COLOUR.sub("", word))
        else:
            made, width = made + piece, width + size
    return [*lines, made]


def clipped(text: str, columns: int) -> str:
    """Return the part of a one-line text that fits into a number of columns."""
    if len(text) <= columns and text.isascii():
        return text
    end = min(len(text), columns)
    while end and columns_of(text[:end]) > columns:
        end -= 1
    return text[:end]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return text padded with blanks to a width in columns, on its left for ``right``."""
    blanks = " " * max(0, width - columns_of(text))
    return blanks + text if right else text + blanks


def in_columns(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int | None = None,
    *,
    margin: str = "",
    right: Container[int] = (),
    plain: Container[str] = ("", "-"),
) -> list[str]:
    """Return rows in columns below their heads, right-aligned for the numbers in ``right``.

    A row of one cell is a note on the previous row, and is below it. If the columns do not all fit into ``columns`` of
    a screen, the last ones are listed below each row with their names: a narrow terminal loses nothing of a table,
    except empty cells (``plain``). A head of empty names is not shown.
    """
    return list(columns_of_rows(head, rows, columns, margin=margin, right=right, plain=plain))


def columns_of_rows(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    columns: int | None = None,
    *,
    margin: str = "",
    right: Container[int] = (),
    plain: Container[str] = ("", "-"),
) -> Iterator[str]:
    """Yield the lines of ``in_columns``; rows are read once, and stored as text until the widths are known."""
    widths = list(map(columns_of, head))
    kept: list[str] = []
    rest = iter(rows)
    while some := list(islice(rest, _TOGETHER)):
        kept += map(_BETWEEN.join, some)
        for i, column in enumerate(zip(*(row for row in some if len(row) > 1), strict=True)):
            size = len if "".join(column).isascii() else columns_of
            widths[i] = max(widths[i], *map(size, column))
    beside = _how_many_fit(widths, None if columns is None else columns - len(margin))
    form = "  ".join(f"%{'' if i in right else '-'}{widths[i]}s" for i in range(beside))

    def line(row: Sequence[str]) -> str:
        if "".join(row).isascii():
            return (margin + form % tuple(row[:beside])).rstrip()
        cells = (padded(row[i], widths[i], right=i in right) for i in range(beside))
        return (margin + "  ".join(cells)).rstrip()

    if any(head):
        yield line(head)
    for text in kept:
        row = text.split(_BETWEEN)
        if len(row) == 1:
            yield f"{margin}      {text}"
            continue
        yield line(row)
        if beside < len(row):
            below = [f"{head[i]}: {row[i]}".removeprefix(": ") for i in range(beside, len(row)) if row[i] not in plain]
            yield from _stacked(below, margin + "      ", columns)


def _how_many_fit(widths: Sequence[int], room: int | None) -> int:
    taken = 0
    for number, width in enumerate(widths):
        taken += width + (2 if number else 0)
        if room is not None and taken > room:
            return max(1, number)
    return len(widths)


def _stacked(cells: Sequence[str], margin: str, columns: int | None) -> list[str]:
    lines: list[str] = []
    for cell in cells:
        joined = f"{lines[-1]}, {cell}" if lines else ""
        if lines and (columns is None or columns_of(joined) <= columns):
            lines[-1] = joined
        else:
            lines.append(margin + cell)
    return lines


# A name, an attribute or an error of a file may contain sequences that move a cursor, change a title or reverse the
# order of letters. Text for people has escapes instead (``\x1b``); data for programs is unchanged, unless it goes to a
# terminal.
class Visible(str):
    """Text with visible escapes, which may have colours of our own."""

    __slots__ = ()


_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|(?<=#)#(?=(?:vso|teamcity)?\[)", re.MULTILINE)


class Whole(Visible):
    """A line for pasting, which is not broken on a terminal."""

    __slots__ = ()


_PIECE = 1 << 16  # characters written at once


def visible(text: str) -> str:
    """Return text with escapes for everything that a terminal would act on, except line ends and tabs."""
    bare = text.replace("\n", "").replace("\t", "")
    if bare.isprintable():
        return text
    return "".join(sign if sign in "\n\t" else printable(sign) for sign in text)


def reads_commands() -> bool:
    """Return whether this command runs where some lines of output are commands, as in GitHub Actions."""
    return not os.environ.keys().isdisjoint(_RUNNERS)


def without_commands(text: str) -> str:
    """Return text without commands for a runner (``::error::``, ``##[error]``); JSON keeps its meaning."""
    return _COMMAND.sub(lambda found: f"{found[0][:-1]}\\u{ord(found[0][-1]):04x}", text)


def styled(text: str, *, colour: str | None = None, bold: bool = False) -> Visible:
    """Return visible text in a colour, which click removes for output without colours."""
    return Visible(click.style(visible(text), fg=colour, bold=bold or None))


def marked(line: str, words: re.Pattern[str], colours: Mapping[str, str]) -> str:
    """Return a line with the last of some words in its colour, if stdout has colours."""
    found = [*words.finditer(line)][-1:] if SCREEN.wants_colour(sys.stdout) else []
    if not found:
        return line
    start, end = found[0].span()
    word = line[start:end]
    return together(line[:start], styled(word, colour=colours[word], bold=True), line[end:])


def tinted(text: str, *, colour: str | None = None, bold: bool = False) -> str:
    """Return text for stdout in a colour, unchanged without colours."""
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
    """Return a line that ``echo_lines`` prints unbroken, however narrow the terminal: for pasting."""
    return Whole(visible(line))


def echo_lines(lines: Iterable[str], *, fits: bool = True) -> None:
    """Print lines like ``say``, many at once; whole lines are not broken. Lines before an exception are printed."""
    waiting: list[str] = []
    size = 0
    try:
        for line in lines:
            waiting.append(line)
            size += len(line) + 1
            if size >= _PIECE:
                some, waiting, size = waiting, [], 0
                _say_lines(some, fits=fits)
    finally:
        if waiting:
            _say_lines(waiting, fits=fits)


def _say_lines(lines: list[str], *, fits: bool) -> None:
    if set(map(type, lines)) == {str}:
        say("\n".join((*lines, "")), nl=False, fits=fits)
        return
    for is_whole, some in groupby(lines, lambda line: fits and isinstance(line, Whole)):
        say(together(*(piece for line in some for piece in (line, "\n"))), nl=False, fits=fits and not is_whole)


def echo_pieces(pieces: Iterable[str]) -> None:
    """Print pieces of text for programs, with lines unbroken even on a terminal."""
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
    """Write data for programs on stdout, as bytes or, if it takes only that, as text; on a terminal like ``say``."""
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
    except UnicodeEncodeError:  # half a surrogate pair, which has no encoding
        return text.encode("utf-8", "backslashreplace")


_STREAM = "JOURNAL_STREAM"


# systemd names the journal's file in JOURNAL_STREAM (systemd.exec(5)).
class Level(IntEnum):
    """The severity of a line, as in syslog(3)."""

    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.NOTE: Level.NOTICE}
"""The levels of diagnostics."""


def levelled(text: str, level: Level, stream: TextIO | None) -> str:
    """Return a text with its level before each line if the stream is the journal, otherwise unchanged."""
    if not _is_journal(stream):
        return text
    return "\n".join(f"<{level.value}>{line}" for line in text.split("\n"))


def _is_journal(stream: TextIO | None) -> bool:
    wanted = os.environ.get(_STREAM)
    if not wanted or stream is None:
        return False
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return wanted == f"{status.st_dev}:{status.st_ino}"


_SEVERITY = r"\b(error|warning|note)(?=: )"
_UNDERLINE = re.compile(r"^ *\| *(\^+)$", re.MULTILINE)
SEVERITIES = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to stderr, one block each: those of a file in order of lines, those without one last."""
    for diagnostic in in_order(diagnostics):
        say(levelled(shown(diagnostic, sys.stderr), LEVELS[diagnostic.severity], sys.stderr), err=True)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics by place, the sources in order of appearance; those without a place are last."""
    found = list(diagnostics)
    names: dict[str, int] = {}
    for each in found:
        if each.span is not None:
            names.setdefault(each.span.source.name, len(names))

    def place(each: Diagnostic) -> tuple[int, int]:
        span = each.span
        return (len(names), 0) if span is None else (names[span.source.name], span.start)

    return sorted(found, key=place)


def shown(diagnostic: Diagnostic, stream: TextIO | None) -> str:
    """Return a diagnostic as written to a stream, in colour on a terminal."""
    text = render(diagnostic, screen_columns(stream))
    return coloured(text) if SCREEN.wants_colour(stream) else text


def show_error(error: CrondorError) -> None:
    """Write the diagnostics of an error to stderr."""
    show(error.diagnostics)


def coloured(text: str) -> Visible:
    """Return a rendered diagnostic with its severity and its underline in colour."""
    head, end, rest = text.partition("\n")
    found = re.search(_SEVERITY, head)
    if found is None:
        return together(text)
    colour = SEVERITIES[found[1]]
    severity = styled(found[1], colour=colour, bold=True)
    line = _UNDERLINE.search(rest)
    if line is not None:
        rest = together(rest[: line.start(1)], styled(line[1], colour=colour, bold=True), rest[line.end(1) :])
    return together(head[: found.start()], severity, head[found.end() :], end, rest)


def account() -> str:
    """Return the name of this account. Raises UsageError if it has none, as of a number alone in a container."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise usage("this account has no name: set LOGNAME to the name to use") from None


def usage(message: str) -> click.UsageError:
    """Return a usage error of the running command."""
    return click.UsageError(message, click.get_current_context(silent=True))


def not_installed(what: str, package: str, extra: str) -> click.UsageError:
    """Return the usage error of a command or an option that needs a package of an extra."""
    return usage(f"{what} needs {package}, which is not installed: pip install '.[{extra}]' in a clone of crondor")
