"""What the lines of an event in text form say, as the attributes of its ad.

HTCondor: SubmitEvent::readEvent and its kin in src/condor_utils/condor_event.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from crondor.event_log.event import EventType

_HOST: Final = re.compile(r"(?:Job|Cluster) (?:submitted from|executing on) host: ?(.*)").fullmatch
_EVICTED: Final = re.compile(r"Code (\d{1,18}) Subcode (\d{1,18})").search
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


def attributes(number: int, head: str, lines: Sequence[str]) -> dict[str, object]:
    """Return what an event says; nothing for a kind that is not taken apart."""
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
    """Return the line behind those that an eviction always has, where it is no table of what the job has used."""
    known = [at for at, line in enumerate(lines) if _BYTES(line) or _NORMAL(line) or _SIGNAL(line) or _CORE(line)]
    said = lines[known[-1] + 1] if known and known[-1] + 1 < len(lines) else ""
    return "" if said.startswith("Partitionable Resources") else said


def _terminated(_head: str, lines: Sequence[str]) -> Pairs:
    yield from _ended(lines, is_end=True)


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
    EventType.JOB_TERMINATED: _terminated,
    EventType.IMAGE_SIZE: _image,
    EventType.JOB_ABORTED: _reason,
    EventType.JOB_SUSPENDED: _suspended,
    EventType.JOB_HELD: _held,
    EventType.JOB_RELEASED: _reason,
    EventType.CLUSTER_SUBMIT: _submit,
    EventType.FILE_TRANSFER: _transfer,
}
