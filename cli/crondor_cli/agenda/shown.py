"""An agenda as text and as JSON (`crondor config schema agenda`)."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Sequence
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
_GATHERED = 100  # jobs named for a minute in which they start
_LISTED = 10  # entries of a list
_SHORTEST_DATE = len("We25")
_HOURS = tuple(f"{hour:02}" for hour in range(24))


def print_agenda(
    agenda: Agenda, clock: Clock, pairs: int, form: str, suggestion: results.Suggestion | None = None
) -> None:
    """Print the agenda, in JSON with the suggestion; no table if no file has a job with a schedule."""
    if form == "json":
        data = _row(agenda, clock, pairs, agenda.collisions(pairs))
        if suggestion is not None:
            data["suggestion"] = suggestion
        echo_json(data)
    elif agenda.entries:
        echo_lines(_lines(_row(agenda, clock, pairs, ([], 0)), agenda, clock))


def _row(agenda: Agenda, clock: Clock, pairs: int, collisions: tuple[list[Collision], int]) -> results.AgendaResult:
    """Return the JSON form; ``collisions`` are pairs of jobs, perhaps too many for a table to compute."""
    span, zone = agenda.span, clock.zone
    busiest, ties = agenda.busiest()
    found, more = collisions
    groups, others = agenda.collision_groups(pairs)
    return {
        "zone": clock.zone_name,
        "now": clock.now,
        "from": span.start,
        "until": span.end,
        "dialect": agenda.dialect.value,
        "job_count": agenda.jobs,
        "starts": agenda.total,
        "days": [_day(agenda, day) for day in span.days],
        "first": [_minute(span, minute, zone) for minute in agenda.soonest()],
        "busiest": [_minute(span, minute, zone) for minute in busiest],
        "busiest_more": ties,
        "collisions": [
            {"jobs": each.jobs, "count": each.times, **instant(span.instant(each.first), zone)} for each in found
        ],
        "collisions_more": more,
        "collision_groups": [{**_minute(span, each.first, zone), "count": each.times} for each in groups],
        "collision_groups_more": others,
        "jobs": (_job(entry, zone) for entry in agenda.entries),
        "invalid": [{"name": name, "line": line} for name, line in agenda.invalid],
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(agenda.findings)],
    }


def _day(agenda: Agenda, day: Day) -> results.Day:
    return {
        "date": day.date.isoformat(),
        "weekday": short_weekday(day.date),
        "seconds": day.end - day.start,
        "starts": agenda.in_day(day),
        "hours": [agenda.in_hour(hour) for hour in day.hours],
    }


def _minute(span: AgendaSpan, minute: Minute, zone: tzinfo) -> results.Minute:
    return {**instant(span.instant(minute.number), zone), "starts": minute.starts, "jobs": minute.entries}


def _job(entry: AgendaEntry, zone: tzinfo) -> results.Job:
    spec = entry.schedule.spec
    return {
        "name": entry.job.name,
        "line": entry.job.line,
        "count": entry.job.count,
        "canonical": None if spec is None else str(spec),
        "runs": entry.starts,
        "leaves": entry.leaves,
        "time": entry.first,
        "local": None if entry.first is None else iso(entry.first, zone),
    }


def _lines(row: results.AgendaResult, agenda: Agenda, clock: Clock) -> Iterator[str]:
    """Yield the lines of the table."""
    start, end = row["from"], row["until"] - (not agenda.span.is_whole)
    counted = f"{plural(row['job_count'], 'job')}, {plural(row['starts'], 'start')}"
    yield _heading(f"{counted} from {local_text(start, clock.zone)} until {local_text(end, clock.zone)}")
    yield f"zone {zone_text(clock)}, dialect {row['dialect']}"
    if row["starts"]:
        yield from ("", *_table(list(row["days"]), agenda.span), *_notes(agenda.span))
        yield from ("", _heading("First starts"), *_minutes(agenda, row["first"], clock))
        yield from ("", *_busiest(list(row["busiest"]), row["busiest_more"], agenda, clock))
        yield from _collisions(row, agenda, clock)
    idle = [[with_count(entry), _later(entry, agenda.span, clock.zone)] for entry in agenda.idle[:_LISTED]]
    yield from _listed("No start in this time", aligned(idle), len(agenda.idle))
    leaving = [entry for entry in agenda.entries if entry.leaves]
    names = [f"  {with_count(entry)}" for entry in leaving[:_LISTED]]
    yield from _listed("Leave the queue after the first run, without on_exit_remove = false", names, len(leaving))
    invalid = [name if line is None else f"{name}:{line}" for name, line in agenda.invalid]
    names = [f"  {printable(name)}" for name in invalid[:_LISTED]]
    yield from _listed("Skipped because of the errors above", names, len(invalid))


def _listed(title: str, lines: list[str], count: int) -> Iterator[str]:
    """Yield a list with its title, and the number of further entries; nothing for an empty one."""
    if lines:
        yield from ("", _heading(title), *lines)
    if count > _LISTED:
        yield f"  and {count - _LISTED:,} more"


def _heading(text: str) -> str:
    return tinted(text, bold=True)


def some(agenda: Agenda, numbers: Sequence[int], most: int = _NAMED) -> str:
    """Return the names of the first few entries."""
    labels = [with_count(agenda.entries[number]) for number in numbers[:most]]
    more = len(numbers) - most
    return ", ".join(labels) + (f" and {more} more" if more > 0 else "")


def _table(days: list[results.Day], span: AgendaSpan) -> list[str]:
    """Return a row for each date, or several rows if the screen is too narrow for a whole day."""
    counts = [list(day["hours"]) for day in days]
    most = max(count or 0 for row in counts for count in row)
    unit = 1 if most < 1000 else 1000 if most < 1_000_000 else 1_000_000  # no hour has more than three digits
    cells = [
        [_cell(count, unit, skipped=is_skipped(day, hour, span)) for hour, count in enumerate(row)]
        for day, row in zip(span.days, counts, strict=True)
    ]
    width = max(2, *(len(cell) for row in cells for cell in row))
    totals = [_cell(day["starts"], unit) for day in days]
    last = max(3, *map(len, totals))
    columns = screen_columns(sys.stdout)
    hours, room = len(_HOURS), 6 if width > 2 else 14
    if columns is not None:
        rooms = {many: columns - many * (width + 1) - 1 - last for many in (24, 12, 8, 6, 4)}
        hours = next((many for many, room in rooms.items() if room >= _SHORTEST_DATE), 4)
        room = rooms[hours]
    names = _dates(span.days, room)
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
        lines.append(f"counts are {name}, truncated; --format json has the numbers")
    return lines


def _dates(days: Sequence[Day], room: int) -> list[str]:
    """Return the dates in the longest form that fits into a number of columns."""
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


def _notes(span: AgendaSpan) -> Iterator[str]:
    """Yield the days that do not have 24 hours, with the reason."""
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


def _minutes(agenda: Agenda, minutes: Iterable[results.Minute], clock: Clock) -> list[str]:
    rows = []
    for minute in minutes:
        time, jobs = minute["time"], list(minute["jobs"])
        shown = local_text(time, clock.zone) + _remark(agenda, jobs, time)
        rows.append([shown, relative(time - clock.now), plural(minute["starts"], "start"), some(agenda, jobs)])
    return aligned(rows, right={2})


def _busiest(minutes: list[results.Minute], more: int, agenda: Agenda, clock: Clock) -> Iterator[str]:
    shared = [minute for minute in minutes if minute["starts"] > 1]
    if not shared:
        yield "Busiest minutes: no minute has more than one start"
        return
    yield from (_heading("Busiest minutes"), *_minutes(agenda, shared, clock))
    if more and shared == minutes:
        yield f"  and {plural(more, 'more minute')} with {plural(minutes[-1]['starts'], 'start')}"


def _collisions(row: results.AgendaResult, agenda: Agenda, clock: Clock) -> Iterator[str]:
    more = row["collision_groups_more"]
    rows = []
    for each in row["collision_groups"]:
        jobs = list(each["jobs"])
        crowd = f"{some(agenda, jobs)} with one another"
        if len(jobs) > 1:
            crowd = f"{plural(each['starts'], 'job')}: {some(agenda, jobs, _GATHERED)}"
        rows.append([plural(each["count"], "time"), f"first {local_text(each['time'], clock.zone)}", crowd])
    if rows or more:
        yield from ("", _heading("Collisions, jobs that start in the same minute"), *aligned(rows, right={0}))
    elif row["job_count"] > 1:
        yield from ("", "Collisions: no two jobs start in the same minute")
    if more:
        yield f"  {'and ' if rows else ''}{plural(more, 'more group' if rows else 'group')}"


def _remark(agenda: Agenda, jobs: list[int], time: int) -> str:
    """Return the effect of a clock change on a start of the minute, if any."""
    recurrences = (agenda.entries[number].schedule.recurrence for number in jobs[:_NAMED])
    marks = (None if recurrence is None else recurrence.clock_mark(time) for recurrence in recurrences)
    mark = next((mark for mark in marks if mark is not None), None)
    return "" if mark is None else f" ({mark})"


def _later(entry: AgendaEntry, span: AgendaSpan, zone: tzinfo) -> str:
    if entry.first is None:
        return "requirements exclude its times"
    return f"{'next' if entry.first >= span.end else 'was'} {local_text(entry.first, zone)}"


def aligned(rows: list[list[str]], right: Container[int] = ()) -> list[str]:
    """Return rows as indented columns without heads."""
    head = [""] * len(rows[0]) if rows else []
    return in_columns(head, rows, screen_columns(sys.stdout), margin="  ", right=right)
