"""Tables, JSON and CSV, and the words and values that several commands print."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from crondor.calendar import SHORT_MONTHS, SHORT_WEEKDAYS
from crondor.day_rule import DecidedBy, decided_by, is_unrestricted
from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic, printable, shortened
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, MONTH, CronSpec, Field
from crondor_cli.kit.screen import SEVERITIES, echo_lines, echo_pieces, emit, in_columns, marked, say, screen_columns

if TYPE_CHECKING:
    from crondor.preview.runs import DialectReason
    from crondor_cli.kit import results

_WIDEST = 40  # characters of a cell that comes from an ad


def print_rows(head: list[str], rows: list[list[str]], colours: Mapping[str, str] | None = None) -> None:
    """Print rows in columns below their heads; a row of one cell stands below the row before, indented.

    ``colours`` are those of words that may be a cell; the severity of a finding has its own.
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

    It may be a value of the object, of objects within that, or of the items of another such array.
    """
    echo_pieces(chain(_object(data, ""), "\n"))


def say_json(data: object) -> None:
    """Write a value as one line of JSON; no terminal breaks it."""
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
    else:  # a string of JSON has no line end
        yield _ENCODER.encode(value).replace("\n", f"\n{indent}")


def _streams(data: Mapping[str, object]) -> bool:
    """Say whether there is an iterator in an object, or in one within."""
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
    """Return why the real schedd differs."""
    return {"code": reason.code, "reason": reason.why, "write": reason.write, "is_clause": reason.is_clause}


def iso(epoch: int, zone: tzinfo) -> str | None:
    """Return an instant as ISO 8601 with offset, None beyond the calendar."""
    try:
        return datetime.fromtimestamp(epoch, zone).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def instant(epoch: int, zone: tzinfo) -> results.Instant:
    """Return an instant as epoch seconds and in the zone."""
    return {"time": int(epoch), "local": iso(epoch, zone)}


def instant_or_none(epoch: int | None, zone: tzinfo) -> results.Instant | None:
    """Return an instant, None where there is none."""
    return None if epoch is None else instant(epoch, zone)


def moments(deferral: Deferral, zone: tzinfo) -> results.Start:
    """Return a start and the moments around it."""
    return {
        "time": deferral.time,
        "local": iso(deferral.time, zone),
        "nominal_match": deferral.nominal_match,
        "match_opens": deferral.match_opens,
        "last_match": deferral.last_match,
        "last_start": deferral.last_start,
    }


_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))
_MOST_ITEMS = 12
_LONGEST_TEXT = 28  # characters of a field as it was written


def length(seconds: int, start: date) -> str:
    """Return a length in calendar years, days and less: "8 years", "61 days", "1 hour 30 minutes"."""
    days, rest = divmod(seconds, 86400)
    end = start + timedelta(days=days)
    years = end.year - start.year - ((end.month, end.day) < (start.month, start.day))
    days = (end - _anniversary(start, years)).days
    counts = [("year", years), ("day", days)]
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        counts.append((name, count))
    return " ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts if count)


def _anniversary(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)


def members(values: Sequence[int], names: Sequence[str] = ()) -> str:
    """Return values as a list in which three or more in a row are a range; a long one is cut: "0, 2, 4 ... 58"."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    said = [names[value] if names else str(value) for value in range(values[-1] + 1)] if values else []
    items: list[str] = []
    for run in runs:
        items += [f"{said[run[0]]}-{said[run[-1]]}"] if len(run) > 2 else [said[value] for value in run]
    if len(items) <= _MOST_ITEMS:
        return ", ".join(items)
    shown = 3 if len({b - a for a, b in pairwise(values)}) == 1 else _MOST_ITEMS - 2
    return f"{', '.join(items[:shown])} ... {items[-1]} ({len(values)} values)"


def value_set(spec: CronSpec, field: Field) -> str:
    """Return the values of a field, with the names of months and weekdays."""
    if is_unrestricted(spec, field):
        return "unrestricted"
    values = spec.values(field)
    if spec.bits[field.index] == field.full:
        return f"{members(values)} (every value, written out)"
    names = {MONTH: SHORT_MONTHS, DAY_OF_WEEK: SHORT_WEEKDAYS}.get(field)
    return members(values) + (f" ({members(values, names)})" if names else "")


def written(spec: CronSpec, field: Field) -> str:
    """Return a field as it was written, or what stands for one that was not."""
    text = spec.given[field.index]
    if text is None:
        return "not given"
    text = text.strip()
    return shortened(text, _LONGEST_TEXT)


_DAY_RULES = {
    DecidedBy.NEITHER: "neither day field restricts: every day counts",
    DecidedBy.DAY_OF_MONTH: "only the day of month restricts the days",
    DecidedBy.DAY_OF_WEEK: "only the day of week restricts the days",
    DecidedBy.EITHER: "OR: a day counts when either day field names it",
    DecidedBy.BOTH: "AND: a day counts when both day fields name it, since one of them begins with `*`",
}


def day_rule_words(spec: CronSpec) -> str:
    """Return how the day fields of a spec decide in its dialect (docs/dialects.md)."""
    by = decided_by(spec)
    for field in (DAY_OF_MONTH, DAY_OF_WEEK):
        if by is DecidedBy.EITHER and spec.bits[field.index] == field.full:
            return f"{_DAY_RULES[by]}, and the {field.title} names every day"
    return _DAY_RULES[by]


def columns(rows: list[list[str]]) -> list[str]:
    """Return rows as indented lines of columns, the first at least as wide as the names of facts."""
    named = [[row[0].ljust(12), *row[1:]] if len(row) > 1 else row for row in rows]
    return in_columns([""] * len(rows[0]), named, screen_columns(sys.stdout), margin="  ")
