"""How the crontab and deferral jobs of a queue stand: state, next start with its moments, trouble."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from typing import Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, MISSED_CODE, Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.queued import JobStatus, QueuedJob
from crondor.recurrence import Policy
from crondor.schedule import InvalidSchedule, JobSchedule
from crondor.spec import HOLD_CODE, Dialect

_RUNNING: Final = frozenset((JobStatus.RUNNING, JobStatus.SUSPENDED))
_FAR: Final = 1 << 63
_LONGEST: Final = 300  # characters of a HoldReason
_HOLD_HELP: Final = {
    HOLD_CODE: "mend the Cron attributes (condor_qedit), then release the job",
    MISSED_CODE: "nothing releases it by itself: condor_release, or periodic_release at submission",
}


class State(str, Enum):
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
    state: State
    schedule: JobSchedule | None
    deferral_time: int | None
    next: Deferral | None
    trouble: tuple[Diagnostic, ...]

    @property
    def id(self) -> str:
        """``ClusterId.ProcId``, or where the ad stands."""
        place = self.queued.place
        return self.queued.id or f"{place.name}:{place.line}"


class Looker:
    """Looks at jobs, with one reading of all that have the same texts."""

    def __init__(
        self, *, zone: str | tzinfo = "UTC", dialect: Dialect = Dialect.HTCONDOR, policy: Policy | None = None
    ) -> None:
        """Say how Cron attributes are read."""
        self._zone = zone
        self._dialect = dialect
        self._policy = policy
        self._known: dict[tuple[str | None, ...], JobSchedule] = {}

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
            schedule = self._schedule(queued, now)
            trouble += schedule.notes
        except InvalidSchedule as error:
            trouble += error.diagnostics
        time = _time(queued, now)
        state = _state(queued, time, now)
        found: Deferral | None = None
        if state is State.HELD:
            trouble.insert(0, _held(queued))
        elif state not in (State.REMOVED, State.COMPLETED) and schedule is not None:
            try:
                found = _next(queued, schedule, state, time, now)
            except CrondorError as error:
                trouble += error.diagnostics
            else:
                trouble += _missed(schedule, state, time, found)
        if found is None and state is State.WAITING and time is not None:
            found = _waiting(queued, time)  # whatever has been edited since: its starter has the ad it began with
        return ScheduledJob(queued, state, schedule, time, found, tuple(trouble))

    def _schedule(self, queued: QueuedJob, now: int) -> JobSchedule:
        terms = queued.terms
        schedule = self._known.get(terms)
        if schedule is None:
            schedule = queued.schedule(now, dialect=self._dialect, zone=self._zone, policy=self._policy)
            if not schedule.notes and not queued.has_expressions:  # notes say which job they are about
                self._known[terms] = schedule
        return schedule


def _time(queued: QueuedJob, now: int) -> int | None:
    """Return DeferralTime as the starter reads it; None for a job on a machine whose time had another value there."""
    try:
        value, later = (queued.ad.value("DeferralTime", None, Context(now=at)) for at in (now, now + 1))
    except CrondorError:
        return None
    if value != later and queued.status in _RUNNING:
        return None
    if isinstance(value, float) and abs(value) < _FAR:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _waiting(queued: QueuedJob, time: int) -> Deferral | None:
    """Return the run that a job waits for whose schedule cannot be read."""
    lengths = (queued.integer(name) or 0 for name in ("DeferralWindow", "DeferralPrepTime", "ScheddInterval"))
    window, prep_time, interval = (max(0, length) for length in lengths)
    return Deferral(time, window, prep_time, interval) if time <= LATEST else None


def _state(queued: QueuedJob, time: int | None, now: int) -> State:
    status = queued.status
    if status is None:
        return State.UNKNOWN
    if status is JobStatus.RUNNING and time is not None and time > now:
        return State.WAITING
    return State[status.name]


def _next(queued: QueuedJob, schedule: JobSchedule, state: State, time: int | None, now: int) -> Deferral | None:
    """Return the next start: the DeferralTime in the ad while it is good, and then what the schedd will compute."""
    if time is not None and time > 0:
        present = schedule.deferral(time, now)
        if state is State.WAITING or (queued.status in _RUNNING and time > now):
            return present
        if now < time or (state in (State.IDLE, State.UNKNOWN) and now <= present.last_match):
            return present
    if not queued.is_crontab or (queued.leaves and state not in (State.IDLE, State.UNKNOWN)):
        return None
    return schedule.next(now)


def _missed(schedule: JobSchedule, state: State, time: int | None, found: Deferral | None) -> Iterator[Diagnostic]:
    """Yield what is wrong with an idle job that has one time only, in the past."""
    if found is None and schedule.spec is None and state is State.IDLE and time is not None:
        message = "its time is past: Requirements match no more, and it stays Idle for ever without a word"
        hint = "condor_qedit DeferralTime to a time ahead, or remove it"
        yield Diagnostic("missed-idle", message, help=hint)


def _held(queued: QueuedJob) -> Diagnostic:
    reason, code = queued.string("HoldReason") or "no HoldReason", queued.integer("HoldReasonCode")
    said = f"{reason[:_LONGEST]}..." if len(reason) > _LONGEST else reason
    shown = "" if code is None else f" (code {code})"
    return Diagnostic("held", f"held{shown}: {said}", Severity.WARNING, help=_HOLD_HELP.get(code or 0))
