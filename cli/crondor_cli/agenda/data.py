"""An agenda as JSON; `crondor config schema agenda` has the keys."""

from __future__ import annotations

from crondor.calendar import short_weekday
from crondor_cli.agenda.collisions import Collision
from crondor_cli.agenda.days import Agenda, AgendaEntry, Minute
from crondor_cli.agenda.span import Day
from crondor_cli.common.data import diagnostic_data, iso
from crondor_cli.common.options import Clock
from crondor_cli.common.streaming import echo_json


def print_json(agenda: Agenda, clock: Clock, pairs: int, suggestion: dict[str, object] | None = None) -> None:
    """Print one object, with what is suggested if that was asked for."""
    span = agenda.span
    busiest, ties = agenda.busiest()
    found, more = agenda.collisions(pairs)
    groups, others = agenda.collision_groups(pairs)
    data: dict[str, object] = {
        "zone": clock.zone_name,
        "now": clock.now,
        "from": span.start,
        "until": span.end,
        "dialect": agenda.dialect.value,
        "job_count": agenda.jobs,
        "starts": agenda.total,
        "days": [_day(agenda, day) for day in span.days],
        "first": [_minute(agenda, minute, clock) for minute in agenda.soonest()],
        "busiest": [_minute(agenda, minute, clock) for minute in busiest],
        "busiest_more": ties,
        "collisions": [_collision(agenda, collision, clock) for collision in found],
        "collisions_more": more,
        "collision_groups": [{**_minute(agenda, each.first, clock), "count": each.times} for each in groups],
        "collision_groups_more": others,
        "jobs": [_job(entry, clock) for entry in agenda.entries],
        "invalid": [{"name": name, "line": line} for name, line in agenda.invalid],
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(agenda.findings)],
    }
    if suggestion is not None:
        data["suggestion"] = suggestion
    echo_json(data)


def _day(agenda: Agenda, day: Day) -> dict[str, object]:
    return {
        "date": day.date.isoformat(),
        "weekday": short_weekday(day.date),
        "seconds": day.end - day.start,
        "starts": agenda.in_day(day),
        "hours": [agenda.in_hour(hour) for hour in day.hours],
    }


def _minute(agenda: Agenda, minute: Minute, clock: Clock) -> dict[str, object]:
    time = agenda.span.instant(minute.number)
    return {"time": time, "local": iso(time, clock.zone), "starts": minute.starts, "jobs": minute.entries}


def _collision(agenda: Agenda, collision: Collision, clock: Clock) -> dict[str, object]:
    time = agenda.span.instant(collision.first)
    return {
        "jobs": list(collision.jobs),
        "count": collision.times,
        "time": time,
        "local": iso(time, clock.zone),
    }


def _job(entry: AgendaEntry, clock: Clock) -> dict[str, object]:
    spec = entry.schedule.spec
    return {
        "name": entry.job.name,
        "line": entry.job.line,
        "count": entry.job.count,
        "canonical": spec and str(spec),
        "runs": entry.starts,
        "leaves": entry.leaves,
        "time": entry.first,
        "local": None if entry.first is None else iso(entry.first, clock.zone),
    }
