"""What is asked of the compiler, and what it gives: jobs with their commands, and the proof."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from crondor.compile.days import DaySet
from crondor.compile.writing.distance import Spacing, Timing
from crondor.compile.writing.proof import Proof
from crondor.compile.writing.superset import Superset
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_SCHEDD_INTERVAL, DEFAULT_WINDOW
from crondor.diagnostics import CrondorError
from crondor.spec import FIELDS, MINUTE
from crondor.zones import Zone

_YEARS = 5  # that are proven where nobody says until when
LAST = 7289568000
"""The last instant that anything is proven for: the last day of 2200."""
_OPTION = re.compile(r"--([a-z-]+)(?:[ ]+(?!--)(\S+))?")
_LENGTH = re.compile(r"\d{1,9}", re.ASCII)
_USUAL = {
    "cron_prep_time": str(DEFAULT_PREP_TIME),
    "cron_window": str(DEFAULT_WINDOW),
    "requirements": "true",
}


class CannotCompile(CrondorError, ValueError):
    """A schedule that HTCondor cannot hold, with the reason."""


class Wish(NamedTuple):
    """What is asked for: the schedule, the submit host's zone, the time to prove (epoch seconds), and the lengths.

    ``local`` asks for the short clause that means the clock of the host which evaluates it. ``approximate`` accepts
    the nearest that can be said. No time before ``first`` is wanted, though the schedd may set some from ``start`` on.
    """

    schedule: DaySet
    host: Zone
    start: int
    until: int
    timing: Timing = Timing()
    local: bool = False
    approximate: bool = False
    first: int = 0

    @property
    def after(self) -> int:
        """Return the instant after which times are wanted."""
        return max(self.start, self.first - 1)


class LineOptions(NamedTuple):
    """The options of `crondor compile` that decide on the lines that it writes; None: not given."""

    window: int | None = None
    prep_time: int | None = None
    schedd_interval: int | None = None
    universe: str | None = None
    clause: str | None = None
    approximate: bool | None = None

    @classmethod
    def read(cls, text: str) -> LineOptions:
        """Return the options of a text as ``text`` has them; what is none is passed over."""
        found: dict[str, Any] = {}
        for name, value in _OPTION.findall(text):
            key = name.replace("-", "_")
            if key in {"universe", "clause"} and value:
                found[key] = value
            elif key == "approximate":
                found[key] = True
            elif key in cls._fields and _LENGTH.fullmatch(value):
                found[key] = int(value)
        return cls()._replace(**found)

    @property
    def text(self) -> str:
        """They as they are typed."""
        given = [(f"--{name.replace('_', '-')}", value) for name, value in zip(self._fields, self, strict=True)]
        return " ".join(name if value is True else f"{name} {value}" for name, value in given if value is not None)

    def over(self, others: LineOptions) -> LineOptions:
        """Return these, and of others what these do not say."""
        return others._replace(**{name: value for name, value in self._asdict().items() if value is not None})

    def wish(
        self, schedule: DaySet, host: Zone, start: int, until: int, *, universe: str | None = None, first: int = 0
    ) -> Wish:
        """Return what they ask for, for jobs of a universe where they name none."""
        universe = self.universe or universe or "vanilla"
        interval = DEFAULT_SCHEDD_INTERVAL if self.schedd_interval is None else self.schedd_interval
        timing = Timing(self.window or 0, self.prep_time, interval, universe)
        is_local = self.clause == "local" or (self.clause is None and means_host(schedule, host, universe))
        return Wish(schedule, host, start, until, timing, is_local, bool(self.approximate), first)


@dataclass(frozen=True)
class CompiledJob:
    """One job: its fields, the clause ("" for none), the prep time and window to write (None: HTCondor's own)."""

    superset: Superset
    clause: str
    prep_time: int | None
    window: int | None
    spacing: Spacing

    @property
    def commands(self) -> dict[str, str]:
        """The submit commands and their values, in the order to write them; a field that is ``*`` is left out."""
        spec = self.superset.spec
        found = {
            field.command: text
            for field, text in zip(FIELDS, spec.given, strict=True)
            if text not in {None, "*"} or field is MINUTE
        }
        if self.prep_time is not None:
            found["cron_prep_time"] = str(self.prep_time)
        if self.window is not None:
            found["cron_window"] = str(self.window)
        if self.clause:
            found["requirements"] = self.clause
        return {name: text or "*" for name, text in found.items()}


@dataclass(frozen=True)
class Compiled:
    """Jobs that together run at the wanted times, the proof, what limits it, and what is to be known."""

    wish: Wish
    jobs: tuple[CompiledJob, ...]
    proof: Proof
    until_reason: str
    is_open: bool  # the jobs go on after the proof's end by the same rule
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why it is not exact
    spoiled: tuple[int, ...] = ()  # wanted times so near behind wrong ones that the schedd may jump over them
    hurried: Mapping[int, int] = field(default_factory=dict)
    """UTC days with the minutes of wanted times that the schedd may pass over."""

    @property
    def commands(self) -> list[dict[str, str]]:
        """The submit commands of each job for one file: of several jobs each says all that any of them says.

        A submit file keeps what stands above, so that a job needs HTCondor's own value in place of another job's.
        """
        if len(self.jobs) == 1:
            return [self.jobs[0].commands]
        names = dict.fromkeys(name for job in self.jobs for name in job.commands)
        usual = {name: _USUAL.get(name, "*") for name in names}
        return [usual | job.commands for job in self.jobs]

    @property
    def exact(self) -> bool:
        """Whether the jobs run at the wanted times and at no other, up to the proof's end."""
        return self.proof.is_exact and not self.reasons


def default_end(start: int) -> int:
    """Return the last instant to prove where nobody says it: a midnight (UTC) some years behind ``start``."""
    first = datetime.fromtimestamp(start, timezone.utc).replace(hour=0, minute=0, second=0)
    return min(int((first + timedelta(days=_YEARS * 365 + 2)).timestamp()), LAST)


def means_host(schedule: DaySet, host: Zone, universe: str) -> bool:
    """Say whether the short clause will do, which means the clock of the host that evaluates it.

    Jobs of the local universe run on the submit host.
    """
    return universe == "local" and schedule.zone.name == host.name
