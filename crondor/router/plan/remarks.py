"""What a plan reports about a job on a route, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.job.attributes import int32, string
from crondor.job.policy import always_leaves
from crondor.router.applying import RoutedAd
from crondor.router.plan.copy_schedule import (
    CRON,
    DEFERRAL,
    CopySchedule,
    Manner,
    PlannedJob,
    asks,
    grid_type,
    has_cron,
    is_matched,
    manner_of,
    without_clause,
)
from crondor.router.table.route import GRID
from crondor.transform import Transform, TransformFacts
from crondor.transform.expressions import universe_name

DELETE_CRON: Final = f"DELETE /^({'|'.join(CRON)})$/"
DELETE_DEFERRAL: Final = f"DELETE /^({'|'.join(DEFERRAL)})$/"
REMOTE: Final = tuple(f"Remote_{name}" for name in (*CRON, *DEFERRAL))
DELETE_REMOTE: Final = f"DELETE /^Remote_({'|'.join((*CRON, *DEFERRAL))})$/"


class Cure(NamedTuple):
    """Lines of the transform language for the end of a route, or for a transform after all routes.

    ``ad`` is the copy with the lines applied, ``manner`` its behaviour; ``text`` is empty if nothing is needed.
    """

    text: str
    ad: ClassAd
    manner: Manner


def cure(routed: RoutedAd, taken: int, zone: tzinfo, facts: TransformFacts) -> Cure:
    """Return the lines with which a copy runs once and schedules nothing, tested by applying them.

    A copy that has a time to wait for keeps that. Otherwise nothing of a schedule remains, and its clause is removed
    from Requirements; that line is specific to this job, and unnecessary if the route sets Requirements itself. Raises
    ValueError for a job that was not routed.
    """
    if routed.ad is None:
        raise ValueError("only a routed copy can be cured, and this job has none")
    ad = routed.ad
    lines = [DELETE_CRON] if has_cron(ad) else []
    if grid_type(ad) == "condor" and any(name in ad for name in REMOTE):
        lines.append(DELETE_REMOTE)
    keeps_time = "DeferralTime" in ad and manner_of(_applied(lines, ad, facts), taken, zone).conduct.waits
    if not keeps_time:
        lines += [DELETE_DEFERRAL] if any(name in ad for name in DEFERRAL) else []
        if is_matched(ad) and any(asks(ad, name) for name in DEFERRAL):
            lines.append(f"SET Requirements {_unexpanded(without_clause(ad))}")
    if not always_leaves(ad):
        lines.append("SET OnExitRemove true")
    made = _applied(lines, ad, facts)
    return Cure("\n".join(lines), made, manner_of(made, taken, zone))


def is_cured(found: Cure) -> bool:
    """Return whether a copy with the lines runs, and once."""
    return found.manner.conduct is CopySchedule.AT_ONCE or found.manner.conduct.waits


def _unexpanded(text: str) -> str:
    """Return a text quoted against macro expansion; $$(x) is not a macro."""
    return re.sub(r"(?<!\$)\$\(", "$(DOLLAR)(", text)


def _applied(lines: list[str], ad: ClassAd, facts: TransformFacts) -> ClassAd:
    if not lines:
        return ad
    return Transform.parse("\n".join(lines), name="cure").apply(ad, facts).ad


_WITH_PROXY: Final = frozenset(("arc", "nordugrid", "cream", "unicore", "gt2", "gt4", "gt5"))
"""Grid types that identify a user by an X.509 proxy; of these HTCondor 25 has arc, which accepts a token too."""

_OPEN_GATE: Final = "DeferralTime is undefined || time() + ScheddInterval >= DeferralTime - DeferralPrepTime"
_QDATE: Final = re.compile(r"\b(?:qdate|time|currenttime|enteredcurrentstatus)\b", re.IGNORECASE).search


class TakenJob(NamedTuple):
    """A job taken by a route: when (epoch seconds), the routed ad, and the behaviour of its copy.

    ``opens`` is when the job's gate opens, ``starts`` and ``time`` when its copy starts and when it should. ``stays``:
    the copy returns to its queue after its run. ``is_last``: the job leaves with it, though it has more runs.
    """

    job: PlannedJob
    routed: RoutedAd
    manner: Manner
    taken: int
    opens: int
    time: int
    starts: int | None
    stays: bool
    is_last: bool
    at_gate: bool
    facts: TransformFacts
    zone: tzinfo


def remarks(taking: TakenJob) -> Iterator[Diagnostic]:
    """Yield the findings."""
    if taking.routed.ad is None:
        return
    yield from _when(taking)
    yield from _copy(taking)
    yield from _life(taking)
    yield from _shifted(taking)
    if int32(taking.routed.ad, "JobUniverse") == GRID:
        yield from _prerequisites(taking, taking.routed.ad)


def _when(taking: TakenJob) -> Iterator[Diagnostic]:
    """Yield a finding that the daemon does not wait for the gate."""
    if taking.at_gate or taking.taken >= taking.opens:
        return
    period = "at its next poll"
    message = f"{_route(taking)} takes the job {period} after it is idle, not when its gate opens"
    if taking.job.schedule is not None and taking.job.schedule.spec is not None:
        clause = " && ".join(f"{name} is undefined" for name in CRON if name in taking.job.ad)
        help_text = (
            "a job router of HTCondor cannot wait for a crontab job: the DeferralTime of its runs is not in"
            f" job_queue.log; exclude such jobs from the route with REQUIREMENTS ... && {clause}; --at-gate shows a"
            " router that waits, such as crondor route run --wait-for-gates"
        )
    else:
        help_text = f"let the route wait: REQUIREMENTS ... && ({_OPEN_GATE})"
    yield _warning("plan-taken-at-once", message, taking.job.place(*CRON, "DeferralTime"), help_text)


def _copy(taking: TakenJob) -> Iterator[Diagnostic]:
    manner, conduct = taking.manner, taking.manner.conduct
    place = taking.job.place(*CRON, "DeferralTime")
    route = _route(taking)
    if conduct.repeats:
        kept = ", ".join(name for name in CRON if name in manner.ad)
        where = (
            "the schedd that HTCondor-C submits it to"
            if conduct is CopySchedule.SCHEDULES_ITSELF_THERE
            else "its schedd"
        )
        message = f"{route}: the copy keeps {kept}, and {where} schedules it again"
        found = Diagnostic("plan-schedules-itself", message, Severity.WARNING, place)
        yield _cured(taking, found, "keep this if the copy is to do all runs; for a copy that runs once, ")
    elif conduct is CopySchedule.AT_ONCE:
        universe = int32(manner.ad, "JobUniverse")
        name = "copy's" if universe is None else universe_name(universe).lower()
        message = (
            f"{route}: nothing waits for the job's time in the {name} universe, the copy starts when the site takes it"
        )
        if universe != GRID:
            message = f"{route}: the copy has no schedule and starts when it is matched"
        help_text = "route jobs whose time matters to a pool (UNIVERSE VANILLA), or keep them in the local pool"
        if universe != GRID:
            help_text = (
                "keep the Cron attributes in the copy, so that its schedd has the schedule, or keep the job in its pool"
            )
        yield _warning("plan-not-deferred", message, place, help_text)
    elif conduct is CopySchedule.NEVER_MATCHES:
        message = f"{route}: the copy's Requirements need a time that the copy does not have: it stays idle"
        yield _cured(taking, Diagnostic("plan-never-matches", message, Severity.ERROR, place))
    elif conduct is CopySchedule.NEVER_RUNS:
        universe = int32(manner.ad, "JobUniverse")
        why = "its DeferralTime or DeferralWindow has no value that a starter accepts"
        if universe == 7:
            why = "nothing in the scheduler universe waits for a time"
        yield _cured(
            taking, Diagnostic("plan-never-runs", f"{route}: the copy never runs, {why}", Severity.ERROR, place)
        )
    elif conduct is CopySchedule.TOO_LATE:
        message = f"{route}: the copy arrives after its DeferralTime and window, and never runs"
        yield _cured(taking, Diagnostic("plan-too-late", message, Severity.ERROR, place))


def _life(taking: TakenJob) -> Iterator[Diagnostic]:
    """Yield what the end of a run means for the copy, the route and the job."""
    conduct, route = taking.manner.conduct, _route(taking)
    place = taking.job.command_place("on_exit_remove", "onexitremove")
    if taking.stays and conduct is CopySchedule.AT_ONCE:
        message = f"{route}: on_exit_remove keeps the copy, which then starts again and again"
        yield _cured(taking, Diagnostic("plan-no-end", message, Severity.ERROR, place))
    elif taking.stays and conduct.waits:
        message = f"{route}: on_exit_remove keeps the copy after its time: it stays idle"
        yield _cured(taking, Diagnostic("plan-no-end", message, Severity.ERROR, place))
    elif taking.stays and conduct.repeats:
        message = f"{route}: the copy does all runs itself, occupies its place on the route, and is idle between runs"
        help_text = "allow for it: such copies count towards MaxJobs and MaxIdleJobs of the route"
        yield _warning("plan-holds-place", message, place, help_text)
    elif taking.is_last:
        message = f"{route}: the job completes with its copy, despite its on_exit_remove: no run follows"
        help_text = (
            "submit it again for each run, keep it in the local pool, or use a router that routes each run (--at-gate)"
        )
        yield _warning("plan-last-run", message, place, help_text)


def _shifted(taking: TakenJob) -> Iterator[Diagnostic]:
    """Yield a finding that the copy's own QDate changes the time of an expression."""
    ad = taking.manner.ad
    if taking.manner.time is None or not taking.manner.conduct.waits or taking.manner.time == taking.time:
        return
    if not _QDATE(ad.text("DeferralTime")):
        return
    message = (
        f"{_route(taking)}: DeferralTime = {ad.text('DeferralTime')[:80]} is {taking.manner.time - taking.time} s later"
        " in the copy, whose QDate is the time of routing"
    )
    help_text = "write the time itself, or deferral_time = $(SUBMIT_TIME) + 600, which condor_submit evaluates"
    yield _warning("plan-shifted", message, taking.job.place("DeferralTime"), help_text)


def _prerequisites(taking: TakenJob, ad: ClassAd) -> Iterator[Diagnostic]:
    """Yield what a grid job lacks (manual, Job Submission with Job Routing Capability)."""
    job, route, kind = taking.job, _route(taking), grid_type(ad)
    if string(ad, "ShouldTransferFiles") != "YES":
        message = f"{route}: the site cannot see local files, and the job does not ask to transfer them"
        help_text = "write should_transfer_files = YES and when_to_transfer_output = ON_EXIT"
        yield _warning("plan-no-transfer", message, job.command_place("should_transfer_files"), help_text)
    if kind != "condor" and "TransferOutput" not in ad:
        message = f"{route}: only standard output, standard error and files named in transfer_output_files come back"
        help_text = 'write transfer_output_files = a, b; or transfer_output_files = "" if there are none'
        yield _warning("plan-no-output", message, job.here, help_text)
    has_proxy = any(name in ad for name in ("x509userproxy", "ScitokensFile"))
    if kind in _WITH_PROXY and not has_proxy:
        message = f"{route}: a site of grid type {kind} knows its users by a proxy, and the job has none"
        help_text = (
            "write x509userproxy = /tmp/x509up_u275, or let the route add one: UseSharedX509UserProxy = true,"
            ' SharedX509UserProxy = "FILE" and JobShouldBeSandboxed = true'
        )
        yield _warning("plan-no-proxy", message, job.here, help_text)


def waits_for_rejection(job: PlannedJob, texts: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Return a finding if the job or a route requires a rejection first, and there was none."""
    named = (job.ad.text(name) for name in job.ad if name.lower() not in {"requirements", "rank"})
    if "LastRejMatchTime" in job.ad or not any("lastrejmatchtime" in text.lower() for text in (*named, *texts)):
        return
    message = "the job is routed only after the local pool has rejected it (LastRejMatchTime), which has not happened"
    help_text = (
        "--rejected SECONDS plans with a rejection; a schedd offers a waiting job like any other, and the pool"
        " rejects it while its gate is closed: the first negotiation is enough"
    )
    yield Diagnostic("plan-not-rejected", message, Severity.NOTE, job.here, help_text)


def without_runs(job: PlannedJob, now: int) -> Iterator[Diagnostic]:
    """Return why a job has no run ahead."""
    schedule = job.schedule
    if schedule is None or not schedule.is_deferred:
        return
    try:
        run = schedule.next(now)
    except CrondorError as error:
        yield from (each if each.span is None else each.relocated(_onto(job, each)) for each in error.diagnostics)
        return
    if now > run.last_match:
        message = "its time and window are past: the job never matches in the local pool and stays idle"
        help_text = "set a later deferral_time, or a longer deferral_window"
        yield Diagnostic("plan-past", message, span=job.place("DeferralTime"), help=help_text)


def _onto(job: PlannedJob, fault: Diagnostic) -> Span:
    name = "" if fault.span is None else fault.span.source.name
    return job.place(name) or Source("", job.name).span()


def _cured(taking: TakenJob, found: Diagnostic, unless: str = "") -> Diagnostic:
    """Return what to write; the lines themselves are long, and come from ``RoutePlan.cure``."""
    made = cure(taking.routed, taking.taken, taking.zone, taking.facts)
    if not made.text:
        return replace(found, help=f"{unless}take the schedule out of the job")
    lines = made.text.split("\n")
    words = ", ".join(dict.fromkeys(" ".join(line.split()[: 2 if line.startswith("SET") else 1]) for line in lines))
    many = "line" if len(lines) == 1 else f"{len(lines)} lines"
    said = f"put the {many} that --cure prints ({words}) at the end of the route"
    return replace(found, help=f"{unless}{said}: the copy then {made.manner.conduct.value}")


def _route(taking: TakenJob) -> str:
    return f"route {taking.routed.route.name}"


def _warning(code: str, message: str, span: Span | None, help_text: str) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, span, help_text)
