"""The last steps of a routed job: finalised, cleaned up, given back, forgotten; and orphaned copies.

HTCondor: JobRouter::FinalizeJob, JobRouter::CleanupJob, JobRouter::CleanupRetiredJob.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crondor.classad import lower, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.hooks.kinds import HookConsequence, HookType
from crondor.job.attributes import JobStatus, boolean, string
from crondor.job_queue.records import JobId
from crondor.router.daemon import runs
from crondor.router.daemon.context import (
    SURE,
    WAITING,
    RouterContext,
    ask,
    let_go,
    live,
    remove,
    run_again,
    tell,
    update_source,
)
from crondor.router.daemon.context import give_back as give_back_edit
from crondor.router.daemon.follow import clean_up
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.routed_job import (
    EXTERNAL,
    ROUTE_NAME,
    ROUTED_BY,
    ROUTED_FROM,
    ROUTED_TO,
    RUNNING,
    RoutedJob,
    RoutedState,
    is_managed_by,
    status,
    waits_for_input,
)
from crondor.schedd.protocol import NotOffered, edited

_UNWRITTEN: Final = frozenset(("clusterid", "procid", "mytype", "targettype", "jobstatus", "managed", "managedmanager"))
_TRIES: Final = 3
ABORTED: Final = "JobRouter aborted job"


def finalise(context: RouterContext, job: RoutedJob) -> None:
    """Let the completed copy leave its queue, and end the source (HTCondor: JobRouter::FinishFinalizeJob)."""
    if job.state is not RoutedState.FINISHED:
        return
    answer = ask(context, job, HookType.JOB_FINALIZE)
    if answer is WAITING or (answer is not None and answer.action is HookConsequence.SKIP_POLL):
        return
    if answer is not None:
        if answer.action is HookConsequence.REROUTE:
            clean_up(context, job)
            return
        if not _update_source(context, job, answer.ad):
            return
    if not _let_go(context, job):
        return
    if context.tell(EventType.JOB_TERMINATED, job):
        context.say(RouterEvent.FINALIZED, job)
        job.is_done = True
        job.is_success = not _has_failed(context, job)
        if not job.is_success:
            context.say(RouterEvent.FAILED, job)
    clean_up(context, job)


def _let_go(context: RouterContext, job: RoutedJob) -> bool:
    """Fetch the output of a sandboxed copy, and let the copy leave its queue; False: not now, or never."""
    try:
        if job.is_sandboxed and context.options.delivery is not None:
            context.options.delivery.fetch(job)
        if job.copy_id is not None and job.copy is not None:
            context.edit(let_go(job.copy_id, context.name), copy=True)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_FINALIZED, job, error)
        if isinstance(error, SURE) and _take_back(context, job):
            clean_up(context, job)
        return False
    return True


def _take_back(context: RouterContext, job: RoutedJob) -> bool:
    """Make a source idle after its copy's work was lost, so that it stays in its queue; False: retried later."""
    edits = {"JobStatus": int(JobStatus.IDLE), "EnteredCurrentStatus": context.now}
    try:
        if not context.edit(tell(job.id, context.name, JobStatus.COMPLETED, edits)):
            context.look_again(job.id)
            return True
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        return False
    job.has_run = False
    if job.source is not None:
        job.source = edited(job.source, edits)
    return True


def _update_source(context: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    edits = {name: ad[name] for name in ad if lower(name) not in _UNWRITTEN}
    if not edits or job.source is None:
        return True
    try:
        if not context.edit(update_source(job.id, context.name, edits)):
            context.look_again(job.id)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        clean_up(context, job)
        return False
    job.source = edited(job.source, edits)
    context.say(RouterEvent.SOURCE_UPDATED, job)
    return True


def _has_failed(context: RouterContext, job: RoutedJob) -> bool:
    """Evaluate JobFailureTest in the source alone; a removed route has none."""
    route = context.table.route(job.route)
    test = None if route is None else route.job_failure_test
    return test is not None and job.source is not None and test.holds(job.source, None, context.context)


def finish(context: RouterContext, job: RoutedJob) -> None:
    """Remove an uncompleted copy, give the source back, count the outcome (JobRouter::FinishCleanupJob)."""
    if job.state is not RoutedState.CLEANUP:
        return
    if job.copy is not None:
        answer = ask(context, job, HookType.JOB_CLEANUP)
        if answer is WAITING or (answer is not None and answer.action is HookConsequence.RETRY_CLEANUP):
            return
    if not (_remove_copy(context, job) and _yield(context, job)):
        return
    _end_files(context, job)
    context.say(RouterEvent.CLEANED_UP, job)
    context.ledger.ended(job)
    job.state = RoutedState.RETIRED
    job.retired, job.retired_at_poll = context.now, context.polls
    job.route = ""
    context.look_again(job.id)


def _end_files(context: RouterContext, job: RoutedJob) -> None:
    """Delete the files made for a job; the router deletes leftovers when it starts."""
    if context.options.delivery is None:
        return
    try:
        context.options.delivery.end(job)
    except CrondorError as error:
        context.failed(RouterEvent.FILES_LEFT, job, error)


def _remove_copy(context: RouterContext, job: RoutedJob) -> bool:
    """Remove the copy of a job that is not done; False: the result is unknown, and the removal is retried.

    HTCondor's router tries once and gives the source back even if the removal failed: then both can run.
    """
    if job.is_done or job.copy_id is None or job.is_removed:
        return True
    mine = f"RoutedBy =?= {print_string(context.name)} && RoutedFromJobId =?= {print_string(str(job.id))}"
    try:
        remove(context.destination, job.copy_id, mine, ABORTED)
    except NotOffered as error:
        context.failed(RouterEvent.NOT_REMOVED, job, error)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_REMOVED, job, error)
        return False
    job.is_removed = True
    return True


def _yield(context: RouterContext, job: RoutedJob) -> bool:
    """Give the source back; False: it is tried again."""
    if not job.is_claimed:
        return True
    if job.has_run and not job.is_evicted:
        job.is_evicted = True
        context.tell(EventType.JOB_EVICTED, job)
    try:
        given = give_back(context, job)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_YIELDED, job, error)
        return False
    job.is_claimed = not given
    return given


def give_back(context: RouterContext, job: RoutedJob) -> bool:
    """Yield a source as it is now, return whether nothing is left to do (yield_job). Raises what the schedd raises."""
    for _ in range(_TRIES):
        ad = live(context.source, job.id)
        why = _not_ours(context, job, ad)
        ad = None if ad is None else context.managed_ad(job.id, ad)
        if ad is None:
            context.say(RouterEvent.NOT_YIELDED, job, f": {why}")
            return True
        again = runs.next_run(ad, context.now, context.options.zone) if _runs_again(context, job, ad) else None
        if again is not None:
            edit = run_again(job.id, context.name, again)
        else:
            hold = context.table.settings.release_on_hold
            edit = give_back_edit(job.id, ad, context.name, done=job.is_done, release_on_hold=hold)
        if context.edit(edit):
            if status(ad) is JobStatus.REMOVED:
                remove(context.source, job.id, "JobStatus =?= 3", string(ad, "RemoveReason") or "")
            context.say(
                RouterEvent.AGAIN if again is not None else RouterEvent.YIELDED,
                job,
                "" if again else f" (done={int(job.is_done)})",
            )
            job.source = ad
            return True
    return False


def _not_ours(context: RouterContext, job: RoutedJob, ad: ClassAd | None) -> str:
    """Return why the router cannot give a source back; empty if it can."""
    if ad is None:
        return f"Job {job.id} is gone"
    if string(ad, "Managed") != EXTERNAL:
        return f"Job {job.id} is not managed!"
    if not is_managed_by(ad, context.name):
        manager = string(ad, "ManagedManager")
        return f"Job {job.id} is managed by {manager!r} instead of expected {context.name!r}"
    return ""


def _runs_again(context: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    return (
        context.options.waits_for_gates
        and job.is_done
        and status(ad) is JobStatus.COMPLETED
        and runs.runs_again(ad, context.now, context.context)
    )


def is_forgotten(context: RouterContext, job: RoutedJob) -> bool:
    """Return whether the queues show that a retired job is over, so that it is no orphan.

    Only the state of the queues at the start of the poll counts: in this poll a source may have been found unmanaged.
    If the job never got a copy, the next poll may route it again.

    HTCondor: JobRouter::CleanupRetiredJob.
    """
    if job.state is not RoutedState.RETIRED:
        return False
    if context.polls <= job.retired_at_poll:
        if job.found_at_poll < context.polls or job.copy_id is not None:
            return False
        context.say(RouterEvent.FORGOTTEN, job)
        return True
    is_over = job.source is None or not is_managed_by(job.source, context.name)
    is_over = is_over and (job.copy is None or string(job.copy, ROUTED_BY) != context.name)
    if is_over:
        context.say(RouterEvent.FORGOTTEN, job)
        return True
    if context.now - job.retired >= context.table.settings.update_lag:
        context.say(RouterEvent.STALE, job, f" ({context.now - job.retired} seconds)")
        return True
    return False


ORPHAN: Final = "JobRouter orphan"
_FURTHEST: Final = (JobStatus.COMPLETED, JobStatus.TRANSFERRING_OUTPUT, JobStatus.RUNNING, JobStatus.IDLE)


class Orphans:
    """Sources and copies in the queues that bear the router's name.

    ``is_due``: a source could not be queried, so its copy counts on no route yet; the next poll adopts again.
    """

    def __init__(self, context: RouterContext, jobs: Mapping[JobId, RoutedJob]) -> None:
        """Take the router's jobs, which it keeps up to date."""
        self._context = context
        self._jobs = jobs
        self._sources: set[JobId] = set()
        self.is_due = False

    def __contains__(self, job: JobId) -> bool:
        return job in self._context.copies or job in self._sources

    def see_source(self, job: JobId, ad: ClassAd | None) -> None:
        """Update from what the sources' queue shows of a job."""
        if ad is not None and is_managed_by(ad, self._context.name):
            self._sources.add(job)
        else:
            self._sources.discard(job)

    def adopt(self, track: Callable[[RoutedJob], None]) -> None:
        """Resume copies whose source is the router's, remove the others, and give back sources without a copy."""
        self.is_due = False
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
            self.is_due = True
            return
        if ad is not None and source is not None:
            job = min(left, key=lambda each: (_rank(left[each]), each))
            track(self._recovered(source, ad, job, left.pop(job)))
        for job, copy in left.items():
            if not _is_leaving(copy):
                self._remove(source, job)

    def _source_of(self, source: JobId, copies: Mapping[JobId, ClassAd]) -> ClassAd | None:
        """Return the ad of a source that is the router's; None if there is none.

        If its ManagedManager was deleted, the source still names its copy. Raises what the schedd raises.
        """
        ad = live(self._context.source, source)
        if ad is None or is_managed_by(ad, self._context.name):
            return ad
        return self._context.managed_ad(source, ad) if JobId.parse(string(ad, ROUTED_TO) or "") in copies else None

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
            remove(context.destination, job, f"{ROUTED_BY} =?= {print_string(context.name)}", ORPHAN)
        except CrondorError as error:
            context.failed(RouterEvent.NOT_REMOVED, f"src={source},dest={job}", error)

    def _give_back(self, job: JobId) -> None:
        context = self._context
        try:
            ad = live(context.source, job)
            if ad is None or not is_managed_by(ad, context.name):
                return
            orphan = RoutedJob(job, ad, "", is_claimed=True)
            context.say(RouterEvent.ORPHAN_SOURCE, f"src={job}")
            if not give_back(context, orphan):
                return
            # The copy of a completed source was released, and the router ended before or right after it wrote that.
            kind = EventType.JOB_TERMINATED if status(ad) is JobStatus.COMPLETED else EventType.JOB_EVICTED
            if status(ad) in (JobStatus.COMPLETED, *RUNNING):
                context.tell(kind, orphan)
        except CrondorError as error:
            context.failed(RouterEvent.NOT_YIELDED, f"src={job}", error)


def _rank(copy: ClassAd) -> int:
    """Return how far a copy has come; of several, the one that is furthest is resumed."""
    found = status(copy)
    return _FURTHEST.index(found) if found in _FURTHEST else len(_FURTHEST)


def _is_leaving(copy: ClassAd) -> bool:
    """Return whether a copy has completed and was released, or was removed: its schedd drops it."""
    found = status(copy)
    return found is JobStatus.REMOVED or (found is JobStatus.COMPLETED and boolean(copy, "LeaveJobInQueue") is False)
