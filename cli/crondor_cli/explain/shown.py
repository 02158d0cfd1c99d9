"""An explanation as text and as JSON (`crondor config schema explain`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from crondor.audit import ClockChange
from crondor.calendar import short_weekday
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.day_rule import decided_by, is_unrestricted
from crondor.diagnostics import CrondorError, Diagnostic, printable, shortened
from crondor.preview.facts import ExplainedJob, ScheddSide, ScheduleFacts, portable_line
from crondor.preview.field_words import day_rule_words, value_name, value_set, why_words, written
from crondor.preview.runs import DialectReason, folded, last_retry
from crondor.recurrence import Gaps, ScheddAnswer, Why
from crondor.schedule import JobSchedule
from crondor.spec import DAY_OF_WEEK, FIELDS, MONTH, CronSpec, Dialect
from crondor.words import describe, steps_beyond
from crondor.zones import Policy
from crondor_cli.kit.screen import FACTS, PROSE, echo_lines, prose, screen_columns, tinted, whole
from crondor_cli.kit.tables import columns, diagnostic_data, echo_json, instant, instant_or_none, reason_data
from crondor_cli.kit.times import length, local_text, relative, retries_text, zone_text

if TYPE_CHECKING:
    from crondor_cli.explain import results


def answer(e: ExplainedJob, spec: CronSpec, why: Why) -> str:
    """Return the answer to what was asked with --at; of a time that the clock skips, what becomes of it."""
    clock, skipped = e.job.clock, e.skipped
    if skipped is None:
        return why_words(spec, why, local_text(why.instant, clock.zone))
    gap, wall = skipped.gap, skipped.wall
    way = f"the clock goes from {gap.begin:%H:%M} straight to {gap.end:%H:%M}"
    there = f"there is no {wall:%H:%M} on {wall:%Y-%m-%d}: {way}"
    if not e.names_skipped:
        return f"{there}; the schedule does not name it"
    if e.instead is None:
        return f"{there}; the schedule names it, and this run is left out"
    return f"{there}; the schedule names it, and its run is moved to {local_text(e.instead, clock.zone)}"


_TWICE = (
    "Of a time that comes twice the real schedd takes one. Which one depends on when it last computed the job's next "
    "time; shown is a schedd that has run since the day before."
)
_PASTED = frozenset(("canonical", "portable"))  # facts that are lines of a crontab
_FEW = 4  # runs that are worth naming one by one


def print_table(explanations: list[ExplainedJob]) -> None:
    """Print all explanations, a blank line between them."""
    blocks = [_block(e) for e in explanations if e.schedule is not None and e.is_deferred]
    echo_lines(_spaced(blocks))


def _spaced(parts: list[list[str]]) -> list[str]:
    """Return the lines of all parts, an empty one between two."""
    return [line for number, part in enumerate(parts) for line in ([""] if number else []) + part]


def _block(e: ExplainedJob) -> list[str]:
    sections = [[tinted(_title(e), bold=True), *_lines(_head(e))]]
    if e.spec is not None:
        if e.why is not None:
            sections += _why(e, e.spec)
        else:
            sections += [[*_fields(e.spec), *_lines([("day rule", day_rule_words(e.spec))])]]
        sections += [_lines(_numbers(e, e.facts))] if e.facts is not None else []
        sections += [_answers(e, e.answers)] if e.answers is not None else []
        sections += [_schedd(e)] if e.schedd is not None else []
        sections += [_audit(e, e.changes)] if e.changes is not None and (e.changes or e.why is None) else []
    return _spaced(sections)


def _title(e: ExplainedJob) -> str:
    job = e.job
    jobs = "" if job.count == 1 else f" ({job.count} jobs)"
    return printable(job.name if job.line is None else f"{job.name}:{job.line}") + jobs


def _prose(text: str, first: str, below: str | None = None, most: int = PROSE) -> list[str]:
    return prose(text, screen_columns(sys.stdout), first, first if below is None else below, most)


def _lines(facts: list[tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for name, text in facts:
        if name in _PASTED:
            found.append(whole(f"  {name:<12}  {text}"))
            continue
        found += _prose(text, f"  {name:<12}  ", " " * 16, FACTS)
    return found


def _head(e: ExplainedJob) -> list[tuple[str, str]]:
    clock, schedule = e.job.clock, e.schedule
    zone = ("zone", zone_text(clock))
    if e.spec is None:
        return [("schedule", _once(e, schedule)), zone] if schedule is not None else [zone]
    facts = [("schedule", describe(e.spec)), ("canonical", str(e.spec))]
    facts += [("step", printable(remark)) for remark in steps_beyond(e.spec)]
    if e.spec.dialect is not Dialect.HTCONDOR and e.why is None:
        portable = portable_line(e.spec)
        if portable is None:
            portable = "none: only the unix dialect can ask for both day fields at once"
        facts.append(("portable", "the same" if portable == str(e.spec) else portable))
    facts.append(zone)
    recurrence = schedule.recurrence if schedule is not None else None
    if e.spec.dialect is not Dialect.MANUAL:
        facts.append(("dialect", e.spec.dialect.value))
    if recurrence is not None and e.spec.dialect is not Dialect.HTCONDOR:
        facts.append(("policy", f"{recurrence.policy.value}, at clock changes"))
    return facts


def _once(e: ExplainedJob, schedule: JobSchedule) -> str:
    clock, time = e.job.clock, schedule.time
    written = "once"
    if not isinstance(time, int):
        written = f"once, deferral_time = {printable(shortened(str(time)))}"
        try:
            time = schedule.next(clock.now).time
        except CrondorError:  # said among the findings
            return written
    why = e.job.times(schedule).why_excluded(time)
    never = f"; it never matches: requirements exclude this time ({printable(shortened(why))})" if why else ""
    return f"{written}, at {local_text(time, clock.zone)}, {relative(time - clock.now)}{never}"


def _fields(spec: CronSpec) -> list[str]:
    rows = [["field", "written", "values"]]
    rows += [[field.title, printable(written(spec, field)), value_set(spec, field)] for field in FIELDS]
    return columns(rows)


def _numbers(e: ExplainedJob, facts: ScheduleFacts) -> list[tuple[str, str]]:
    clock, gaps, counts = e.job.clock, facts.gaps, facts.counts
    following = "none before 2201" if facts.excluded == 0 else "requirements exclude all times that were looked at"
    if facts.next is not None:
        following = f"{local_text(facts.next, clock.zone)}, {relative(facts.next - clock.now)}"
    shortest, longest = (
        _calendar_length(gaps.shortest, gaps.shortest_from),
        _calendar_length(gaps.longest, gaps.longest_from),
    )
    if gaps.shortest == gaps.longest:
        lines = [("gap", f"always {shortest} on the wall clock")]
    else:
        lines = [
            ("shortest gap", f"{shortest}, first after {gaps.shortest_from:%Y-%m-%d}"),
            ("longest gap", f"{longest}, first after {gaps.longest_from:%Y-%m-%d}"),
        ]
    units = zip(("day", "month", "year"), counts, strict=True)
    each = [f"{low:,}{'' if low == high else f' to {high:,}'} a {unit}" for unit, (low, high) in units]
    end = datetime.fromtimestamp(facts.year_end, clock.zone)
    ahead = f"{facts.year:,}, until {end:%Y-%m-%d}"
    if facts.excluded is None:
        ahead += ", of which requirements exclude some"
    elif facts.excluded:
        ahead += f"; requirements exclude {facts.excluded:,} more"
    return [("next run", following), *lines, ("runs", ", ".join(each)), ("in 12 months", ahead)]


def _answers(e: ExplainedJob, answers: list[ScheddAnswer]) -> list[str]:
    """Return the schedd's next answers, and why there is nothing else to say of it."""
    clock = e.job.clock
    asked = "now" if e.at is None else f"just before {local_text(e.at, clock.zone)}"
    lines = [f"  asked {asked}, and again at each of its answers, the schedd says"]
    times = None if e.schedule is None else e.job.times(e.schedule)

    def is_excluded(time: int) -> bool:
        return times is not None and times.excludes(time)

    def retry_of(answer: ScheddAnswer) -> tuple[bool, int] | None:
        return (is_excluded(answer), int(answer)) if answer.is_retry else None

    def last_of(excluded: bool, time: int) -> int | None:
        recurrence = None if times is None else times.schedule.recurrence
        return None if recurrence is None else last_retry(recurrence, time, lambda each: is_excluded(each) != excluded)

    for each, last in folded(answers, retry_of, last_of):
        mark = " (excluded by requirements)" if is_excluded(each) else " (retry)" if each.is_retry else ""
        lines.append(f"    {local_text(each, clock.zone)}{mark}")
        if last is not None:
            lines.append(f"      {retries_text(each, last, clock.zone)}")
    said = (
        "The htcondor dialect is no set of times: what the schedd answers depends on when it is asked. So there are "
        "no gaps, no counts, no reasons and no clock changes to tell of; the manual dialect has them."
    )
    return [*lines, "", *_prose(said, "  ")]


def _schedd(e: ExplainedJob) -> list[str]:
    side = e.schedd
    if side is None or not (side.reasons or side.hold_reason or side.hangs):
        return _lines([("real schedd", "reads every field alike, and its day-0 defect cannot strike")])
    if side.hold_reason is not None:
        lines = [
            f"  The real schedd holds this job (code {INVALID_CRON_SETTINGS}): {printable(shortened(side.hold_reason))}"
        ]
    elif side.hangs:
        lines = ["  The real schedd (HTCondor 25.14) never returns from its search for such a date: it hangs."]
    elif e.answers is not None:
        lines = ["  The schedd's day-0 defect strikes:"]
    else:
        lines = ["  The real schedd (HTCondor 25.14) differs:"]
    for reason in side.reasons:
        lines += _reason(reason)
    return [tinted(lines[0], colour="yellow"), *lines[1:]]


def _reason(reason: DialectReason) -> Iterator[str]:
    yield from _prose(printable(reason.why), "    ")
    if reason.write:
        yield whole(f"      {'add to requirements' if reason.is_clause else 'write'}:  {printable(reason.write)}")


def _audit(e: ExplainedJob, changes: list[ClockChange]) -> list[str]:
    """Return the clock changes; what several policies do alike stands in one line."""
    zone = e.job.clock.zone
    if e.why is None:
        until = f"{datetime.fromtimestamp(e.until, zone):%Y-%m-%d}"
        if not changes:
            return _lines([("clocks", f"no change until {until} touches the schedule")])
        lines = [f"  Clock changes until {until} that touch the schedule:"]
    else:
        lines = ["  Beside a clock change:"]
    for change in changes:
        day = datetime.fromtimestamp(change.instant, zone)
        size = length(abs(change.seconds), 2)
        way, fate = ("forward", "is skipped") if change.is_gap else ("back", "comes twice")
        span = f"{_wall(change.low, day)} to {_wall(change.high, day)}"
        lines.append(f"    {short_weekday(day)} {day:%Y-%m-%d}, {way} {size}: {span} {fate}")
        rows = _alike(e, change)
        width = max(len(names) for names, _ in rows)
        lines += [f"      {names:<{width}}  {text}" for names, text in rows]
    if e.schedd is not None and any(not change.is_gap and change.schedd for change in changes):
        lines += _prose(_TWICE, "    ")
    return lines


def _wall(wall: datetime, day: datetime) -> str:
    return f"{wall:%H:%M}" if wall.date() == day.date() else f"{wall:%Y-%m-%d %H:%M}"


def _alike(e: ExplainedJob, change: ClockChange) -> list[tuple[str, str]]:
    zone = e.job.clock.zone
    merged: dict[str, list[str]] = {}
    for policy, runs in change.policies.items():
        merged.setdefault(_runs(runs, change, zone), []).append(policy.value)
    if e.schedd is not None and e.schedd.hold_reason is None:
        merged.setdefault(_runs(change.schedd, change, zone), []).append("real schedd")
    total = sum(map(len, merged.values()))
    return [("all" if len(names) == total else ", ".join(names), text) for text, names in merged.items()]


def _runs(runs: tuple[int, ...], change: ClockChange, zone: tzinfo) -> str:
    if not runs:
        return "no run"
    day = datetime.fromtimestamp(change.instant, zone).date()
    if len(runs) > _FEW:
        return f"{len(runs)} runs, {_clock(runs[0], zone, day)} to {_clock(runs[-1], zone, day)}"
    return ", ".join(_clock(run, zone, day) for run in runs)


def _clock(run: int, zone: tzinfo, day: object) -> str:
    mark = " (retry)" if isinstance(run, ScheddAnswer) and run.is_retry else ""
    moment = datetime.fromtimestamp(run, zone)
    return (f"{moment:%H:%M %z}" if moment.date() == day else local_text(run, zone)) + mark


def _why(e: ExplainedJob, spec: CronSpec) -> list[list[str]]:
    """Return the sentence, the fields one by one, and the runs before and after."""
    why, clock = e.why, e.job.clock
    if why is None:
        return []
    rows = [["field", "there", "allowed", ""]]
    for match in why.fields:
        name = value_name(match)
        there = f"{match.value} ({name[:3]})" if match.field in {MONTH, DAY_OF_WEEK} else name
        rows.append([match.field.title, there, value_set(spec, match.field), "yes" if match.matches else "no"])
    near = []
    for label, time in (("run before", why.earlier), ("run after", why.later)):
        if time is not None:
            side = "earlier" if time < why.instant else "later"
            near.append((label, f"{local_text(time, clock.zone)}, {length(abs(time - why.instant), 2)} {side}"))
        else:
            near.append((label, "none in the years 1970 to 2200"))
    said = _prose(answer(e, spec, why), "  ", "    ")
    shown = [tinted(line, colour="red") if line.endswith(" no") else line for line in columns(rows)]
    return [said, [*shown, *_lines([("day rule", day_rule_words(spec))])], _lines(near)]


_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))


def _calendar_length(seconds: int, start: date) -> str:
    """Return a length in calendar years, days and less: "8 years", "61 days", "1 hour 30 minutes"."""
    days, rest = divmod(seconds, 86400)
    end = start + timedelta(days=days)
    years = end.year - start.year - ((end.month, end.day) < (start.month, start.day))
    days = (end - _anniversary(start, years)).days
    counts = [("year", years), ("day", days)]
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        counts.append((name, count))
    return " ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts if count)


def _anniversary(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)


def print_json(explanations: list[ExplainedJob], warnings: list[Diagnostic]) -> None:
    """Print one object with the jobs in file order."""
    data: results.ExplainResult = {
        "jobs": list(map(_job, explanations)),
        "diagnostics": list(map(diagnostic_data, warnings)),
    }
    echo_json(data)


def _job(e: ExplainedJob) -> results.Job:
    clock, facts = e.job.clock, e.facts
    recurrence = None if e.schedule is None or e.answers is not None else e.schedule.recurrence
    once = e.schedule.time if e.schedule is not None and e.spec is None else None
    return {
        "name": e.job.name,
        "line": e.job.line,
        "count": e.job.count,
        "zone": clock.zone_name,
        "now": clock.now,
        "dialect": e.reading.dialect.value,
        "policy": None if recurrence is None else recurrence.policy.value,
        "deferral_time": once if once is None or isinstance(once, int) else str(once),
        "schedule": None if e.spec is None else _schedule(e.spec),
        "next": None if facts is None else instant_or_none(facts.next, clock.zone),
        "gaps": None if facts is None else _gaps(facts.gaps),
        "counts": None if facts is None else _counts(facts),
        "schedd": None if e.schedd is None else _schedd_data(e.schedd),
        "answers": None if e.answers is None else [_answer(e, each) for each in e.answers],
        "until": None if e.changes is None or e.why is not None else e.until,
        "clock_changes": None if e.changes is None else [_change(e, change) for change in e.changes],
        "at": None if e.why is None or e.spec is None else _why_data(e, e.why, e.spec),
        "diagnostics": list(map(diagnostic_data, e.findings)),
    }


def _schedule(spec: CronSpec) -> results.Schedule:
    return {
        "words": describe(spec),
        "canonical": str(spec),
        "portable": portable_line(spec),
        "fields": [
            {
                "field": field.name,
                "written": spec.given[field.index],
                "values": list(spec.values(field)),
                "unrestricted": is_unrestricted(spec, field),
            }
            for field in FIELDS
        ],
        "day_rule": {"rule": decided_by(spec).value, "words": day_rule_words(spec)},
    }


def _gaps(gaps: Gaps) -> results.Gaps:
    return {"shortest": _gap(gaps.shortest, gaps.shortest_from), "longest": _gap(gaps.longest, gaps.longest_from)}


def _gap(seconds: int, day: date) -> results.Gap:
    return {"seconds": seconds, "words": _calendar_length(seconds, day), "first_after": day.isoformat()}


def _counts(facts: ScheduleFacts) -> results.Counts:
    day, month, year = facts.counts
    return {
        "day": {"least": day[0], "most": day[1]},
        "month": {"least": month[0], "most": month[1]},
        "year": {"least": year[0], "most": year[1]},
        "next_12_months": facts.year,
        "excluded": facts.excluded,
        "until": facts.year_end,
    }


def _schedd_data(side: ScheddSide) -> results.Schedd:
    return {
        "differences": list(map(reason_data, side.reasons)),
        "day_zero": side.has_day_zero,
        "hold_reason": side.hold_reason,
        "hangs": side.hangs,
    }


def _answer(e: ExplainedJob, answer: ScheddAnswer) -> results.Answer:
    return {
        **instant(answer, e.job.clock.zone),
        "retry": answer.is_retry,
        "computed": answer.computed,
        "excluded": e.schedule is not None and e.job.times(e.schedule).excludes(answer),
    }


def _change(e: ExplainedJob, change: ClockChange) -> results.ClockChange:
    zone = e.job.clock.zone
    runs = {policy: [instant(run, zone) for run in found] for policy, found in change.policies.items()}
    return {
        **instant(change.instant, zone),
        "seconds": change.seconds,
        "low": change.low.isoformat(),
        "high": change.high.isoformat(),
        "compatible": runs[Policy.COMPATIBLE],
        "debian": runs[Policy.DEBIAN],
        "skip": runs[Policy.SKIP],
        "kubernetes": runs[Policy.KUBERNETES],
        "schedd": [_answer(e, answer) for answer in change.schedd],
    }


def _why_data(e: ExplainedJob, why: Why, spec: CronSpec) -> results.At:
    zone = e.job.clock.zone
    return {
        **instant(why.instant, zone),
        "fires": why.fires,
        "words": answer(e, spec, why),
        "fields": [{"field": m.field.name, "value": m.value, "matches": m.matches} for m in why.fields],
        "arm": why.arm.value,
        "blocking": [field.name for field in why.blocking],
        "note": why.note,
        "earlier": instant_or_none(why.earlier, zone),
        "later": instant_or_none(why.later, zone),
    }
