"""Jobs of submit files in a simulated pool: what becomes of their runs, in one dialect or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timezone, tzinfo
from functools import cached_property
from typing import NamedTuple, TypeVar

from crondor._schedule import PREP_COMMANDS, WINDOW_COMMANDS
from crondor.access_point import AccessPoint
from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_WINDOW
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Span, printable
from crondor.job.attributes import int32
from crondor.job.policy import NO_POLICY, QueuedJob, SystemPolicy
from crondor.job_queue import JobId
from crondor.pool.daemons.events import Watcher
from crondor.pool.daemons.flow import Listener
from crondor.pool.daemons.negotiator import Negotiator
from crondor.pool.daemons.pool_job import Gate, PoolJob
from crondor.pool.settings import Exits, FlowSettings, Lengths, LinkFault, Machine, PoolSettings, Preemption
from crondor.pool.simulate.outcome import JobOutcome, RunOutcome
from crondor.pool.simulate.simulation import Enough, Progress, Simulation, Together
from crondor.preview.jobs import Clock
from crondor.preview.stored import stored_jobs
from crondor.schedule import Universe, misspelt
from crondor.spec import Dialect
from crondor.submit import JobGroup, SubmitFile, job_ads
from crondor.times import JobTimes
from crondor.zones import Policy

Made = TypeVar("Made")


@dataclass(frozen=True)
class PoolOptions:
    """The options as written."""

    match_delay: str
    transfer: str
    run_time: str
    slots: int
    machines: tuple[str, ...]
    exit_code: str
    preempt: str | None
    faults: tuple[str, ...]
    knobs: tuple[str, ...]
    skew: int
    policy: Policy | None
    schedd_interval: int
    zone: tzinfo = timezone.utc
    seed: int = 0
    system_policy: SystemPolicy = field(default_factory=lambda: NO_POLICY)

    def settings(self) -> PoolSettings:
        """Return them as settings. Raises CrondorError with the faults of all of them."""
        found: list[Diagnostic] = []

        def read(parse: Callable[[str, str], Made], text: str, name: str, default: Made) -> Made:
            try:
                return parse(text, name)
            except CrondorError as error:
                found.extend(error.diagnostics)
                return default

        length = Lengths.fixed(0)
        flow = FlowSettings()
        for knob in self.knobs:
            flow = read(flow.with_knob, knob, "--knob", flow)
        faults = [read(LinkFault.parse, text, "--fail", None) for text in self.faults]
        machines = [read(Machine.parse, text, "--machine", None) for text in self.machines]
        made = PoolSettings(
            schedd_interval=self.schedd_interval,
            match_delay=read(Lengths.parse, self.match_delay, "--match-delay", length),
            transfer=read(Lengths.parse, self.transfer, "--transfer", length),
            run_time=read(Lengths.parse, self.run_time, "--run-time", length),
            slots=self.slots,
            machines=tuple(machine for machine in machines if machine is not None),
            exits=read(Exits.parse, self.exit_code, "--exit-code", Exits()),
            preemption=None if self.preempt is None else read(Preemption.parse, self.preempt, "--preempt", None),
            flow=replace(flow, faults=tuple(fault for fault in faults if fault is not None)),
            skew=self.skew,
            zone=self.zone,
            policy=self.policy,
            seed=self.seed,
            system_policy=self.system_policy,
        )
        if found:
            raise CrondorError(found)
        return made


MOST_JOBS = 10_000


class Group(NamedTuple):
    """Equal jobs of a file: ``first`` is the number of the first among all jobs, ``proc_id`` its ProcId."""

    label: str
    file: SubmitFile
    jobs: JobGroup
    ad: ClassAd
    first: int

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.source.name

    @property
    def line(self) -> int | None:
        """The line of the queue statement, from 1."""
        queue = self.jobs.queue
        return None if queue is None else queue.source.position(queue.start)[0]


class TakenFile(NamedTuple):
    """A submit file, what was found in it, and its equal jobs, each with its ad and why no machine may run it."""

    file: SubmitFile
    findings: list[Diagnostic]
    jobs: list[tuple[JobGroup, ClassAd, list[Diagnostic]]]


class LineChange(NamedTuple):
    """A line of a submit file to change, or to add before the queue statement; ``old`` is None for a new line."""

    name: str
    line: int | None
    command: str
    old: str | None
    new: int

    @property
    def is_vain(self) -> bool:
        """Return whether it changes nothing: it repeats the present value, or the default of a missing command."""
        if self.old is not None:
            return self.old == str(self.new)
        return self.new == (DEFAULT_PREP_TIME if self.command in PREP_COMMANDS else DEFAULT_WINDOW)

    def __str__(self) -> str:
        """Return it as an instruction."""
        place = printable(self.name) if self.line is None else f"{printable(self.name)}:{self.line}"
        if self.old is None:
            return f"{place}: add before it: {self.command} = {self.new}"
        return f"{place}: change {self.command} = {printable(self.old)} to {self.command} = {self.new}"


class SimulatedResult(NamedTuple):
    """The results of the jobs of a group in one dialect."""

    outcome: JobOutcome
    enough: Enough | None


@dataclass
class Simulated:
    """The jobs, the pool, the span, and the results by dialect."""

    settings: PoolSettings
    start: int
    end: int
    clock: Clock
    access_point: AccessPoint | None = None
    groups: list[Group] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    sides: dict[Dialect, list[SimulatedResult]] = field(default_factory=dict)
    has_failed: bool = False  # a file cannot be simulated

    @property
    def job_count(self) -> int:
        """The number of jobs."""
        return sum(group.jobs.count for group in self.groups)

    @cached_property
    def numbers(self) -> Mapping[JobId, int]:
        """The number of each job's group, once all files are added; a file is a cluster."""
        found: dict[JobId, int] = {}
        clusters: dict[int, int] = {}
        procs: Counter[int] = Counter()
        for number, group in enumerate(self.groups):
            cluster = clusters.setdefault(id(group.file), len(clusters) + 1)
            for _ in range(group.jobs.count):
                found[JobId(cluster, procs[cluster])] = number
                procs[cluster] += 1
        return found

    def named(self, group: Group, outcome: JobOutcome) -> int:
        """Return how many runs the fields of a group's jobs name in the span, in the manual's reading.

        If the jobs leave before the end, or nothing repeats them, it is the number of planned runs.
        """
        if outcome.has_left or outcome.trouble:
            return outcome.planned
        with suppress(CrondorError):
            times = JobTimes.from_queue(QueuedJob(group.ad), self.start, zone=self.clock.zone)
            window = times.schedule.window
            if times.schedule.recurrence is not None and isinstance(window, int):
                # A run whose window reaches the end is only planned if it has started.
                least, most = (group.jobs.count * self._count(times, end) for end in (self.end - window - 1, self.end))
                return min(max(least, outcome.planned - outcome.repeated), most)
        return outcome.planned

    def _count(self, times: JobTimes, end: int) -> int:
        recurrence = times.schedule.recurrence
        if recurrence is None or end <= self.start:
            return 0
        return sum(1 for _ in times.runs(self.start, end)) if times.is_restricted else recurrence.count(self.start, end)

    @property
    def is_fine(self) -> bool:
        """Return whether every planned run starts, as in a real pool."""
        side = next(iter(self.sides.values()), [])
        return not self.has_failed and bool(side) and not any(_is_bad(result.outcome) for result in side)

    def take(self, file: SubmitFile, *, is_named_alone: bool = False) -> None:
        """Add the jobs of a file; ``is_named_alone``: their label is its name without a line.

        Raises CrondorError for what is refused, and for too many jobs in all.
        """
        self.add(self.taken(file), is_named_alone=is_named_alone)

    def taken(self, file: SubmitFile) -> TakenFile:
        """Return the jobs of a file for ``add``. Raises CrondorError for what is refused."""
        made, said = self._ads(file)
        names = ((key, file.name(key)) for key in file.keys)
        written = ((span.text if span else key, span) for key, span in names if key not in self._known)
        findings = [*file.warnings, *misspelt(written), *said]
        return TakenFile(file, findings, [(jobs, ad, self._unfit(jobs, ad)) for jobs, ad in made])

    def add(self, taken: TakenFile, *, is_named_alone: bool = False) -> None:
        """Add the jobs that ``taken`` returned, of this or an equal simulation."""
        file = taken.file
        self.findings += taken.findings
        for jobs, ad, unfit in taken.jobs:
            number = sum(group.file is file for group in self.groups) + 1
            group = Group("", file, jobs, ad, self.job_count)
            is_bare = group.line is None or is_named_alone
            place = file.source.name if is_bare else f"{file.source.name}:{group.line}"
            several = any(g.file is file and g.line == group.line for g in self.groups)
            self.groups.append(group._replace(label=printable(f"{place} #{number}" if several else place)))
            self.findings += [*jobs.findings, *unfit]

    def refuse(self, error: CrondorError) -> None:
        """Record why a file is not simulated."""
        self.findings += error.diagnostics
        self.has_failed = True

    def check(self) -> None:
        """Raise CrondorError if there are too many jobs."""
        if self.job_count > MOST_JOBS:
            message = f"{self.job_count} jobs are too many to simulate at once; the limit is {MOST_JOBS}"
            raise CrondorError(Diagnostic("simulate-jobs", message, help="simulate the files one by one"))

    @property
    def _known(self) -> frozenset[str]:
        """Return the commands that the administrator has added."""
        return frozenset() if self.access_point is None else self.access_point.commands

    def _ads(self, file: SubmitFile) -> tuple[list[tuple[JobGroup, ClassAd]], list[Diagnostic]]:
        """Return the ads of a file, as the access point stores them if its configuration is known.

        Raises CrondorError for what is refused.
        """
        access_point = self.access_point
        if access_point is None:
            return [(jobs, ad) for jobs, ad in job_ads(file, in_order=True, limit=MOST_JOBS)], []
        stored, said = stored_jobs(file, access_point, self.start)
        for each in stored:
            if access_point.starts(each.ad, int32(each.ad, "JobUniverse") or 0) is False:
                message = "the job stays idle: the access point's START_ expression for its universe is not true for it"
                raise CrondorError(Diagnostic("simulate-universe", message, span=each.jobs.queue))
        return [(each.jobs, each.ad) for each in stored], said

    def _unfit(self, jobs: JobGroup, job: ClassAd) -> list[Diagnostic]:
        """Yield where the simulated pool has no answer: an unsupported universe, Requirements that no machine meets."""
        universe = int32(job, "JobUniverse")
        if universe == Universe.GRID:
            message = "a grid universe job leaves for another system: nothing of it is simulated"
            return [Diagnostic("simulate-universe", message, Severity.WARNING, jobs.queue)]
        is_local = universe in (Universe.LOCAL, Universe.SCHEDULER)
        context = Context(now=self.start, zone=self.clock.zone)
        ads = [self.settings.schedd] if is_local else kinds_of(self.settings)
        faults = [Gate(job, ad, is_asked=not is_local).unmet(context) for ad in ads]
        if not all(faults):
            return []
        unmet = faults[0]
        message = f"no simulated machine meets {printable(unmet[0])[:200]}: the job never matches here"
        hint = "remove it from requirements to simulate time only, or submit in a pool that has such machines"
        return [Diagnostic("simulate-requirements", message, Severity.WARNING, jobs.queue, hint)]

    def run(
        self,
        dialect: Dialect,
        *,
        advise: bool,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
    ) -> None:
        """Simulate in a dialect, and store the results. Raises UnknownZone."""
        clusters: dict[int, list[ClassAd]] = {}
        for group in self.groups:
            clusters.setdefault(id(group.file), []).extend([group.ad] * group.jobs.count)
        settings = replace(self.settings, dialect=dialect)
        simulation = Simulation(settings, list(clusters.values()), self.start, self.end)
        spans = [range(group.first, group.first + group.jobs.count) for group in self.groups]
        together = Together(self._lines(PREP_COMMANDS, spans), self._lines(WINDOW_COMMANDS, spans))
        life = simulation.life(watchers=watchers, listeners=listeners, progress=progress)
        enough = simulation.enough(progress, together, life) if advise else []
        self.sides[dialect] = [
            SimulatedResult(_together(life.outcomes[span.start : span.stop]), _most(enough[span.start : span.stop]))
            for span in spans
        ]

    def _lines(self, commands: Sequence[str], spans: Sequence[range]) -> list[list[int]]:
        """Return the numbers of jobs, grouped by the line that would be changed."""
        found: dict[tuple[object, ...], list[int]] = {}
        for group, span in zip(self.groups, spans, strict=True):
            change = _change(group, commands, 0)
            found.setdefault((change.name, change.line, change.old is None), []).extend(span)
        return list(found.values())

    def changes(self, group: Group, result: SimulatedResult) -> list[LineChange]:
        """Return the changes with which all runs would have started; each is enough by itself."""
        outcome, enough = result.outcome, result.enough
        if enough is None or not (outcome.failed - _not_ours(outcome) or outcome.counts[RunOutcome.LATE]):
            return []
        found = []
        if enough.window is not None and outcome.failed > _not_ours(outcome):
            found.append(_change(group, WINDOW_COMMANDS, enough.window))
        if enough.prep_time is not None:
            found.append(_change(group, PREP_COMMANDS, enough.prep_time))
        return [change for change in found if not change.is_vain]


def kinds_of(settings: PoolSettings) -> list[ClassAd]:
    """Return the ads of the kinds of machines in a pool."""
    return Negotiator[PoolJob](settings.machine, settings.slots, settings.machines).ads


def _is_bad(outcome: JobOutcome) -> bool:
    return bool(outcome.failed or outcome.trouble or outcome.hold or outcome.is_stranded)


def _not_ours(outcome: JobOutcome) -> int:
    """Return how many runs failed for reasons that neither prep time nor window can change."""
    return outcome.counts[RunOutcome.SKIPPED]


def _change(group: Group, commands: Sequence[str], value: int) -> LineChange:
    is_cron = any(name.startswith("cron_") and name not in (*PREP_COMMANDS, *WINDOW_COMMANDS) for name in _named(group))
    spans = group.jobs.spans
    for command in commands:
        span: Span | None = spans.get(command)
        if span is not None and group.jobs.values.get(command):
            old = span.text.strip()
            return LineChange(span.source.name, span.source.position(span.start)[0], command, old, value)
    command = commands[0] if is_cron else next((c for c in commands if c.startswith("deferral_")), commands[0])
    return LineChange(group.name, group.line, command, None, value)


def _named(group: Group) -> Sequence[str]:
    return [name for name, text in group.jobs.values.items() if text]


def _together(outcomes: Sequence[JobOutcome]) -> JobOutcome:
    """Return the outcomes of equal jobs as one."""
    made = JobOutcome(is_deferred=any(outcome.is_deferred for outcome in outcomes))
    for outcome in outcomes:
        for fate, count in outcome.counts.items():
            made.counts[fate] += count
        made.starts += outcome.starts
        made.evicted += outcome.evicted
        made.untold += outcome.untold
        made.repeated += outcome.repeated
        made.idle_slot += outcome.idle_slot
        made.hold = made.hold or outcome.hold
        made.removed = made.removed or outcome.removed
        made.is_stranded = made.is_stranded or outcome.is_stranded
        made.trouble = made.trouble or outcome.trouble
    made.has_left = all(outcome.has_left for outcome in outcomes)
    return made


def _most(found: Sequence[Enough]) -> Enough | None:
    if not found:
        return None
    prep_times, windows = [e.prep_time for e in found], [e.window for e in found]
    return Enough(_max(prep_times), _max(windows))


def _max(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
