"""A whole log read at once: the queue it leaves, and what is damaged in it (HTCondor: LoadClassAdLog)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from crondor.diagnostics import Diagnostic
from crondor.job_queue.faults import refused_by_disk
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.recovery import Recovery
from crondor.rights.walk import open_plain

_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class LogReading:
    """What reading a log found.

    ``records`` counts its lines. ``clean``: more may be appended to it as it is; else the schedd compacts it first,
    and so does JobQueue. ``had_transactions``: it was not compacted when its writer ended.
    """

    mirror: Mirror
    diagnostics: tuple[Diagnostic, ...]
    records: int
    clean: bool
    had_transactions: bool


def read_log(path: Path | str, *, live: bool = False) -> LogReading:
    """Return the queue of a log file as the schedd would recover it; the file is only read.

    ``live`` asks for the view of the schedd that is running and writes this log (see Mirror). A transaction that has
    not ended is left out. Raises DamagedLog where the schedd would not start, with every fault found, and QueueIO.
    """
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            return read_records(file, str(path), live=live)
    except OSError as error:
        raise refused_by_disk(path, "this log cannot be read", error) from error


def read_records(file: BinaryIO, name: str, *, live: bool = False) -> LogReading:
    """Return the queue of an open log; ``name`` is what its faults call it.

    Raises DamagedLog, and OSError.
    """
    recovery = Recovery(Mirror(live=live), name)
    rest = b""
    for piece in pieces(file):
        if piece.endswith(b"\n"):
            recovery.feed(piece)
        else:
            rest = piece
    recovery.finish(rest.decode("utf-8", "surrogateescape"))
    found = recovery.findings.take()
    return LogReading(recovery.mirror, found, recovery.records, recovery.clean, recovery.had_transactions)


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Return the rest of a file in pieces that end with a line end, and last what has none."""
    rest: list[bytes] = []
    while chunk := file.read(_CHUNK):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, chunk[:end]])
            rest = []
        if end < len(chunk):
            rest.append(chunk[end:])
    if rest:
        yield b"".join(rest)
