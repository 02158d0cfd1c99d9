"""Tables, JSON and CSV, and texts that several commands print."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import chain
from typing import TYPE_CHECKING

from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic, printable, shortened
from crondor_cli.kit.screen import (
    SEVERITIES,
    echo_lines,
    echo_pieces,
    emit,
    in_columns,
    marked,
    prose,
    say,
    screen_columns,
    whole,
)

if TYPE_CHECKING:
    from crondor.preview.runs import DialectReason
    from crondor_cli.kit import results

_WIDEST = 40  # characters of a cell from an ad


def print_rows(head: list[str], rows: list[list[str]], colours: Mapping[str, str] | None = None) -> None:
    """Print rows in columns below their heads; a row of one cell is below the previous row, indented.

    ``colours`` has colours by cell text; the severity of a finding has its own.
    """
    colours = {**(colours or {}), **SEVERITIES}
    lines = in_columns(head, rows, screen_columns(sys.stdout))
    words = "|".join(map(re.escape, colours))
    pattern = re.compile(rf"(?<=  )(?:{words})(?=  | \(|$)|(?<=^ {{6}})(?:{'|'.join(SEVERITIES)})(?=: )")
    echo_lines(marked(line, pattern, colours) for line in lines)


def cell(text: str | None) -> str:
    """Return an ad's text as a cell."""
    shown = printable(text or "-")
    return shortened(shown, _WIDEST)


def plural(count: int, word: str) -> str:
    """Return ``1 job``, ``1,200 jobs``."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")


_PIECE = 1 << 16  # characters
_ENCODER = json.JSONEncoder(indent=2)


def echo_json(data: Mapping[str, object]) -> None:
    """Print an object as ``json.dumps(data, indent=2)`` does; an iterator becomes an array.

    An iterator may be nested in objects, or in the items of another such array.
    """
    echo_pieces(chain(_object(data, ""), "\n"))


def say_json(data: object) -> None:
    """Write a value as one line of JSON, unbroken on a terminal."""
    say(json.dumps(data), fits=False)


def echo_csv(rows: Iterable[Sequence[object]]) -> None:
    """Print rows as comma-separated values, each with a line end."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        if lines.tell() >= _PIECE:
            emit(lines.getvalue())
            lines.seek(0)
            lines.truncate()
    emit(lines.getvalue())


def _pieces(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Iterator):
        yield from _array(value, indent)
    elif isinstance(value, Mapping) and _streams(value):
        yield from _object(value, indent)
    else:  # JSON strings contain no line ends
        yield _ENCODER.encode(value).replace("\n", f"\n{indent}")


def _streams(data: Mapping[str, object]) -> bool:
    """Return whether an object contains an iterator, directly or nested."""
    return any(hasattr(each, "__next__") or (isinstance(each, dict) and _streams(each)) for each in data.values())


def _object(data: Mapping[str, object], indent: str) -> Iterator[str]:
    before = "{"
    for key, value in data.items():
        yield f"{before}\n{indent}  {json.dumps(key)}: "
        yield from _pieces(value, f"{indent}  ")
        before = ","
    yield f"\n{indent}}}"


def _array(items: Iterator[object], indent: str) -> Iterator[str]:
    before = "["
    for item in items:
        yield f"{before}\n{indent}  "
        yield from _pieces(item, f"{indent}  ")
        before = ","
    yield "[]" if before == "[" else f"\n{indent}]"


def diagnostic_data(diagnostic: Diagnostic) -> results.Diagnostic:
    """Return a finding with its place."""
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "fix": diagnostic.fix,
        "file": span and span.source.name,
        "line": span and span.line,
        "column": span and span.column,
        "text": span and span.text[:200],
    }


def reason_data(reason: DialectReason) -> results.Difference:
    """Return the JSON form of a difference of the real schedd."""
    return {"code": reason.code, "reason": reason.why, "write": reason.write, "is_clause": reason.is_clause}


def reason_lines(reasons: Iterable[results.Difference]) -> Iterator[str]:
    """Yield the differences of the real schedd, and what to write."""
    for reason in reasons:
        yield from prose(printable(reason["reason"]), screen_columns(sys.stdout), "    ", "    ")
        if reason["write"]:
            verb = "add to requirements" if reason["is_clause"] else "write"
            yield whole(f"      {verb}:  {printable(reason['write'])}")


def iso(epoch: int, zone: tzinfo) -> str | None:
    """Return a time as ISO 8601 with offset, None outside the calendar."""
    try:
        return datetime.fromtimestamp(epoch, zone).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def instant(epoch: int, zone: tzinfo) -> results.Instant:
    """Return a time as epoch seconds and in the zone."""
    return {"time": int(epoch), "local": iso(epoch, zone)}


def instant_or_none(epoch: int | None, zone: tzinfo) -> results.Instant | None:
    """Return a time, None if there is none."""
    return None if epoch is None else instant(epoch, zone)


def moments(deferral: Deferral, zone: tzinfo) -> results.Start:
    """Return a start and its related times."""
    return {
        "time": deferral.time,
        "local": iso(deferral.time, zone),
        "nominal_match": deferral.nominal_match,
        "match_opens": deferral.match_opens,
        "last_match": deferral.last_match,
        "last_start": deferral.last_start,
    }


def columns(rows: list[list[str]]) -> list[str]:
    """Return rows as indented lines of columns, the first at least as wide as the names of facts."""
    named = [[row[0].ljust(12), *row[1:]] if len(row) > 1 else row for row in rows]
    return in_columns([""] * len(rows[0]), named, screen_columns(sys.stdout), margin="  ")
