"""The compiled lines in a submit file: between two markers, before the first queue statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from crondor.compile.faults import InvalidSchedule
from crondor.compile.markers import BEGIN, END
from crondor.compile.writing.wish import Compiled, LineOptions
from crondor.diagnostics import Diagnostic
from crondor.source import Source, Span, lines_of
from crondor.spec import FIELDS

CLAUSE = "crondor_times"
"""The macro that the clause stands in, so that a file's own requirements stay what they are."""

_QUEUE = re.compile(r"[ \t]*queue\b[^\n]*", re.IGNORECASE)
_REQUIREMENTS = re.compile(r"[ \t]*requirements[ \t]*=", re.IGNORECASE)
_STAMP = "%Y-%m-%dT%H:%MZ"


class Block(NamedTuple):
    """Compiled lines that a file has: their place, the proof's end (epoch seconds), and what they say of each job.

    ``zone`` is the submit host's that they were compiled for, "" where the marker does not say it; ``options`` are
    those that they were made with.
    """

    span: Span
    until: int
    zone: str
    options: LineOptions
    jobs: tuple[Mapping[str, str], ...]


def marked_lines(source: Source) -> Block | None:
    """Return the compiled lines of a submit file, None for a file without.

    Raises InvalidSchedule for markers that do not belong together, and for a time that cannot be read.
    """
    begin: tuple[int, re.Match[str]] | None = None
    found: Block | None = None
    at = 0
    for line in lines_of(source.text):
        bare = line.rstrip("\r\n")
        match = BEGIN.fullmatch(bare)
        if match or END.fullmatch(bare):
            span = source.span(at, at + len(bare))
            if bool(match) == (begin is not None) or found is not None:
                message = "the markers of the compiled lines do not belong together"
                help_text = "delete the markers and what stands between them, and compile with --write again"
                raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span, help=help_text))
            if match:
                begin = at, match
            elif begin is not None:
                whole, said = source.span(begin[0], at + len(line)), begin[1]
                options = LineOptions.read(said["options"] or "")
                found = Block(whole, _instant(said["until"], span), said["zone"] or "", options, _jobs(whole.text))
        at += len(line)
    if begin is not None and found is None:
        message = "the compiled lines have no end marker"
        help_text = "delete the compiled lines, and compile with --write again"
        span = source.span(begin[0], begin[0] + len(source.text[begin[0] :].partition("\n")[0]))
        raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span, help=help_text))
    return found


def _instant(text: str, span: Span) -> int:
    try:
        return int(datetime.strptime(text, _STAMP).replace(tzinfo=timezone.utc).timestamp())
    except ValueError:
        message = f"`{text[:40]}` is no time such as 2031-11-25T00:00Z"
        raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span)) from None


def _jobs(text: str) -> tuple[Mapping[str, str], ...]:
    jobs: list[dict[str, str]] = [{}]
    for line in text.split("\n"):
        if _QUEUE.fullmatch(line):
            jobs.append(dict(jobs[-1]))
        elif "=" in line and not line.lstrip().startswith("#"):
            name, _, value = line.partition("=")
            jobs[-1][name.strip().lower()] = value.strip()
    return tuple(jobs)


def rewritten(source: Source, compiled: Compiled, options: LineOptions) -> str:
    """Return a file's text with compiled lines in it, in the place of those that it has; its ends of lines stay.

    ``options`` are what they were made with. Raises InvalidSchedule where the queue statement cannot be said twice, or
    there is none.
    """
    jobs = compiled.commands
    end = "\r\n" if "\r\n" in source.text else "\n"
    known = marked_lines(source)
    rest = source.text if known is None else source.text[: known.span.start] + source.text[known.span.end :]
    at = _first_queue(rest) if known is None else known.span.start
    queue = _QUEUE.match(rest, _first_queue(rest))
    statement = queue[0].strip() if queue else "queue"
    if len(jobs) > 1 and (statement.endswith(("(", "\\")) or len(_queues(rest)) > 1):
        message = f"the schedule takes {len(jobs)} jobs, and the file's queue statement cannot be repeated for each"
        help_text = "give the file one queue statement on a line of its own"
        raise InvalidSchedule(Diagnostic("schedule-queue", message, help=help_text))
    has_own = any(_REQUIREMENTS.match(line) for _, line in _statements(rest[:at]))
    stamp = datetime.fromtimestamp(compiled.proof.until, timezone.utc).strftime(_STAMP)
    how = f"made by crondor compile --write {options.text}".rstrip()
    marker = f"# crondor: compiled lines until {stamp} on a host in {compiled.wish.host.name} ({how})"
    lines = [marker, *_lines(jobs, statement, has_own=has_own), "# crondor: end of compiled lines"]
    before = rest[:at]
    if before and not before.endswith("\n"):
        before += end
    return before + end.join(lines) + end + rest[at:]


def _lines(jobs: Sequence[Mapping[str, str]], queue: str, *, has_own: bool) -> list[str]:
    lines: list[str] = []
    has_clause = any("requirements" in job for job in jobs)
    names = dict.fromkeys([*(field.command for field in FIELDS), *(name for job in jobs for name in job)])
    for number, job in enumerate(jobs):
        if number:
            lines.append(queue)
        lines += [f"{name} = {job.get(name, '*')}" for name in names if name != "requirements"]
        if has_clause:
            lines.append(f"{CLAUSE} = {job.get('requirements', 'true')}")
            if not number:
                own = "($(requirements)) && " if has_own else ""
                lines.append(f"requirements = {own}($({CLAUSE}))")
    return lines


def _queues(text: str) -> list[int]:
    return [at for at, line in _statements(text) if _QUEUE.fullmatch(line)]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that no backslash before them makes a part of another one, and where they begin."""
    at = 0
    is_joined = False
    for line in lines_of(text):
        bare = line.strip(" \t\r\n")
        if not is_joined:
            yield at, line.rstrip("\r\n")
        is_joined = bare.endswith("\\") and (is_joined or not bare.startswith("#"))
        at += len(line)


def _first_queue(text: str) -> int:
    """Return where the first queue statement begins, the end of a text without one."""
    found = _queues(text)
    return found[0] if found else len(text)
