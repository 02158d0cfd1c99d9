"""A comment behind a value, moved to a line of its own above it: a fix where it certainly is a comment."""

from __future__ import annotations

import re
from collections.abc import Callable

from crondor.check.rule import Fix, TextEdit
from crondor.diagnostics import CrondorError
from crondor.source import Source
from crondor.spec import CronSpec, Field

_LINE = re.compile(
    r"(?P<margin>[ \t]*)[\w.+]+[ \t]*=[ \t]*(?P<value>[^\"'\\\r\n]*?)(?P<gap>[ \t]+)(?P<comment>#[^\\\r\n]*)"
)
_AMOUNT = re.compile(r"\d+(?:[ \t]*[KMGT]B?)?", re.IGNORECASE | re.ASCII).fullmatch
_SPEAKS = "crondor:"  # a comment to crondor means the line it stands on


def moved(source: Source, at: int, is_value: Callable[[str], bool]) -> Fix | None:
    """Return what moves the comment of the line at an offset of a file; None where it may be part of the value.

    It is none of a value where quotes, a backslash, or a line that goes on stand around it, or where what stands before
    it is no value by itself, as ``is_value`` says.
    """
    text = source.text
    begin = text.rfind("\n", 0, at) + 1
    found = _LINE.match(text, begin)
    if found is None or text[found.end() : found.end() + 1] not in {"", "\r", "\n"}:
        return None
    before = text[:begin].removesuffix("\n").removesuffix("\r")
    if before.endswith("\\") or _SPEAKS in found["comment"] or not is_value(found["value"]):
        return None
    end = "\r\n" if text.startswith("\r\n", found.end()) else "\n"
    comment = f"{found['margin']}{found['comment'].rstrip()}{end}"
    edits = (
        TextEdit(source.span(begin, begin), comment),
        TextEdit(source.span(found.start("gap"), found.end()), ""),
    )
    return Fix("move the comment to a line of its own", edits)


def is_field(field: Field) -> Callable[[str], bool]:
    """Return a test for the values of a cron field."""

    def test(value: str) -> bool:
        try:
            CronSpec.from_mapping({field.attribute: value})
        except CrondorError:
            return False
        return True

    return test


def is_number(value: str) -> bool:
    """Say whether a value is a plain number."""
    return value.isascii() and value.isdigit()


def is_amount(value: str) -> bool:
    """Say whether a value is a number that may have a unit, as request_memory takes it."""
    return _AMOUNT(value) is not None
