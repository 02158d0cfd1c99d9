"""Who tells whom about a job, at which intervals, and which of these updates fail.

The ways are those of "Job ClassAd Information Flow in HTCondor"; names and defaults are HTCondor 25.14's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.pool.settings.lengths import LONGEST, Lengths, Shape, chance, share
from crondor.source import Source


class Party(str, Enum):
    """Who may have a copy of a job's ad."""

    SCHEDD = "schedd"
    NEGOTIATOR = "negotiator"
    SHADOW = "shadow"
    STARTD = "startd"
    STARTER = "starter"
    ROUTER = "router"
    HISTORY = "history"
    STARTD_HISTORY = "startd-history"


class Link(str, Enum):
    """The ways a job's ad or a part of it takes."""

    USER_SCHEDD = "user-schedd"
    SCHEDD_NEGOTIATOR = "schedd-negotiator"
    SCHEDD_SHADOW = "schedd-shadow"
    SCHEDD_STARTER = "schedd-starter"
    SHADOW_STARTD = "shadow-startd"
    SHADOW_STARTER = "shadow-starter"
    STARTER_SHADOW = "starter-shadow"
    STARTER_STARTD = "starter-startd"
    STARTER_SCHEDD = "starter-schedd"
    SHADOW_SCHEDD = "shadow-schedd"
    SCHEDD_ROUTER = "schedd-router"
    SCHEDD_HISTORY = "schedd-history"
    STARTD_HISTORY = "startd-history"


FAILING: Final = (
    Link.SCHEDD_NEGOTIATOR, Link.SCHEDD_SHADOW, Link.STARTER_SHADOW, Link.STARTER_STARTD, Link.SHADOW_SCHEDD,
    Link.SCHEDD_ROUTER, Link.SCHEDD_HISTORY, Link.STARTD_HISTORY,
)  # fmt: skip
"""The links that may fail; what becomes of it then is said at ``Flow``."""

_FORM: Final = re.compile(r"\s*([a-z-]+)\s*(?::\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*)?", re.ASCII).fullmatch
_HELP: Final = "write LINK, LINK:10%, LINK@1h..2h or LINK:10%@1h..; times count from the beginning"
_BLANKS: Final = " \t\n\r\f\v"
_ALL: Final = 100
_FAULT: Final = 7
_LINKS: Final = {link: number for number, link in enumerate(Link)}


class InvalidFault(CrondorError, ValueError):
    """A text that names no updates that could fail."""


class InvalidKnob(CrondorError, ValueError):
    """A setting of the configuration that is not known here, or not with this value."""


@dataclass(frozen=True)
class LinkFault:
    """A ``share`` (0 to 1) of the updates on a link fails, from ``start`` to before ``end`` (s after the beginning)."""

    link: Link
    start: int = 0
    end: int | None = None
    share: float = 1.0

    @classmethod
    def parse(cls, text: str, name: str = "<fault>") -> LinkFault:
        """Read ``LINK[:N%][@FROM..TO]``, as in ``shadow-schedd:20%@1h..90m``. Raises InvalidFault, InvalidLength."""
        source = Source(text, name)
        what, at, times = text.lower().partition("@")
        first, dots, last = times.partition("..")
        found = _FORM(what)
        links = {link.value: link for link in FAILING}
        if found is None or found[1] not in links or (at and (not dots or "." in first)):
            known = ", ".join(links)
            message = f"{text.strip()[:40]!r} names no updates that can fail"
            raise InvalidFault(Diagnostic("fault", message, span=source.span(), help=f"{_HELP}; the links are {known}"))
        percent = float(found[2] or _ALL)
        if percent > _ALL:
            raise InvalidFault(Diagnostic("fault", f"{found[2]} % are more than all", span=source.span(), help=_HELP))
        start = _moment(first.strip(_BLANKS), name, 0)
        end = _moment(last.strip(_BLANKS), name, None)
        if end is not None and end <= (start or 0):
            raise InvalidFault(Diagnostic("fault", "it ends before it begins", span=source.span(), help=_HELP))
        return cls(links[found[1]], start or 0, end, percent / _ALL)

    def hits(self, link: Link, after: int, *key: int) -> bool:
        """Say whether an update fails, ``after`` so many seconds; ``key`` is its own: equal ones fail alike."""
        if link is not self.link or after < self.start or (self.end is not None and after >= self.end):
            return False
        return self.share >= 1 or share(chance(_FAULT, _LINKS[link], *key)) < self.share

    def __str__(self) -> str:
        """Return it as it is written."""
        part = "" if self.share == 1 else f":{self.share * _ALL:g}%"
        span = "" if not self.start and self.end is None else f"@{self.start}..{'' if self.end is None else self.end}"
        return f"{self.link.value}{part}{span}"


def _moment(text: str, name: str, default: int | None) -> int | None:
    if not text:
        return default
    length = Lengths.parse(text, name)
    if length.low != length.high or length.shape is not Shape.UNIFORM:
        raise InvalidFault(
            Diagnostic("fault", f"{text[:40]!r} is no moment", span=Source(text, name).span(), help=_HELP)
        )
    return length.low


@dataclass(frozen=True)
class FlowSettings:
    """The intervals (seconds) at which daemons tell one another about a job, each by the name of its setting.

    ``faults`` are the updates that fail. ``is_kept`` says that what each party sees is to be known; that takes time,
    and changes nothing in what happens. What fails is always simulated.
    """

    starter_initial_update_interval: int = 8
    starter_update_interval: int = 300
    shadow_queue_update_interval: int = 900
    shadow_lazy_queue_update: bool = True
    shadow_job_cleanup_retry_delay: int = 30
    shadow_max_job_cleanup_retries: int = 5
    job_router_polling_period: int = 10
    job_default_lease_duration: int = 2400
    faults: tuple[LinkFault, ...] = ()
    is_kept: bool = False

    @property
    def first_update(self) -> int:
        """How long after the start the starter's first update comes (seconds)."""
        return min(self.starter_initial_update_interval, self.starter_update_interval)

    @property
    def is_needed(self) -> bool:
        """Say whether a pool must know what each party sees."""
        return self.is_kept or bool(self.faults)

    def with_faults(self, faults: Iterable[LinkFault]) -> FlowSettings:
        """Return these settings with updates that fail."""
        return replace(self, faults=tuple(faults))

    def with_knob(self, text: str, name: str = "<knob>") -> FlowSettings:
        """Return these settings with one of them set as in HTCondor's configuration: ``NAME = VALUE``.

        Raises InvalidKnob.
        """
        source = Source(text, name)
        key, equals, value = (part.strip() for part in text.partition("="))
        known = {field.name: field.default for field in fields(self) if field.name not in {"faults", "is_kept"}}
        default = known.get(key.lower())
        if not equals or default is None or not key.isascii():
            hint = f"write one of {', '.join(known).upper()} = VALUE"
            raise InvalidKnob(Diagnostic("knob", f"{key[:60]!r} is not known here", span=source.span(), help=hint))
        if isinstance(default, bool):
            if value.lower() not in {"true", "false"}:
                message = f"{value[:40]!r} is neither true nor false"
                raise InvalidKnob(Diagnostic("knob", message, span=source.span(), help="write true or false"))
            return replace(self, **{key.lower(): value.lower() == "true"})  # type: ignore[arg-type]
        least = 0 if key.lower() == "shadow_max_job_cleanup_retries" else 1
        if not (value.isdecimal() and value.isascii() and len(value) < 12 and least <= int(value) <= LONGEST):
            message = f"{value[:40]!r} is no whole number from {least} up"
            raise InvalidKnob(Diagnostic("knob", message, span=source.span(), help="write seconds: 900"))
        return replace(self, **{key.lower(): int(value)})  # type: ignore[arg-type]
