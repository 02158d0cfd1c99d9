"""Strings of ClassAds are bytes; here they are ``str`` in UTF-8 with surrogate escapes for other bytes.

ASCII strings, nearly all, need no conversion; others are converted to bytes where HTCondor counts, cuts or compares
bytes. ``normal`` keeps one spelling for each sequence of bytes, so that ``==`` compares bytes.
"""

from __future__ import annotations


def to_bytes(text: str) -> bytes:
    """Return the bytes of a string."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """Return the string of bytes."""
    return data.decode("utf-8", "surrogateescape")


def normal(text: str) -> str:
    """Return the one spelling of a string: escapes that together are UTF-8 become the character."""
    return text if text.isascii() else from_bytes(to_bytes(text))


def size(text: str) -> int:
    """Return the number of bytes."""
    return len(text) if text.isascii() else len(to_bytes(text))


def lower(text: str) -> str:
    """Return a string with the ASCII letters in lower case, as in the C locale."""
    return text.lower() if text.isascii() else from_bytes(to_bytes(text).lower())


def upper(text: str) -> str:
    """Return a string with the ASCII letters in upper case, as in the C locale."""
    return text.upper() if text.isascii() else from_bytes(to_bytes(text).upper())


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 for the byte order of two strings."""
    if left == right:
        return 0
    if left.isascii() and right.isascii():
        return -1 if left < right else 1
    return -1 if to_bytes(left) < to_bytes(right) else 1


def compare_folded(left: str, right: str) -> int:
    """Return -1, 0 or 1 for the byte order of two strings with ASCII letters in lower case."""
    return 0 if left == right else compare(lower(left), lower(right))
