"""What the command line asks to be compiled."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import click

from crondor._named_tuple import NamedTuple
from crondor.diagnostics import CrondorError
from crondor.macro.files import Files
from crondor.zones import Policy, zone_of
from crondor_cli.common.options import Clock, UsageProblem
from crondor_cli.times.zone import find_zone

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule
    from crondor.compile.writing.wish import Compiled
    from crondor.source import Span

_YEARS = 5  # that are proven without --until
_LAST = 7289568000  # the last day of 2200


class Lengths(NamedTuple):
    """Window, prep time and SCHEDD_INTERVAL in seconds, and the universe; None: not said."""

    window: int
    prep_time: int | None
    schedd_interval: int
    universe: str | None


class Asked(NamedTuple):
    """What is said beside the schedule itself; times are epoch seconds, None where they are not said."""

    clock: Clock
    own_zone: str | None
    start: int | None
    until: int | None
    excepted: tuple[str, ...]
    lengths: Lengths
    clause: str | None
    name: str
    approximate: bool
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
            first = datetime.fromtimestamp(max(self.begin, self.start or 0), timezone.utc).replace(
                hour=0, minute=0, second=0
            )
            return min(int((first + timedelta(days=_YEARS * 365 + 2)).timestamp()), _LAST)
        if self.until <= max(self.begin, (self.start or 0) - 1):
            said = "now" if self.start is None else "--from"
            message = f"--until is not later than {said}: no run can lie between them"
            raise click.UsageError(message, click.get_current_context(silent=True))
        return min(self.until, _LAST)

    def schedule(self, text: str | Span, folder: str = ".") -> WrittenSchedule:
        """Return the schedule, with what --except leaves out; .ics files are those below a folder and --allow-dir.

        Raises UsageProblem for a zone that is none, CrondorError for a text that is no schedule.
        """
        from crondor.compile.text import read_schedule  # noqa: PLC0415 - 15 ms that wrong options need not wait for

        try:
            zone = self.clock.zone_name if self.own_zone is None else find_zone(self.own_zone, label="--zone").key
        except CrondorError as error:
            raise UsageProblem(error) from None
        if self.excepted:
            whole = text if isinstance(text, str) else text.text
            text = f"({whole})" + "".join(f" except ({each})" for each in self.excepted)
        return read_schedule(
            text,
            zone=zone,
            start=self.start,
            name=self.name,
            files=Files((folder, *self.allow_dirs), base=folder),
            policy=self.policy or Policy.COMPATIBLE,
            label="TEXT",
            is_whole=self.until is not None,
        )

    def compiled(self, schedule: WrittenSchedule, universe: str | None = None) -> Compiled:
        """Return the jobs that say a schedule. Raises CannotCompile."""
        from crondor.compile.writing.compiler import compile_schedule  # noqa: PLC0415 - as above
        from crondor.compile.writing.distance import Timing  # noqa: PLC0415 - as above
        from crondor.compile.writing.wish import Wish  # noqa: PLC0415 - as above

        window, prep_time, interval, said = self.lengths
        universe = said or universe or "vanilla"
        host = zone_of(self.clock.zone_name)
        is_local = self.clause == "local" or (
            self.clause is None and universe == "local" and schedule.zone.name == host.name
        )
        timing = Timing(window, prep_time, interval, universe)
        return compile_schedule(
            Wish(schedule, host, self.begin, self.end, timing, is_local, self.approximate, self.start or 0)
        )
