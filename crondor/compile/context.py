"""What a piece of a schedule's text is read with: zone, policy, the instant to count from, the files it may name."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple, Protocol
from zoneinfo import available_timezones

from crondor.calendar import DAY, EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from crondor.compile.faults import Remarks
from crondor.diagnostics import similar
from crondor.source import Source, Span
from crondor.zones import Policy, UnknownZone, Zone, zone_of


class Files(Protocol):
    """The files that a schedule may name, such as crondor.macro.files.Files: those below folders that are allowed."""

    def read(self, path: str) -> Source:
        """Return a file's text. Raises CrondorError for one that may not, or cannot, be read."""


class Context(NamedTuple):
    """What the surroundings of a piece of text say.

    ``start`` is the instant (epoch seconds) that periods are counted from where the text names none; ``name`` is the
    job's, which H and ~ are hashed from; ``files`` are those that may be read, None for none. ``is_whole``: behind the
    last event of a calendar file there is none; else the file is known up to there. ``behind`` is what the text says
    right behind the piece: its times, as in `` at 06:00``.
    """

    zone: Zone
    remarks: Remarks
    policy: Policy = Policy.COMPATIBLE
    start: int | None = None
    name: str = ""
    files: Files | None = None
    is_whole: bool = False
    behind: str = ""


def named_zone(name: str, span: Span, remarks: Remarks) -> Zone | None:
    """Return the zone of an IANA name; None, and a fault, for another word."""
    try:
        return zone_of(name)
    except UnknownZone:
        near = similar(name[:64], available_timezones(), 0.6)
    help_text = f"did you mean {near[0]}?" if near else "write an IANA name such as Europe/Berlin or UTC"
    remarks.fault("zone", f"there is no zone `{name[:40]}`", span, help_text, near[0] if near else None)
    return None


def epoch_of(wall: int, zone: Zone) -> int:
    """Return the instant at which a clock in a zone shows ``wall`` (seconds since 1970-01-01 00:00 of that clock).

    Of a time shown twice the first pass; a time that is skipped is read with the offset before the change.
    """
    early = wall - zone.at(wall - DAY).offset
    if zone.local(early) == wall:
        return early
    late = wall - zone.at(wall + DAY).offset
    return late if zone.local(late) == wall else early


def is_skipped(wall: int, zone: Zone) -> bool:
    """Say whether a clock in a zone never shows ``wall`` (seconds since 1970-01-01 00:00 of that clock)."""
    return zone.local(epoch_of(wall, zone)) != wall


def calendar_day(year: int, month: int, day: int) -> int | None:
    """Return the day number of a date, None for one that does not exist or lies outside the years of schedules."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return date(year, month, day).toordinal() - EPOCH_ORDINAL
    except ValueError:
        return None
