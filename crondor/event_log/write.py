"""Writes events as HTCondor 25.14 writes them into a user log, in text form.

HTCondor: ULogEvent::formatEvent, ULogEvent::formatHeader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone, tzinfo
from typing import Final

from crondor.diagnostics import Diagnostic, printable
from crondor.event_log.body import NO_REASON, TRANSFERS
from crondor.event_log.event import EventType, InvalidEvent, JobEvent
from crondor.job.attributes import integer_of, number_of

_NUMBERS: Final = 1000
_IDS: Final = 10**10
_FIRST_YEAR: Final = 1000
_INTEGERS: Final = 1 << 63
_NO_USAGE: Final = "Usr 0 00:00:00, Sys 0 00:00:00"
_HEADS: Final = {number: head for head, number in TRANSFERS.items()}

Values = Mapping[str, object]


def write_event(event: JobEvent, zone: tzinfo = timezone.utc) -> str:
    """Return an event with its last line, ``...``; an event that was read from text is written as it was.

    ``zone`` is that of the log's times, which are whole seconds. What is written reads back as an event of the same
    kind, job and time. Raises InvalidEvent for a kind whose text is not known here, and for a number, a job or a time
    that the text has no room for.
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
            raise _refused(f"events of number {event.number} cannot be written here", hint)
        body = list(writer(event.attributes))
    lines = [f"{head} {_line(body[0])}", *(f"\t{_line(line)}" for line in body[1:])]
    return "".join(f"{line}\n" for line in (*lines, "..."))


def _header(event: JobEvent, zone: tzinfo) -> str:
    """Return number, job and time. Raises InvalidEvent for what a reader would not take back."""
    ids = (event.cluster, event.proc, event.subproc)
    if not 0 <= event.number < _NUMBERS or not all(-_IDS < part < _IDS for part in ids):
        hint = f"the number of an event is less than {_NUMBERS:,}, that of a job less than {_IDS:,}"
        raise _refused("a log has no room for the number of this event, or of its job", hint)
    try:
        local = datetime.fromtimestamp(int(event.time), zone)
    except (ValueError, OverflowError, OSError):
        local = None
    if local is None or local.year < _FIRST_YEAR:
        raise _refused("the time of this event is no date of a log", "a time is a number of seconds since 1970")
    job = ".".join(f"{part:03}" for part in ids)
    return f"{event.number:03} ({job}) {local:%Y-%m-%d %H:%M:%S}"


def _refused(message: str, hint: str) -> InvalidEvent:
    return InvalidEvent(Diagnostic("event", message, help=hint))


def _line(text: str) -> str:
    """Return a text that stays on its line and cannot be taken for an event's end."""
    return text if text.isprintable() else "".join(c if c == "\t" else printable(c) for c in text)


def _integer(values: Values, name: str, default: int = 0) -> int:
    """Return an attribute that is an integer of HTCondor's, the default for any other."""
    value = values.get(name)
    return int(value) if isinstance(value, int) and -_INTEGERS <= value < _INTEGERS else default


def _submit(values: Values) -> Iterator[str]:
    yield f"Job submitted from host: {values.get('SubmitHost', '')}"


def _execute(values: Values) -> Iterator[str]:
    yield f"Job executing on host: {values.get('ExecuteHost', '')}"
    if "SlotName" in values:
        yield f"SlotName: {values['SlotName']}"


def _evicted(values: Values) -> Iterator[str]:
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


def _terminated(values: Values) -> Iterator[str]:
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
    """Return a number as HTCondor prints it, which has inf and nan in it as in any other program of C."""
    try:
        return float(number_of(value) or 0.0)
    except OverflowError:
        return 0.0


def _aborted(values: Values) -> Iterator[str]:
    yield "Job was aborted."
    yield from _given(values, "Reason")


def _given(values: Values, name: str) -> Iterator[str]:
    text = str(values.get(name) or "").strip()
    if text:
        yield text


def _suspended(values: Values) -> Iterator[str]:
    yield "Job was suspended."
    yield f"Number of processes actually suspended: {_integer(values, 'NumberOfPIDs', 1)}"


def _resumed(_values: Values) -> Iterator[str]:
    yield "Job was unsuspended."


def _held(values: Values) -> Iterator[str]:
    yield "Job was held."
    yield next(_given(values, "HoldReason"), NO_REASON)
    yield f"Code {_integer(values, 'HoldReasonCode')} Subcode {_integer(values, 'HoldReasonSubCode')}"


def _released(values: Values) -> Iterator[str]:
    yield "Job was released."
    yield from _given(values, "Reason")


def _transfer(values: Values) -> Iterator[str]:
    yield _HEADS.get(integer_of(values.get("Type")) or 0, _HEADS[2])
    if "Host" in values:
        yield f"Transferring to host: {values['Host']}"


_WRITERS: Final[dict[int, Callable[[Values], Iterator[str]]]] = {
    EventType.SUBMIT: _submit,
    EventType.EXECUTE: _execute,
    EventType.JOB_EVICTED: _evicted,
    EventType.JOB_TERMINATED: _terminated,
    EventType.JOB_ABORTED: _aborted,
    EventType.JOB_SUSPENDED: _suspended,
    EventType.JOB_UNSUSPENDED: _resumed,
    EventType.JOB_HELD: _held,
    EventType.JOB_RELEASED: _released,
    EventType.FILE_TRANSFER: _transfer,
}
