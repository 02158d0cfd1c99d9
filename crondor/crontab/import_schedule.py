"""A crontab line's schedule in crondor's own languages, compiled for a submit host."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from crondor.compile.cron import has_choice
from crondor.compile.text import Beside, WrittenSchedule, read_schedule, whole_text
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.distance import spacing
from crondor.compile.writing.proof import wanted_days
from crondor.compile.writing.wish import Compiled, LineOptions, default_end
from crondor.crontab.file import CrontabEntry, CrontabFile
from crondor.schedule import Universe
from crondor.zones import Policy, Zone

_FREE: Final = frozenset(("*", "?", "*/1"))
# Seconds, both for prep time and window. A local job waits for the schedd's next look at its queue only.
_LENGTHS: Final = {Universe.LOCAL: 60, Universe.VANILLA: 300}

_LONGEST_NAME = 40
# First words that say nothing about what a command is for.
_DULL = frozenset(
    ("bash", "cd", "chronic", "command", "env", "eval", "exec", "export", "flock", "for", "if", "ionice", "nice",
     "nohup", "perl", "php", "python", "python3", "sh", "sleep", "sudo", "test", "time", "timeout", "umask", "while")
)  # fmt: skip


class ImportedSchedule(NamedTuple):
    """A line's schedule, the jobs that it is compiled to, and the options that they were made with.

    ``changes_differ`` says that cron runs it at other times when the clocks change.
    """

    schedule: WrittenSchedule
    compiled: Compiled
    options: LineOptions
    changes_differ: bool


def job_names(file: CrontabFile) -> list[str]:
    """Return a name for the job of each line: of the command, or of the line's number where that says nothing."""
    taken: set[str] = set()
    found = []
    for entry in file.entries:
        number = entry.span.line
        word = (entry.command.split(maxsplit=1) or [""])[0]
        stem = re.match(r"[a-z0-9_][\w-]*", word.rpartition("/")[2], re.ASCII | re.IGNORECASE)
        name = stem[0][:_LONGEST_NAME] if stem and stem[0] not in _DULL and "=" not in word else f"line-{number}"
        if name.lower() in taken:
            name = f"{name}-{number}"
        while name.lower() in taken:  # a command that is called like another with its number
            name += "x"
        taken.add(name.lower())
        found.append(name)
    return found


def schedule_text(entry: CrontabEntry, name: str, host: Zone) -> str:
    """Return the schedule of a line as it means it by itself, for a job of a name on a submit host.

    Raises CrondorError for a name that cannot be said.
    """
    text = " ".join(entry.schedule.text.split())
    fields = text.split()
    if len(fields) == 5 and _wants_both_days(fields[2], fields[4]):
        minute, hour, day, month, weekday = fields
        text = f"({minute} {hour} {day} {month} *) and ({minute} {hour} * {month} {weekday})"
    zone = entry.variables.get("CRON_TZ")
    return whole_text(text, Beside(zone or None, name=name if has_choice(text) else ""), host)


def _wants_both_days(day: str, weekday: str) -> bool:
    """Say whether cron wants both of the day fields: where one begins with a star. Otherwise either will do."""
    is_free = any(_FREE & {*field.split(",")} for field in (day, weekday))
    return not is_free and (day.startswith("*") or weekday.startswith("*"))


def entry_schedule(entry: CrontabEntry, name: str, host: Zone) -> WrittenSchedule:
    """Return when cron runs a line. Raises CrondorError where it never does."""
    return read_schedule(schedule_text(entry, name, host), zone=host, policy=Policy.DEBIAN)


@lru_cache(maxsize=128)
def imported_schedule(text: str, host: Zone, now: int, universe: Universe, given: LineOptions) -> ImportedSchedule:
    """Return the schedule of a line, by its own text, compiled from ``now`` (epoch seconds) on.

    Where no prep time or window is given, it is a minute (vanilla: five), or what the time between two runs allows.
    Raises CrondorError where it never runs, or cannot be said.
    """
    schedule = read_schedule(text, zone=host)
    until = default_end(now)
    wanted = wanted_days(schedule, now, until)
    longest = _LENGTHS[universe]
    shortest = spacing((day, bits, bits) for day, bits in wanted.items()).between_runs or longest + 1
    options = given.over(LineOptions(min(longest, shortest - 1), min(longest, shortest)))
    asked = options._replace(approximate=True)
    compiled = compile_schedule(asked.wish(schedule, host, now, until, universe=universe.name.lower()))
    changes_differ = False
    if not (host.is_fixed and schedule.zone.is_fixed):
        theirs = read_schedule(text, zone=host, policy=Policy.DEBIAN)
        changes_differ = not compiled.exact or wanted_days(theirs, now, until) != wanted
    return ImportedSchedule(schedule, compiled, options if compiled.exact else asked, changes_differ)
