"""Spreading: other minutes for the jobs of a pool, so that fewer want a slot at the same time.

``jobs`` defines what is spread and when a slot is held, ``minutes`` the minutes that a job may have, ``propose``
chooses them, ``writing`` writes them into submit files.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate
from typing import NamedTuple

from crondor.compile.markers import BEGIN, SCHEDULE, is_order
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.recurrence import Policy, Recurrence
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, HOUR, MINUTE, CronSpec, Field
from crondor.submit import SubmitFile
from crondor.submit.edits import TextEdit, changed, differing, literal_value, meaning
from crondor.times import JobTimes
from crondor.zones import Zone, zone_of

__all__ = ["Load", "Move", "SpreadJob", "SpreadTime", "Spreading", "propose"]

_MINUTE = 60


@dataclass(frozen=True)
class SpreadJob:
    """``count`` equal jobs. Jobs with the same ``place`` share one minute field and move together.

    The job's own minute is derived from ``name``, which should not depend on the current folder. ``fixed`` says why the
    minute must not move, as the end of a sentence; empty if it may. ``hours`` is by how many hours the job may move
    too. ``requirements`` may exclude times of the schedule.
    """

    name: str
    schedule: JobSchedule
    place: object
    count: int = 1
    fixed: str = ""
    hours: int = 0
    requirements: str = ""

    @property
    def times(self) -> JobTimes:
        """When the job runs."""
        return JobTimes(self.schedule, self.requirements)


class SpreadTime(NamedTuple):
    """The time examined, ``start`` <= instant < ``end`` (epoch seconds), and the length of a run (seconds).

    Whole local dates: a start within an hour would ignore some minutes of it.
    """

    start: int
    end: int
    run_time: int = 0

    @property
    def size(self) -> int:
        """The number of minutes."""
        return -(-(self.end - self.start) // _MINUTE)

    def minute(self, instant: int) -> int:
        """Return the number of the minute of an instant, 0 for that of ``start``."""
        return (instant - self.start) // _MINUTE


class Use(NamedTuple):
    """What one job uses: the instants of its runs, their minutes, and when it holds a slot (end excluded)."""

    runs: tuple[int, ...]
    starts: tuple[int, ...]
    held: tuple[tuple[int, int], ...]


class Load:
    """How many jobs start in each minute, and how many hold a slot."""

    def __init__(self, size: int) -> None:
        self.starts = [0] * size
        self.held = [0] * size

    def __repr__(self) -> str:
        """Return the number of minutes, and the maxima of one."""
        return f"<Load of {len(self.starts)} minutes, {self.most_starts} starts and {self.most_held} slots at most>"

    def __eq__(self, other: object) -> bool:
        """Compare minute by minute."""
        return vars(self) == vars(other) if isinstance(other, Load) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def add(self, use: Use, jobs: int) -> None:
        """Add the use of some equal jobs; a negative number subtracts it."""
        for minute in use.starts:
            self.starts[minute] += jobs
        for low, high in use.held:
            for minute in range(low, high):
                self.held[minute] += jobs

    @property
    def most_starts(self) -> int:
        """The most starts in a minute."""
        return max(self.starts, default=0)

    @property
    def most_held(self) -> int:
        """The most slots held at once."""
        return max(self.held, default=0)

    def met(self, use: Use) -> tuple[int, int]:
        """Return the most starts and the most slots in the minutes that a job uses."""
        starts = max((self.starts[minute] for minute in use.starts), default=0)
        return starts, max((max(self.held[low:high]) for low, high in use.held), default=0)

    def is_below(self, use: Use, starts: int, held: int) -> bool:
        """Return whether every minute that a job uses has at most some starts and some slots held."""
        if any(count > starts for count in map(self.starts.__getitem__, use.starts)):
            return False
        return all(max(self.held[low:high]) <= held for low, high in use.held)

    def busiest(self, most: int) -> list[int]:
        """Return the minutes with the most slots held, then with the most starts; earlier ones first."""
        numbers = (minute for minute, count in enumerate(self.held) if count)
        return sorted(numbers, key=lambda minute: (-self.held[minute], -self.starts[minute], minute))[:most]


def use_of(times: JobTimes, time: SpreadTime) -> Use:
    """Return what a job uses at its runs.

    A slot is held from when the job may be matched (``Deferral.match_opens``: prep time and SCHEDD_INTERVAL before its
    time) until its window or a run that began in time has ended. A window that cannot be evaluated counts as none.
    """
    runs = tuple(_runs(times, time))
    before = after = 0
    if runs:
        with suppress(CrondorError):
            run = times.deferral(runs[0], time.start)
            before, after = run.time - run.match_opens, run.last_start - run.time
    after = max(after, time.run_time)
    starts = tuple(sorted({time.minute(run) for run in runs}))
    ranges = ((time.minute(run - before), time.minute(run + after) + 1) for run in runs)
    inside = ((max(0, low), min(time.size, high)) for low, high in ranges)  # one job holds one slot
    return Use(runs, starts, tuple(joined(sorted(inside))))


def _runs(times: JobTimes, time: SpreadTime) -> Iterable[int]:
    """Return the runs in the time, as `crondor next` prints them in the dialect of the schedule."""
    with suppress(CrondorError):  # it never runs
        return list(times.runs(time.start - 1, time.end - 1, now=time.start))
    return ()


def joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join overlapping and touching ranges; they are sorted by their beginnings."""
    begin = end = -1
    for low, high in ranges:
        if low > end or begin < 0:
            if begin < end:
                yield begin, end
            begin, end = low, high
        end = max(end, high)
    if begin < end:
        yield begin, end


_HOUR = 60
_HOURS = 24


class Cycle(NamedTuple):
    """Minutes evenly spaced around the hour: every ``step`` minutes from ``offset``; a single minute has step 60.

    ``later`` is by how many hours the job's hours move, negative for earlier.
    """

    step: int
    offset: int
    later: int = 0

    @property
    def text(self) -> str:
        """The minutes as a list, which the manual and the schedd of HTCondor 25.14 read alike.

        That schedd keeps only the multiples of a step, so it would read ``5-59/15`` differently.
        """
        return ",".join(map(str, range(self.offset, _HOUR, self.step)))


def cycle_of(spec: CronSpec) -> Cycle | None:
    """Return the minutes of a spec if they are evenly spaced, also across the full hour, else None."""
    minutes = spec.values(MINUTE)
    if not minutes or _HOUR % len(minutes):
        return None
    found = Cycle(_HOUR // len(minutes), minutes[0])
    return found if minutes == tuple(range(found.offset, _HOUR, found.step)) else None


def with_minutes(spec: CronSpec, cycle: Cycle) -> CronSpec:
    """Return a spec that runs at other minutes, of the same or moved hours."""
    given = {field.name: text for field, text in zip(FIELDS, spec.given, strict=True)}
    if cycle.later:
        given[HOUR.name] = hours_text(spec, cycle.later)
    return CronSpec(**{**given, MINUTE.name: cycle.text}, dialect=spec.dialect)


def hours_text(spec: CronSpec, later: int) -> str:
    """Return the hours as they are written, or if moved, as a list."""
    if not later:
        return spec.given[HOUR.index] or "*"
    return ",".join(str(hour + later) for hour in spec.values(HOUR))


def may_move(spec: CronSpec, most: int) -> tuple[int, int]:
    """Return by how many hours, at most ``most``, a spec may move earlier and later and keep its dates.

    Hours with a star, or all hours, follow real time at clock changes and stay.
    """
    hours = spec.values(HOUR)
    if spec.stars[HOUR.index] or not hours or len(hours) == _HOURS:
        return 0, 0
    return min(most, hours[0]), min(most, _HOURS - 1 - hours[-1])


def why_not(recurrence: Recurrence) -> str:
    """Return why the minutes of a schedule cannot move safely, as the end of a sentence; empty if they can."""
    spec = recurrence.spec
    cycle = cycle_of(spec)
    if cycle is None:
        return "its minutes are not evenly spaced"
    if cycle.step == 1:
        return "it runs in every minute"
    if recurrence.policy is Policy.DEBIAN and spec.stars[MINUTE.index] and not spec.stars[HOUR.index]:
        return "its * in the minute decides what a clock change does to it"
    return ""


def own_offset(name: str, step: int) -> int:
    """Return the own minute of a name, below ``step``: the same on every host and day."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big") % step


_STARTS = 10  # weight of a start relative to a minute in which a slot is held; by default a run holds one for ten
_MOST_ROUNDS = 200  # each round improves; few are enough


class Move(NamedTuple):
    """Another minute for the jobs of one place: their numbers, the minutes before and after, and the hours.

    ``starts`` and ``held`` are the most starts, and the most slots held at once, in the minutes that they use: before
    all moves, and after them. ``is_own``: the minute is derived from their name; otherwise it is the best one.
    """

    jobs: tuple[int, ...]
    before: Cycle
    after: Cycle
    starts: tuple[int, int]
    held: tuple[int, int]
    is_own: bool
    hours: tuple[str, str]


class Spreading(NamedTuple):
    """The proposal: the moves in the order of the jobs, the load before and after, and why jobs stay.

    ``fixed`` has a reason, as the end of a sentence, by the number of each job that could not move.
    """

    moves: tuple[Move, ...]
    before: Load
    after: Load
    fixed: dict[int, str]


def propose(jobs: Sequence[SpreadJob], time: SpreadTime) -> Spreading:
    """Propose other minutes for jobs that meet, so that fewer start, and fewer slots are held, at the same time.

    A job moves within its hours, or with them if it may (``SpreadJob.hours``), and keeps its runs per date and the
    distance of its minutes. It moves if another job starts in its minute, or if the slots held besides its own exceed
    1.5 times the average: to the first minute, counted from that of its name, without either; if there is none, to the
    best; preferably in its own hours, otherwise in the nearest. No move raises the maximum of starts or of slots held.
    The same jobs always get the same result; once applied, nothing more is proposed, unless hours may move: they then
    count from the new ones.
    """
    uses = _Uses(time)
    places: dict[object, list[int]] = {}
    for number, job in enumerate(jobs):
        places.setdefault(job.place, []).append(number)
    fixed: dict[int, str] = {}
    movable: list[_Place] = []
    before, after = Load(time.size), Load(time.size)
    for numbers in places.values():
        some = [jobs[number] for number in numbers]
        reason = _reason(some)
        if reason:
            fixed.update(dict.fromkeys(numbers, reason))
        else:
            movable.append(_Place(tuple(numbers), some, uses))
        for job in some:
            before.add(uses.own(job), job.count)
            after.add(uses.own(job), job.count)
    movable.sort(key=lambda place: (place.own.offset, place.name, place.numbers))
    for _ in range(_MOST_ROUNDS):
        improved = [_improve(place, after) for place in movable]  # all of them, whatever the first returns
        if not any(improved):
            break
    changed = (place for place in movable if place.now != place.begun)
    moves = sorted(_move(place, before, after) for place in changed)
    return Spreading(tuple(moves), before, after, fixed)


def _reason(jobs: Sequence[SpreadJob]) -> str:
    """Return why the jobs of a place stay where they are, empty if they may move."""
    for job in jobs:
        recurrence = job.schedule.recurrence
        reason = job.fixed or ("it has no cron fields" if recurrence is None else why_not(recurrence))
        reason = reason or ("its requirements ask for its DeferralTime" if job.times.is_restricted else "")
        if reason:
            return reason
    steps = {cycle_of(job.schedule.recurrence.spec) for job in jobs if job.schedule.recurrence is not None}
    return "" if len(steps) == 1 else "jobs that differ share its minute"


class _Uses:
    """The use of each schedule at each minute, computed once: most jobs of a pool share few schedules."""

    def __init__(self, time: SpreadTime) -> None:
        self.time = time
        self._known: dict[tuple[object, ...], Use] = {}
        self._own: dict[int, Use] = {}

    def own(self, job: SpreadJob) -> Use:
        """Return what a job uses now."""
        key = id(job)  # kept alive by its place
        if key not in self._own:
            self._own[key] = use_of(job.times, self.time)
        return self._own[key]

    def at(self, job: SpreadJob, cycle: Cycle) -> Use:
        """Return what a job would use at other minutes."""
        schedule = job.schedule
        assert schedule.spec is not None  # noqa: S101 - it is movable
        key: tuple[object, ...] = (
            schedule.spec,
            cycle,
            schedule.window,
            schedule.prep_time,
            schedule.schedd_interval,
            schedule.policy,
        )
        if not isinstance(schedule.window, int) or not isinstance(schedule.prep_time, int):
            key = (*key, id(schedule))  # an expression may refer to any attribute of its job
        if key not in self._known:
            moved = replace(schedule, spec=with_minutes(schedule.spec, cycle))
            self._known[key] = use_of(JobTimes(moved), self.time)
        return self._known[key]


class _Place:
    """Jobs that move together: the minutes they may have, their present and their first ones."""

    def __init__(self, numbers: tuple[int, ...], jobs: Sequence[SpreadJob], uses: _Uses) -> None:
        first = jobs[0].schedule
        found = None if first.spec is None else cycle_of(first.spec)
        assert found is not None  # noqa: S101 - else it would be fixed
        self.numbers = numbers
        self.name = jobs[0].name
        self.begun = self.now = found
        self.own = found._replace(offset=own_offset(self.name, found.step))
        self._jobs = jobs
        self._uses = uses
        self._zone = zone_of(first.zone)
        self._reach: tuple[tuple[int, int], ...] | None = None
        self._offered: tuple[Cycle, ...] | None = None

    def uses(self, cycle: Cycle) -> Iterator[tuple[Use, int]]:
        """Yield what the jobs use at some minutes, with their number."""
        for job in self._jobs:
            yield self._uses.own(job) if cycle == self.begun else self._uses.at(job, cycle), job.count

    @property
    def offered(self) -> tuple[Cycle, ...]:
        """The minutes with as many runs on every date, that of the name first, then those after it.

        Those within the present hours come before those in other hours, the nearest first.
        """
        if self._offered is None:
            step = self.begun.step
            wanted = self._dates(self.begun)
            around = [(self.own.offset + n) % step for n in range(step)]
            cycles = (Cycle(step, offset, later) for later in self._hours() for offset in around)
            self._offered = tuple(each for each in cycles if self._dates(each) == wanted)
        return self._offered

    def _hours(self) -> list[int]:
        """Return by how many hours the jobs may move together, the fewest first, later before earlier."""
        specs = [job.schedule.spec for job in self._jobs if job.schedule.spec is not None]
        if len({spec.values(HOUR) for spec in specs}) > 1:
            return [0]
        earlier, later = may_move(specs[0], min(job.hours for job in self._jobs))
        return sorted(range(-earlier, later + 1), key=lambda hours: (abs(hours), -hours))

    def hours(self, cycle: Cycle) -> str:
        """Return the text of the hours."""
        spec = self._jobs[0].schedule.spec
        return "" if spec is None else hours_text(spec, cycle.later)

    @property
    def reach(self) -> tuple[tuple[int, int], ...]:
        """The minutes in which the jobs may hold slots after any move."""
        if self._reach is None:
            ranges = sorted(range_ for cycle in self.offered for use, _ in self.uses(cycle) for range_ in use.held)
            self._reach = tuple(joined(ranges))
        return self._reach

    def _dates(self, cycle: Cycle) -> list[Counter[date]]:
        return [_dates(use, self._zone) for use, _ in self.uses(cycle)]


def _dates(use: Use, zone: Zone) -> Counter[date]:
    return Counter(date.fromordinal(1 + zone.local(run) // 86400) for run in use.runs)


def _improve(place: _Place, load: Load) -> bool:
    """Move the jobs of a place if that is better; return whether it did."""
    calm = _calm(place, load)
    if _is_calm(place, place.now, load, calm):
        return False
    most = load.most_starts, load.most_held
    _add(place, load, -1)
    fitting = (each for each in _better(place, load, calm) if _fits(place, each, load, most))
    chosen = next(fitting, place.now)
    is_moved = chosen != place.now
    place.now = chosen
    _add(place, load, 1)
    return is_moved


def _calm(place: _Place, load: Load) -> int:
    """Return how many other slots may be held before a place's jobs look for another minute.

    That is 1.5 times the average over all the time that the jobs could use.
    """
    held = sum(sum(load.held[low:high]) for low, high in place.reach)
    minutes = sum(high - low for low, high in place.reach)
    return -(-3 * held // (2 * minutes)) if minutes else 0


def _is_calm(place: _Place, cycle: Cycle, load: Load, calm: int, *, is_in: bool = True) -> bool:
    """Return whether jobs start alone at some minutes, with few other slots held; ``is_in``: they are in that load."""
    for use, count in place.uses(cycle):
        own = count if is_in else 0
        most = max(calm, count) - count + own
        if not load.is_below(use, own, most):
            return False
    return True


def _better(place: _Place, load: Load, calm: int) -> Iterator[Cycle]:
    """Yield better minutes for jobs that are not in the load: calm ones from the name's own on, then the best first."""
    weights = _Weights(load)
    now = weights.all_of(place, place.now)
    for cycle in place.offered:
        if _is_calm(place, cycle, load, calm, is_in=False) and weights.all_of(place, cycle) < now:
            yield cycle
    costs = {cycle: weights.all_of(place, cycle) for cycle in place.offered}
    yield from sorted((each for each in place.offered if costs[each] < now), key=costs.__getitem__)


class _Weights:
    """The cost of some more jobs in a range of minutes: cubes, so that the busiest minutes count most."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._most = max(load.most_held, load.most_starts)
        self._sums: dict[int, tuple[list[int], list[int]]] = {}

    def all_of(self, place: _Place, cycle: Cycle) -> int:
        """Return by how much the sum of the cubes grows with the jobs of a place at some minutes."""
        return sum(self._cost(*each) for each in place.uses(cycle))

    def _cost(self, use: Use, jobs: int) -> int:
        if jobs not in self._sums:
            growth = [(n + jobs) ** 3 - n**3 for n in range(self._most + 1)]
            sums = accumulate(map(growth.__getitem__, self._load.held), initial=0)
            self._sums[jobs] = growth, list(sums)
        growth, held = self._sums[jobs]
        slots = sum([held[high] - held[low] for low, high in use.held])  # noqa: C419 - a list: faster than one by one
        starts = map(growth.__getitem__, map(self._load.starts.__getitem__, use.starts))
        return slots + _STARTS * sum(starts)


def _fits(place: _Place, cycle: Cycle, load: Load, most: tuple[int, int]) -> bool:
    """Return whether no minute would exceed the former maximum."""
    old, place.now = place.now, cycle
    _add(place, load, 1)
    met = [load.met(use) for use, _ in place.uses(cycle)]
    _add(place, load, -1)
    place.now = old
    return all(starts <= most[0] and held <= most[1] for starts, held in met)


def _add(place: _Place, load: Load, sign: int) -> None:
    for use, count in place.uses(place.now):
        load.add(use, sign * count)


def _move(place: _Place, before: Load, after: Load) -> Move:
    old = _met(before, (use for use, _ in place.uses(place.begun)))
    new = _met(after, (use for use, _ in place.uses(place.now)))
    return Move(
        place.numbers,
        place.begun,
        place.now,
        (old[0], new[0]),
        (old[1], new[1]),
        place.now == place.own,
        (place.hours(place.begun), place.hours(place.now)),
    )


def _met(load: Load, uses: Iterable[Use]) -> tuple[int, int]:
    met = [load.met(use) for use in uses]
    return max(each[0] for each in met), max(each[1] for each in met)


_USE = {field: re.compile(rf"\$[\w]*\(\s*(my\.)?cron_?{field.name}\b", re.IGNORECASE) for field in (MINUTE, HOUR)}


class NotSpread(CrondorError, ValueError):
    """A file in which other minutes would change something else."""


def field_place(field: Field, name: str, values: Mapping[str, str], spans: Mapping[str, Span]) -> Span | None:
    """Return the place of a job's minute or hour if it is literal in the file called ``name``, else None.

    ``values`` and ``spans`` have the commands of the job by lower-case name.
    """
    span = spans.get(field.command)
    attribute = field.attribute.lower()
    if span is None or span.source.name != name or attribute in values or f"my.{attribute}" in values:
        return None
    return literal_value(span.source, field.command, values.get(field.command), span)


def why_pinned(field: Field, span: Span) -> str:
    """Return what in its file keeps a minute or hour in place, as the end of a sentence; empty if nothing does."""
    text = span.source.text
    if "crondor" in text and any(BEGIN.fullmatch(line) or SCHEDULE.fullmatch(line) for line in text.split("\n")):
        return "its file is compiled from a schedule: change that"
    if _USE[field].search(text):
        return f"something else in its file depends on its {field.name}"
    number = span.line - 1
    while number > 0 and (line := span.source.line(number).strip()).startswith("#"):
        if is_order(line):
            return f"the crondor comment in line {number} is about it"
        number -= 1
    return ""


def spread_text(source: Source, values: Iterable[tuple[Span, str]], read: Callable[[Source], SubmitFile]) -> Source:
    """Return a file with other minutes and hours at some places. ``read`` reads it (and files it may include).

    Raises NotSpread if anything but the minutes and hours would change.
    """
    after = Source(changed(source, [TextEdit(span, text) for span, text in values]).text, source.name)
    others = differing(meaning(read(source)), meaning(read(after))) - {MINUTE.command, HOUR.command}
    if others:
        what = ", ".join(sorted(each or "the number of jobs" for each in others)[:3])
        message = f"other minutes would also change {what}, so the file is not changed"
        raise NotSpread(Diagnostic("not-spread", message, span=source.span(0, 0), help="keep it with --pin"))
    return after
