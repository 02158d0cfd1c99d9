"""Other minutes for the jobs of an agenda, and the files with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.preview.agenda import Agenda, AgendaEntry
from crondor.spec import HOUR, MINUTE, Field
from crondor.spreading import Move, Spreading, SpreadJob, SpreadTime, field_place, propose, spread_text, why_pinned
from crondor.submit import SubmitFile


class _Place(NamedTuple):
    """The place of a job's minute in its file, and of the hour, if it may move."""

    minute: Span | None
    hour: Span | None


class Suggestion(NamedTuple):
    """The proposals for the entries of an agenda, by their numbers, and each file before and after.

    ``problems`` are files that stay unchanged, and those that could not be written.
    """

    time: SpreadTime
    spreading: Spreading
    files: list[tuple[Source, Source]]
    problems: list[Diagnostic]

    @property
    def moves(self) -> Sequence[Move]:
        """The moves."""
        return self.spreading.moves


def suggest(
    agenda: Agenda, read: Callable[[Source, str], SubmitFile], pinned: Collection[int], run_time: int, hours: int
) -> Suggestion:
    """Propose minutes for the whole dates of an agenda.

    ``read`` reads the text of a file by path, ``pinned`` are the numbers of entries that must not move. A run holds its
    slot for at least ``run_time`` seconds, and a job may also move by up to ``hours``.
    """
    days = agenda.span.days
    time = SpreadTime(days[0].start, days[-1].end, run_time)
    refused: dict[str, str] = {}
    problems: list[Diagnostic] = []
    while True:
        jobs, places = _spread_jobs(agenda, pinned, refused, hours)
        spreading = propose(jobs, time)
        files, faults = _files(spreading, places, read)
        problems += faults.values()
        if not faults:
            return Suggestion(time, spreading, files, problems)
        refused |= dict.fromkeys(faults, "something else in its file would change with it")


def _spread_jobs(
    agenda: Agenda, pinned: Collection[int], refused: dict[str, str], most: int
) -> tuple[list[SpreadJob], list[_Place]]:
    """Return what to spread for each entry, and the places of its minute and its hour."""
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
            # Only the file's name, so that a folder can be moved, and the number of its minute, not the line.
            base = Path(job.name).name
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
    """Return the place of the hour that may move, by the place of the minute: the same jobs must share both."""
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
    spreading: Spreading, places: list[_Place], read: Callable[[Source, str], SubmitFile]
) -> tuple[list[tuple[Source, Source]], dict[str, Diagnostic]]:
    """Return the files that change, before and after, and the problems of the others, by name."""
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
            after = spread_text(source, some, lambda text, path=path: read(text, path))  # type: ignore[misc]
        except CrondorError as error:
            faults[name] = error.diagnostics[0]
        else:
            files.append((source, after))
    return files, faults


def why(suggestion: Suggestion, number: int) -> str:
    """Return the reason of a move, by its number."""
    move = suggestion.moves[number]
    how = "the minute of its name" if move.is_own else "a better time" if move.after.later else "a better minute"
    if move.starts[0] > move.starts[1]:
        return (
            f"{how}: at most {move.starts[1]:,} start{'' if move.starts[1] == 1 else 's'} in its minutes, not "
            f"{move.starts[0]}"
        )
    if move.held[0] > move.held[1]:
        return f"{how}: at most {move.held[1]} held slots in its minutes, not {move.held[0]}"
    return f"{how}: makes room for others"
