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
from crondor.hooks.router_hooks import Action
from crondor.job.attributes import string
from crondor.job.queued import JobStatus
from crondor.router.daemon import operations, runs
from crondor.router.daemon.claim import clean_up
from crondor.router.daemon.context import SURE, RouterContext, written
from crondor.router.daemon.hook_calls import WAITING, ask
from crondor.router.daemon.log import What
from crondor.router.daemon.reading import EXTERNAL, ROUTED_BY, is_managed_by, status
from crondor.router.daemon.routed_job import RoutedJob, State
from crondor.schedd.protocol import NotOffered

_UNWRITTEN: Final = frozenset(("clusterid", "procid", "mytype", "targettype", "jobstatus", "managed", "managedmanager"))
_TRIES: Final = 3
ABORTED: Final = "JobRouter aborted job"


def finalise(desk: RouterContext, job: RoutedJob) -> None:
    """Let the completed copy go, and end the source (HTCondor: JobRouter::FinishFinalizeJob)."""
    if job.state is not State.FINISHED:
        return
    answer = ask(desk, job, HookType.JOB_FINALIZE)
    if answer is WAITING or (answer is not None and answer.action is Action.SKIP_POLL):
        return
    if answer is not None:
        if answer.action is Action.REROUTE:
            clean_up(desk, job)
            return
        if not _update_source(desk, job, answer.ad):
            return
    if not _let_go(desk, job):
        return
    if desk.tell(EventType.JOB_TERMINATED, job):
        desk.say(What.FINALIZED, job)
        job.is_done = True
        job.is_success = not _has_failed(desk, job)
        if not job.is_success:
            desk.say(What.FAILED, job)
    clean_up(desk, job)


def _let_go(desk: RouterContext, job: RoutedJob) -> bool:
    """Fetch the output of a sandboxed copy, and let the copy leave its queue; False: not now, or never."""
    try:
        if job.is_sandboxed and desk.options.delivery is not None:
            desk.options.delivery.fetch(job)
        if job.copy_id is not None and job.copy is not None:
            desk.edit(operations.let_go(job.copy_id, desk.name), copy=True)
    except CrondorError as error:
        desk.failed(What.NOT_FINALIZED, job, error)
        if isinstance(error, SURE) and _take_back(desk, job):
            clean_up(desk, job)
        return False
    return True


def _take_back(desk: RouterContext, job: RoutedJob) -> bool:
    """Make a source idle whose copy's work is lost, so that it does not leave its queue; False: it is tried again."""
    edits = {"JobStatus": int(JobStatus.IDLE), "EnteredCurrentStatus": desk.now}
    try:
        if not desk.edit(operations.tell(job.id, desk.name, JobStatus.COMPLETED, edits)):
            desk.look_again(job.id)
            return True
    except CrondorError as error:
        desk.failed(What.NOT_UPDATED, job, error)
        return False
    job.has_run = False
    if job.source is not None:
        job.source = written(job.source, edits)
    return True


def _update_source(desk: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    edits = {name: ad[name] for name in ad if lower(name) not in _UNWRITTEN}
    if not edits or job.source is None:
        return True
    try:
        if not desk.edit(operations.update_source(job.id, desk.name, edits)):
            desk.look_again(job.id)
    except CrondorError as error:
        desk.failed(What.NOT_UPDATED, job, error)
        clean_up(desk, job)
        return False
    job.source = written(job.source, edits)
    desk.say(What.SOURCE_UPDATED, job)
    return True


def _has_failed(desk: RouterContext, job: RoutedJob) -> bool:
    """Apply JobFailureTest to the source alone; a route that is gone has none."""
    route = desk.table.route(job.route)
    test = None if route is None else route.job_failure_test
    return test is not None and job.source is not None and test.holds(job.source, None, desk.context)


def finish(desk: RouterContext, job: RoutedJob) -> None:
    """Remove the copy unless it has done its work, give the source back, and count what became of it.

    HTCondor: JobRouter::FinishCleanupJob.
    """
    if job.state is not State.CLEANUP:
        return
    if job.copy is not None:
        answer = ask(desk, job, HookType.JOB_CLEANUP)
        if answer is WAITING or (answer is not None and answer.action is Action.RETRY_CLEANUP):
            return
    if not (_remove_copy(desk, job) and _yield(desk, job)):
        return
    _end_files(desk, job)
    desk.say(What.CLEANED_UP, job)
    desk.ledger.ended(job)
    job.state = State.RETIRED
    job.retired, job.retired_at_poll = desk.now, desk.polls
    job.route = ""
    desk.look_again(job.id)


def _end_files(desk: RouterContext, job: RoutedJob) -> None:
    """Delete what was made for a job beside its copy; what stays now is found when a router starts."""
    if desk.options.delivery is None:
        return
    try:
        desk.options.delivery.end(job)
    except CrondorError as error:
        desk.failed(What.FILES_LEFT, job, error)


def _remove_copy(desk: RouterContext, job: RoutedJob) -> bool:
    """Remove the copy of a job that is not done; False: nobody knows whether it is, and it is tried again.

    HTCondor's router tries once and gives the source back, whatever becomes of the copy: both can run then.
    """
    if job.is_done or job.copy_id is None or job.is_removed:
        return True
    mine = f"RoutedBy =?= {print_string(desk.name)} && RoutedFromJobId =?= {print_string(str(job.id))}"
    try:
        operations.remove(desk.destination, job.copy_id, mine, ABORTED)
    except NotOffered as error:
        desk.failed(What.NOT_REMOVED, job, error)
    except CrondorError as error:
        desk.failed(What.NOT_REMOVED, job, error)
        return False
    job.is_removed = True
    return True


def _yield(desk: RouterContext, job: RoutedJob) -> bool:
    """Give the source back; False: it is tried again."""
    if not job.is_claimed:
        return True
    if job.has_run and not job.is_evicted:
        job.is_evicted = True
        desk.tell(EventType.JOB_EVICTED, job)
    try:
        given = give_back(desk, job)
    except CrondorError as error:
        desk.failed(What.NOT_YIELDED, job, error)
        return False
    job.is_claimed = not given
    return given


def give_back(desk: RouterContext, job: RoutedJob) -> bool:
    """Yield a source as it is now, and say whether nothing is left to do. Raises what the schedd raises.

    HTCondor: yield_job.
    """
    for _ in range(_TRIES):
        ad = operations.live(desk.source, job.id)
        why = _not_ours(desk, job, ad)
        ad = None if ad is None else desk.kept(job.id, ad)
        if ad is None:
            desk.say(What.NOT_YIELDED, job, f": {why}")
            return True
        again = runs.next_run(ad, desk.now, desk.options.zone) if _runs_again(desk, job, ad) else None
        if again is not None:
            edit = operations.run_again(job.id, desk.name, again)
        else:
            hold = desk.table.settings.release_on_hold
            edit = operations.give_back(job.id, ad, desk.name, done=job.is_done, release_on_hold=hold)
        if desk.edit(edit):
            if status(ad) is JobStatus.REMOVED:
                operations.remove(desk.source, job.id, "JobStatus =?= 3", string(ad, "RemoveReason") or "")
            desk.say(
                What.AGAIN if again is not None else What.YIELDED, job, "" if again else f" (done={int(job.is_done)})"
            )
            job.source = ad
            return True
    return False


def _not_ours(desk: RouterContext, job: RoutedJob, ad: ClassAd | None) -> str:
    """Return why a source is not the router's to give, empty where it is."""
    if ad is None:
        return f"Job {job.id} is gone"
    if string(ad, "Managed") != EXTERNAL:
        return f"Job {job.id} is not managed!"
    if not is_managed_by(ad, desk.name):
        manager = string(ad, "ManagedManager")
        return f"Job {job.id} is managed by {manager!r} instead of expected {desk.name!r}"
    return ""


def _runs_again(desk: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    return (
        desk.options.waits_for_gates
        and job.is_done
        and status(ad) is JobStatus.COMPLETED
        and runs.runs_again(ad, desk.now, desk.context)
    )


def is_forgotten(desk: RouterContext, job: RoutedJob) -> bool:
    """Say whether the queues show that a retired job is over; then it is no orphan.

    What they showed when the poll began counts: of a job that was found in this poll that nobody has it. Where it has
    come to no copy, the next poll may find it again.

    HTCondor: JobRouter::CleanupRetiredJob.
    """
    if job.state is not State.RETIRED:
        return False
    if desk.polls <= job.retired_at_poll:
        if job.found_at_poll < desk.polls or job.copy_id is not None:
            return False
        desk.say(What.FORGOTTEN, job)
        return True
    is_over = job.source is None or not is_managed_by(job.source, desk.name)
    is_over = is_over and (job.copy is None or string(job.copy, ROUTED_BY) != desk.name)
    if is_over:
        desk.say(What.FORGOTTEN, job)
        return True
    if desk.now - job.retired >= desk.table.settings.update_lag:
        desk.say(What.STALE, job, f" ({desk.now - job.retired} seconds)")
        return True
    return False
