"""One job of a pool, and its run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from crondor.classad.ad import ClassAd
from crondor.job.attributes import count, int32
from crondor.job.policy import Ruling, always_at_exit, has_periodic
from crondor.job.status import JobStatus
from crondor.job_queue import JobId
from crondor.pool.daemons.clock import TimetableEntry
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.daemons.requirements import Gate
from crondor.pool.settings.exits import SUCCESS
from crondor.pool.settings.lengths import chance
from crondor.schedule import Universe

_ON_SCHEDD: Final = (int(Universe.LOCAL), int(Universe.SCHEDULER))


class JobRun:
    """One match of a job, from there to its end; times are epoch seconds of the schedd's clock.

    ``ad`` is the copy that the starter has: what is edited later does not reach it. ``claim`` is what it has of a
    machine, None in the local universe. ``next`` is what comes next, ``taken`` when the pool takes the machine back;
    ``left`` what a suspended program has still to run (seconds), ``exit`` how it will end, where that is known;
    ``time`` is its DeferralTime, None where that is to be read from the ad;
    ``is_over`` says that it has ended, and who must know does not know it yet.
    """

    __slots__ = (
        "ad",
        "arrived",
        "claim",
        "exit",
        "is_over",
        "is_suspended",
        "left",
        "matched",
        "next",
        "started",
        "taken",
        "time",
    )

    def __init__(self, ad: ClassAd, matched: int, claim: Claim | None) -> None:
        """Begin with the match."""
        self.ad = ad
        self.matched = matched
        self.time: int | None = None
        self.claim = claim
        self.arrived: int | None = None
        self.started: int | None = None
        self.next: TimetableEntry | None = None
        self.taken: TimetableEntry | None = None
        self.is_suspended = False
        self.left: int | None = None
        self.exit = SUCCESS
        self.is_over = False

    @property
    def has_slot(self) -> bool:
        """Say whether it holds a slot of a machine."""
        return self.claim is not None


class Unwritten(Protocol):
    """What has happened to a job and is not in its ad yet; ``time`` is its DeferralTime, where that is not."""

    time: int | None

    def write(self) -> None:
        """Write it."""


class PoolJob:
    """A job in the queue.

    ``turn`` is when it is considered next, ``check`` when its periodic expressions are looked at; ``is_starved`` says
    that it waits for a slot. ``run`` is its only run, None while it has none. ``has_left`` says that it is gone;
    ``is_over`` that it was completed or removed, and may still be there because LeaveJobInQueue says so. ``gates`` are
    its Requirements against each kind of machine, ``gate`` the first of them; ``ruling`` what happens at every exit,
    where that is always the same; ``has_dollars`` says that something in it is expanded with the machine's ad. ``kept``
    is the ad in the queue as it is, ``unwritten`` brings it up to date; ``is_quiet`` is what was found out about its
    runs, see ``daemons.quiet``. ``began`` is when its last run was matched, or started, None for never.
    """

    __slots__ = (
        "_chances",
        "_has_policy",
        "began",
        "check",
        "codes",
        "gate",
        "gates",
        "has_dollars",
        "has_left",
        "has_stayed",
        "id",
        "is_local",
        "is_over",
        "is_periodic",
        "is_quiet",
        "is_starved",
        "kept",
        "key",
        "rank",
        "ruling",
        "run",
        "status",
        "turn",
        "universe",
        "unwritten",
    )  # fmt: skip

    def __init__(
        self, job: JobId, ad: ClassAd, machines: Sequence[ClassAd], schedd: ClassAd, *, has_policy: bool = False
    ) -> None:
        """Take the queue's ad of the job, and those it may meet; ``has_policy``: the administrator has one too."""
        self._has_policy = has_policy
        self.id = job
        self.key = str(job)
        self.kept = ad
        self.unwritten: Unwritten | None = None
        self.codes = ad.parts()[0]
        self.universe = count(ad, "JobUniverse") or int(Universe.VANILLA)
        self.is_local = self.universe in _ON_SCHEDD
        self.rank = (-(int32(ad, "JobPrio") or 0), *job)
        self.status = count(ad, "JobStatus")
        self.run: JobRun | None = None
        self.began: int | None = None
        self.turn: TimetableEntry | None = None
        self.check: TimetableEntry | None = None
        self.is_starved = self.has_left = self.is_over = self.has_stayed = False
        self._chances: dict[int, int] = {}
        self.read(machines, schedd)

    def read(self, machines: Sequence[ClassAd], schedd: ClassAd) -> None:
        """Read the expressions, after they were edited."""
        if self.is_local:
            self.gates = [Gate(self.ad, schedd, is_asked=False)]
        else:
            self.gates = [Gate(self.ad, machine) for machine in machines]
        self.gate = self.gates[0]
        self.is_quiet: bool | None = None
        self.is_periodic = self._has_policy or has_periodic(self.ad)
        self.ruling: Ruling | None = None if self.is_periodic else always_at_exit(self.ad)
        self.has_dollars = any("$$(" in self.ad.text(name) for name in self.ad)

    @property
    def ad(self) -> ClassAd:
        """The ad in the queue; what is not written yet is written first."""
        if self.unwritten is not None:
            self.unwritten.write()
        return self.kept

    @property
    def is_idle(self) -> bool:
        """Say whether it waits for a match."""
        return self.status == JobStatus.IDLE and not self.has_left

    def counter(self, key: str) -> int:
        """Return a counter of the ad, by its name in lower case; 0 where there is none."""
        return count(self.ad, key)

    def chance(self, seed: int, kind: int, run: int) -> int:
        """Return what is drawn for one of the runs, which ``run`` tells apart; ``kind`` says what for."""
        begun = self._chances.get(kind)
        if begun is None:
            begun = self._chances[kind] = chance(seed, kind, *self.id)
        return chance(run, after=begun)
