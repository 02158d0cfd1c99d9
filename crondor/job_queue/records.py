"""Lines of job_queue.log: records, keys, ads packed as bytes, and faults.

The lines are those of HTCondor 25.14 (``LogRecord``, ``classad_log.cpp``): the number of an operation, a blank, and
words divided by blanks; the value of 103 goes to the end of the line.

======  ==========================================  ======================================================
number  body                                        meaning
======  ==========================================  ======================================================
101     ``<key> <MyType> <TargetType>``             a new ad; an empty type is written ``(empty)``
102     ``<key>``                                   the ad is gone
103     ``<key> <name> <value>``                    set an attribute; the value is an expression, old syntax
104     ``<key> <name>``                            delete an attribute
105     nothing, after the blank                    a transaction begins
106     nothing or ``#`` and a comment              it ends: what stands between takes effect
107     ``<number> CreationTimestamp <epoch s>``    first line: how often compacted, when the log was created
======  ==========================================  ======================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
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

    Of HEADER ``key`` is the sequence number and ``value`` the time of creation, epoch seconds; of END ``value`` is the
    comment; of NEW the TargetType, empty where the line has none.
    """

    op: Op
    key: str = ""
    name: str = ""
    value: str = ""


class BadRecord(ValueError):
    """A line is no record; the argument says why, ``start`` and ``end`` where in the line (characters)."""

    def __init__(self, why: str, start: int, end: int, hint: str | None = None) -> None:
        """Keep the reason, the piece and what should stand there."""
        super().__init__(why, start, end, hint)
        self.why = why
        self.start = start
        self.end = end
        self.hint = hint

    def __str__(self) -> str:
        """Return the reason."""
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
_OPERATION: Final = re.compile(r"\+?0*(10[1-7])(?![0-9])").match  # as strtoll reads it: what follows does not count
_END: Final = re.compile(rf"[{_BLANKS}]*\+?0*106(?![0-9])").match


def ends_transaction(line: str) -> bool:
    """Say whether a line begins as a transaction's end does; after a bad record the schedd reads no more of it."""
    return _END(line) is not None


def trailing_blanks(record: Record, line: str) -> bool:
    """Say whether a line goes on after its last word, where the schedd looks for the next record and finds none."""
    return record.op in _SHAPES and record.op is not Op.SET and line[-1] in _BLANKS


def parse_record(line: str) -> Record:
    """Return the record of a line, given without its line end; blanks may be doubled, as the schedd allows.

    A value is not looked at, but for NUL. Raises BadRecord.
    """
    nul = line.find("\0")
    if nul >= 0:
        raise BadRecord("a NUL character: the schedd takes the log to end here", nul, nul + 1)
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
    raise BadRecord(f"no operation of a job queue begins this line: they are {_KNOWN}", start, min(end, len(line)))


def _bracket(op: Op, line: str, at: int) -> Record:
    if at == len(line):
        hint = f"write `{op.value} ` with a blank at the end of the line"
        raise BadRecord(f"{op.value} has no blank after it, which the schedd does not accept", 0, at, hint)
    rest = line[at + 1 :]
    if rest == "#":
        raise BadRecord("no comment comes after the #, which the schedd does not accept", at + 1, len(line))
    if rest and not (op is Op.END and rest[0] == "#"):
        allowed = "a # and a comment" if op is Op.END else "nothing"
        raise BadRecord(f"after {op.value} and a blank comes {allowed}", at + 1, len(line))
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
        raise BadRecord(f"{op.value} has {_SHAPES[op]} and nothing else", line.index(rest, ends[-1]), len(line))
    if op is Op.NEW:
        return Record(op, words[0], _my_type(words[1]), "".join(words[2:]))
    if op is Op.HEADER:
        return Record(op, words[0], words[1], words[2])
    return Record(op, words[0], words[1] if wanted == 2 else "")


def _my_type(word: str) -> str:
    return "" if word == EMPTY_TYPE else word


def format_record(record: Record) -> str:
    """Return a record as HTCondor writes it, without a line end.

    Raises ValueError for what cannot stand on one line.
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
        raise ValueError(f"this cannot stand on one line of a job queue: {record}")
    return line


_MOST = 20  # findings of one code; a log of a million bad lines gets no longer list
_AROUND = 2_000  # characters of a line on either side of the piece: a finding does not keep a line of 100 MB


class JobQueueError(CrondorError, ValueError):
    """Something about a job queue that the caller cannot go on with."""


class DamagedLog(JobQueueError):
    """A log that the schedd would not start with: a transaction in it cannot be read. The file is left as it is."""


class QueueLocked(JobQueueError):
    """Another process writes this queue."""


class QueueIO(JobQueueError, OSError):
    """The disk refused: full, read-only, gone. What was committed before is not touched by it."""


class NotAQueueLog(JobQueueError):
    """A file that has lines, and none of them is a record of a queue."""


class InvalidChange(JobQueueError):
    """A transaction asks for what no log can hold: an ad that is not there, a value that is no expression."""


class LogFindings:
    """Findings of one log in their order, at most twenty of a code and then one that counts the rest."""

    def __init__(self, name: str) -> None:
        """Begin empty; ``name`` is what people know the log by."""
        self.name = name
        self._found: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()

    def take(self) -> tuple[Diagnostic, ...]:
        """Return the findings, and begin anew."""
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
        """Note something about a line, given as its number from 1 and its text; ``piece`` of it is underlined."""
        self._counts[code] += 1
        if self._counts[code] > _MOST:
            return
        start, end = piece or (0, len(line[1]))
        first = max(0, start - _AROUND)
        text = line[1][first : start + _AROUND]
        span = Piece(text, self.name, line[0], first + 1).span(start - first, min(end - first, len(text)))
        self._found.append(Diagnostic(code, message, severity, span, hint))

    def bad_record(self, error: BadRecord, line: tuple[int, str], what: str, severity: Severity) -> None:
        """Note a line that is no record, and what becomes of it."""
        self.add("queue-log-record", f"{error}; {what}", line, severity, error.hint, (error.start, error.end))


def refused_by_disk(path: Path | str, doing: str, error: OSError, hint: str | None = None) -> QueueIO:
    """Return the error for what the operating system refused."""
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
    """A job's number: that of its cluster, from 1, and its own in there, from 0."""

    cluster: int
    proc: int

    def __str__(self) -> str:
        """Return ``cluster.proc``, which is also the key of its ad."""
        return f"{self.cluster}.{self.proc}"

    @classmethod
    def parse(cls, text: str) -> JobId | None:
        """Return the job that a key in canonical spelling stands for; None if it is no job's."""
        match = _JOB(text)
        return None if match is None else cls(int(match[1]), int(match[2]))


def cluster_key(cluster: int) -> str:
    """Return the key of a cluster's ad."""
    return f"0{cluster}.{_CLUSTER_PROC}"


def cluster_of(key: str) -> int | None:
    """Return the cluster whose ad a key in canonical spelling stands for; None if it is no cluster's."""
    match = _KEY(key)
    if match is None or int(match[2]) != _CLUSTER_PROC or int(match[1]) <= 0:
        return None
    return int(match[1])


def is_key(key: str) -> bool:
    """Say whether a key is two numbers that HTCondor can hold; what is none it takes for ``0.0`` or another ad's."""
    match = _KEY(key)
    return match is not None and abs(int(match[1])) <= _MAX and abs(int(match[2])) <= _MAX


def canonical(key: str) -> str:
    """Return the one spelling of a key: the schedd compares the numbers, so ``1.-1`` is ``01.-1``."""
    match = _KEY(key)
    if match is None:
        return key
    cluster, second = int(match[1]), int(match[2])
    return cluster_key(cluster) if second == _CLUSTER_PROC and cluster > 0 else f"{cluster}.{second}"


IMPLIED: Final = {"mytype": "MyType", "targettype": "TargetType"}
"""What a 101 gives an ad: the names by name in lower case."""

_EDITS: Final = f"{BEGIN}\n".encode()
_SET, _DELETE = "103", "104"
_STEP: Final = 9  # an ad that grows is looked at once in 512 bytes
_COMMON: Final = 4  # letters that names to be looked for have in common, for the first look


# A packed ad is the lines of its records in the order of the log, line ends and keys and all: the 101 that makes it,
# and 103s and 104s. A 105 among them says where edits begin.
def implied(my_type: str) -> dict[str, str]:
    """Return what a 101 with a MyType gives an ad: texts by name in lower case."""
    quoted = my_type.replace('"', '\\"')
    found = {"mytype": f'"{quoted}"'}
    if lower(my_type) == "job":
        found["targettype"] = '"Machine"'
    return found


def find(packed: bytes, low: str) -> str | None:
    """Return the text of an attribute, given by its name in lower case; None where the ad has none."""
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
    """Return texts and the spelling of names, the first of each, by name in lower case; ``low_of`` lowers one."""
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
    """Return an ad with more records; it never grows to much more than what it has."""
    if packed.index(b"\n") == len(packed) - 1:
        return packed + records
    made = packed + _EDITS + records
    if len(made) >> _STEP != len(packed) >> _STEP and len(made) > 2 * made.find(b"\n105 ") + (1 << _STEP):
        head, key = made[: made.index(b"\n") + 1], _key(made).decode()
        texts, names = parts(made, low_of)
        first = implied(_packed_type(made))
        same = {low for low in first if texts.get(low) == first[low] and names[low] == IMPLIED[low]}
        gone = [f"104 {key} {low}\n" for low in first if low not in same]
        kept = [f"103 {key} {names[low]} {text}\n" for low, text in texts.items() if low not in same]
        return head + "".join([*gone, *kept]).encode("utf-8", "surrogateescape")
    return made


class Probe:
    """Says whether an ad has any of some attributes, faster than by looking for each."""

    def __init__(self, lows: Iterable[str]) -> None:
        """Take names in lower case."""
        self._lows = tuple(lows)
        signs = {"" if low in IMPLIED else f" {low[:_COMMON]}" for low in self._lows}
        self._signs = tuple(sign.encode("utf-8", "surrogateescape") for sign in signs)

    def __call__(self, ad: dict[str, str] | bytes) -> bool:
        """Look into an ad, packed or not."""
        if not isinstance(ad, bytes):
            return any(low in ad for low in self._lows)
        text = ad.lower()
        for sign in self._signs:
            if sign in text:
                return any(find(ad, low) is not None for low in self._lows)
        return False


def _key(packed: bytes) -> bytes:
    return packed[4 : packed.index(b" ", 4)]


def _packed_type(packed: bytes) -> str:
    word = _decoded(packed[: packed.index(b"\n")].split(b" ")[2])
    return "" if word == EMPTY_TYPE else word


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
