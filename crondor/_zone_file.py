"""From which year on a zone of the IANA database has a rule alone: RFC 9636, the footer of a TZif file."""

from __future__ import annotations

import re
import struct
import zoneinfo
from datetime import datetime, timezone
from importlib import resources
from pathlib import Path

NEVER = 1 << 16  # a year
_HEADER = struct.Struct(">4sc15x6l")
_MOST = 1 << 20  # bytes of a file
_KEY = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*").fullmatch


def rule_year(key: str) -> int:
    """Return the first UTC year in which, and in the year before, only the rule of a zone counts; NEVER: unknown."""
    data = _data(key)
    try:
        magic, version, *counts = _HEADER.unpack_from(data)
        if magic != b"TZif" or version < b"2":
            return NEVER
        at = _HEADER.size + _size(counts, 4)
        _, _, *counts = _HEADER.unpack_from(data, at)
        changes = counts[3]
        if not changes:
            return 1971
        (last,) = struct.unpack_from(">q", data, at + _HEADER.size + (changes - 1) * 8)
        return max(1971, datetime.fromtimestamp(last, timezone.utc).year + 2)
    except (struct.error, OverflowError, ValueError, OSError):
        return NEVER


def _size(counts: list[int], width: int) -> int:
    """Return the bytes of a block whose times take ``width`` each."""
    is_utc, is_standard, leaps, changes, kinds, letters = counts
    return changes * (width + 1) + kinds * 6 + letters + leaps * (width + 4) + is_standard + is_utc


def _data(key: str) -> bytes:
    """Return the file that ZoneInfo reads for a key, empty where there is none."""
    if not _KEY(key):
        return b""
    for folder in zoneinfo.TZPATH:
        path = Path(folder, key)
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_MOST)
    *packages, name = key.split("/")
    try:
        return resources.files(".".join(("tzdata", "zoneinfo", *packages))).joinpath(name).read_bytes()
    except (ImportError, OSError):
        return b""
