"""Reads user logs: text of today and of old, XML and JSON.

HTCondor: ReadUserLog::readEventNormal, ReadUserLog::readEventClassad.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone, tzinfo
from functools import partial
from typing import Final

from crondor.classad import Format, read_ads
from crondor.classad.ad import ClassAd
from crondor.classad.formats.pieces import UNFINISHED, Piece
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.event_log.body import attributes
from crondor.event_log.event import InvalidEvent, JobEvent
from crondor.job.attributes import exact_integer_of
from crondor.source import Source, Span

Report = Callable[[Diagnostic], None]

MAX_LINES: Final = 10_000  # of one event

_HEADER: Final = re.compile(
    r"(\d{3}) \((-?\d{1,10})\.(-?\d{1,10})\.(-?\d{1,10})\) "
    r"(?:(\d{4})-(\d\d)-(\d\d)[ T]|(\d\d)/(\d\d) )(\d\d):(\d\d):(\d\d)(\.\d{1,6})?(Z)?( ?.*)",
    re.ASCII,
).fullmatch
_ISO: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d{1,6})?(Z)?", re.ASCII).fullmatch
_END: Final = "..."
_PLACED: Final = frozenset(("mytype", "eventtypenumber", "eventtime", "cluster", "proc", "subproc"))


def read_events(
    text: str, *, name: str = "<log>", zone: tzinfo = timezone.utc, now: int | None = None, report: Report | None = None
) -> Iterator[JobEvent]:
    """Yield the events of a log, in whatever form it is.

    ``zone`` is that of its times. The older text form has no year: it is taken from ``now`` (epoch seconds), and is
    the year before for dates that would lie ahead. ``report`` is called with what is no event, and reading goes on;
    without it the first one raises InvalidEvent. An event at the end that is still being written is left out, in any
    form.
    """
    begin = text.lstrip()[:1]
    if begin in {"<", "{"}:
        yield from _read_ads(text, begin, name, zone, report)
        return
    source = Source(text, name)
    at = 0
    while at < len(text):
        found = _next(source, at)
        if found is None:
            return
        lines, start, at = found
        if not any(lines):
            continue
        event = _taken(partial(_event, source, start, lines, zone, now), report)
        if event is not None:
            yield event


def _taken(read: Callable[[], JobEvent], report: Report | None) -> JobEvent | None:
    """Return the event that is read, None for what is none and was reported. Raises InvalidEvent."""
    try:
        return read()
    except InvalidEvent as error:
        if report is None:
            raise
        for fault in error.diagnostics:
            report(fault)
    return None


def _next(source: Source, at: int) -> tuple[list[str], int, int] | None:
    """Return the lines of the event that begins at an offset, that offset, and where the next one begins."""
    text = source.text
    lines: list[str] = []
    start = at
    while True:
        end = text.find("\n", at)
        if end < 0:
            return None  # not written to the end yet
        line = text[at:end].rstrip("\r")
        at = end + 1
        if line == _END:
            return lines, start, at
        if len(lines) < MAX_LINES:
            lines.append(line)


def _event(source: Source, start: int, lines: list[str], zone: tzinfo, now: int | None) -> JobEvent:
    first = lines[0]
    found = _HEADER(first)
    if found is None:
        raise _refused(source, start, first, "is no beginning of an event", "000 (001.000.000) 2026-11-20 18:33:56 ...")
    year, month, day = found[5], found[6] or found[8], found[7] or found[9]
    clock = (int(found[10]), int(found[11]), int(found[12]))
    try:
        time = _time(year, (int(month), int(day), *clock), timezone.utc if found[14] else zone, now)
    except ValueError:
        raise _refused(source, start, first, "has a date that does not exist", "the log is damaged here") from None
    number, head = int(found[1]), found[15].removeprefix(" ")
    body = tuple(line.removeprefix("\t") for line in lines[1:])
    raw = (found[15], *lines[1:])
    return JobEvent(
        number,
        int(found[2]),
        int(found[3]),
        time + float(found[13] or 0),
        int(found[4]),
        attributes(number, head, body),
        head,
        body,
        raw,
    )


def _time(year: str | None, rest: tuple[int, int, int, int, int], zone: tzinfo, now: int | None) -> int:
    if year is not None:
        return int(datetime(int(year), *rest, tzinfo=zone).timestamp())
    latest = datetime.fromtimestamp(0 if now is None else now, zone)
    for guess in range(latest.year, latest.year - 9, -1):  # 29 February needs a leap year
        try:
            found = datetime(guess, *rest, tzinfo=zone)
        except ValueError:
            continue
        if found <= latest or now is None:
            return int(found.timestamp())
    raise ValueError("no such date")


def _read_ads(text: str, begin: str, name: str, zone: tzinfo, report: Report | None) -> Iterator[JobEvent]:
    def refuse(found: Diagnostic) -> None:
        if found.kind == UNFINISHED:
            return
        if report is None:
            raise InvalidEvent(found)
        report(found)

    for ad in read_ads(text, Format.XML if begin == "<" else Format.JSON, name=name, report=refuse):
        event = _taken(partial(_of_ad, ad, name, zone), report)
        if event is not None:
            yield event


def _of_ad(ad: ClassAd, name: str, zone: tzinfo) -> JobEvent:
    here = Piece("", name, 1 if ad.place is None else ad.place.line).span()
    values = _values(ad, here)
    known = {key.lower(): value for key, value in values.items()}
    number, cluster, proc, subproc = (
        exact_integer_of(known.get(key)) for key in ("eventtypenumber", "cluster", "proc", "subproc")
    )
    found = _ISO(str(known.get("eventtime", "")))
    if number is None or cluster is None or proc is None or found is None:
        raise _damaged("an ad without EventTypeNumber, Cluster, Proc and EventTime is no event", here)
    moment = tuple(int(found[place]) for place in range(2, 7))
    try:
        time = _time(found[1], (moment[0], moment[1], moment[2], moment[3], moment[4]), zone, None)
    except ValueError:
        raise _damaged("an event has a date that does not exist", here) from None
    others = {key: value for key, value in values.items() if key.lower() not in _PLACED}
    return JobEvent(number, cluster, proc, time + float(found[7] or 0), subproc or 0, others)


def _values(ad: ClassAd, here: Span) -> dict[str, object]:
    try:
        return {key: ad.python(key) for key in ad}
    except CrondorError as error:
        raise InvalidEvent(replace(found, span=here) for found in error.diagnostics) from None


def _damaged(message: str, here: Span) -> InvalidEvent:
    return InvalidEvent(Diagnostic("event", message, span=here, help="the log is damaged here"))


def _refused(source: Source, start: int, head: str, why: str, hint: str) -> InvalidEvent:
    span = source.span(start, start + len(head))
    return InvalidEvent(Diagnostic("event", f"{head[:60]!r} {why}", span=span, help=f"an event begins like {hint}"))
