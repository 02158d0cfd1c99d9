"""One ad as the records that a log has of it: what lets a million jobs fit.

A packed ad is the lines of its records in the order of the log, line ends and keys and all: the 101 that makes it, and
103s and 104s. A 105 among them says where edits begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from crondor.classad.text import lower
from crondor.job_queue.records import BEGIN, EMPTY_TYPE

IMPLIED: Final = {"mytype": "MyType", "targettype": "TargetType"}
"""What a 101 gives an ad: the names by name in lower case."""

_EDITS: Final = f"{BEGIN}\n".encode()
_SET, _DELETE = "103", "104"
_STEP: Final = 9  # an ad that grows is looked at once in 512 bytes
_COMMON: Final = 4  # letters that names to be looked for have in common, for the first look


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
        return implied(_my_type(packed)).get(low) if low in IMPLIED else None
    start = at + len(sign)
    return _decoded(packed[start : packed.index(b"\n", start)])


def parts(packed: bytes, low_of: Callable[[str], str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return texts and the spelling of names, the first of each, by name in lower case; ``low_of`` lowers one."""
    texts = implied(_my_type(packed))
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
        return _without_past(made, low_of)
    return made


def _without_past(packed: bytes, low_of: Callable[[str], str]) -> bytes:
    """Return an ad with one record for each attribute that it has."""
    head, key = packed[: packed.index(b"\n") + 1], _key(packed).decode()
    texts, names = parts(packed, low_of)
    first = implied(_my_type(packed))
    same = {low for low in first if texts.get(low) == first[low] and names[low] == IMPLIED[low]}
    gone = [f"104 {key} {low}\n" for low in first if low not in same]
    kept = [f"103 {key} {names[low]} {text}\n" for low, text in texts.items() if low not in same]
    return head + "".join([*gone, *kept]).encode("utf-8", "surrogateescape")


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


def _my_type(packed: bytes) -> str:
    word = _decoded(packed[: packed.index(b"\n")].split(b" ")[2])
    return "" if word == EMPTY_TYPE else word


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
