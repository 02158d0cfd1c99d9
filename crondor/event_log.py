"""User logs of jobs: what happened to a job, event by event, as HTCondor 25.14 writes them and reads them.

``read_events(text)`` reads the text form (and the older one with dates like ``11/20``), XML and JSON, whichever it is;
``write_event(event)`` writes the text form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone, tzinfo
from enum import IntEnum
from functools import partial
from typing import Final

from crondor.classad import Format, read_ads
from crondor.classad.ad import ClassAd
from crondor.classad.formats.pieces import UNFINISHED, Piece
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, printable
from crondor.job.attributes import exact_integer_of, integer_of, number_of
from crondor.job_queue.records import JobId

__all__ = ["EventType", "InvalidEvent", "JobEvent", "read_events", "write_event"]


class InvalidEvent(CrondorError, ValueError):
    """A text that is not an event, or an event that cannot be written."""


class EventType(IntEnum):
    """The number of an event (ULogEventNumber); others are plain integers."""

    SUBMIT = 0
    EXECUTE = 1
    EXECUTABLE_ERROR = 2
    CHECKPOINTED = 3
    JOB_EVICTED = 4
    JOB_TERMINATED = 5
    IMAGE_SIZE = 6
    SHADOW_EXCEPTION = 7
    GENERIC = 8
    JOB_ABORTED = 9
    JOB_SUSPENDED = 10
    JOB_UNSUSPENDED = 11
    JOB_HELD = 12
    JOB_RELEASED = 13
    CLUSTER_SUBMIT = 35
    CLUSTER_REMOVE = 36
    FILE_TRANSFER = 40


@dataclass(frozen=True)
class JobEvent:
    """An event of a job at a time (epoch seconds, with a fraction if the log has one).

    ``proc`` is -1 for an event of the whole cluster. ``attributes`` have the names and values of HTCondor's event ads
    (SubmitHost, HoldReason, ...), as far as the format and the kind of the event have them; ``head`` is the text after
    the time in text form, and ``lines`` are its other lines, without the leading tab: for an event from XML or JSON
    they are empty. ``raw`` is both as they are in a log in text form, None for any other event.
    """

    number: int
    cluster: int
    proc: int
    time: float
    subproc: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)
    head: str = ""
    lines: tuple[str, ...] = ()
    raw: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def job(self) -> JobId:
        """The job."""
        return JobId(self.cluster, self.proc)

    @property
    def type(self) -> EventType | None:
        """The kind of event, None for one of the rarer kinds."""
        return next((known for known in EventType if known == self.number), None)


_HOST: Final = re.compile(r"(?:Job|Cluster) (?:submitted from|executing on) host: ?(.*)").fullmatch
_EVICTED: Final = re.compile(r"Code (-?\d{1,18}) Subcode (-?\d{1,18})").search
_CODE: Final = re.compile(r"Code (-?\d{1,18}) Subcode (-?\d{1,18})").fullmatch
_NORMAL: Final = re.compile(r"\(1\) Normal termination \(return value (-?\d{1,18})\)").fullmatch
_SIGNAL: Final = re.compile(r"\(0\) Abnormal termination \(signal (\d{1,18})\)").fullmatch
_SIZE: Final = re.compile(r"Image size of job updated: (\d{1,18})").fullmatch
_USAGE: Final = re.compile(r"(\d{1,18})  -  (MemoryUsage|ResidentSetSize|ProportionalSetSize) of job .*").fullmatch
_BYTES: Final = re.compile(r"(-?(?:\d+|inf|nan))  -  (Run|Total) Bytes (Sent|Received) By Job").fullmatch
_CORE: Final = re.compile(r"\(0\) No core file|\(1\) Corefile in: .*").fullmatch
_PROPERTY: Final = re.compile(r"([A-Za-z_]\w*) = (\"?)(.*)\2").fullmatch
_BYTES_NAMES: Final = {
    ("Run", "Sent"): "SentBytes",
    ("Run", "Received"): "ReceivedBytes",
    ("Total", "Sent"): "TotalSentBytes",
    ("Total", "Received"): "TotalReceivedBytes",
}
NO_REASON: Final = "Reason unspecified"
TRANSFERS: Final = {
    "Entered queue to transfer input files": 1,
    "Started transferring input files": 2,
    "Finished transferring input files": 3,
    "Entered queue to transfer output files": 4,
    "Started transferring output files": 5,
    "Finished transferring output files": 6,
}

Pairs = Iterator[tuple[str, object]]


# HTCondor: SubmitEvent::readEvent and its kin in src/condor_utils/condor_event.cpp.
def attributes(number: int, head: str, lines: Sequence[str]) -> dict[str, object]:
    """Return the attributes of an event; none for a kind that is not parsed."""
    reader = _READERS.get(number)
    return {} if reader is None else dict(reader(head, [line.strip() for line in lines]))


def _submit(head: str, lines: Sequence[str]) -> Pairs:
    host = _HOST(head)
    if host is not None and host[1]:
        yield "SubmitHost", host[1]
    if lines and lines[0]:
        yield "LogNotes", lines[0]


def _execute(head: str, lines: Sequence[str]) -> Pairs:
    host = _HOST(head)
    if host is not None and host[1]:
        yield "ExecuteHost", host[1]
    properties: dict[str, object] = {}
    for line in lines:
        if line.startswith("SlotName:"):
            yield "SlotName", line.removeprefix("SlotName:").strip()
        elif found := _PROPERTY(line):
            properties[found[1]] = found[3] if found[2] else _number(found[3])
    if properties:
        yield "ExecuteProps", properties


def _number(text: str) -> object:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _evicted(head: str, lines: Sequence[str]) -> Pairs:
    code = _EVICTED(head)
    if code is not None:
        yield "ReasonCode", int(code[1])
        yield "ReasonSubCode", int(code[2])
    requeued = "(0) Job terminated and was requeued" in lines
    yield "TerminatedAndRequeued", requeued
    yield "Checkpointed", any(line.startswith("(1) Job was checkpointed") for line in lines)
    yield from _ended(lines, is_end=requeued)
    reason = _last_said(lines)
    if reason:
        yield "Reason", reason.removeprefix("Reason: ")


def _last_said(lines: Sequence[str]) -> str:
    """Return the line after the fixed ones of an eviction, unless it is a table of resource usage."""
    known = [at for at, line in enumerate(lines) if _BYTES(line) or _NORMAL(line) or _SIGNAL(line) or _CORE(line)]
    said = lines[known[-1] + 1] if known and known[-1] + 1 < len(lines) else ""
    return "" if said.startswith("Partitionable Resources") else said


def _ended(lines: Sequence[str], *, is_end: bool) -> Pairs:
    normal = next((found for line in lines if (found := _NORMAL(line))), None)
    signal = next((found for line in lines if (found := _SIGNAL(line))), None)
    yield "TerminatedNormally", normal is not None
    if is_end and normal is not None:
        yield "ReturnValue", int(normal[1])
    if is_end and signal is not None:
        yield "TerminatedBySignal", int(signal[1])
    for line in lines:
        found = _BYTES(line)
        if found is not None:
            yield _BYTES_NAMES[found[2], found[3]], float(found[1])


def _image(head: str, lines: Sequence[str]) -> Pairs:
    size = _SIZE(head)
    if size is not None:
        yield "Size", int(size[1])
    for line in lines:
        found = _USAGE(line)
        if found is not None:
            yield found[2], int(found[1])


def _reason(_head: str, lines: Sequence[str]) -> Pairs:
    if lines and lines[0]:
        yield "Reason", lines[0]


def _held(_head: str, lines: Sequence[str]) -> Pairs:
    if lines and lines[0] not in {"", NO_REASON}:
        yield "HoldReason", lines[0]
    code = next((found for line in lines[1:] if (found := _CODE(line))), None)
    if code is not None:
        yield "HoldReasonCode", int(code[1])
        yield "HoldReasonSubCode", int(code[2])


def _suspended(_head: str, lines: Sequence[str]) -> Pairs:
    found = re.fullmatch(r"Number of processes actually suspended: (\d+)", lines[0]) if lines else None
    if found is not None:
        yield "NumberOfPIDs", int(found[1])


def _transfer(head: str, lines: Sequence[str]) -> Pairs:
    if head in TRANSFERS:
        yield "Type", TRANSFERS[head]
    for line in lines:
        if line.startswith(("Transferring to host: ", "Transferring from host: ")):
            yield "Host", line.partition(": ")[2]


_READERS: Final[dict[int, Callable[[str, Sequence[str]], Pairs]]] = {
    EventType.SUBMIT: _submit,
    EventType.EXECUTE: _execute,
    EventType.JOB_EVICTED: _evicted,
    EventType.JOB_TERMINATED: lambda _head, lines: _ended(lines, is_end=True),
    EventType.IMAGE_SIZE: _image,
    EventType.JOB_ABORTED: _reason,
    EventType.JOB_SUSPENDED: _suspended,
    EventType.JOB_HELD: _held,
    EventType.JOB_RELEASED: _reason,
    EventType.CLUSTER_SUBMIT: _submit,
    EventType.FILE_TRANSFER: _transfer,
}

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


# HTCondor: ReadUserLog::readEventNormal, ReadUserLog::readEventClassad.
def read_events(
    text: str, *, name: str = "<log>", zone: tzinfo = timezone.utc, now: int | None = None, report: Report | None = None
) -> Iterator[JobEvent]:
    """Yield the events of a log, in any format.

    ``zone`` is that of its times. The older text form has no year: it is taken from ``now`` (epoch seconds), or is the
    year before for dates that would be in the future. ``report`` is called with invalid text, and reading continues;
    without it the first one raises InvalidEvent. An event at the end that is still being written is skipped, in any
    format.
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
    """Return the event that is read, None if it was invalid and reported. Raises InvalidEvent."""
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
            return None  # not completely written yet
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
        raise _refused(
            source, start, first, "is not the beginning of an event", "000 (001.000.000) 2026-11-20 18:33:56 ..."
        )
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
        raise _damaged("an ad without EventTypeNumber, Cluster, Proc and EventTime is not an event", here)
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


_NUMBERS: Final = 1000
_IDS: Final = 10**10
_FIRST_YEAR: Final = 1000
_INTEGERS: Final = 1 << 63
_NO_USAGE: Final = "Usr 0 00:00:00, Sys 0 00:00:00"
_HEADS: Final = {number: head for head, number in TRANSFERS.items()}

Values = Mapping[str, object]


# HTCondor: ULogEvent::formatEvent, ULogEvent::formatHeader.
def write_event(event: JobEvent, zone: tzinfo = timezone.utc) -> str:
    """Return an event with its last line, ``...``; an event that was read from text is written unchanged.

    ``zone`` is that of the log's times, which are whole seconds. The result reads back as an event of the same kind,
    job and time. Raises InvalidEvent for an unsupported kind, and for a number, a job or a time that does not fit the
    text.
    """
    head = _header(event, zone)
    if event.raw is not None:
        return "".join(f"{line}\n" for line in (head + event.raw[0], *event.raw[1:], "..."))
    if event.head:
        body: list[str] = [event.head, *event.lines]
    else:
        writer = _WRITERS.get(event.number)
        if writer is None:
            hint = f"these can: {', '.join(map(str, _WRITERS))}"
            raise _unwritable(f"events of number {event.number} cannot be written here", hint)
        body = list(writer(event.attributes))
    lines = [f"{head} {_line(body[0])}", *(f"\t{_line(line)}" for line in body[1:])]
    return "".join(f"{line}\n" for line in (*lines, "..."))


def _header(event: JobEvent, zone: tzinfo) -> str:
    """Return number, job and time. Raises InvalidEvent for what a reader would not accept."""
    ids = (event.cluster, event.proc, event.subproc)
    if not 0 <= event.number < _NUMBERS or not all(-_IDS < part < _IDS for part in ids):
        hint = f"the number of an event is less than {_NUMBERS:,}, that of a job less than {_IDS:,}"
        raise _unwritable("the number of this event, or of its job, is too large for a log", hint)
    try:
        local = datetime.fromtimestamp(int(event.time), zone)
    except (ValueError, OverflowError, OSError):
        local = None
    if local is None or local.year < _FIRST_YEAR:
        raise _unwritable("the time of this event is no date of a log", "a time is a number of seconds since 1970")
    job = ".".join(f"{part:03}" for part in ids)
    return f"{event.number:03} ({job}) {local:%Y-%m-%d %H:%M:%S}"


def _unwritable(message: str, hint: str) -> InvalidEvent:
    return InvalidEvent(Diagnostic("event", message, help=hint))


def _line(text: str) -> str:
    """Return a text that stays on its line and is not read as an event's end."""
    return text if text.isprintable() else "".join(c if c == "\t" else printable(c) for c in text)


def _integer(values: Values, name: str, default: int = 0) -> int:
    """Return an attribute that is an integer of HTCondor's, the default for any other."""
    value = values.get(name)
    return int(value) if isinstance(value, int) and -_INTEGERS <= value < _INTEGERS else default


def _write_execute(values: Values) -> Iterator[str]:
    yield f"Job executing on host: {values.get('ExecuteHost', '')}"
    if "SlotName" in values:
        yield f"SlotName: {values['SlotName']}"


def _write_evicted(values: Values) -> Iterator[str]:
    code = f" Code {_integer(values, 'ReasonCode')} Subcode {_integer(values, 'ReasonSubCode')}"
    yield f"Job was evicted.{code if 'ReasonCode' in values else ''}"
    requeued = bool(values.get("TerminatedAndRequeued"))
    saved = "(1) Job was checkpointed." if values.get("Checkpointed") else "(0) CPU times"
    yield "(0) Job terminated and was requeued" if requeued else saved
    yield from _usage(values, "Run")
    yield from _bytes(values, "Run")
    if requeued:
        yield from _end(values)
    for reason in _given(values, "Reason"):
        yield reason if requeued else f"Reason: {reason}"


def _write_terminated(values: Values) -> Iterator[str]:
    yield "Job terminated."
    yield from _end(values)
    yield from _usage(values, "Run")
    yield from _usage(values, "Total")
    yield from _bytes(values, "Run")
    yield from _bytes(values, "Total")


def _end(values: Values) -> Iterator[str]:
    if "TerminatedBySignal" in values:
        yield f"(0) Abnormal termination (signal {_integer(values, 'TerminatedBySignal')})"
        yield "(0) No core file"
    else:
        yield f"(1) Normal termination (return value {_integer(values, 'ReturnValue')})"


def _usage(values: Values, span: str) -> Iterator[str]:
    for side in ("Remote", "Local"):
        yield f"\t{values.get(f'{span}{side}Usage', _NO_USAGE)}  -  {span} {side} Usage"


def _bytes(values: Values, span: str) -> Iterator[str]:
    prefix = "" if span == "Run" else "Total"
    for way in ("Sent", "Received"):
        yield f"{_real(values.get(f'{prefix}{way}Bytes')):.0f}  -  {span} Bytes {way} By Job"


def _real(value: object) -> float:
    """Return a number as HTCondor prints it, including inf and nan as in C."""
    try:
        return float(number_of(value) or 0.0)
    except OverflowError:
        return 0.0


def _given(values: Values, name: str) -> Iterator[str]:
    text = str(values.get(name) or "").strip()
    if text:
        yield text


def _write_suspended(values: Values) -> Iterator[str]:
    yield "Job was suspended."
    yield f"Number of processes actually suspended: {_integer(values, 'NumberOfPIDs', 1)}"


def _write_held(values: Values) -> Iterator[str]:
    yield "Job was held."
    yield next(_given(values, "HoldReason"), NO_REASON)
    yield f"Code {_integer(values, 'HoldReasonCode')} Subcode {_integer(values, 'HoldReasonSubCode')}"


def _because(said: str, values: Values) -> Iterator[str]:
    yield said
    yield from _given(values, "Reason")


def _write_transfer(values: Values) -> Iterator[str]:
    yield _HEADS.get(integer_of(values.get("Type")) or 0, _HEADS[2])
    if "Host" in values:
        yield f"Transferring to host: {values['Host']}"


_WRITERS: Final[dict[int, Callable[[Values], Iterator[str]]]] = {
    EventType.SUBMIT: lambda values: iter((f"Job submitted from host: {values.get('SubmitHost', '')}",)),
    EventType.EXECUTE: _write_execute,
    EventType.JOB_EVICTED: _write_evicted,
    EventType.JOB_TERMINATED: _write_terminated,
    EventType.JOB_ABORTED: partial(_because, "Job was aborted."),
    EventType.JOB_SUSPENDED: _write_suspended,
    EventType.JOB_UNSUSPENDED: lambda _: iter(("Job was unsuspended.",)),
    EventType.JOB_HELD: _write_held,
    EventType.JOB_RELEASED: partial(_because, "Job was released."),
    EventType.FILE_TRANSFER: _write_transfer,
}
