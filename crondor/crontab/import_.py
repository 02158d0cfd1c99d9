"""Lines of a Unix crontab as submit descriptions, and what of them HTCondor cannot say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import NamedTuple

from crondor.compile.writing.wish import LineOptions
from crondor.crontab.file import CrontabEntry, CrontabFile
from crondor.crontab.import_findings import refusals, surprises
from crondor.crontab.import_schedule import ImportedSchedule, imported_schedule, job_names, schedule_text
from crondor.crontab.import_text import submit_text
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.arguments import InvalidArguments
from crondor.schedule import Universe
from crondor.zones import zone_of

MAX_TEXT = 64 * 1024 * 1024  # characters of all submit descriptions together

MAX_SCHEDULES = 1000  # different ones: each is compiled, which takes up to half a second


@dataclass(frozen=True)
class ImportSettings:
    """How to write: from when on (epoch seconds), the universe (LOCAL or VANILLA), the zone of the submit host.

    ``window``, ``prep_time`` and ``schedd_interval`` are seconds. Without a window or prep time it is a minute
    (vanilla: five), or what the time between two runs allows.
    """

    now: int
    universe: Universe = Universe.LOCAL
    zone: str | tzinfo = "UTC"
    window: int | None = None
    prep_time: int | None = None
    schedd_interval: int | None = None


class SubmitText(NamedTuple):
    """One submit description: a name for it (without a suffix), the line, its compiled schedule, the text.

    ``diagnostics`` are the notes and warnings about the line.
    """

    name: str
    entry: CrontabEntry
    schedule: ImportedSchedule
    text: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass
class Imported:
    """The submit descriptions of a crontab's lines, and what is to be said about the crontab and its other lines."""

    files: list[SubmitText] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def import_crontab(file: CrontabFile, settings: ImportSettings) -> Imported:
    """Return a submit description for each line of a crontab that HTCondor can say.

    A line that it cannot say is an error among the diagnostics, which begin with those of the file. Never raises.
    """
    return _Import(settings).of(file)


class TooManySchedules(CrondorError, ValueError):
    """A crontab whose schedules would take too long."""


class _Import:
    """One import, with the schedules that were compiled so far."""

    def __init__(self, settings: ImportSettings) -> None:
        self.settings = settings
        self.host = zone_of(settings.zone)
        self.options = LineOptions(settings.window, settings.prep_time, settings.schedd_interval)
        self.schedules: set[str] = set()  # that were compiled

    def of(self, file: CrontabFile) -> Imported:
        found = Imported(diagnostics=list(file.diagnostics))
        size = 0
        for entry, name in zip(file.entries, job_names(file), strict=True):
            faults = list(refusals(entry))
            found.diagnostics += faults
            if faults:
                continue
            try:
                submit = self._submit(entry, name)
            except InvalidArguments as error:
                found.diagnostics += [replace(fault, span=entry.span) for fault in error.diagnostics]
                continue
            except CrondorError as error:
                found.diagnostics += [replace(fault, span=entry.schedule, fix=None) for fault in error.diagnostics]
                continue
            size += len(submit.text)
            if size > MAX_TEXT:
                message = f"the submit descriptions take more than {MAX_TEXT} characters, and crondor writes no more"
                found.diagnostics.append(Diagnostic("crontab-many", message, span=entry.span, help="divide the file"))
                break
            found.files.append(submit)
        return found

    def _submit(self, entry: CrontabEntry, name: str) -> SubmitText:
        universe = self.settings.universe
        text = schedule_text(entry, name, self.host)
        self.schedules.add(text)
        if len(self.schedules) > MAX_SCHEDULES:
            message = f"crondor compiles no more than {MAX_SCHEDULES} different schedules"
            raise TooManySchedules(Diagnostic("crontab-many", message, help="divide the file"))
        schedule = imported_schedule(text, self.host, self.settings.now, universe, self.options)
        findings = tuple(surprises(entry, schedule, universe))
        return SubmitText(name, entry, schedule, submit_text(name, entry, schedule, universe), findings)
