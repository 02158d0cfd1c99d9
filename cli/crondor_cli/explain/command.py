"""`crondor explain`: explain what a schedule means, and why it fires at a time or does not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

import click

from crondor.audit import ClockChange
from crondor.calendar import short_weekday
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.day_rule import decided_by, is_unrestricted
from crondor.diagnostics import CrondorError, has_error, printable, shortened
from crondor.preview.facts import LAST_INSTANT, ExplainedJob, asked_year, explain, portable_line, years_after
from crondor.preview.field_words import day_rule_words, value_name, value_set, why_words, written
from crondor.preview.runs import folded, last_retry
from crondor.recurrence import ScheddAnswer, Why
from crondor.schedule import JobSchedule
from crondor.spec import DAY_OF_WEEK, FIELDS, MONTH, CronSpec, Dialect
from crondor.words import describe, steps_beyond
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.options import Clock, UsageProblem
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import (
    ScheduleRequest,
    as_request,
    asked_data,
    known_text,
    read_schedules,
    schedule_text_option,
)
from crondor_cli.kit.screen import FACTS, PROSE, echo_lines, prose, say, screen_columns, show, tinted, usage, whole
from crondor_cli.kit.tables import (
    columns,
    diagnostic_data,
    echo_json,
    instant,
    instant_or_none,
    reason_data,
    reason_lines,
)
from crondor_cli.kit.times import length, local_text, relative, retries_text, zone_text
from crondor_cli.kit.typed_times import SkippedTime

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor.preview.jobs import Clock as PreviewClock
    from crondor_cli.explain import results
    from crondor_cli.kit.results import Instant

EPILOG = """\b
Examples:
  crondor explain job.sub
  crondor explain --crontab '0 6 1-10/3 * 1' --tz Europe/Berlin
  crondor explain --crontab '30 2 * * *' --at '2026-12-02 02:31'
  crondor explain --minute 0 --hour '*/6' --until 2030-01-01 --format json
  crondor explain --schedule 'Mon..Fri 09:00 except holidays:DE'

The fields are read as HTCondor's manual says, and compared with the reading of HTCondor 25.14's schedd; --dialect
selects another reading.

Exit status: 0 fine, also if --at does not match; 1 a finding (invalid, never fires); 2 wrong usage."""


@click.command("explain", cls=Command, example='crondor explain --crontab "30 2 * * *"', epilog=EPILOG)
@opts.schedule_options
@opts.ads_option
@schedule_text_option
@click.option("--at", metavar="TIME", help="Explain why the schedule fires at this time, or why not.")
@opts.until_option("Look for clock changes", "two years on")
@opts.file_options
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.format_option("table", "json", text="How to print the explanation.")
@as_request
def command(request: ScheduleRequest, at: str | None, until: str | None, format_: str) -> None:
    """Explain a schedule: values, gaps, counts, differences of the real schedd, and coming clock changes.

    With --at, explain why the schedule fires at that time, or which field prevents it.
    """
    clock, only = request.clock, request.dialect or Dialect.MANUAL
    end = _until(clock, until, at)
    instant, skipped = _instant(clock, at)
    asked = request.alone({"--until": until})
    if asked is not None:
        show_explanation(asked, clock, instant, format_)
        return
    jobs, warnings = read_schedules(request._replace(dialect=only))
    counted = PROGRESS.counted(jobs, "explaining", "jobs")
    explanations = [explain(job, only, end, instant, skipped) for job in counted]
    show(dict.fromkeys([*warnings, *(finding for e in explanations for finding in e.findings)]))
    rows = map(_row, explanations)
    if format_ == "table":
        shown = (_block(row, e) for row, e in zip(rows, explanations, strict=True) if e.schedule and e.is_deferred)
        echo_lines(_spaced(shown))
    else:
        data: results.ExplainResult = {"jobs": list(rows), "diagnostics": list(map(diagnostic_data, warnings))}
        echo_json(data)
    if has_error(warnings) or any(e.failed for e in explanations) or not any(e.is_deferred for e in explanations):
        raise click.exceptions.Exit(1)


def _instant(clock: Clock, at: str | None) -> tuple[int | None, SkippedTime | None]:
    """Return the time of --at; for a skipped time the end of the gap, and the error for the typed time."""
    if at is None:
        return None, None
    try:
        return clock.read(at, "--at"), None
    except UsageProblem as problem:
        if not isinstance(problem.error, SkippedTime):
            raise
        return problem.error.gap.instant, problem.error


def _until(clock: Clock, until: str | None, at: str | None) -> int:
    if until is not None and at is not None:
        raise usage("--until is for coming clock changes, and cannot be used with --at")
    end = clock.last(until, "no clock change")
    return years_after(clock.now, 2, clock.zone) if end is None else min(end, LAST_INSTANT)


def show_explanation(schedule: WrittenSchedule, clock: Clock, at: int | None, form: str) -> None:
    """Print what a schedule means, and whether it fires ``at`` a time. Exits with 1 if it never runs."""
    row = _asked(schedule, clock, at)
    show(schedule.warnings)
    if form == "json":
        data: results.ExplainResult = {
            "jobs": [],
            "schedules": [row],
            "diagnostics": list(map(diagnostic_data, schedule.warnings)),
        }
        echo_json(data)
    else:
        facts = _asked_facts(row, clock, schedule.zone.info)
        say("\n".join(f"  {name:<9}  {text}" if name else text for name, text in facts))
    if row["next"] is None and row["earlier"] is None:
        raise click.exceptions.Exit(1)


def _asked(schedule: WrittenSchedule, clock: Clock, at: int | None) -> results.ExplainedSchedule:
    moment, year = clock.now if at is None else at, asked_year(schedule, clock)
    return {
        **asked_data(schedule, clock),
        "canonical": None if schedule.spec is None else str(schedule.spec),
        "next": instant_or_none(schedule.next(moment), clock.zone),
        "earlier": instant_or_none(schedule.previous(moment), clock.zone),
        "year": {"runs": year.runs, "shortest_gap": year.shortest, "longest_gap": year.longest, "until": year.end},
        "at": None if at is None else {**instant(at, clock.zone), "fires": schedule.matches(at)},
    }


def _asked_facts(row: results.ExplainedSchedule, clock: Clock, zone: tzinfo) -> Iterator[tuple[str, str]]:
    yield "", printable(row["text"])
    yield "schedule", printable(row["words"])
    if row["canonical"] is not None:
        yield "canonical", f"{row['canonical']} (five cron fields say it)"
    yield "zone", row["zone"] + ("" if row["zone"] == clock.zone_name else f"; the submit host's is {clock.zone_name}")
    if row["until"] is not None:
        yield "known", known_text(row["until"], clock)
    yield "runs", _often(row["year"], clock)
    if row["at"] is not None:
        fires = "it fires" if row["at"]["fires"] else "it does not fire"
        yield "at", f"{local_text(row['at']['time'], zone)}: {fires}"
    for name, found in (("before", row["earlier"]), ("next", row["next"])):
        if found is not None:
            yield name, f"{local_text(found['time'], zone)}, {relative(found['time'] - clock.now)}"


def _often(year: results.Year, clock: Clock) -> str:
    runs, shortest, longest = year["runs"], year["shortest_gap"], year["longest_gap"]
    end = local_text(year["until"], clock.zone)
    if not runs:
        return f"none until {end}"
    text = f"{runs} time{'' if runs == 1 else 's'} until {end}"
    if shortest is None or longest is None:
        return text
    more = "" if longest == shortest else f" to {length(longest)}"
    return f"{text}, {length(shortest)}{more} apart"


def _row(e: ExplainedJob) -> results.Job:
    clock, facts, side = e.job.clock, e.facts, e.schedd
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
        "gaps": None
        if facts is None
        else {
            "shortest": _gap(facts.gaps.shortest, facts.gaps.shortest_from),
            "longest": _gap(facts.gaps.longest, facts.gaps.longest_from),
        },
        "counts": None
        if facts is None
        else {
            "day": _range(facts.counts.day),
            "month": _range(facts.counts.month),
            "year": _range(facts.counts.year),
            "next_12_months": facts.year,
            "excluded": facts.excluded,
            "until": facts.year_end,
        },
        "schedd": None
        if side is None
        else {
            "differences": list(map(reason_data, side.reasons)),
            "day_zero": side.has_day_zero,
            "hold_reason": side.hold_reason,
            "hangs": side.hangs,
        },
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


def _gap(seconds: int, day: date) -> results.Gap:
    return {"seconds": seconds, "words": _calendar_length(seconds, day), "first_after": day.isoformat()}


def _range(found: tuple[int, int]) -> results.Range:
    return {"least": found[0], "most": found[1]}


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
        "words": _said(e, spec, why),
        "fields": [{"field": m.field.name, "value": m.value, "matches": m.matches} for m in why.fields],
        "arm": why.arm.value,
        "blocking": [field.name for field in why.blocking],
        "note": why.note,
        "earlier": instant_or_none(why.earlier, zone),
        "later": instant_or_none(why.later, zone),
    }


def _said(e: ExplainedJob, spec: CronSpec, why: Why) -> str:
    """Return the answer to --at; for a skipped time, what happens to it."""
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


_TWICE = (
    "Of a time that comes twice the real schedd takes one. Which one depends on when it last computed the job's next "
    "time; shown is a schedd that has run since the day before."
)
_PASTED = frozenset(("canonical", "portable"))  # facts that are crontab lines
_FEW = 4  # runs listed individually


def _spaced(parts: Iterable[list[str]]) -> list[str]:
    """Return the lines of all parts, separated by empty lines."""
    return [line for number, part in enumerate(parts) for line in ([""] if number else []) + part]


def _block(row: results.Job, e: ExplainedJob) -> list[str]:
    """Return the lines about a job, its parts separated by empty lines."""
    job = e.job
    title = printable(job.name if job.line is None else f"{job.name}:{job.line}")
    title += "" if job.count == 1 else f" ({job.count} jobs)"
    sections = [[tinted(title, bold=True), *_lines(_head(row, e))]]
    if e.spec is not None:
        at, counts, gaps, changes = row["at"], row["counts"], row["gaps"], row["clock_changes"]
        rule = _lines([("day rule", day_rule_words(e.spec))])
        if at is not None and e.why is not None:
            rows = [["field", "there", "allowed", ""], *_fields_there(e.why, e.spec)]
            there = [tinted(line, colour="red") if line.endswith(" no") else line for line in columns(rows)]
            sections += [_prose(at["words"], "  ", "    "), [*there, *rule], _lines(_near(at, e.job.clock.zone))]
        else:
            rows = [["field", "written", "values"]]
            rows += [[each.title, printable(written(e.spec, each)), value_set(e.spec, each)] for each in FIELDS]
            sections += [[*columns(rows), *rule]]
        if counts is not None and gaps is not None:
            sections += [_lines(_numbers(row["next"], gaps, counts, e.job.clock))]
        if row["answers"] is not None and e.schedule is not None:
            sections += [_answers(list(row["answers"]), e, e.schedule)]
        if row["schedd"] is not None:
            sections += [_schedd(row["schedd"], has_answers=row["answers"] is not None)]
        if changes is not None and (changes or at is None):
            sections += [_audit(row, list(changes), e.job.clock.zone)]
    return _spaced(sections)


def _prose(text: str, first: str, below: str | None = None, most: int = PROSE) -> list[str]:
    return prose(text, screen_columns(sys.stdout), first, first if below is None else below, most)


def _lines(facts: Iterable[tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for name, text in facts:
        if name in _PASTED:
            found.append(whole(f"  {name:<12}  {text}"))
        else:
            found += _prose(text, f"  {name:<12}  ", " " * 16, FACTS)
    return found


def _head(row: results.Job, e: ExplainedJob) -> Iterator[tuple[str, str]]:
    schedule = row["schedule"]
    if schedule is None or e.spec is None:
        if e.schedule is not None:
            yield "schedule", _once(e, e.schedule)
        yield "zone", zone_text(e.job.clock)
        return
    yield from (("schedule", schedule["words"]), ("canonical", schedule["canonical"]))
    yield from (("step", printable(remark)) for remark in steps_beyond(e.spec))
    is_set = e.spec.dialect is not Dialect.HTCONDOR
    if is_set and e.why is None:
        same = "the same" if schedule["portable"] == schedule["canonical"] else schedule["portable"]
        yield "portable", same or "none: only the unix dialect can ask for both day fields at once"
    yield "zone", zone_text(e.job.clock)
    if e.spec.dialect is not Dialect.MANUAL:
        yield "dialect", row["dialect"]
    if row["policy"] is not None and is_set:
        yield "policy", f"{row['policy']}, at clock changes"


def _once(e: ExplainedJob, schedule: JobSchedule) -> str:
    clock, time = e.job.clock, schedule.time
    words = "once"
    if not isinstance(time, int):
        words = f"once, deferral_time = {printable(shortened(str(time)))}"
        try:
            time = schedule.next(clock.now).time
        except CrondorError:  # among the findings
            return words
    why = e.job.times(schedule).why_excluded(time)
    never = f"; it never matches: requirements exclude this time ({printable(shortened(why))})" if why else ""
    return f"{words}, at {local_text(time, clock.zone)}, {relative(time - clock.now)}{never}"


def _fields_there(why: Why, spec: CronSpec) -> Iterator[list[str]]:
    """Yield a row for each field at the time of --at."""
    for match in why.fields:
        name = value_name(match)
        there = f"{match.value} ({name[:3]})" if match.field in {MONTH, DAY_OF_WEEK} else name
        yield [match.field.title, there, value_set(spec, match.field), "yes" if match.matches else "no"]


def _near(at: results.At, zone: tzinfo) -> Iterator[tuple[str, str]]:
    for label, found in (("run before", at["earlier"]), ("run after", at["later"])):
        if found is None:
            yield label, "none in the years 1970 to 2200"
        else:
            distance = found["time"] - at["time"]
            side = "earlier" if distance < 0 else "later"
            yield label, f"{local_text(found['time'], zone)}, {length(abs(distance), 2)} {side}"


def _numbers(
    following: Instant | None, gaps: results.Gaps, counts: results.Counts, clock: PreviewClock
) -> Iterator[tuple[str, str]]:
    if following is not None:
        time = following["time"]
        yield "next run", f"{local_text(time, clock.zone)}, {relative(time - clock.now)}"
    elif counts["excluded"] == 0:
        yield "next run", "none before 2201"
    else:
        yield "next run", "requirements exclude all times that were checked"
    shortest, longest = gaps["shortest"], gaps["longest"]
    if shortest["seconds"] == longest["seconds"]:
        yield "gap", f"always {shortest['words']} on the wall clock"
    else:
        yield "shortest gap", f"{shortest['words']}, first after {shortest['first_after']}"
        yield "longest gap", f"{longest['words']}, first after {longest['first_after']}"
    units = (("day", counts["day"]), ("month", counts["month"]), ("year", counts["year"]))
    ranges = [(unit, found["least"], found["most"]) for unit, found in units]
    yield "runs", ", ".join(f"{low:,}{'' if low == high else f' to {high:,}'} a {unit}" for unit, low, high in ranges)
    ahead = f"{counts['next_12_months']:,}, until {datetime.fromtimestamp(counts['until'], clock.zone):%Y-%m-%d}"
    if counts["excluded"] is None:
        ahead += ", of which requirements exclude some"
    elif counts["excluded"]:
        ahead += f"; requirements exclude {counts['excluded']:,} more"
    yield "in 12 months", ahead


def _answers(answers: list[results.Answer], e: ExplainedJob, schedule: JobSchedule) -> list[str]:
    """Return the schedd's next answers, and why nothing else is reported about it."""
    zone, times = e.job.clock.zone, e.job.times(schedule)
    asked = "now" if e.at is None else f"just before {local_text(e.at, zone)}"
    lines = [f"  asked {asked}, and again at each of its answers, the schedd says"]

    def retry_of(answer: results.Answer) -> tuple[bool, int] | None:
        return (answer["excluded"], answer["time"]) if answer["retry"] else None

    def last_of(excluded: bool, time: int) -> int | None:
        recurrence = schedule.recurrence
        if recurrence is None:
            return None
        return last_retry(recurrence, time, lambda each: times.excludes(each) != excluded)

    for each, last in folded(answers, retry_of, last_of):
        mark = " (excluded by requirements)" if each["excluded"] else " (retry)" if each["retry"] else ""
        lines.append(f"    {local_text(each['time'], zone)}{mark}")
        if last is not None:
            lines.append(f"      {retries_text(each['time'], last, zone)}")
    said = (
        "The htcondor dialect is no set of times: what the schedd answers depends on when it is asked. So there are "
        "no gaps, no counts, no reasons and no clock changes to report; the manual dialect has them."
    )
    return [*lines, "", *_prose(said, "  ")]


def _schedd(side: results.Schedd, *, has_answers: bool) -> list[str]:
    if not (side["differences"] or side["hold_reason"] or side["hangs"]):
        return _lines([("real schedd", "reads every field as the manual does; the day-0 defect does not apply")])
    if side["hold_reason"] is not None:
        held = printable(shortened(side["hold_reason"]))
        first = f"  The real schedd holds this job (code {INVALID_CRON_SETTINGS}): {held}"
    elif side["hangs"]:
        first = "  The real schedd (HTCondor 25.14) never returns from its search for such a date: it hangs."
    elif has_answers:
        first = "  The schedd's day-0 defect strikes:"
    else:
        first = "  The real schedd (HTCondor 25.14) differs:"
    return [tinted(first, colour="yellow"), *reason_lines(side["differences"])]


def _audit(row: results.Job, changes: list[results.ClockChange], zone: tzinfo) -> list[str]:
    """Return the clock changes; policies with the same effect share a line."""
    schedd = row["schedd"]
    if row["until"] is not None:
        until = f"{datetime.fromtimestamp(row['until'], zone):%Y-%m-%d}"
        if not changes:
            return _lines([("clocks", f"no clock change affects this schedule before {until}")])
        lines = [f"  Clock changes until {until} that affect the schedule:"]
    else:
        lines = ["  Near a clock change:"]
    for change in changes:
        day = datetime.fromtimestamp(change["time"], zone)
        size = length(abs(change["seconds"]), 2)
        way, fate = ("forward", "is skipped") if change["seconds"] > 0 else ("back", "comes twice")
        span = " to ".join(_wall(each, day) for each in (change["low"], change["high"]))
        lines.append(f"    {short_weekday(day)} {day:%Y-%m-%d}, {way} {size}: {span} {fate}")
        rows = _alike(change, day.date(), zone, has_schedd=schedd is not None and schedd["hold_reason"] is None)
        width = max(map(len, rows.values()))
        lines += [f"      {names:<{width}}  {text}" for text, names in rows.items()]
    if schedd is not None and any(change["seconds"] < 0 and change["schedd"] for change in changes):
        lines += _prose(_TWICE, "    ")
    return lines


def _wall(wall: str, day: datetime) -> str:
    date_, _, clock = wall.partition("T")
    return clock[:5] if date_ == day.date().isoformat() else f"{date_} {clock[:5]}"


def _alike(change: results.ClockChange, day: date, zone: tzinfo, *, has_schedd: bool) -> dict[str, str]:
    """Return the effects on the runs, and the policies with each effect."""
    sides = [
        ("compatible", [(run["time"], False) for run in change["compatible"]]),
        ("debian", [(run["time"], False) for run in change["debian"]]),
        ("skip", [(run["time"], False) for run in change["skip"]]),
        ("kubernetes", [(run["time"], False) for run in change["kubernetes"]]),
    ]
    if has_schedd:
        sides.append(("real schedd", [(run["time"], run["retry"]) for run in change["schedd"]]))
    merged: dict[str, list[str]] = {}
    for name, runs in sides:
        texts = [_clock(time, zone, day) + (" (retry)" if is_retry else "") for time, is_retry in runs]
        text = f"{len(texts)} runs, {texts[0]} to {texts[-1]}" if len(texts) > _FEW else ", ".join(texts) or "no run"
        merged.setdefault(text, []).append(name)
    return {text: "all" if len(names) == len(sides) else ", ".join(names) for text, names in merged.items()}


def _clock(run: int, zone: tzinfo, day: date) -> str:
    moment = datetime.fromtimestamp(run, zone)
    return f"{moment:%H:%M %z}" if moment.date() == day else local_text(run, zone)
