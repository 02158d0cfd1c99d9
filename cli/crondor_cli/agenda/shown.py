"""An agenda as text and as JSON (`crondor config schema agenda`)."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from crondor.calendar import DAY, short_weekday
from crondor.diagnostics import printable
from crondor.preview.agenda import Agenda, AgendaEntry, Collision, Minute, with_count
from crondor.preview.span import AgendaSpan, Day, is_skipped
from crondor_cli.kit.options import Clock
from crondor_cli.kit.screen import echo_lines, in_columns, screen_columns, tinted, together
from crondor_cli.kit.tables import diagnostic_data, echo_json, instant, iso, plural
from crondor_cli.kit.times import length, local_text, relative, zone_text

if TYPE_CHECKING:
    from crondor_cli.agenda import results

_NAMED = 3  # jobs named in a line
_GATHERED = 100  # jobs named of a minute that they start in
_LISTED = 10  # jobs of a list
_SHORTEST_DATE = len("We25")
_HOURS = tuple(f"{hour:02}" for hour in range(24))


def print_table(agenda: Agenda, clock: Clock, pairs: int) -> None:
    """Print the agenda; nothing where no file has a job with a time."""
    if not agenda.entries:
        return
    title, surroundings = _title(agenda, clock)
    lines = [tinted(title, bold=True), surroundings]
    if agenda.total:
        lines += ["", *_table(agenda), *_notes(agenda)]
        lines += ["", _heading("First starts"), *_minutes(agenda, agenda.soonest(), clock)]
        lines += ["", *_busiest(agenda, clock)]
        lines += _collisions(agenda, clock, pairs)
    lines += _idle(agenda, clock)
    lines += _leaving(agenda)
    lines += _invalid(agenda)
    echo_lines(lines)


def _heading(text: str) -> str:
    return tinted(text, bold=True)


def some(agenda: Agenda, numbers: Sequence[int], most: int = _NAMED) -> str:
    """Return the names of some entries, the first few of them."""
    labels = [with_count(agenda.entries[number]) for number in numbers[:most]]
    more = len(numbers) - most
    return ", ".join(labels) + (f" and {more} more" if more > 0 else "")


def _title(agenda: Agenda, clock: Clock) -> tuple[str, str]:
    span = agenda.span
    start, end = (local_text(time, clock.zone) for time in (span.start, span.end if span.is_whole else span.end - 1))
    return (
        f"{plural(agenda.jobs, 'job')}, {plural(agenda.total, 'start')} from {start} until {end}",
        f"zone {zone_text(clock)}, dialect {agenda.dialect.value}",
    )


def _table(agenda: Agenda) -> list[str]:
    """Return a row for each date, and several, below each other, where a screen is too narrow for a whole day."""
    days = agenda.span.days
    counts = [[agenda.in_hour(hour) for hour in day.hours] for day in days]
    unit = _unit(max(count or 0 for row in counts for count in row))
    cells = [
        [_cell(count, unit, skipped=is_skipped(day, hour, agenda.span)) for hour, count in enumerate(row)]
        for day, row in zip(days, counts, strict=True)
    ]
    width = max(2, *(len(cell) for row in cells for cell in row))
    totals = [_cell(agenda.in_day(day), unit) for day in days]
    last = max(3, *map(len, totals))
    columns = screen_columns(sys.stdout)
    hours, room = len(_HOURS), 6 if width > 2 else 14
    if columns is not None:
        rooms = {many: columns - many * (width + 1) - 1 - last for many in (24, 12, 8, 6, 4)}
        hours = next((many for many, room in rooms.items() if room >= _SHORTEST_DATE), 4)
        room = rooms[hours]
    names = _dates(days, room)
    table = [(" " * len(names[0]), _HOURS, "all"), *zip(names, cells, totals, strict=True)]
    whole = [[name, *(cell.rjust(width) for cell in row), total.rjust(last)] for name, row, total in table]
    seen = {count for row in counts for count in row if count}
    most = max(seen) if len(seen) > 1 else -1
    for row, numbers in zip(whole[1:], counts, strict=True):
        row[1:-1] = [tinted(c, colour="yellow") if n == most else c for c, n in zip(row[1:-1], numbers, strict=True)]
    starts = range(1, len(_HOURS), hours)
    ends = {start: None if start == starts[-1] else start + hours for start in starts}
    parts = [[row[0], *row[start : ends[start]]] for start in starts for row in whole]
    lines: list[str] = [together(part[0], *(piece for cell in part[1:] for piece in (" ", cell))) for part in parts]
    if unit > 1:
        name = "thousands" if unit == 1000 else "millions"
        lines.append(f"counts are {name}, cut off; --format json has the numbers")
    return lines


def _unit(most: int) -> int:
    """Return in what counts are shown, so that none of an hour has more than three digits."""
    return 1 if most < 1000 else 1000 if most < 1_000_000 else 1_000_000


def _dates(days: Sequence[Day], room: int) -> list[str]:
    """Return the dates as whole as they fit into so many columns."""
    whole = [f"{short_weekday(day.date)} {day.date.isoformat()}" for day in days]
    if len(whole[0]) <= room:
        return whole
    blank = " " if room >= len("Wed 25") else ""
    return [f"{short_weekday(day.date)[: 3 if blank else 2]}{blank}{day.date.day:02}" for day in days]


def _cell(count: int | None, unit: int, *, skipped: bool = False) -> str:
    if count is None:
        return "-" if skipped else ""
    if not count:
        return "."
    return str(count // unit) if count >= unit else "<1"


def _notes(agenda: Agenda) -> Iterator[str]:
    """Say which days have no 24 hours, and why."""
    span = agenda.span
    for change in span.changes:
        day = next(day for day in span.days if day.start <= change.instant < day.end)
        old, new = (_wall(change.instant + offset) for offset in (change.before, change.after))
        forward = change.after > change.before
        hours = length(day.end - day.start, 2).replace("1 d 1 h", "25 h").replace("1 d", "24 h")
        how = f"from {old} to {new}" if forward else f"from {old} back to {new}, and that time counts twice"
        yield f"{short_weekday(day.date)} {day.date.isoformat()} has {hours}: the clock goes {how}"


def _wall(local: int) -> str:
    minutes = local % DAY // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _minutes(agenda: Agenda, minutes: list[Minute], clock: Clock) -> list[str]:
    rows = []
    for minute in minutes:
        time = agenda.span.instant(minute.number)
        count = plural(minute.starts, "start")
        rows.append(
            [
                local_text(time, clock.zone) + _remark(agenda, minute, time),
                relative(time - clock.now),
                count,
                some(agenda, minute.entries),
            ]
        )
    return _aligned(rows, right={2})


def _busiest(agenda: Agenda, clock: Clock) -> list[str]:
    minutes, more = agenda.busiest()
    shared = [minute for minute in minutes if minute.starts > 1]
    if not shared:
        return ["Busiest minutes: no minute has more than one start"]
    lines = [_heading("Busiest minutes"), *_minutes(agenda, shared, clock)]
    if more and shared == minutes:
        lines.append(f"  and {plural(more, 'more minute')} with {plural(minutes[-1].starts, 'start')}")
    return lines


def _collisions(agenda: Agenda, clock: Clock, pairs: int) -> list[str]:
    found, more = agenda.collision_groups(pairs)
    if not found and not more:
        return ["", "Collisions: no two jobs start in the same minute"] if agenda.jobs > 1 else []
    rows = [
        [
            plural(each.times, "time"),
            f"first {local_text(agenda.span.instant(each.first.number), clock.zone)}",
            _crowd(agenda, each.first),
        ]
        for each in found
    ]
    lines = ["", _heading("Collisions, jobs that start in the same minute"), *_aligned(rows, right={0})]
    if more:
        lines.append(f"  {'and ' if found else ''}{plural(more, 'more group' if found else 'group')}")
    return lines


def _remark(agenda: Agenda, minute: Minute, time: int) -> str:
    """Return what a clock change did to a start of the minute, if it did anything."""
    recurrences = (agenda.entries[number].schedule.recurrence for number in minute.entries[:_NAMED])
    marks = (None if recurrence is None else recurrence.clock_mark(time) for recurrence in recurrences)
    mark = next((mark for mark in marks if mark is not None), None)
    return "" if mark is None else f" ({mark})"


def _crowd(agenda: Agenda, minute: Minute) -> str:
    if len(minute.entries) == 1:
        return f"{some(agenda, minute.entries)} with one another"
    return f"{plural(minute.starts, 'job')}: {some(agenda, minute.entries, _GATHERED)}"


def _idle(agenda: Agenda, clock: Clock) -> list[str]:
    idle = agenda.idle
    if not idle:
        return []
    rows = [[with_count(entry), _later(entry, agenda.span, clock.zone)] for entry in idle[:_LISTED]]
    more = [f"  and {len(idle) - _LISTED:,} more"] if len(idle) > _LISTED else []
    return ["", _heading("No start in this time"), *_aligned(rows), *more]


def _leaving(agenda: Agenda) -> list[str]:
    """Name the jobs that leave the queue after their first run: only that start counts."""
    found = [entry for entry in agenda.entries if entry.leaves]
    if not found:
        return []
    names = [f"  {with_count(entry)}" for entry in found[:_LISTED]]
    more = [f"  and {len(found) - _LISTED:,} more"] if len(found) > _LISTED else []
    return ["", _heading("Leave the queue after the first run, without on_exit_remove = false"), *names, *more]


def _later(entry: AgendaEntry, span: AgendaSpan, zone: tzinfo) -> str:
    if entry.first is None:
        return "requirements exclude its times"
    return f"{'next' if entry.first >= span.end else 'was'} {local_text(entry.first, zone)}"


def _invalid(agenda: Agenda) -> list[str]:
    if not agenda.invalid:
        return []
    names = [printable(name if line is None else f"{name}:{line}") for name, line in agenda.invalid[:_LISTED]]
    more = [f"  and {len(agenda.invalid) - _LISTED:,} more"] if len(agenda.invalid) > _LISTED else []
    return ["", _heading("Left out, for the errors above"), *(f"  {name}" for name in names), *more]


def _aligned(rows: list[list[str]], right: Container[int] = ()) -> list[str]:
    head = [""] * len(rows[0]) if rows else []
    return in_columns(head, rows, screen_columns(sys.stdout), margin="  ", right=right)


def print_json(agenda: Agenda, clock: Clock, pairs: int, suggestion: results.Suggestion | None = None) -> None:
    """Print one object, with what is suggested if that was asked for."""
    span = agenda.span
    busiest, ties = agenda.busiest()
    found, more = agenda.collisions(pairs)
    groups, others = agenda.collision_groups(pairs)
    data: results.AgendaResult = {
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


def _day(agenda: Agenda, day: Day) -> results.Day:
    return {
        "date": day.date.isoformat(),
        "weekday": short_weekday(day.date),
        "seconds": day.end - day.start,
        "starts": agenda.in_day(day),
        "hours": [agenda.in_hour(hour) for hour in day.hours],
    }


def _minute(agenda: Agenda, minute: Minute, clock: Clock) -> results.Minute:
    time = agenda.span.instant(minute.number)
    return {**instant(time, clock.zone), "starts": minute.starts, "jobs": minute.entries}


def _collision(agenda: Agenda, collision: Collision, clock: Clock) -> results.Collision:
    time = agenda.span.instant(collision.first)
    return {"jobs": collision.jobs, "count": collision.times, "time": time, "local": iso(time, clock.zone)}


def _job(entry: AgendaEntry, clock: Clock) -> results.Job:
    spec = entry.schedule.spec
    return {
        "name": entry.job.name,
        "line": entry.job.line,
        "count": entry.job.count,
        "canonical": None if spec is None else str(spec),
        "runs": entry.starts,
        "leaves": entry.leaves,
        "time": entry.first,
        "local": None if entry.first is None else iso(entry.first, clock.zone),
    }
