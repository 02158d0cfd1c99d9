"""Bytes of a file to a Source, or one sentence that says why they are not text."""

from __future__ import annotations

import re
from typing import NoReturn

from crondor._encoding import LINE_WITH_BYTES
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source

MAX_BYTES = 16 * 1024 * 1024
_UTF32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_COMMENT = re.compile(r"[ \t]*#").match
_EXCERPT = 4096  # bytes kept on either side of a bad byte, so that the message can show its line


class InvalidText(CrondorError, ValueError):
    """The bytes of a file are not a text that can be read."""


def source_from_bytes(data: bytes, name: str, limit: int = MAX_BYTES) -> Source:
    """Return the text of a file, ``limit`` being the largest size in bytes.

    The text must be UTF-8, but for its comments: there a byte that is none stays as half a character
    (surrogateescape), of which ``odd_comment`` warns. A byte order mark stays in the text: whether it is allowed is a
    question of the language. Raises InvalidText for UTF-16 or UTF-32 with a byte order mark, a NUL byte, invalid UTF-8
    elsewhere, or too many bytes.
    """
    if len(data) > limit:
        _refuse(name, "too-large", f"the file is larger than {limit} bytes, and crondor reads no more")
    if data.startswith(_UTF32) or data.startswith(_UTF16):
        width = 32 if data.startswith(_UTF32) else 16
        _refuse(name, "not-utf8", f"the file is written in UTF-{width}, and HTCondor reads UTF-8", "save it as UTF-8")
    nul = data.find(b"\0")
    if nul >= 0:
        message = "the file is not text: it has a NUL byte (a program, an archive, or UTF-16 without its mark)"
        _refuse_at(data, nul, name, "not-text", message)
    try:
        return Source(data.decode("utf-8"), name)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    for found in LINE_WITH_BYTES.finditer(text):
        if not _is_comment(text, found.start()):
            before = text[: found.end() - 1].encode("utf-8", "surrogateescape")
            message = f"the file is not UTF-8 text: byte 0x{data[len(before)]:02x} does not belong here"
            _refuse_at(data, len(before), name, "not-utf8", message, "save the file as UTF-8")
    return Source(text, name)


def _is_comment(text: str, begin: int) -> bool:
    """Say whether the line that begins there is a comment, and surely no part of a continued line."""
    end = begin - (2 if text.endswith("\r\n", 0, begin) else 1)
    return _COMMENT(text, begin) is not None and not text.endswith("\\", 0, max(0, end))


def _refuse(name: str, code: str, message: str, help: str | None = None) -> NoReturn:  # noqa: A002 - Diagnostic's word
    raise InvalidText(Diagnostic(code, message, span=Source("", name).span(), help=help))


def _refuse_at(data: bytes, at: int, name: str, code: str, message: str, help: str | None = None) -> NoReturn:  # noqa: A002
    # Line ends before the shown piece are kept, so that the line number is the file's own.
    low = max(0, at - _EXCERPT)
    before = "\n" * data.count(b"\n", 0, low) + data[low:at].decode("utf-8", "replace")
    after = data[at : at + _EXCERPT].decode("utf-8", "replace").replace("\0", "\ufffd")
    span = Source(before + after, name).span(len(before), len(before) + 1)
    raise InvalidText(Diagnostic(code, message, span=span, help=help)) from None
