"""Time zones as stretches of constant UTC offset, and the policies for hours that a clock change skips or repeats."""

from __future__ import annotations

import pkgutil
import re
import struct
import zoneinfo
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone, tzinfo
from enum import Enum
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from zoneinfo import ZoneInfo

from crondor._types import expect
from crondor.calendar import is_leap
from crondor.diagnostics import CrondorError, Diagnostic

# The closest two changes of any zone since 1970 are 6.9 days apart (Gaza, Noronha): two samples at this distance have
# at most one between them.
_STRIDE = 4 * 86400
_FAR = 10 * 366 * 86400  # seconds; from so many years on, asking for the zone's rule is worthwhile
_FOREVER = 1 << 62
_LONGEST_NAME = 64  # characters
# `right/...` counts leap seconds; `localtime` is a different zone on every host.
_NO_ZONES = re.compile(r"(?:posix|right)/.*|localtime|posixrules|Factory")
LONGEST_GAP = 3 * 3600  # seconds; a longer gap (Apia's missing day) is a change of the calendar, and drops its runs
_EARLIEST, _LATEST = -62104060800, 253339228800  # the years 2 and 9998; times beyond have their offsets


class Policy(str, Enum):
    """The treatment of a run in an hour that a clock change skips (gap) or repeats (fold); docs/clock-changes.md.

    A schedule that follows real time runs whenever the clock shows a time that it names: no run is moved out of a gap,
    and each pass of a fold has one.
    """

    COMPATIBLE = "compatible"  # gap: shifted by its length; fold: the first pass
    DEBIAN = "debian"  # gap: at the first instant after it; fold: the first pass
    SKIP = "skip"  # gap: dropped; fold: the first pass, for every schedule
    KUBERNETES = "kubernetes"  # gap: dropped; fold: both passes, for every schedule

    def follows(self, *, hour_starred: bool, minute_starred: bool) -> bool:
        """Return whether a schedule with these stars follows real time under this policy."""
        if self is Policy.COMPATIBLE:
            return hour_starred
        return hour_starred or minute_starred if self is Policy.DEBIAN else self is Policy.KUBERNETES


class UnknownZone(CrondorError, ValueError):
    """A name that is not an IANA time zone."""


class Stretch(NamedTuple):
    """A period of constant offset: epochs from ``start`` to ``end`` (excluded), ``offset`` seconds east of UTC.

    ``before`` is the offset until ``start``. A stretch may end with the years examined, so neighbours may have equal
    offsets.
    """

    start: int
    end: int
    offset: int
    before: int


YearKind = tuple[int, bool, bool]
"""The weekday of 1 January (Monday is 0), whether the year is a leap year, and whether the one before was."""


@lru_cache(maxsize=512)
def year_kind(year: int) -> YearKind:
    """Return the kind of a year: years of a kind have the same calendar, and by rule the same clock changes."""
    return date(year, 1, 1).weekday(), is_leap(year), is_leap(year - 1)


class Zone:
    """The stretches of one time zone, computed year by year when needed; may be shared by threads."""

    __slots__ = ("_kinds", "_known", "_lock", "_rule_year", "_years", "info", "is_fixed", "name")

    def __init__(self, info: tzinfo) -> None:
        """Take any tzinfo; only its UTC offsets matter."""
        self.info = info
        self.name = str(info)
        self._lock = Lock()
        self._years = (0, 0)  # the first year known, and the one after the last
        self._rule_year = 0  # the first year decided by the zone's rule alone, once asked for
        self._kinds: dict[YearKind, tuple[int, list[Stretch]]] = {}  # a year of each kind by that rule, and its start
        self._known: tuple[tuple[int, ...], tuple[Stretch, ...]] = ((), ())
        constant = info.utcoffset(None)
        self.is_fixed = constant is not None
        if constant is not None:
            offset = _seconds(constant)
            self._known = (-_FOREVER,), (Stretch(-_FOREVER, _FOREVER, offset, offset),)

    def __repr__(self) -> str:
        return f"<Zone {self.name}>"

    def __eq__(self, other: object) -> bool:
        """Compare the underlying zones, those of the IANA database by name."""
        if not isinstance(other, Zone):
            return NotImplemented
        return self is other or _key(self.info) == _key(other.info)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle as the underlying zone; stretches are computed again."""
        return zone_of, (self.info,)

    def at(self, epoch: int) -> Stretch:
        """Return the stretch that contains an epoch second."""
        starts, stretches = self._known
        if not starts or not starts[0] <= epoch < stretches[-1].end:
            epoch = max(_EARLIEST, min(epoch, _LATEST))
            starts, stretches = self._cover(epoch)
        return stretches[bisect_right(starts, epoch) - 1]

    def changes(self, after: int, until: int) -> Iterator[Stretch]:
        """Yield the stretches that begin with a change of offset, ``after`` < start <= ``until``, in order."""
        if self.is_fixed or until <= after:
            return
        self.at(after)
        self.at(until)
        starts, stretches = self._known
        for index in range(bisect_right(starts, after), bisect_right(starts, until)):
            if stretches[index].offset != stretches[index].before:
                yield stretches[index]

    @property
    def rule_year(self) -> int:
        """The first UTC year from which only a rule determines clock changes; a far year if none is known.

        From then on, two years of the same kind have the same changes on the same days.
        """
        if not self._rule_year:
            key = self.info.key if isinstance(self.info, ZoneInfo) else None
            # A zone made from another file may have any name.
            self._rule_year = rule_year(key) if key and ZoneInfo(key) is self.info else NEVER
        return self._rule_year

    def local(self, epoch: int) -> int:
        """Return the wall-clock time of an epoch second, as seconds since 1970-01-01 00:00 of the same clock."""
        return epoch + self.at(epoch).offset

    def moment(self, epoch: int) -> datetime:
        """Return an epoch second as an aware datetime."""
        return datetime.fromtimestamp(epoch, self.info)

    def _cover(self, epoch: int) -> tuple[tuple[int, ...], tuple[Stretch, ...]]:
        """Compute the stretches of all years from the known ones to that of ``epoch``; publish and return them."""
        with self._lock:
            stretches = list(self._known[1])
            first, after = self._years
            if not stretches:
                first = after = 1970 + epoch // 31556952  # the mean year; a neighbour works too
            is_far = epoch - stretches[-1].end > _FAR if stretches else False
            while not stretches or epoch >= stretches[-1].end:
                ruled = (is_far or self._rule_year) and after >= self.rule_year
                stretches = _joined(stretches, self._ruled_year(after) if ruled else self._year(after))
                after += 1
            while epoch < stretches[0].start:
                first -= 1
                stretches = _joined(self._year(first), stretches)
            self._years = first, after
            self._known = tuple(stretch.start for stretch in stretches), tuple(stretches)
            return self._known

    def _ruled_year(self, year: int) -> list[Stretch]:
        """Return the stretches of a year by the zone's rule: those of a year of its kind, if the zone agrees."""
        kind, start = year_kind(year), year_start(year)
        if kind not in self._kinds:
            self._kinds[kind] = start, self._year(year)
        known, found = self._kinds[kind]
        shift = start - known
        made = [Stretch(each.start + shift, each.end + shift, each.offset, each.before) for each in found]
        agree = all(
            self._offset(each.start - 1) == each.before
            and self._offset(each.start) == self._offset(each.end - 1) == each.offset
            for each in made
        )
        return made if agree else self._year(year)

    def _year(self, year: int) -> list[Stretch]:
        """Return the stretches of a UTC year."""
        start, end = year_start(year), year_start(year + 1)
        before = self._offset(start - 1)
        offset = self._offset(start)
        found: list[Stretch] = []
        past = start
        for look in (*range(start + _STRIDE, end - 1, _STRIDE), end - 1):
            seen = self._offset(look)
            if seen != offset:
                change = self._change(past, look, offset)
                found.append(Stretch(start, change, offset, before))
                before, start, offset = offset, change, seen
            past = look
        found.append(Stretch(start, end, offset, before))
        return found

    def _change(self, low: int, high: int, before: int) -> int:
        """Return the instant of the one change after ``low``, where the offset is ``before``, and up to ``high``."""
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(middle) == before:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, epoch: int) -> int:
        return _seconds(datetime.fromtimestamp(epoch, self.info).utcoffset())


def _joined(left: list[Stretch], right: list[Stretch]) -> list[Stretch]:
    """Join neighbouring years; a stretch that spans New Year is one."""
    if not left or not right or right[0].offset != right[0].before:
        return left + right
    seam = Stretch(left[-1].start, right[0].end, left[-1].offset, left[-1].before)
    return [*left[:-1], seam, *right[1:]]


def zone_of(zone: str | tzinfo) -> Zone:
    """Return the stretches of a zone given by IANA name or as a tzinfo. Raises UnknownZone.

    Zones are cached by IANA key, so that a name and its ZoneInfo are the same zone.
    """
    if isinstance(zone, ZoneInfo) and (key := zone.key):
        return _keyed_zone(key, zone)
    expect("a zone", zone, (str, tzinfo), "an IANA name or a tzinfo")
    if isinstance(zone, str):
        return _named_zone(zone)
    try:
        hash(zone)
    except TypeError:  # dateutil's zones, for example
        return Zone(zone)
    return _other_zone(zone)


@lru_cache(maxsize=64)
def _named_zone(name: str) -> Zone:
    info = load_zone(name)
    return _keyed_zone(info.key, info) if isinstance(info, ZoneInfo) else _other_zone(info)


@lru_cache(maxsize=64)
def _keyed_zone(key: str, info: ZoneInfo) -> Zone:  # noqa: ARG001 - the key is what the cache goes by
    return Zone(info)


@lru_cache(maxsize=64)
def _other_zone(info: tzinfo) -> Zone:
    return Zone(info)


def load_zone(name: str) -> tzinfo:
    """Return the tzinfo of an IANA zone name. Raises UnknownZone."""
    if name == "UTC":
        return timezone.utc
    cause: Exception | None = None
    if is_zone_name(name):
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, KeyError) as error:  # a KeyError: not found; an OSError: a directory
            cause = error
    message = f"{name[:_LONGEST_NAME]!r} is not a time zone of the IANA database"
    help_text = "write a name such as Europe/Berlin, America/New_York or UTC"
    raise UnknownZone(Diagnostic("zone-unknown", message, help=help_text)) from cause


def _key(info: tzinfo) -> object:
    return info.key if isinstance(info, ZoneInfo) and info.key else info


def is_zone_name(name: str) -> bool:
    """Return whether a text may name a zone: long names are slow to look up, and some files are no zones."""
    return len(name) <= _LONGEST_NAME and not _NO_ZONES.fullmatch(name)


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else offset // timedelta(seconds=1)


def year_start(year: int) -> int:
    """Return the epoch second at which a UTC year begins."""
    return int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp())


def year_of(epoch: int) -> int:
    """Return the UTC year of an epoch second."""
    return datetime.fromtimestamp(epoch, timezone.utc).year


NEVER = 1 << 16  # a year
_HEADER = struct.Struct(">4sc15x6l")
_MOST = 1 << 20  # bytes of a file
_KEY = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*").fullmatch


def rule_year(key: str) -> int:
    """Return the first UTC year for which, as for the year before, only the zone's rule applies; NEVER if unknown."""
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
    """Return the file that ZoneInfo reads for a key, empty if there is none."""
    if not _KEY(key):
        return b""
    for folder in zoneinfo.TZPATH:
        path = Path(folder, key)
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_MOST)
    try:
        return pkgutil.get_data("tzdata", f"zoneinfo/{key}") or b""
    except (ImportError, OSError):
        return b""
