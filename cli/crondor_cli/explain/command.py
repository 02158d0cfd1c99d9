"""`crondor explain`: what a schedule means, and why it fires at a time or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crondor.diagnostics import has_error, printable
from crondor.preview.facts import LAST_INSTANT, AskedYear, asked_year, explain, years_after
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.explain.shown import print_json, print_table
from crondor_cli.kit.command import Command
from crondor_cli.kit.jobs import ScheduleRequest
from crondor_cli.kit.options import (
    Clock,
    Surroundings,
    UsageProblem,
    ads_option,
    clock_options,
    file_options,
    format_option,
    reading_options,
    schedule_options,
    until_option,
)
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import (
    asked_data,
    check_alone,
    known_text,
    read_asked,
    read_schedules,
    schedule_text_option,
    without_fields,
)
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json, instant, instant_or_none
from crondor_cli.kit.times import length, local_text, relative
from crondor_cli.kit.typed_times import SkippedTime

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor_cli.explain import results

EXAMPLE = 'crondor explain --crontab "30 2 * * *"'

EPILOG = """\b
Examples:
  crondor explain job.sub
  crondor explain --crontab '0 6 1-10/3 * 1' --tz Europe/Berlin
  crondor explain --crontab '30 2 * * *' --at '2026-12-02 02:31'
  crondor explain --minute 0 --hour '*/6' --until 2030-01-01 --format json
  crondor explain --schedule 'Mon..Fri 09:00 except holidays:DE'

The fields are read as HTCondor's manual says, and compared with what the schedd of HTCondor 25.14 really reads;
--dialect names another reading.

Exit status: 0 fine, whatever the answer to --at; 1 a finding (invalid, never fires); 2 wrong usage."""


@click.command("explain", cls=Command, example=EXAMPLE, epilog=EPILOG)
@schedule_options
@ads_option
@schedule_text_option
@click.option("--at", metavar="TIME", help="Say why the schedule fires at this time, or why not.")
@until_option("Look for clock changes", "two years on")
@file_options
@clock_options
@reading_options(htcondor=True)
@format_option("table", "json", text="How to print the explanation.")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    ads: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    at: str | None,
    until: str | None,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
    surroundings: Surroundings,
    **fields: str | None,
) -> None:
    """Explain a schedule: its values, gaps and counts, what the schedd reads otherwise, and clock changes ahead.

    With --at it says instead why the schedule fires at that time, or which field keeps it from firing.
    """
    end = _until(clock, until, at)
    instant, skipped = _instant(clock, at)
    others = without_fields(paths, crontab, fields) | {"--ads": ads, "--dialect": dialect, "--until": until}
    if check_alone(schedule, own_zone, others):
        asked = read_asked(schedule or "", own_zone, clock, policy, surroundings.allow_dirs)
        show_explanation(asked, clock, instant, format_)
        return
    only = dialect or Dialect.MANUAL
    request = ScheduleRequest(paths, crontab, fields, clock, only, policy=policy, surroundings=surroundings, ads=ads)
    jobs, warnings = read_schedules(request)
    counted = PROGRESS.counted(jobs, "explaining", "jobs")
    explanations = [explain(job, only, end, instant, skipped) for job in counted]
    show(dict.fromkeys([*warnings, *(finding for e in explanations for finding in e.findings)]))
    if format_ == "table":
        print_table(explanations)
    else:
        print_json(explanations, warnings)
    if has_error(warnings) or any(e.failed for e in explanations) or not any(e.is_deferred for e in explanations):
        raise click.exceptions.Exit(1)


def _instant(clock: Clock, at: str | None) -> tuple[int | None, SkippedTime | None]:
    """Return the instant of --at; for a time that the clock skips the end of the gap, and what was typed."""
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
        message = "--until is for the clock changes ahead, which --at does not ask for"
        raise usage(message)
    end = clock.last(until, "no clock change")
    return years_after(clock.now, 2, clock.zone) if end is None else min(end, LAST_INSTANT)


def show_explanation(schedule: WrittenSchedule, clock: Clock, at: int | None, form: str) -> None:
    """Print what a schedule means, and whether it fires ``at`` an instant. Exits with 1 where it never runs."""
    moment = clock.now if at is None else at
    later, earlier = schedule.next(moment), schedule.previous(moment)
    year = asked_year(schedule, clock)
    show(schedule.warnings)
    if form == "json":
        data: results.ExplainResult = {
            "jobs": [],
            "schedules": [_data(schedule, clock, at, year)],
            "diagnostics": list(map(diagnostic_data, schedule.warnings)),
        }
        echo_json(data)
    else:
        say("\n".join(f"  {name:<9}  {text}" if name else text for name, text in _facts(schedule, clock, at, year)))
    if later is None and earlier is None:
        raise click.exceptions.Exit(1)


def _facts(schedule: WrittenSchedule, clock: Clock, at: int | None, year: AskedYear) -> list[tuple[str, str]]:
    facts = [("", printable(schedule.text)), ("schedule", printable(schedule.words))]
    if schedule.spec is not None:
        facts.append(("canonical", f"{schedule.spec} (five cron fields say it)"))
    hint = "" if schedule.zone.name == clock.zone_name else f"; the submit host's is {clock.zone_name}"
    facts.append(("zone", f"{schedule.zone.name}{hint}"))
    known = known_text(schedule, clock)
    facts += [("known", known)] if known else []
    facts.append(("runs", _often(year, clock)))
    zone = schedule.zone.info
    if at is not None:
        fires = "it fires" if schedule.matches(at) else "it does not fire"
        facts.append(("at", f"{local_text(at, zone)}: {fires}"))
    moment = clock.now if at is None else at
    for name, found in (("before", schedule.previous(moment)), ("next", schedule.next(moment))):
        if found is not None:
            facts.append((name, f"{local_text(found, zone)}, {relative(found - clock.now)}"))
    return facts


def _often(year: AskedYear, clock: Clock) -> str:
    end = local_text(year.end, clock.zone)
    if not year.runs:
        return f"none until {end}"
    plural = "" if year.runs == 1 else "s"
    if year.shortest is None or year.longest is None:
        return f"{year.runs} time{plural} until {end}"
    apart = length(year.shortest)
    if year.longest != year.shortest:
        apart = f"{apart} to {length(year.longest)}"
    return f"{year.runs} time{plural} until {end}, {apart} apart"


def _data(schedule: WrittenSchedule, clock: Clock, at: int | None, year: AskedYear) -> results.ExplainedSchedule:
    moment = clock.now if at is None else at
    later, earlier = schedule.next(moment), schedule.previous(moment)
    return {
        **asked_data(schedule, clock),
        "canonical": None if schedule.spec is None else str(schedule.spec),
        "next": instant_or_none(later, clock.zone),
        "earlier": instant_or_none(earlier, clock.zone),
        "year": {"runs": year.runs, "shortest_gap": year.shortest, "longest_gap": year.longest, "until": year.end},
        "at": None if at is None else {**instant(at, clock.zone), "fires": schedule.matches(at)},
    }
