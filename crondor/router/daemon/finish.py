"""The last steps of a routed job: finalised, cleaned up, yielded, forgotten.

HTCondor: JobRouter::FinalizeJob, JobRouter::CleanupJob, JobRouter::CleanupRetiredJob.
"""

from __future__ import annotations

from typing import Final

from crondor.classad import lower, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import HookConsequence
from crondor.job.attributes import string
from crondor.job.status import JobStatus
from crondor.router.daemon import operations, runs
from crondor.router.daemon.claim import clean_up
from crondor.router.daemon.context import SURE, RouterContext, written
from crondor.router.daemon.hook_calls import WAITING, ask
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.reading import EXTERNAL, ROUTED_BY, is_managed_by, status
from crondor.router.daemon.routed_job import RoutedJob, RoutedState
from crondor.schedd.protocol import NotOffered

_UNWRITTEN: Final = frozenset(("clusterid", "procid", "mytype", "targettype", "jobstatus", "managed", "managedmanager"))
_TRIES: Final = 3
ABORTED: Final = "JobRouter aborted job"


def finalise(context: RouterContext, job: RoutedJob) -> None:
    """Let the completed copy go, and end the source (HTCondor: JobRouter::FinishFinalizeJob)."""
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
            context.edit(operations.let_go(job.copy_id, context.name), copy=True)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_FINALIZED, job, error)
        if isinstance(error, SURE) and _take_back(context, job):
            clean_up(context, job)
        return False
    return True


def _take_back(context: RouterContext, job: RoutedJob) -> bool:
    """Make a source idle whose copy's work is lost, so that it does not leave its queue; False: it is tried again."""
    edits = {"JobStatus": int(JobStatus.IDLE), "EnteredCurrentStatus": context.now}
    try:
        if not context.edit(operations.tell(job.id, context.name, JobStatus.COMPLETED, edits)):
            context.look_again(job.id)
            return True
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        return False
    job.has_run = False
    if job.source is not None:
        job.source = written(job.source, edits)
    return True


def _update_source(context: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    edits = {name: ad[name] for name in ad if lower(name) not in _UNWRITTEN}
    if not edits or job.source is None:
        return True
    try:
        if not context.edit(operations.update_source(job.id, context.name, edits)):
            context.look_again(job.id)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        clean_up(context, job)
        return False
    job.source = written(job.source, edits)
    context.say(RouterEvent.SOURCE_UPDATED, job)
    return True


def _has_failed(context: RouterContext, job: RoutedJob) -> bool:
    """Apply JobFailureTest to the source alone; a route that is gone has none."""
    route = context.table.route(job.route)
    test = None if route is None else route.job_failure_test
    return test is not None and job.source is not None and test.holds(job.source, None, context.context)


def finish(context: RouterContext, job: RoutedJob) -> None:
    """Remove the copy unless it has done its work, give the source back, and count what became of it.

    HTCondor: JobRouter::FinishCleanupJob.
    """
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
    """Delete what was made for a job beside its copy; what stays now is found when a router starts."""
    if context.options.delivery is None:
        return
    try:
        context.options.delivery.end(job)
    except CrondorError as error:
        context.failed(RouterEvent.FILES_LEFT, job, error)


def _remove_copy(context: RouterContext, job: RoutedJob) -> bool:
    """Remove the copy of a job that is not done; False: nobody knows whether it is, and it is tried again.

    HTCondor's router tries once and gives the source back, whatever becomes of the copy: both can run then.
    """
    if job.is_done or job.copy_id is None or job.is_removed:
        return True
    mine = f"RoutedBy =?= {print_string(context.name)} && RoutedFromJobId =?= {print_string(str(job.id))}"
    try:
        operations.remove(context.destination, job.copy_id, mine, ABORTED)
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
    """Yield a source as it is now, and say whether nothing is left to do. Raises what the schedd raises.

    HTCondor: yield_job.
    """
    for _ in range(_TRIES):
        ad = operations.live(context.source, job.id)
        why = _not_ours(context, job, ad)
        ad = None if ad is None else context.kept(job.id, ad)
        if ad is None:
            context.say(RouterEvent.NOT_YIELDED, job, f": {why}")
            return True
        again = runs.next_run(ad, context.now, context.options.zone) if _runs_again(context, job, ad) else None
        if again is not None:
            edit = operations.run_again(job.id, context.name, again)
        else:
            hold = context.table.settings.release_on_hold
            edit = operations.give_back(job.id, ad, context.name, done=job.is_done, release_on_hold=hold)
        if context.edit(edit):
            if status(ad) is JobStatus.REMOVED:
                operations.remove(context.source, job.id, "JobStatus =?= 3", string(ad, "RemoveReason") or "")
            context.say(
                RouterEvent.AGAIN if again is not None else RouterEvent.YIELDED,
                job,
                "" if again else f" (done={int(job.is_done)})",
            )
            job.source = ad
            return True
    return False


def _not_ours(context: RouterContext, job: RoutedJob, ad: ClassAd | None) -> str:
    """Return why a source is not the router's to give, empty where it is."""
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
    """Say whether the queues show that a retired job is over; then it is no orphan.

    What they showed when the poll began counts: of a job that was found in this poll that nobody has it. Where it has
    come to no copy, the next poll may find it again.

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
