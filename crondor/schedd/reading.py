"""Asking a queue that is in memory: what the embedded schedd and the follower of a log have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import tzinfo

from crondor.classad import Context, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue.mirror import Mirror
from crondor.schedd.protocol import Clock, NotOffered
from crondor.schedd.selection import Selection, Which
from crondor.zones import zone_of

_IDS = ("ClusterId", "ProcId")


def context_at(clock: Clock, zone: str | tzinfo) -> Context:
    """Return what a constraint may know of the world."""
    return Context(now=clock(), zone=zone_of(zone).info)


def jobs_of(mirror: Mirror, which: Which, projection: Iterable[str] | None, context: Context) -> list[ClassAd]:
    """Return the jobs of a mirror as Schedd.jobs does."""
    found = (ad for _, ad in Selection.of(which).of_mirror(mirror, context))
    return list(found) if projection is None else list(map(Projection(projection), found))


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
