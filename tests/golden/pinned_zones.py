"""Pins the time zone rules to those of the recordings, tzdata 2025b, whatever the machine has."""

import importlib
import zoneinfo

from crondor import zones

_RELEASE = "2025b"
_PACKAGE = "tzdata==2025.2"


class WrongZones(Exception):
    """The PyPI package tzdata is missing or of another release."""


def pin_zones() -> None:
    """Read zones from the package tzdata alone. Raises WrongZones unless it is the release of the recordings."""
    try:
        release = getattr(importlib.import_module("tzdata"), "IANA_VERSION", "of an unknown release")
    except ImportError:
        release = "not installed"
    if release != _RELEASE:
        raise WrongZones(
            f"the recordings were made with tzdata {_RELEASE}, and the package here is {release}: "
            f"pip install {_PACKAGE}"
        )
    zoneinfo.reset_tzpath(to=[])
    forget_zones()


def unpin_zones() -> None:
    """Read zones from where Python looks by itself again."""
    zoneinfo.reset_tzpath()
    forget_zones()


def forget_zones() -> None:
    """Drop every zone that was read before."""
    zoneinfo.ZoneInfo.clear_cache()
    for cache in (zones._named_zone, zones._keyed_zone, zones._other_zone):
        cache.cache_clear()
