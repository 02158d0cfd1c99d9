"""CRN7..: the effects of the access point's configuration on a job, if that configuration is known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Allowance, Context
from crondor.codes import SYSTEM_POLICY
from crondor.diagnostics import CrondorError, Severity, Span
from crondor.job.attributes import JobStatus, expression
from crondor.job.policy import Act, QueuedJob, Ruling, always_leaves, periodic
from crondor.lint.rule import MANY, RuleHit, rule
from crondor.lint.subject import AdmittedJobs, CheckedFile
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.zones import zone_of

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint, Verdict
    from crondor.transform import AttributeChange

_HOUR: Final = 3600
_DAY: Final = 86400
_LOOKS: Final = (60, 600, _HOUR, 6 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY, 366 * _DAY)  # seconds
_COMING: Final = 20  # runs between which the longest wait is looked for if requirements exclude times
_STARTS: Final = (1, 10, 100, 1000)
_ACTS: Final = {Act.HOLD: "holds", Act.REMOVE: "removes"}
_NAMES: Final = {Act.HOLD: "PeriodicHold", Act.REMOVE: "PeriodicRemove"}
_STEPS: Final = 200_000


@rule("CRN701", "submit-requirement", Severity.ERROR, "a job that a submit requirement refuses")
def submit_requirement(file: CheckedFile) -> Iterator[RuleHit]:
    """The schedd evaluates SUBMIT_REQUIREMENT_NAMES in order; the first that is not met rejects all jobs."""
    for job in file.admitted:
        found = job.admission.refusal
        if found is not None and found.kind.value == "requirement":
            message = f"the access point refuses the job: {_words(found)}"
            yield RuleHit(message, _asked(file, job, found), f"{found.knob}{at(found.place)} is not met")


@rule("CRN702", "requirement-warns", Severity.WARNING, "a job that a submit requirement warns of")
def requirement_warns(file: CheckedFile) -> Iterator[RuleHit]:
    """With _IS_WARNING the job is accepted, and condor_submit prints the reason."""
    for job in file.admitted:
        for found in job.admission.warnings:
            message = f"the access point warns of the job: {_words(found)}"
            yield RuleHit(message, _asked(file, job, found), f"{found.knob}{at(found.place)} is not met")


@rule("CRN703", "transform-fails", Severity.ERROR, "a job that a transform of the access point fails on")
def transform_fails(file: CheckedFile) -> Iterator[RuleHit]:
    """A failing transform, or one that makes a value the queue rejects, ends the submission without a reason."""
    for job in file.admitted:
        found = job.admission.refusal
        if found is not None and found.kind.value == "transform":
            message = f"the access point refuses the job: {_words(found)} It is {found.knob}{at(found.place)}"
            yield RuleHit(message, job.place(), found.help)


@rule("CRN704", "transform-schedules", Severity.WARNING, "a transform of the access point changes when a job runs")
def transform_schedules(file: CheckedFile) -> Iterator[RuleHit]:
    """JOB_TRANSFORM_NAMES apply to every job that meets their REQUIREMENTS, whatever its author wrote."""
    for job in file.admitted:
        changes = job.admission.schedule_changes
        if changes:
            texts = [
                f"{_became(change)} by {step.transform.knob}{at(step.place(change.name))}" for step, change in changes
            ]
            message = f"the access point changes when the job runs: {'; '.join(texts)}"
            help_text = "crondor preview shows the stored ad; next and simulate use it"
            yield RuleHit(message, job.place(*(change.name for _, change in changes), "CronHour"), help_text)


def _became(change: AttributeChange) -> str:
    before, after = change.lines
    return f"{after or f'no {change.name}'} ({'it was not set' if before is None else f'it was {change.before}'})"


@rule("CRN705", "over-limit", Severity.ERROR, "more jobs than the access point accepts")
def over_limit(file: CheckedFile) -> Iterator[RuleHit]:
    """Jobs already in the queue count too; these are too many even for an empty queue."""
    access_point = file.settings.access_point
    if access_point is None or file.submit is None or not (file.is_whole and file.is_checked):
        return
    found = access_point.too_many(file.submit)
    if found is not None:
        place = next((job.span() for job in file.jobs), file.source.span(0, 0))
        yield RuleHit(f"{found.reason}{at(found.place)}", place, found.help)


@rule("CRN706", "system-policy", Severity.WARNING, "a waiting job that the administrator's policy ends")
def system_policy(file: CheckedFile) -> Iterator[RuleHit]:
    """SYSTEM_PERIODIC_HOLD and SYSTEM_PERIODIC_REMOVE apply to idle jobs too, such as a crontab job between runs."""
    if file.settings.access_point is None or not file.settings.access_point.policy:
        return
    for job in file.admitted:
        ends = list(_ends_of_waiting(file, job))
        if ends:
            texts = [f"{end.knob}{at(end.place)} {end.act} the job {end.when}: {end.reason}" for end in ends]
            yield RuleHit("; ".join(texts), job.place("CronHour", "CronMinute", "DeferralTime"), ends[0].help)


@rule("CRN707", "never-starts", Severity.WARNING, "a job that the access point never starts")
def never_starts(file: CheckedFile) -> Iterator[RuleHit]:
    """START_LOCAL_UNIVERSE and START_SCHEDULER_UNIVERSE decide whether the schedd starts jobs that it runs itself."""
    access_point = file.settings.access_point
    for job in file.admitted:
        universe = job.admission.after.value("JobUniverse")
        if access_point is not None and universe in {7, 12}:
            knob = "START_LOCAL_UNIVERSE" if universe == 12 else "START_SCHEDULER_UNIVERSE"
            if access_point.starts(job.admission.after, int(str(universe))) is False:
                place = at(access_point.place(knob))
                message = f"the job stays idle: {knob}{place} is not true for it"
                yield RuleHit(message, job.place("JobUniverse"), "submit it to another universe, or another host")


@rule(
    "CRN708",
    "requirement-unknown",
    Severity.NOTE,
    "a submit requirement whose result depends on the time of submission",
)
def requirement_unknown(file: CheckedFile) -> Iterator[RuleHit]:
    """A requirement may refer to the schedd's counters, or to sizes of files, which are not known in advance."""
    for job in file.admitted:
        for found in job.admission.unsure:
            message = f"whether {found.knob}{at(found.place)} is met depends on what the schedd knows at submission"
            yield RuleHit(message, job.place())


@rule("CRN709", "transform-circle", Severity.ERROR, "a transform that makes an attribute refer to itself", most=MANY)
def transform_circle(file: CheckedFile) -> Iterator[RuleHit]:
    """The job is accepted, but the attribute is undefined: with such Requirements it stays idle."""
    for job in file.admitted:
        for found in job.admission.diagnostics:
            if found.kind == "circle":
                message = f"{found.message}{at(found.span)}"
                yield RuleHit(message, job.place(), found.help, severity=found.severity)


def at(place: Span | None) -> str:
    """Return a place in parentheses, to follow the name of what is there."""
    return "" if place is None else f" ({place.source.name}:{place.line})"


def _words(found: Verdict) -> str:
    return " ".join(found.reason.split())[:300]


def _asked(file: CheckedFile, job: AdmittedJobs, found: Verdict) -> Span | None:
    """Return the place of the first command that a requirement refers to and the description sets."""
    access_point = file.settings.access_point
    asked = (
        next((each for each in access_point.requirements if each.knob == found.knob), None) if access_point else None
    )
    return job.place(*(() if asked is None else asked.attributes))


class _WaitingEnd(NamedTuple):
    """A policy that ends the wait: the knob, its action and time, in words, and what to do about it."""

    knob: str
    place: Span | None
    act: str
    when: str
    reason: str
    help: str


class _Moment(NamedTuple):
    """A check of a job ``wait`` seconds after ``since`` (epoch seconds); the previous one was after ``before``.

    ``words`` say when that is, with {} for the time waited; ``ad`` is the job's ad then.
    """

    since: int
    before: int
    wait: int
    words: str
    ad: ClassAd


def _ends_of_waiting(file: CheckedFile, job: AdmittedJobs) -> Iterator[_WaitingEnd]:
    """Yield the policies that end a deferred job while it waits as its schedule requires, each knob once."""
    access_point = file.settings.access_point
    if access_point is None:
        return
    seen: set[str] = set()
    for moment in _moments(file, job.admission.after):
        end = _ended(file, access_point, moment)
        if end is not None and end.knob not in seen:
            seen.add(end.knob)
            yield end


def _moments(file: CheckedFile, ad: ClassAd) -> Iterator[_Moment]:
    """Yield moments of the wait for the first run and of one wait between runs; none for a job that does not wait."""
    settings = file.settings
    now = settings.now
    try:
        queued = QueuedJob(ad)
        if not queued.is_scheduled:
            return
        zone, dialect = settings.zone, Dialect.MANUAL
        schedule = queued.schedule(now, zone=zone, dialect=dialect, schedd_interval=settings.schedd_interval)
        times = JobTimes(schedule, queued.requirements)
        first, longest = max(0, schedule.next(now).time - now), 0
        if schedule.recurrence is not None:
            coming = list(islice(times.runs(now), _COMING if times.is_restricted else 1))
            first = int(coming[0]) - now if coming else _LOOKS[-1]
            between = (int(later - time) for time, later in pairwise(coming))
            longest = max(schedule.recurrence.gaps().longest, *between, 0)
    except CrondorError:  # other rules report it
        return
    yield from _wait(now, first, "while it waits for its first run{}", _idle(ad, now, 0))
    if not longest or always_leaves(ad):
        return
    for starts in _STARTS:
        since = now + first + starts * longest
        words = f"after {starts:,} run{'' if starts == 1 else 's'} at the latest{{}}"
        yield from _wait(since, longest, words, _idle(ad, since, starts))


def _wait(since: int, longest: int, words: str, ad: ClassAd) -> Iterator[_Moment]:
    """Yield the moments of one wait."""
    before = 0
    for wait in _looks(longest):
        yield _Moment(since, before, wait, words, ad)
        before = wait


def _looks(longest: int) -> list[int]:
    """Return the time waited at each check, up to the end of the wait."""
    found = [wait for wait in _LOOKS if wait < longest]
    return [*found, max(1, longest - 1)]


def _idle(ad: ClassAd, since: int, starts: int) -> ClassAd:
    """Return the ad of a job that has been idle since a moment, after ``starts`` starts."""
    made = ad.copy()
    state = {"JobStatus": int(JobStatus.IDLE), "EnteredCurrentStatus": since}
    if starts:
        state |= dict.fromkeys(("NumJobStarts", "JobRunCount", "NumShadowStarts", "NumJobCompletions"), starts)
    for name, value in state.items():
        made.set(name, value)
    return made


def _ended(file: CheckedFile, access_point: AccessPoint, moment: _Moment) -> _WaitingEnd | None:
    zone = zone_of(file.settings.zone).info

    def ruling(wait: int) -> Ruling:
        now = moment.since + wait
        context = Context(now=now, zone=zone, effort=Allowance(_STEPS))
        return periodic(moment.ad, JobStatus.IDLE, now, context, system=access_point.policy)

    found = ruling(moment.wait)
    if found.act not in _ACTS or found.code != SYSTEM_POLICY:
        return None
    low, high = moment.before, moment.wait
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ruling(middle).act is found.act else (middle, high)
    context = Context(now=moment.since + high, zone=zone, effort=Allowance(_STEPS))
    expressions = access_point.policy.get(_NAMES[found.act], ())
    culprit = next((each for each in expressions if each.ruling(moment.ad, found.act, context) is not None), None)
    if culprit is None:
        return None
    way = "release it with periodic_release, or ask" if found.act is Act.HOLD else "ask"
    help_text = f"{way} the administrator to exclude jobs with {_attribute(moment.ad)}"
    when = moment.words.format(f", after {_length(high)} of waiting" if high > 1 else "")
    return _WaitingEnd(culprit.knob, culprit.place, _ACTS[found.act], when, found.reason[:300], help_text)


def _attribute(ad: ClassAd) -> str:
    names = ("CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek", "DeferralTime")
    return next((name for name in names if expression(ad, name) is not None), "a schedule")


def _length(seconds: int) -> str:
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
