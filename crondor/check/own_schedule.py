"""A file's own schedule, # crondor: schedule = TEXT: what it means on the submit host, or what is wrong with it."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.macro.files import FileRefused, Files
from crondor.source import Source, Span
from crondor.zones import Policy, UnknownZone, Zone, zone_of

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule
    from crondor.compile.writing.marked import Block

_LARGEST = 1_000_000  # bytes of a calendar: a second, for each file that is checked


class OwnSchedule(NamedTuple):
    """The line's text and what it means; ``block`` are the compiled lines, ``zone`` is the submit host's.

    ``schedule`` is None where the line cannot be read, with the ``faults``, or names a file that is not to be read.
    """

    line: Span | None = None
    schedule: WrittenSchedule | None = None
    block: Block | None = None
    zone: Zone = zone_of("UTC")
    faults: tuple[Diagnostic, ...] = ()


def own_schedule(source: Source, files: Files | None, host: str | tzinfo, policy: Policy | None) -> OwnSchedule:
    """Return the schedule of a file's own line, read with the calendars that it may name; ``files`` None: with none.

    ``host`` is the submit host's zone, where the compiled lines do not say it.
    """
    lowered = source.text.lower()
    if "crondor:" not in lowered or "schedule" not in lowered:
        return OwnSchedule()
    from crondor.compile.text import read_schedule, schedule_line  # noqa: PLC0415 - 15 ms, and few files have a schedule of their own

    block = _block(source)
    zone = _host(block, host)
    calendars = _Calendars(files)
    line = None
    try:
        line = schedule_line(source)
        if line is None:
            return OwnSchedule()
        chosen = policy or Policy.COMPATIBLE
        schedule = read_schedule(line, zone=zone, policy=chosen, files=calendars)
        if block is not None and schedule.until is not None and schedule.until < block.until:  # as --until has it
            schedule = read_schedule(line, zone=zone, policy=chosen, files=calendars, is_whole=True)
    except CrondorError as error:
        faults = [each for each in error.diagnostics if each.kind != "schedule-file" or not calendars.has_hidden]
        return OwnSchedule(line, None, block, zone, tuple(faults))
    return OwnSchedule(line, schedule, block, zone)


class _Calendars:
    """The calendar files that a check reads: none outside of the folders that it may read from, and no large one."""

    def __init__(self, files: Files | None) -> None:
        self._files = None if files is None else files.limited(_LARGEST)
        self.has_hidden = False

    def read(self, path: str) -> Source:
        """Return a file's text. Raises FileRefused, and InvalidText for what is no text."""
        if self._files is None:
            self.has_hidden = True
            raise FileRefused(Diagnostic("file-outside", f"{path} is not to be read"))
        try:
            return self._files.read(path)
        except FileRefused as refusal:
            self.has_hidden = self.has_hidden or refusal.is_outside
            raise


def _block(source: Source) -> Block | None:
    from crondor.compile.writing.marked import marked_lines  # noqa: PLC0415 - as above

    try:
        return marked_lines(source)
    except CrondorError:
        return None


def _host(block: Block | None, host: str | tzinfo) -> Zone:
    """Return the submit host's zone: the one that the lines were compiled for, wherever they are checked."""
    try:
        return zone_of(block.zone if block is not None and block.zone else host)
    except UnknownZone:
        return zone_of(host)
