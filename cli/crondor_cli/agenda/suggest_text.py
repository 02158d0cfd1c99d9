"""A suggestion as text for people: before and after, what moves and why, what stays, and the diff."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from crondor.spreading import Load
from crondor_cli.agenda.days import LISTED, Agenda
from crondor_cli.agenda.suggest import Suggestion
from crondor_cli.agenda.text import some, with_count
from crondor_cli.common.changed_text import diff_of
from crondor_cli.common.columns import plural
from crondor_cli.common.layout import in_columns, screen_columns
from crondor_cli.common.options import Clock
from crondor_cli.common.output import emit, say
from crondor_cli.times.text import local_text

_REASONS = 10  # jobs that stay, listed


def print_suggestion(agenda: Agenda, suggestion: Suggestion, clock: Clock, *, is_written: bool) -> None:
    """Print it, and unless it was written the diff of each file; nothing where no file has a job with a time."""
    if not agenda.entries:
        return
    before, after = suggestion.spreading.before, suggestion.spreading.after
    lines = [_title(agenda, suggestion, clock), ""]
    rows = [
        ["most starts in a minute", str(before.most_starts), str(after.most_starts)],
        ["most slots held at once", str(before.most_held), str(after.most_held)],
    ]
    lines += in_columns(["", "before", "after"], rows, screen_columns(sys.stdout), right={1, 2})
    for name, load in (("before", before), ("after", after))[: 2 if suggestion.moves else 1]:
        lines += ["", f"Busiest minutes {name}" if suggestion.moves else "Busiest minutes"]
        lines += _minutes(load, suggestion, clock)
    lines += ["", *_moves(agenda, suggestion)]
    lines += _staying(agenda, suggestion)
    say("\n".join(lines))
    if suggestion.files and not is_written:
        say()
        for old, new in suggestion.files:
            emit(diff_of(old, new).encode("utf-8", "surrogateescape"))


def why(suggestion: Suggestion, number: int) -> str:
    """Say why a move is made."""
    move = suggestion.moves[number]
    how = "the minute of its name" if move.is_own else "a better time" if move.after.later else "a better minute"
    if move.starts[0] > move.starts[1]:
        return f"{how}: among {plural(move.starts[1], 'start')} at most, not {move.starts[0]}"
    if move.held[0] > move.held[1]:
        return f"{how}: among {move.held[1]} held slots at most, not {move.held[0]}"
    return f"{how}: makes room for others"


def _title(agenda: Agenda, suggestion: Suggestion, clock: Clock) -> str:
    time = suggestion.time
    return (
        f"{plural(agenda.jobs, 'job')} from {local_text(time.start, clock.zone)} until "
        f"{local_text(time.end, clock.zone)}\nzone {clock.zone_name}, dialect {agenda.dialect.value}; a slot is held "
        f"from when a job may be matched until its window ends"
        + (f", or {time.run_time} s after its start" if time.run_time else "")
    )


def _minutes(load: Load, suggestion: Suggestion, clock: Clock) -> list[str]:
    rows = []
    for minute in load.busiest(LISTED):
        at = local_text(suggestion.time.start + 60 * minute, clock.zone)
        rows.append([at, plural(load.held[minute], "slot"), plural(load.starts[minute], "start")])
    return in_columns([""] * 3, rows, screen_columns(sys.stdout), margin="  ", right={1, 2}) if rows else ["  none"]


def _moves(agenda: Agenda, suggestion: Suggestion) -> Iterator[str]:
    if not suggestion.moves:
        yield "Nothing to move: the jobs that may be moved stand well where they are"
        return
    has_hours = any(move.after.later for move in suggestion.moves)
    yield "Proposed for cron_minute and cron_hour" if has_hours else "Proposed for cron_minute"
    rows = []
    for number, move in enumerate(suggestion.moves):
        hours = [f"hour {move.hours[0]} -> {move.hours[1]}" if move.after.later else ""] if has_hours else []
        minutes = f"{move.before.text} -> {move.after.text}"
        rows.append([some(agenda, move.jobs), minutes, *hours, why(suggestion, number)])
    yield from in_columns([""] * (4 if has_hours else 3), rows, screen_columns(sys.stdout), margin="  ")


def _staying(agenda: Agenda, suggestion: Suggestion) -> Iterator[str]:
    fixed = suggestion.spreading.fixed
    if not fixed:
        return
    yield from ("", "Not moved")
    rows = [[with_count(agenda.entries[number]), fixed[number]] for number in sorted(fixed)[:_REASONS]]
    yield from in_columns([""] * 2, rows, screen_columns(sys.stdout), margin="  ")
    if len(fixed) > _REASONS:
        yield f"  and {len(fixed) - _REASONS:,} more"
