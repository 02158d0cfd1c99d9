"""What all parts of a pool share: its time, its queue, its jobs, and who watches.

HTCondor: Scheduler::PeriodicExprHandler.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.job import policy
from crondor.job.attributes import ON_MACHINE, JobStatus, expression
from crondor.job.policy import Act, Ruling, SystemPolicy
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, RunWatcher, Watcher
from crondor.pool.daemons.flow import Flow
from crondor.pool.daemons.pool_job import CLOCK, POLICY, PoolJob, Timetable, is_moving
from crondor.pool.daemons.schedd import ScheddQueue
from crondor.pool.settings import PoolSettings
from crondor.zones import zone_of

_happening: Final = tuple.__new__  # takes a third of the time of the class itself


class Core(ABC):
    """The state of a pool, and its changes.

    ``watchers`` are called with events; ``watchers_of_runs`` has those that accept a whole run at once. ``flow`` knows
    what each daemon sees of a job, None if nobody needs that.
    """

    def __init__(
        self, settings: PoolSettings, now: int, schedd: ScheddQueue | None = None, timetable: Timetable | None = None
    ) -> None:
        """Start at a time with an empty queue, or with an existing one. Raises UnknownZone."""
        self.settings = settings
        self.schedd = ScheddQueue(settings) if schedd is None else schedd
        self.jobs: dict[JobId, PoolJob] = {}
        self.watchers: list[Watcher] = []
        self.watchers_of_runs: dict[Watcher, RunWatcher] = {}
        self.timetable = Timetable(now) if timetable is None else timetable
        self.zone = zone_of(settings.zone).info
        self.flow: Flow | None = None
        if settings.flow.is_needed:
            self.flow = Flow(settings, self.timetable, self.context)
            self.schedd.followers.append(self.flow.follow)
        self._start = now

    @property
    def now(self) -> int:
        """The present time (epoch seconds)."""
        return self.timetable.now

    def write(self, job: PoolJob, values: Mapping[str, object]) -> None:
        """Set attributes in the queue like a daemon; None deletes."""
        if job.unwritten is not None:
            job.unwritten.write()
        if self.flow is not None:
            self.flow.write(job, values)
        self.schedd.write(job.id, values)
        status = values.get("JobStatus")
        if isinstance(status, int):
            job.status = status
        if job.is_periodic:
            self.check_later(job)

    def count(self, job: PoolJob, numbers: Mapping[str, int]) -> None:
        """Set attributes of a run to numbers: like ``write``, but faster."""
        if job.unwritten is not None:
            job.unwritten.write()
        if self.flow is not None:
            self.flow.write(job, numbers)
        self.schedd.count(job, numbers)
        if job.is_periodic:
            self.check_later(job)

    def plan(self, job: PoolJob, time: int) -> None:
        """Set the DeferralTime (epoch seconds)."""
        if job.unwritten is not None:
            job.unwritten.time = None
        if self.flow is not None:
            self.flow.write(job, {"DeferralTime": time})
        self.schedd.plan(job, time)
        if job.is_periodic:
            self.check_later(job)

    def entered(self, job: PoolJob, status: JobStatus) -> dict[str, int]:
        """Return the attributes that a change of JobStatus sets; the job has the status from now on."""
        made = {"JobStatus": int(status), "EnteredCurrentStatus": self.timetable.now, "LastJobStatus": job.status}
        job.status = int(status)
        return made

    def chance(self, job: PoolJob, kind: int) -> int:
        """Return the random number of a kind for a job's run, that of its DeferralTime whenever it is matched."""
        time = job.gate.time
        return job.chance(self.settings.seed, kind, self.timetable.now if time is None else time)

    def context(self, now: int) -> Context:
        """Return the context of evaluations at a time."""
        return Context(now=now, zone=self.zone, seed=self.settings.seed)

    def tell(self, what: PoolEventKind, job: PoolJob, number: int = 0, text: str = "") -> None:
        """Tell the watchers."""
        if self.watchers:
            happening = _happening(PoolEvent, (self.timetable.now, what, job, number, text))
            for watcher in self.watchers:
                watcher(happening)

    # Periodic expressions

    def check_later(self, job: PoolJob) -> None:
        """Schedule a check of a job's periodic expressions."""
        if job.is_periodic and job.check is None:
            interval = max(1, self.settings.periodic_interval)
            time = self.now + 1 + (self._start - self.now - 1) % interval
            job.check = self.timetable.at(time, lambda now: self._check(job, now), POLICY)

    def check_soon(self, job: PoolJob) -> None:
        """Schedule an immediate check of a job's periodic expressions: its starter has reported to the shadow.

        After an eviction it is a second later, so that repeated evictions cannot go on forever within a second.
        """
        if job.is_periodic:
            self.timetable.cancel(job.check)
            time = self.now + int(job.counter("lastvacatetime") == self.now)
            job.check = self.timetable.at(time, lambda now: self._check(job, now), POLICY)

    @abstractmethod
    def _rule(self, job: PoolJob, ruling: Ruling) -> None:
        """Apply the ruling of periodic expressions."""

    def _check(self, job: PoolJob, now: int) -> None:
        job.check = None
        if job.is_over:
            return
        ad = job.ad if self.flow is None else self.flow.policy_ad(job)
        system = self.settings.system_policy
        ruling = policy.periodic(ad, job.status, now, self.context(now), system=system)
        if job.status in ON_MACHINE:
            ruling = ruling.held
        if ruling.act not in (Act.STAY, Act.UNDEFINED):
            self._rule(job, ruling)
        elif _asks_clock(ad, job.status, system):
            self.check_later(job)


def _asks_clock(ad: ClassAd, status: int, system: SystemPolicy) -> bool:
    """Return whether a job's policy may fire in a status just because time passes."""
    if "TimerRemove" in ad or (status in ON_MACHINE and any(name in ad for name in policy.LONGEST)):
        return True
    names = policy.expressions(status)
    codes = [code for name in names if (code := expression(ad, name)) is not None]
    codes += [each.expression for name in names for each in system.get(name, ())]
    return any(is_moving(code, ad, ad, CLOCK) for code in codes)
