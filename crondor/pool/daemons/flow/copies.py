"""The copies of one job's ad that daemons have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crondor.classad import Context, Expression, lower
from crondor.classad.ad import ClassAd
from crondor.job.attributes import expression, number_of, result
from crondor.pool.daemons.clock import TimetableEntry
from crondor.pool.daemons.pool_job import PoolJob

# What the shadow changes in its own copy, and tells the schedd with its next update only (qmgr_job_updater.cpp).
LAGGING: Final = frozenset(
    ("numjobstarts", "jobcurrentstartexecutingdate", "exitcode", "exitbysignal", "exitsignal", "numjobcompletions")
)
_RESOURCES: Final = ("Cpus", "Disk", "Memory")


class Attempt:
    """What is known of one run: when it went on, when it was reported last, and what comes next."""

    __slots__ = ("is_broken", "killed", "last_contact", "lease", "ran", "shadow_next", "since", "starter_next", "tries")

    def __init__(self, now: int) -> None:
        """Begin with the match (epoch seconds)."""
        self.last_contact = now
        self.since: int | None = None  # when the program went on; None while it does not run
        self.ran = 0
        self.tries = 0
        self.is_broken = False
        self.killed: Callable[[], None] | None = None
        self.lease: TimetableEntry | None = None
        self.starter_next: TimetableEntry | None = None
        self.shadow_next: TimetableEntry | None = None

    def seconds(self, now: int) -> int:
        """Return how long the program has run."""
        return self.ran + (0 if self.since is None else now - self.since)


class Copies:
    """The copies of a job's ad: None where a daemon has none.

    ``unsent`` is what the schedd's copy has instead of what the shadow has not told yet, ``usage`` what only updates
    bring there; ``edited`` are the names, in lower case, of what was edited and the shadow has not pulled yet.
    """

    __slots__ = (
        "attempt", "edited", "job", "negotiated", "negotiator", "shadow", "startd", "starter", "unsent", "usage",
    )  # fmt: skip

    def __init__(self, job: PoolJob) -> None:
        """Begin with the schedd's copy alone."""
        self.job = job
        self.negotiator: ClassAd | None = None
        self.negotiated: int | None = None
        self.shadow: ClassAd | None = None
        self.startd: ClassAd | None = None
        self.starter: ClassAd | None = None
        self.attempt: Attempt | None = None
        self.unsent: dict[str, tuple[str, Expression | None]] = {}
        self.usage: dict[str, object] = {}
        self.edited: dict[str, str] = {}

    def write(self, values: Mapping[str, object]) -> None:
        """Take note of what a daemon is about to write into the queue."""
        shadow, ad = self.shadow, self.job.ad
        if shadow is None:
            return
        for name, value in values.items():
            key = lower(name)
            if key in LAGGING and key not in self.unsent:
                self.unsent[key] = name, expression(ad, name)
            put(shadow, name, value)

    def schedd(self) -> ClassAd:
        """Return the schedd's copy, as condor_q shows it."""
        made = self.job.ad.copy()
        for name, value in self.forgotten().items():
            put(made, name, value)
        for name, value in self.usage.items():
            put(made, name, value)
        return made

    def forgotten(self) -> dict[str, object]:
        """Return what the schedd's copy has in place of what the shadow has not told."""
        return dict(self.unsent.values())

    def provide(self, ad: ClassAd, slot: ClassAd | None, context: Context) -> None:
        """Give a shadow's copy what it has of its machine: <Resource>Provisioned, and its requests as numbers."""
        for name in _RESOURCES if slot is not None else ():
            for source, goal in ((name, f"{name}Provisioned"), (f"Request{name}", f"Request{name}")):
                value = result(Expression(source), self.job.ad, context, slot)
                if number_of(value) is not None:
                    ad.set(goal, value)

    def end_run(self) -> None:
        """Forget the copies of a run that is over."""
        self.shadow = self.startd = self.starter = self.attempt = None
        self.unsent.clear()
        self.edited.clear()


def put(ad: ClassAd, name: str, value: object) -> None:
    """Set an attribute, or delete it where the value is None."""
    if value is None:
        ad.pop(name, None)
    else:
        ad.set(name, value)
