"""Read a queue in memory: its ads, the status of its jobs, and a schedd's log."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from functools import partial
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from crondor.classad import ClassAdSyntaxError, Context, Expression, lower
from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats.pieces import Report
from crondor.classad.printing import Format
from crondor.codes import INVALID_CRON_SETTINGS, MISSED_DEFERRED_EXECUTION_TIME
from crondor.deferral import LATEST, Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, shortened
from crondor.job import attributes
from crondor.job.attributes import ON_MACHINE, JobStatus, expression, int32, int32_of, job_numbers, plain, string
from crondor.job.policy import SCHEDULING, TERMS, QueuedJob
from crondor.job_queue import Follower, read_history
from crondor.job_queue.mirror import JobFilter, Mirror, RecordOutcome
from crondor.job_queue.records import JobId, Op, Record
from crondor.recurrence import Policy
from crondor.rights.walk import is_there
from crondor.schedd.protocol import (
    Acted,
    Capabilities,
    ChangeList,
    Clock,
    Hold,
    JobChange,
    NotOffered,
    Scheduled,
    Selection,
    Which,
)
from crondor.schedule import InvalidSchedule, JobSchedule, Universe
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.zones import zone_of

_MOST: Final = 10**10


def job_id(ad: ClassAd) -> JobId | None:
    """Return the number of an ad's job; None if ClusterId and ProcId are not valid job numbers."""
    cluster, proc = job_numbers(ad) or (0, 0)
    return JobId(cluster, proc) if 0 < cluster < _MOST and 0 <= proc < _MOST else None


def int32_in(mirror: Mirror, job: JobId, name: str) -> int | None:
    """Return what ``attributes.int32`` reads in a job of a queue; most are plain integers, which need no ad."""
    text = mirror.text(job, name)
    number = None if text is None else plain(text)
    return int32_of(number) if number is not None else int32(mirror.ad(job), name)


def owner_of(ad: ClassAd) -> str:
    """Return the owner of a job as an account name of this machine; empty if unknown.

    This is Owner, which schedds set themselves and do not let users change. OsUser in a job's ad is ignored: in
    HTCondor 25 it belongs to the user's record, and an older schedd accepts the attribute from any submit file.
    """
    return string(ad, "Owner") or ""


def mirror_of(ads: Iterable[ClassAd], report: Report | None = None) -> Mirror:
    """Return a queue of ads; ads that are not jobs are skipped, and of two with the same number the later one counts.

    ``report`` is called for a job with an invalid expression, which no queue can store; the job is skipped. Without it
    that raises ClassAdSyntaxError.
    """
    mirror = Mirror()
    for ad in ads:
        job = job_id(ad)
        if job is None:
            continue
        try:
            lines = ad.print(Format.LONG).split("\n")
        except ClassAdSyntaxError as error:
            placed = _placed(error, ad, job)
            if report is None:
                raise placed from None
            report(placed.diagnostics[0])
            continue
        key = str(job)
        if key in mirror.ads:
            mirror.apply(Record(Op.DESTROY, key))
        if mirror.apply(Record(Op.NEW, key, "Job")) is RecordOutcome.DONE:
            texts, low_of, values = mirror.ads[key], mirror.ads.low_of, mirror.values
            for line in lines:
                name, equals, text = line.partition(" = ")
                if equals:
                    texts[low_of(key, texts, name)] = values[text]
    mirror.settle()
    return mirror


def _placed(error: ClassAdSyntaxError, ad: ClassAd, job: JobId) -> ClassAdSyntaxError:
    """Return an error of printing an ad, with the job and the attribute concerned."""
    name = next((name for name in ad if expression(ad, name) is None), None)
    if name is None:
        return error
    place = ad.place or Place("<ad>", 1)
    try:
        Expression.parse(Source(ad.text(name), f"{place.name}:{place.line}: job {job}, {name}"))
    except ClassAdSyntaxError as placed:
        return placed
    return error


_IDS = ("ClusterId", "ProcId")


def context_at(clock: Clock, zone: str | tzinfo) -> Context:
    """Return the context of a constraint."""
    return Context(now=clock(), zone=zone_of(zone).info)


def jobs_of(mirror: Mirror, which: Which, projection: Iterable[str] | None, context: Context) -> list[ClassAd]:
    """Return the jobs of a mirror as Schedd.jobs does."""
    found = (ad for _, ad in Selection.of(which).of_mirror(mirror, context))
    return list(found) if projection is None else list(map(Projection(projection), found))


def scheduled_of(mirror: Mirror, which: Which, context: Context) -> Scheduled:
    """Return the jobs of a mirror as Schedd.scheduled does."""
    chosen = Selection.of(which)
    if chosen.is_all:
        return Scheduled([mirror.ad(job) for job in sorted(mirror.having(SCHEDULING))], len(mirror), [])
    found = scheduled_among(chosen.in_any_order(mirror, context), chosen)
    found.ads.sort(key=lambda ad: job_id(ad) or JobId(0, 0))
    return found


def scheduled_among(ads: Iterable[ClassAd], chosen: Selection) -> Scheduled:
    """Return the ads with a schedule among selected ones, in order."""
    is_numbered = bool(chosen.jobs or chosen.clusters)
    found: list[ClassAd] = []
    total, numbers = 0, set[JobId | None]()
    for ad in ads:
        total += 1
        if is_numbered:
            numbers.add(job_id(ad))
        if QueuedJob(ad).is_scheduled:
            found.append(ad)
    return Scheduled(found, total, chosen.unmet(numbers))


class Projection:
    """Selects some attributes of an ad, in addition to the job's ids."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(map(lower, (*_IDS, *names)))

    def __call__(self, ad: ClassAd) -> ClassAd:
        """Return a smaller ad without a parent."""
        codes, names = ad.codes, ad.names
        kept = [name for name in self._names if name in codes]
        return ClassAd.of({name: codes[name] for name in kept}, {name: names[name] for name in kept}, ad.place)


def latest(
    ads: Iterator[ClassAd], which: Which, projection: Iterable[str] | None, limit: int | None, context: Context
) -> list[ClassAd]:
    """Return the last of the selected ads, the latest first; at most ``limit`` of them are held in memory."""
    chosen = Selection.of(which)
    found = deque((ad for ad in ads if chosen.holds(ad, context)), limit)
    found.reverse()
    return list(found) if projection is None else list(map(Projection(projection), found))


def not_offered(doing: str, instead: str) -> NotOffered:
    """Return an error for an unsupported operation."""
    return NotOffered(Diagnostic("schedd-not-offered", doing, help=instead))


class UnreadAd(NamedTuple):
    """A job's unparsed ad: ``text`` is its whole content, ``read`` parses it, and returns None if it is invalid.

    ``text`` None: it is the same as in the answer before.
    """

    job: JobId
    text: Hashable
    read: Callable[[], ClassAd | None]


class UnreadAds:
    """Jobs of a mirror as UnreadAds, made anew by each loop; those of clusters not in ``changed`` have no texts."""

    def __init__(self, mirror: Mirror, jobs: Sequence[JobId], changed: Container[int] | None) -> None:
        """Take the jobs; ``changed`` None: all have changed."""
        self._mirror = mirror
        self._jobs = jobs
        self._changed = changed

    def __iter__(self) -> Iterator[UnreadAd]:
        """Iterate over the jobs: there may be very many."""
        mirror, changed = self._mirror, self._changed
        for job in self._jobs:
            text = mirror.packed(job) if changed is None or job.cluster in changed else None
            yield UnreadAd(job, text, partial(mirror.ad, job))


_READ_ONLY: Final = "a followed log is read only"
_ASK_SCHEDD: Final = "ask the schedd itself: condor_qedit, condor_hold, or LiveSchedd"


# Values that the schedd has not written are not seen, such as DeferralTime (docs/schedd.md).
class QueueLogSchedd:
    """The present jobs of a log; each query first reads new records.

    ``diagnostics`` are the findings of the last reading. ``history_path`` is the schedd's history file, if needed;
    ``embedded``: the log is an embedded queue's, which writes every DeferralTime.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        clock: Clock,
        zone: str | tzinfo = "UTC",
        history_path: Path | str | None = None,
        embedded: bool = False,
        on_read: Callable[[int], object] | None = None,
        only: JobFilter | None = None,
    ) -> None:
        """Read the log for the first time; ``on_read`` gets the number of bytes read. Raises QueueIO, and UnknownZone.

        ``only`` selects the jobs held and returned.
        """
        self.capabilities = Capabilities(
            atomic_edits=False, can_submit=False, can_write=False, sees_deferral_time=embedded
        )
        self._follower = Follower(path, live=not embedded, on_read=on_read, only=only)
        self._clock = clock
        self._zone = zone
        self._history_path = history_path
        self._embedded = embedded
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._changes: ChangeList | None = None
        self._scheduled: list[JobId] = []  # at the last call of ``unread``
        self.refresh()

    @property
    def mirror(self) -> Mirror:
        """The queue at the last query."""
        return self._follower.mirror

    def refresh(self) -> None:
        """Read new records. Raises QueueIO."""
        self.diagnostics = self._follower.catch_up()

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs. Raises QueueIO and ClassAdSyntaxError."""
        self.refresh()
        return jobs_of(self.mirror, which, projection, context_at(self._clock, self._zone))

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the jobs with a schedule. Raises QueueIO and ClassAdSyntaxError."""
        self.refresh()
        return scheduled_of(self.mirror, which, context_at(self._clock, self._zone))

    def unread(self, which: Selection, *, anew: bool = True) -> Iterable[UnreadAd]:
        """Return the jobs with a schedule, unparsed if all are selected. Raises QueueIO and ClassAdSyntaxError.

        ``anew`` false: jobs that have not changed since the last answer come without a text. The answer holds until the
        next query.
        """
        self.refresh()
        self.mirror.settle()
        if which.is_all:
            changed = self.mirror.changed_clusters()
            if changed is None or anew:
                changed, self._scheduled = None, sorted(self.mirror.having(SCHEDULING))
            elif changed:
                kept = [job for job in self._scheduled if job.cluster not in changed]
                self._scheduled = sorted(kept + self.mirror.having(SCHEDULING, changed))
            return UnreadAds(self.mirror, self._scheduled, changed)
        ads = scheduled_of(self.mirror, which, context_at(self._clock, self._zone)).ads
        jobs = {job: ad for ad in ads if (job := job_id(ad)) is not None}
        return [UnreadAd(job, self.mirror.packed(job), partial(jobs.get, job)) for job in jobs]

    def changes(self) -> list[JobChange]:
        """Return the changes of jobs since the last call. Raises QueueIO."""
        self.refresh()
        self._changes = self._changes or ChangeList(self.mirror)
        return self._changes.take()

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return jobs of the history file, the latest first. Raises NotOffered without one, QueueIO."""
        if self._history_path is None:
            raise not_offered("a log does not show which jobs have left", "give the schedd's history file too")
        if self._embedded and not is_there(self._history_path):
            Selection.of(which)
            return []  # no job has left yet
        context = context_at(self._clock, self._zone)
        return latest(read_history(self._history_path), which, projection, limit, context)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Raise NotOffered."""
        _read_only(job, condition, edits)

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Raise NotOffered."""
        _read_only(ads)

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Raise NotOffered."""
        _read_only(which, hold)

    def release(self, which: Which, reason: str) -> Acted:
        """Raise NotOffered."""
        _read_only(which, reason)

    def remove(self, which: Which, reason: str) -> Acted:
        """Raise NotOffered."""
        _read_only(which, reason)


def _read_only(*_: object) -> NoReturn:
    raise not_offered(_READ_ONLY, _ASK_SCHEDD)


TIME: Final = TERMS.index("deferraltime")  # after the Cron attributes
_NUMBER: Final = object()
_INTEGER: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})\Z").match
SHADOWLESS: Final = frozenset((Universe.SCHEDULER, Universe.LOCAL))
NEWS: Final = 10  # seconds until the queue may show that a program has started
_LONGEST: Final = 300  # characters of a HoldReason
_MOST_KNOWN: Final = 4096  # schedules cached; each job with one time has its own
_MOST_SETTABLE: Final = 1000  # runs whose gate may be open at once
_HOLD_HELP: Final = {
    INVALID_CRON_SETTINGS: "correct the Cron attributes (condor_qedit), then release the job",
    MISSED_DEFERRED_EXECUTION_TIME: "nothing releases it: use condor_release, or periodic_release at submission",
}


class ScheduledState(str, Enum):
    """A job's state; ``WAITING`` is JobStatus Running on its machine before its DeferralTime."""

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

    ``next`` is its next start as far as can be known, None if there is none; ``deferral_time`` (epoch seconds) the
    value in its ad. ``trouble`` is what keeps it from running, or will.
    """

    queued: QueuedJob
    state: ScheduledState
    schedule: JobSchedule | None
    deferral_time: int | None
    next: Deferral | None
    trouble: tuple[Diagnostic, ...]

    @property
    def times(self) -> JobTimes | None:
        """When the job runs, None if its schedule cannot be read."""
        return None if self.schedule is None else JobTimes(self.schedule, self.queued.requirements)

    @property
    def is_troubled(self) -> bool:
        """Whether something keeps the job from running, or will."""
        return any(each.severity is not Severity.NOTE for each in self.trouble)

    @property
    def id(self) -> str:
        """``ClusterId.ProcId``, or the location of the ad."""
        place = self.queued.place
        return self.queued.id or f"{place.name}:{place.line}"


class QueuedStart(NamedTuple):
    """One start of one job of a queue."""

    job: str
    owner: str | None
    cmd: str | None
    deferral: Deferral


def coming_starts(looks: Iterable[ScheduledJob], count: int) -> list[QueuedStart]:
    """Return the first ``count`` starts in order of time; a crontab job that stays in the queue has several."""
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
        except CrondorError:  # outside the calendar
            return


class StatusReader:
    """Reads the status of jobs; jobs with the same texts are parsed once."""

    def __init__(
        self, *, zone: str | tzinfo = "UTC", dialect: Dialect = Dialect.HTCONDOR, policy: Policy | None = None
    ) -> None:
        self._zone = zone
        self._dialect = dialect
        self._policy = policy
        self._known: dict[tuple[Hashable, ...], JobSchedule] = {}

    def looks(self, ads: Iterable[ClassAd], now: int) -> Iterator[ScheduledJob]:
        """Yield the status of the jobs with a schedule at ``now`` (epoch seconds). Raises UnknownZone."""
        for ad in ads:
            queued = QueuedJob(ad)
            if queued.is_scheduled:
                yield self.look(queued, now)

    def look(self, queued: QueuedJob, now: int, schedule: JobSchedule | None = None) -> ScheduledJob:
        """Return the status of a job at ``now`` (epoch seconds), with its schedule if that is known.

        Raises UnknownZone.
        """
        trouble: list[Diagnostic] = []
        try:
            schedule = schedule or self.schedule(queued, now)
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
            found = _waiting(queued, time)  # even if it was edited since: its starter has the earlier ad
        return ScheduledJob(queued, state, schedule, time, found, tuple(trouble))

    def schedule(self, queued: QueuedJob, now: int) -> JobSchedule:
        """Return a job's schedule at ``now`` (epoch seconds). Raises InvalidSchedule and UnknownZone."""
        terms, time = _shared(queued.terms)
        known = self._known.get(terms)
        if known is not None:
            return known if time is None else known.with_time(time)
        schedule = queued.schedule(now, dialect=self._dialect, zone=self._zone, policy=self._policy)
        if not schedule.notes and not queued.has_expressions:  # notes name their job
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[terms] = schedule
        return schedule


def _shared(terms: tuple[Hashable, ...]) -> tuple[tuple[Hashable, ...], int | None]:
    """Return the terms shared by jobs with one schedule, and the DeferralTime if a crontab job's is a number."""
    time = terms[TIME]
    if any(terms[:TIME]) and isinstance(time, str) and _INTEGER(time):
        return (*terms[:TIME], _NUMBER, *terms[TIME + 1 :]), int(time)
    return terms, None


def fixed_time(queued: QueuedJob, now: int) -> int | None:
    """Return DeferralTime as the starter reads it; None if missing, or if its value changes with time."""
    time, later = (attributes.integer(queued.ad, "DeferralTime", Context(now=at)) for at in (now, now + 1))
    return time if time == later else None


def _time(queued: QueuedJob, now: int) -> int | None:
    """Return DeferralTime; None for a job on a machine that received another value."""
    time = fixed_time(queued, now)
    if time is not None or queued.status in ON_MACHINE:
        return time
    return attributes.integer(queued.ad, "DeferralTime", Context(now=now))


def _waiting(queued: QueuedJob, time: int) -> Deferral | None:
    """Return the run that a job waits for on its machine, from its ad; its schedule may have been edited since."""
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
    """Return the next start: the DeferralTime in the ad while it is valid, otherwise what the schedd will compute."""
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
    """Yield the trouble of an idle job whose only time is past."""
    if found is None and schedule.spec is None and state is ScheduledState.IDLE and time is not None and time < now:
        message = "its time is past: Requirements never match again, and it stays Idle without a message"
        hint = "set DeferralTime to a future time (condor_qedit), or remove the job"
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
    """Yield the trouble of a job on its machine that has not started and is past its last start.

    The schedd writes JobCurrentStartDate when the job gets a machine, and the shadow writes
    JobCurrentStartExecutingDate when the program starts (HTCondor 25.14); a date of an earlier run is ignored. For a
    job without a shadow nobody writes it. A log shows DeferralTime late: if a crontab job has none, or one that was
    over before the match, the last time that the schedd may have set is used.
    """
    there, began = (queued.integer(name) for name in ("JobCurrentStartDate", "JobCurrentStartExecutingDate"))
    if there is None or queued.integer("JobUniverse") in SHADOWLESS or (began is not None and began >= there):
        return
    run = None if time is None else _waiting(queued, time)
    if queued.is_crontab and (run is None or run.last_start < there):
        run = _last_settable(schedule, there)
    if run is not None and now > max(run.last_start, there) + NEWS:
        message = "it has a machine but did not start in time: its starter has ended or hangs"
        hint = "condor_vacate_job -fast lets the schedd try again; StarterLog on that machine may say why"
        yield Diagnostic("missed-running", message, help=hint)


def _last_settable(schedule: JobSchedule | None, there: int) -> Deferral | None:
    """Return the last run that a job may be waiting for if it reached its machine at ``there`` (epoch seconds)."""
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
    ad["CrondorTrouble"] = sum(look.is_troubled for look in looks)
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
