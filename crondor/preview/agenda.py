"""All jobs of all files together: how many start when, the busiest minutes, colliding jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from hashlib import blake2b
from heapq import heappush, heappushpop
from itertools import combinations, groupby, islice, product
from operator import or_
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from crondor.calendar import EPOCH_ORDINAL, lowest
from crondor.diagnostics import CrondorError, Diagnostic, has_error, printable
from crondor.preview.jobs import Job, ReadingTerms, not_deferred
from crondor.preview.runs import placed, too_late
from crondor.preview.span import AgendaSpan, Day, Hour
from crondor.recurrence import Recurrence
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec, Dialect
from crondor.times import JobTimes

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule


def with_count(entry: AgendaEntry) -> str:
    """Return the name of an entry, with the number of its jobs if there are several."""
    return entry.label if entry.job.count == 1 else f"{entry.label} ({entry.job.count} jobs)"


FileJobs: TypeAlias = "tuple[Sequence[Job], Sequence[Diagnostic]]"


class Strand:
    """Entries that start at the same minutes: their numbers, and the bit set of the minutes.

    ``several`` are those with several equal jobs, which collide with each other.
    """

    __slots__ = ("bits", "jobs", "minutes_of_hour", "several")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.jobs: list[int] = []
        self.several: list[int] = []
        # Most pairs differ here already.
        self.minutes_of_hour = _folded(bits, 60)


class Collision(NamedTuple):
    """Two entries, by number, that start in the same minute: how many times, and the first such minute.

    The same number twice means the equal jobs of one entry.
    """

    times: int
    first: int
    jobs: tuple[int, int]


def together(strands: Sequence[Strand], minutes: int) -> list[int]:
    """Return some minutes as bit sets, one for each combination of strands that start together.

    Each strand gets a random number of 64 bits. Minutes with the same exclusive or of the numbers of their strands have
    the same strands; a bit set of minutes per bit is enough to find them.
    """
    planes = [0] * 64
    for strand in strands:
        if common := strand.bits & minutes:
            number = int.from_bytes(blake2b(str(strand.jobs[0]).encode(), digest_size=8).digest(), "big")
            for plane in range(64):
                if number >> plane & 1:
                    planes[plane] ^= common
    found = [minutes] if minutes else []
    for plane in planes:
        found = [part for group in found for part in (group & plane, group & ~plane) if part]
    return found


def collisions(strands: Sequence[Strand], most: int) -> tuple[list[Collision], int]:
    """Return the pairs of entries that collide most often, ``most`` of them, and how many pairs there are."""
    total = 0
    kept: list[tuple[int, int, int, int]] = []  # a heap: fewest collisions, then the latest first one, on top
    for one, other, common in _pairs(strands):
        same = one is other
        total += _own_pairs(one) if same else len(one.jobs) * len(other.jobs)
        count = common.bit_count()
        if not most or (len(kept) == most and count < kept[0][0]):
            continue
        low, high = sorted((one.jobs[0], other.jobs[0]))
        item = (count, -lowest(common), -low, -high)
        if len(kept) < most:
            heappush(kept, item)
        else:
            heappushpop(kept, item)
    home = {number: strand for strand in strands for number in strand.jobs}
    found: list[Collision] = []
    for count, first, low, high in sorted(kept, reverse=True):
        numbers = _jobs(home[-low], home[-high])
        found += [Collision(count, -first, pair) for pair in islice(numbers, most - len(found))]
    return sorted(found, key=lambda c: (-c.times, c.first, c.jobs)), total


def _pairs(strands: Sequence[Strand]) -> Iterator[tuple[Strand, Strand, int]]:
    for number, one in enumerate(strands):
        bits, folded = one.bits, one.minutes_of_hour
        if bits and _own_pairs(one):
            yield one, one, bits
        for other in strands[:number]:
            if folded & other.minutes_of_hour:
                common = bits & other.bits
                if common:
                    yield one, other, common


def _own_pairs(strand: Strand) -> int:
    return len(strand.several) + len(strand.jobs) * (len(strand.jobs) - 1) // 2


def _jobs(one: Strand, other: Strand) -> Iterator[tuple[int, int]]:
    if one is other:
        yield from ((number, number) for number in one.several)
        yield from combinations(one.jobs, 2)
    else:
        for low, high in product(one.jobs, other.jobs):
            yield min(low, high), max(low, high)


def _folded(bits: int, width: int) -> int:
    """Return which remainders by ``width`` the members have, by halving."""
    size = width
    while size < bits.bit_length():
        size *= 2
    while size > width:
        size //= 2
        bits = bits & ((1 << size) - 1) | bits >> size
    return bits


_DAY_BYTES = 1440 // 8


def first_start(times: JobTimes, span: AgendaSpan, now: int) -> int | None:
    """Return the first run in the span or after it, None if requirements exclude those that were tried.

    A deferral time, evaluated at ``now``, may be before the span. Raises NeverRuns, ScheddHangs, UnknownValue and
    InvalidDeferral.
    """
    if times.schedule.recurrence is None:
        time = times.schedule.next(now).time
        return None if times.excludes(time) else time
    found = next(times.runs(span.after), None)
    return None if found is None else int(found)


def starts(times: JobTimes, first: int | None, span: AgendaSpan) -> int:
    """Return the minutes of the span in which a job with this first run starts, bit n for minute n."""
    if first is None or not span.after < first < span.end:
        return 0
    recurrence = times.schedule.recurrence
    if recurrence is None:
        return 1 << span.minute(first)
    if recurrence.spec.dialect is Dialect.HTCONDOR or times.is_restricted or times.present is not None:
        return bits_of(span, times.runs(span.after, span.end - 1))
    return _by_days(recurrence, span)


def _by_days(recurrence: Recurrence, span: AgendaSpan) -> int:
    """Use a day's pattern on days without clock changes; enumerate the runs of the other days."""
    wall = recurrence.wall_clock
    pattern = sum(wall.minutes << 60 * hour for hour in range(24) if wall.hours >> hour & 1)
    taken, free = pattern.to_bytes(_DAY_BYTES, "little"), bytes(_DAY_BYTES)
    found = 0
    begun = span.after >= span.origin  # the first minute, whose run on a plain day would not count
    for plain, days in groupby(span.days, span.is_plain):
        some = list(days)
        first = some[0]
        if plain:
            numbers = (day.date.toordinal() - EPOCH_ORDINAL for day in some)
            block = b"".join(taken if wall.rule.next_day(number) == number else free for number in numbers)
            shift = span.minute(first.start)
            bits = int.from_bytes(block, "little")
            found |= (bits << shift if shift >= 0 else bits >> -shift) & ~int(begun)
        else:
            found |= bits_of(
                span, recurrence.between(max(first.start - 1, span.after), min(some[-1].end, span.end) - 1)
            )
    return found & ((1 << span.size) - 1)


def bits_of(span: AgendaSpan, instants: Iterable[int]) -> int:
    """Return instants of a span as a bit set of its minutes."""
    digits = bytearray(b"0" * span.size)
    for instant in instants:
        digits[-1 - span.minute(instant)] = 49  # ASCII 1
    return int(digits, 2)


def members(bits: int) -> Iterator[int]:
    """Yield the members of a bit set in order."""
    digits = bin(bits)[:1:-1]
    found = digits.find("1")
    while found >= 0:
        yield found
        found = digits.find("1", found + 1)


class Tally:
    """How many jobs start in each minute.

    The counts are bit planes, plane n with the bit 2**n of every minute's count: a schedule is added to all minutes at
    once, whatever the number of its runs.
    """

    def __init__(self) -> None:
        self._planes: list[int] = []
        self._digits: list[str] = []

    def add(self, bits: int, jobs: int) -> None:
        """Count ``jobs`` starts in each minute of a bit set."""
        self._digits = []
        level = 0
        while jobs:
            if jobs & 1:
                self._carry(bits, level)
            jobs >>= 1
            level += 1

    def _carry(self, bits: int, level: int) -> None:
        while bits:
            self._planes += [0] * (level + 1 - len(self._planes))
            plane = self._planes[level]
            self._planes[level] = plane ^ bits
            bits &= plane
            level += 1

    @property
    def minutes(self) -> int:
        """The minutes with any start."""
        return reduce(or_, self._planes, 0)

    @property
    def shared(self) -> int:
        """The minutes with more than one start."""
        return reduce(or_, self._planes[1:], 0)

    @property
    def total(self) -> int:
        """The starts of all minutes."""
        return sum(plane.bit_count() << level for level, plane in enumerate(self._planes))

    def count(self, low: int, high: int) -> int:
        """Return the starts in the minutes from ``low`` to ``high`` (excluded)."""
        if not self._digits:
            self._digits = [bin(plane)[:1:-1] for plane in self._planes]
        return sum(digits.count("1", low, high) << level for level, digits in enumerate(self._digits))

    def levels(self) -> Iterator[tuple[int, int]]:
        """Yield the counts that occur, the largest first, each with the bit set of its minutes."""
        left = self.minutes
        while left:
            count, chosen = 0, left
            for level in reversed(range(len(self._planes))):
                if chosen & self._planes[level]:
                    chosen &= self._planes[level]
                    count |= 1 << level
            yield count, chosen
            left &= ~chosen


LISTED = 5  # minutes of each list


class AgendaEntry(NamedTuple):
    """Equal jobs of a file that have a time: the first run in the span or after it, and the key of their minutes.

    ``first`` (epoch seconds) is before the span if a deferral time is. It is None if requirements exclude all times
    that were tried.
    """

    label: str
    job: Job
    schedule: JobSchedule
    first: int | None
    strand: Strand

    @property
    def leaves(self) -> bool:
        """Return whether each of the jobs leaves the queue after its first run, whatever the schedule names later."""
        return self.job.leaves_by is not None and self.schedule.spec is not None

    @property
    def starts(self) -> int:
        """How often each of the jobs starts in the span."""
        return self.strand.bits.bit_count()


class Minute(NamedTuple):
    """A minute by its number, how many jobs start in it, and their entries, by number."""

    number: int
    starts: int
    entries: list[int]


class CollisionGroup(NamedTuple):
    """Minutes in which the same jobs start, more than one: how many there are, and the first of them."""

    times: int
    first: Minute


class Agenda:
    """The runs of the jobs of some files in a span."""

    def __init__(self, span: AgendaSpan, dialect: Dialect) -> None:
        self.span = span
        self.dialect = dialect
        self.entries: list[AgendaEntry] = []
        self.invalid: list[tuple[str, int | None]] = []  # file, and line of the queue statement for one job
        self.findings: list[Diagnostic] = []
        self._strands: dict[tuple[CronSpec | int | str | None, str, int | None], Strand] = {}
        self._tally = Tally()

    def read(self, files: Iterable[tuple[str, FileJobs | CrondorError]]) -> None:
        """Take the jobs of each named file with its warnings, or its error, which becomes a finding."""
        for name, found in files:
            if isinstance(found, CrondorError):
                self.findings += found.diagnostics
                self.invalid.append((name, None))
                continue
            jobs, warnings = found
            self.findings += warnings
            for job in jobs:
                self._take(job)
        self._finish()

    def take_asked(self, asked: WrittenSchedule, terms: ReadingTerms) -> None:
        """Add a schedule of any language to the jobs; must be called before ``read``."""
        self.findings += asked.warnings
        span = self.span
        first = asked.next(span.after)
        if first is None:
            self.findings.append(Diagnostic("schedule-never", "the schedule has no run in these days or later"))
            self.invalid.append((asked.text, None))
            return
        strand = self._strands[asked.text, "", None] = Strand(bits_of(span, asked.between(span.after, span.end - 1)))
        strand.jobs.append(len(self.entries))
        job = Job(asked.text, None, 1, {}, {}, terms)
        # The diagnostics of `next` and `explain` for a job that starts once do not apply.
        schedule = JobSchedule(time=first, zone=asked.zone.info)
        self.entries.append(AgendaEntry(printable(asked.text), job, schedule, first, strand))

    def _take(self, job: Job) -> None:
        reading = job.read(self.dialect)
        schedule = reading.schedule
        if schedule is None:
            self.findings += reading.error.diagnostics if reading.error else ()
            self.invalid.append((job.name, job.line))
            return
        self.findings += schedule.notes
        if job.state is not None and job.state.is_halted:
            return
        if has_error(schedule.notes):  # accepted, but never runs
            self.invalid.append((job.name, job.line))
            return
        if not schedule.is_deferred:
            self.findings.append(not_deferred(job))
            return
        times = job.times(schedule)
        try:
            first = first_start(times, self.span, job.clock.now)
            late = [] if schedule.spec is not None else too_late(job, schedule)
        except CrondorError as error:
            self.findings += [placed(fault, job) for fault in error.diagnostics]
            self.invalid.append((job.name, job.line))
            return
        self.findings += late
        clause = job.requirements if times.is_restricted else ""
        key = (schedule.spec if schedule.spec is not None else first, clause, times.present)
        if key not in self._strands:
            self._strands[key] = Strand(starts(times, first, self.span))
        strand = self._strands[key]
        strand.jobs.append(len(self.entries))
        if job.count > 1:
            strand.several.append(len(self.entries))
        self.entries.append(AgendaEntry(_label(job), job, schedule, first, strand))

    def _finish(self) -> None:
        """Give entries of one queue statement distinct labels, and count all starts."""
        same = Counter(entry.label for entry in self.entries)
        seen: Counter[str] = Counter()
        for number, entry in enumerate(self.entries):
            if same[entry.label] > 1:
                seen[entry.label] += 1
                self.entries[number] = entry._replace(label=f"{entry.label} #{seen[entry.label]}")
        for strand in self._strands.values():
            self._tally.add(strand.bits, sum(self.entries[number].job.count for number in strand.jobs))

    @property
    def failed(self) -> bool:
        """Return whether something is wrong: an error among the findings, or no job with a time."""
        return not self.entries or has_error(self.findings)

    @property
    def jobs(self) -> int:
        """The number of jobs of the entries."""
        return sum(entry.job.count for entry in self.entries)

    @property
    def total(self) -> int:
        """The starts in the span."""
        return self._tally.total

    @property
    def idle(self) -> list[AgendaEntry]:
        """The entries without a start in the span."""
        return [entry for entry in self.entries if not entry.strand.bits]

    def in_hour(self, hour: Hour) -> int | None:
        """Return the starts in a local hour, None if no minute of it is in the span."""
        return sum(self._tally.count(low, high) for low, high in hour.ranges) if hour.ranges else None

    def in_day(self, day: Day) -> int:
        """Return the starts in a local date."""
        return sum(self.in_hour(hour) or 0 for hour in day.hours)

    def soonest(self) -> list[Minute]:
        """Return the first minutes with a start."""
        numbers = islice(members(self._tally.minutes), LISTED)
        return [self._minute(number, self._tally.count(number, number + 1)) for number in numbers]

    def busiest(self) -> tuple[list[Minute], int]:
        """Return the minutes with the most starts, earlier ones first, and how many more are as busy as the last."""
        found: list[Minute] = []
        for count, minutes in self._tally.levels():
            chosen = list(islice(members(minutes), LISTED - len(found)))
            found += [self._minute(number, count) for number in chosen]
            if len(found) == LISTED:
                return found, minutes.bit_count() - len(chosen)
        return found, 0

    def collisions(self, most: int) -> tuple[list[Collision], int]:
        """Return the pairs of entries that start in the same minute most often, and how many more there are."""
        found, total = collisions(list(self._strands.values()), most)
        return found, total - len(found)

    def collision_groups(self, most: int) -> tuple[list[CollisionGroup], int]:
        """Return which jobs start in the same minute, the most frequent first, and how many more there are."""
        groups = together(list(self._strands.values()), self._tally.shared)
        groups.sort(key=lambda bits: (-bits.bit_count(), lowest(bits)))
        found = []
        for bits in groups[:most]:
            first = lowest(bits)
            found.append(CollisionGroup(bits.bit_count(), self._minute(first, self._tally.count(first, first + 1))))
        return found, len(groups) - len(found)

    def _minute(self, number: int, count: int) -> Minute:
        strands = (strand for strand in self._strands.values() if strand.bits >> number & 1)
        return Minute(number, count, sorted(number for strand in strands for number in strand.jobs))


def _label(job: Job) -> str:
    return printable(job.name if job.line is None else f"{job.name}:{job.line}")
