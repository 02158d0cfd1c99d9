"""While the copy is in the queue: what becomes of either is found, and told to the other.

The rules are those of HTCondor 25.14's job router (``JobRouter::CheckSubmittedJobStatus``).
"""

from __future__ import annotations

from typing import Final

from crondor.classad import Context, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import HookConsequence
from crondor.job.attributes import exact_boolean, exact_integer, string
from crondor.job.policy import Act, has_periodic, periodic
from crondor.job.status import JobStatus
from crondor.router.daemon import operations
from crondor.router.daemon.claim import clean_up
from crondor.router.daemon.context import SURE, Delivery, RouterContext, written
from crondor.router.daemon.copies import is_unfinished, waits_for_input
from crondor.router.daemon.hook_calls import WAITING, ask
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.mirror import mirrored
from crondor.router.daemon.reading import HOLD_COPIED, RUNNING, is_managed_by, status
from crondor.router.daemon.routed_job import RoutedJob, RoutedState

_UNWRITTEN: Final = frozenset(("clusterid", "procid", "mytype", "targettype"))
_OVER: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


def check_status(context: RouterContext, job: RoutedJob) -> None:
    """See how source and copy stand, and tell the source."""
    if job.state is not RoutedState.SUBMITTED or not _update_copy(context, job) or not _is_source_ours(context, job):
        return
    if job.copy is None:
        _miss_copy(context, job)
        return
    job.was_seen, job.is_running = True, status(job.copy) in RUNNING
    if is_unfinished(job.copy):
        clean_up(context, job, RouterEvent.NOT_WHOLE, interrupted=True)
        return
    if waits_for_input(job.copy) and job.is_sandboxed and context.options.delivery is not None:
        _spool(context, job, context.options.delivery)
        return
    if _tell_source(context, job):
        finished = exact_integer(job.copy, "JobFinishedHookDone") or 0
        if status(job.copy) is JobStatus.COMPLETED and finished and status(job.source) is JobStatus.COMPLETED:
            context.say(RouterEvent.FINISHED, job)
            job.state = RoutedState.FINISHED
        else:
            job.settled = (job.source, job.copy, context.table)


def _spool(context: RouterContext, job: RoutedJob, delivery: Delivery) -> None:
    """Go on with the input of a copy whose router ended before it was spooled."""
    try:
        delivery.spool(job)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_SUBMITTED, job, error)
        clean_up(context, job)


def _update_copy(context: RouterContext, job: RoutedJob) -> bool:
    """Have UPDATE_JOB_INFO asked once the copy was seen; False: the status is not looked at now."""
    answer = ask(context, job, HookType.UPDATE_JOB_INFO) if job.was_seen else None
    if answer is None:
        return True
    if answer is WAITING or answer.action is HookConsequence.SKIP_POLL:
        return False
    if answer.action is HookConsequence.CLEAN_UP:
        clean_up(context, job, RouterEvent.COPY_NOT_UPDATED)
        return False
    return _write_copy(context, job, answer.ad)


def _write_copy(context: RouterContext, job: RoutedJob, ad: ClassAd) -> bool:
    edits = {name: ad[name] for name in ad if lower(name) not in _UNWRITTEN}
    if not edits or job.copy_id is None or job.copy is None:
        return True
    try:
        if not context.edit(operations.update_copy(job.copy_id, context.name, edits), copy=True):
            clean_up(context, job, RouterEvent.COPY_NOT_UPDATED)
            return False
    except CrondorError as error:
        context.failed(RouterEvent.COPY_NOT_UPDATED, job, error)
        clean_up(context, job)
        return False
    job.see_copy(written(job.copy, edits))
    context.say(RouterEvent.COPY_UPDATED, job)
    return True


def _is_source_ours(context: RouterContext, job: RoutedJob) -> bool:
    """Send the job to its end where the source is gone, removed, held by somebody, or no longer the router's."""
    if job.source is None:
        clean_up(context, job, RouterEvent.SOURCE_GONE, interrupted=True)
    elif status(job.source) is None:
        clean_up(context, job, RouterEvent.NO_STATUS, interrupted=True)
    elif status(job.source) is JobStatus.REMOVED:
        clean_up(context, job, RouterEvent.SOURCE_REMOVED, interrupted=True)
        context.tell(EventType.JOB_ABORTED, job)
    elif not _is_kept(context, job, job.source):
        return False
    elif status(job.source) is JobStatus.HELD and not exact_boolean(job.source, HOLD_COPIED):
        clean_up(context, job, RouterEvent.SOURCE_HELD, interrupted=True)
    return job.state is RoutedState.SUBMITTED


def _is_kept(context: RouterContext, job: RoutedJob, source: ClassAd) -> bool:
    """Say whether a source is the router's; one that has somebody else's name is sent to its end."""
    if is_managed_by(source, context.name):
        return True
    try:
        found = context.kept(job.id, source)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        context.look_again(job.id)
        return False
    if found is None:
        clean_up(context, job, RouterEvent.SOURCE_TAKEN, interrupted=True)
        return False
    job.source = found
    return True


def _miss_copy(context: RouterContext, job: RoutedJob) -> None:
    age = context.now - job.since
    if job.was_seen or (age > 0 and _is_gone(context, job)):
        clean_up(context, job, RouterEvent.COPY_REMOVED)
    elif age > context.table.settings.update_lag:
        clean_up(context, job, RouterEvent.LAG, f" (submitted {age} seconds ago).  Perhaps it has been removed?")
    else:
        context.say(RouterEvent.NOT_YET, job, f" (submitted {age} seconds ago)")


def _is_gone(context: RouterContext, job: RoutedJob) -> bool:
    """Say whether a copy that was never seen has left its queue already, as at a site that removes what it gets.

    HTCondor's router asks its mirror of the queue only, and waits MAX_JOB_MIRROR_UPDATE_LAG for such a copy.
    """
    try:
        return job.copy_id is not None and operations.live(context.destination, job.copy_id) is None
    except CrondorError:
        return False


def _tell_source(context: RouterContext, job: RoutedJob) -> bool:
    """Write what the copy shows into the source; False: not now, or never.

    HTCondor: JobRouter::UpdateRoutedJobStatus.
    """
    source, copy, settings = job.source, job.copy, context.table.settings
    seen = status(source)
    if source is None or copy is None or seen is None:
        return False
    job.has_run = seen in RUNNING
    names = settings.copied_for(string(source, "HookKeyword"))
    found = mirrored(source, copy, context.now, names=names, patterns=settings.delayed_update_prefix)
    if found is None:
        clean_up(context, job, RouterEvent.NOT_UPDATED, ": cannot evaluate JobStatus in target job")
        return False
    edits = {**job.owed, **found.edits}
    if not edits:
        return True
    try:
        if not context.edit(operations.tell(job.id, context.name, seen, edits)):
            context.look_again(job.id)
            return False
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        if isinstance(error, SURE):
            clean_up(context, job)
        context.look_again(job.id)
        return False
    job.source = written(source, edits)
    job.has_run = status(job.source) in RUNNING
    job.owed = {}
    context.say(RouterEvent.UPDATED, job)
    for kind in found.events:
        context.tell(kind, job)
    return True


def apply_policy(context: RouterContext, job: RoutedJob) -> None:
    """Do to a source what its policy asks for; the next check takes the route down.

    Its schedd leaves that to whoever manages it. HTCondor's router writes no event for a removal.

    HTCondor: JobRouter::EvalSrcJobPeriodicExpr.
    """
    seen = status(job.source)
    if not job.is_claimed or job.state is RoutedState.RETIRED or job.source is None or seen is None:
        return
    edits = _ruled(job.source, seen, context.now, context.context)
    if not edits:
        return
    try:
        if not context.edit(operations.tell(job.id, context.name, seen, edits)):
            context.look_again(job.id)
            return
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        context.look_again(job.id)
        return
    job.source = written(job.source, edits)
    job.has_run = False
    is_held = edits["JobStatus"] == JobStatus.HELD
    context.say(RouterEvent.POLICY_HELD if is_held else RouterEvent.POLICY_REMOVED, job)
    if is_held:
        context.tell(EventType.JOB_HELD, job)


def _ruled(source: ClassAd, seen: JobStatus, now: int, context: Context) -> dict[str, object]:
    """Return what a source's policy writes into it at ``now`` (epoch seconds), nothing where that is to be left alone.

    A release is nobody's business: who is held by his own policy is given back to the schedd. To vacate is the copy's,
    which follows the same expression. A source that shows its copy's hold may be removed.
    """
    if seen in _OVER or not has_periodic(source):
        return {}
    found = periodic(source, int(seen), now, context, "ShadowBday")  # which the copy shows in its source
    if seen is not JobStatus.HELD:
        found = found.held
    if found.act is Act.REMOVE:
        return {"RemoveReason": found.reason, "EnteredCurrentStatus": now, "JobStatus": int(JobStatus.REMOVED)}
    if found.act is not Act.HOLD:
        return {}
    edits: dict[str, object] = {
        "HoldReason": found.reason,
        "HoldReasonCode": found.code,
        "HoldReasonSubCode": found.subcode,
        **dict(operations.moved_release(source)),
        "NumSystemHolds": (exact_integer(source, "NumSystemHolds") or 0) + 1,
        "EnteredCurrentStatus": now,
    }
    if exact_boolean(source, HOLD_COPIED):  # of an earlier hold, which somebody has released
        edits[HOLD_COPIED] = False
    return {**edits, "JobStatus": int(JobStatus.HELD)}
