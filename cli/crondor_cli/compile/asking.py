"""What the command line asks to be compiled."""

from __future__ import annotations

from typing import NamedTuple

import click

from crondor.compile.text import Beside, WrittenSchedule, read_schedule, whole_text
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.wish import LAST, Compiled, LineOptions, Wish, default_end
from crondor.diagnostics import CrondorError
from crondor.macro.files import Files
from crondor.source import Span
from crondor.zones import Policy, zone_of
from crondor_cli.common.options import Clock, UsageProblem
from crondor_cli.times.zone import find_zone


class Asked(NamedTuple):
    """What is said beside the schedule itself; times are epoch seconds, None where they are not said."""

    clock: Clock
    own_zone: str | None
    start: int | None
    until: int | None
    excepted: tuple[str, ...]
    options: LineOptions
    schedd_interval: int
    name: str
    policy: Policy | None
    allow_dirs: tuple[str, ...]

    @property
    def begin(self) -> int:
        """Return the instant after which the schedd may set times."""
        return self.clock.now

    @property
    def end(self) -> int:
        """Return the last instant to prove: without --until a midnight some years on."""
        if self.until is None:
            return default_end(max(self.begin, self.start or 0))
        if self.until <= max(self.begin, (self.start or 0) - 1):
            said = "now" if self.start is None else "--from"
            message = f"--until is not later than {said}: no run can lie between them"
            raise click.UsageError(message, click.get_current_context(silent=True))
        return min(self.until, LAST)

    def whole(self, text: str) -> str:
        """Return a text that says by itself what the options say of its meaning.

        Raises UsageProblem for a zone that is none, InvalidSchedule for a text that is no schedule.
        """
        try:
            zone = None if self.own_zone is None else find_zone(self.own_zone, label="--zone").key
        except CrondorError as error:
            raise UsageProblem(error) from None
        beside = Beside(zone, self.excepted, self.start, self.name, self.policy)
        return whole_text(text, beside, zone_of(self.clock.zone_name), "TEXT")

    def schedule(self, text: str | Span, folder: str = ".") -> WrittenSchedule:
        """Return the schedule that a whole text says; .ics files are those below a folder and --allow-dir.

        Raises CrondorError for a text that is no schedule.
        """
        files = Files((folder, *self.allow_dirs), base=folder)
        is_whole = self.until is not None
        return read_schedule(text, zone=self.clock.zone_name, files=files, label="TEXT", is_whole=is_whole)

    def compiled(self, schedule: WrittenSchedule) -> Compiled:
        """Return the jobs that say a schedule. Raises CannotCompile."""
        return compile_schedule(self.wish(schedule, self.options))

    def wish(self, schedule: WrittenSchedule, options: LineOptions, universe: str | None = None) -> Wish:
        """Return what is asked for, for jobs of a universe."""
        options = options.over(LineOptions(schedd_interval=self.schedd_interval))
        host, first = zone_of(self.clock.zone_name), self.start or 0
        return options.wish(schedule, host, self.begin, self.end, universe=universe, first=first)
