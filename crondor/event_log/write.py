"""Writes events as HTCondor 25.14 writes them into a user log, in text form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone, tzinfo
from typing import Final

from crondor.diagnostics import Diagnostic, printable
from crondor.event_log.body import TRANSFERS
from crondor.event_log.event import EventType, InvalidEvent, JobEvent

_NO_USAGE: Final = "Usr 0 00:00:00, Sys 0 00:00:00"
_HEADS: Final = {number: head for head, number in TRANSFERS.items()}

Values = Mapping[str, object]


def write_event(event: JobEvent, zone: tzinfo = timezone.utc) -> str:
    """Return an event with its last line, ``...``; an event that was read from text is written as it was.

    ``zone`` is that of the log's times, which are whole seconds. Raises InvalidEvent for a kind whose text is not
    known here.
    """
    if event.head:
        body: list[str] = [event.head, *event.lines]
    else:
        writer = _WRITERS.get(event.number)
        if writer is None:
            message = f"events of number {event.number} cannot be written here"
            raise InvalidEvent(Diagnostic("event", message, help=f"these can: {', '.join(map(str, _WRITERS))}"))
        body = list(writer(event.attributes))
    local = datetime.fromtimestamp(int(event.time), zone)
    job = f"({event.cluster:03}.{event.proc:03}.{event.subproc:03})"
    lines = [f"{event.number:03} {job} {local:%Y-%m-%d %H:%M:%S} {_line(body[0])}"]
    lines += [f"\t{_line(line)}" for line in body[1:]]
    return "".join(f"{line}\n" for line in (*lines, "..."))


def _line(text: str) -> str:
    """Return a text that stays on its line and cannot be taken for an event's end."""
    return text if text.isprintable() else "".join(c if c == "\t" else printable(c) for c in text)


def _submit(values: Values) -> Iterator[str]:
    yield f"Job submitted from host: {values.get('SubmitHost', '')}"


def _execute(values: Values) -> Iterator[str]:
    yield f"Job executing on host: {values.get('ExecuteHost', '')}"
    if "SlotName" in values:
        yield f"SlotName: {values['SlotName']}"


def _evicted(values: Values) -> Iterator[str]:
    code = values.get("ReasonCode")
    yield (
        "Job was evicted." if code is None else f"Job was evicted. Code {code} Subcode {values.get('ReasonSubCode', 0)}"
    )
    requeued = bool(values.get("TerminatedAndRequeued"))
    yield "(0) Job terminated and was requeued" if requeued else "(0) CPU times"
    yield from _usage(values, "Run")
    yield from _bytes(values, "Run")
    if requeued:
        yield from _end(values)
    reason = values.get("Reason")
    if reason:
        yield str(reason) if requeued else f"Reason: {reason}"


def _terminated(values: Values) -> Iterator[str]:
    yield "Job terminated."
    yield from _end(values)
    yield from _usage(values, "Run")
    yield from _usage(values, "Total")
    yield from _bytes(values, "Run")
    yield from _bytes(values, "Total")


def _end(values: Values) -> Iterator[str]:
    if "TerminatedBySignal" in values:
        yield f"(0) Abnormal termination (signal {values['TerminatedBySignal']})"
        yield "(0) No core file"
    else:
        yield f"(1) Normal termination (return value {values.get('ReturnValue', 0)})"


def _usage(values: Values, span: str) -> Iterator[str]:
    for side in ("Remote", "Local"):
        yield f"\t{values.get(f'{span}{side}Usage', _NO_USAGE)}  -  {span} {side} Usage"


def _bytes(values: Values, span: str) -> Iterator[str]:
    prefix = "" if span == "Run" else "Total"
    for way in ("Sent", "Received"):
        number = values.get(f"{prefix}{way}Bytes", 0)
        yield f"{int(number) if isinstance(number, (int, float)) else 0}  -  {span} Bytes {way} By Job"


def _aborted(values: Values) -> Iterator[str]:
    yield "Job was aborted."
    yield from _given(values, "Reason")


def _given(values: Values, name: str) -> Iterator[str]:
    if values.get(name):
        yield str(values[name])


def _suspended(values: Values) -> Iterator[str]:
    yield "Job was suspended."
    yield f"Number of processes actually suspended: {values.get('NumberOfPIDs', 1)}"


def _resumed(_values: Values) -> Iterator[str]:
    yield "Job was unsuspended."


def _held(values: Values) -> Iterator[str]:
    yield "Job was held."
    yield str(values.get("HoldReason") or "Reason unspecified")
    yield f"Code {values.get('HoldReasonCode', 0)} Subcode {values.get('HoldReasonSubCode', 0)}"


def _released(values: Values) -> Iterator[str]:
    yield "Job was released."
    yield from _given(values, "Reason")


def _transfer(values: Values) -> Iterator[str]:
    kind = values.get("Type")
    yield _HEADS[kind if isinstance(kind, int) and kind in _HEADS else 2]
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
