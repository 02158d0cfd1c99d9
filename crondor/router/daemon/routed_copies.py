"""The copies that bear the router's name, as their queue shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.job.attributes import string
from crondor.job_queue.keys import JobId
from crondor.router.daemon.reading import ROUTED_BY, ROUTED_FROM

_NOTHING: Final[Mapping[JobId, ClassAd]] = {}


class RoutedCopies:
    """The copies of a router by their sources, whether it knows them or not."""

    def __init__(self, name: str) -> None:
        """Begin without any; ``name`` is the router's."""
        self._name = name
        self._ads: dict[JobId, ClassAd] = {}
        self._by_source: dict[str, dict[JobId, ClassAd]] = {}

    def __contains__(self, job: JobId) -> bool:
        """Say whether a job is one of them."""
        return job in self._ads

    def of(self, source: JobId) -> Mapping[JobId, ClassAd]:
        """Return the copies that say that they were made of a job."""
        return self._by_source.get(str(source), _NOTHING)

    def by_source(self) -> list[tuple[str, dict[JobId, ClassAd]]]:
        """Return what they say that they were made of, each with its copies, in order."""
        return sorted(self._by_source.items())

    def see(self, job: JobId, ad: ClassAd | None) -> None:
        """Take what the copies' queue shows of a job."""
        before = self._ads.pop(job, None)
        if before is not None:
            kept = self._by_source.get(string(before, ROUTED_FROM) or "", {})
            kept.pop(job, None)
            if not kept:
                self._by_source.pop(string(before, ROUTED_FROM) or "", None)
        if ad is not None and string(ad, ROUTED_BY) == self._name and "Owner" in ad:
            self._ads[job] = ad
            self._by_source.setdefault(string(ad, ROUTED_FROM) or "", {})[job] = ad
