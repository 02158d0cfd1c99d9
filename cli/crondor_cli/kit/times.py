"""Times as text for people, and time zones by typed names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from crondor._recurrence import END_OF_INSTANTS, FIRST_INSTANT
from crondor.calendar import DAY, short_weekday
from crondor.deferral import LATEST
from crondor.diagnostics import CrondorError, Diagnostic, Source, similar
from crondor.zones import UnknownZone, is_zone_name, load_zone, zone_of

if TYPE_CHECKING:
    from crondor.preview.jobs import Clock

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SAME_WEEK = 6 * DAY
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def relative(seconds: int) -> str:
    """Return a distance from now in seconds (negative: the past) as ``in 3 h 12 min``, ``45 s ago`` or ``now``.

    The two largest units are shown; the rest is cut off, never rounded up.
    """
    if seconds == 0:
        return "now"
    text = length(abs(seconds), 2)
    return f"in {text}" if seconds > 0 else f"{text} ago"


def length(seconds: int, most: int = 4) -> str:
    """Return a length of time as ``1 d 3 h 12 min``: its largest units, at most ``most``, with the rest cut off."""
    shown: list[str] = []
    units, rest = 0, seconds
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            shown.append(f"{count} {name}")
        units += bool(shown)
        if units == most:
            break
    return " ".join(shown) or "0"


def local_text(epoch: int, zone: tzinfo) -> str:
    """Return a time (epoch seconds) in ``zone``: ``Mon 2026-11-23 06:00 -0500``.

    Seconds are shown only if they are not zero. A time outside the years 1 to 9999 is written ``epoch 99999999999999``.
    """
    try:
        moment = (_EPOCH + timedelta(seconds=epoch)).astimezone(zone)
    except OverflowError:
        return f"epoch {epoch}"
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    date = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    return f"{short_weekday(moment)} {date} {clock} {_offset(moment)}"


def retries_text(time: int, last: int, zone: tzinfo) -> str:
    """Return that retries continue after the one at ``time`` until ``last`` (epoch seconds)."""
    end = ClockFace(zone).beside(last, time)
    return f"and every 2 minutes until {'midnight' if end.endswith(' 00:00') and last - time <= DAY else end}"


def _offset(moment: datetime) -> str:
    whole = (moment.utcoffset() or timedelta(0)) // timedelta(seconds=1)
    minutes, seconds = divmod(abs(whole), 60)
    tail = f"{seconds:02}" if seconds else ""
    return f"{'-' if whole < 0 else '+'}{minutes // 60:02}{minutes % 60:02}{tail}"


class ClockFace:
    """Times of one zone as text, efficient for many times in order: the text of a day is made once."""

    def __init__(self, zone: tzinfo) -> None:
        self._info = zone
        self._zone = zone_of(zone)
        self._from = self._until = 0  # the span with a known offset
        self._offset, self._tail = 0, ""
        self._day: int | None = None
        self._head = ""
        self._hours, self._distance = 0, ""

    def relative(self, seconds: int) -> str:
        """Return the result of ``relative``."""
        if seconds < DAY:
            return relative(seconds)
        hours = seconds // 3600
        if hours != self._hours:
            self._hours, self._distance = hours, relative(seconds)
        return self._distance

    def text(self, epoch: int) -> str:
        """Return the result of ``local_text``."""
        if not self._from <= epoch < self._until:
            if not FIRST_INSTANT <= epoch < END_OF_INSTANTS:
                return local_text(epoch, self._info)
            self._from, self._until, self._offset, _ = self._zone.at(epoch)
            self._day, self._tail = None, f" {_offset(datetime.fromtimestamp(epoch, self._info))}"
        day, second = divmod(epoch + self._offset, DAY)
        minute, rest = divmod(second, 60)
        if rest:
            return local_text(epoch, self._info)
        if day != self._day:
            self._day, self._head = day, local_text(epoch, self._info)[: -5 - len(self._tail)]
        return f"{self._head}{minute // 60:02}:{minute % 60:02}{self._tail}"

    def beside(self, epoch: int, other: int) -> str:
        """Return a time without the parts shared with another time, which is shown in full."""
        if 0 <= epoch <= LATEST and self._from <= epoch < self._until and self._from <= other < self._until:
            day, second = divmod(epoch + self._offset, DAY)
            minute, rest = divmod(second, 60)
            if day == (other + self._offset) // DAY and not rest:
                return f"{minute // 60:02}:{minute % 60:02}"
        return self._far_beside(epoch, other)

    def _far_beside(self, epoch: int, other: int) -> str:
        whole = local_text(epoch, self._info)
        if not 0 <= epoch <= LATEST:
            return whole
        moment, beside = datetime.fromtimestamp(epoch, self._info), datetime.fromtimestamp(other, self._info)
        if moment.utcoffset() != beside.utcoffset() or abs(epoch - other) > _SAME_WEEK:
            return whole
        clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
        return clock if moment.date() == beside.date() else f"{whole[:3]} {clock}"


_NAME = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,3}")
_LONGEST = 64
_OFFSET = r"(?i)(?:UTC|GMT|Z)?[+-]?\d{1,2}(?::?\d{2}){0,2}"
_SYSTEM_FILE = "/etc/localtime"
_GUESSES = 3
_LIKENESS = 0.75
_WRITE = "write an IANA name such as Europe/Berlin, America/New_York or UTC"


class UnnamedZone(CrondorError, LookupError):
    """A host whose local zone has no IANA name."""


class LocalZone(NamedTuple):
    """The local zone and its IANA name."""

    name: str
    zone: ZoneInfo


def find_zone(name: str, *, label: str = "--tz") -> ZoneInfo:
    """Return the zone of an IANA name; ``label`` is the place of the name.

    Raises UnknownZone, with suggestions; fixed offsets (``+01:00``) and POSIX rules are rejected too.
    """
    if _NAME.fullmatch(name):
        with suppress(UnknownZone):
            load_zone(name)
            return ZoneInfo(name)
    raise UnknownZone(_unknown(name, label))


def local_zone(environ: Mapping[str, str], system_name: Callable[[], str | None] | None = None) -> LocalZone:
    """Return the local zone, from the environment (``TZ``) or the system.

    ``system_name`` returns the system's name for it (None: it has none). An empty TZ is UTC, as in the C library;
    condor_master passes its daemons ``:/etc/localtime``, the system's zone. Raises UnnamedZone if the zone has no IANA
    name: TZ is a rule such as ``EST5EDT4,M3.2.0,M11.1.0``, or the system does not name it.
    """
    written = environ.get("TZ")
    if written is None or written.removeprefix(":") == _SYSTEM_FILE:
        return _system_zone(system_name or _system_name)
    name = written.removeprefix(":")
    if name.startswith("/"):  # a file of the zone database: the name is the path below it
        name = name.rpartition("/zoneinfo/")[2].removeprefix("posix/")
    try:
        zone = find_zone(name or "UTC", label="TZ")
    except UnknownZone as error:
        message = "the environment variable TZ is not the name of a zone"
        raise _unnamed(message, Source(written, "TZ"), error.diagnostics[0].help) from None
    return LocalZone(zone.key, zone)


def _system_zone(system_name: Callable[[], str | None]) -> LocalZone:
    try:
        name = system_name()
    except (LookupError, OSError):  # settings that contradict each other, or (Windows) a registry without a zone
        name = None
    if not name:
        message = "the local time zone of this host has no name"
        raise _unnamed(message, None, None)
    try:
        zone = find_zone(name, label="the local zone")
    except UnknownZone:
        message = "the name of this host's local time zone is unknown"
        raise _unnamed(message, Source(name, "the local zone"), None) from None
    return LocalZone(zone.key, zone)


def _system_name() -> str | None:
    """Return the zone that /etc/localtime links to, which the C library and the schedd use; otherwise ask tzlocal."""
    _, is_link, name = os.path.realpath(_SYSTEM_FILE).partition("/zoneinfo/")
    if is_link:
        return name.removeprefix("posix/")
    import tzlocal  # noqa: PLC0415 - 6 ms, needed only as a last resort

    return tzlocal.get_localzone_name()


def _unnamed(message: str, source: Source | None, hint: str | None) -> UnnamedZone:
    advice = "set the zone with --tz, such as --tz Europe/Berlin"
    span = source.span() if source else None
    return UnnamedZone(Diagnostic("zone-unnamed", message, span=span, help=f"{advice} ({hint})" if hint else advice))


def _unknown(name: str, label: str) -> Diagnostic:
    span = Source(name, label).span()
    if not name.strip():
        return Diagnostic("zone-blank", "the zone is missing", span=span, help=_WRITE)
    if len(name) > _LONGEST:
        return Diagnostic("zone-unknown", "this is too long to be the name of a zone", span=span, help=_WRITE)
    if re.fullmatch(_OFFSET, name):
        message = f"a zone must be an IANA name; `{name}` is an offset, and says nothing about summer time"
        return Diagnostic("zone-offset", message, span=span, help=_WRITE)
    near = _near(name)
    help_ = f"did you mean {' or '.join(near)}?" if near else _WRITE
    fix = near[0] if len(near) == 1 else None
    return Diagnostic("zone-unknown", f"there is no zone `{name}`", span=span, help=help_, fix=fix)


def _near(name: str) -> list[str]:
    """Return similar zones: with other case, the zone of a city, or with a similar name."""
    wanted = name.strip().replace(" ", "_").casefold()
    zones = {zone.casefold(): zone for zone in sorted(available_timezones()) if is_zone_name(zone)}
    if wanted in zones:
        return [zones[wanted]]
    cities: dict[str, list[str]] = {}
    for folded, zone in zones.items():
        cities.setdefault(folded.rpartition("/")[2], []).append(zone)
    if wanted in cities:
        return cities[wanted][:_GUESSES]
    near = [zones[folded] for folded in similar(wanted, zones, _LIKENESS, _GUESSES)]
    if near or any(folded.startswith(f"{wanted}/") for folded in zones):
        return near
    close = similar(wanted, cities, _LIKENESS, _GUESSES)
    return [zone for city in close for zone in cities[city]][:_GUESSES]


def zone_text(clock: Clock) -> str:
    """Return the zone of a clock, and its origin."""
    source = (
        "from --tz; must be the submit host's zone" if clock.is_given else "the zone of this host; change with --tz"
    )
    return f"{clock.zone_name} ({source})"
