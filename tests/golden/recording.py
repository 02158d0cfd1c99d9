"""Reads the two files of a replay: a recording, one JSON object per line, and a list of accepted differences."""

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.golden.kinds.case import Case

_GZIP = b"\x1f\x8b"
_WRITABLE = re.compile(r"[^\s#]\S*")  # a name that can stand in a list of accepted differences


class Unreadable(Exception):
    """A file cannot be used at all; the text is one sentence for the user."""


class Accepted(NamedTuple):
    """One accepted difference: the line of the list it stands in, and why it is accepted."""

    number: int
    reason: str


class _Read(NamedTuple):
    number: int
    value: object
    repeated: str | None


def read_recording(path: Path) -> list[Case]:
    """Return the lines of a recording, which may be gzipped; empty ones are skipped.

    A line's id is its ``name``, where it has one that no other line has, and else the digest of what it holds,
    whatever the order of its fields. Raises Unreadable.
    """
    lines = enumerate(_content(path).split("\n"), start=1)
    read = [_parse(path, number, line) for number, line in lines if line.strip()]
    if not read:
        raise Unreadable(f"{path} is empty: it records nothing")
    names = Counter(_name(line.value) for line in read)
    cases = []
    for number, value, repeated in read:
        name = _name(value)
        case_id = name if name is not None and names[name] == 1 else digest(value)
        cases.append(Case(number, case_id, value, path.parent, repeated))
    return cases


def read_accepted(path: Path) -> dict[str, Accepted]:
    """Return the accepted differences by id: lines ``id<TAB>reason``, empty ones and ``#`` comments aside.

    Raises Unreadable.
    """
    found: dict[str, Accepted] = {}
    for number, line in enumerate(_content(path).split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        case_id, _, reason = (part.strip() for part in line.partition("\t"))
        if not case_id or not reason:
            raise Unreadable(f"{path}, line {number}: write the line's name, a tab and the reason")
        if case_id in found:
            raise Unreadable(f"{path}, line {number}: {case_id} stands in line {found[case_id].number} already")
        found[case_id] = Accepted(number, reason)
    return found


def digest(value: object) -> str:
    """Return the id of a line without a name."""
    whole = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _content(path: Path) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if content.startswith(_GZIP) else content).decode()
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{path}, line {number}: not UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:  # BadGzipFile is an OSError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unreadable(f"{path}: {reason}") from error


def _parse(path: Path, number: int, line: str) -> _Read:
    repeated: list[str] = []

    def fields(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts = Counter(name for name, _ in pairs)
        repeated.extend(name for name, count in counts.items() if count > 1)
        return dict(pairs)

    def constant(name: str) -> object:
        raise ValueError(f"{name} is no JSON number")

    try:
        value: object = json.loads(line, object_pairs_hook=fields, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise Unreadable(f"{path}, line {number}{column}: not JSON: {reason}") from error
    return _Read(number, value, repeated[0] if repeated else None)


def _name(value: object) -> str | None:
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) and _WRITABLE.fullmatch(name) else None
