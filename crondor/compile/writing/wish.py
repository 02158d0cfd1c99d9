"""The input and output of the compiler: jobs with commands, marked lines, and deviations from the wish."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, NamedTuple

from crondor._schedule import UNIVERSES, Universe
from crondor.calendar import DAY, lowest
from crondor.compile.days import MINUTES, DaySet, members, spread
from crondor.compile.markers import BEGIN, END
from crondor.compile.walls import InvalidSchedule
from crondor.compile.writing.superset import Proof, Superset
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_SCHEDD_INTERVAL, DEFAULT_WINDOW, passed_over
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, lines_of
from crondor.spec import FIELDS, MINUTE
from crondor.zones import Zone

_SHORTEST_PREP = {"local": 15}  # seconds that finding a slot, or in the local universe starting, may take
_SHORTEST = 60


# The schedd computes a new time at its first pass after DeferralTime + DeferralWindow: until then the job has the wrong
# time, and a wanted one before that is skipped (measured on HTCondor 25.14, docs/compile.md).
class Timing(NamedTuple):
    """The lengths that determine the spacing needed (seconds); ``prep_time`` None: as long as possible, up to 300."""

    window: int = DEFAULT_WINDOW
    prep_time: int | None = None
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    universe: str = "vanilla"

    @property
    def least_prep(self) -> int:
        """Return the shortest prep time that may be chosen."""
        if self.prep_time is not None:
            return self.prep_time
        return _SHORTEST_PREP.get(self.universe, _SHORTEST)

    @property
    def needed(self) -> int:
        """Return the seconds required between a wrong time and the next right one."""
        return self.window + self.schedd_interval + self.least_prep

    @property
    def pass_interval(self) -> int:
        """Return the seconds per computation of a job's next time; 0 if the schedd does not wait for a pass."""
        universe = UNIVERSES.get(self.universe.lower(), Universe.VANILLA)
        return self.schedd_interval if universe.waits_for_passes else 0

    def prep_for(self, distance: int | None) -> int | None:
        """Return the prep time to write for a spacing, None if HTCondor's default works."""
        if self.prep_time is not None or distance is None:
            return self.prep_time
        left = distance - self.window - self.schedd_interval
        return None if left >= DEFAULT_PREP_TIME else left


class Spacing(NamedTuple):
    """``least``: the least seconds from a wrong time to the right one after it; None if there is none.

    ``wrong`` times pass unused; ``between_runs`` is the least time from a right one to the next.
    """

    least: int | None
    wrong: int
    between_runs: int | None


class _Inner(NamedTuple):
    least: int | None
    apart: int | None
    first: int
    first_is_wanted: bool
    last: int
    last_is_wanted: bool
    first_wanted: int
    last_wanted: int


def spacing(days: Iterable[tuple[int, int, int]]) -> Spacing:
    """Return the spacing in UTC days, in order, with bit sets of the offered and the wanted minutes."""
    least = apart = wrong_at = right_at = None
    wrong = 0
    for day, offered, wanted in days:
        if not offered:
            continue
        inner = _inside(offered, wanted)
        wrong += (offered & ~wanted).bit_count()
        if inner.first_is_wanted and wrong_at is not None:
            least = _less(least, day * DAY + inner.first - wrong_at)
        least = _less(least, inner.least)
        if wanted:
            if right_at is not None:
                apart = _less(apart, day * DAY + inner.first_wanted - right_at)
            apart = _less(apart, inner.apart)
            right_at = day * DAY + inner.last_wanted
        wrong_at = None if inner.last_is_wanted else day * DAY + inner.last
    return Spacing(least, wrong, apart)


def spoiled(days: Iterable[tuple[int, int, int]], needed: int) -> list[int]:
    """Return the wanted times (epoch seconds) less than ``needed`` seconds after a wrong one, of all days in order.

    Whether the schedd skips them depends on the time of its passes.
    """
    found: list[int] = []
    reach = -(-needed // 60) - 1  # minutes
    behind = 0
    for day, offered, wanted in days:
        behind |= spread(offered & ~wanted, reach)
        found += [day * DAY + 60 * minute for minute in members(behind & wanted)]
        behind >>= MINUTES
    return found


def hurried(days: Mapping[int, int], interval: int) -> dict[int, int]:
    """Return the job's times, UTC days in order with bit sets of minutes, that a schedd may miss.

    It computes the next one once in ``interval`` seconds (crondor.deferral.passed_over).
    """
    found: dict[int, int] = {}
    last: int | None = None  # the last time that was kept
    for day, bits in days.items():
        before = None if last is None else max(last - day * DAY, -interval)
        lost, kept = _hurried(bits, before, interval)
        if lost:
            found[day] = lost
        last = last if kept is None else day * DAY + kept
    return found


@lru_cache(maxsize=4096)
def _hurried(bits: int, before: int | None, interval: int) -> tuple[int, int | None]:
    times = [60 * minute for minute in members(bits)]
    lost = passed_over(times, interval, before)
    kept = set(times) - set(lost)
    return sum(1 << time // 60 for time in lost), max(kept, default=None)


@lru_cache(maxsize=4096)
def _inside(offered: int, wanted: int) -> _Inner:
    least = apart = wrong_at = right_at = None
    for minute in members(offered):
        second = minute * 60
        if not wanted >> minute & 1:
            wrong_at = second
            continue
        if wrong_at is not None:
            least = _less(least, second - wrong_at)
        if right_at is not None:
            apart = _less(apart, second - right_at)
        wrong_at, right_at = None, second
    first, last = lowest(offered), offered.bit_length() - 1
    return _Inner(
        least,
        apart,
        first * 60,
        bool(wanted >> first & 1),
        last * 60,
        bool(wanted >> last & 1),
        lowest(wanted) * 60 if wanted else 0,
        (wanted.bit_length() - 1) * 60,
    )


def _less(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


_YEARS = 5  # that are proven by default
LAST = 7289568000
"""The latest end of a proof: the last day of 2200."""
_OPTION = re.compile(r"--([a-z-]+)(?:[ ]+(?!--)(\S+))?")
_LENGTH = re.compile(r"\d{1,9}", re.ASCII)
_USUAL = {"cron_prep_time": str(DEFAULT_PREP_TIME), "cron_window": str(DEFAULT_WINDOW), "requirements": "true"}


class CannotCompile(CrondorError, ValueError):
    """A schedule that HTCondor cannot express, with the reason."""


CAUGHT_UP = "DeferralTime =?= MY.CrondorCatchUpTime"
"""The condition of a run that crondor queue guard makes up: it sets both attributes to the same time."""


class Wish(NamedTuple):
    """The input: the schedule, the submit host's zone, the time to prove (epoch seconds), and the lengths.

    ``local`` requests the short clause that uses the clock of the evaluating host. ``approximate`` accepts the nearest
    solution. No time before ``first`` is wanted, though the schedd may set some from ``start`` on. ``makes_up``: the
    clause lets a run match that a guard makes up.
    """

    schedule: DaySet
    host: Zone
    start: int
    until: int
    timing: Timing = Timing()
    local: bool = False
    approximate: bool = False
    first: int = 0
    makes_up: bool = False

    @property
    def after(self) -> int:
        """Return the instant after which times are wanted."""
        return max(self.start, self.first - 1)


class LineOptions(NamedTuple):
    """The options of `crondor compile` that affect the lines it writes; None: not given."""

    window: int | None = None
    prep_time: int | None = None
    schedd_interval: int | None = None
    universe: str | None = None
    clause: str | None = None
    approximate: bool | None = None

    @classmethod
    def read(cls, text: str) -> LineOptions:
        """Return the options in a text in the form of ``text``; others are skipped."""
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
        """The options as typed."""
        given = [(f"--{name.replace('_', '-')}", value) for name, value in zip(self._fields, self, strict=True)]
        return " ".join(name if value is True else f"{name} {value}" for name, value in given if value is not None)

    def over(self, others: LineOptions) -> LineOptions:
        """Return these, completed by others."""
        return others._replace(**{name: value for name, value in self._asdict().items() if value is not None})

    def wish(
        self, schedule: DaySet, host: Zone, start: int, until: int, *, universe: str | None = None, first: int = 0
    ) -> Wish:
        """Return the wish of these options, with a default for the universe."""
        universe = self.universe or universe or "vanilla"
        interval = DEFAULT_SCHEDD_INTERVAL if self.schedd_interval is None else self.schedd_interval
        timing = Timing(self.window or 0, self.prep_time, interval, universe)
        is_local = self.clause == "local" or (self.clause is None and means_host(schedule, host, universe))
        return Wish(schedule, host, start, until, timing, is_local, bool(self.approximate), first)


@dataclass(frozen=True)
class CompiledJob:
    """One job: its fields, the clause ("" for none), the prep time and window to write (None: HTCondor's defaults)."""

    superset: Superset
    clause: str
    prep_time: int | None
    window: int | None
    spacing: Spacing

    @property
    def commands(self) -> dict[str, str]:
        """The submit commands and their values, in the order to write them, without fields that are ``*``."""
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
    """Jobs that together run at the wanted times, the proof, what limits it, and remarks."""

    wish: Wish
    jobs: tuple[CompiledJob, ...]
    proof: Proof
    until_reason: str
    is_open: bool  # the jobs continue after the proof's end by the same rule
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why it is not exact
    spoiled: tuple[int, ...] = ()  # wanted times so close after wrong ones that the schedd may skip them
    hurried: Mapping[int, int] = field(default_factory=dict)
    """UTC days with the minutes of wanted times that the schedd may miss."""

    @property
    def commands(self) -> list[dict[str, str]]:
        """The submit commands of each job for one file: each of several jobs sets all that any of them sets.

        In a submit file earlier commands stay set, so a job needs HTCondor's default in place of another job's value.
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
    """Return the default end of the proof: a midnight (UTC) some years after ``start``."""
    first = datetime.fromtimestamp(start, timezone.utc).replace(hour=0, minute=0, second=0)
    return min(int((first + timedelta(days=_YEARS * 365 + 2)).timestamp()), LAST)


def means_host(schedule: DaySet, host: Zone, universe: str) -> bool:
    """Return whether the short clause works, which uses the clock of the evaluating host.

    Jobs of the local universe run on the submit host.
    """
    return universe == "local" and schedule.zone.name == host.name


CLAUSE = "crondor_times"
"""The macro for the clause, so that a file's own requirements stay as they are."""

_QUEUE = re.compile(r"[ \t]*queue\b[^\n]*", re.IGNORECASE)
_REQUIREMENTS = re.compile(r"[ \t]*requirements[ \t]*=", re.IGNORECASE)
_STAMP = "%Y-%m-%dT%H:%MZ"


class Block(NamedTuple):
    """Compiled lines in a file: their place, the proof's end (epoch seconds), and the commands of each job.

    ``zone`` is the submit host's for which they were compiled, "" if the marker does not name it; ``options`` are those
    they were made with.
    """

    span: Span
    until: int
    zone: str
    options: LineOptions
    jobs: tuple[Mapping[str, str], ...]


def marked_lines(source: Source) -> Block | None:
    """Return the compiled lines of a submit file, None if it has none.

    Raises InvalidSchedule for markers that do not match, and for a time that cannot be read.
    """
    begin: tuple[int, re.Match[str]] | None = None
    found: Block | None = None
    at = 0
    for line in lines_of(source.text):
        bare = line.rstrip("\r\n")
        match = BEGIN.fullmatch(bare)
        if match or END.fullmatch(bare):
            span = source.span(at, at + len(bare))
            if bool(match) == (begin is not None) or found is not None:
                message = "the markers of the compiled lines do not belong together"
                help_text = "delete the markers and what is between them, and compile with --write again"
                raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span, help=help_text))
            if match:
                begin = at, match
            elif begin is not None:
                whole, said = source.span(begin[0], at + len(line)), begin[1]
                options = LineOptions.read(said["options"] or "")
                found = Block(whole, _instant(said["until"], span), said["zone"] or "", options, _jobs(whole.text))
        at += len(line)
    if begin is not None and found is None:
        message = "the compiled lines have no end marker"
        help_text = "delete the compiled lines, and compile with --write again"
        span = source.span(begin[0], begin[0] + len(source.text[begin[0] :].partition("\n")[0]))
        raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span, help=help_text))
    return found


def _instant(text: str, span: Span) -> int:
    try:
        return int(datetime.strptime(text, _STAMP).replace(tzinfo=timezone.utc).timestamp())
    except ValueError:
        message = f"`{text[:40]}` is not a time such as 2031-11-25T00:00Z"
        raise InvalidSchedule(Diagnostic("schedule-markers", message, span=span)) from None


def _jobs(text: str) -> tuple[Mapping[str, str], ...]:
    jobs: list[dict[str, str]] = [{}]
    for line in text.split("\n"):
        if _QUEUE.fullmatch(line):
            jobs.append(dict(jobs[-1]))
        elif "=" in line and not line.lstrip().startswith("#"):
            name, _, value = line.partition("=")
            jobs[-1][name.strip().lower()] = value.strip()
    return tuple(jobs)


def rewritten(source: Source, compiled: Compiled, options: LineOptions, policies: Mapping[str, str]) -> str:
    """Return a file's text with compiled lines inserted, or replacing those it has; line ends are kept.

    ``options`` are those they were made with, ``policies`` commands for every job. Raises InvalidSchedule if the queue
    statement cannot be repeated, or is missing.
    """
    jobs = compiled.commands
    end = "\r\n" if "\r\n" in source.text else "\n"
    known = marked_lines(source)
    rest = source.text if known is None else source.text[: known.span.start] + source.text[known.span.end :]
    at = _first_queue(rest) if known is None else known.span.start
    queue = _QUEUE.match(rest, _first_queue(rest))
    statement = queue[0].strip() if queue else "queue"
    if len(jobs) > 1 and (statement.endswith(("(", "\\")) or len(_queues(rest)) > 1):
        message = f"the schedule takes {len(jobs)} jobs, and the file's queue statement cannot be repeated for each"
        help_text = "give the file one queue statement on a line of its own"
        raise InvalidSchedule(Diagnostic("schedule-queue", message, help=help_text))
    has_own = any(_REQUIREMENTS.match(line) for _, line in _statements(rest[:at]))
    stamp = datetime.fromtimestamp(compiled.proof.until, timezone.utc).strftime(_STAMP)
    how = f"made by crondor compile --write {options.text}".rstrip()
    marker = f"# crondor: compiled lines until {stamp} on a host in {compiled.wish.host.name} ({how})"
    written = _lines([{**policies, **job} for job in jobs], statement, has_own=has_own)
    lines = [marker, *written, "# crondor: end of compiled lines"]
    before = rest[:at]
    if before and not before.endswith("\n"):
        before += end
    return before + end.join(lines) + end + rest[at:]


def _lines(jobs: Sequence[Mapping[str, str]], queue: str, *, has_own: bool) -> list[str]:
    lines: list[str] = []
    has_clause = any("requirements" in job for job in jobs)
    names = dict.fromkeys([*(field.command for field in FIELDS), *(name for job in jobs for name in job)])
    for number, job in enumerate(jobs):
        if number:
            lines.append(queue)
        lines += [f"{name} = {job.get(name, '*')}" for name in names if name != "requirements"]
        if has_clause:
            lines.append(f"{CLAUSE} = {job.get('requirements', 'true')}")
            if not number:
                own = "($(requirements)) && " if has_own else ""
                lines.append(f"requirements = {own}($({CLAUSE}))")
    return lines


def _queues(text: str) -> list[int]:
    return [at for at, line in _statements(text) if _QUEUE.fullmatch(line)]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that do not continue another one, with their offsets."""
    at = 0
    is_joined = False
    for line in lines_of(text):
        bare = line.strip(" \t\r\n")
        if not is_joined:
            yield at, line.rstrip("\r\n")
        is_joined = bare.endswith("\\") and (is_joined or not bare.startswith("#"))
        at += len(line)


def _first_queue(text: str) -> int:
    """Return the offset of the first queue statement, the end of a text without one."""
    found = _queues(text)
    return found[0] if found else len(text)
