"""The formats of $INT(), $REAL() and $STRING(): one conversion as in C's printf, kept inside bounds.

HTCondor: evaluate_macro_func.
"""

from __future__ import annotations

import re
from math import copysign, isfinite
from typing import NamedTuple

LONGEST = 55  # characters that HTCondor keeps of a formatted number
_CONVERSION = r"(?s)%([#0\- +']*)([0-9]*)(\*?)(?:\.([0-9]*)(\*?))?([hlLqjzt]*)(.)"  # compiled where a text has a format
_LETTERS = {"int": "diouxXc", "real": "eEfFgGaA", "string": "s"}
_PYTHON = {"i": "d", "u": "d", "a": "e", "A": "E"}  # %a comes here with what is no number only
_BITS = {"": 32, "h": 16, "hh": 8}


class PrintfFormat(NamedTuple):
    """A format taken apart: what stands before and behind its conversion, and the conversion."""

    before: str
    flags: str
    width: int
    precision: int | None
    length: str
    letter: str
    behind: str

    def of_int(self, value: int) -> str:
        """Return a number as C prints it with this conversion, whose size may be smaller than the number."""
        bits = _BITS.get(self.length, 64)
        value &= (1 << bits) - 1
        if self.letter in "di" and value >> (bits - 1):
            value -= 1 << bits
        if self.letter == "c":
            return self._cut(self._pad(chr(value & 0xFF).strip("\0")))
        flags = self.flags if self.letter in "di" else self.flags.translate({32: None, 43: None})
        return self._cut(self._python(flags, value))

    def of_real(self, value: float) -> str:
        """Return a real number."""
        if self.letter in "aA" and isfinite(value):
            return self._cut(self._hexadecimal(value))
        flags = self.flags if isfinite(value) else self.flags.replace("0", "")
        return self._cut(self._python(flags, value))

    def of_string(self, value: str) -> str:
        """Return a text, cut to the precision and padded to the width."""
        shown = value if self.precision is None else value[: self.precision]
        return f"{self.before}{self._pad(shown)}{self.behind}"

    def _python(self, flags: str, value: float) -> str:
        width = str(min(self.width, LONGEST + 1)) if self.width else ""
        precision = "" if self.precision is None else f".{min(self.precision, LONGEST + 1)}"
        letter = _PYTHON.get(self.letter, self.letter)
        made: str = f"%{flags}{width}{precision}{letter}" % value
        return made

    def _hexadecimal(self, value: float) -> str:
        """Return a number as C's %a does: one digit before the point, then those that are needed, or asked for."""
        sign = "-" if copysign(1, value) < 0 else "+" if "+" in self.flags else " " if " " in self.flags else ""
        head, _, power = abs(value).hex().removeprefix("0x").partition("p")
        digits, _, fraction = head.partition(".")
        exponent, whole = int(power), int(digits + fraction, 16)
        if self.precision is not None and self.precision < len(fraction):
            cut = 4 * (len(fraction) - self.precision)
            rest, half = whole & ((1 << cut) - 1), 1 << (cut - 1)
            whole >>= cut
            whole += rest > half or (rest == half and whole & 1)
            fraction = f"{whole:0{self.precision + 1}x}"[1:]
        else:
            fraction = fraction.rstrip("0") if self.precision is None else fraction
        if self.precision is not None:
            fraction = fraction.ljust(min(self.precision, LONGEST + 1), "0")
            digits = f"{whole >> (4 * self.precision)}" if self.precision < 13 else digits
        point = "." if fraction or "#" in self.flags else ""
        body = f"{digits}{point}{fraction}p{exponent:+d}"
        fill = self.width - len(sign) - 2 - len(body)
        if "0" in self.flags and "-" not in self.flags:
            body = "0" * min(fill, LONGEST + 1) + body
        text = self._pad(f"{sign}0x{body}")
        return text.upper() if self.letter == "A" else text

    def _pad(self, text: str) -> str:
        return text.ljust(self.width) if "-" in self.flags else text.rjust(self.width)

    def _cut(self, text: str) -> str:
        return f"{self.before}{text}{self.behind}"[:LONGEST]


def parse(text: str, kind: str, most: int) -> PrintfFormat | None:
    """Read a format for an ``int``, a ``real`` or a ``string``; None for one that HTCondor refuses.

    ``most`` is the largest width and precision of a string in characters; a wider one is refused too.

    format = plain conversion plain
    plain = ([^%] | "%" options "%")*
    conversion = "%" options LETTERS
    options = [-#0 +']* [0-9]* ("." [0-9]*)? [hlLqjzt]*
    """
    found: re.Match[str] | None = None
    for each in re.finditer(_CONVERSION, text):
        if each[7] == "%":
            continue
        if found is not None:
            return None
        found = each
    if found is None or found[3] or found[5] or found[7] not in _LETTERS[kind]:
        return None
    width, precision = _number(found[2]) or 0, None if found[4] is None else _number(found[4]) or 0
    if kind == "string" and max(width, precision or 0) > most:
        return None
    before, behind = (re.sub(_CONVERSION, "%", piece) for piece in (text[: found.start()], text[found.end() :]))
    return PrintfFormat(before, found[1].replace("'", ""), width, precision, found[6], found[7], behind)


def _number(digits: str) -> int | None:
    """Return a number, kept small enough to compare: nobody formats with more than nine digits."""
    return int(digits[:10]) if digits else None
