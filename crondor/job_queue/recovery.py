"""Rebuild a queue from the lines of a log: whole transactions only, with damage reported.

The rules are the schedd's (HTCondor 25.14, ``LoadClassAdLog`` and ``InstantiateLogEntry``): an unreadable record ends
the log if no 106 follows it, and stops the schedd if one does. Committed records that the schedd loses (after a blank
line, CRLF, no line end after the last 106, single records after a bad one) are recovered here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import Diagnostic, Severity
from crondor.job_queue.mirror import AdChange, Mirror, RecordOutcome
from crondor.job_queue.records import (
    BEGIN,
    END,
    BadRecord,
    DamagedLog,
    LogFindings,
    Op,
    Record,
    ends_transaction,
    parse_record,
    refused_by_disk,
    trailing_blanks,
)
from crondor.rights.walk import open_plain

_ID_NUMBER: Final = rb"[1-9][0-9]{0,8}"
_JOB: Final = rb"(%s)\.(0|%s)" % (_ID_NUMBER, _ID_NUMBER)
_OTHER: Final = rb"0%s\.-1|%s\.-2|0\.(?:0|%s)" % (_ID_NUMBER, _ID_NUMBER, _ID_NUMBER)
_KEY: Final = rb"(?:%s\.(?:0|%s)|%s)" % (_ID_NUMBER, _ID_NUMBER, _OTHER)
_NAME: Final = rb"[!-~]+"
_VALUE: Final = (  # by first character, which is how the regex engine chooses
    rb'(?:[1-9][0-9]{0,17}(?:\.[0-9]{1,20})?|"[^"\\\n\0]*"|0(?:\.[0-9]{1,20})?|false|true|undefined'
    rb"|-(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?)\n"
)
_MORE: Final = b"{0,1000}"  # lines at once: a run may be as long as the log, and the regex engine remembers each line
_RUNS: Final = re.compile(
    b"|".join(
        (
            rb"101 (%(job)s|%(other)s) ([A-Za-z0-9_]+|\(empty\)) [!-~]+\n((?:103 \1 %(name)s %(value)s)%(more)s)",
            rb"103 (%(key)s) %(name)s %(value)s(?:103 \6 %(name)s %(value)s)%(more)s",
            rb"103 (%(key)s) (%(name)s [!-~\x80-\xff](?:[^\n\0]*[!-~\x80-\xff])?)\n",
            rb"(105) \n",
            rb"(106) (?:#[^\r\n\0]+)?\n",
            rb"104 (%(key)s) (%(name)s)\n",
            rb"102 (%(key)s)\n",
            rb"[^\n]*\n",
        )
    )
    % {b"job": _JOB, b"other": _OTHER, b"key": _KEY, b"name": _NAME, b"value": _VALUE, b"more": _MORE}
)
_NEW, _SET, _ODD, _BEGIN, _END, _DELETE, _DESTROY = 5, 6, 8, 9, 10, 12, 13  # the last group of each
_KEYS: Final = {_SET: _SET, _ODD: _ODD - 1, _DELETE: _DELETE - 1}  # the group of the key, for records that change an ad
_MOST_READ: Final = 1 << 13
_LONGEST_READ: Final = 1 << 11


# Usual records are those a schedd writes: canonical keys, single blanks, and values. One regular expression finds each
# run of records of an ad and checks literal values; other values are parsed once for all ads that have them.
class Bulk:
    """Applies stretches of a log to a mirror that records no changes."""

    def __init__(self) -> None:
        """Start without a mirror: each call of ``take`` passes it."""
        self.had_transactions = False
        self._mirror = Mirror()
        self._read: set[bytes] = set()  # names with valid expressions as values
        self._raw = b""  # the key of the ad whose records are not yet in the mirror
        self._key = ""
        self._ad: bytes | None = None  # its present content in the mirror
        self._is_held = True  # whether the mirror holds this ad

    def take(  # noqa: C901, PLR0912 - all of reading is in this loop: a call for what each turn does costs 6 %
        self, mirror: Mirror, data: bytes, at: int, stop: int, *, under_way: bool, ended: bool, ends: bool
    ) -> tuple[int, bool]:
        """Apply records up to the first unusual one; return its place, and whether a transaction is open there.

        A record begins at ``at``. ``under_way``: a transaction is open there. ``ended``: all records are committed, so
        that a transaction may begin; ``ends``: its end needs no special treatment.
        """
        self._mirror, live = mirror, mirror.live
        start = end = at  # range of the records of one ad
        for match in _RUNS.finditer(data, at, stop):
            kind = match.lastindex
            if kind in _KEYS:
                raw = match[_KEYS[kind]]
                if raw != self._raw:
                    self._flush(data, start, end)
                    start = match.start()
                    if not self._turn(raw):
                        break
                if kind == _ODD and match[_ODD] not in self._read and not self._reads(match[_ODD]):
                    break
                if kind == _DELETE and live and self._is_held and self._hides(match[_DELETE]):
                    self._flush(data, start, end)
                    mirror.delete(self._key, match[_DELETE].decode())
                end = match.end()
            elif kind == _NEW:
                self._flush(data, start, end)
                if not self._create(match, live=live and under_way):
                    break
                start, end = match.span()
            elif kind == _BEGIN:
                if under_way or not ended:
                    break
                under_way = self.had_transactions = True
            elif kind == _END:
                if not (under_way and ends):
                    break
                under_way = False
                mirror.new.clear()
            elif kind == _DESTROY:
                self._flush(data, start, end)
                if self._holds(match[_DESTROY]) and not mirror.destroy(match[_DESTROY].decode()):
                    break
            else:
                break
            at = match.end()
        self._flush(data, start, end)
        return at, under_way

    def _create(self, match: re.Match[bytes], *, live: bool) -> bool:
        """Create an ad; return whether it is new."""
        raw, cluster, proc = match.group(1, 2, 3)
        self._is_held = self._holds(raw)
        if not self._is_held:
            self._raw = raw
            return True
        key, ads = raw.decode(), self._mirror.ads
        if key in ads.held:
            return False
        if proc is not None:
            ads.join(int(cluster), int(proc))
        if live:
            self._mirror.new.add(key)
        self._raw, self._key, self._ad = raw, key, None
        return True

    def _turn(self, raw: bytes) -> bool:
        """Switch to another ad; return whether it exists and is packed."""
        self._is_held = self._holds(raw)
        if not self._is_held:
            self._raw = raw
            return True
        key = raw.decode()
        ad = self._mirror.ads.held.get(key)
        if not isinstance(ad, bytes):
            return False
        self._raw, self._key, self._ad = raw, key, ad
        return True

    def _holds(self, key: bytes) -> bool:
        return self._mirror.only is None or self._mirror.only.wants(key)

    def _hides(self, name: bytes) -> bool:
        """Return whether the cluster has an attribute that a record deletes from its job."""
        return self._key not in self._mirror.new and self._mirror.inherits(self._key, name.decode().lower())

    def _flush(self, data: bytes, start: int, end: int) -> None:
        """Add the records of an ad to the mirror."""
        raw, self._raw = self._raw, b""
        if not raw or not self._is_held:
            return
        records, only = data[start:end], self._mirror.only
        if only is not None:
            records = only.kept(raw, records)
        if self._ad is None:
            self._mirror.ads.hold(self._key, records)
        elif records:
            self._mirror.ads.edit(self._key, self._ad, records)

    def _reads(self, line: bytes) -> bool:
        """Return whether the value of a name is an expression."""
        value = line.partition(b" ")[2].decode("utf-8", "surrogateescape")
        try:
            self._mirror.values[value]
        except ClassAdSyntaxError:
            return False
        if len(line) <= _LONGEST_READ:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read.add(line)
        return True


_NO_END: Final = "the schedd would lose this transaction; it is complete, and is used"
_MOST_BAD: Final = 100
_BLANKS: Final = " \t\v\f\r"
_LOST: Final = "the schedd would silently drop everything after it; the rest is used"
_NO_EFFECT: Final = {
    RecordOutcome.NO_SUCH_AD: (
        "queue-log-unknown-ad",
        f"{RecordOutcome.NO_SUCH_AD.value}: the line has no effect, as in HTCondor",
    ),
    RecordOutcome.AD_IS_THERE: (
        "queue-log-duplicate-ad",
        f"{RecordOutcome.AD_IS_THERE.value}: the line has no effect, as in HTCondor",
    ),
    RecordOutcome.NO_KEY: ("queue-log-key", f"{RecordOutcome.NO_KEY.value}: the line has no effect"),
}
_NUMBER: Final = re.compile(r"[0-9]{1,18}(?![0-9])").match
_ANY_END: Final = re.compile(rb"\n[\0 \t\v\f\r]*\+?0*106(?![0-9])").search
_CERTAIN_END: Final = re.compile(rb"\n106 (?:#[^\r\n\0]+)?\n").match
_HEADER_HINT: Final = "the first line of a log is `107 <number> CreationTimestamp <epoch seconds>`"


class Recovery:
    """Applies the lines of a log in order, in pieces of any size, to a mirror.

    ``tolerant`` is for following a log that another process writes: a bad record is reported and skipped, and the rest
    of its transaction counts. Otherwise ``finish`` raises DamagedLog if the schedd would not start.

    ``clean``: more may be appended to the log as it is; ``had_transactions``: it has transactions, so that the schedd
    compacts it when it starts.
    """

    def __init__(self, mirror: Mirror, name: str, *, tolerant: bool = False) -> None:
        """Start before the first line."""
        self.mirror = mirror
        self.findings = LogFindings(name)
        self.tolerant = tolerant
        self.line = 0  # the number of the last line applied; waiting lines follow
        self.records = 0
        self.clean = True
        self.had_transactions = False
        self._open: list[str] | None = None  # the lines of the open transaction
        self._opened = 0
        self._bad: list[tuple[BadRecord, tuple[int, str]]] = []
        self._refused = False
        self._changes: list[tuple[AdChange, ...]] | None = None
        self._crlf = False
        self._bulk = Bulk()
        self._waiting: list[bytes] = []  # an open transaction with a usual start, as it was fed

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._open is not None or bool(self._waiting)

    def feed(self, data: bytes) -> None:
        """Apply whole lines, with their line ends, without recording changes: the fast way."""
        data = b"\n" + data
        if self._waiting:
            if _ANY_END(data) is None:
                self._waiting.append(data[1:])
                return
            data = b"".join([b"\n", *self._waiting, data[1:]])
            self._waiting = []
        at = 1
        end = _after_last_end(data)
        if end:
            self._release(self._opened + 1)
            at = self._take_bulk(data, at, end, ended=True)
        if self._open is None:
            at = self._let_wait(data, self._take_bulk(data, at, len(data), ended=False))
        for line in to_lines(data[at:]):
            self.line += 1
            self._take(line)
        self.mirror.settle()

    def _let_wait(self, data: bytes, at: int) -> int:
        """Store a transaction with a usual start until it ends; return where the rest begins."""
        if self._open is not None or at == len(data) or _ANY_END(data, at) is not None:
            return at
        self._waiting = [data[at:]]
        return len(data)

    def _take_bulk(self, data: bytes, at: int, stop: int, *, ended: bool) -> int:
        """Apply lines that are committed, whatever follows, and return where the rest begins.

        ``ended``: a transaction ends at ``stop``, so all count; otherwise only those before the next transaction do.
        """
        while at < stop:
            under_way = self._open is not None
            found, under_way = self._bulk.take(
                self.mirror, data, at, stop, under_way=under_way, ended=ended, ends=not self._bad
            )
            self.line += data.count(b"\n", at, found)
            self._open = [] if under_way else None
            self.had_transactions |= self._bulk.had_transactions
            at = found
            if at == stop:
                break
            if not ended and data.startswith(b"105 \n", at):
                return at
            end = data.index(b"\n", at)
            self.line += 1
            self._take(data[at:end].decode("utf-8", "surrogateescape"))
            at = end + 1
            if self._open:
                self._release(self.line)
            if self._open is not None and not ended:
                break
        return at

    def follow(self, lines: Sequence[str]) -> list[tuple[AdChange, ...]]:
        """Apply whole lines, and return the changes of each transaction."""
        self._end_waiting()
        self._changes = []
        for line in lines:
            self.line += 1
            self._take(line)
        found, self._changes = self._changes, None
        return found

    def finish(self, rest: str = "") -> None:
        """End the log with the text after its last line end.

        Raises DamagedLog with all findings if the schedd would not start.
        """
        self._end_waiting()
        self.records = self.line
        if rest:
            self._end_unfinished(rest)
        if self._bad:
            self.clean = False
            for error, line in self._bad:
                what = "no transaction ends after it, so the schedd drops it and everything after it; the rest is used"
                self.findings.bad_record(error, line, what, Severity.WARNING)
        if self._open is not None:
            self.clean = False
            message = f"this transaction has no end (106): its {len(self._open)} records were never committed"
            self.findings.add("queue-log-unterminated", message, (self._opened, BEGIN))
            self._open = None
        self.check_header()
        self._check_next_cluster()
        for job in self.mirror.orphans():
            message = f"job {job} belongs to a cluster without an ad: the schedd removes such a job when it starts"
            self.findings.add("queue-log-orphan", message, (self.line, ""))
        if self._refused:
            raise DamagedLog(self.findings.take())

    def check_header(self) -> None:
        """Report a log whose first line is not 107."""
        if (self.line or self._waiting) and self.mirror.sequence is None:
            message = "the first line (107) is missing: the schedd starts with such a log, condor_job_router does not"
            self.clean = False
            self.findings.add("queue-log-no-header", message, (1, ""), hint=_HEADER_HINT)

    def _check_next_cluster(self) -> None:
        """Report a counter that is lower than the queue's clusters (``InitJobQueue``)."""
        next_cluster = self.mirror.next_cluster()
        if next_cluster is not None:
            message = f"NextClusterNum is too low, so the schedd does not start; the next number is {next_cluster}"
            self.clean = False
            self.findings.add("queue-log-next-cluster", message, (self.line, ""))

    def _end_unfinished(self, rest: str) -> None:
        self.clean = False
        self.line += 1
        if self._open is not None and rest.startswith(END):
            self.findings.add("queue-log-no-newline", f"the last line has no line end: {_NO_END}", (self.line, rest))
            self._commit()
            return
        message = "the last line is torn: it has no line end, was never committed and is skipped"
        self.findings.add("queue-log-torn", message, (self.line, rest))

    def _end_waiting(self) -> None:
        """Apply the waiting lines one by one, since what follows may be unusual."""
        waiting, self._waiting = self._waiting, []
        for line in to_lines(b"".join(waiting)):
            self.line += 1
            self._take(line)

    def _take(self, line: str) -> None:
        """Apply a line; a line of an open transaction waits for its end."""
        if line == END and self._open is not None and not self._bad:
            self._commit()
            return
        if self._open is not None and not ends_transaction(line.lstrip("\0")):
            self._open.append(line)
            return
        try:
            record = self._parse(line)
        except BadRecord as error:
            at = (self.line, line)
            if self._open is None:
                self._note_bad(error, at)
            elif line.strip(f"\0{_BLANKS}") in ("106", "106 #"):
                self._unclean("queue-log-no-blank", f"{error}; it is read as the end of the transaction", line)
                self._end(line)
            else:
                self._open.append(line)
            return
        if record is None:
            return
        if record.op is Op.BEGIN:
            self.had_transactions = True
            self._open, self._opened = [], self.line
        elif record.op is Op.END:
            self._end(line)
        else:
            self._note_begin()
            self._apply(record, self.line, line, committed=False)
            self._note_end()

    def _parse(self, line: str) -> Record | None:
        """Return a line's record; None for a line without effect. Raises BadRecord."""
        if line.endswith("\r"):
            if not self._crlf:
                message = "this log has Windows line ends: the schedd would see an empty queue; here they are accepted"
                self.findings.add("queue-log-crlf", message, (self.line, line.rstrip("\r")))
            self._crlf = True
            self.clean = False
            line = line.rstrip("\r")
        if line.startswith("\0"):
            self._unclean("queue-log-nul", f"NUL characters: {_LOST}", line)
            line = line.lstrip("\0")
        if not line.strip(_BLANKS):
            self._unclean("queue-log-blank-line", f"a blank line: {_LOST}", line)
            return None
        record = parse_record(line)
        if trailing_blanks(record, line):
            self._unclean("queue-log-trailing-blank", f"a blank at the end of the line: {_LOST}", line)
        elif record.op is Op.NEW and not record.value:
            message = "TargetType is missing: the schedd would read it from the next line; both lines are used"
            self._unclean("queue-log-no-target", message, line)
        return record

    def _unclean(self, code: str, message: str, line: str) -> None:
        """Report text in the current line that breaks the schedd, so that the log must be rewritten."""
        self.findings.add(code, message, (self.line, line))
        self.clean = False

    def _note_bad(self, error: BadRecord, at: tuple[int, str], *, committed: bool = False) -> None:
        """Report a bad record; ``committed``: the end of its transaction has been read."""
        if self.tolerant:
            self.findings.bad_record(error, at, "it is skipped", Severity.WARNING)
            return
        self._bad.append((error, at))
        if committed or self._refused or (len(self._bad) > 1 and ends_transaction(at[1])):
            self._refuse()
        del self._bad[_MOST_BAD:]

    def _refuse(self) -> None:
        """Report the bad records that stop the schedd: a transaction ends after them."""
        self._refused = True
        what = "a transaction ends after it, so the schedd does not start with this log (exit status 4)"
        for error, at in self._bad:
            self.findings.bad_record(error, at, what, Severity.ERROR)
        self._bad.clear()

    def _end(self, line: str) -> None:
        if self._bad:
            self._refuse()
        if self._open is None:
            message = "no transaction has begun: this end has no effect"
            self.findings.add("queue-log-unmatched-end", message, (self.line, line))
            return
        self._commit()

    def _commit(self) -> None:
        """Apply the waiting lines, and end their transaction."""
        self._note_begin()
        self._release(self._opened + 1)
        self._open = None
        self._note_end()

    def _release(self, first: int) -> None:
        """Apply the waiting lines, whose transaction has ended. ``first`` is the number of the first line."""
        waiting = self._open
        if not waiting:
            return
        self._open = []
        now = self.line
        for number, line in enumerate(waiting, first):
            self.line = number
            try:
                record = self._parse(line)
            except BadRecord as error:
                self._note_bad(error, (number, line), committed=True)
                continue
            if record is not None:
                self._apply(record, number, line, committed=True)
        self.line = now

    def _note_begin(self) -> None:
        if self._changes is not None:
            self.mirror.begin()

    def _note_end(self) -> None:
        if self._changes is None:
            self.mirror.settle()
        else:
            self._changes.append(self.mirror.changes())

    def _head(self, record: Record, line: str) -> None:
        if self.line > 1:
            message = "this is a first line again: it counts, and the log may be two logs joined"
            self.findings.add("queue-log-header", message, (self.line, line), hint=_HEADER_HINT)
        found = [_NUMBER(word) for word in (record.key, record.value)]
        if not all(match is not None and match.end() == len(match.string) for match in found):
            message = "two numbers are expected here: the schedd reads the digits at the start, or 0"
            self._unclean("queue-log-header", message, line)
        self.mirror.sequence, self.mirror.created = (0 if match is None else int(match[0]) for match in found)

    def _apply(self, record: Record, number: int, line: str, *, committed: bool) -> None:
        """Apply a committed record; ``committed``: it is part of a transaction."""
        if record.op is Op.BEGIN:
            message = "a transaction begins in another one, as after a crash: they count as one, as in HTCondor"
            self.findings.add("queue-log-nested", message, (number, line))
            return
        if record.op is Op.HEADER:
            self._head(record, line)
            return
        try:
            fate = self.mirror.apply(record)
        except ClassAdSyntaxError as error:
            self._note_bad(_no_expression(error, record, line), (number, line), committed=committed)
            return
        if fate is not RecordOutcome.DONE:
            severity = Severity.WARNING if fate is RecordOutcome.NO_KEY else Severity.NOTE
            self.findings.add(*_NO_EFFECT[fate], (number, line), severity)


def to_lines(data: bytes) -> list[str]:
    """Return the lines of bytes that end with a line end; invalid UTF-8 becomes surrogate escapes."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    lines.pop()
    return lines


def _after_last_end(data: bytes) -> int:
    """Return the place after the last line that certainly ends a transaction, 0 if there is none."""
    at = len(data)
    while (at := data.rfind(b"\n106 ", 0, at)) >= 0:
        found = _CERTAIN_END(data, at)
        if found is not None:
            return found.end()
        at += 1
    return 0


def _no_expression(error: ClassAdSyntaxError, record: Record, line: str) -> BadRecord:
    found = error.diagnostics[0]
    value = record.value.strip()
    shift = line.rfind(value) if value else 0
    start, end = (0, len(value)) if found.span is None else (found.span.start, found.span.end)
    return BadRecord(f"invalid expression: {found.message}", shift + start, shift + end, found.help)


_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class LogReading:
    """The result of reading a log.

    ``records`` counts its lines. ``clean``: more may be appended as it is; otherwise the schedd compacts it first, and
    so does JobQueue. ``had_transactions``: it was not compacted when its writer ended.
    """

    mirror: Mirror
    diagnostics: tuple[Diagnostic, ...]
    records: int
    clean: bool
    had_transactions: bool


def read_log(path: Path | str, *, live: bool = False) -> LogReading:
    """Return the queue of a log file as the schedd would recover it; the file is only read.

    ``live`` selects the view of the running schedd that writes this log (see Mirror). An open transaction is left out.
    Raises QueueIO, and DamagedLog with every fault if the schedd would not start.
    """
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            return read_records(file, str(path), live=live)
    except OSError as error:
        raise refused_by_disk(path, "this log cannot be read", error) from error


def read_records(file: BinaryIO, name: str, *, live: bool = False) -> LogReading:
    """Return the queue of an open log; ``name`` is its name in messages.

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
    """Yield the rest of a file in pieces that end with a line end, and last the text without one."""
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
