"""The first steps of a routed job: taken over, transformed, submitted.

HTCondor: JobRouter::TakeOverJob, JobRouter::SubmitJob, JobRouter::FinishSubmitJob.
"""

from __future__ import annotations

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Severity
from crondor.event_log import EventType
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import HookConsequence
from crondor.job.attributes import string
from crondor.job.queued import QueuedJob
from crondor.job.status import JobStatus
from crondor.router.apply.applying import RoutedAd, apply_route
from crondor.router.apply.one_run import one_run
from crondor.router.daemon import operations, runs
from crondor.router.daemon.context import UNDONE, RouterContext, written
from crondor.router.daemon.copies import domain_of, submitted, working
from crondor.router.daemon.hook_calls import WAITING, ask
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.reading import EXTERNAL, ROUTED_TO, status
from crondor.router.daemon.routed_job import RoutedJob, RoutedState
from crondor.router.table.route import Route


def clean_up(
    context: RouterContext,
    job: RoutedJob,
    what: RouterEvent | None = None,
    text: str = "",
    *,
    interrupted: bool = False,
) -> None:
    """Send a job to its end, and say why."""
    if what is not None:
        context.say(what, job, text)
    job.is_interrupted = job.is_interrupted or interrupted
    job.state = RoutedState.CLEANUP
    if job.hook is not None:
        job.hook.cancel()
        job.hook = None


def take_over(context: RouterContext, job: RoutedJob) -> None:
    """Claim an idle job that nobody has; one that is edited in place is not claimed.

    HTCondor: JobRouter::TakeOverJob.
    """
    if job.state is not RoutedState.UNCLAIMED or job.source is None:
        return
    if job.is_in_place:
        job.state = RoutedState.CLAIMED
        return
    if job.is_sandboxed and context.options.delivery is None:
        clean_up(context, job, RouterEvent.NO_SANDBOX)
        return
    context.tried += 1
    try:
        if not context.edit(operations.claim(job.id, context.name)):
            context.hindered(RouterEvent.NOT_CLAIMED, job, _busy(operations.live(context.source, job.id), job))
            clean_up(context, job)
            return
    except CrondorError as error:
        context.failed(RouterEvent.NOT_CLAIMED, job, error)
        job.is_claimed = not isinstance(error, UNDONE)
        _refused(context, job, interrupted=True)
        return
    job.source = written(job.source, {"Managed": EXTERNAL, "ManagedManager": context.name})
    job.is_claimed = True
    job.state = RoutedState.CLAIMED
    context.claimed += 1
    context.say(RouterEvent.CLAIMED, job)


def _refused(context: RouterContext, job: RoutedJob, *, interrupted: bool) -> None:
    """Send a job to its end that a schedd did not take; it comes again, later each time.

    It is no failure of the route where the sources' schedd refuses it, or its copies' takes nothing at all. HTCondor's
    router counts it as one.
    """
    context.refused += 1
    context.refusals.add(job.id, context.now, context.table.settings.polling_period)
    clean_up(context, job, interrupted=interrupted)


def _busy(ad: ClassAd | None, job: RoutedJob) -> str:
    if ad is None:
        return f"Job {job.id} is gone"
    found = status(ad)
    if found is not JobStatus.IDLE:
        name = "unknown" if found is None else found.name
        return f"Job {job.id} isn't idle, is {name} ({0 if found is None else int(found)})"
    return f"Job {job.id} is already managed by another process"


def submit(context: RouterContext, job: RoutedJob) -> None:
    """Make the copy and submit it, or edit the job in place (HTCondor: JobRouter::FinishSubmitJob)."""
    if job.state is not RoutedState.CLAIMED:
        return
    if job.is_unsure:
        _look_for_copy(context, job)
        return
    if job.source is None or status(job.source) is not JobStatus.IDLE:
        _lose_source(context, job)
        return
    route = context.table.route(job.route)
    if route is None:
        clean_up(context, job, RouterEvent.ROUTE_GONE)
        return
    answer = ask(context, job, HookType.TRANSLATE_JOB, route)
    if answer is WAITING:
        return
    if answer is not None and answer.action is not HookConsequence.USE_AD:
        clean_up(context, job)
        return
    translated = None if answer is None else answer.ad
    if job.is_in_place:
        _edit_in_place(context, job, route, translated)
    elif (made := _copy(context, job, route, translated)) is not None:
        _send(context, job, made)


def _lose_source(context: RouterContext, job: RoutedJob) -> None:
    """End a job whose source is not idle any more, before there is a copy."""
    if job.source is None:
        clean_up(context, job, RouterEvent.SOURCE_GONE, interrupted=True)
    elif status(job.source) is JobStatus.REMOVED:
        clean_up(context, job, RouterEvent.SOURCE_REMOVED, interrupted=True)
        context.tell(EventType.JOB_ABORTED, job)
    else:
        clean_up(context, job, RouterEvent.SOURCE_HELD, interrupted=True)


def _copy(context: RouterContext, job: RoutedJob, route: Route, translated: ClassAd | None) -> ClassAd | None:
    """Return the ad to submit; None where the job was sent to its end."""
    source = job.source or ClassAd()
    owner = string(source, "Owner")
    if owner is None:
        clean_up(context, job, RouterEvent.NO_OWNER)
        return None
    start = working(source)
    if context.options.waits_for_gates and QueuedJob(source).is_crontab:
        start = one_run(start, runs.upcoming(source, context.now, context.options.zone))
    routed = _routed(context, job, route, start, translated)
    if routed is None or routed.ad is None:
        return None
    domain = context.options.domain or domain_of(source)
    made = submitted(
        routed.ad, job.id, route.name, context.name, owner, context.now, domain=domain, is_sandboxed=job.is_sandboxed
    )
    if context.options.delivery is None:
        return made
    try:
        return context.options.delivery.prepare(job, routed, made)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_SUBMITTED, job, error)
        clean_up(context, job)
        return None


def _send(context: RouterContext, job: RoutedJob, copy: ClassAd) -> None:
    job.since = context.now
    try:
        (job.copy_id,) = context.destination.submit([copy])
    except UNDONE as error:
        context.failed(RouterEvent.NOT_SUBMITTED, job, error)
        _refused(context, job, interrupted=context.is_hindered)
        return
    except CrondorError as error:
        context.failed(RouterEvent.UNSURE, job, error)
        context.refused += 1
        job.is_unsure = True
        return
    if job.is_sandboxed and context.options.delivery is not None:
        try:
            context.options.delivery.spool(job)
        except CrondorError as error:
            context.failed(RouterEvent.NOT_SUBMITTED, job, error)
            clean_up(context, job)
            return
    _is_submitted(context, job)


def _is_submitted(context: RouterContext, job: RoutedJob) -> None:
    job.state = RoutedState.SUBMITTED
    context.routed += 1
    job.owed[ROUTED_TO] = str(job.copy_id)
    context.say(RouterEvent.SUBMITTED, job)


def _look_for_copy(context: RouterContext, job: RoutedJob) -> None:
    """Find out whether a schedd that did not answer has taken the copy."""
    for copy_id, ad in context.copies.of(job.id).items():
        job.copy_id, job.is_unsure = copy_id, False
        job.see_copy(ad)
        _is_submitted(context, job)
        return
    if context.now - job.since > context.table.settings.update_lag:
        clean_up(context, job, RouterEvent.LAG, f" (submitted {context.now - job.since} seconds ago)")


def _edit_in_place(context: RouterContext, job: RoutedJob, route: Route, translated: ClassAd | None) -> None:
    source = job.source or ClassAd()
    routed = _routed(context, job, route, source, translated)
    if routed is None:
        return
    edits = {
        change.name: operations.UNDEFINED if change.after is None else Expression(change.after)
        for change in routed.in_place or ()
    }
    try:
        done = not edits or context.edit(operations.change_in_place(job.id, edits))
    except CrondorError as error:
        context.failed(RouterEvent.NOT_EDITED, job, error)
        _refused(context, job, interrupted=True)
        return
    if not done:
        clean_up(context, job, RouterEvent.NOT_EDITED, f" {_busy(operations.live(context.source, job.id), job)}")
        return
    job.source = written(source, edits)
    job.is_success = job.is_done = True
    context.routed += 1
    clean_up(context, job, RouterEvent.EDITED)


def _routed(
    context: RouterContext, job: RoutedJob, route: Route, source: ClassAd, translated: ClassAd | None
) -> RoutedAd | None:
    """Return what the route makes of a job; None where it failed and the job was sent to its end."""
    facts = context.facts
    delivery = context.options.delivery
    tokens = {} if delivery is None else delivery.tokens()
    routed = apply_route(context.table, route, source, facts=facts, translated=translated, id_tokens=tokens)
    if not routed.failed:
        return routed
    errors = [each.message for each in routed.diagnostics if each.severity is Severity.ERROR]
    clean_up(context, job, RouterEvent.NOT_TRANSFORMED, f": {'; '.join(errors)}")
    return None
