"""How the crontab and deferral jobs of a queue stand: state, next start with its moments, trouble."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity, shortened
from crondor.hold_codes import INVALID_CRON_SETTINGS, MISSED_DEFERRED_EXECUTION_TIME
from crondor.job import attributes
from crondor.job.queued import TERMS, QueuedJob
from crondor.job.status import ON_MACHINE, JobStatus
from crondor.recurrence import Policy
from crondor.schedule import InvalidSchedule, JobSchedule, Universe
from crondor.spec import Dialect
from crondor.times import JobTimes

TIME: Final = TERMS.index("deferraltime")  # behind the Cron attributes
_NUMBER: Final = object()
_INTEGER: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})\Z").match
SHADOWLESS: Final = frozenset((Universe.SCHEDULER, Universe.LOCAL))
NEWS: Final = 10  # seconds that news of a beginning may take from the machine to the queue
_LONGEST: Final = 300  # characters of a HoldReason
_MOST_KNOWN: Final = 4096  # schedules that are remembered; each job of one time has its own
_MOST_SETTABLE: Final = 1000  # runs whose gate may be open at once
_HOLD_HELP: Final = {
    INVALID_CRON_SETTINGS: "mend the Cron attributes (condor_qedit), then release the job",
    MISSED_DEFERRED_EXECUTION_TIME: "nothing releases it by itself: condor_release, or periodic_release at submission",
}


class ScheduledState(str, Enum):
    """What a job does; ``WAITING`` is JobStatus Running on its machine with DeferralTime ahead."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    SUSPENDED = "suspended"
    TRANSFERRING_OUTPUT = "transferring output"
    HELD = "held"
    REMOVED = "removed"
    COMPLETED = "completed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ScheduledJob:
    """One job with a schedule.

    ``next`` is its next start as far as can be known, None where there is none; ``deferral_time`` (epoch seconds) what
    stands in its ad. ``trouble`` is what keeps it from running, or will.
    """

    queued: QueuedJob
    state: ScheduledState
    schedule: JobSchedule | None
    deferral_time: int | None
    next: Deferral | None
    trouble: tuple[Diagnostic, ...]

    @property
    def times(self) -> JobTimes | None:
        """When the job runs, None where its schedule cannot be read."""
        return None if self.schedule is None else JobTimes(self.schedule, self.queued.requirements)

    @property
    def id(self) -> str:
        """``ClusterId.ProcId``, or where the ad stands."""
        place = self.queued.place
        return self.queued.id or f"{place.name}:{place.line}"


class QueuedStart(NamedTuple):
    """One start of one job of a queue."""

    job: str
    owner: str | None
    cmd: str | None
    deferral: Deferral


def coming_starts(looks: Iterable[ScheduledJob], count: int) -> list[QueuedStart]:
    """Return the first ``count`` starts in order of time; a crontab job that stays in the queue has more than one."""
    return list(islice(merge(*map(_starts, looks), key=lambda start: start.deferral.time), count))


def _starts(look: ScheduledJob) -> Iterator[QueuedStart]:
    queued, found, times = look.queued, look.next, look.times
    owner, cmd = queued.string("Owner"), queued.string("Cmd")
    while found is not None and times is not None:
        yield QueuedStart(look.id, owner, cmd, found)
        if times.schedule.recurrence is None or queued.leaves:
            return
        try:
            found = times.deferral(times.next(found.time), found.time)
        except CrondorError:  # beyond the calendar
            return


class StatusReader:
    """Reads the status of jobs, with one reading of all that have the same texts."""

    def __init__(
        self, *, zone: str | tzinfo = "UTC", dialect: Dialect = Dialect.HTCONDOR, policy: Policy | None = None
    ) -> None:
        """Say how Cron attributes are read."""
        self._zone = zone
        self._dialect = dialect
        self._policy = policy
        self._known: dict[tuple[Hashable, ...], JobSchedule] = {}

    def looks(self, ads: Iterable[ClassAd], now: int) -> Iterator[ScheduledJob]:
        """Yield the jobs that have a schedule, as they stand at ``now`` (epoch seconds). Raises UnknownZone."""
        for ad in ads:
            queued = QueuedJob(ad)
            if queued.is_scheduled:
                yield self.look(queued, now)

    def look(self, queued: QueuedJob, now: int) -> ScheduledJob:
        """Return how a job stands at ``now`` (epoch seconds). Raises UnknownZone."""
        trouble: list[Diagnostic] = []
        schedule: JobSchedule | None = None
        try:
            schedule = self.schedule(queued, now)
            trouble += schedule.notes
        except InvalidSchedule as error:
            trouble += error.diagnostics
        time = _time(queued, now)
        state = _state(queued, time, now)
        found: Deferral | None = None
        if state is ScheduledState.HELD:
            trouble.insert(0, _held(queued))
        elif state not in (ScheduledState.REMOVED, ScheduledState.COMPLETED) and schedule is not None:
            try:
                times = JobTimes(schedule, queued.requirements)
                found = _next(queued, times, state, time, now)
            except CrondorError as error:
                trouble += error.diagnostics
            else:
                trouble += _missed(schedule, state, time, found, now)
                trouble += _excluded(times, state, time, now)
        if state is ScheduledState.RUNNING:
            trouble += _unstarted(queued, schedule, time, now)
        if found is None and state is ScheduledState.WAITING and time is not None:
            found = _waiting(queued, time)  # whatever has been edited since: its starter has the ad it began with
        return ScheduledJob(queued, state, schedule, time, found, tuple(trouble))

    def schedule(self, queued: QueuedJob, now: int) -> JobSchedule:
        """Return what a job asks for at ``now`` (epoch seconds). Raises InvalidSchedule and UnknownZone."""
        terms, time = _shared(queued.terms)
        known = self._known.get(terms)
        if known is not None:
            return known if time is None else known.with_time(time)
        schedule = queued.schedule(now, dialect=self._dialect, zone=self._zone, policy=self._policy)
        if not schedule.notes and not queued.has_expressions:  # notes say which job they are about
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[terms] = self._known[_shared(queued.terms)[0]] = schedule  # the ad's texts may be read now
        return schedule


def _shared(terms: tuple[Hashable, ...]) -> tuple[tuple[Hashable, ...], int | None]:
    """Return what jobs with one schedule have in common, and the DeferralTime where a crontab job's is a number."""
    time = terms[TIME]
    if any(terms[:TIME]) and isinstance(time, str) and _INTEGER(time):
        return (*terms[:TIME], _NUMBER, *terms[TIME + 1 :]), int(time)
    return terms, None


def fixed_time(queued: QueuedJob, now: int) -> int | None:
    """Return DeferralTime as the starter reads it; None for none, and for one that is another whenever it is asked."""
    time, later = (attributes.integer(queued.ad, "DeferralTime", Context(now=at)) for at in (now, now + 1))
    return time if time == later else None


def _time(queued: QueuedJob, now: int) -> int | None:
    """Return DeferralTime; None for a job on a machine whose time had another value there."""
    time = fixed_time(queued, now)
    if time is not None or queued.status in ON_MACHINE:
        return time
    return attributes.integer(queued.ad, "DeferralTime", Context(now=now))


def _waiting(queued: QueuedJob, time: int) -> Deferral | None:
    """Return the run that a job on its machine waits for, as its ad says; its schedule may have been edited since."""
    lengths = (queued.integer(name) or 0 for name in ("DeferralWindow", "DeferralPrepTime", "ScheddInterval"))
    window, prep_time, interval = (max(0, length) for length in lengths)
    return Deferral(time, window, prep_time, interval) if 0 < time <= LATEST else None


def _state(queued: QueuedJob, time: int | None, now: int) -> ScheduledState:
    status = queued.status
    if status is None:
        return ScheduledState.UNKNOWN
    if status is JobStatus.RUNNING and time is not None and time > now:
        return ScheduledState.WAITING
    return ScheduledState[status.name]


def _next(queued: QueuedJob, times: JobTimes, state: ScheduledState, time: int | None, now: int) -> Deferral | None:
    """Return the next start: the DeferralTime in the ad while it is good, and then what the schedd will compute."""
    if time is not None and time > 0:
        present = times.deferral(time, now)
        if state is ScheduledState.WAITING or (queued.status in ON_MACHINE and time > now):
            return present
        is_open = state in (ScheduledState.IDLE, ScheduledState.UNKNOWN) and now <= present.last_match
        if (now < time or is_open) and not times.excludes(time):
            return present
    if not queued.is_crontab or (queued.leaves and state not in (ScheduledState.IDLE, ScheduledState.UNKNOWN)):
        return None
    return times.deferral(times.next(now), now)


def _missed(
    schedule: JobSchedule, state: ScheduledState, time: int | None, found: Deferral | None, now: int
) -> Iterator[Diagnostic]:
    """Yield what is wrong with an idle job that has one time only, in the past."""
    if found is None and schedule.spec is None and state is ScheduledState.IDLE and time is not None and time < now:
        message = "its time is past: Requirements match no more, and it stays Idle for ever without a word"
        hint = "condor_qedit DeferralTime to a time ahead, or remove it"
        yield Diagnostic("missed-idle", message, help=hint)


def _excluded(times: JobTimes, state: ScheduledState, time: int | None, now: int) -> Iterator[Diagnostic]:
    """Yield why an idle job does not start at its DeferralTime."""
    why = times.why_excluded(time) if state is ScheduledState.IDLE and time is not None and time >= now else ""
    if not why:
        return
    message = f"its requirements exclude its DeferralTime, {time}: {why}"
    severity, hint = Severity.NOTE, "the schedd computes the next time when this one is past"
    if times.schedule.spec is None:
        severity, hint = Severity.WARNING, "it never matches; change the time or the requirements (condor_qedit)"
    yield Diagnostic("times-excluded", message, severity, help=hint)


def _unstarted(queued: QueuedJob, schedule: JobSchedule | None, time: int | None, now: int) -> Iterator[Diagnostic]:
    """Yield what is wrong with a job on its machine that has not begun though it may begin no more.

    The schedd writes JobCurrentStartDate when it has a machine, and the shadow at once when the program begins
    JobCurrentStartExecutingDate (HTCondor 25.14); one of an earlier run counts for none. For a job that runs without a
    shadow nobody writes it. A log shows DeferralTime late: of a crontab job that has none, or one that was over before
    the match, the last that the schedd may have set counts.
    """
    there, began = (queued.integer(name) for name in ("JobCurrentStartDate", "JobCurrentStartExecutingDate"))
    if there is None or queued.integer("JobUniverse") in SHADOWLESS or (began is not None and began >= there):
        return
    run = None if time is None else _waiting(queued, time)
    if queued.is_crontab and (run is None or run.last_start < there):
        run = _last_settable(schedule, there)
    if run is not None and now > max(run.last_start, there) + NEWS:
        message = "it is on its machine and has not begun, though its last start is past: its starter is gone, or hangs"
        hint = "condor_vacate_job -fast lets the schedd try anew; StarterLog on that machine may say why"
        yield Diagnostic("missed-running", message, help=hint)


def _last_settable(schedule: JobSchedule | None, there: int) -> Deferral | None:
    """Return the last run that a job may wait for which came to its machine at ``there`` (epoch seconds)."""
    if schedule is None or schedule.recurrence is None:
        return None
    found: Deferral | None = None
    try:
        window = schedule.deferral(there, there).window
        for time in islice(schedule.recurrence.upcoming(there - window - 1), _MOST_SETTABLE):
            run = schedule.deferral(int(time), there)
            if run.match_opens > there:
                return found
            found = run
    except CrondorError:
        return None
    return None


def _held(queued: QueuedJob) -> Diagnostic:
    reason, code = queued.string("HoldReason") or "no HoldReason", queued.integer("HoldReasonCode")
    said = shortened(reason, _LONGEST)
    shown = "" if code is None else f" (code {code})"
    return Diagnostic("held", f"held{shown}: {said}", Severity.WARNING, help=_HOLD_HELP.get(code or 0))


_STATES = (ScheduledState.IDLE, ScheduledState.WAITING, ScheduledState.RUNNING, ScheduledState.HELD)


def advertised(looks: list[ScheduledJob], starts: list[QueuedStart]) -> ClassAd:
    """Return the attributes for the daemon's ad."""
    states = Counter(look.state for look in looks)
    ad = ClassAd({"CrondorJobs": len(looks)})
    for state in _STATES:
        ad[f"Crondor{state.name.title()}"] = states[state]
    ad["CrondorTrouble"] = sum(any(each.severity is not Severity.NOTE for each in look.trouble) for look in looks)
    if starts:
        first = starts[0]
        ad["CrondorNextJob"] = first.job
        if first.owner is not None:
            ad["CrondorNextOwner"] = first.owner
        ad["CrondorNextDeferral"] = int(first.deferral.time)
        ad["CrondorNext"] = [
            {
                "Job": start.job,
                "Owner": start.owner,
                "Cmd": start.cmd,
                "Deferral": int(start.deferral.time),
                "MatchOpens": int(start.deferral.match_opens),
                "LastStart": int(start.deferral.last_start),
            }
            for start in starts
        ]
    return ad
