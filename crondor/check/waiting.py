"""When the administrator's policy ends the waiting of a job: tried at moments of its waits, as the schedd asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from crondor.check.subject import CheckedFile
from crondor.classad.ad import ClassAd
from crondor.classad.scope import Allowance, Context
from crondor.diagnostics import CrondorError
from crondor.hold_codes import SYSTEM_POLICY
from crondor.job.attributes import expression
from crondor.job.policy import Act, Ruling, always_leaves, periodic
from crondor.job.queued import QueuedJob
from crondor.job.status import JobStatus
from crondor.source import Span
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.zones import zone_of

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint
    from crondor.check.admitted import AdmittedJob

_HOUR: Final = 3600
_DAY: Final = 86400
_LOOKS: Final = (60, 600, _HOUR, 6 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY, 366 * _DAY)  # seconds
_COMING: Final = 20  # runs, between which the longest wait is sought where requirements exclude times
_STARTS: Final = (1, 10, 100, 1000)
_ACTS: Final = {Act.HOLD: "holds", Act.REMOVE: "removes"}
_NAMES: Final = {Act.HOLD: "PeriodicHold", Act.REMOVE: "PeriodicRemove"}
_STEPS: Final = 200_000


class WaitingEnd(NamedTuple):
    """What ends the waiting: the knob, what it does and when, in which words, and what may be done about it."""

    knob: str
    place: Span | None
    act: str
    when: str
    reason: str
    help: str


class _Moment(NamedTuple):
    """A look at a job ``wait`` seconds after ``since`` (epoch seconds), the last one was after ``before``.

    ``words`` say when that is, with {} for how long it has waited; ``ad`` is the job's ad then.
    """

    since: int
    before: int
    wait: int
    words: str
    ad: ClassAd


def ends_of_waiting(file: CheckedFile, job: AdmittedJob) -> Iterator[WaitingEnd]:
    """Yield what the policy does to a deferred job that waits as its schedule has it wait, each knob once."""
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
    """Yield moments of the wait for the first run, and of one between two runs; none for a job that does not wait."""
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
    except CrondorError:  # other rules speak of it
        return
    yield from _wait(now, first, "while it waits for its first run{}", _idle(ad, now, 0))
    if not longest or always_leaves(ad):
        return
    for starts in _STARTS:
        since = now + first + starts * longest
        words = f"after {starts:,} run{'' if starts == 1 else 's'} at the latest{{}}"
        yield from _wait(since, longest, words, _idle(ad, since, starts))


def _wait(since: int, longest: int, words: str, ad: ClassAd) -> Iterator[_Moment]:
    """Yield moments of one wait."""
    before = 0
    for wait in _looks(longest):
        yield _Moment(since, before, wait, words, ad)
        before = wait


def _looks(longest: int) -> list[int]:
    """Return how long a wait has lasted at each look, up to its end."""
    found = [wait for wait in _LOOKS if wait < longest]
    return [*found, max(1, longest - 1)]


def _idle(ad: ClassAd, since: int, starts: int) -> ClassAd:
    """Return the ad of a job that has been idle since a moment, after so many starts."""
    made = ad.copy()
    state = {"JobStatus": int(JobStatus.IDLE), "EnteredCurrentStatus": since}
    if starts:
        state |= dict.fromkeys(("NumJobStarts", "JobRunCount", "NumShadowStarts", "NumJobCompletions"), starts)
    for name, value in state.items():
        made.set(name, value)
    return made


def _ended(file: CheckedFile, access_point: AccessPoint, moment: _Moment) -> WaitingEnd | None:
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
    way = "have it released with periodic_release, or ask" if found.act is Act.HOLD else "ask"
    help_text = f"{way} the administrator to leave out jobs with {_attribute(moment.ad)}"
    when = moment.words.format(f", after {_length(high)} of waiting" if high > 1 else "")
    return WaitingEnd(culprit.knob, culprit.place, _ACTS[found.act], when, found.reason[:300], help_text)


def _attribute(ad: ClassAd) -> str:
    names = ("CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek", "DeferralTime")
    return next((name for name in names if expression(ad, name) is not None), "a schedule")


def _length(seconds: int) -> str:
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
