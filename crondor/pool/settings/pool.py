"""What a pool is told, with HTCondor 25.14's own defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.job.policy import NO_POLICY, SystemPolicy
from crondor.pool.settings.exits import Exits
from crondor.pool.settings.lengths import Lengths
from crondor.pool.settings.links import FlowSettings
from crondor.pool.settings.machines import Machine
from crondor.pool.settings.preemption import Preemption
from crondor.recurrence import Policy
from crondor.spec import Dialect

NEGOTIATOR_INTERVAL: Final = 60

_A_SECOND: Final = Lengths.fixed(1)
_A_MINUTE: Final = Lengths.fixed(60)
_A_CYCLE: Final = Lengths(0, NEGOTIATOR_INTERVAL)


def machine_ad() -> ClassAd:
    """Return the ad of a slot that fits what condor_submit asks for by default; its Requirements are true."""
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
    """Return the schedd's ad as the jobs of the local universe meet it: it has no HasJobDeferral."""
    machine = machine_ad()
    ad = ClassAd({name: machine[name] for name in ("Arch", "OpSys", "CondorVersion", "Memory", "Disk")})
    for name, value in (("MyType", "Scheduler"), ("TotalLocalJobsRunning", 0), ("FileSystemDomain", "example.org")):
        ad.set(name, value)
    return ad


@dataclass(frozen=True)
class PoolSettings:
    """A pool.

    Seconds: ``schedd_interval`` (SCHEDD_INTERVAL), ``min_interval`` (SCHEDD_MIN_INTERVAL), ``negotiator_interval``,
    ``periodic_interval`` (PERIODIC_EXPR_INTERVAL); ``match_delay`` is how long an idle job whose gates are open waits
    until the negotiator considers it, ``transfer`` the files' way to the machine, ``run_time`` what a program takes.
    ``skew`` is how far the execute machine's clock is ahead of the schedd's; ``missed_delay`` how long the hold of a
    missed run takes to get from the starter to the schedd. ``slots`` is how many jobs run at once, those of
    the local universe not counted; ``machine`` is the ad of each, ``schedd`` the one that local jobs meet. Where there
    are ``machines``, they are divided as jobs ask for it, ``slots`` does not count, and ``machine`` says what else they
    have. ``exits`` is how programs end, ``preemption`` when the pool takes a machine back. ``flow`` has the intervals
    at which daemons tell one another about a job, and which of these updates fail. ``counts_local_runs`` has
    NumJobCompletions count the runs of local jobs too, which max_retries needs; the schedd itself never does it.
    ``system_policy`` has the SYSTEM_PERIODIC_ expressions, which are asked of every job.
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
