"""Lines of a Unix crontab as submit descriptions, and what of them HTCondor cannot say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import NamedTuple

from crondor.crontab.file import CrontabEntry, CrontabFile
from crondor.crontab.import_findings import refusals, surprises
from crondor.crontab.import_schedule import Translated, translated
from crondor.crontab.import_text import submit_text
from crondor.diagnostics import Diagnostic
from crondor.job.arguments import InvalidArguments
from crondor.schedule import Universe
from crondor.spec import CronSpec

MAX_TEXT = 64 * 1024 * 1024  # characters of all submit descriptions together

# Seconds, both for prep time and window. A local job waits for the schedd's next look at its queue only.
_LENGTHS = {Universe.LOCAL: 60, Universe.VANILLA: 300}
_LONGEST_NAME = 40
# First words that say nothing about what a command is for.
_DULL = frozenset(
    ("bash", "cd", "chronic", "command", "env", "eval", "exec", "export", "flock", "for", "if", "ionice", "nice",
     "nohup", "perl", "php", "python", "python3", "sh", "sleep", "sudo", "test", "time", "timeout", "umask", "while")
)  # fmt: skip


@dataclass(frozen=True)
class ImportSettings:
    """How to write: the universe (LOCAL or VANILLA), and the zone of the submit host with its IANA name.

    Without a zone nothing is said about clock changes. ``window`` and ``prep_time`` are seconds; None takes a
    minute (vanilla: five), or what the time between two runs allows.
    """

    universe: Universe = Universe.LOCAL
    zone: str | tzinfo | None = None
    zone_name: str | None = None
    window: int | None = None
    prep_time: int | None = None


class SubmitText(NamedTuple):
    """One submit description: a name for it (without a suffix), the line, the schedule, the text.

    ``diagnostics`` are the notes and warnings about the line.
    """

    name: str
    entry: CrontabEntry
    schedule: Translated
    prep_time: int
    window: int
    text: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass
class Imported:
    """The submit descriptions of a crontab's lines, and what is to be said about the crontab and its other lines."""

    files: list[SubmitText] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def import_crontab(file: CrontabFile, settings: ImportSettings | None = None) -> Imported:
    """Return a submit description for each line of a crontab that HTCondor can say.

    A line that it cannot say is an error among the diagnostics, which begin with those of the file. Never raises.
    """
    return _Import(settings or ImportSettings()).of(file)


class _Import:
    """One import: the schedules translated so far, and the names taken."""

    def __init__(self, settings: ImportSettings) -> None:
        self.settings = settings
        self.schedules: dict[CronSpec, Translated] = {}
        self.names: set[str] = set()

    def of(self, file: CrontabFile) -> Imported:
        found = Imported(diagnostics=list(file.diagnostics))
        size = 0
        for entry in file.entries:
            faults = list(refusals(entry))
            found.diagnostics += faults
            if faults or entry.spec is None:
                continue
            try:
                submit = self._submit(entry, entry.spec)
            except InvalidArguments as error:
                found.diagnostics += [replace(fault, span=entry.span) for fault in error.diagnostics]
                continue
            size += len(submit.text)
            if size > MAX_TEXT:
                message = f"the submit descriptions take more than {MAX_TEXT} characters, and crondor writes no more"
                found.diagnostics.append(Diagnostic("crontab-many", message, span=entry.span, help="divide the file"))
                break
            found.files.append(submit)
        return found

    def _submit(self, entry: CrontabEntry, spec: CronSpec) -> SubmitText:
        settings = self.settings
        if spec not in self.schedules:
            self.schedules[spec] = translated(spec, settings.zone)
        schedule = self.schedules[spec]
        longest = _LENGTHS[settings.universe]
        prep_time = min(longest, schedule.shortest) if settings.prep_time is None else settings.prep_time
        window = min(longest, schedule.shortest - 1) if settings.window is None else settings.window
        name = self._name(entry)
        text = submit_text(name, entry, schedule, settings.universe, (prep_time, window))
        findings = tuple(surprises(entry, schedule, settings.universe, settings.zone_name))
        return SubmitText(name, entry, schedule, prep_time, window, text, findings)

    def _name(self, entry: CrontabEntry) -> str:
        """Return a name made of the command, or of the line's number where that says nothing."""
        number = entry.span.line
        word = (entry.command.split(maxsplit=1) or [""])[0]
        stem = re.match(r"[a-z0-9_][\w-]*", word.rpartition("/")[2], re.ASCII | re.IGNORECASE)
        name = stem[0][:_LONGEST_NAME] if stem and stem[0] not in _DULL and "=" not in word else f"line-{number}"
        if name.lower() in self.names:
            name = f"{name}-{number}"
        while name.lower() in self.names:  # a command that is called like another with its number
            name += "x"
        self.names.add(name.lower())
        return name
