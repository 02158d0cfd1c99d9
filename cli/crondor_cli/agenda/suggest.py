"""`crondor agenda --suggest`: other minutes for the jobs of an agenda, and the files with them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.source import Source, Span
from crondor.spec import HOUR, MINUTE, Field
from crondor.spreading import Move, Spreading, SpreadJob, SpreadTime, propose
from crondor.spreading.writing import field_place, spread_text, why_pinned
from crondor_cli.agenda.days import Agenda, AgendaEntry
from crondor_cli.agenda.suggest_options import SuggestOptions
from crondor_cli.common.changed_text import write_source
from crondor_cli.common.jobs import ScheduleRequest


class _Place(NamedTuple):
    """Where the minute of a job stands in its file, and the hour, if that may be moved."""

    minute: Span | None
    hour: Span | None


class Suggestion(NamedTuple):
    """What is proposed for the entries of an agenda, by their numbers, and each file before and after it.

    ``problems`` are files that are left as they are, and those that could not be written.
    """

    time: SpreadTime
    spreading: Spreading
    files: list[tuple[Source, Source]]
    problems: list[Diagnostic]

    @property
    def moves(self) -> Sequence[Move]:
        """The moves."""
        return self.spreading.moves


def suggest(agenda: Agenda, request: ScheduleRequest, options: SuggestOptions) -> Suggestion:
    """Propose minutes for the whole dates of an agenda. Raises UsageError for a --pin that names no job."""
    days = agenda.span.days
    time = SpreadTime(days[0].start, days[-1].end, options.run_time)
    refused: dict[str, str] = {}
    problems: list[Diagnostic] = []
    pinned = _pinned(agenda, options.pins)
    while True:
        jobs, places = _spread_jobs(agenda, pinned, refused, options.hours)
        spreading = propose(jobs, time)
        files, faults = _files(spreading, places, request)
        problems += faults.values()
        if not faults:
            return Suggestion(time, spreading, files, problems)
        refused |= dict.fromkeys(faults, "something else in its file would change with it")


def write_files(suggestion: Suggestion) -> list[click.UsageError]:
    """Put the proposed minutes into the files; return why some could not be written."""
    failed = (_written(before, after) for before, after in suggestion.files)
    return [error for error in failed if error is not None]


def _written(before: Source, after: Source) -> click.UsageError | None:
    try:
        write_source(before, after)
    except click.UsageError as error:
        return error
    return None


def _pinned(agenda: Agenda, pins: Sequence[str]) -> set[int]:
    """Return the entries that --pin names: by file or by file and line, as shown; * stands for anything."""
    found: set[int] = set()
    for pin in pins:
        named = {n for n, entry in enumerate(agenda.entries) if _is_named(entry, pin)}
        if not named:
            message = f"--pin '{printable(pin)}' names no job: write a file as it is shown, or 'nightly*'"
            raise click.UsageError(message, click.get_current_context(silent=True))
        found |= named
    return found


def _is_named(entry: AgendaEntry, pin: str) -> bool:
    names = (entry.label, entry.job.name, os.path.basename(entry.job.name), f"{entry.job.name}:{entry.job.line}")
    return any(pin == name or fnmatchcase(name, pin) for name in names)


def _spread_jobs(
    agenda: Agenda, pinned: set[int], refused: dict[str, str], most: int
) -> tuple[list[SpreadJob], list[_Place]]:
    """Return what is to be spread for each entry, and where its minute and its hour stand."""
    broken = {name for name, _ in agenda.invalid}
    numbers: Counter[str] = Counter()
    names: dict[Span, str] = {}
    jobs: list[SpreadJob] = []
    places: list[_Place] = []
    hours = _hour_places(agenda) if most else {}
    for number, entry in enumerate(agenda.entries):
        job = entry.job
        place = _place_of(MINUTE, entry)
        if place is not None and place not in names:
            # Of a file its name alone, so that a folder can be moved, and which of its minutes it is, not the line.
            base = os.path.basename(job.name)
            names[place] = f"{base} {numbers[base]}"
            numbers[base] += 1
        reason = "--pin names it" if number in pinned else refused.get(job.name, "")
        if job.name in broken:
            reason = reason or "its file has an error"
        jobs.append(
            SpreadJob(
                entry.label if place is None else names[place],
                entry.schedule,
                number if place is None else place,
                job.count,
                reason or _fixed(entry, place),
                most if place in hours else 0,
                job.requirements,
            )
        )
        places.append(_Place(place, None if place is None else hours.get(place)))
    return jobs, places


def _place_of(field: Field, entry: AgendaEntry) -> Span | None:
    job = entry.job
    return field_place(field, job.name, job.commands, job.spans) if job.queue is not None else None


def _hour_places(agenda: Agenda) -> dict[Span, Span]:
    """Return where the hour stands that may be moved, by where the minute does: the same jobs must share both."""
    together: dict[Span | None, set[Span | None]] = {}
    back: dict[Span | None, set[Span | None]] = {}
    for entry in agenda.entries:
        minute, hour = _place_of(MINUTE, entry), _place_of(HOUR, entry)
        together.setdefault(minute, set()).add(hour)
        back.setdefault(hour, set()).add(minute)
    found: dict[Span, Span] = {}
    for minute, places in together.items():
        hour = next(iter(places))
        if minute and hour and len(places) == 1 and len(back[hour]) == 1 and not why_pinned(HOUR, hour):
            found[minute] = hour
    return found


def _fixed(entry: AgendaEntry, place: Span | None) -> str:
    if entry.schedule.spec is None:
        return "it has no cron fields"
    if place is None:
        is_set = "cron_minute" in entry.job.commands
        return "its cron_minute is not written out in its file" if is_set else "its file sets no cron_minute"
    return why_pinned(MINUTE, place)


def _files(
    spreading: Spreading, places: list[_Place], request: ScheduleRequest
) -> tuple[list[tuple[Source, Source]], dict[str, Diagnostic]]:
    """Return the files that change, before and after, and what is wrong with the others, by name."""
    edits: dict[str, list[tuple[Span, str]]] = {}
    for move in spreading.moves:
        minute, hour = places[move.jobs[0]]
        assert minute is not None  # noqa: S101 - it is movable
        some = edits.setdefault(minute.source.name, [])
        some.append((minute, move.after.text))
        if hour is not None and move.after.later:
            some.append((hour, move.hours[1]))
    files: list[tuple[Source, Source]] = []
    faults: dict[str, Diagnostic] = {}
    for name, some in edits.items():
        path = "-" if name == "<stdin>" else name
        source = some[0][0].source
        try:
            after = spread_text(source, some, lambda text, path=path: request.read_from(text, path))  # type: ignore[misc]
        except CrondorError as error:
            faults[name] = error.diagnostics[0]
        else:
            files.append((source, after))
    return files, faults
