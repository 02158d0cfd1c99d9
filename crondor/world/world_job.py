"""One job of a world, and its run."""

from __future__ import annotations

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.queued import JobStatus
from crondor.schedd.actions import count
from crondor.schedule import Universe
from crondor.world.clock import Entry
from crondor.world.exits import SUCCESS
from crondor.world.gate import Gate
from crondor.world.policy import has_periodic

_ON_SCHEDD = (int(Universe.LOCAL), int(Universe.SCHEDULER))


class Run:
    """One match of a job, from there to its end; times are epoch seconds of the schedd's clock.

    ``ad`` is the copy that the starter has: what is edited later does not reach it. ``next`` is what comes next;
    ``left`` what a suspended program has still to run (seconds), ``exit`` how it will end, where that is known.
    """

    __slots__ = ("ad", "arrived", "exit", "has_slot", "is_suspended", "left", "matched", "next", "started")

    def __init__(self, ad: ClassAd, matched: int, *, has_slot: bool) -> None:
        """Begin with the match."""
        self.ad = ad
        self.matched = matched
        self.has_slot = has_slot
        self.arrived: int | None = None
        self.started: int | None = None
        self.next: Entry | None = None
        self.is_suspended = False
        self.left: int | None = None
        self.exit = SUCCESS


class WorldJob:
    """A job in the queue.

    ``turn`` is when the pool turns to it, ``check`` when its periodic expressions are looked at; ``is_starved`` says
    that it waits for a slot. ``run`` is its only run, None while it has none. ``has_left`` says that it is gone.
    """

    __slots__ = (
        "ad", "check", "gate", "has_left", "id", "is_local", "is_periodic", "is_starved", "rank", "run", "status",
        "turn", "universe",
    )  # fmt: skip

    def __init__(self, job: JobId, ad: ClassAd, machine: ClassAd, schedd: ClassAd) -> None:
        """Take the queue's ad of the job, and those it may meet."""
        self.id = job
        self.ad = ad
        self.universe = count(ad, "JobUniverse") or int(Universe.VANILLA)
        self.is_local = self.universe in _ON_SCHEDD
        self.rank = (-_priority(ad), *job)
        self.status = count(ad, "JobStatus")
        self.run: Run | None = None
        self.turn: Entry | None = None
        self.check: Entry | None = None
        self.is_starved = self.has_left = False
        self.read(machine, schedd)

    def read(self, machine: ClassAd, schedd: ClassAd) -> None:
        """Read the expressions, after they were edited."""
        self.gate = Gate(self.ad, schedd, is_asked=False) if self.is_local else Gate(self.ad, machine)
        self.is_periodic = has_periodic(self.ad)

    @property
    def is_idle(self) -> bool:
        """Say whether it waits for a match."""
        return self.status == JobStatus.IDLE and not self.has_left


def _priority(ad: ClassAd) -> int:
    value = ad.value("JobPrio") if "JobPrio" in ad else 0
    return value if isinstance(value, int) else 0
