"""`crondor agenda --suggest`: other minutes for the jobs of an agenda, as text and as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.diagnostics import Source, printable
from crondor.preview.agenda import LISTED, Agenda, AgendaEntry, with_count
from crondor.preview.suggestion import Suggestion, why
from crondor.spreading import Load
from crondor_cli.agenda.shown import aligned, some
from crondor_cli.kit.files import diff_of, write_source
from crondor_cli.kit.options import Clock
from crondor_cli.kit.screen import emit, in_columns, say, screen_columns, usage
from crondor_cli.kit.tables import diagnostic_data, instant, plural
from crondor_cli.kit.times import local_text

if TYPE_CHECKING:
    from crondor_cli.agenda import results


class SuggestOptions(NamedTuple):
    """The options for a suggestion; ``run_time`` in seconds, ``hours`` by which jobs may move."""

    suggest: bool
    write: bool
    pin: tuple[str, ...]
    run_time: int
    hours: int

    def check(self) -> None:
        """Raise UsageError for options that need --suggest."""
        given = {"--write": self.write, "--pin": bool(self.pin), "--run-time": bool(self.run_time)}
        given["--hours"] = bool(self.hours)
        for name, is_given in given.items():
            if is_given and not self.suggest:
                raise usage(f"{name} needs --suggest")


def write_files(suggestion: Suggestion) -> list[click.UsageError]:
    """Write the proposed minutes into the files; return an error for each file that could not be written."""
    failed = (_written(before, after) for before, after in suggestion.files)
    return [error for error in failed if error is not None]


def _written(before: Source, after: Source) -> click.UsageError | None:
    try:
        write_source(before, after)
    except click.UsageError as error:
        return error
    return None


def pinned_by(agenda: Agenda, pins: Sequence[str]) -> set[int]:
    """Return the entries given by --pin: by file or by file and line, as shown; * matches anything."""
    found: set[int] = set()
    for pin in pins:
        named = {n for n, entry in enumerate(agenda.entries) if _is_named(entry, pin)}
        if not named:
            raise usage(f"--pin '{printable(pin)}' matches no job: write a file as shown, or 'nightly*'")
        found |= named
    return found


def _is_named(entry: AgendaEntry, pin: str) -> bool:
    names = (entry.label, entry.job.name, os.path.basename(entry.job.name), f"{entry.job.name}:{entry.job.line}")
    return any(pin == name or fnmatchcase(name, pin) for name in names)


_REASONS = 10  # jobs not moved, listed


def print_suggestion(
    row: results.Suggestion, agenda: Agenda, suggestion: Suggestion, clock: Clock, *, shows_diff: bool
) -> None:
    """Print it, with the diff of each file if requested; nothing if no file has a job with a schedule."""
    if not agenda.entries:
        return
    say("\n".join(_lines(row, agenda, clock)))
    if suggestion.files and shows_diff:
        say()
        for old, new in suggestion.files:
            emit(diff_of(old, new).encode("utf-8", "surrogateescape"))


def _lines(row: results.Suggestion, agenda: Agenda, clock: Clock) -> Iterator[str]:
    before, after, moves, fixed = row["before"], row["after"], list(row["moves"]), list(row["fixed"])
    start, end = (local_text(time, clock.zone) for time in (row["from"], row["until"]))
    yield f"{plural(agenda.jobs, 'job')} from {start} until {end}"
    held = "a slot is held from when a job may be matched until its window ends"
    held += f", or {row['run_time']} s after its start" if row["run_time"] else ""
    yield from (f"zone {clock.zone_name}, dialect {agenda.dialect.value}; {held}", "")
    rows = [
        ["most starts in a minute", str(before["most_starts"]), str(after["most_starts"])],
        ["most slots held at once", str(before["most_held"]), str(after["most_held"])],
    ]
    yield from in_columns(["", "before", "after"], rows, screen_columns(sys.stdout), right={1, 2})
    loads = (("Busiest minutes before", before), ("Busiest minutes after", after))
    for title, load in loads if moves else (("Busiest minutes", before),):
        minutes = [
            [local_text(each["time"], clock.zone), plural(each["held"], "slot"), plural(each["starts"], "start")]
            for each in load["busiest"]
        ]
        yield from ("", title, *(aligned(minutes, right={1, 2}) or ["  none"]))
    yield ""
    if moves:
        has_hours = any(_moves_hours(move) for move in moves)
        yield "Proposed for cron_minute and cron_hour" if has_hours else "Proposed for cron_minute"
        yield from aligned([_move_cells(move, agenda, has_hours=has_hours) for move in moves])
    else:
        yield "Nothing to move: no other minutes are better"
    if fixed:
        rows = [[with_count(agenda.entries[each["job"]]), each["reason"]] for each in fixed[:_REASONS]]
        yield from ("", "Not moved", *aligned(rows))
    if len(fixed) > _REASONS:
        yield f"  and {len(fixed) - _REASONS:,} more"


def _moves_hours(move: results.Move) -> bool:
    return move["hour"] != move["proposed_hour"]


def _move_cells(move: results.Move, agenda: Agenda, *, has_hours: bool) -> list[str]:
    hours = f"hour {move['hour']} -> {move['proposed_hour']}" if _moves_hours(move) else ""
    minutes = f"{move['minute']} -> {move['proposed']}"
    return [some(agenda, list(move["jobs"])), minutes, *([hours] if has_hours else []), move["reason"]]


def suggestion_data(suggestion: Suggestion, clock: Clock, *, is_written: bool) -> results.Suggestion:
    """Return the JSON form of a suggestion."""
    spreading = suggestion.spreading
    return {
        "from": suggestion.time.start,
        "until": suggestion.time.end,
        "run_time": suggestion.time.run_time,
        "before": _load(spreading.before, suggestion, clock),
        "after": _load(spreading.after, suggestion, clock),
        "moves": [
            {
                "jobs": list(move.jobs),
                "minute": move.before.text,
                "proposed": move.after.text,
                "hour": move.hours[0],
                "proposed_hour": move.hours[1],
                "is_own": move.is_own,
                "starts": move.starts,
                "held": move.held,
                "reason": why(suggestion, number),
            }
            for number, move in enumerate(suggestion.moves)
        ],
        "fixed": [{"job": number, "reason": reason} for number, reason in sorted(spreading.fixed.items())],
        "files": [old.name for old, _ in suggestion.files],
        "written": is_written,
        "diagnostics": [diagnostic_data(each) for each in suggestion.problems],
    }


def _load(load: Load, suggestion: Suggestion, clock: Clock) -> results.Load:
    minutes: list[results.Loaded] = []
    for minute in load.busiest(LISTED):
        at = suggestion.time.start + 60 * minute
        minutes.append({**instant(at, clock.zone), "starts": load.starts[minute], "held": load.held[minute]})
    return {"most_starts": load.most_starts, "most_held": load.most_held, "busiest": minutes}
