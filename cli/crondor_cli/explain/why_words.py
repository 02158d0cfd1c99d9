"""Why a schedule fires at an instant or does not, as one plain sentence."""

from __future__ import annotations

from crondor.calendar import MONTHS, WEEKDAYS
from crondor.day_rule import DecidedBy, decided_by
from crondor.diagnostics import printable
from crondor.recurrence import Arm, FieldMatch, Why
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Field
from crondor_cli.common.options import Clock
from crondor_cli.common.schedule_facts import ExplainedJob
from crondor_cli.common.wording import members
from crondor_cli.times.text import local_text

_DAYS = {DAY_OF_MONTH, DAY_OF_WEEK}


def sentence(spec: CronSpec, why: Why, clock: Clock) -> str:
    """Return the answer to "why", or to "why not"."""
    time = local_text(why.instant, clock.zone)
    if why.fires:
        reason = why.note if why.blocking and why.note else _taken(spec, why)
        return printable(f"fires at {time}: {reason}")
    reasons = [_blocked(spec, match) for match in why.fields if match.field in why.blocking]
    days = [match for match in why.fields if match.field in why.blocking and match.field in _DAYS]
    if len(days) == 2:
        reasons = reasons[: -len(days)] if MONTH not in why.blocking else [*reasons[:-3], reasons[-2]]
        reasons.append(_no_day(spec, why))
    return printable(f"not at {time}: {'; '.join(reasons + ([why.note] if why.note else []))}")


def answer(e: ExplainedJob, spec: CronSpec, why: Why) -> str:
    """Return the answer to what was asked with --at; of a time that the clock skips, what becomes of it."""
    clock, skipped = e.job.clock, e.skipped
    if skipped is None:
        return sentence(spec, why, clock)
    gap, wall = skipped.gap, skipped.wall
    way = f"the clock goes from {gap.begin:%H:%M} straight to {gap.end:%H:%M}"
    there = f"there is no {wall:%H:%M} on {wall:%Y-%m-%d}: {way}"
    if not e.names_skipped:
        return f"{there}; the schedule does not name it"
    if e.instead is None:
        return f"{there}; the schedule names it, and this run is left out"
    return f"{there}; the schedule names it, and its run is moved to {local_text(e.instead, clock.zone)}"


def value_name(match: FieldMatch) -> str:
    """Return the value of a field at an instant, as people say it."""
    if match.field == MONTH:
        return MONTHS[match.value]
    return WEEKDAYS[match.value] if match.field == DAY_OF_WEEK else str(match.value)


def _blocked(spec: CronSpec, match: FieldMatch) -> str:
    names = _names(match.field, spec)
    return f"the {match.field.title} is {value_name(match)} and the schedule names {names}"


def _names(field: Field, spec: CronSpec) -> str:
    return members(spec.values(field), {MONTH: MONTHS, DAY_OF_WEEK: WEEKDAYS}.get(field, ()))


def _no_day(spec: CronSpec, why: Why) -> str:
    month, day = why.fields[MONTH.index], why.wall.day
    which = f"{WEEKDAYS[why.fields[DAY_OF_WEEK.index].value]}, {day} {MONTHS[month.value]}"
    named = "; ".join(f"{f.title} {_names(f, spec)}" for f in (DAY_OF_MONTH, DAY_OF_WEEK))
    if decided_by(spec) is DecidedBy.BOTH:
        return f"both day fields would have to allow {which}, and neither does ({named})"
    return f"neither day field allows {which} ({named})"


def _taken(spec: CronSpec, why: Why) -> str:
    by = decided_by(spec)
    restricted = [f.title for f in (MINUTE, HOUR, MONTH) if spec.bits[f.index] != f.full]
    fields = (
        f"{_listed(restricted)} {'allows' if len(restricted) == 1 else 'allow'} the time, and " if restricted else ""
    )
    if why.arm is Arm.EVERY_DAY:
        return f"{fields}every day counts" if fields else "every minute of every day counts"
    if why.arm is Arm.EITHER:
        return f"{fields}both day fields name the day" + ("" if by is DecidedBy.BOTH else ", of which one would do")
    other = "day of week" if why.arm is Arm.DAY_OF_MONTH else "day of month"
    enough = f", which is enough though the {other} does not" if by is DecidedBy.EITHER else ""
    return f"{fields}the {why.arm.value} names the day{enough}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
