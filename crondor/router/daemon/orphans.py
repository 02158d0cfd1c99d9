"""Orphans: copies and sources that bear the router's name and that it does not know.

The rules are those of HTCondor 25.14's job router (``JobRouter::AdoptOrphans``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crondor.classad import print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.job.attributes import boolean, string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon import operations
from crondor.router.daemon.context import RouterContext
from crondor.router.daemon.copies import waits_for_input
from crondor.router.daemon.finish import give_back
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.reading import ROUTE_NAME, ROUTED_BY, ROUTED_FROM, ROUTED_TO, RUNNING, is_managed_by, status
from crondor.router.daemon.routed_job import RoutedJob, RoutedState

ORPHAN: Final = "JobRouter orphan"
_FURTHEST: Final = (JobStatus.COMPLETED, JobStatus.TRANSFERRING_OUTPUT, JobStatus.RUNNING, JobStatus.IDLE)


class Orphans:
    """The sources that bear the router's name, as their queue shows them, and the copies that do."""

    def __init__(self, context: RouterContext, jobs: Mapping[JobId, RoutedJob]) -> None:
        """Take the jobs that the router has; it keeps them up to date."""
        self._context = context
        self._jobs = jobs
        self._sources: set[JobId] = set()

    def __contains__(self, job: JobId) -> bool:
        """Say whether a job is one of them."""
        return job in self._context.copies or job in self._sources

    def see_source(self, job: JobId, ad: ClassAd | None) -> None:
        """Take what the sources' queue shows of a job."""
        if ad is not None and is_managed_by(ad, self._context.name):
            self._sources.add(job)
        else:
            self._sources.discard(job)

    def adopt(self, track: Callable[[RoutedJob], None]) -> None:
        """Go on with copies whose source is the router's, remove the others, and give back sources without a copy."""
        for key, copies in self._context.copies.by_source():
            source = JobId.parse(key)
            known = None if source is None else self._jobs.get(source)
            if known is not None and known.is_unsure:
                continue
            mine = None if known is None else known.copy_id
            strays = {job: ad for job, ad in copies.items() if job != mine}
            if strays:
                self._adopt(source, known, strays, track)
        for job in sorted(self._sources - self._jobs.keys()):
            self._give_back(job)

    def _adopt(
        self,
        source: JobId | None,
        known: RoutedJob | None,
        copies: Mapping[JobId, ClassAd],
        track: Callable[[RoutedJob], None],
    ) -> None:
        context = self._context
        unmarked = [job for job, ad in copies.items() if string(ad, ROUTE_NAME) is None or not string(ad, ROUTED_FROM)]
        for job in unmarked:
            context.say(RouterEvent.NO_ROUTING, f"dest={job}")
        left = {job: ad for job, ad in copies.items() if job not in unmarked}
        try:
            ad = None if source is None or not left or known is not None else self._source_of(source, left)
        except CrondorError as error:
            context.failed(RouterEvent.UNREACHABLE, f"src={source}", error)
            return
        if ad is not None and source is not None:
            job = min(left, key=lambda each: (_rank(left[each]), each))
            track(self._recovered(source, ad, job, left.pop(job)))
        for job, copy in left.items():
            if not _is_leaving(copy):
                self._remove(source, job)

    def _source_of(self, source: JobId, copies: Mapping[JobId, ClassAd]) -> ClassAd | None:
        """Return the ad of a source that is the router's, None where there is none.

        Where its name was deleted from it, the source still says which copy it has. Raises what the schedd raises.
        """
        ad = operations.live(self._context.source, source)
        if ad is None or is_managed_by(ad, self._context.name):
            return ad
        return self._context.kept(source, ad) if JobId.parse(string(ad, ROUTED_TO) or "") in copies else None

    def _recovered(self, source: JobId, ad: ClassAd, copy_id: JobId, copy: ClassAd) -> RoutedJob:
        context = self._context
        job = RoutedJob(source, ad, string(copy, ROUTE_NAME) or "", RoutedState.SUBMITTED, copy_id, is_claimed=True)
        job.is_sandboxed = "SUBMIT_Iwd" in copy or waits_for_input(copy)
        job.since = context.now
        job.was_seen, job.has_run = True, status(ad) in RUNNING
        job.see_copy(copy)
        if string(ad, ROUTED_TO) != str(copy_id):
            job.owed[ROUTED_TO] = str(copy_id)
        context.say(RouterEvent.ADOPTED, job)
        return job

    def _remove(self, source: JobId | None, job: JobId) -> None:
        context = self._context
        context.say(RouterEvent.ORPHAN_COPY, f"src={source},dest={job}")
        try:
            operations.remove(context.destination, job, f"{ROUTED_BY} =?= {print_string(context.name)}", ORPHAN)
        except CrondorError as error:
            context.failed(RouterEvent.NOT_REMOVED, f"src={source},dest={job}", error)

    def _give_back(self, job: JobId) -> None:
        context = self._context
        try:
            ad = operations.live(context.source, job)
            if ad is None or not is_managed_by(ad, context.name):
                return
            orphan = RoutedJob(job, ad, "", is_claimed=True)
            context.say(RouterEvent.ORPHAN_SOURCE, f"src={job}")
            if not give_back(context, orphan):
                return
            # A completed one's copy was let go, and the router ended before it wrote so, or right behind it.
            kind = EventType.JOB_TERMINATED if status(ad) is JobStatus.COMPLETED else EventType.JOB_EVICTED
            if status(ad) in (JobStatus.COMPLETED, *RUNNING):
                context.tell(kind, orphan)
        except CrondorError as error:
            context.failed(RouterEvent.NOT_YIELDED, f"src={job}", error)


def _rank(copy: ClassAd) -> int:
    """Return how far a copy has come; the one that has come furthest goes on where there are several."""
    found = status(copy)
    return _FURTHEST.index(found) if found in _FURTHEST else len(_FURTHEST)


def _is_leaving(copy: ClassAd) -> bool:
    """Say whether a copy has done its work and was let go, or has been removed: its schedd drops it."""
    found = status(copy)
    return found is JobStatus.REMOVED or (found is JobStatus.COMPLETED and boolean(copy, "LeaveJobInQueue") is False)
