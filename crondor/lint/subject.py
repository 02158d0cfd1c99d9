"""The subjects of rules: a file, and each group of its equal jobs, as the manual and as the schedd read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from crondor._schedule import HOLD
from crondor._types import Memory
from crondor.calendar import DAY
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, has_error
from crondor.job.expressions import cron_literals, submitted_schedule
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint.made import LONGEST, MOST_JOBS, MadeJobs, make_jobs, spellings
from crondor.lint.rule import Rule, RuleHit
from crondor.lint.schedules import CRON_NAMES, Crontab, OwnSchedule, own_schedule, read_crontab
from crondor.lint.values import GivenValues, Macros, Places, is_expression, is_plain
from crondor.lint.written import Unread, WrittenExpression, unread, written
from crondor.recurrence import Policy, Recurrence
from crondor.schedule import COMMANDS, InvalidSchedule, JobSchedule, misspelt, needs_evaluation
from crondor.spec import Dialect, Field, InvalidSpec
from crondor.submit import JobGroup, SubmitFile
from crondor.submit.file import groups_with_attributes
from crondor.times import JobTimes, requirements_of

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint, Admission
    from crondor.audit import ClockChange


class CheckMemory:
    """Readings without a fault, by the values read: they have no place in the text and hold wherever it is.

    ``schedules``, ``crontabs`` and ``changes`` are derived from the values of a job, ``changes`` for one zone and
    moment; ``made`` are the commands that condor_submit looks up for a job whose ad can be made.
    """

    def __init__(self) -> None:
        self.schedules: Memory[JobSchedule] = Memory()
        self.crontabs: Memory[Crontab] = Memory()
        self.changes: Memory[tuple[ClockChange, ...]] = Memory()
        self.made: Memory[frozenset[str]] = Memory()

    def turn(self) -> None:
        """Begin another check."""
        for each in (self.schedules, self.crontabs, self.changes, self.made):
            each.turn()


# Other commands that rules read; `+X` and `MY.X` are my.x.
_LIFE = (
    "on_exit_remove",
    "on_exit_hold",
    "periodic_remove",
    "periodic_hold",
    "periodic_release",
    "max_retries",
    "retry_until",
    "success_exit_code",
    "jobmaxretries",
    "jobsuccessexitcode",
    HOLD,
)
_ATTRIBUTES = ("onexitremove", "onexithold", "periodicremove", "periodichold", "periodicrelease")
_OWN = tuple(f"my.{name}" for name in (*_ATTRIBUTES, "requirements", "timerremove"))
NAMES = (*COMMANDS, *_LIFE, "requirements", *_ATTRIBUTES, *_OWN)

_CRON = tuple(name for spellings in CRON_NAMES.values() for name in spellings)
_MOST_STEPS = 600_000
_JOB = 1000  # steps that the rules take for a job whose values are plain
_MOST_VALUES = 300_000  # of jobs that are compared one by one

_FEWEST_JOBS = 600

_HIDING = frozenset(
    ("runs-command", "unknown-include", "unknown-template", "file-outside")
)  # may hide lines, not only jobs


class SiteRules(NamedTuple):
    """Rules of a site, and the access point whose ads they see if there is no configuration of one."""

    rules: tuple[Rule[CheckedFile], ...]
    access_point: AccessPoint


@dataclass(frozen=True)
class CheckSettings:
    """The parameters of a check besides the text: ``now`` (epoch seconds), the zone, SCHEDD_INTERVAL (seconds).

    ``files``: whether to check that named files exist, below the folders that may be read. ``access_point`` is where
    the jobs are submitted; None if its configuration is unknown. ``target`` is the release of HTCondor used; 24 stands
    for the newest of its series. ``site`` are further rules, see crondor.lint.site.
    """

    now: int
    zone: str | tzinfo = "UTC"
    policy: Policy | None = None
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    files: bool = True
    access_point: AccessPoint | None = None
    target: Release = NEWEST
    site: SiteRules | None = None


class AdmittedJobs(NamedTuple):
    """Equal jobs, and the result of submitting the first."""

    jobs: JobGroup
    admission: Admission
    source: Source

    def place(self, *attributes: str) -> Span:
        """Return where the first of some attributes is set in the description, else as CheckedJob.span()."""
        return _place(self.jobs, (name for each in attributes for name in spellings(each)), self.source)


def _place(group: JobGroup, names: Iterable[str], source: Source) -> Span:
    place = next((group.spans[name] for name in names if name in group.spans), group.queue)
    return source.span(len(source.text.rstrip())) if place is None else place


class CheckedSchedule(NamedTuple):
    """A job's schedule in one dialect, or the error that refuses it."""

    schedule: JobSchedule | None
    error: CrondorError | None = None

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of reading: the faults of a refused schedule, or the notes of a good one."""
        if self.schedule is not None:
            return self.schedule.notes
        return self.error.diagnostics if self.error else ()

    @property
    def hold_reason(self) -> str | None:
        """The HoldReason that a schedd gives such a job (code 25), None if it does not hold it."""
        error = self.error.invalid_spec if isinstance(self.error, InvalidSchedule) else None
        return error.hold_reason if error else None


class CheckEffort:
    """The effort left for checking the jobs of one file, in steps of about a microsecond; see classad.Context.

    ``jobs`` is the number of jobs checked before it was used up.
    """

    def __init__(self) -> None:
        """Start with about a second."""
        self.left = _MOST_STEPS
        self.jobs: int | None = None

    @property
    def spent(self) -> float:
        """The fraction used up, from 0 to 1."""
        return min(1.0, 1 - self.left / _MOST_STEPS)

    def spend(self, steps: int) -> None:
        """Subtract some steps."""
        self.left -= steps


class FieldValues(NamedTuple):
    """The values of a job's cron fields, and where they, its requirements and its queue statement begin (or -1)."""

    cron: tuple[str | None, ...]
    places: frozenset[int]
    requirements: int
    queue: int


@dataclass(frozen=True, eq=False)
class CheckedJob:
    """Equal jobs of one queue statement; ``group`` has the values of NAMES and their places."""

    file: CheckedFile
    group: JobGroup

    @property
    def settings(self) -> CheckSettings:
        """The assumed time, zone and schedd."""
        return self.file.settings

    @property
    def values(self) -> Mapping[str, str]:
        """The expanded text of each command that is set, by lower-case name."""
        return self.group.values

    def first(self, *names: str) -> str | None:
        """Return the first of some lower-case names that has a value, None if none has."""
        return next((name for name in names if self.values.get(name, "").strip()), None)

    def span(self, *names: str) -> Span:
        """Return where the first of some names is set, else the queue statement, else the end of the file."""
        return _place(self.group, names, self.file.source)

    def field_span(self, field: Field) -> Span:
        """Return where a cron field is set, else the queue statement, else the end of the file."""
        attribute = field.attribute.lower()
        return self.span(f"my.{attribute}", field.command, attribute)

    @cached_property
    def manual(self) -> CheckedSchedule:
        """The schedule according to HTCondor's manual."""
        return self._read(Dialect.MANUAL)

    @cached_property
    def schedd(self) -> CheckedSchedule:
        """The schedule according to the schedd."""
        return self._read(Dialect.HTCONDOR)

    @cached_property
    def recurrence(self) -> Recurrence | None:
        """The recurrence of the cron fields according to the manual, None if it refuses them or none is set."""
        spec, schedule = self.crontab.manual, self.manual.schedule
        if spec is not None and schedule is not None and schedule.spec == spec:
            return schedule.recurrence
        return None if spec is None else Recurrence(spec, self.settings.zone, self.settings.policy)

    @property
    def times(self) -> JobTimes | None:
        """The run times of the job according to the manual, None if it refuses the schedule."""
        return None if self.manual.schedule is None else JobTimes(self.manual.schedule, requirements_of(self.values))

    def gap_within(self, limit: int) -> int | None:
        """Return the shortest time between two runs (s) up to ``limit``, else None, as without cron fields or runs."""
        recurrence = self.manual.schedule.recurrence if self.manual.schedule else None
        if recurrence is None or recurrence.wall_clock.never:
            return None
        table = recurrence.wall_clock.table
        within_a_day = min((later - earlier for earlier, later in pairwise(table)), default=DAY)
        if min(within_a_day, table[0] + DAY - table[-1]) > limit:
            return None
        gap = self._shortest_gap
        return gap if gap is not None and gap <= limit else None

    @cached_property
    def _shortest_gap(self) -> int | None:
        recurrence = self.manual.schedule.recurrence if self.manual.schedule else None
        try:
            return None if recurrence is None else recurrence.gaps().shortest
        except CrondorError:
            return None

    @cached_property
    def use(self) -> FieldValues:
        """The places of the values that schedule this job."""
        spans = self.group.spans
        names = [name for spellings in CRON_NAMES.values() for name in spellings]
        place = self.span("requirements") if "requirements" in spans else None
        return FieldValues(
            tuple(self.values.get(name) for name in names),
            frozenset(spans[name].start for name in names if name in spans),
            -1 if place is None else place.start,
            -1 if self.group.queue is None else self.group.queue.start,
        )

    @cached_property
    def crontab(self) -> Crontab:
        """The cron fields in both readings; expressions are evaluated as at submission."""
        values = {**self.values, **self._literals()}
        key = tuple((name, values[name]) for name in _CRON if name in values)
        known = self.file.memory.crontabs.get(key)
        if known is not None:
            return known
        found = read_crontab(values, self.group.spans)
        has_fault = found.faults or found.schedd_faults
        return found if has_fault else self.file.memory.crontabs.keep(key, found)

    def _literals(self) -> Mapping[str, str]:
        attributes = {name: text for name, text in self.values.items() if name.startswith("my.cron")}
        if not needs_evaluation(attributes):
            return {}
        settings = self.settings
        try:
            return cron_literals(
                self.values,
                settings.now,
                proc_id=self.group.first[1],
                schedd_interval=settings.schedd_interval,
                zone=settings.zone,
                effort=self.file.effort,
            )
        except InvalidSchedule:  # CRN312 reports it
            return {}

    def faults(self, *codes: str) -> Iterator[Diagnostic]:
        """Yield the diagnostics of the manual's reading with some codes."""
        for fault in self.manual.faults:
            if fault.code in codes:
                yield fault

    def hits(self, code: str) -> Iterator[RuleHit]:
        """Yield them as hits of a rule."""
        for fault in self.faults(code):
            yield RuleHit(fault.message, fault.span, fault.help)

    def told(self, *codes: str) -> frozenset[Span | None]:
        """Return the places of what ``faults`` yields: other rules need not report them."""
        return frozenset(fault.span for fault in self.faults(*codes))

    def _read(self, dialect: Dialect) -> CheckedSchedule:
        settings = self.settings
        try:
            if needs_evaluation(self.values):
                return CheckedSchedule(self._submitted(dialect))
            values = tuple((name, self.values[name]) for name in COMMANDS if name in self.values)
            key = (dialect, values, settings.schedd_interval, settings.zone, settings.policy)
            known = self.file.memory.schedules.get(key)
            if known is not None:
                return CheckedSchedule(known)
            schedule = JobSchedule.from_submit(
                self.values,
                spans=self.group.spans,
                dialect=dialect,
                schedd_interval=settings.schedd_interval,
                zone=settings.zone,
                policy=settings.policy,
            )
        except (InvalidSchedule, InvalidSpec) as error:
            return CheckedSchedule(None, error)
        if not schedule.notes:
            self.file.memory.schedules.keep(key, schedule)
        return CheckedSchedule(schedule)

    def _submitted(self, dialect: Dialect) -> JobSchedule:
        settings = self.settings
        return submitted_schedule(
            self.values,
            settings.now,
            spans=self.group.spans,
            proc_id=self.group.first[1],
            dialect=dialect,
            schedd_interval=settings.schedd_interval,
            zone=settings.zone,
            policy=settings.policy,
            effort=self.file.effort,
        )


@dataclass(frozen=True, eq=False)
class CheckedFile:
    """One submit description: its statements, and its jobs in groups.

    ``errors`` make it unreadable; ``submit`` is then the rest of it, None if even that is unclear.
    ``has_all_commands``: the errors concern only queue statements. ``unknown_items`` are variables of such statements.
    """

    source: Source
    settings: CheckSettings
    submit: SubmitFile | None
    errors: tuple[Diagnostic, ...] = ()
    effort: CheckEffort = field(default_factory=CheckEffort)
    memory: CheckMemory = field(default_factory=CheckMemory)
    has_all_commands: bool = False
    unknown_items: frozenset[str] = frozenset()

    @cached_property
    def _grouped(self) -> tuple[tuple[CheckedJob, ...], tuple[Diagnostic, ...]]:
        """The jobs, and the diagnostics of their values."""
        if self.submit is None:
            return (), ()
        try:
            cut: list[Diagnostic] = []
            names = len(NAMES) + sum(key.startswith("my.") for key in self.submit.keys)
            groups = groups_with_attributes(self.submit, NAMES, max(_FEWEST_JOBS, _MOST_VALUES // names), cut)
            found = dict.fromkeys(finding for group in groups for finding in group.findings)
            jobs = [CheckedJob(self, group) for group in _merged(groups, self._unknown)]
            if cut and not jobs:
                return (), (*found, *cut)
            if cut:
                self.effort.jobs = len(jobs)
            return tuple(jobs), tuple(found)
        except CrondorError as error:
            return (), error.diagnostics

    @property
    def jobs(self) -> tuple[CheckedJob, ...]:
        """The jobs, equal ones of one queue statement together; none if a value is unknown."""
        return self._grouped[0]

    def looked_at(self) -> Iterator[CheckedJob]:
        """Yield the jobs until the effort is used up."""
        for number, job in enumerate(self.jobs):
            if self.effort.left <= 0:
                self.effort.jobs = number
                return
            self.effort.spend(_JOB + sum(20 + 2 * len(text) for text in job.values.values()))
            yield job

    def _too_many(self) -> Iterator[Diagnostic]:
        if self.effort.jobs is not None:
            message = f"the jobs differ, and crondor checks the first {self.effort.jobs} of those that do"
            place = self.jobs[min(self.effort.jobs, len(self.jobs) - 1)].group.queue
            yield Diagnostic(
                "too-many-jobs", message, Severity.WARNING, place, "let fewer jobs differ, or split the file"
            )

    @cached_property
    def made(self) -> MadeJobs | None:
        """Results of making the job ads, None if they cannot be made, or that would take too long."""
        if self.submit is None or self._hides or not self._has_known_jobs:
            return None
        lists = (queue.arguments.items for queue in self.submit.queues)
        if len(self.source.text) - sum(each.size_in(self.source) for each in lists if each is not None) > LONGEST:
            return None
        if self.errors and not self.is_whole:
            return None
        access_point = self.settings.access_point
        knobs = None if access_point is None else access_point.submit_knobs
        return make_jobs(self.submit, knobs, self.memory.made) if self.effort.left > 0 else None

    @cached_property
    def misspelt(self) -> tuple[Diagnostic, ...]:
        """The misspelled commands about scheduling; ``fix`` writes the intended one."""
        if self.submit is None:
            return ()
        known = self.settings.access_point.commands if self.settings.access_point is not None else frozenset()
        names = []
        for key in self.submit.keys:
            if key not in known:
                span = self.submit.name(key)
                names.append((span.text if span else key, span))
        return tuple(misspelt(names))

    @cached_property
    def given(self) -> GivenValues:
        """Every value of the jobs."""
        return GivenValues(self.submit)

    @cached_property
    def written(self) -> tuple[WrittenExpression, ...]:
        """The expressions among the values; their parser is only loaded for a file that has any."""
        if not any(is_expression(value.key) and not is_plain(value.key, value.text) for value in self.given.all):
            return ()
        return tuple(written(self.given.all))

    @cached_property
    def macros(self) -> Macros | None:
        """The macros that it defines and uses, None if it cannot be read."""
        return Macros(self.submit) if self.submit is not None else None

    @cached_property
    def places(self) -> Places | None:
        """The files and folders that it names, None if they are not to be checked."""
        if self.submit is None or not self.settings.files:
            return None
        return Places(self.submit, self.given.jobs)

    @cached_property
    def own_schedule(self) -> OwnSchedule:
        """The schedule of its own line, # crondor: schedule = TEXT, with the compiled lines."""
        files = self.submit.files if self.submit is not None and self.settings.files else None
        return own_schedule(self.source, files, self.settings.zone, self.settings.policy)

    @cached_property
    def unread(self) -> tuple[Unread, ...]:
        """The values that condor_submit refuses, but would read with another operator or number."""
        if not self.written:
            return ()
        return tuple(unread(self.written))

    @cached_property
    def explained(self) -> frozenset[Span]:
        """The places of the values that CRN312, CRN550 or CRN560 report: other rules need not."""
        return frozenset(each.value.span for each in self.unread)

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """The lower-case names of the attributes that the description sets with + or MY."""
        keys = self.submit.keys if self.submit is not None else ()
        return frozenset(key.removeprefix("my.") for key in keys if key.startswith("my."))

    @cached_property
    def admitted(self) -> tuple[AdmittedJobs, ...]:
        """The results of submitting the jobs to the access point; empty without its configuration."""
        return self.submitted_to(self.settings.access_point)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What the rules of a site compute once for all of them."""
        return {}

    @cached_property
    def stored(self) -> tuple[AdmittedJobs, ...]:
        """The same for the rules of a site, which assume HTCondor's defaults without a configuration."""
        site = self.settings.site
        return self.admitted if self.settings.access_point or site is None else self.submitted_to(site.access_point)

    def submitted_to(self, access_point: AccessPoint | None) -> tuple[AdmittedJobs, ...]:
        """Return the results of submitting the jobs to an access point; empty if the jobs are not known."""
        if access_point is None or self.submit is None or not self.is_whole or not self.is_checked:
            return ()
        most = MOST_JOBS + len(self.submit.queues)
        found = access_point.admitted(self.submit, self.settings.now, most)
        return tuple(AdmittedJobs(*each, self.source) for each in found)

    @cached_property
    def last_others(self) -> dict[str, int]:
        """By command, where the last job is queued that a new line with it would change unintentionally; see policy."""
        return {}

    @cached_property
    def uses(self) -> frozenset[FieldValues]:
        """The places of the values that schedule the jobs, each once: an edit of one would change them."""
        return frozenset(job.use for job in self.jobs)

    def faults(self, *codes: str) -> Iterator[Diagnostic]:
        """Yield the diagnostics of reading the description with some codes."""
        for fault in self.all_faults:
            if fault.code in codes:
                yield fault

    @property
    def is_whole(self) -> bool:
        """Whether every line was read; others may hide commands, such as a file that may not be opened."""
        return (
            self.submit is not None
            and (not self.errors or self.has_all_commands)
            and not (self._hides or self._unknown)
        )

    @property
    def is_checked(self) -> bool:
        """Whether the jobs are known, so that no finding is missed."""
        return self._has_known_jobs and not self.errors

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """The names whose values depend on unknown items of a queue statement."""
        if self.submit is None or not self.unknown_items:
            return frozenset()
        texts = ((key, each.text.lower()) for key, each in self.submit.definitions if "$" in each.text)
        return frozenset(key for key, text in texts if any(name in text for name in self.unknown_items))

    @property
    def _hides(self) -> bool:
        """Whether there are lines that were not read."""
        return self.submit is not None and any(fault.kind in _HIDING for fault in self.submit.unknown)

    @property
    def _has_known_jobs(self) -> bool:
        return self.submit is not None and self.effort.jobs is None and not has_error(self._grouped[1])

    @property
    def all_faults(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of reading the description."""
        warnings = self.submit.warnings if self.submit else ()
        return (*self.errors, *warnings, *self._grouped[1], *self._too_many())


def _merged(groups: Iterable[JobGroup], unknown: frozenset[str]) -> Iterator[JobGroup]:
    """Join groups with the same values and places, and drop the values of ``unknown`` names."""
    found: dict[tuple[object, ...], JobGroup] = {}
    for group in groups:
        key = (tuple(sorted(group.values.items())), tuple(sorted((k, v.start, v.end) for k, v in group.spans.items())))
        first = found.get(key)
        found[key] = group if first is None else replace(first, count=first.count + group.count)
    for group in found.values():
        known = {name: text for name, text in group.values.items() if name not in unknown} if unknown else None
        yield group if known is None else replace(group, values=known)
