"""What is said of the word under the pointer, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from crondor.compile.writing.wish import LAST
from crondor.crontab.file import CrontabEntry, is_system_crontab, read_crontab
from crondor.crontab.import_schedule import entry_schedule, job_names
from crondor.diagnostics import CrondorError
from crondor.editing.comments import read_said, schedule_at, zone_at
from crondor.editing.describing import code, lines, of_attribute, of_command, of_function, of_knob, of_provided, of_rule
from crondor.editing.evaluating import value_at
from crondor.editing.kinds import TextKind
from crondor.editing.names import definitions
from crondor.editing.reading import ReadText
from crondor.editing.schedules import ScheduleShown, moment, schedules
from crondor.editing.spots import Spot, SpotKind, spot_at
from crondor.knowledge import config_knobs, submit_commands, submit_macros, transform_commands
from crondor.source import Span
from crondor.zones import Stretch, Zone, zone_of

_RUNS = 5
_VALUES = 3
_YEAR = 366 * 86400
_YEARS = 10 * _YEAR


class Hover(NamedTuple):
    """What is said, in Markdown, of which piece of the text."""

    span: Span
    text: str


def hover(text: ReadText, offset: int) -> Hover | None:
    """Return what there is to say of what stands at an offset, None for nothing."""
    zone = zone_at(text, offset)
    if zone is not None:
        return _zone(text, zone)
    if text.kind is TextKind.CRONTAB:
        return _entry(text, offset)
    said = schedule_at(text, offset)
    if said is not None:
        return _commented(text, said)
    spot = spot_at(text.outline, offset)
    if spot is None:
        return _value(text, offset)
    about = "\n\n---\n\n".join(part for part in _about(text, spot) if part)
    return Hover(spot.span, about) if about else None


def _zone(text: ReadText, named: Span) -> Hover | None:
    """Say of a zone what its clock shows, and when that changes next."""
    now = text.settings.check.now
    try:
        zone = zone_of(named.text)
    except CrondorError:
        return None
    change = next(zone.changes(now, now + _YEAR), None)
    parts = [f"**{zone.name}**: it is {moment(now, zone.info)}"]
    parts.append("The clock is not changed within a year." if change is None else _change(change, zone))
    return Hover(named, "\n\n".join(parts))


def _change(change: Stretch, zone: Zone) -> str:
    minutes = (change.offset - change.before) // 60
    way = "forward" if minutes > 0 else "back"
    return f"On {moment(change.start, zone.info)} the clock goes {way} by {abs(minutes)} minutes."


def _commented(text: ReadText, said: Span) -> Hover | None:
    """Say of the description's own schedule what it means, and when that is."""
    check = text.settings.check
    try:
        schedule = read_said(said, text.settings)
        runs = list(islice(schedule.between(check.now, check.now + _YEARS), _RUNS))
    except CrondorError as error:
        return Hover(said, f"No schedule: {error.diagnostics[0].message}")
    listed = lines(moment(run, schedule.zone.info) for run in runs)
    return Hover(said, f"{schedule.words[:1].upper()}{schedule.words[1:]}.\n\n{listed or 'No run is to come.'}")


def _value(text: ReadText, offset: int) -> Hover | None:
    """Say of the value of a cron field when the job runs."""
    written = text.outline.at(offset)
    if written is None or text.kind is not TextKind.SUBMIT:
        return None
    span = written.line.span(written.value)
    said = _schedule(text, written.key, span)
    return Hover(span, said) if said and span.start <= offset else None


def _about(text: ReadText, spot: Spot) -> Iterator[str | None]:
    if spot.kind is SpotKind.COMMAND:
        yield of_rule(transform_commands()[spot.name])
    elif spot.kind is SpotKind.FUNCTION:
        yield of_function(spot.name)
        yield value_at(text, spot)
    elif spot.kind is SpotKind.ATTRIBUTE:
        yield of_attribute(spot.name.rpartition(".")[2])
        yield value_at(text, spot)
    elif spot.kind is SpotKind.MACRO_FUNCTION:
        found = submit_macros().get(f"${spot.name}".lower()) or submit_macros().get(spot.name.lower())
        yield None if found is None else of_provided(found)
    elif spot.kind is SpotKind.MACRO:
        yield _macro(text, spot)
    elif spot.kind is SpotKind.NAME:
        yield _name(text, spot)
        yield value_at(text, spot) if text.kind is TextKind.AD else None
        yield _schedule(text, spot.name, spot.written.line.span(spot.written.value))
    elif spot.kind is SpotKind.LISTED:
        yield _macro(text, spot)


def _name(text: ReadText, spot: Spot) -> str | None:
    """Say what the name of an assignment means."""
    if text.kind is TextKind.AD or spot.name.startswith("my."):
        return of_attribute(spot.name.rpartition(".")[2])
    if text.kind is TextKind.SUBMIT:
        command = submit_commands().get(spot.name)
        return of_command(command) if command is not None else _macro(text, spot)
    knob = None if spot.written.inside else config_knobs().get(spot.name)
    return _macro(text, spot) if knob is None else of_knob(knob)


def _macro(text: ReadText, spot: Spot) -> str | None:
    """Say what a macro is: what HTCondor provides, where it is defined, and what it comes to."""
    parts: list[str] = []
    provided = submit_macros().get(spot.name) if text.kind is TextKind.SUBMIT else None
    places = definitions(text, spot.span.start)
    if provided is not None and not places:
        parts.append(of_provided(provided))
    if places:
        parts.append(f"**{spot.span.text}**")
        parts.append(lines(map(_defined, islice(places, _RUNS))))
    values = list(islice(_values(text, spot.name), _VALUES))
    if values:
        parts.append("value: " + ", ".join(map(code, values)))
    elif not places and provided is None:
        return f"**{spot.span.text}** is not defined in this text." if spot.kind is SpotKind.MACRO else None
    return "\n\n".join(parts)


def _defined(span: Span) -> str:
    rest = span.source.line(span.line)
    value = rest[span.column - 1 + len(span.text) :].strip().removeprefix("=").strip()
    return f"line {span.line}: {code(value)}" if value else f"line {span.line}"


def _values(text: ReadText, name: str) -> Iterator[str]:
    """Yield the different values that a macro comes to, each once."""
    with suppress(CrondorError):
        if text.kind is TextKind.CONFIG:
            value = text.configuration.string(name)
            if value is not None:
                yield value
        elif text.kind is TextKind.SUBMIT and text.jobs.submit is not None:
            groups = text.jobs.submit.groups((name,), 100)
            yield from dict.fromkeys(group.values[name] for group in groups if name in group.values)


def _schedule(text: ReadText, key: str, span: Span) -> str | None:
    """Say of a line of a schedule what it means and when it runs."""
    if "cron" not in key and "deferral" not in key:
        return None
    here = [
        each
        for each in schedules(text, _RUNS)
        if any(field.start == span.start and field.source is span.source for field in each.fields)
    ]
    return "\n\n".join(said_of(each, text) for each in here[:_VALUES]) or None


def said_of(shown: ScheduleShown, text: ReadText) -> str:
    """Return a schedule in Markdown: the sentence, its next runs, what the real schedd does."""
    if shown.fault:
        return f"No run: {shown.fault}"
    zone = text.settings.check.zone
    parts = [f"Runs {shown.words}." if shown.words else ""]
    parts.append(lines(moment(run, zone) for run in shown.runs) or "No run is to come.")
    if shown.excluded:
        parts.append(f"Requirements exclude the next time of the schedule, and others: {code(shown.excluded)}")
    if shown.schedd is not None:
        parts.append("The real schedd does something else:")
        parts.append(lines(moment(run, zone) for run in shown.schedd) or "no run")
    return "\n\n".join(part for part in parts if part)


def _entry(text: ReadText, offset: int) -> Hover | None:
    """Say of the schedule of a crontab's line what it means."""
    file = read_crontab(text.source, has_users=is_system_crontab(text.source.name))
    for entry, name in zip(file.entries, job_names(file), strict=True):
        if entry.schedule.start <= offset <= entry.schedule.end:
            return Hover(entry.schedule, _said_of_entry(entry, name, text))
    return None


def _said_of_entry(entry: CrontabEntry, name: str, text: ReadText) -> str:
    if entry.is_reboot:
        return "Runs once, when cron starts."
    check = text.settings.check
    try:
        schedule = entry_schedule(entry, name, zone_of(check.zone))
    except CrondorError as error:
        return f"No run: {error.diagnostics[0].message}"
    listed = lines(moment(run, check.zone) for run in islice(schedule.between(check.now, LAST), _RUNS))
    return f"Runs {schedule.words}.\n\n{listed or 'No run is to come.'}"
