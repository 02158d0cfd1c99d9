"""CRN3.., CRN4.. and CRN5.: how a job waits for its time, its policies between runs, universes where it cannot run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from crondor._schedule import (
    HOLD,
    ON_HOLD,
    PREP_COMMANDS,
    RELEASED,
    RETRIES,
    TIME_COMMANDS,
    WINDOW_COMMANDS,
    is_on_hold,
    leaves_by,
    leaving_words,
)
from crondor._spec import CURE, inline_comment
from crondor.classad import ClassAdSyntaxError, Context, Expression
from crondor.classad.ad import ClassAd
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.deferral import MISSED_REASON, Deferral, past
from crondor.diagnostics import CrondorError, Severity, Source, Span
from crondor.job.attributes import ExitValue, JobStatus
from crondor.job.policy import Act, at_exit, ended, periodic
from crondor.lint.cures import insertion, is_number, joined, literal, moved
from crondor.lint.rule import Fix, RuleHit, passed_on, rule
from crondor.lint.schedules import CRON_NAMES
from crondor.lint.subject import CheckedFile, CheckedJob
from crondor.lint.values import PERIODIC, PERIODIC_HOLD, POLICIES, POLICY_NAMES, RELEASE, REMOVE
from crondor.lint.written import called, faults, seconds_of
from crondor.schedule import COMMANDS, JobSchedule, Universe, needs_evaluation
from crondor.spec import FIELDS
from crondor.submit.edits import TextEdit
from crondor.zones import zone_of


def left_alone(
    job: CheckedJob, policies: Mapping[str, str], status: JobStatus, state: Mapping[str, object], moments: Iterable[int]
) -> bool:
    """Return whether the policies leave a job alone at all given moments (epoch seconds) if its ad has ``state``."""
    ad = _ad(job, policies)
    if ad is None:
        return False
    for name, value in (("JobStatus", int(status)), *state.items()):
        ad.set(name, value)
    return all(periodic(ad, status, now, _context(job, now)).act in (Act.STAY, Act.UNDEFINED) for now in moments)


_ASKS_FOR_RUN: Final = re.compile(
    r"exit(?:code|signal|bysignal)|numjob(?:starts|completions)|jobruncount|\w\s*\(|[\[\\']", re.IGNORECASE
)
"""Matches whatever may differ between two runs: their attributes, a call, a name that is not written plainly."""


def idle_again(job: CheckedJob, policies: Mapping[str, str], runs: Iterable[tuple[int, int, bool]], now: int) -> bool:
    """Return whether the policies leave the job idle after some runs: (run number, code or signal, by signal)."""
    ad, context = _ad(job, policies), _context(job, now)
    texts = (*policies.values(), *(text for key, text in job.values.items() if key.startswith("my.")))
    if not any(map(_ASKS_FOR_RUN.search, texts)):
        runs = islice(runs, 1)
    return ad is not None and all(
        at_exit(ended(ad, times, ExitValue(number, by_signal)), now, context).act is Act.STAY
        for times, number, by_signal in runs
    )


def _ad(job: CheckedJob, policies: Mapping[str, str]) -> ClassAd | None:
    """Return the known part of the job's ad, None if a policy in it is not a valid expression."""
    ad = ClassAd()
    for key, text in job.values.items():
        if key.startswith("my.") and text.strip():
            ad.put(key[3:], text)
    try:
        for attribute, text in policies.items():
            ad[attribute] = Expression.parse(Source(text.strip()), old=True)
    except ClassAdSyntaxError:
        return None
    return ad


def _context(job: CheckedJob, now: int) -> Context:
    return Context(now=now, zone=zone_of(job.settings.zone).info, effort=job.file.effort)


_LITERALS: Final = {"true": False, "false": True}  # the usual values of on_exit_remove; they need no evaluation
_LONGEST: Final = 2000  # characters of the expressions that are tried with every outcome
_NUMBER: Final = re.compile(r"\d+")
_MANY: Final = 1_000_000  # runs
_LATE: Final = 50 * 366 * 86400  # seconds from now


def repeats(job: CheckedJob) -> bool:
    """Return whether the job is idle again after a successful run."""
    return _stays(job, [(1, 0, False)], job.settings.now)


def never_removed(job: CheckedJob) -> bool:
    """Return whether the job is idle again after every outcome of the first and a later run, now and in fifty years."""
    if not repeats(job):
        return False
    text = " ".join(job.values.get(name, "") for name in POLICIES)
    if len(text) > _LONGEST:
        return False  # unknown, and trying takes long
    ends = [(code, False) for code in range(256)] + [(signal, True) for signal in range(1, 32)]
    named = set(_NUMBER.findall(text))
    ends.sort(key=lambda end: str(end[0]) not in named)  # outcomes that the text names are the likeliest to matter
    return _stays(job, [(times, *end) for times in (1, _MANY) for end in ends], job.settings.now + _LATE)


def stays(job: CheckedJob, status: JobStatus, state: Mapping[str, object], moments: Iterable[int]) -> bool:
    """Return whether the policy leaves a job alone at all given moments (epoch seconds) if its ad has ``state``.

    A policy that the schedd ignores counts as leaving it alone; an invalid one does not: condor_submit refuses it.
    """
    if _is_plain(job):
        return True
    return left_alone(job, _policies(job), status, state, moments)


def _stays(job: CheckedJob, runs: Iterable[tuple[int, int, bool]], now: int) -> bool:
    """Return whether the job is idle again after each of some runs: (run number, code or signal, by signal).

    With max_retries and similar commands condor_submit makes OnExitRemove of them OR on_exit_remove: success ends the
    job.
    """
    name = job.first(*REMOVE)
    if name != REMOVE[0] and job.first(*RETRIES) is not None:
        return False  # unless success_exit_code differs; then that code ends it
    text = "true" if name is None else job.values[name].strip().lower()
    if text in _LITERALS and _is_plain(job):
        return _LITERALS[text]
    return idle_again(job, _policies(job), runs, now)


def _is_plain(job: CheckedJob) -> bool:
    """Return whether on_exit_remove is the job's only policy, so that nothing has to be evaluated."""
    return not any(
        text.strip() and key not in REMOVE and (key in POLICIES or key.startswith("my."))
        for key, text in job.values.items()
    )


def _policies(job: CheckedJob) -> dict[str, str]:
    """Return the texts of the policies by attribute."""
    found = ((attribute, job.first(*names)) for attribute, names in POLICY_NAMES.items())
    return {attribute: job.values[name] for attribute, name in found if name is not None}


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
    """A length is a number of seconds, without a unit; a comment after it has a fix."""
    source = job.file.source
    for fault in job.faults("CRN301"):
        span, help_text, fix = fault.span, fault.help, None
        if span is not None and inline_comment(span.text) is not None:
            help_text = CURE
            fix = moved(source, span.start, is_number) if span.source is source else None
        elif span is not None and (seconds := seconds_of(span.text)) is not None:
            help_text = f"write {seconds} (seconds)"
        yield RuleHit(fault.message, span, help_text, fix)


overflow = passed_on(
    "CRN302", "overflow", Severity.ERROR, "a number so large that HTCondor reads it as 0", CheckedJob.hits
)


@rule("CRN303", "window-zero", Severity.NOTE, "a window of 0: one second late is too late")
def window_zero(job: CheckedJob) -> Iterator[RuleHit]:
    """Requirements match until the second before DeferralTime, and a job that arrives later is held."""
    schedule = _deferred(job)
    if schedule is not None and schedule.window == 0 and _may_start(job, schedule):
        message = (
            "with a window of 0 the last possible match is one second before the time, and a job that reaches its "
            "machine one second late, by that machine's clock, is held (code 20)"
        )
        yield RuleHit(message, _place(job, _WINDOW), "set cron_window to how many seconds late a start may be")


@rule("CRN304", "window-long", Severity.WARNING, "a window longer than the time between two runs")
def window_long(job: CheckedJob) -> Iterator[RuleHit]:
    """A missed run is only given up when its window has passed; runs within the window are lost."""
    schedule = _deferred(job)
    if schedule is None or not isinstance(schedule.window, int):
        return
    gap = job.gap_within(schedule.window - 1)
    if gap is None or job.crontab.left_out is not None:
        return  # CRN208 reports a minute that is not set
    message = (
        f"the window of {schedule.window} s is longer than the shortest time between two runs, {gap} s: the schedd "
        "computes a new time only when the window has passed, so runs within it are lost"
    )
    yield RuleHit(message, _place(job, _WINDOW), f"set a window of at most {gap} s")


@rule("CRN305", "prep-long", Severity.WARNING, "a prep time longer than the time between two runs")
def prep_long(job: CheckedJob) -> Iterator[RuleHit]:
    """The job may be matched again as soon as a run ends, and then holds its slot idle until the next run."""
    schedule = _deferred(job)
    if schedule is None or not isinstance(schedule.prep_time, int) or schedule.universe is Universe.LOCAL:
        return  # a local job waits on the submit machine, in no slot
    gap = job.gap_within(schedule.prep_time)
    if gap is None or job.crontab.left_out is not None:
        return  # CRN208 reports a minute that is not set
    is_given = job.first(*_PREP) is not None
    if gap < schedule.schedd_interval and (gap == schedule.prep_time or not is_given):
        return  # CRN206 reports runs so close together
    given = "" if is_given else " (the default)"
    message = (
        f"the prep time of {schedule.prep_time} s{given} is as long as the shortest time between two runs, {gap} s: "
        "the job is matched again at once, and holds its slot idle until the next run"
    )
    yield RuleHit(message, _place(job, _PREP), "set a shorter cron_prep_time, or use the local universe")


@rule("CRN306", "prep-short", Severity.WARNING, "a prep time too short for a match")
def prep_short(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd scans its queue once per SCHEDD_INTERVAL; its last scan may leave less than the prep time."""
    schedule = _deferred(job)
    if schedule is None or schedule.universe is Universe.LOCAL:
        return
    window, prep = schedule.window, schedule.prep_time
    if isinstance(window, int) and isinstance(prep, int) and prep + window < _NEGOTIATION:
        message = (
            f"the prep time of {prep} s and the window of {window} s are too short for a match: the schedd scans its "
            f"queue once per {schedule.schedd_interval} s, the negotiator once per {_NEGOTIATION} s"
        )
        yield RuleHit(
            message, _place(job, _PREP), f"set cron_prep_time to {_NEGOTIATION} s or more; the default is 300 s"
        )


@rule("CRN307", "time-past", Severity.ERROR, "a deferral time in the past")
def time_past(job: CheckedJob) -> Iterator[RuleHit]:
    """After its window the job never matches and stays idle forever; within it, it starts at once."""
    run = _one_time_run(job)
    fault = past(run, job.settings.now) if run is not None else None
    if fault is not None:
        yield RuleHit(fault.message, job.span(*_TIME), fault.help, severity=fault.severity)


@rule("CRN308", "stays-idle", Severity.WARNING, "a one-time job that stays idle when it misses its time", misses=True)
def stays_idle(job: CheckedJob) -> Iterator[RuleHit]:
    """Requirements stop matching at the end of the window; the job is then not held but idle forever."""
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
    message = "if this job is not matched in time, it stays idle forever without any message"
    help_text = f"add periodic_hold = {clause} (or periodic_remove)"
    edit = insertion(job, "periodic_hold", clause) if job.first(*PERIODIC_HOLD) is None else None
    fix = Fix("hold the job when it has missed its time", (edit,), safe=False) if edit else None
    yield RuleHit(message, job.span(*_TIME), help_text, fix)


@rule("CRN309", "time-and-cron", Severity.WARNING, "a deferral time together with cron fields")
def time_and_cron(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd overwrites DeferralTime when it computes the first time of the cron fields."""
    for fault in job.faults("CRN309"):
        name = job.first(*_TIME)
        span = literal(job, name) if name else None
        fix = Fix(f"remove {name}", (_line(span.source.text, span.start, job),)) if name and span else None
        yield RuleHit(fault.message, fault.span, fault.help, fix)


@rule("CRN310", "without-time", Severity.WARNING, "a window or prep time without a time", misses=True)
def without_time(job: CheckedJob) -> Iterator[RuleHit]:
    """Window and prep time alone have no effect: condor_submit adds no attribute for them."""
    if any(fault.fix in _STARTS for fault in job.file.misspelt):
        return  # CRN501 reports the name that was meant to give the time
    for fault in job.faults("CRN310"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN311", "bad-value", Severity.ERROR, "a time, window or prep time with which the job cannot run")
def bad_value(job: CheckedJob) -> Iterator[RuleHit]:
    """The starter holds a job unless DeferralTime is a positive integer; a bad window makes Requirements undefined."""
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
            names = {"DeferralWindow": _WINDOW, "DeferralPrepTime": _PREP}.get(
                fault.span.source.name if fault.span else "", _TIME
            )
            yield RuleHit(fault.message, job.span(*names), fault.help)


@rule("CRN312", "bad-expression", Severity.ERROR, "an expression that cannot be read")
def bad_expression(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit parses expressions for the job ad and refuses an invalid one."""
    time = job.first(*_TIME)
    is_date = time is not None and re.fullmatch(_DATE, job.values[time].strip('" '))
    for fault in job.faults("CRN312"):
        is_time = is_date and time is not None and fault.span is not None and fault.span.line == job.span(time).line
        date = f"write epoch seconds: crondor next --at '{job.values[time]}' prints them" if is_time and time else None
        yield RuleHit(fault.message, fault.span, date or fault.help)
    names = [name for name in POLICIES if job.values.get(name, "").strip().lower() not in _PLAIN]
    if not names:
        return
    for name in names:
        known = next((each.hit for each in job.file.unread if each.value.span == job.span(name)), None)
        if known is not None:
            yield known
            continue
        for fault in faults(job.values[name], name):
            told = fault.relocated(job.span(name))
            yield RuleHit(told.message, told.span, told.help)


@rule("CRN313", "asks-machine", Severity.WARNING, "an expression that uses attributes missing from the job's ad")
def asks_machine(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd and the starter evaluate only the job's own ad: a machine's attributes are undefined there."""
    faults = tuple(job.faults("CRN313"))
    fatal = {found.span for found in _without_value(job)} if faults else set()
    for fault in faults:
        yield RuleHit(fault.message, fault.span, fault.help, severity=Severity.ERROR if fault.span in fatal else None)


asks_clock = passed_on(
    "CRN314", "asks-clock", Severity.WARNING, "a time that moves while the job waits for it", CheckedJob.hits
)


@rule("CRN315", "asks-number", Severity.NOTE, "an expression that has another value in each job of a queue statement")
def asks_number(job: CheckedJob) -> Iterator[RuleHit]:
    """The result for the first job may not hold for the others."""
    if job.group.count == 1 or not needs_evaluation(job.values):
        return
    name = next((name for name in _ASKED if "procid" in job.values.get(name, "").lower()), None)
    if name is not None:
        message = f"the expression uses ProcId: only the first of {job.group.count} jobs is checked"
        yield RuleHit(message, job.span(name), "write $(ProcId) for the number, so that each job is checked")


def _place(job: CheckedJob, names: tuple[str, ...]) -> Span:
    """Return where the first of some names is set, or else the place of the job's time."""
    cron = (name for spellings in CRON_NAMES.values() for name in spellings)
    return job.span(*names, *cron, *_TIME)


def _may_start(job: CheckedJob, schedule: JobSchedule) -> bool:
    """Return whether a job may ever reach its time: it is a crontab job, or its time is valid and not past."""
    if job.first(*_WINDOW) is not None and job.told("CRN302"):
        return False
    run = None if schedule.spec is not None else _one_time_run(job)
    return schedule.spec is not None or (run is not None and run.last_match >= job.settings.now)


def _deferred(job: CheckedJob) -> JobSchedule | None:
    """Return the schedule of a job that waits for a time, in a universe where jobs wait."""
    schedule = job.manual.schedule
    waits = schedule is not None and schedule.is_deferred and schedule.complete
    return schedule if waits and schedule and schedule.universe not in {Universe.GRID, Universe.SCHEDULER} else None


def _one_time_run(job: CheckedJob) -> Deferral | None:
    """Return the run of a job with a deferral time and no cron fields, None if there is none."""
    schedule = _deferred(job)
    if schedule is None or schedule.spec is not None:
        return None
    try:
        return schedule.next(job.settings.now)
    except CrondorError:
        return None


def _line(text: str, at: int, job: CheckedJob) -> TextEdit:
    """Return the edit that removes the line of a place."""
    end = text.find("\n", at) + 1
    return TextEdit(job.file.source.span(text.rfind("\n", 0, at) + 1, end or len(text)), "")


_WAIT = 7 * 86400  # seconds after which a policy that delays the release has released
_CLAUSE = f"HoldReasonCode == {MISSED_DEFERRED_EXECUTION_TIME}"
_MOST_JOBS = 200  # different ones after an added line; with more, its effect cannot be overseen


@rule("CRN401", "runs-once", Severity.WARNING, "a crontab job that leaves the queue after its first run", misses=True)
def runs_once(job: CheckedJob) -> Iterator[RuleHit]:
    """A job leaves the queue when it exits unless on_exit_remove says otherwise; cron fields do not change that."""
    found = leaves_by(job.values) if is_crontab(job) else None
    if found in RETRIES:
        message = f"{leaving_words(found)}: cron fields alone do not repeat a job"
        yield RuleHit(message, job.span(found), f"remove {found}, and write on_exit_remove = false")
    if found != "":
        return
    edit = _added(job, "on_exit_remove", "false", REMOVE, is_crontab)
    fix = Fix("keep the job in the queue after a run", (edit,), safe=False) if edit else None
    message = "the job leaves the queue after its first run: cron fields alone do not repeat a job"
    help_text = "add on_exit_remove = false; or, if one run is intended, # crondor: ignore[CRN401]"
    yield RuleHit(message, _cron_span(job), help_text, fix)


@rule("CRN402", "never-ends", Severity.NOTE, "a job that never leaves the queue", misses=True)
def never_ends(job: CheckedJob) -> Iterator[RuleHit]:
    """If on_exit_remove is false for every outcome and there is no periodic policy, only condor_rm ends the job."""
    if not is_crontab(job) or job.first(*REMOVE) is None or job.first(*PERIODIC) is not None:
        return
    if never_removed(job):
        message = "this job stays in the queue after every outcome: it repeats until condor_rm"
        help_text = "let it end, for example with on_exit_remove = (ExitCode == 77) or periodic_remove"
        yield RuleHit(message, job.span(*REMOVE), help_text)


@rule("CRN403", "held-for-ever", Severity.WARNING, "a repeating job that stays held after a missed run", misses=True)
def held_for_ever(job: CheckedJob) -> Iterator[RuleHit]:
    """A job that reaches its machine too late is held with code 20, and HTCondor does not release it by itself."""
    if not _stays_held(job):
        return
    held = f"held (code {MISSED_DEFERRED_EXECUTION_TIME})"
    message = f"if the job arrives late it is {held} and stays held: nothing releases it for the next run"
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


@rule("CRN405", "on-hold", Severity.NOTE, "a scheduled job that is submitted on hold")
def on_hold(job: CheckedJob) -> Iterator[RuleHit]:
    """``hold = true`` is what the line suspended = true is compiled to; nothing releases the job by itself."""
    schedule = job.manual.schedule if HOLD in job.values and is_on_hold(job.values) else None
    if schedule is not None and schedule.is_deferred:
        place = job.file.own_schedule.policies.places.get("suspended")
        message = f"suspended by this line: {ON_HOLD}" if place else ON_HOLD
        yield RuleHit(message, place or job.span(HOLD), RELEASED)


@rule("CRN404", "other-clock", Severity.NOTE, "an expression that uses another machine's time zone")
def other_clock(job: CheckedJob) -> Iterator[RuleHit]:
    """formatTime, splitTime and localTimeString use the zone of the host that evaluates them, not the submit host's."""
    name = job.first("my.requirements", "requirements")
    if name is None or "time" not in job.values[name].lower():
        return
    if called(job.values[name]) & {"formattime", "splittime", "localtimestring"}:
        message = "the function uses the zone of each host that evaluates requirements, not the submit host's"
        yield RuleHit(message, job.span(name), "make sure that submit, central and execute machines share a zone")


def is_crontab(job: CheckedJob) -> bool:
    """Return whether the job has cron fields, in a universe where they work."""
    schedule = job.manual.schedule or job.schedd.schedule
    if schedule is None or schedule.spec is None or not schedule.complete:
        return False
    return schedule.universe not in {Universe.GRID, Universe.SCHEDULER}


def _cron_span(job: CheckedJob) -> Span:
    names = [name for field in FIELDS for name in (field.command, field.attribute.lower())]
    return job.span(*names)


def _release(job: CheckedJob) -> tuple[TextEdit, ...]:
    """Return the edits that add the clause to periodic_release, none if they cannot be made."""
    name = job.first(*RELEASE)
    if name is None:
        edit = _added(job, "periodic_release", f"({_CLAUSE})", RELEASE, _stays_held)
    else:
        edit = joined(job, name, "||", f"({_CLAUSE})")
    return (edit,) if edit else ()


def _added(
    job: CheckedJob, name: str, value: str, spellings: tuple[str, ...], concerns: Callable[[CheckedJob], bool]
) -> TextEdit | None:
    """Return the edit that sets a command, None if it would also apply to a later job that it is not for."""
    queue, jobs = job.group.queue, job.file.jobs
    if queue is not None and (
        len(jobs) > _MOST_JOBS or _last_other(job.file, name, spellings, concerns) >= queue.start
    ):
        return None
    return insertion(job, name, value)


def _last_other(
    file: CheckedFile, name: str, spellings: tuple[str, ...], concerns: Callable[[CheckedJob], bool]
) -> int:
    """Return where the last job is queued that a command would newly apply to but is not for, -1 for none."""
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


bypass = passed_on("CRN502", "bypass", Severity.ERROR, "an attribute set past condor_submit's checks", CheckedJob.hits)


scheduler_refused = passed_on(
    "CRN503", "scheduler-refused", Severity.ERROR, "a deferral time in the scheduler universe", CheckedJob.hits
)


scheduler_never = passed_on(
    "CRN504", "scheduler-never", Severity.ERROR, "cron fields in the scheduler universe", CheckedJob.hits
)


grid_ignores = passed_on("CRN505", "grid-ignores", Severity.WARNING, "a time in the grid universe", CheckedJob.hits)


@rule("CRN506", "no-universe", Severity.ERROR, "a universe that does not exist")
def no_universe(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit refuses an unknown universe, with all of the file after it."""
    for fault in job.faults("CRN506"):
        has_comment = fault.span is not None and inline_comment(fault.span.text) is not None
        yield RuleHit(fault.message, fault.span, CURE if has_comment else fault.help)
