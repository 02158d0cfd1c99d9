"""The zone of this host, and zones by name: IANA names only."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from crondor.diagnostics import CrondorError, Diagnostic, similar
from crondor.source import Source
from crondor.zones import UnknownZone, is_zone_name, load_zone

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
    """Return the zone of an IANA name; ``label`` is where the name was written.

    Raises UnknownZone, which proposes the names meant; fixed offsets (``+01:00``) and POSIX rules are refused too.
    """
    if _NAME.fullmatch(name):
        with suppress(UnknownZone):
            load_zone(name)
            return ZoneInfo(name)
    raise UnknownZone(_unknown(name, label))


def local_zone(environ: Mapping[str, str], system_name: Callable[[], str | None] | None = None) -> LocalZone:
    """Return the zone that the environment (``TZ``), or else the system, declares to be local.

    ``system_name`` returns the system's name for it (None: it has none). An empty TZ is UTC, as in the C library;
    condor_master tells its daemons ``:/etc/localtime``, which is the system's zone. Raises UnnamedZone where there is
    no IANA name for the zone: a rule in TZ such as ``EST5EDT4,M3.2.0,M11.1.0``, or a system that does not say.
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
        message = "this host calls its local time zone by a name that is not known"
        raise _unnamed(message, Source(name, "the local zone"), None) from None
    return LocalZone(zone.key, zone)


def _system_name() -> str | None:
    """Return the zone that /etc/localtime links to, which is the C library's and so the schedd's; else ask tzlocal."""
    _, is_link, name = os.path.realpath(_SYSTEM_FILE).partition("/zoneinfo/")
    if is_link:
        return name.removeprefix("posix/")
    import tzlocal  # noqa: PLC0415 - 6 ms, needed only where nothing else tells

    return tzlocal.get_localzone_name()


def _unnamed(message: str, source: Source | None, hint: str | None) -> UnnamedZone:
    advice = "name the zone with --tz, such as --tz Europe/Berlin"
    span = source.span() if source else None
    return UnnamedZone(Diagnostic("zone-unnamed", message, span=span, help=f"{advice} ({hint})" if hint else advice))


def _unknown(name: str, label: str) -> Diagnostic:
    span = Source(name, label).span()
    if not name.strip():
        return Diagnostic("zone-blank", "no zone is given", span=span, help=_WRITE)
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
    """Return the zones that may be meant: the same but for case, of that city, or with a similar name."""
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
