"""The settings of a pool: machines, intervals, links, exits, lengths and preemption."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields, replace
from datetime import tzinfo
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.job import attributes
from crondor.job.policy import NO_POLICY, SystemPolicy
from crondor.recurrence import Policy
from crondor.spec import Dialect

LONGEST: Final = 10 * 366 * 86400  # seconds

_FORM: Final = re.compile(r"(\d{1,12})([smhd]?)(?:-(\d{1,12})([smhd]?))?|exp:(\d{1,12})([smhd]?)", re.ASCII).fullmatch
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_MASK: Final = (1 << 64) - 1
_BEGIN: Final = 0x9E3779B97F4A7C15


class InvalidLength(CrondorError, ValueError):
    """A text that is not a length, or one that is too long."""


class Shape(Enum):
    """How a length is drawn."""

    UNIFORM = "uniform"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True)
class Lengths:
    """Whole seconds from ``low`` to ``high``, equally likely; or exponential with the mean ``low``."""

    low: int
    high: int
    shape: Shape = Shape.UNIFORM

    @classmethod
    def fixed(cls, seconds: int) -> Lengths:
        """Return a constant length."""
        return cls(seconds, seconds)

    @classmethod
    def parse(cls, text: str, name: str = "<length>") -> Lengths:
        """Read ``90``, ``90s``, ``5m``, ``2h``, ``1d``, a range ``30-90``, or ``exp:5m``. Raises InvalidLength."""
        found = _FORM(text.strip().lower())
        span = Source(text, name).span()
        if found is None:
            message = f"{text[:40]!r} is not a length of time"
            hint = "write seconds (90), 5m, 2h or 1d; a range 30-90; or exp:5m, exponential with that mean"
            raise InvalidLength(Diagnostic("length", message, span=span, help=hint))
        if found[5] is not None:
            mean = int(found[5]) * _UNITS[found[6]]
            low, high, shape = mean, mean, Shape.EXPONENTIAL
        else:
            low = int(found[1]) * _UNITS[found[2]]
            high = low if found[3] is None else int(found[3]) * _UNITS[found[4]]
            shape = Shape.UNIFORM
        if high < low:
            message = f"{text[:40]!r} ends before it begins"
            raise InvalidLength(Diagnostic("length", message, span=span, help="write the shorter first"))
        if high > LONGEST:
            message = f"{text[:40]!r} is longer than ten years"
            raise InvalidLength(Diagnostic("length", message, span=span, help="write a shorter one"))
        return cls(low, high, shape)

    @property
    def is_fixed(self) -> bool:
        """Return whether it is constant."""
        return self.shape is Shape.UNIFORM and self.low == self.high

    def draw(self, *parts: int) -> int:
        """Return the length (seconds) for some numbers: equal ones give equal lengths, everywhere."""
        return self.drawn(chance(*parts))

    def drawn(self, chance: int) -> int:
        """Return the length (seconds) of a random number from ``chance``."""
        if self.low == self.high and self.shape is Shape.UNIFORM:
            return self.low
        part = share(chance)
        if self.shape is Shape.EXPONENTIAL:
            return min(int(-self.low * math.log1p(-part)), LONGEST)
        return self.low + int(part * (self.high - self.low + 1))

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        if self.shape is Shape.EXPONENTIAL:
            return f"exp:{self.low}"
        return str(self.low) if self.is_fixed else f"{self.low}-{self.high}"


def chance(*parts: int, after: int = _BEGIN) -> int:
    """Return a random number for some numbers (SplitMix64), continuing from ``after``."""
    state = after
    for part in parts:
        state = (state ^ (part & _MASK)) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state = (state ^ state >> 31) + _BEGIN & _MASK
    return state


def share(chance: int) -> float:
    """Return a random number as a real from 0 to below 1."""
    state = (chance ^ chance >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    return ((state ^ state >> 27) >> 11) / (1 << 53)


_ONE: Final = re.compile(r"(sig|signal)?\s*(\d{1,3})(?:\s*:\s*(\d{1,6}))?", re.ASCII | re.IGNORECASE).fullmatch
_MOST_CODE: Final = 255
_MOST_SIGNAL: Final = 64
_HELP: Final = "write an exit code (0 to 255) or sig9; several with their weights: 0:95,1:4,sig9:1"


class InvalidExits(CrondorError, ValueError):
    """A text without valid exit codes."""


class Exit(NamedTuple):
    """How one program has ended: ``number`` is its exit code, or that of the signal."""

    number: int = 0
    by_signal: bool = False

    @property
    def attributes(self) -> dict[str, int]:
        """The attributes that the starter reports; after a signal the ExitCode of an earlier run stays."""
        if self.by_signal:
            return {"ExitBySignal": True, "ExitSignal": self.number}
        return {"ExitBySignal": False, "ExitCode": self.number}

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        return f"sig{self.number}" if self.by_signal else str(self.number)


SUCCESS: Final = Exit()


@dataclass(frozen=True)
class Exits:
    """Exits with weights."""

    weights: tuple[tuple[Exit, int], ...] = ((SUCCESS, 1),)

    @classmethod
    def parse(cls, text: str, name: str = "<exits>") -> Exits:
        """Read ``1``, ``sig9``, or several with their weights: ``0:95,1:4,sig9:1``. Raises InvalidExits."""
        source = Source(text, name)
        faults, weights, at = [], [], 0
        for piece in text.split(","):
            span = source.span(at, at + len(piece))
            at += len(piece) + 1
            found = _ONE(piece.strip())
            if found is None:
                faults.append(
                    Diagnostic("exits", f"{piece.strip()[:40]!r} is not an exit code or signal", span=span, help=_HELP)
                )
                continue
            number, is_signal = int(found[2]), found[1] is not None
            if not is_signal <= number <= (_MOST_SIGNAL if is_signal else _MOST_CODE):
                what = f"unknown signal {number}" if is_signal else f"{number} is not an exit code"
                faults.append(Diagnostic("exits", what, span=span, help=_HELP))
            weights.append((Exit(number, is_signal), int(found[3] or 1)))
        if not faults and not any(weight for _, weight in weights):
            faults.append(Diagnostic("exits", "all weights are 0", span=source.span(), help=_HELP))
        if faults:
            raise InvalidExits(faults)
        return cls(tuple(weights))

    @property
    def is_fixed(self) -> bool:
        """Return whether all programs have the same exit."""
        return len(self.weights) == 1

    def drawn(self, chance: int) -> Exit:
        """Return the exit of a random number from ``chance``."""
        left = share(chance) * sum(weight for _, weight in self.weights)
        for one, weight in self.weights:
            left -= weight
            if left < 0:
                return one
        return next(one for one, weight in reversed(self.weights) if weight)

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        if self.is_fixed:
            return str(self.weights[0][0])
        return ",".join(f"{one}:{weight}" for one, weight in self.weights)


# The links are those of "Job ClassAd Information Flow in HTCondor"; names and defaults are HTCondor 25.14's
# configuration.
class Party(str, Enum):
    """A daemon that may have a copy of a job's ad."""

    SCHEDD = "schedd"
    NEGOTIATOR = "negotiator"
    SHADOW = "shadow"
    STARTD = "startd"
    STARTER = "starter"
    ROUTER = "router"
    HISTORY = "history"
    STARTD_HISTORY = "startd-history"


class Link(str, Enum):
    """A path of a job's ad or of a part of it."""

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
"""The links that may fail; ``Flow`` describes the effects."""

_LINK_FORM: Final = re.compile(r"\s*([a-z-]+)\s*(?::\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*)?", re.ASCII).fullmatch
_LINK_HELP: Final = "write LINK, LINK:10%, LINK@1h..2h or LINK:10%@1h..; times count from the start of the simulation"
_BLANKS: Final = " \t\n\r\f\v"
_ALL: Final = 100
_FAULT: Final = 7
_LINKS: Final = {link: number for number, link in enumerate(Link)}


class InvalidFault(CrondorError, ValueError):
    """A text that names no updates that could fail."""


class InvalidKnob(CrondorError, ValueError):
    """A setting that is unknown here, or has an invalid value."""


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
        found = _LINK_FORM(what)
        links = {link.value: link for link in FAILING}
        if found is None or found[1] not in links or (at and (not dots or "." in first)):
            known = ", ".join(links)
            message = f"{text.strip()[:40]!r} names no updates that can fail"
            raise InvalidFault(
                Diagnostic("fault", message, span=source.span(), help=f"{_LINK_HELP}; the links are {known}")
            )
        percent = float(found[2] or _ALL)
        if percent > _ALL:
            raise InvalidFault(
                Diagnostic("fault", f"{found[2]} % is more than 100 %", span=source.span(), help=_LINK_HELP)
            )
        start = _moment(first.strip(_BLANKS), name, 0)
        end = _moment(last.strip(_BLANKS), name, None)
        if end is not None and end <= (start or 0):
            raise InvalidFault(Diagnostic("fault", "it ends before it begins", span=source.span(), help=_LINK_HELP))
        return cls(links[found[1]], start or 0, end, percent / _ALL)

    def hits(self, link: Link, after: int, *key: int) -> bool:
        """Return whether an update fails at ``after`` seconds; equal ``key`` values fail alike."""
        if link is not self.link or after < self.start or (self.end is not None and after >= self.end):
            return False
        return self.share >= 1 or share(chance(_FAULT, _LINKS[link], *key)) < self.share

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        part = "" if self.share == 1 else f":{self.share * _ALL:g}%"
        span = "" if not self.start and self.end is None else f"@{self.start}..{'' if self.end is None else self.end}"
        return f"{self.link.value}{part}{span}"


def _moment(text: str, name: str, default: int | None) -> int | None:
    if not text:
        return default
    length = Lengths.parse(text, name)
    if length.low != length.high or length.shape is not Shape.UNIFORM:
        raise InvalidFault(
            Diagnostic("fault", f"{text[:40]!r} is not a time", span=Source(text, name).span(), help=_LINK_HELP)
        )
    return length.low


@dataclass(frozen=True)
class FlowSettings:
    """The intervals (seconds) at which daemons inform one another about a job, by the name of their setting.

    ``faults`` are the updates that fail. ``is_kept``: what each party sees is recorded; that takes time, but does not
    change the simulation. Failures are always simulated.
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
        """The time from the start to the starter's first update (seconds)."""
        return min(self.starter_initial_update_interval, self.starter_update_interval)

    @property
    def is_needed(self) -> bool:
        """Return whether a pool must know what each party sees."""
        return self.is_kept or bool(self.faults)

    def with_knob(self, text: str, name: str = "<knob>") -> FlowSettings:
        """Return these settings with one of HTCondor's configuration set: ``NAME = VALUE``. Raises InvalidKnob."""
        source = Source(text, name)
        key, equals, value = (part.strip() for part in text.partition("="))
        known = {field.name: field.default for field in fields(self) if field.name not in {"faults", "is_kept"}}
        default = known.get(key.lower())
        if not equals or default is None or not key.isascii():
            hint = f"write one of {', '.join(known).upper()} = VALUE"
            raise InvalidKnob(Diagnostic("knob", f"{key[:60]!r} is not a known setting", span=source.span(), help=hint))
        if isinstance(default, bool):
            if value.lower() not in {"true", "false"}:
                message = f"{value[:40]!r} is neither true nor false"
                raise InvalidKnob(Diagnostic("knob", message, span=source.span(), help="write true or false"))
            return replace(self, **{key.lower(): value.lower() == "true"})  # type: ignore[arg-type]
        least = 0 if key.lower() == "shadow_max_job_cleanup_retries" else 1
        if not (value.isdecimal() and value.isascii() and len(value) < 12 and least <= int(value) <= LONGEST):
            message = f"{value[:40]!r} is not a whole number of {least} or more"
            raise InvalidKnob(Diagnostic("knob", message, span=source.span(), help="write seconds: 900"))
        return replace(self, **{key.lower(): int(value)})  # type: ignore[arg-type]


MOST_MACHINES: Final = 100_000

_MACHINE_HELP: Final = "write cpus=8,memory=16G, and optionally disk=100G, count=4"
_SIZE: Final = re.compile(r"(\d{1,12})([kmgt]?)b?", re.ASCII | re.IGNORECASE).fullmatch
_KIB: Final = {"k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}
_NAMES: Final = ("cpus", "memory", "disk", "count")
_QUANTA: Final = (1, 128, 1024)  # cpus, MiB, KiB: units to which the startd rounds requests up (MODIFY_REQUEST_EXPR_*)
_LARGEST: Final = 1 << 53
_MEMORY: Final = 1 << 20  # MiB, the default of a machine
_DISK: Final = 1 << 40  # KiB


class InvalidMachine(CrondorError, ValueError):
    """A text that is not a machine."""


class Resources(NamedTuple):
    """Resources of a machine or a job: processors, memory in MiB, disk in KiB."""

    cpus: int
    memory: int
    disk: int

    def fits(self, free: Resources) -> bool:
        """Return whether it is at most what is free."""
        return self.cpus <= free.cpus and self.memory <= free.memory and self.disk <= free.disk

    def plus(self, other: Resources, sign: int = 1) -> Resources:
        """Return the sum, or with ``sign`` -1 the difference."""
        return Resources(
            self.cpus + sign * other.cpus, self.memory + sign * other.memory, self.disk + sign * other.disk
        )


@dataclass(frozen=True)
class Machine:
    """``count`` equal machines, each one partitionable slot."""

    resources: Resources
    count: int = 1

    @classmethod
    def parse(cls, text: str, name: str = "<machine>") -> Machine:
        """Read ``cpus=8,memory=16G[,disk=100G][,count=4]``; memory is in MiB and disk in KiB unless a unit is given.

        Raises InvalidMachine.
        """
        source, faults, found, at = Source(text, name), [], dict[str, int](), 0
        for piece in text.split(","):
            span = source.span(at, at + len(piece))
            at += len(piece) + 1
            key, equals, value = (part.strip().lower() for part in piece.partition("="))
            number = _number(key, value) if equals else None
            if number is None:
                message = f"{piece.strip()[:40]!r} is not part of a machine"
                faults.append(Diagnostic("machine", message, span=span, help=_MACHINE_HELP))
            elif key in found:
                faults.append(Diagnostic("machine", f"{key} is given twice", span=span, help="remove one of them"))
            else:
                found[key] = number
        if not faults and "cpus" not in found:
            faults.append(
                Diagnostic("machine", "the number of cpus is missing", span=source.span(), help=_MACHINE_HELP)
            )
        if faults:
            raise InvalidMachine(faults)
        resources = Resources(found["cpus"], found.get("memory", _MEMORY), found.get("disk", _DISK))
        return cls(resources, found.get("count", 1))

    def ad(self, base: ClassAd) -> ClassAd:
        """Return the ad of its partitionable slot, derived from another machine's."""
        made = base.copy()
        for name, number in zip(("Cpus", "Memory", "Disk"), self.resources, strict=True):
            made.set(name, number)
            made.set(f"Total{name}", number)
            made.set(f"TotalSlot{name}", number)
        made.set("SlotType", "Partitionable")
        made.set("PartitionableSlot", value=True)
        return made

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        cpus, memory, disk = self.resources
        said = [f"cpus={cpus}", f"memory={memory}M"]
        said += [f"disk={disk}K"] if disk != _DISK else []
        said += [f"count={self.count}"] if self.count > 1 else []
        return ",".join(said)


def _number(key: str, value: str) -> int | None:
    if key not in _NAMES:
        return None
    size = _SIZE(value)
    if size is None or (key in {"cpus", "count"} and size[2]):
        return None
    number = int(size[1])
    if size[2]:
        kib = number * _KIB[size[2].lower()]
        number = kib if key == "disk" else kib >> 10
    most = MOST_MACHINES if key in {"cpus", "count"} else _LARGEST
    return number if 1 <= number <= most else None


def request(ad: ClassAd, machine: ClassAd, context: Context) -> Resources:
    """Return the resources that a job takes of a machine, rounded up like the startd; non-numbers count as 0."""
    found = []
    for name, default, quantum in zip(("RequestCpus", "RequestMemory", "RequestDisk"), (1, 0, 0), _QUANTA, strict=True):
        asked = attributes.number(ad, name, context, machine)
        whole = math.ceil(asked) if asked is not None and 0 <= asked < _LARGEST else default
        found.append(-(-whole // quantum) * quantum)
    return Resources(*found)


_SHARE: Final = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*@(.*)", re.ASCII | re.DOTALL).fullmatch
_ALL_JOBS: Final = 100


class InvalidPreemption(CrondorError, ValueError):
    """An invalid share of the runs."""


@dataclass(frozen=True)
class Preemption:
    """A share of the runs (0 to 1) loses its machine, ``after`` some time from the match, unless they end before."""

    after: Lengths
    share: float = 1.0

    @classmethod
    def parse(cls, text: str, name: str = "<preemption>") -> Preemption:
        """Read a length, ``exp:8h``, or a share of the runs before it: ``10%@5m-2h``.

        Raises InvalidPreemption and InvalidLength.
        """
        found = _SHARE(text)
        if found is None:
            return cls(Lengths.parse(text, name))
        percent = float(found[1])
        if percent > _ALL_JOBS:
            span = Source(text, name).span()
            raise InvalidPreemption(
                Diagnostic("preemption", f"{found[1]} % are more than all runs", span=span, help="write 0 % to 100 %")
            )
        return cls(Lengths.parse(found[2], name), percent / _ALL_JOBS)

    def drawn(self, lot: int) -> int | None:
        """Return after how many seconds the run of a random number loses its machine, None for never."""
        return self.after.drawn(chance(1, after=lot)) if share(lot) < self.share else None

    def __str__(self) -> str:
        """Return it in the syntax of ``parse``."""
        return str(self.after) if self.share == 1 else f"{self.share * _ALL_JOBS:g}%@{self.after}"


NEGOTIATOR_INTERVAL: Final = 60

_A_SECOND: Final = Lengths.fixed(1)
_A_MINUTE: Final = Lengths.fixed(60)
_A_CYCLE: Final = Lengths(0, NEGOTIATOR_INTERVAL)


def machine_ad() -> ClassAd:
    """Return the ad of a slot that fits condor_submit's default requests; its Requirements are true."""
    ad = ClassAd(
        {
            "MyType": "Machine",
            "TargetType": "Job",
            "Name": "slot1@execute.example.org",
            "Arch": "X86_64",
            "OpSys": "LINUX",
            "CondorVersion": "$CondorVersion: 25.14.0 2026-11-01 $",
            "Cpus": 128,
            "Memory": 1 << 20,
            "Disk": 1 << 40,
            "FileSystemDomain": "example.org",
            "UidDomain": "example.org",
            "HasFileTransfer": True,
            "HasJobDeferral": True,
            "HasSelfCheckpointTransfers": True,
            "HasContainer": True,
            "HasDocker": True,
            "HasJava": True,
            "HasVM": True,
        }
    )
    ad.set_text("Start", "true")
    ad.set_text("Requirements", "Start")
    return ad


def schedd_ad() -> ClassAd:
    """Return the schedd's ad that jobs of the local universe match: it has no HasJobDeferral."""
    machine = machine_ad()
    own = {"MyType": "Scheduler", "TotalLocalJobsRunning": 0, "FileSystemDomain": "example.org"}
    return ClassAd({**{name: machine[name] for name in ("Arch", "OpSys", "CondorVersion", "Memory", "Disk")}, **own})


@dataclass(frozen=True)
class PoolSettings:
    """The settings of a pool.

    In seconds: ``schedd_interval`` (SCHEDD_INTERVAL), ``min_interval`` (SCHEDD_MIN_INTERVAL), ``negotiator_interval``,
    ``periodic_interval`` (PERIODIC_EXPR_INTERVAL); ``match_delay`` is how long an idle job whose gates are open waits
    for the negotiator, ``transfer`` the time to send its files, ``run_time`` that of a program. ``skew`` is how far the
    execute machine's clock is ahead of the schedd's; ``missed_delay`` how long the hold of a missed run takes from the
    starter to the schedd. ``slots`` is how many jobs run at once, except in the local universe; ``machine`` is the ad
    of each, ``schedd`` the one that local jobs match. If there are ``machines``, they are divided by request, ``slots``
    is ignored, and ``machine`` has their other attributes. ``exits`` is how programs end, ``preemption`` when the pool
    takes a machine back. ``flow`` has the intervals at which daemons inform one another about a job, and which updates
    fail. ``counts_local_runs``: NumJobCompletions counts the runs of local jobs too, which max_retries needs; the
    schedd itself never does. ``system_policy`` has the SYSTEM_PERIODIC_ expressions for every job.
    """

    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    min_interval: int = 5
    negotiator_interval: int = NEGOTIATOR_INTERVAL
    periodic_interval: int = 60
    match_delay: Lengths = _A_CYCLE
    transfer: Lengths = _A_SECOND
    run_time: Lengths = _A_MINUTE
    slots: int = 1
    machines: tuple[Machine, ...] = ()
    exits: Exits = field(default_factory=Exits)
    preemption: Preemption | None = None
    flow: FlowSettings = field(default_factory=FlowSettings)
    counts_local_runs: bool = False
    skew: int = 0
    missed_delay: int = 10
    zone: str | tzinfo = "UTC"
    dialect: Dialect = Dialect.HTCONDOR
    policy: Policy | None = None
    seed: int = 0
    machine: ClassAd = field(default_factory=machine_ad)
    schedd: ClassAd = field(default_factory=schedd_ad)
    system_policy: SystemPolicy = field(default_factory=lambda: NO_POLICY)
