"""CRN3..: the deferral time, its window and its prep time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crondor._schedule.job_terms import PREP_COMMANDS, TIME_COMMANDS, WINDOW_COMMANDS
from crondor._spec.inline_comment import CURE, inline_comment
from crondor.check.crontab import NAMES as CRON_NAMES
from crondor.check.edit import insertion, literal
from crondor.check.inline import is_number, moved
from crondor.check.job_policy import stays
from crondor.check.policy_names import PERIODIC_HOLD, POLICIES
from crondor.check.rule import Fix, RuleHit, TextEdit, passed_on, rule
from crondor.check.spelt import seconds_of
from crondor.check.subject import CheckedJob
from crondor.deferral import Deferral, past
from crondor.diagnostics import CrondorError, Severity
from crondor.job.status import JobStatus
from crondor.schedule import COMMANDS, JobSchedule, Universe, needs_evaluation
from crondor.source import Span
from crondor.spec import FIELDS

_TIME = ("my.deferraltime", *TIME_COMMANDS)
_WINDOW = ("my.deferralwindow", *WINDOW_COMMANDS)
_PREP = ("my.deferralpreptime", *PREP_COMMANDS)
_ASKED = tuple(name for name in COMMANDS if name != "universe")
_STARTS = frozenset((*(field.command for field in FIELDS), "deferral_time"))
_DATE = r"\d{4}-\d\d?-\d\d?\b.*"
_PLAIN = frozenset(("", "true", "false"))
_NEGOTIATION = 60  # seconds: NEGOTIATOR_INTERVAL, whose cycle may just have passed
_DAY = 86400


@rule("CRN301", "bad-number", Severity.ERROR, "a time or length that condor_submit refuses")
def bad_number(job: CheckedJob) -> Iterator[RuleHit]:
    """A length is a number of seconds, without a unit; a comment behind it has a fix."""
    source = job.file.source
    for fault in job.faults("CRN301"):
        span, help_text, fix = fault.span, fault.help, None
        if span is not None and inline_comment(span.text) is not None:
            help_text = CURE
            fix = moved(source, span.start, is_number) if span.source is source else None
        elif span is not None and (seconds := seconds_of(span.text)) is not None:
            help_text = f"write {seconds}: it is in seconds"
        yield RuleHit(fault.message, span, help_text, fix)


overflow = passed_on("CRN302", "overflow", Severity.ERROR, "a number so large that HTCondor reads 0", CheckedJob.hits)


@rule("CRN303", "window-zero", Severity.NOTE, "a window of 0: one second late is too late")
def window_zero(job: CheckedJob) -> Iterator[RuleHit]:
    """Requirements match until the second before DeferralTime, and a job that arrives later is held."""
    schedule = _deferred(job)
    if schedule is not None and schedule.window == 0 and _may_start(job, schedule):
        message = (
            "with a window of 0 the last possible match is the second before the time, and a job that reaches its "
            "machine a second late, by that machine's clock, is held (code 20)"
        )
        yield RuleHit(message, _place(job, _WINDOW), "set cron_window to the seconds that a start may be late")


@rule("CRN304", "window-long", Severity.WARNING, "a window longer than the time between two runs")
def window_long(job: CheckedJob) -> Iterator[RuleHit]:
    """A missed run is given up only when its window has passed; runs that fall into it are lost."""
    schedule = _deferred(job)
    if schedule is None or not isinstance(schedule.window, int):
        return
    gap = job.gap_within(schedule.window - 1)
    if gap is None or job.crontab.left_out is not None:
        return  # CRN208 speaks of a minute that is not set
    message = (
        f"the window of {schedule.window} s is longer than the shortest time between two runs, {gap} s: the schedd "
        "computes no new time before the window has passed, and the runs within it are lost"
    )
    yield RuleHit(message, _place(job, _WINDOW), f"set a window of at most {gap} s")


@rule("CRN305", "prep-long", Severity.WARNING, "a prep time longer than the time between two runs")
def prep_long(job: CheckedJob) -> Iterator[RuleHit]:
    """The job may be matched again as soon as a run ends, and holds its slot idle until the next."""
    schedule = _deferred(job)
    if schedule is None or not isinstance(schedule.prep_time, int) or schedule.universe is Universe.LOCAL:
        return  # a local job waits on the submit machine, in no slot
    gap = job.gap_within(schedule.prep_time)
    if gap is None or job.crontab.left_out is not None:
        return  # CRN208 speaks of a minute that is not set
    is_given = job.first(*_PREP) is not None
    if gap < schedule.schedd_interval and (gap == schedule.prep_time or not is_given):
        return  # CRN206 speaks of runs so close together
    given = "" if is_given else " (the default)"
    message = (
        f"the prep time of {schedule.prep_time} s{given} is as long as the shortest time between two runs, {gap} s: "
        "the job is matched again at once, and its slot waits idle for the next run"
    )
    yield RuleHit(message, _place(job, _PREP), "set a shorter cron_prep_time, or take the local universe")


@rule("CRN306", "prep-short", Severity.WARNING, "a prep time too short for a match to be made")
def prep_short(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd passes over its queue once in SCHEDD_INTERVAL; the last pass may leave no more than the prep time."""
    schedule = _deferred(job)
    if schedule is None or schedule.universe is Universe.LOCAL:
        return
    window, prep = schedule.window, schedule.prep_time
    if isinstance(window, int) and isinstance(prep, int) and prep + window < _NEGOTIATION:
        message = (
            f"a prep time of {prep} s and a window of {window} s leave the schedd, which looks once in "
            f"{schedule.schedd_interval} s, too little for a match: the negotiator looks once in {_NEGOTIATION} s"
        )
        yield RuleHit(
            message, _place(job, _PREP), f"set cron_prep_time to {_NEGOTIATION} s or more; the default is 300 s"
        )


@rule("CRN307", "time-past", Severity.ERROR, "a deferral time in the past")
def time_past(job: CheckedJob) -> Iterator[RuleHit]:
    """Past its window the job never matches and stays idle for ever; within it, it starts at once."""
    run = _one_time_run(job)
    fault = past(run, job.settings.now) if run is not None else None
    if fault is not None:
        yield RuleHit(fault.message, job.span(*_TIME), fault.help, severity=fault.severity)


@rule("CRN308", "stays-idle", Severity.WARNING, "a one-time job that stays when it misses its time", misses=True)
def stays_idle(job: CheckedJob) -> Iterator[RuleHit]:
    """Requirements stop matching at the window's end; the job is not held then, but idle for ever."""
    run = _one_time_run(job)
    if run is None or run.last_match < job.settings.now:
        return
    late = run.last_start + _DAY
    state = {
        "QDate": job.settings.now,
        "EnteredCurrentStatus": job.settings.now,
        "NumJobStarts": 0,
        "DeferralTime": run.time,
        "DeferralWindow": run.window,
        "DeferralPrepTime": run.prep_time,
    }
    if not stays(job, JobStatus.IDLE, state, [late]):
        return
    clause = "JobStatus == 1 && time() > DeferralTime + DeferralWindow"
    message = "if this job is not matched in time, it stays idle for ever, without a word"
    help_text = f"add periodic_hold = {clause} (or periodic_remove)"
    edit = insertion(job, "periodic_hold", clause) if job.first(*PERIODIC_HOLD) is None else None
    fix = Fix("hold the job when it has missed its time", (edit,), safe=False) if edit else None
    yield RuleHit(message, job.span(*_TIME), help_text, fix)


@rule("CRN309", "time-and-cron", Severity.WARNING, "a deferral time beside cron fields")
def time_and_cron(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd overwrites DeferralTime when it computes the first time of the cron fields."""
    for fault in job.faults("CRN309"):
        name = job.first(*_TIME)
        span = literal(job, name) if name else None
        fix = Fix(f"remove {name}", (_line(span.source.text, span.start, job),)) if name and span else None
        yield RuleHit(fault.message, fault.span, fault.help, fix)


@rule("CRN310", "without-time", Severity.WARNING, "a window or prep time without a time", misses=True)
def without_time(job: CheckedJob) -> Iterator[RuleHit]:
    """Window and prep time alone set nothing: condor_submit adds no attribute for them."""
    if any(fault.fix in _STARTS for fault in job.file.misspelt):
        return  # CRN501 speaks of the name that was to give the time
    for fault in job.faults("CRN310"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN311", "bad-value", Severity.ERROR, "a time, window or prep time with which the job cannot run")
def bad_value(job: CheckedJob) -> Iterator[RuleHit]:
    """The starter holds a job whose DeferralTime is no positive integer; a bad window makes Requirements undefined."""
    said = job.told("CRN302", "CRN313")
    for found in _without_value(job):
        if found.span not in said:
            yield found


def _without_value(job: CheckedJob) -> Iterator[RuleHit]:
    schedule = job.manual.schedule
    if schedule is None or not schedule.is_deferred:
        return
    now = job.settings.now
    try:
        if schedule.spec is None:
            schedule.next(now)
        else:
            schedule.deferral(now, now)
    except CrondorError as error:
        for fault in error.diagnostics:
            names = _by_attribute(fault.span.source.name if fault.span else "")
            yield RuleHit(fault.message, job.span(*names), fault.help)


@rule("CRN312", "bad-expression", Severity.ERROR, "an expression that cannot be read")
def bad_expression(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit parses what it puts into the job ad, and refuses what is no ClassAd expression."""
    time = job.first(*_TIME)
    is_date = time is not None and re.fullmatch(_DATE, job.values[time].strip('" '))
    for fault in job.faults("CRN312"):
        is_time = is_date and time is not None and fault.span is not None and fault.span.line == job.span(time).line
        date = f"write epoch seconds: crondor next --at '{job.values[time]}' prints them" if is_time and time else None
        yield RuleHit(fault.message, fault.span, date or fault.help)
    names = [name for name in POLICIES if job.values.get(name, "").strip().lower() not in _PLAIN]
    if not names:
        return
    from crondor.check.expressions import faults  # noqa: PLC0415 - the engine takes 17 ms, and few jobs have one

    for name in names:
        known = next((each.hit for each in job.file.unread if each.value.span == job.span(name)), None)
        if known is not None:
            yield known
            continue
        for fault in faults(job.values[name], name):
            told = fault.relocated(job.span(name))
            yield RuleHit(told.message, told.span, told.help)


@rule("CRN313", "asks-machine", Severity.WARNING, "an expression that asks what the job's ad does not have")
def asks_machine(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd and the starter evaluate the job's own ad alone: what a machine has is undefined there."""
    faults = tuple(job.faults("CRN313"))
    fatal = {found.span for found in _without_value(job)} if faults else set()
    for fault in faults:
        yield RuleHit(fault.message, fault.span, fault.help, severity=Severity.ERROR if fault.span in fatal else None)


asks_clock = passed_on(
    "CRN314", "asks-clock", Severity.WARNING, "a time that moves while the job waits for it", CheckedJob.hits
)


@rule("CRN315", "asks-number", Severity.NOTE, "an expression that each job of a queue statement answers otherwise")
def asks_number(job: CheckedJob) -> Iterator[RuleHit]:
    """What is said of the first job need not hold for the others."""
    if job.group.count == 1 or not needs_evaluation(job.values):
        return
    name = next((name for name in _ASKED if "procid" in job.values.get(name, "").lower()), None)
    if name is not None:
        message = f"the expression asks for ProcId: only the first of {job.group.count} jobs is checked"
        yield RuleHit(message, job.span(name), "write the number with $(ProcId), and each job is checked")


def _place(job: CheckedJob, names: tuple[str, ...]) -> Span:
    """Return where the first of some names is set, or else what gives the job its time."""
    cron = (name for spellings in CRON_NAMES.values() for name in spellings)
    return job.span(*names, *cron, *_TIME)


def _may_start(job: CheckedJob, schedule: JobSchedule) -> bool:
    """Say whether a job can come as far as its time: it is a crontab job, or its time is one, and not past."""
    if job.first(*_WINDOW) is not None and job.told("CRN302"):
        return False
    run = None if schedule.spec is not None else _one_time_run(job)
    return schedule.spec is not None or (run is not None and run.last_match >= job.settings.now)


def _by_attribute(name: str) -> tuple[str, ...]:
    return {"DeferralWindow": _WINDOW, "DeferralPrepTime": _PREP}.get(name, _TIME)


def _deferred(job: CheckedJob) -> JobSchedule | None:
    """Return the schedule of a job that waits for a time at all, in a universe where something waits."""
    schedule = job.manual.schedule
    waits = schedule is not None and schedule.is_deferred and schedule.complete
    return schedule if waits and schedule and schedule.universe not in {Universe.GRID, Universe.SCHEDULER} else None


def _one_time_run(job: CheckedJob) -> Deferral | None:
    """Return the run of a job with a deferral time and no cron fields, None where there is none to speak of."""
    schedule = _deferred(job)
    if schedule is None or schedule.spec is not None:
        return None
    try:
        return schedule.next(job.settings.now)
    except CrondorError:
        return None


def _line(text: str, at: int, job: CheckedJob) -> TextEdit:
    """Return the edit that removes the line a place is on."""
    end = text.find("\n", at) + 1
    return TextEdit(job.file.source.span(text.rfind("\n", 0, at) + 1, end or len(text)), "")
