"""Asking a queue that is in memory: what the embedded schedd and the follower of a log have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import tzinfo

from crondor.classad import Context, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job.queued import SCHEDULING, QueuedJob
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror
from crondor.schedd.ads import job_id
from crondor.schedd.protocol import Clock, NotOffered, Scheduled
from crondor.schedd.selection import Selection, Which
from crondor.zones import zone_of

_IDS = ("ClusterId", "ProcId")


def context_at(clock: Clock, zone: str | tzinfo) -> Context:
    """Return the context of a constraint."""
    return Context(now=clock(), zone=zone_of(zone).info)


def jobs_of(mirror: Mirror, which: Which, projection: Iterable[str] | None, context: Context) -> list[ClassAd]:
    """Return the jobs of a mirror as Schedd.jobs does."""
    found = (ad for _, ad in Selection.of(which).of_mirror(mirror, context))
    return list(found) if projection is None else list(map(Projection(projection), found))


def scheduled_of(mirror: Mirror, which: Which, context: Context) -> Scheduled:
    """Return the jobs of a mirror as Schedd.scheduled does."""
    chosen = Selection.of(which)
    if chosen.is_all:
        return Scheduled([mirror.ad(job) for job in sorted(mirror.having(SCHEDULING))], len(mirror), [])
    found = scheduled_among(chosen.in_any_order(mirror, context), chosen)
    found.ads.sort(key=lambda ad: job_id(ad) or JobId(0, 0))
    return found


def scheduled_among(ads: Iterable[ClassAd], chosen: Selection) -> Scheduled:
    """Return the scheduled ones of ads that were chosen, in their order."""
    is_numbered = bool(chosen.jobs or chosen.clusters)
    found: list[ClassAd] = []
    total, numbers = 0, set[JobId | None]()
    for ad in ads:
        total += 1
        if is_numbered:
            numbers.add(job_id(ad))
        if QueuedJob(ad).is_scheduled:
            found.append(ad)
    return Scheduled(found, total, chosen.unmet(numbers))


class Projection:
    """Takes some attributes of an ad, and the job's ids."""

    def __init__(self, names: Iterable[str]) -> None:
        """Keep the names."""
        self._names = dict.fromkeys(map(lower, (*_IDS, *names)))

    def __call__(self, ad: ClassAd) -> ClassAd:
        """Return a smaller ad, without parent."""
        codes, names = ad.codes, ad.names
        kept = [name for name in self._names if name in codes]
        return ClassAd.of({name: codes[name] for name in kept}, {name: names[name] for name in kept}, ad.place)


def latest(
    ads: Iterator[ClassAd], which: Which, projection: Iterable[str] | None, limit: int | None, context: Context
) -> list[ClassAd]:
    """Return the last of the ads that are meant, the latest first; ``limit`` of them at most are kept in memory."""
    chosen = Selection.of(which)
    found = deque((ad for ad in ads if chosen.holds(ad, context)), limit)
    found.reverse()
    return list(found) if projection is None else list(map(Projection(projection), found))


def not_offered(doing: str, instead: str) -> NotOffered:
    """Return the error for what a schedd cannot do."""
    return NotOffered(Diagnostic("schedd-not-offered", doing, help=instead))
