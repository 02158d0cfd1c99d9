"""CRN4..: what becomes of a job after its run, and of a run that is missed."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.edit import insertion, replacement
from crondor.check.policy import HELD, PERIODIC, RELEASE, REMOVE, functions, holds, never_removed, repeats
from crondor.check.rule import Edit, Fix, Found, rule
from crondor.check.subject import CheckedJob
from crondor.deferral import MISSED_CODE, MISSED_REASON
from crondor.diagnostics import Severity
from crondor.schedule import Universe
from crondor.source import Span
from crondor.spec import FIELDS

_WAIT = 7 * 86400  # seconds after which a policy that waits before it releases has done so
_CLAUSE = f"HoldReasonCode == {MISSED_CODE}"


@rule("CRN401", "runs-once", Severity.WARNING, "a crontab job that leaves the queue after its first run")
def runs_once(job: CheckedJob) -> Iterator[Found]:
    """A job leaves the queue when it exits, unless on_exit_remove says otherwise; cron fields do not change that."""
    if not _is_crontab(job) or job.first(*REMOVE) is not None:
        return
    edit = insertion(job, "on_exit_remove", "false")
    fix = Fix("keep the job in the queue after a run", (edit,), safe=False) if edit else None
    message = "the job leaves the queue after its first run: the schedule does not repeat it"
    yield Found(message, _cron_span(job), "add on_exit_remove = false; or silence this, if one run is meant", fix)


@rule("CRN402", "never-ends", Severity.NOTE, "a job that nothing ever takes out of the queue")
def never_ends(job: CheckedJob) -> Iterator[Found]:
    """With on_exit_remove false for every outcome and no periodic policy, only condor_rm ends the job."""
    if not _is_crontab(job) or job.first(*REMOVE) is None or job.first(*PERIODIC) is not None:
        return
    if never_removed(job):
        message = "no outcome of a run takes this job out of the queue: it repeats until condor_rm"
        help_text = "let it end, for example on_exit_remove = (ExitCode == 77), or with periodic_remove"
        yield Found(message, job.span(*REMOVE), help_text)


@rule("CRN403", "held-for-ever", Severity.WARNING, "a repeating job that stays held when one run is missed")
def held_for_ever(job: CheckedJob) -> Iterator[Found]:
    """A job that reaches its machine too late is held with code 20, and HTCondor releases no job by itself."""
    if not _is_crontab(job) or not repeats(job):
        return
    state = {
        "JobStatus": str(HELD),
        "HoldReasonCode": str(MISSED_CODE),
        "HoldReasonSubCode": "0",
        "HoldReason": f'"{MISSED_REASON}"',
        "EnteredCurrentStatus": str(job.settings.now),
        "NumJobStarts": "1",
        "NumHolds": "1",
        "NumSystemHolds": "1",
    }
    if holds(job, RELEASE, state, job.settings.now + _WAIT):
        return
    message = f"a run that arrives late is held (code {MISSED_CODE}), and nothing releases the job for the next one"
    fix = Fix("release the job after a missed run", edits, safe=False) if (edits := _release(job)) else None
    yield Found(message, job.span(*RELEASE, *REMOVE), f"add periodic_release = ({_CLAUSE})", fix)


@rule("CRN404", "other-clock", Severity.NOTE, "an expression that asks another machine's zone")
def other_clock(job: CheckedJob) -> Iterator[Found]:
    """formatTime, splitTime and localTimeString use the zone of the host that evaluates them, not the submit host's."""
    name = job.first("requirements", "my.requirements")
    if name is None or "time" not in job.values[name].lower():
        return
    called = functions(job.values[name]) & {"formattime", "splittime", "localtimestring"}
    if called:
        message = "the function takes the zone of each host that evaluates requirements, not the submit host's"
        yield Found(message, job.span(name), "see that submit, central and execute machines share a zone")


def _is_crontab(job: CheckedJob) -> bool:
    """Say whether the job has cron fields and lives where they work."""
    schedule = job.manual.schedule or job.schedd.schedule
    if schedule is None or schedule.spec is None or not schedule.complete:
        return False
    return schedule.universe not in {Universe.GRID, Universe.SCHEDULER}


def _cron_span(job: CheckedJob) -> Span | None:
    names = [name for field in FIELDS for name in (field.command, field.attribute.lower())]
    return job.span(*names)


def _release(job: CheckedJob) -> tuple[Edit, ...]:
    """Return the edits that add the clause to what releases the job, none where they cannot be made."""
    name = job.first(*RELEASE)
    if name is None:
        edit = insertion(job, "periodic_release", f"({_CLAUSE})")
    else:
        edit = replacement(job, name, f"({job.values[name]}) || ({_CLAUSE})")
    return (edit,) if edit else ()
