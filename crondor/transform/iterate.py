"""The items of TRANSFORM: as of a queue statement, but read and cut into variables by other rules.

Slices and tables are read and have no effect, and a row keeps what stands between its separators (HTCondor 25.14,
MacroStreamXFormSource::parse_iterate_args and set_iter_item).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from crondor.diagnostics import CrondorError
from crondor.macro.files import Files, of_kind
from crondor.macro.lines import BLANKS, LineReader
from crondor.macro.queue_statement import ItemSource, QueueArguments, QueueError, parse
from crondor.transform.errors import Stop, fault, short
from crondor.transform.program import Iteration

MAX_ROWS = 1_000_000
_Answer = TypeVar("_Answer")
_SEPARATOR = re.compile(r"[, \t][ \t]*")
_ITEM = re.compile(r"[^, \t\r\n]+")


class IteratedItems(NamedTuple):
    """What a TRANSFORM goes over: ``times`` each of the rows; ``is_once`` says that it is no iteration at all."""

    times: int
    variables: tuple[str, ...]
    rows: tuple[str, ...]
    is_once: bool
    missing: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many ads it makes of one."""
        return max(1, self.times) * max(1, len(self.rows))

    def rounds(self) -> Iterator[tuple[int, int, str | None]]:
        """Yield the row, the step in it, and its text; none at all where HTCondor does not iterate.

        A list without rows gives one empty row where a count stands before it.
        """
        rows: tuple[str | None, ...] = self.rows
        if not rows and self.times > 1:
            rows = (None,)
        for row, text in enumerate(rows):
            for step in range(max(1, self.times)):
                yield row, step, text

    def values(self, text: str | None) -> dict[str, str]:
        """Return the loop variables of a row; those it has no text for are not defined."""
        names = [name.lower() for name in self.variables]
        if not names:
            return {}
        row, at = text or "", 0
        values: dict[str, str] = {}
        for name in names[:-1]:
            found = _SEPARATOR.search(row, at)
            if found is None:
                values[name] = row[at:]
                return values
            values[name] = row[at : found.start()]
            at = found.end()
        values[names[-1]] = row[at:]
        return values


def read_items(of: Iteration, text: str, files: Files | None) -> IteratedItems:
    """Return the items of a TRANSFORM whose arguments are ``text`` after macros were replaced. Raises Stop.

    transform = "TRANSFORM" arguments?

    HTCondor: MacroStreamXFormSource::init_iterator.
    """
    trimmed = text.strip(BLANKS)
    if not trimmed:
        return IteratedItems(1, (), (), is_once=True)
    try:
        arguments = parse(trimmed, None, 0)
    except QueueError as error:
        help_text = f"{error.message}; {error.help}"
        raise Stop(fault("transform", "invalid TRANSFORM statement", of.span, help_text)) from None
    count = arguments.per_item
    if arguments.items is None:
        return IteratedItems(count, (), ("",) if count > 1 else (), is_once=count == 1)
    rows = [item.text for item in arguments.items]
    rows += _more(of, arguments, files)
    if len(rows) > MAX_ROWS:
        raise Stop(fault("transform", f"crondor reads no more than {MAX_ROWS} items", of.span))
    missing: list[str] = []
    if arguments.kinds:
        rows = _names(of, rows, arguments.kinds, files, missing)
    return IteratedItems(count, arguments.variables, tuple(rows), is_once=False, missing=tuple(missing))


def _more(of: Iteration, arguments: QueueArguments, files: Files | None) -> Iterator[str]:
    """Yield the rows or items that do not stand on the line itself."""
    source = arguments.source
    are_rows = arguments.items is not None and arguments.items.are_rows
    if source is ItemSource.LINES:
        yield from _rows_behind(of, are_rows=are_rows)
    elif source is ItemSource.FILE:
        lines = LineReader(_opened(of, files, lambda known: known.read(arguments.path)))
        while (line := lines.item()) is not None:
            yield line.unstripped().text
    elif source is ItemSource.COMMAND:
        message = f"HTCondor would run {short(arguments.path)} and take its output for items; crondor runs nothing"
        raise Stop(fault("runs-command", message, of.span, "write the items into a file, or here"))
    elif source is ItemSource.STDIN:
        raise Stop(fault("transform", "crondor takes no items from standard input", of.span, "write them into a file"))


def _rows_behind(of: Iteration, *, are_rows: bool) -> Iterator[str]:
    if of.rest is not None:
        lines = LineReader(of.line.source, of.rest)
        while (line := lines.item()) is not None:
            row = line.unstripped().text
            if row.startswith(")"):
                return
            if row.startswith("#"):
                continue
            if are_rows:
                yield row
            else:
                yield from _ITEM.findall(row)
    number = of.line.span().source.position(of.line.offset(len(of.line.text)))[0]
    number -= of.line.unterminated  # HTCondor counts line ends
    message = f"Reached end of file without finding closing brace ')' for TRANSFORM command on line {number}"
    raise Stop(fault("transform", message, of.span, "put ) on a line of its own behind the last item"))


def _names(of: Iteration, patterns: list[str], kinds: str, files: Files | None, missing: list[str]) -> list[str]:
    """Return the names of files that patterns match, each once; ``missing`` takes patterns that match none."""
    names: dict[str, None] = {}
    for pattern in patterns:
        found = _opened(of, files, _matching(pattern))
        found = of_kind(found, pattern, kinds)
        names.update(dict.fromkeys(found))
        if not found:
            missing.append(pattern)
    return list(names)


def _matching(pattern: str) -> Callable[[Files], list[str]]:
    return lambda files: files.matching(pattern)


def _opened(of: Iteration, files: Files | None, ask: Callable[[Files], _Answer]) -> _Answer:
    if files is None:
        raise Stop(fault("unknown-items", "crondor opens no file here", of.span, "write the items out"))
    try:
        return ask(files)
    except CrondorError as error:
        only = error.diagnostics[0]
        raise Stop(fault(only.kind, only.message, of.span, only.help)) from None
