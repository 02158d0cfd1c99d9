"""The lines of a calendar file, and what they may hold before the package icalendar reads them.

It follows components by recursion, however deep, works out each change of a zone that a file defines up to 2038, be it
one a second, and looks for folded lines in a time that grows with the square of empty ones.
"""

from __future__ import annotations

import re

from crondor.compile.faults import short

_DEEPEST = 8  # an alarm of an event of a calendar is 3 deep
_MOST_CHANGES = 10_000  # of the zones of a file; those of Outlook have two a year from 1601 on
_LAST = 2038  # the year up to which they are worked out
_PROPERTY = re.compile(r"(BEGIN|END|DTSTART|RRULE|RDATE)[;:]", re.IGNORECASE)
_YEARLY = re.compile(
    r"(?:(?:FREQ=YEARLY|INTERVAL=\d+|COUNT=\d+|UNTIL=\w+|WKST=\w\w|BYMONTH=\d+|BYDAY=[+-]?\d*\w\w"
    r"|BYMONTHDAY=-?\d+(?:,-?\d+){0,6})(?:;|$))+",
    re.IGNORECASE,
)


def unfolded(text: str) -> list[str]:
    """Return the lines of a calendar's text with those joined that are folded (RFC 5545, 3.1), none of them empty."""
    pieces: list[list[str]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in {" ", "\t"} and pieces:
            pieces[-1].append(line[1:])
        elif line:
            pieces.append([line])
    return ["".join(each) for each in pieces]


def excess(lines: list[str]) -> str | None:
    """Return what a calendar has more of than a calendar needs, as the end of a sentence; None for nothing."""
    open_: list[str] = []
    zones = _Zones()
    for line in lines:
        found = _PROPERTY.match(line)
        if found is None:
            continue
        name, value = found[1].upper(), line.rpartition(":")[2].strip()
        if name == "BEGIN":
            open_.append(value.upper())
            if len(open_) > _DEEPEST:
                return f"has components more than {_DEEPEST} deep"
        elif name == "END":
            del open_[-1:]
        if "VTIMEZONE" not in open_:
            zones.end()
        elif name == "RRULE" and not _YEARLY.fullmatch(value):
            return f"has a zone with the rule {short(value)}, and zones change by the year"
        else:
            zones.take(name, value)
        if zones.changes > _MOST_CHANGES:
            return f"has zones with more than {_MOST_CHANGES} changes"
    return None


class _Zones:
    """How many changes the zones of a file have, no fewer than are worked out."""

    def __init__(self) -> None:
        self.changes = 0
        self._first, self._in_year = _LAST, 0

    def take(self, name: str, value: str) -> None:
        """Count a property of a zone, or of a part of it."""
        if name == "DTSTART":
            self._first = min(self._first, int(value[:4]) if value[:4].isdecimal() else 1)
        elif name == "RDATE":
            self.changes += 1 + value.count(",")
        elif name == "RRULE":
            self._in_year += 1 if "BYDAY" in value.upper() else 1 + value.count(",")

    def end(self) -> None:
        """Count the rules of the zone that ends here, if one does."""
        self.changes += self._in_year * (_LAST - self._first + 1)
        self._first, self._in_year = _LAST, 0
