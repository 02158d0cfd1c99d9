"""`crondor explain --schedule TEXT`: what it means, how often it runs, and whether it does at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.calendar import DAY
from crondor.diagnostics import printable
from crondor_cli.common.asked_facts import asked_data, known_text
from crondor_cli.common.data import diagnostic_data, instant
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.schedule_facts import years_after
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import local_text, relative

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule


class _Year(NamedTuple):
    """The runs of the coming year (or of what is known of it): how many, and how far apart in seconds."""

    runs: int
    shortest: int | None
    longest: int | None
    end: int


def show_explanation(schedule: WrittenSchedule, clock: Clock, at: int | None, form: str) -> None:
    """Print what a schedule means, and whether it fires ``at`` an instant. Exits with 1 where it never runs."""
    moment = clock.now if at is None else at
    later, earlier = schedule.next(moment), schedule.previous(moment)
    year = _year(schedule, clock)
    show(schedule.warnings)
    if form == "json":
        echo_json({"jobs": [], "schedules": [_data(schedule, clock, at, year)], "diagnostics": _warnings(schedule)})
    else:
        say("\n".join(f"  {name:<9}  {text}" if name else text for name, text in _facts(schedule, clock, at, year)))
    if later is None and earlier is None:
        raise click.exceptions.Exit(1)


def _warnings(schedule: WrittenSchedule) -> list[dict[str, object]]:
    return [diagnostic_data(each) for each in schedule.warnings]


def _year(schedule: WrittenSchedule, clock: Clock) -> _Year:
    end = years_after(clock.now, 1, clock.zone)
    if schedule.until is not None:
        end = min(end, schedule.until)
    runs, shortest, longest = 0, None, None
    first: int | None = None
    for one, other in pairwise(schedule.between(clock.now, end)):
        gap = other - one
        runs += 1
        first = one if first is None else first
        shortest = gap if shortest is None else min(shortest, gap)
        longest = gap if longest is None else max(longest, gap)
    found = schedule.next(clock.now)
    return _Year(runs + (found is not None and found <= end), shortest, longest, end)


def _facts(schedule: WrittenSchedule, clock: Clock, at: int | None, year: _Year) -> list[tuple[str, str]]:
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


def _often(year: _Year, clock: Clock) -> str:
    end = local_text(year.end, clock.zone)
    if not year.runs:
        return f"none until {end}"
    plural = "" if year.runs == 1 else "s"
    if year.shortest is None or year.longest is None:
        return f"{year.runs} time{plural} until {end}"
    apart = _length(year.shortest)
    if year.longest != year.shortest:
        apart = f"{apart} to {_length(year.longest)}"
    return f"{year.runs} time{plural} until {end}, {apart} apart"


def _length(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    hours, minutes = divmod(rest // 60, 60)
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if number]
    return " ".join(parts)


def _data(schedule: WrittenSchedule, clock: Clock, at: int | None, year: _Year) -> dict[str, object]:
    moment = clock.now if at is None else at
    later, earlier = schedule.next(moment), schedule.previous(moment)
    return {
        **asked_data(schedule, clock),
        "canonical": None if schedule.spec is None else str(schedule.spec),
        "next": None if later is None else instant(later, clock.zone),
        "earlier": None if earlier is None else instant(earlier, clock.zone),
        "year": {"runs": year.runs, "shortest_gap": year.shortest, "longest_gap": year.longest, "until": year.end},
        "at": None if at is None else {**instant(at, clock.zone), "fires": schedule.matches(at)},
    }
