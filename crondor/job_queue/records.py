"""Lines of job_queue.log: records, keys, packed ads, and faults.

The lines are those of HTCondor 25.14 (``LogRecord``, ``classad_log.cpp``): the number of an operation, a blank, and
words divided by blanks; the value of 103 goes to the end of the line.

======  ==========================================  ======================================================
number  body                                        meaning
======  ==========================================  ======================================================
101     ``<key> <MyType> <TargetType>``             a new ad; an empty type is written ``(empty)``
102     ``<key>``                                   delete an ad
103     ``<key> <name> <value>``                    set an attribute; the value is an expression, old syntax
104     ``<key> <name>``                            delete an attribute
105     nothing, after the blank                    a transaction begins
106     nothing or ``#`` and a comment              it ends: the records in between take effect
107     ``<number> CreationTimestamp <epoch s>``    first line: number of compactions, time of creation
======  ==========================================  ======================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad.formats.pieces import Piece
from crondor.classad.text import lower
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source


class Op(IntEnum):
    """The operations by their numbers."""

    NEW = 101
    DESTROY = 102
    SET = 103
    DELETE = 104
    BEGIN = 105
    END = 106
    HEADER = 107


class Record(NamedTuple):
    """A line: the operation, the ad's key, an attribute's name or an ad's type, and a value.

    For HEADER, ``key`` is the sequence number and ``value`` the time of creation in epoch seconds; for END, ``value``
    is the comment; for NEW, the TargetType, empty if the line has none.
    """

    op: Op
    key: str = ""
    name: str = ""
    value: str = ""


class BadRecord(ValueError):
    """A line is not a record; the argument is the reason, ``start`` and ``end`` the characters concerned."""

    def __init__(self, why: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(why, start, end, hint)
        self.why = why
        self.start = start
        self.end = end
        self.hint = hint

    def __str__(self) -> str:
        return self.why


EMPTY_TYPE: Final = "(empty)"
BEGIN: Final = "105 "
END: Final = "106 "

_BLANKS: Final = " \t\v\f\r"
_WORDS: Final = re.compile(rf"[{_BLANKS}]*([^{_BLANKS}]+)")
_SHAPES: Final = {
    Op.NEW: "a key, MyType and TargetType",
    Op.DESTROY: "a key",
    Op.SET: "a key, a name and a value",
    Op.DELETE: "a key and a name",
    Op.HEADER: "a sequence number, CreationTimestamp and epoch seconds",
}
_KNOWN: Final = "101 to 107"
_OPERATION: Final = re.compile(r"\+?0*(10[1-7])(?![0-9])").match  # as strtoll reads it: the rest is ignored
_END: Final = re.compile(rf"[{_BLANKS}]*\+?0*106(?![0-9])").match


def ends_transaction(line: str) -> bool:
    """Return whether a line begins like a transaction's end; after a bad record the schedd reads no more of it."""
    return _END(line) is not None


def trailing_blanks(record: Record, line: str) -> bool:
    """Return whether blanks follow a line's last word, where the schedd looks for the next record and fails."""
    return record.op in _SHAPES and record.op is not Op.SET and line[-1] in _BLANKS


def parse_record(line: str) -> Record:
    """Return the record of a line without its line end; blanks may be doubled, as the schedd allows.

    A value is not checked except for NUL. Raises BadRecord.
    """
    nul = line.find("\0")
    if nul >= 0:
        raise BadRecord("a NUL character: for the schedd the log ends here", nul, nul + 1)
    if line in (BEGIN, END):
        return Record(Op.BEGIN if line == BEGIN else Op.END)
    first = _WORDS.match(line)
    if first is None:
        raise BadRecord("the line is blank", 0, len(line))
    op = _operation(first, line)
    if op in (Op.BEGIN, Op.END):
        return _bracket(op, line, first.end())
    return _body(op, line, first.end())


def _operation(match: re.Match[str], line: str) -> Op:
    found = _OPERATION(match[1])
    if found is not None:
        return Op(int(found[1]))
    start, end = match.span(1)
    raise BadRecord(f"this line does not begin with an operation of a job queue: {_KNOWN}", start, min(end, len(line)))


def _bracket(op: Op, line: str, at: int) -> Record:
    if at == len(line):
        hint = f"write `{op.value} ` with a blank at the end of the line"
        raise BadRecord(f"{op.value} has no blank after it, which the schedd does not accept", 0, at, hint)
    rest = line[at + 1 :]
    if rest == "#":
        raise BadRecord("the comment after the # is missing, which the schedd does not accept", at + 1, len(line))
    if rest and not (op is Op.END and rest[0] == "#"):
        allowed = "a # and a comment" if op is Op.END else "nothing"
        raise BadRecord(f"only {allowed} may follow {op.value} and a blank", at + 1, len(line))
    return Record(op, value=rest[1:])


def _body(op: Op, line: str, at: int) -> Record:
    words: list[str] = []
    ends = [at]
    wanted = {Op.NEW: 3, Op.DESTROY: 1, Op.SET: 2, Op.DELETE: 2, Op.HEADER: 3}[op]
    while len(words) < wanted:
        match = _WORDS.match(line, ends[-1])
        if match is None:
            break
        words.append(match[1])
        ends.append(match.end())
    missing = wanted - len(words)
    rest = line[ends[-1] + 1 :] if op is Op.SET else line[ends[-1] :].strip(_BLANKS)
    if missing and not (op is Op.NEW and missing == 1):
        raise BadRecord(f"{op.value} needs {_SHAPES[op]}", 0, len(line))
    if op is Op.SET:
        if not rest.strip(_BLANKS):
            hint = "write UNDEFINED for no value"
            raise BadRecord("the value is empty, which stops the schedd", len(line.rstrip(_BLANKS)), len(line), hint)
        return Record(op, words[0], words[1], rest)
    if rest:
        raise BadRecord(f"{op.value} takes only {_SHAPES[op]}", line.index(rest, ends[-1]), len(line))
    if op is Op.NEW:
        return Record(op, words[0], _my_type(words[1]), "".join(words[2:]))
    if op is Op.HEADER:
        return Record(op, words[0], words[1], words[2])
    return Record(op, words[0], words[1] if wanted == 2 else "")


def _my_type(word: str) -> str:
    return "" if word == EMPTY_TYPE else word


def format_record(record: Record) -> str:
    """Return a record as HTCondor writes it, without a line end.

    Raises ValueError for a record that does not fit on one line.
    """
    op, key, name, value = record
    if op is Op.BEGIN:
        return BEGIN
    if op is Op.END:
        line = f"{END}#{value}" if value else END
    elif op is Op.NEW:
        target = "Machine" if name.lower() == "job" else name if name.startswith("*") else EMPTY_TYPE
        line = f"101 {key} {name or EMPTY_TYPE} {target}"
    elif op is Op.SET:
        line = f"103 {key} {name} {value}"
    else:
        line = " ".join(word for word in (str(op.value), key, name, value) if word)
    if parse_record(line)[:3] != (op, key, name) or "\n" in line:
        raise ValueError(f"this does not fit on one line of a job queue: {record}")
    return line


_MOST = 20  # findings of one code, so that a million bad lines make no longer list
_AROUND = 2_000  # characters of a line before and after the range, so that no finding holds a line of 100 MB


class JobQueueError(CrondorError, ValueError):
    """An error of a job queue that stops its caller."""


class DamagedLog(JobQueueError):
    """A log that the schedd would not start with: it has an unreadable transaction. The file is unchanged."""


class QueueLocked(JobQueueError):
    """Another process is writing this queue."""


class QueueIO(JobQueueError, OSError):
    """A failure of the disk: full, read-only, missing. Committed transactions are unaffected."""


class NotAQueueLog(JobQueueError):
    """A file with lines, none of which is a record of a queue."""


class InvalidChange(JobQueueError):
    """A change that no log can store: of a missing ad, to a value that is not an expression."""


class LogFindings:
    """Findings of one log in order, at most twenty of a code, then a count of the rest."""

    def __init__(self, name: str) -> None:
        """Start empty; ``name`` is the log's name in messages."""
        self.name = name
        self._found: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()

    def take(self) -> tuple[Diagnostic, ...]:
        """Return the findings, and start again."""
        more = [
            Diagnostic(code, f"and {count - _MOST:,} more of this", Severity.NOTE, Source("", self.name).span())
            for code, count in self._counts.items()
            if count > _MOST
        ]
        found = (*self._found, *more)
        self._found.clear()
        self._counts.clear()
        return found

    def add(
        self,
        code: str,
        message: str,
        line: tuple[int, str],
        severity: Severity = Severity.WARNING,
        hint: str | None = None,
        piece: tuple[int, int] | None = None,
    ) -> None:
        """Add a finding about a line, given as its number from 1 and its text; ``piece`` of it is underlined."""
        self._counts[code] += 1
        if self._counts[code] > _MOST:
            return
        start, end = piece or (0, len(line[1]))
        first = max(0, start - _AROUND)
        text = line[1][first : start + _AROUND]
        span = Piece(text, self.name, line[0], first + 1).span(start - first, min(end - first, len(text)))
        self._found.append(Diagnostic(code, message, severity, span, hint))

    def bad_record(self, error: BadRecord, line: tuple[int, str], what: str, severity: Severity) -> None:
        """Add a finding about a line that is not a record, and what is done with it."""
        self.add("queue-log-record", f"{error}; {what}", line, severity, error.hint, (error.start, error.end))


def refused_by_disk(path: Path | str, doing: str, error: OSError, hint: str | None = None) -> QueueIO:
    """Return an error for an operation that the system refused."""
    reason = error.strerror or str(error)
    span = Source("", str(path)).span()
    return QueueIO(Diagnostic("queue-io", f"{doing}: {reason}", span=span, help=hint))


HEADER: Final = "0.0"
"""The ad that belongs to the queue itself; it holds NextClusterNum."""

_KEY: Final = re.compile(r"(-?[0-9]{1,10})\.(-?[0-9]{1,10})\Z").match
_JOB: Final = re.compile(r"([1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,9})\Z").match
_CLUSTER_PROC: Final = -1
_MAX: Final = (1 << 31) - 1


# The spelling is HTCondor 25.14's (``JOB_ID_KEY``): a cluster ad is ``0<cluster>.-1``, with a leading zero.
class JobId(NamedTuple):
    """A job's number: its cluster, from 1, and its number there, from 0."""

    cluster: int
    proc: int

    def __str__(self) -> str:
        """Return ``cluster.proc``, also the key of its ad."""
        return f"{self.cluster}.{self.proc}"

    @classmethod
    def parse(cls, text: str) -> JobId | None:
        """Return the job of a key in canonical spelling; None if it is not a job's."""
        match = _JOB(text)
        return None if match is None else cls(int(match[1]), int(match[2]))


def cluster_key(cluster: int) -> str:
    """Return the key of a cluster's ad."""
    return f"0{cluster}.{_CLUSTER_PROC}"


def cluster_of(key: str) -> int | None:
    """Return the cluster of a cluster ad's key in canonical spelling; None if it is not a cluster's."""
    match = _KEY(key)
    if match is None or int(match[2]) != _CLUSTER_PROC or int(match[1]) <= 0:
        return None
    return int(match[1])


def is_key(key: str) -> bool:
    """Return whether a key is two numbers that HTCondor can store; other keys it takes for ``0.0`` or another ad's."""
    match = _KEY(key)
    return match is not None and abs(int(match[1])) <= _MAX and abs(int(match[2])) <= _MAX


def canonical(key: str) -> str:
    """Return the canonical spelling of a key: the schedd compares the numbers, so ``1.-1`` is ``01.-1``."""
    match = _KEY(key)
    if match is None:
        return key
    cluster, second = int(match[1]), int(match[2])
    return cluster_key(cluster) if second == _CLUSTER_PROC and cluster > 0 else f"{cluster}.{second}"


IMPLIED: Final = {"mytype": "MyType", "targettype": "TargetType"}
"""The attributes that a 101 sets: names by lowercase name."""

_EDITS: Final = f"{BEGIN}\n".encode()
_SET, _DELETE = "103", "104"
_STEP: Final = 9  # a growing ad is checked once in 512 bytes
_COMMON: Final = 4  # letters shared by names to look for, for a quick first check


# A packed ad is the lines of its records in the order of the log, line ends and all: the 101 that makes it, and 103s
# and 104s. A 105 among them says where edits begin. All have the ad's key, or none of them, with two blanks.
def keyless(records: bytes, key: bytes) -> bytes:
    """Return records of an ad without their key."""
    lines = b"\n" + records
    for op in (b"101", b"103", b"104"):
        lines = lines.replace(b"\n%b %b " % (op, key), b"\n%b  " % op)
    return lines[1:]


def deletion(packed: bytes, name: str, instead: str | None) -> bytes:
    """Return a record that deletes an attribute of a packed ad, or sets it to another text."""
    key = _key(packed).decode()
    record = f"104 {key} {name}\n" if instead is None else f"103 {key} {name} {instead}\n"
    return record.encode("utf-8", "surrogateescape")


def implied(my_type: str) -> dict[str, str]:
    """Return the attributes that a 101 with a MyType sets: texts by lowercase name."""
    quoted = my_type.replace('"', '\\"')
    found = {"mytype": f'"{quoted}"'}
    if lower(my_type) == "job":
        found["targettype"] = '"Machine"'
    return found


def find(packed: bytes, low: str) -> str | None:
    """Return the text of an attribute, given by its lowercase name; None if the ad lacks it."""
    folded, key = packed.lower(), _key(packed)
    name = low.encode("utf-8", "surrogateescape")
    sign = b"\n103 %b %b " % (key, name)
    at = folded.rfind(sign)
    if b"\n104 " in folded and folded.rfind(b"\n104 %b %b\n" % (key, name)) > at:
        return None
    if at < 0:
        return implied(_packed_type(packed)).get(low) if low in IMPLIED else None
    start = at + len(sign)
    return _decoded(packed[start : packed.index(b"\n", start)])


def parts(packed: bytes, low_of: Callable[[str], str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return texts and first spellings by lowercase name; ``low_of`` lowers a name."""
    texts = implied(_packed_type(packed))
    names = {low: IMPLIED[low] for low in texts}
    for line in _decoded(packed).split("\n"):
        op, _, rest = line.partition(" ")
        if op == _SET:
            _, name, value = rest.split(" ", 2)
            low = low_of(name)
            texts[low] = value
            names.setdefault(low, name)
        elif op == _DELETE:
            low = low_of(rest.partition(" ")[2])
            texts.pop(low, None)
            names.pop(low, None)
    return texts, names


def edited(packed: bytes, records: bytes, low_of: Callable[[str], str]) -> bytes:
    """Return an ad with more records; it never grows much beyond its current content."""
    if packed.index(b"\n") == len(packed) - 1:
        return packed + records
    made = packed + _EDITS + records
    if len(made) >> _STEP != len(packed) >> _STEP and len(made) > 2 * made.find(b"\n105 ") + (1 << _STEP):
        return shortened(made, low_of)
    return made


def shortened(packed: bytes, low_of: Callable[[str], str]) -> bytes:
    """Return a packed ad without the records that later ones replace, if it was edited."""
    if b"\n105 " not in packed:
        return packed
    head, key = packed[: packed.index(b"\n") + 1], _key(packed).decode()
    texts, names = parts(packed, low_of)
    first = implied(_packed_type(packed))
    same = {low for low in first if texts.get(low) == first[low] and names[low] == IMPLIED[low]}
    gone = [f"104 {key} {low}\n" for low in first if low not in same]
    kept = [f"103 {key} {names[low]} {text}\n" for low, text in texts.items() if low not in same]
    return head + "".join([*gone, *kept]).encode("utf-8", "surrogateescape")


class Probe:
    """Tests whether an ad has any of some attributes, faster than by looking for each."""

    def __init__(self, lows: Iterable[str]) -> None:
        """Take lowercase names."""
        self._lows = tuple(lows)
        self._names = tuple(f"{low} ".encode("utf-8", "surrogateescape") for low in self._lows)
        self._signs = {b" " + name[:_COMMON] for name in self._names}
        self._is_implied = not IMPLIED.keys().isdisjoint(self._lows)

    def __call__(self, ad: dict[str, str] | bytes) -> bool:
        """Check an ad, packed or not."""
        if not isinstance(ad, bytes):
            return any(low in ad for low in self._lows)
        text = ad.lower()
        if self._is_implied or b"\n104 " in text:
            return any(find(ad, low) is not None for low in self._lows)
        for sign in self._signs:
            if sign in text:
                start = b"\n103 %b " % _key(ad)
                return any(start + name in text for name in self._names)
        return False


class Traits:
    """The texts of some attributes in an ad, packed or not, as a key: ads with the same key have the same texts."""

    def __init__(self, lows: Iterable[str], number: str) -> None:
        """Take lowercase names, and that of one more attribute, all of whose plain numbers count as one."""
        self._lows, self._number = frozenset(lows), number
        self._has_type = not IMPLIED.keys().isdisjoint(self._lows)
        names = (re.escape(low.encode("utf-8", "surrogateescape")) for low in (*self._lows, number))
        plain = b"" if number in self._lows else rb"(?i:%b) (?=[0-9]+\n)|" % number.encode()
        self._find = re.compile(rb"\n10[34] [^ \n]* (%b(?i:%b)(?: [^\n]*)?(?=\n))" % (plain, b"|".join(names))).findall

    def __call__(self, ad: dict[str, str] | bytes) -> Hashable:
        """Return the key of an ad."""
        if isinstance(ad, bytes):
            return (*self._find(ad), _packed_type(ad)) if self._has_type else tuple(self._find(ad))
        number = ad.get(self._number, "")
        return (*map(ad.get, self._lows), "0" if number.isascii() and number.isdigit() else number)


def _key(packed: bytes) -> bytes:
    return packed[4 : packed.index(b" ", 4)]


def _packed_type(packed: bytes) -> str:
    word = _decoded(packed[: packed.index(b"\n")].split(b" ")[2])
    return "" if word == EMPTY_TYPE else word


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
