"""CRN2..: the dates and times at which a schedule fires, never fires, or fires too often."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from crondor.algebra import has_day_zero, portable
from crondor.audit import clock_changes
from crondor.calendar import DAY, LONGEST, SHORT_MONTHS, DayRule, short_weekday
from crondor.check.crontab import NAMES
from crondor.check.day_zero import next_wrong, refusals
from crondor.check.edit import insertion
from crondor.check.rewrite import REQUIREMENTS, compile_command, cure_of, edit_day_zero, fields_text, has_clause
from crondor.check.rule import Fix, RuleHit, rule
from crondor.check.subject import CheckedJob
from crondor.deferral import passed_over
from crondor.diagnostics import CrondorError, Severity
from crondor.recurrence import NeverRuns, OutOfRange, Recurrence, never_reason
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH
from crondor.zones import Policy, zone_of

if TYPE_CHECKING:
    from crondor.audit import ClockChange  # read late: few schedules meet a clock change
    from crondor.check.day_zero import Wrong

_FEBRUARY, _LEAP_DAY = 2, 29
_FEW_DAYS = 4  # a short list of days is meant one by one; a long one is a pattern, and 28-31 is a range
_YEAR = 365 * DAY
_LOOPS = "a schedd that is given it never returns from its search, and serves nobody any more"


@rule("CRN201", "never-fires", Severity.ERROR, "a date that does not exist")
def never_fires(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd searches for ever for 31 February, and answers nobody while it does."""
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


@rule("CRN202", "fires-rarely", Severity.WARNING, "a schedule that passes over whole years")
def fires_rarely(job: CheckedJob) -> Iterator[RuleHit]:
    """Only 29 February is a day that a year may lack."""
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
        f"the schedule fires on 29 February only: next {coming}, and up to {years} years may pass between two runs "
        f"(from {since} to {since + years})"
    )
    yield RuleHit(message, job.field_span(DAY_OF_MONTH), "write 28 for the end of each February, or another month")


@rule("CRN203", "short-months", Severity.NOTE, "a day that some months do not have")
def short_months(job: CheckedJob) -> Iterator[RuleHit]:
    """A month without the day is passed over; the run is not moved to its last day."""
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
    """Return the months that lack a day in most years, for each day that some lack."""
    found = {day: [month for month in months if day > (28 if month == _FEBRUARY else LONGEST[month])] for day in days}
    return {day: without for day, without in found.items() if without}


def _is_meant_singly(days: Sequence[int], lacking: Collection[int]) -> bool:
    """Say whether a day that is lacking is no end of a range, like that of 28-31."""
    return len(days) <= _FEW_DAYS and any(day - 1 not in days for day in lacking)


def _lacking_words(lacking: Mapping[int, list[int]]) -> str:
    message = "; ".join(f"day {day} does not occur in {_month_names(months)}" for day, months in lacking.items())
    is_leap_day = lacking.get(_LEAP_DAY) == [_FEBRUARY] and len(lacking) == 1
    return f"{message} of most years" if is_leap_day else message


@rule("CRN204", "day-zero", Severity.ERROR, "a day of week alone: the schedd adds the last day of the month")
def day_zero(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd sets day 0 of a month, and when that is past "now + 120 s", again and again until the month ends."""
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
    if not has_day_zero(wanted):  # CRN112 and CRN113 speak of what is to be written first
        yield RuleHit(message, job.field_span(DAY_OF_WEEK), "write the day fields so that the schedd reads them alike")
        return
    edits, cure = edit_day_zero(job, wanted), cure_of(job, wanted)
    title = "add the clause to requirements that refuses the wrong times"
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
    """Schedules are wall-clock time; the schedd moves a run in a skipped hour, mostly behind it."""
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
        help_text = "choose an hour that no clock change skips or repeats, or the zone of a host without them"
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
    """The schedd computes the next time once in SCHEDD_INTERVAL; runs that are past by then are not made up."""
    recurrence, schedule = job.recurrence, job.manual.schedule
    interval = job.settings.schedd_interval
    if recurrence is None or recurrence.wall_clock.never or interval <= 0:
        return
    if schedule is not None and not schedule.universe.waits_for_passes:
        return
    left_out = job.crontab.left_out
    if left_out is not None and left_out[0] is MINUTE:
        return  # CRN208 or CRN109 speaks of it
    table = recurrence.wall_clock.table
    within = job.gap_within(interval - 1)
    if within is None:
        return
    over_midnight = (time % DAY for time in passed_over((time + DAY for time in table), interval, table[-1]))
    lost = passed_over(table, interval) or list(over_midnight)
    shown = ", ".join(_clock(time) for time in lost[:3]) + (" ..." if len(lost) > 3 else "")
    message = (
        f"runs lie {within} s apart, and the schedd computes the next one once in {interval} s (SCHEDD_INTERVAL): up "
        f"to {len(lost)} of {len(table)} runs a day are lost ({shown})"
    )
    help_text = f"leave {interval} s between two runs, or take the local universe, or let the job itself repeat"
    yield RuleHit(message, job.field_span(MINUTE), help_text)


@rule("CRN207", "either-day", Severity.NOTE, "both day fields set: either decides, not both")
def either_day(job: CheckedJob) -> Iterator[RuleHit]:
    """Where day of month and day of week both restrict, a day that satisfies either of them counts."""
    recurrence = job.recurrence
    if recurrence is None or not recurrence.wall_clock.rule.either or has_clause(job):
        return
    rule_of = recurrence.wall_clock.rule
    if rule_of.days == DAY_OF_MONTH.full:
        return  # CRN113 speaks of it
    months, days, weekdays = rule_of.months, rule_of.days, rule_of.weekdays
    first = recurrence.zone.local(job.settings.now) // DAY
    last = first + 364
    either = rule_of.count_days(first, last)
    by_month = DayRule(months, days, DAY_OF_WEEK.full, either=False).count_days(first, last)
    by_week = DayRule(months, DAY_OF_MONTH.full, weekdays, either=False).count_days(first, last)
    both = DayRule(months, days, weekdays, either=False).count_days(first, last)
    message = (
        f"day of month and day of week are joined by OR: {either} days in a year from now ({by_month} by day of month, "
        f"{by_week} by day of week); both hold on {both}"
    )
    one, other = (fields_text(job, {field: "*"}) for field in (DAY_OF_WEEK, DAY_OF_MONTH))
    both_days = compile_command(job, f"({one}) and ({other})")
    yield RuleHit(message, job.field_span(DAY_OF_WEEK), f"fields and a clause for days that satisfy both: {both_days}")


@rule(
    "CRN208", "field-left-out", Severity.WARNING, "an hour or a day without a minute: every minute of it", misses=True
)
def field_left_out(job: CheckedJob) -> Iterator[RuleHit]:
    """A field that is not set counts as `*`: cron_hour = 6 alone runs at each minute from 6:00 to 6:59."""
    left_out = job.crontab.left_out
    if left_out is None or any(name in job.values for name in NAMES[left_out[0]]):
        return  # one that is set to nothing: CRN109
    missing, field = left_out
    message = f"{field.command} is set and {missing.command} is not: the job runs at every {missing.title} of it"
    edit = insertion(job, missing.command, "0")
    fix = Fix(f"set {missing.command} = 0", (edit,), safe=False) if edit else None
    help_text = f"set {missing.command}, to `*` if every {missing.title} is meant"
    severity = Severity.NOTE if missing is HOUR else None
    yield RuleHit(message, job.field_span(field), help_text, fix, severity)


def _is_leap_day(rule_of: DayRule) -> bool:
    """Say whether a rule takes 29 February and nothing else."""
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
