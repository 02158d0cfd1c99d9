"""All jobs of all files together: how many start when, which minutes are the busiest, which jobs collide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crondor.calendar import lowest
from crondor.diagnostics import CrondorError, Diagnostic, has_error, printable
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec, Dialect
from crondor_cli.agenda.collisions import Collision, Strand, collisions, together
from crondor_cli.agenda.span import AgendaSpan, Day, Hour
from crondor_cli.agenda.starts import Tally, bits_of, first_start, members, starts
from crondor_cli.common.jobs import Job, ScheduleRequest, not_deferred
from crondor_cli.common.preview import placed, too_late
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.schedules import read_each

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule

LISTED = 5  # minutes of each list


class AgendaEntry(NamedTuple):
    """Equal jobs of a file that have a time: the first in the span or after it, and where their minutes are kept.

    ``first`` (epoch seconds) lies before the span where a deferral time does. It is None where requirements exclude
    all times that were looked at.
    """

    label: str
    job: Job
    schedule: JobSchedule
    first: int | None
    strand: Strand

    @property
    def leaves(self) -> bool:
        """Say whether each of the jobs leaves the queue after its first run, whatever the schedule names later."""
        return self.job.leaves_by is not None and self.schedule.spec is not None

    @property
    def starts(self) -> int:
        """How often each of the jobs starts in the span."""
        return self.strand.bits.bit_count()


class Minute(NamedTuple):
    """A minute by its number, how many jobs start in it, and which entries they belong to, by number."""

    number: int
    starts: int
    entries: list[int]


class CollisionGroup(NamedTuple):
    """Minutes in which the same jobs start, more than one: how many there are, and the first of them."""

    times: int
    first: Minute


class Agenda:
    """What the jobs of some files do in a span."""

    def __init__(self, span: AgendaSpan, dialect: Dialect) -> None:
        """Begin without a job."""
        self.span = span
        self.dialect = dialect
        self.entries: list[AgendaEntry] = []
        self.invalid: list[tuple[str, int | None]] = []  # file, and line of the queue statement where it is one job
        self.findings: list[Diagnostic] = []
        self._strands: dict[tuple[CronSpec | int | str | None, str, int | None], Strand] = {}
        self._tally = Tally()

    def read(self, requests: Iterable[tuple[str, ScheduleRequest]], jobs: int | None = 1) -> None:
        """Take the jobs of each named request; what is wrong with one is kept as a finding, and the others count.

        ``jobs`` are the processes that read the files.
        """
        named = list(requests)
        with closing(read_each(named, jobs)) as all_read:
            for name, found in PROGRESS.counted(all_read, "reading", "files", len(named)):
                if isinstance(found, CrondorError):
                    self.findings += found.diagnostics
                    self.invalid.append((name, None))
                    continue
                self.findings += found[1]
                for job in PROGRESS.counted(found[0], "counting starts", "jobs"):
                    self._take(job)
        PROGRESS.begin("comparing starts")
        self._finish()

    def take_asked(self, asked: WrittenSchedule, request: ScheduleRequest) -> None:
        """Take a schedule of any language beside the jobs; to be called before ``read``."""
        self.findings += asked.warnings
        span = self.span
        first = asked.next(span.after)
        if first is None:
            self.findings.append(Diagnostic("schedule-never", "the schedule has no run in these days or later"))
            self.invalid.append((asked.text, None))
            return
        strand = self._strands[asked.text, "", None] = Strand(bits_of(span, asked.between(span.after, span.end - 1)))
        strand.jobs.append(len(self.entries))
        job = Job(asked.text, None, 1, {}, {}, request)
        # What only `next` and `explain` show of a job is that of one that starts once.
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
        if has_error(schedule.notes):  # accepted, and never runs
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
        """Tell entries of one queue statement apart, and count all starts."""
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
        """Say whether something is wrong: an error among the findings, or no job with a time at all."""
        return not self.entries or has_error(self.findings)

    @property
    def jobs(self) -> int:
        """How many jobs the entries stand for."""
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
        """Return the starts in a local hour, None where no minute of it belongs to the span."""
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
        """Return which jobs start in the same minute, the most frequent ones first, and how many more there are."""
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
