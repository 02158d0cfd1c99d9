"""`crondor diff --schedule TEXT FILE`: whether a file's jobs run at exactly the times that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.spec import Dialect
from crondor.words import describe
from crondor_cli.common.asked_facts import asked_data, known_text
from crondor_cli.common.columns import plural
from crondor_cli.common.data import diagnostic_data, instant
from crondor_cli.common.jobs import Job
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.preview import placed
from crondor_cli.common.schedule_facts import years_after
from crondor_cli.common.streaming import echo_json
from crondor_cli.common.wording import columns
from crondor_cli.times.text import local_text, relative

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule

_YEARS = 10  # that are compared without --until
_MOST_TIMES = 300_000  # of the jobs that are tried, where their requirements speak of the time


@dataclass
class AskedComparison:
    """What was asked for and what jobs do, from now until ``until`` (epoch seconds)."""

    schedule: WrittenSchedule
    jobs: list[Job]
    clock: Clock
    until: int
    reason: str = ""  # why no further
    compared: int = 0  # times that one or both have
    common: int | None = None
    partings: list[tuple[int, bool]] = field(default_factory=list)  # and whether it is the schedule that has it
    findings: list[Diagnostic] = field(default_factory=list)
    trouble: bool = False
    words: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Say whether any time differs."""
        return bool(self.partings)


def compare_asked(
    schedule: WrittenSchedule, jobs: list[Job], dialect: Dialect, clock: Clock, end: int | None, count: int
) -> AskedComparison:
    """Compare a schedule with all jobs together, one of which has each time; at most ``count`` times are named."""
    until = end if end is not None else years_after(clock.now, _YEARS, clock.zone)
    found = AskedComparison(schedule, jobs, clock, until)
    if schedule.until is not None and schedule.until < until:
        found.until, found.reason = schedule.until, schedule.until_reason
    found.findings += schedule.warnings
    budget = _Budget()
    runs = [_runs_of(job, dialect, found, budget) for job in jobs]
    if not found.trouble:
        try:
            _part(found, schedule.between(clock.now, found.until), merge(*runs), count)
        except _TooMany as cut:
            found.until = cut.at
            found.reason = f"{_MOST_TIMES} times of the jobs were tried; --until and --now choose others"
        except CrondorError as error:
            found.trouble = True
            found.findings += error.diagnostics
    return found


class _TooMany(Exception):
    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at


class _Budget:
    """How many times of jobs may still be tried."""

    def __init__(self) -> None:
        self.left = _MOST_TIMES

    def counted(self, times: Iterable[int]) -> Iterator[int]:
        """Yield times that are to be tried."""
        for time in times:
            self.left -= 1
            if self.left < 0:
                raise _TooMany(time - 1)
            yield time


def _runs_of(job: Job, dialect: Dialect, found: AskedComparison, budget: _Budget) -> Iterable[int]:
    """Return the times of a job up to the end; what stands against them goes into the findings."""
    reading = job.read(dialect)
    read = reading.schedule
    if read is None:
        found.trouble = True
        found.findings += reading.error.diagnostics if reading.error else ()
        return ()
    found.findings += read.notes
    now, until = found.clock.now, found.until
    times = job.times(read)
    where = ", with requirements on the time" if times.is_restricted else ""
    if not read.is_deferred:
        found.words.append("no schedule")
        return ()
    found.words.append(f"{'once' if read.recurrence is None else describe(read.recurrence.spec)}{where}")
    try:
        named = map(int, times.named(now, until))
    except CrondorError as error:
        found.trouble = True
        found.findings += [placed(fault, job) for fault in error.diagnostics]
        return ()
    return times.admitted(budget.counted(named)) if times.is_restricted else named


def _part(found: AskedComparison, ours: Iterator[int], theirs: Iterator[int], count: int) -> None:
    """Walk along both in order of time."""
    last = -1
    one, other = next(ours, None), next(theirs, None)
    while (one is not None or other is not None) and len(found.partings) < count:
        if other is not None and other == last:  # two jobs have it
            other = next(theirs, None)
            continue
        found.compared += 1
        if one == other:
            last = one or 0
            found.common = last if found.common is None else found.common
            one, other = next(ours, None), next(theirs, None)
        elif other is None or (one is not None and one < other):
            found.partings.append((one or 0, True))
            one = next(ours, None)
        else:
            last = other
            found.partings.append((other, False))
            other = next(theirs, None)


def print_asked_json(found: AskedComparison, name: str) -> None:
    """Print one object."""
    zone = found.clock.zone
    data = {
        "differs": found.differs,
        "pairs": [],
        "schedules": [
            {
                **asked_data(found.schedule, found.clock),
                "file": name,
                "jobs": len(found.jobs),
                "compared_until": instant(found.until, zone),
                "compared": found.compared,
                "partings": [
                    {**instant(time, zone), "fires": "first" if is_first else "second"}
                    for time, is_first in found.partings
                ],
                "first_common": None if found.common is None else instant(found.common, zone),
            }
        ],
        "diagnostics": [diagnostic_data(each) for each in dict.fromkeys(found.findings)],
    }
    echo_json(data)


def print_asked(found: AskedComparison, name: str, count: int) -> None:
    """Print both sides, how many times they have in common, and where they part."""
    clock, schedule = found.clock, found.schedule
    jobs = "" if len(found.jobs) == 1 else f" ({len(found.jobs)} schedules)"
    lines = [f"< {printable(schedule.text)}", f"    {printable(schedule.words)}", f"> {printable(name)}{jobs}"]
    lines += [f"    {printable(words)}" for words in found.words]
    own = "" if schedule.zone.name == clock.zone_name else f"{schedule.zone.name} for <, "
    lines.append(f"  zone          {own}{clock.zone_name} (the submit host's)")
    known = known_text(schedule, clock)
    lines += [f"  known         {known}"] if known else []
    end = local_text(found.until, clock.zone)
    lines += [f"  looked until  {end}{f' ({found.reason})' if found.reason and not known else ''}"]
    if not found.differs:
        said = f"both have the same {plural(found.compared, 'time')}" if found.compared else "neither has a time"
        say("\n".join([*lines, f"  result        the same: {said}"]))
        return
    named = len(found.partings)
    same = plural(found.compared - named, "time")
    lines += [
        f"  result        they differ; {same} up to there {'is' if same.startswith('1 ') else 'are'} the same",
        "",
    ]
    times = f"{'first ' * (named == count)}{'time' if named == 1 else f'{named} times'}"
    lines.append(f"  The {times} that only one of them has:")
    rows = [
        [f"{'<' if is_first else '>'}  {local_text(time, clock.zone)}", relative(time - clock.now)]
        for time, is_first in found.partings
    ]
    say("\n".join(chain(lines, (f"  {line}" for line in columns(rows)))))
