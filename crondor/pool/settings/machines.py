"""Machines of a pool that are divided as jobs ask for it: partitionable slots, and what a job takes of one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job import attributes
from crondor.source import Source

MOST_MACHINES: Final = 100_000

_HELP: Final = "write cpus=8,memory=16G, and where it matters disk=100G, count=4"
_SIZE: Final = re.compile(r"(\d{1,12})([kmgt]?)b?", re.ASCII | re.IGNORECASE).fullmatch
_KIB: Final = {"k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}
_NAMES: Final = ("cpus", "memory", "disk", "count")
_QUANTA: Final = (1, 128, 1024)  # cpus, MiB, KiB: what the startd rounds requests up to (MODIFY_REQUEST_EXPR_*)
_LARGEST: Final = 1 << 53
_MEMORY: Final = 1 << 20  # MiB, of a machine that does not say
_DISK: Final = 1 << 40  # KiB


class InvalidMachine(CrondorError, ValueError):
    """A text that says no machine."""


class Resources(NamedTuple):
    """What a machine has, or a job takes: processors, memory in MiB, disk in KiB."""

    cpus: int
    memory: int
    disk: int

    def fits(self, free: Resources) -> bool:
        """Say whether it is not more than what is free."""
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
                message = f"{piece.strip()[:40]!r} says nothing about a machine"
                faults.append(Diagnostic("machine", message, span=span, help=_HELP))
            elif key in found:
                faults.append(Diagnostic("machine", f"{key} is there twice", span=span, help="take one of them out"))
            else:
                found[key] = number
        if not faults and "cpus" not in found:
            faults.append(Diagnostic("machine", "how many cpus it has is missing", span=source.span(), help=_HELP))
        if faults:
            raise InvalidMachine(faults)
        resources = Resources(found["cpus"], found.get("memory", _MEMORY), found.get("disk", _DISK))
        return cls(resources, found.get("count", 1))

    def ad(self, base: ClassAd) -> ClassAd:
        """Return the ad of its partitionable slot, made of another machine's."""
        made = base.copy()
        for name, number in zip(("Cpus", "Memory", "Disk"), self.resources, strict=True):
            made.set(name, number)
            made.set(f"Total{name}", number)
            made.set(f"TotalSlot{name}", number)
        made.set("SlotType", "Partitionable")
        made.set("PartitionableSlot", value=True)
        return made

    def __str__(self) -> str:
        """Return it as it is written."""
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
    """Return what a job takes of a machine, rounded up as the startd does it; what is no number counts as nothing."""
    found = []
    for name, default, quantum in zip(("RequestCpus", "RequestMemory", "RequestDisk"), (1, 0, 0), _QUANTA, strict=True):
        asked = attributes.number(ad, name, context, machine)
        whole = math.ceil(asked) if asked is not None and 0 <= asked < _LARGEST else default
        found.append(-(-whole // quantum) * quantum)
    return Resources(*found)
