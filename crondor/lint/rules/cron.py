"""CRN1.. and CRN2..: the values of the cron fields, and the dates they give."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crondor._readings import FieldDifference
from crondor.algebra import has_day_zero, portable
from crondor.audit import ClockChange, clock_changes
from crondor.calendar import DAY, LONGEST, SHORT_MONTHS, DayRule, short_weekday
from crondor.deferral import passed_over
from crondor.diagnostics import CrondorError, Diagnostic, Severity, shortened
from crondor.lint.cures import (
    REQUIREMENTS,
    compile_command,
    cure_of,
    edit_day_zero,
    edit_days,
    edit_field,
    fields_text,
    has_clause,
    insertion,
    is_field,
    mended,
    moved,
    placed,
)
from crondor.lint.rule import Fix, RuleHit, passed_on, rule
from crondor.lint.schedules import CRON_NAMES, FieldFault, Wrong, few, next_wrong, refusals
from crondor.lint.subject import CheckedJob
from crondor.recurrence import NeverRuns, OutOfRange, Recurrence, never_reason
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, Field
from crondor.words import step_beyond
from crondor.zones import Policy, zone_of

_STEP = re.compile(r"\*/(\d{1,9})")
# Fields that have the same number of values each time: how many, of what, and of which whole.
_WHOLE = {MINUTE: (60, "minute", "hour"), HOUR: (24, "hour", "day"), MONTH: (12, "month", "year")}
_UNSURE = frozenset({"cron-reversed", "cron-blank", "cron-empty"})  # the author may have meant something else


def _faults(job: CheckedJob, code: str) -> Iterator[RuleHit]:
    """Yield the faults of the fields under a code: the message, what the schedd does with the field, what to write."""
    crontab = job.crontab
    found: dict[tuple[Field, str], list[FieldFault]] = {}
    for each in crontab.faults:
        if each.fault.code == code:
            found.setdefault((each.field, each.fault.kind), []).append(each)
    for (field, _), (first, *others) in found.items():
        fix = _mending(job, field, first.text)
        said = first.fault.message.partition(" (the schedd ")[0]  # of the item; the message about the field is better
        help_text = first.fault.help
        if others:
            said += f" ({few(other.fault.span.text if other.fault.span else other.text for other in others)} too)"
            help_text = f"write {fix.better}" if fix else help_text
        shown = "it" if first.text in said or not crontab.is_string(field) else f"`{shortened(first.text, 40)}`"
        message = f"{said}; {crontab.consequence(field, first.text, shown)}"
        if first.fault.kind == "cron-unsupported":
            help_text = _compiled_help(job) or help_text
        told = placed(job, field, replace(first.fault, message=message, help=help_text))
        is_comment = fix is None and first.fault.kind == "cron-comment"
        cure = _comment(job, field, told) if is_comment else fix and fix.fix
        yield RuleHit(told.message, told.span, told.help, cure)


def _compiled_help(job: CheckedJob) -> str | None:
    """Return what to do if crondor knows what a job's fields mean; None if it does not."""
    from crondor.compile import cron, meaning  # noqa: PLC0415 - 15 ms, and few files have such a field

    text = fields_text(job)
    try:
        meaning.read_schedule(text, zone=zone_of(job.settings.zone), name="x")
    except CrondorError:
        return None
    name = " --name NAME" if cron.has_choice(text) else ""
    return f"fields and a clause that say it: {compile_command(job, text)}{name}"


def _comment(job: CheckedJob, field: Field, told: Diagnostic) -> Fix | None:
    """Return the fix that moves a comment after the value of a field."""
    source = job.file.source
    if told.span is None or told.span.source is not source:
        return None
    return moved(source, told.span.start, is_field(field))


class _Mending(NamedTuple):
    better: str
    fix: Fix


def _mending(job: CheckedJob, field: Field, text: str) -> _Mending | None:
    """Return the fix of all faults of a field."""
    if field not in job.crontab.names:
        return None
    better = mended(field, text, job.crontab.faults)
    edit = edit_field(job, field, better) if better is not None else None
    if edit is None:
        return None
    is_sure = not any(fault.field is field and fault.fault.kind in _UNSURE for fault in job.crontab.faults)
    return _Mending(better or "", Fix(f"write {field.command} = {better}", (edit,), safe=is_sure))


out_of_range = passed_on("CRN101", "out-of-range", Severity.ERROR, "a value outside its field", _faults)


@rule("CRN102", "step-phase", Severity.WARNING, "a step that the schedd counts from 0, not from the start of the range")
def step_phase(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd keeps the multiples of the step; the manual and Unix cron count from the low end of the range."""
    for found in job.crontab.differences:
        if found.schedd is not None and not _is_starred_weekday(found) and not _is_full_month(found):
            message = (
                f"{found.field.title} {found.text.strip()}: the manual, like Unix cron, reads {few(found.manual)}, "
                f"the schedd {few(found.schedd)}: {found.why}"
            )
            yield _differing(job, found, message)


reversed_range = passed_on("CRN103", "reversed-range", Severity.ERROR, "a range that ends before it begins", _faults)


name = passed_on("CRN104", "name", Severity.ERROR, "the name of a month or weekday", _faults)


nickname = passed_on("CRN105", "nickname", Severity.ERROR, "a crontab nickname such as @daily", _faults)


foreign_syntax = passed_on(
    "CRN106", "foreign-syntax", Severity.ERROR, "syntax of another scheduler, or an unknown one", _faults
)


quoted = passed_on("CRN107", "quoted", Severity.ERROR, "quotes in the value of a submit command", _faults)


blank_inside = passed_on("CRN108", "blank-inside", Severity.ERROR, "a blank between two numbers", _faults)


@rule("CRN109", "empty", Severity.WARNING, "an empty item or field")
def empty(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd ignores empty items; a command without a value counts as not set."""
    for found in _faults(job, "CRN109"):
        is_held = job.crontab.hold_reason is not None
        yield found._replace(severity=Severity.ERROR if is_held else None)
    for field, names in CRON_NAMES.items():
        unset = next((name for name in names if not job.values.get(name, "x").strip()), None)
        if unset is None or unset.startswith("my.") or field in job.crontab.names:
            continue
        message = f"{field.command} is empty: condor_submit ignores it, "
        message += f"and every {field.title} counts" if job.crontab.names else "and the job runs at once"
        yield RuleHit(message, job.span(unset), f"write a value, `*` for every {field.title}, or remove the line")


single_step = passed_on("CRN110", "single-step", Severity.ERROR, "a step after a single value", _faults)


step_zero = passed_on("CRN111", "step-zero", Severity.ERROR, "a step of 0", _faults)


@rule("CRN112", "starred-weekday", Severity.WARNING, "an item with * in the day of week, which the schedd drops")
def starred_weekday(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd drops items with * in the day of week: */2 restricts nothing, and *,1 means Mondays."""
    for found in job.crontab.differences:
        if found.schedd is not None and _is_starred_weekday(found):
            message = (
                f"day of week {found.text.strip()}: the manual reads {few(found.manual)}, the schedd "
                f"{few(found.schedd)}: {found.why}"
            )
            yield _differing(job, found, message)


@rule("CRN113", "full-month", Severity.WARNING, "all days of the month listed, together with a day of week")
def full_month(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd treats a list of all 31 days as *; in the manual the day fields are joined by OR: every day."""
    for found in job.crontab.differences:
        if _is_full_month(found):
            message = (
                f"day of month {found.text.strip()}: {found.why}; in the manual a match in either field is enough: "
                "every day"
            )
            place = _differing(job, found, message)
            yield place._replace(help="write cron_day_of_month = * to restrict weekdays only, or set no day of week")


@rule("CRN114", "no-string", Severity.ERROR, "an attribute that is not a string")
def no_string(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd reads an attribute that is not a string as *, even an undefined one."""
    yield from _faults(job, "CRN114")
    faulty = {fault.field for fault in job.crontab.faults}
    for field in FIELDS:
        attribute = f"my.{field.attribute.lower()}"
        if attribute not in job.values or field in faulty:
            continue
        text = job.crontab.values.get(field, "").strip()
        if not text or text.lower() == "undefined":
            message = (
                f"the schedd makes a crontab job, although {field.attribute} is undefined, and reads it as every "
                f"{field.title}"
            )
            yield RuleHit(message, job.field_span(field), f'write {field.attribute} = "..." with the values in quotes')
        elif text.isdecimal():
            message = f"the schedd reads {field.attribute}, a number and not a string, as every {field.title}"
            edit = edit_field(job, field, text)
            fix = Fix(f"make {field.attribute} a string", (edit,)) if edit else None
            yield RuleHit(message, job.field_span(field), f'write {field.attribute} = "{text[:20]}"', fix)


syntax = passed_on(
    "CRN115", "syntax", Severity.ERROR, "a field that is not made of values, ranges, steps and *", _faults
)


@rule("CRN116", "held", Severity.ERROR, "a field that the manual allows and the schedd rejects, holding the job")
def held(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd only keeps the multiples of a step; if none is in the range, the field is empty."""
    for found in job.crontab.differences:
        if found.schedd is None:
            message = f"{found.field.title} {found.text.strip()}: the manual reads {few(found.manual)}, and "
            yield _differing(job, found, message + job.crontab.held(found.field))


@rule("CRN117", "set-twice", Severity.WARNING, "a field that is set by two names")
def set_twice(job: CheckedJob) -> Iterator[RuleHit]:
    """An attribute with + or MY. overrides the command, and the command overrides the attribute's name without them."""
    for names in CRON_NAMES.values():
        given = [name for name in names if job.values.get(name, "").strip()]
        for other in given[1:]:
            message = f"{_shown(job, other)} has no effect together with {_shown(job, given[0])}"
            yield RuleHit(message, job.span(other), "remove one of the two")


@rule("CRN118", "uneven-step", Severity.NOTE, "a step that does not divide its field")
def uneven_step(job: CheckedJob) -> Iterator[RuleHit]:
    """A step restarts in each field: */45 is minute 0 and 45, and */90 only minute 0."""
    for field, (size, unit, whole) in _WHOLE.items():
        text = job.crontab.values.get(field, "").strip().strip('"')
        found = _STEP.fullmatch(text)
        step = int(found[1]) if found is not None else 0
        if job.crontab.manual is None or not step or size % step == 0:
            continue
        rest = size % step
        last = f"{rest} {unit}s" if rest > 1 else f"1 {unit}"
        message = step_beyond(field, text)
        message = message or f"the steps of {text} start again in each {whole}: its last gap is {last}, not {step}"
        even = ", ".join(str(number) for number in range(2, size) if size % number == 0)
        severity = Severity.WARNING if 2 * step > size else None
        help_text = f"steps of {even} divide {size} {unit}s evenly; or list the values"
        yield RuleHit(message, job.field_span(field), help_text, severity=severity)


def _shown(job: CheckedJob, key: str) -> str:
    written = job.file.submit.name(key) if job.file.submit else None
    return written.text if written else key


def _is_starred_weekday(found: FieldDifference) -> bool:
    return found.field is DAY_OF_WEEK and "*" in found.text


def _is_full_month(found: FieldDifference) -> bool:
    return found.field is DAY_OF_MONTH and found.schedd == found.manual


def _differing(job: CheckedJob, found: FieldDifference, message: str) -> RuleHit:
    """Return a finding for a field that the schedd reads differently, with a spelling that both read alike."""
    field = found.field
    title = f"write {field.command} = {found.portable}, which the schedd reads as the manual says"
    if field in {DAY_OF_MONTH, DAY_OF_WEEK}:
        edits = edit_days(job)
    else:
        edit = edit_field(job, field, found.portable)
        edits = (edit,) if edit else ()
    spec = job.crontab.manual
    has_clause = any("DeferralTime" in edit.text for edit in edits)
    is_safe = not has_clause or spec is None or cure_of(job, portable(spec)).is_alike
    fix = Fix(title, edits, safe=is_safe) if edits else None
    return RuleHit(message, job.field_span(field), f"write {field.command} = {found.portable}", fix)


_FEBRUARY, _LEAP_DAY = 2, 29
_FEW_DAYS = 4  # a short list of days is meant literally; a long one is a pattern, and 28-31 is a range
_YEAR = 365 * DAY
_LOOPS = "the schedd that gets it searches forever and stops responding"


@rule("CRN201", "never-fires", Severity.ERROR, "a date that does not exist")
def never_fires(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd searches forever for 31 February, and does not respond meanwhile."""
    ours, theirs = job.crontab.manual, job.crontab.schedd
    reason = None if ours is None else never_reason(ours)
    theirs_reason = None if theirs is None else never_reason(theirs)
    if reason is not None and ours is not None:
        message = f"the schedule never fires: {reason}" + (f"; {_LOOPS}" if theirs_reason else "")
    elif theirs_reason is not None:
        message = f"as the schedd reads it, the schedule never fires: {theirs_reason}; {_LOOPS}"
    else:
        return
    spec = ours if reason is not None else theirs
    try:
        Recurrence(spec).next(0) if spec else None
    except NeverRuns as error:
        yield RuleHit(message, job.field_span(DAY_OF_MONTH), error.diagnostics[0].help)


@rule("CRN202", "fires-rarely", Severity.WARNING, "a schedule that skips whole years")
def fires_rarely(job: CheckedJob) -> Iterator[RuleHit]:
    """29 February is the only day that a year may lack."""
    recurrence, times = job.recurrence, job.times
    if recurrence is None or times is None or not _is_leap_day(recurrence.wall_clock.rule):
        return
    try:
        coming = _moment(job, times.next(job.settings.now))
    except CrondorError:
        return
    gaps = recurrence.gaps()
    years = round(gaps.longest / (365.2425 * DAY))
    since = gaps.longest_from.year
    message = (
        f"the schedule only fires on 29 February: next {coming}; up to {years} years may pass between two runs (from "
        f"{since} to {since + years})"
    )
    yield RuleHit(message, job.field_span(DAY_OF_MONTH), "write 28 for the end of each February, or another month")


@rule("CRN203", "short-months", Severity.NOTE, "a day that some months do not have")
def short_months(job: CheckedJob) -> Iterator[RuleHit]:
    """A month without the day is skipped; the run does not move to its last day."""
    spec = job.crontab.manual
    if spec is None or spec.stars[DAY_OF_MONTH.index] or never_reason(spec) or has_clause(job):
        return
    days, months = spec.values(DAY_OF_MONTH), spec.values(MONTH)
    lacking = _lacking(days, months)
    bare = [month for month in months if all(month in lacking.get(day, ()) for day in days)]
    is_alone = spec.stars[DAY_OF_WEEK.index]
    if not (bare or _is_meant_singly(days, lacking)) or (is_alone and months == (_FEBRUARY,)):
        return
    message = _lacking_words(lacking)
    if bare and is_alone:
        message += f": {_month_names(bare)} {'has' if len(bare) == 1 else 'have'} no run"
    last = compile_command(job, fields_text(job, {DAY_OF_MONTH: "L"}))
    help_text = f"fields and a clause for the last day of each month: {last}"
    severity = Severity.WARNING if bare and is_alone else None
    yield RuleHit(message, job.field_span(DAY_OF_MONTH), help_text, severity=severity)


def _lacking(days: Sequence[int], months: Sequence[int]) -> dict[int, list[int]]:
    """Return the months that lack a day in most years, by day."""
    found = {day: [month for month in months if day > (28 if month == _FEBRUARY else LONGEST[month])] for day in days}
    return {day: without for day, without in found.items() if without}


def _is_meant_singly(days: Sequence[int], lacking: Collection[int]) -> bool:
    """Return whether a missing day is meant literally, not as the end of a range such as 28-31."""
    return len(days) <= _FEW_DAYS and any(day - 1 not in days for day in lacking)


def _lacking_words(lacking: Mapping[int, list[int]]) -> str:
    message = "; ".join(f"day {day} does not occur in {_month_names(months)}" for day, months in lacking.items())
    is_leap_day = lacking.get(_LEAP_DAY) == [_FEBRUARY] and len(lacking) == 1
    return f"{message} of most years" if is_leap_day else message


@rule("CRN204", "day-zero", Severity.ERROR, "a day of week alone: the schedd adds the last day of the month")
def day_zero(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd sets day 0 of a month; once that is past, it sets "now + 120 s" repeatedly until the month ends."""
    spec, schedd = job.crontab.manual, job.crontab.schedd
    if spec is None or schedd is None or spec.bits[DAY_OF_MONTH.index] != DAY_OF_MONTH.full:
        return
    if not has_day_zero(schedd):
        return
    zone, now = job.settings.zone, job.settings.now
    name = job.first(*REQUIREMENTS)
    wanted = portable(spec)
    tried = refusals(job.values[name], wanted, schedd, zone, now, job.file.effort) if name else None
    wrong = None if tried is not None and tried.is_cure else next_wrong(schedd, zone, now)
    if wrong is None:
        return
    message = f"the schedd adds day 0 to a day of week without a day of month: {_wrong_words(job, wrong)}"
    if tried is not None and tried.refused is not None:
        message += f"; requirements refuse the run of {_moment(job, tried.refused)}"
        yield RuleHit(message, job.field_span(DAY_OF_WEEK), "correct what requirements says of DeferralTime")
        return
    if not has_day_zero(wanted):  # CRN112 and CRN113 say what to write first
        yield RuleHit(
            message,
            job.field_span(DAY_OF_WEEK),
            "write the day fields so that the schedd and the manual read them alike",
        )
        return
    edits, cure = edit_day_zero(job, wanted), cure_of(job, wanted)
    title = "add a clause to requirements that rejects the wrong times"
    fix = Fix(title, edits, safe=cure.is_alike) if edits else None
    fields = "".join(f"write {field.command} = {text}, and " for field, text in cure.texts.items())
    help_text = f"{fields}add to requirements: {cure.clause}"
    if not cure.is_alike:
        command = compile_command(job, fields_text(job))
        help_text += f" (where submit and execute hosts share a zone), or for hosts in any zone: {command}"
    yield RuleHit(message, job.field_span(DAY_OF_WEEK), help_text, fix)


def _wrong_words(job: CheckedJob, wrong: Wrong) -> str:
    asked = "submitted now, the job" if wrong.asked == job.settings.now else f"after {_moment(job, wrong.asked)} it"
    if wrong.answer.is_retry:
        return f"{asked} runs every two minutes until the month ends"
    return f"{asked} runs on {_moment(job, wrong.answer)}, and from then on every two minutes until the month ends"


@rule("CRN205", "clock-change", Severity.NOTE, "a clock change within a year that touches a run")
def clock_change(job: CheckedJob) -> Iterator[RuleHit]:
    """Schedules use wall-clock time; the schedd moves a run out of a skipped hour, usually to after it."""
    zone = zone_of(job.settings.zone)
    recurrence = None if zone.is_fixed else job.recurrence
    spec, now = job.crontab.manual, job.settings.now
    if recurrence is None or spec is None or recurrence.wall_clock.never:
        return
    if recurrence.follows_real_time and (recurrence.policy is not Policy.KUBERNETES or spec.stars[HOUR.index]):
        return
    if next(zone.changes(now, now + _YEAR), None) is None:
        return
    try:
        changes = job.file.memory.changes.ask(
            (spec, job.settings.zone, now), lambda: tuple(clock_changes(spec, job.settings.zone, now, now + _YEAR))
        )
    except OutOfRange:
        return
    if changes:
        said = "; ".join(_change_words(job, change, recurrence.policy) for change in changes)
        help_text = (
            "choose an hour that no clock change skips or repeats, or a submit host in a zone without clock changes"
        )
        yield RuleHit(f"in {zone.name} {said}", job.field_span(HOUR), help_text)


def _change_words(job: CheckedJob, change: ClockChange, policy: Policy) -> str:
    low, high = f"{change.low:%H:%M}", f"{change.high:%H:%M}"
    verb = "skips" if change.is_gap else "repeats"
    ends = f"{policy.value}: {_moments(job, change.policies[policy])}"
    if change.schedd != change.policies[policy]:
        ends += f", the schedd: {_moments(job, change.schedd)}"
    return f"{change.low:%Y-%m-%d} {verb} {low} to {high} ({ends})"


@rule("CRN206", "too-frequent", Severity.WARNING, "runs closer together than SCHEDD_INTERVAL")
def too_frequent(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd computes the next time once per SCHEDD_INTERVAL; runs that are past by then are not made up."""
    recurrence, schedule = job.recurrence, job.manual.schedule
    interval = job.settings.schedd_interval
    if recurrence is None or recurrence.wall_clock.never or interval <= 0:
        return
    if schedule is not None and not schedule.universe.waits_for_passes:
        return
    left_out = job.crontab.left_out
    if left_out is not None and left_out[0] is MINUTE:
        return  # CRN208 or CRN109 reports it
    table = recurrence.wall_clock.table
    within = job.gap_within(interval - 1)
    if within is None:
        return
    over_midnight = (time % DAY for time in passed_over((time + DAY for time in table), interval, table[-1]))
    lost = passed_over(table, interval) or list(over_midnight)
    shown = ", ".join(_clock(time) for time in lost[:3]) + (" ..." if len(lost) > 3 else "")
    message = (
        f"runs are {within} s apart, but the schedd computes the next one only once per {interval} s "
        f"(SCHEDD_INTERVAL): up to {len(lost)} of {len(table)} runs a day are lost ({shown})"
    )
    help_text = f"leave {interval} s between runs, or use the local universe, or repeat inside the job"
    yield RuleHit(message, job.field_span(MINUTE), help_text)


@rule("CRN207", "either-day", Severity.NOTE, "both day fields set: a match in either is enough")
def either_day(job: CheckedJob) -> Iterator[RuleHit]:
    """If day of month and day of week are both restricted, a day that matches either counts."""
    recurrence = job.recurrence
    if recurrence is None or not recurrence.wall_clock.rule.either or has_clause(job):
        return
    rule_of = recurrence.wall_clock.rule
    if rule_of.days == DAY_OF_MONTH.full:
        return  # CRN113 reports it
    months, days, weekdays = rule_of.months, rule_of.days, rule_of.weekdays
    first = recurrence.zone.local(job.settings.now) // DAY
    last = first + 364
    either = rule_of.count_days(first, last)
    by_month = DayRule(months, days, DAY_OF_WEEK.full, either=False).count_days(first, last)
    by_week = DayRule(months, DAY_OF_MONTH.full, weekdays, either=False).count_days(first, last)
    both = DayRule(months, days, weekdays, either=False).count_days(first, last)
    message = (
        f"a day matches by day of month or by day of week: {either} days in the coming year ({by_month} by day of "
        f"month, {by_week} by day of week); both match on {both}"
    )
    one, other = (fields_text(job, {field: "*"}) for field in (DAY_OF_WEEK, DAY_OF_MONTH))
    both_days = compile_command(job, f"({one}) and ({other})")
    yield RuleHit(message, job.field_span(DAY_OF_WEEK), f"fields and a clause for days that match both: {both_days}")


@rule(
    "CRN208", "field-left-out", Severity.WARNING, "an hour or a day without a minute: every minute of it", misses=True
)
def field_left_out(job: CheckedJob) -> Iterator[RuleHit]:
    """An unset field counts as `*`: cron_hour = 6 alone runs at every minute from 6:00 to 6:59."""
    left_out = job.crontab.left_out
    if left_out is None or any(name in job.values for name in CRON_NAMES[left_out[0]]):
        return  # set to nothing: CRN109
    missing, field = left_out
    message = f"the job runs at every {missing.title}: {field.command} is set and {missing.command} is not"
    edit = insertion(job, missing.command, "0")
    fix = Fix(f"set {missing.command} = 0", (edit,), safe=False) if edit else None
    help_text = f"set {missing.command}, to `*` if every {missing.title} is meant"
    severity = Severity.NOTE if missing is HOUR else None
    yield RuleHit(message, job.field_span(field), help_text, fix, severity)


def _is_leap_day(rule_of: DayRule) -> bool:
    """Return whether a rule matches only 29 February."""
    days = rule_of.days >> 1 & 0x0FFFFFFF
    return not rule_of.either and rule_of.months == 1 << _FEBRUARY and not days and bool(rule_of.days >> _LEAP_DAY & 1)


def _moment(job: CheckedJob, time: int) -> str:
    at = zone_of(job.settings.zone).moment(time)
    return f"{short_weekday(at)} {at:%Y-%m-%d %H:%M}"


def _moments(job: CheckedJob, times: tuple[int, ...]) -> str:
    shown = ", ".join(_moment(job, time) for time in times[:3])
    return f"{shown} ..." if len(times) > 3 else shown or "no run"


def _clock(second: int) -> str:
    return f"{second // 3600:02}:{second % 3600 // 60:02}"


def _month_names(months: list[int]) -> str:
    return ", ".join(SHORT_MONTHS[month] for month in months)
