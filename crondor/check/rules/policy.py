"""CRN4..: what becomes of a job after its run, and of a run that is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from crondor._schedule.leaving import RETRIES, leaves_by, leaving_words
from crondor.check.edit import insertion, joined
from crondor.check.job_policy import never_removed, repeats, stays
from crondor.check.policy_names import PERIODIC, RELEASE, REMOVE
from crondor.check.rule import Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile, CheckedJob
from crondor.deferral import MISSED_REASON
from crondor.diagnostics import Severity
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.job.status import JobStatus
from crondor.schedule import Universe
from crondor.source import Span
from crondor.spec import FIELDS

_WAIT = 7 * 86400  # seconds after which a policy that waits before it releases has done so
_CLAUSE = f"HoldReasonCode == {MISSED_DEFERRED_EXECUTION_TIME}"
_MOST_JOBS = 200  # different ones behind a line that is to be added; with more nobody can see what it changes


@rule("CRN401", "runs-once", Severity.WARNING, "a crontab job that leaves the queue after its first run", misses=True)
def runs_once(job: CheckedJob) -> Iterator[RuleHit]:
    """A job leaves the queue when it exits, unless on_exit_remove says otherwise; cron fields do not change that."""
    found = leaves_by(job.values) if is_crontab(job) else None
    if found in RETRIES:
        message = f"{leaving_words(found)}: the schedule does not repeat it"
        yield RuleHit(message, job.span(found), f"remove {found}, and write on_exit_remove = false")
    if found != "":
        return
    edit = _added(job, "on_exit_remove", "false", REMOVE, is_crontab)
    fix = Fix("keep the job in the queue after a run", (edit,), safe=False) if edit else None
    message = "the job leaves the queue after its first run: the schedule does not repeat it"
    yield RuleHit(message, _cron_span(job), "add on_exit_remove = false; or silence this, if one run is meant", fix)


@rule("CRN402", "never-ends", Severity.NOTE, "a job that nothing ever takes out of the queue", misses=True)
def never_ends(job: CheckedJob) -> Iterator[RuleHit]:
    """With on_exit_remove false for every outcome and no periodic policy, only condor_rm ends the job."""
    if not is_crontab(job) or job.first(*REMOVE) is None or job.first(*PERIODIC) is not None:
        return
    if never_removed(job):
        message = "no outcome of a run takes this job out of the queue: it repeats until condor_rm"
        help_text = "let it end, for example on_exit_remove = (ExitCode == 77), or with periodic_remove"
        yield RuleHit(message, job.span(*REMOVE), help_text)


@rule("CRN403", "held-for-ever", Severity.WARNING, "a repeating job that stays held after a missed run", misses=True)
def held_for_ever(job: CheckedJob) -> Iterator[RuleHit]:
    """A job that reaches its machine too late is held with code 20, and HTCondor releases no job by itself."""
    if not _stays_held(job):
        return
    held = f"held (code {MISSED_DEFERRED_EXECUTION_TIME})"
    message = f"a run that arrives late is {held}, and nothing releases the job for the next one"
    fix = Fix("release the job after a missed run", edits, safe=False) if (edits := _release(job)) else None
    yield RuleHit(message, job.span(*RELEASE, *REMOVE), f"add periodic_release = ({_CLAUSE})", fix)


def _stays_held(job: CheckedJob) -> bool:
    if not is_crontab(job) or not repeats(job):
        return False
    now = job.settings.now
    state = {
        "HoldReasonCode": MISSED_DEFERRED_EXECUTION_TIME,
        "HoldReasonSubCode": 0,
        "HoldReason": MISSED_REASON,
        "QDate": now,
        "EnteredCurrentStatus": now,
        "DeferralTime": now,
        "NumJobStarts": 1,
        "NumHolds": 1,
        "NumSystemHolds": 1,
    }
    return stays(job, JobStatus.HELD, state, [now + wait for wait in (60, 3600, _WAIT)])


@rule("CRN404", "other-clock", Severity.NOTE, "an expression that asks another machine's zone")
def other_clock(job: CheckedJob) -> Iterator[RuleHit]:
    """formatTime, splitTime and localTimeString use the zone of the host that evaluates them, not the submit host's."""
    name = job.first("my.requirements", "requirements")
    if name is None or "time" not in job.values[name].lower():
        return
    from crondor.check.expressions import called  # noqa: PLC0415 - the engine takes 17 ms, and few jobs have one

    if called(job.values[name]) & {"formattime", "splittime", "localtimestring"}:
        message = "the function takes the zone of each host that evaluates requirements, not the submit host's"
        yield RuleHit(message, job.span(name), "see that submit, central and execute machines share a zone")


def is_crontab(job: CheckedJob) -> bool:
    """Say whether the job has cron fields and lives where they work."""
    schedule = job.manual.schedule or job.schedd.schedule
    if schedule is None or schedule.spec is None or not schedule.complete:
        return False
    return schedule.universe not in {Universe.GRID, Universe.SCHEDULER}


def _cron_span(job: CheckedJob) -> Span:
    names = [name for field in FIELDS for name in (field.command, field.attribute.lower())]
    return job.span(*names)


def _release(job: CheckedJob) -> tuple[TextEdit, ...]:
    """Return the edits that add the clause to what releases the job, none where they cannot be made."""
    name = job.first(*RELEASE)
    if name is None:
        edit = _added(job, "periodic_release", f"({_CLAUSE})", RELEASE, _stays_held)
    else:
        edit = joined(job, name, "||", f"({_CLAUSE})")
    return (edit,) if edit else ()


def _added(
    job: CheckedJob, name: str, value: str, spellings: tuple[str, ...], concerns: Callable[[CheckedJob], bool]
) -> TextEdit | None:
    """Return the edit that sets a command, None where a later job that it does not concern would have it as well."""
    queue, jobs = job.group.queue, job.file.jobs
    if queue is not None and (
        len(jobs) > _MOST_JOBS or _last_other(job.file, name, spellings, concerns) >= queue.start
    ):
        return None
    return insertion(job, name, value)


def _last_other(
    file: CheckedFile, name: str, spellings: tuple[str, ...], concerns: Callable[[CheckedJob], bool]
) -> int:
    """Return where the last job is queued that a command would be new to and does not concern, -1 for none."""
    if name not in file.last_others:
        others = (
            job.group.queue.start
            for job in sorted(file.jobs, key=_queued, reverse=True)
            if job.group.queue is not None
            and not any(spelling in job.values for spelling in spellings)
            and not concerns(job)
        )
        file.last_others[name] = next(others, -1)
    return file.last_others[name]


def _queued(job: CheckedJob) -> int:
    return -1 if job.group.queue is None else job.group.queue.start
