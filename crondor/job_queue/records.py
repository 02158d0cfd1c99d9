"""One line of job_queue.log and what it says.

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
from enum import IntEnum
from typing import Final, NamedTuple


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
    """Say whether a line begins as a transaction's end does; behind a bad record the schedd reads no more of it."""
    return _END(line) is not None


def trailing_blanks(record: Record, line: str) -> bool:
    """Say whether a line goes on behind its last word, where the schedd looks for the next record and finds none."""
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
