"""Claim a source and follow its copy; pass the changes of each to the other.

The rules are those of HTCondor 25.14's job router (``JobRouter::CheckSubmittedJobStatus``).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from crondor.classad import UNDEFINED, Context, Expression, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Severity
from crondor.event_log import EventType
from crondor.hooks.kinds import HookConsequence, HookType
from crondor.job.attributes import JobStatus, exact_boolean, exact_integer, expression, string
from crondor.job.policy import Act, QueuedJob, has_periodic, periodic
from crondor.router.applying import RoutedAd, apply_route, one_run
from crondor.router.daemon import runs
from crondor.router.daemon.context import (
    SURE,
    UNDONE,
    WAITING,
    Delivery,
    RouterContext,
    ask,
    change_in_place,
    claim,
    claim_steps,
    live,
    moved_release,
    tell,
    update_copy,
)
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.routed_job import (
    EXTERNAL,
    HOLD_COPIED,
    ROUTED_TO,
    RUNNING,
    RoutedJob,
    RoutedState,
    domain_of,
    is_managed_by,
    is_unfinished,
    status,
    submitted,
    waits_for_input,
    working,
)
from crondor.router.table.route import Route
from crondor.schedd.protocol import edited


# HTCondor: JobRouter::TakeOverJob, JobRouter::SubmitJob, JobRouter::FinishSubmitJob.
def clean_up(
    context: RouterContext,
    job: RoutedJob,
    what: RouterEvent | None = None,
    text: str = "",
    *,
    interrupted: bool = False,
) -> None:
    """Move a job to its cleanup, and log why."""
    if what is not None:
        context.say(what, job, text)
    job.is_interrupted = job.is_interrupted or interrupted
    job.state = RoutedState.CLEANUP
    if job.hook is not None:
        job.hook.cancel()
        job.hook = None


_TOGETHER: Final = 100  # jobs claimed at a time


def claim_together(context: RouterContext, jobs: Iterable[RoutedJob]) -> None:
    """Claim several jobs at a time if the schedd can; ``take_over`` claims the others singly.

    A crash leaves claimed jobs without a copy, which the next router gives back.
    """
    wanted = [job for job in jobs if not job.is_in_place and (not job.is_sandboxed or context.options.delivery)]
    for start in range(0, len(wanted), _TOGETHER):
        first = wanted[start]
        chunk = [job.id for job in wanted[start : start + _TOGETHER]]
        try:
            for condition, attribute, value, proof in claim_steps(context.name):
                chunk = context.source.edit_each(chunk, condition, attribute, value, proof) if chunk else []
        except CrondorError as error:
            if context.source.is_left_alone:  # take_over meets any other error again, and logs it
                context.tried += 1
                context.failed(RouterEvent.NOT_CLAIMED, first, error)
            return
        context.claimed_ahead.update(chunk)


def take_over(context: RouterContext, job: RoutedJob) -> None:
    """Claim an idle job that no router manages, unless it is edited in place. HTCondor: JobRouter::TakeOverJob."""
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
        if job.id in context.claimed_ahead:
            context.claimed_ahead.discard(job.id)
        elif not context.edit(claim(job.id, context.name)):
            context.hindered(RouterEvent.NOT_CLAIMED, job, _busy(live(context.source, job.id), job))
            clean_up(context, job)
            return
    except CrondorError as error:
        context.failed(RouterEvent.NOT_CLAIMED, job, error)
        job.is_claimed = not isinstance(error, UNDONE)
        _refused(context, job, interrupted=True)
        return
    job.source = edited(job.source, {"Managed": EXTERNAL, "ManagedManager": context.name})
    job.is_claimed = True
    job.state = RoutedState.CLAIMED
    context.claimed += 1
    context.say(RouterEvent.CLAIMED, job)


def _refused(context: RouterContext, job: RoutedJob, *, interrupted: bool) -> None:
    """Clean up a job that a schedd refused; it is retried, later each time.

    This is not a failure of the route if the sources' schedd refuses the job, or the copies' schedd refuses every job.
    HTCondor's router counts it as a failure.
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
    """End a job whose source is no longer idle, before it has a copy."""
    if job.source is None:
        clean_up(context, job, RouterEvent.SOURCE_GONE, interrupted=True)
    elif status(job.source) is JobStatus.REMOVED:
        clean_up(context, job, RouterEvent.SOURCE_REMOVED, interrupted=True)
        context.tell(EventType.JOB_ABORTED, job)
    else:
        clean_up(context, job, RouterEvent.SOURCE_HELD, interrupted=True)


def _copy(context: RouterContext, job: RoutedJob, route: Route, translated: ClassAd | None) -> ClassAd | None:
    """Return the ad to submit; None if the job was sent to cleanup."""
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
    """Find out whether a schedd that did not answer accepted the copy."""
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
        change.name: UNDEFINED if change.after is None else Expression(change.after) for change in routed.in_place or ()
    }
    try:
        done = not edits or context.edit(change_in_place(job.id, edits))
    except CrondorError as error:
        context.failed(RouterEvent.NOT_EDITED, job, error)
        _refused(context, job, interrupted=True)
        return
    if not done:
        clean_up(context, job, RouterEvent.NOT_EDITED, f" {_busy(live(context.source, job.id), job)}")
        return
    job.source = edited(source, edits)
    job.is_success = job.is_done = True
    context.routed += 1
    clean_up(context, job, RouterEvent.EDITED)


def _routed(
    context: RouterContext, job: RoutedJob, route: Route, source: ClassAd, translated: ClassAd | None
) -> RoutedAd | None:
    """Return the job with the route applied; None if that failed and the job was sent to cleanup."""
    facts = context.facts
    delivery = context.options.delivery
    tokens = {} if delivery is None else delivery.tokens()
    routed = apply_route(context.table, route, source, facts=facts, translated=translated, id_tokens=tokens)
    if not routed.failed:
        return routed
    errors = [each.message for each in routed.diagnostics if each.severity is Severity.ERROR]
    clean_up(context, job, RouterEvent.NOT_TRANSFORMED, f": {'; '.join(errors)}")
    return None


MIRRORED: Final = (
    "BytesSent", "BytesRecvd", "CompletionDate", "JobRunCount", "JobStartDate", "ExitBySignal", "ExitSignal",
    "ExitCode", "ExitReason", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "JobLastStartDate", "ShadowBday",
    "RemoteSysCpu", "RemoteUserCpu", "NumCkpts", "NumJobStarts", "NumJobReconnects", "NumShadowExceptions",
    "NumShadowStarts", "NumJobMatches", "NumRestarts", "RemoteWallClockTime", "LastRemoteWallClockTime",
    "JobCoreDumped", "ImageSize", "MemoryUsage", "ResidentSetSize", "ProportionalSetSizeKb", "DiskUsage",
    "ScratchDirFileCount", "SpooledOutputFiles", "CpusUsage", "CpusProvisioned", "DiskProvisioned",
    "MemoryProvisioned",
)  # fmt: skip
"""Attributes copied to the source if the copy has them and they differ; none is ever deleted from the source."""

_MIRRORED: Final = tuple((name.lower(), name) for name in MIRRORED)


@dataclass
class Mirrored:
    """Edits for the source, and events for its user log; without ``edits`` the source is up to date."""

    edits: dict[str, object] = field(default_factory=dict)
    events: list[EventType] = field(default_factory=list)


def mirrored(
    source: ClassAd, copy: ClassAd, now: int, *, names: Iterable[str] = (), patterns: Sequence[str] = ("Chirp*",)
) -> Mirrored | None:
    """Return the part of a copy's state that its source does not show at ``now`` (epoch seconds).

    ``names`` are attributes to copy in addition to MIRRORED, ``patterns`` those of CHIRP_DELAYED_UPDATE_PREFIX. Returns
    None if either job has no JobStatus.
    """
    before, after = status(source), status(copy)
    if before is None or after is None:
        return None
    found = Mirrored()
    if before is not JobStatus.HELD and exact_boolean(source, HOLD_COPIED):
        found.edits[HOLD_COPIED] = False
    if before is not after:
        _status(source, copy, after, now, found)
    mine, theirs = source.codes, copy.codes
    for low, name in (*_MIRRORED, *((lower(name), name) for name in names), *_like(copy, tuple(patterns))):
        code = theirs.get(low)
        if code is None or (code.__class__ is str and code == mine.get(low)):
            continue
        shown = None if _is_same(source, copy, name) else expression(copy, name)
        if shown is not None:
            found.edits[name] = shown
    return found


def _status(source: ClassAd, copy: ClassAd, after: JobStatus, now: int, found: Mirrored) -> None:
    before = status(source)
    if after is JobStatus.REMOVED or before in (JobStatus.REMOVED, JobStatus.COMPLETED):
        return
    if after is JobStatus.HELD:
        if before is not JobStatus.HELD:
            found.edits |= dict(_hold(source, copy, now))
    elif after is JobStatus.IDLE or after in RUNNING:
        shown = JobStatus.IDLE if after is JobStatus.IDLE else JobStatus.RUNNING
        if before is shown or (before is JobStatus.HELD and not exact_boolean(source, HOLD_COPIED)):
            return
        found.edits |= {"JobStatus": int(shown), "EnteredCurrentStatus": now}
        if exact_boolean(source, HOLD_COPIED):
            found.edits[HOLD_COPIED] = False
        if shown is JobStatus.IDLE and before in RUNNING:
            found.events.append(EventType.JOB_EVICTED)
        elif shown is JobStatus.RUNNING and before is JobStatus.IDLE:
            found.events.append(EventType.EXECUTE)
    else:
        found.edits["JobStatus"] = int(after)


def _hold(source: ClassAd, copy: ClassAd, now: int) -> Iterator[tuple[str, object]]:
    """Yield the edits that the copy's hold makes to the source; JobStatus comes last.

    Without a reason, as after an edit of JobStatus alone, the reason is empty and the subcode 0.
    """
    reason = string(copy, "HoldReason")
    yield "HoldReason", reason or ""
    yield "HoldReasonCode", exact_integer(copy, "HoldReasonCode") or 0
    yield "HoldReasonSubCode", 0 if reason is None else exact_integer(copy, "HoldReasonSubCode") or 0
    yield from moved_release(source)
    yield "NumSystemHolds", (exact_integer(source, "NumSystemHolds") or 0) + 1
    yield "EnteredCurrentStatus", now
    yield HOLD_COPIED, True
    yield "JobStatus", int(JobStatus.HELD)


def _like(copy: ClassAd, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    wanted = _wanted(patterns)
    return [(low, name) for low, name in copy.names.items() if wanted(low)] if wanted is not None else []


@lru_cache(maxsize=64)
def _wanted(patterns: tuple[str, ...]) -> Callable[[str], object] | None:
    """Return a function that matches a name in lower case against the patterns; None without patterns."""
    if not patterns:
        return None
    return re.compile("|".join(fnmatch.translate(lower(pattern)) for pattern in patterns)).match


def _is_same(source: ClassAd, copy: ClassAd, name: str) -> bool:
    if name not in source:
        return False
    if source.text(name) == copy.text(name):
        return True
    try:
        return source[name] == copy[name]
    except CrondorError:
        return False


_UNWRITTEN: Final = frozenset(("clusterid", "procid", "mytype", "targettype"))
_OVER: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)


def check_status(context: RouterContext, job: RoutedJob) -> None:
    """Compare source and copy, and update the source."""
    if job.state is not RoutedState.SUBMITTED or not _update_copy(context, job) or not _is_source_ours(context, job):
        return
    if job.copy is None:
        age = context.now - job.since
        if (job.was_seen or age > 0) and _is_gone(context, job):
            clean_up(context, job, RouterEvent.COPY_REMOVED)
        elif job.was_seen:
            return  # its log is late, or its schedd does not answer
        elif age > context.table.settings.update_lag:
            clean_up(context, job, RouterEvent.LAG, f" (submitted {age} seconds ago).  Perhaps it has been removed?")
        else:
            context.say(RouterEvent.NOT_YET, job, f" (submitted {age} seconds ago)")
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
    """Resume spooling for a copy whose router ended before its input was spooled."""
    try:
        delivery.spool(job)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_SUBMITTED, job, error)
        clean_up(context, job)


def _update_copy(context: RouterContext, job: RoutedJob) -> bool:
    """Call UPDATE_JOB_INFO once the copy was seen; False: the status is not checked now."""
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
        if not context.edit(update_copy(job.copy_id, context.name, edits), copy=True):
            clean_up(context, job, RouterEvent.COPY_NOT_UPDATED)
            return False
    except CrondorError as error:
        context.failed(RouterEvent.COPY_NOT_UPDATED, job, error)
        clean_up(context, job)
        return False
    job.see_copy(edited(job.copy, edits))
    context.say(RouterEvent.COPY_UPDATED, job)
    return True


def _is_source_ours(context: RouterContext, job: RoutedJob) -> bool:
    """Return whether the router still manages the source, which is not removed or held; clean up the job if not."""
    if job.source is None:
        try:
            job.source = live(context.source, job.id)  # the followed log may be late, or just rewritten
        except CrondorError:
            return False
    if job.source is None:
        clean_up(context, job, RouterEvent.SOURCE_GONE, interrupted=True)
    elif status(job.source) is None:
        clean_up(context, job, RouterEvent.NO_STATUS, interrupted=True)
    elif status(job.source) is JobStatus.REMOVED:
        clean_up(context, job, RouterEvent.SOURCE_REMOVED, interrupted=True)
        context.tell(EventType.JOB_ABORTED, job)
    elif not _is_managed(context, job, job.source):
        return False
    elif status(job.source) is JobStatus.HELD and not exact_boolean(job.source, HOLD_COPIED):
        clean_up(context, job, RouterEvent.SOURCE_HELD, interrupted=True)
    return job.state is RoutedState.SUBMITTED


def _is_managed(context: RouterContext, job: RoutedJob, source: ClassAd) -> bool:
    """Return whether the router manages a source; a source with another manager is sent to cleanup."""
    if is_managed_by(source, context.name):
        return True
    try:
        found = context.managed_ad(job.id, source)
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        context.look_again(job.id)
        return False
    if found is None:
        clean_up(context, job, RouterEvent.SOURCE_TAKEN, interrupted=True)
        return False
    job.source = found
    return True


def _is_gone(context: RouterContext, job: RoutedJob) -> bool:
    """Return whether a copy has left its queue, perhaps before it was seen, as at a site that removes it at once.

    HTCondor's router consults only its mirror of the queue, and waits MAX_JOB_MIRROR_UPDATE_LAG for an unseen copy.
    """
    try:
        return job.copy_id is not None and live(context.destination, job.copy_id) is None
    except CrondorError:
        return False


def _tell_source(context: RouterContext, job: RoutedJob) -> bool:
    """Write the copy's state into the source; False: not now, or never. HTCondor: JobRouter::UpdateRoutedJobStatus."""
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
        if not context.edit(tell(job.id, context.name, seen, edits)):
            context.look_again(job.id)
            return False
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        if isinstance(error, SURE):
            clean_up(context, job)
        context.look_again(job.id)
        return False
    job.source = edited(source, edits)
    job.has_run = status(job.source) in RUNNING
    job.owed = {}
    context.say(RouterEvent.UPDATED, job)
    for kind in found.events:
        context.tell(kind, job)
    return True


def apply_policy(context: RouterContext, job: RoutedJob) -> None:
    """Apply a source's policy; the next check ends the route.

    A schedd leaves the policy of a managed job to its manager. HTCondor's router writes no event for a removal.

    HTCondor: JobRouter::EvalSrcJobPeriodicExpr.
    """
    seen = status(job.source)
    if not job.is_claimed or job.state is RoutedState.RETIRED or job.source is None or seen is None:
        return
    edits = _ruled(job.source, seen, context.now, context.context)
    if not edits:
        return
    try:
        if not context.edit(tell(job.id, context.name, seen, edits)):
            context.look_again(job.id)
            return
    except CrondorError as error:
        context.failed(RouterEvent.NOT_UPDATED, job, error)
        context.look_again(job.id)
        return
    job.source = edited(job.source, edits)
    job.has_run = False
    is_held = edits["JobStatus"] == JobStatus.HELD
    context.say(RouterEvent.POLICY_HELD if is_held else RouterEvent.POLICY_REMOVED, job)
    if is_held:
        context.tell(EventType.JOB_HELD, job)


def _ruled(source: ClassAd, seen: JobStatus, now: int, context: Context) -> dict[str, object]:
    """Return the edits that a source's policy makes at ``now`` (epoch seconds); empty if it asks for none.

    Nothing is released here: a job held by its own policy is given back to the schedd. Vacating is left to the copy,
    which has the same expression. A source that shows its copy's hold may be removed.
    """
    if seen in _OVER or not has_periodic(source):
        return {}
    found = periodic(source, int(seen), now, context, "ShadowBday")  # the source shows the copy's value
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
        **dict(moved_release(source)),
        "NumSystemHolds": (exact_integer(source, "NumSystemHolds") or 0) + 1,
        "EnteredCurrentStatus": now,
    }
    if exact_boolean(source, HOLD_COPIED):  # from an earlier hold, since released
        edits[HOLD_COPIED] = False
    return {**edits, "JobStatus": int(JobStatus.HELD)}
