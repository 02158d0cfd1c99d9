"""What stands in grey behind a line: when a schedule runs next, and what a value with macros comes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from crondor.crontab.file import is_system_crontab, read_crontab
from crondor.crontab.import_schedule import entry_schedule, job_names
from crondor.diagnostics import CrondorError, shortened
from crondor.editing.kinds import TextKind
from crondor.editing.outline import LineKind, WrittenLine
from crondor.editing.reading import ReadText
from crondor.editing.schedules import moment, schedules
from crondor.editing.settings import HintKind
from crondor.zones import zone_of

_MOST_JOBS = 100  # that differ, whose values are looked at
_FEW = 3  # values of one line that are shown
_LONGEST = 60  # characters of a value that are shown


class Hint(NamedTuple):
    """A hint behind an offset, and what is said of it where somebody points at it."""

    offset: int
    text: str
    tooltip: str = ""


def hints(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield the hints that the settings ask for, of lines between two offsets."""
    wanted = text.settings.hints
    found: list[Hint] = []
    if HintKind.NEXT_RUN in wanted:
        found += _entries(text, start, end) if text.kind is TextKind.CRONTAB else _next_runs(text)
    if HintKind.MACROS in wanted:
        found += _values(text, start, end)
    yield from (hint for hint in found if start <= hint.offset <= end)


def _next_runs(text: ReadText) -> Iterator[Hint]:
    """Yield the next run behind the last line of each schedule."""
    zone = text.settings.check.zone
    for shown in schedules(text, 1):
        own = [span for span in shown.fields if span.source is text.source]
        if own and shown.runs:
            yield Hint(max(span.end for span in own), f"next: {moment(shown.runs[0], zone)}", shown.words)


def _entries(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield the next run behind each line of a crontab."""
    check = text.settings.check
    file = read_crontab(text.source, has_users=is_system_crontab(text.source.name))
    for entry, name in zip(file.entries, job_names(file), strict=True):
        if entry.is_reboot or not start <= entry.span.end <= end:
            continue
        with suppress(CrondorError):
            schedule = entry_schedule(entry, name, zone_of(check.zone))
            run = schedule.next(check.now)
            if run is not None:
                yield Hint(entry.span.end, f"next: {moment(run, check.zone)}", schedule.words)


def _values(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield what the values with macros come to."""
    asked = [
        each
        for each in text.outline.lines
        if each.kind is LineKind.ASSIGNMENT and not each.inside and "$(" in each.line.text[each.value :]
    ]
    asked = [each for each in asked if start <= each.line.span().end <= end]
    if text.kind is TextKind.CONFIG:
        yield from _of_config(text, asked)
    elif text.kind is TextKind.SUBMIT:
        yield from _of_submit(text, asked)


def _of_config(text: ReadText, asked: list[WrittenLine]) -> Iterator[Hint]:
    for written in asked:
        with suppress(CrondorError):
            value = text.configuration.string(written.key)
            if value and written.until is None:
                yield _shown(written, [value])


def _of_submit(text: ReadText, asked: list[WrittenLine]) -> Iterator[Hint]:
    submit = text.jobs.submit
    if submit is None:
        return
    values: dict[int, dict[str, None]] = {}
    with suppress(CrondorError):
        for group in submit.groups({each.key for each in asked}, _MOST_JOBS):
            for key, span in group.spans.items():
                if span.source is text.source:
                    values.setdefault(span.start, {})[group.values[key]] = None
    for written in asked:
        found = list(values.get(written.line.span(written.value).start, ()))
        if found:
            yield _shown(written, found)


def _shown(written: WrittenLine, values: list[str]) -> Hint:
    shown = ", ".join(map(_short, values[:_FEW])) + (f" and {len(values) - _FEW} others" if len(values) > _FEW else "")
    return Hint(written.line.span().end, f"= {shown}", "\n".join(values[: _FEW * _FEW]))


def _short(value: str) -> str:
    value = " ".join(value.split()) or "nothing"
    return shortened(value, _LONGEST)
