"""What each daemon knows of a job, and the messages and copies by which it comes to know it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from crondor.classad import Context, Expression, UnparseForm, lower
from crondor.classad.ad import ClassAd
from crondor.job.attributes import count, expression, number_of, printed, result
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record
from crondor.pool.daemons.pool_job import JobRun, PoolJob, Timetable, TimetableEntry
from crondor.pool.settings import Link, Party, PoolSettings
from crondor.schedd.protocol import edited, write

# Attributes that the shadow changes in its own copy, and sends to the schedd only with its next update
# (qmgr_job_updater.cpp).
LAGGING: Final = frozenset(
    ("numjobstarts", "jobcurrentstartexecutingdate", "exitcode", "exitbysignal", "exitsignal", "numjobcompletions")
)
_RESOURCES: Final = ("Cpus", "Disk", "Memory")


class Attempt:
    """State of one run: when it was resumed, when it was reported last, and what comes next."""

    __slots__ = ("is_broken", "killed", "last_contact", "lease", "ran", "shadow_next", "since", "starter_next", "tries")

    def __init__(self, now: int) -> None:
        """Begin with the match (epoch seconds)."""
        self.last_contact = now
        self.since: int | None = None  # when the program started or continued; None while it does not run
        self.ran = 0
        self.tries = 0
        self.is_broken = False
        self.killed: Callable[[], None] | None = None
        self.lease: TimetableEntry | None = None
        self.starter_next: TimetableEntry | None = None
        self.shadow_next: TimetableEntry | None = None

    def seconds(self, now: int) -> int:
        """Return how long the program has run."""
        return self.ran + (0 if self.since is None else now - self.since)


class Copies:
    """The copies of a job's ad: None if a daemon has none.

    ``unsent`` is the schedd's present value of what the shadow has not sent yet, ``usage`` what only updates carry;
    ``edited`` are the lower-case names of edited attributes that the shadow has not fetched yet.
    """

    __slots__ = (
        "attempt", "edited", "job", "negotiated", "negotiator", "shadow", "startd", "starter", "unsent", "usage",
    )  # fmt: skip

    def __init__(self, job: PoolJob) -> None:
        self.job = job
        self.negotiator: ClassAd | None = None
        self.negotiated: int | None = None
        self.shadow: ClassAd | None = None
        self.startd: ClassAd | None = None
        self.starter: ClassAd | None = None
        self.attempt: Attempt | None = None
        self.unsent: dict[str, tuple[str, Expression | None]] = {}
        self.usage: dict[str, object] = {}
        self.edited: dict[str, str] = {}

    def write(self, values: Mapping[str, object]) -> None:
        """Record what a daemon is about to write into the queue."""
        shadow, ad = self.shadow, self.job.ad
        if shadow is None:
            return
        for name in values:
            key = lower(name)
            if key in LAGGING and key not in self.unsent:
                self.unsent[key] = name, expression(ad, name)
        write(shadow, values)

    def schedd(self) -> ClassAd:
        """Return the schedd's copy, as condor_q shows it."""
        return edited(self.job.ad, {**self.forgotten(), **self.usage})

    def forgotten(self) -> dict[str, object]:
        """Return the schedd's values of what the shadow has not sent."""
        return dict(self.unsent.values())

    def provide(self, ad: ClassAd, slot: ClassAd | None, context: Context) -> None:
        """Add a machine's resources to a shadow's copy: <Resource>Provisioned, and its requests as numbers."""
        for name in _RESOURCES if slot is not None else ():
            for source, goal in ((name, f"{name}Provisioned"), (f"Request{name}", f"Request{name}")):
                value = result(Expression(source), self.job.ad, context, slot)
                if number_of(value) is not None:
                    ad.set(goal, value)

    def end_run(self) -> None:
        """Drop the copies of a finished run."""
        self.shadow = self.startd = self.starter = self.attempt = None
        self.unsent.clear()
        self.edited.clear()


class Message(NamedTuple):
    """A message on a link at a time (epoch seconds): ``arrived`` is False if it failed.

    ``why`` is the reason for sending it. ``values`` are the texts of the attributes in it, unless it is a whole ad;
    ``whole`` is the number of attributes of that, else 0.
    """

    time: int
    link: Link
    job: JobId
    why: str
    arrived: bool = True
    values: Mapping[str, str] = {}  # immutable
    whole: int = 0


Listener: TypeAlias = Callable[[Message], None]
NOTHING: Mapping[str, str] = {}


class RouterCopy:
    """A queue as the router last read it, and the records since.

    A DeferralTime that the schedd computes is not in the log, so the router does not see it.
    """

    def __init__(self) -> None:
        self.mirror = Mirror()
        self._unread: dict[str, dict[str, Record]] = {}  # by key and name: the last one counts

    def note(self, record: Record) -> None:
        """Record what is written into the log."""
        unread = self._unread.setdefault(record.key, {})
        if record.op is Op.DESTROY:
            is_new = "" in unread
            unread.clear()
            if is_new:
                del self._unread[record.key]
                return
        unread["" if record.op in (Op.NEW, Op.DESTROY) else record.name.lower()] = record

    def read(self) -> dict[str, list[Record]]:
        """Read to the end, and return the news of each ad."""
        found = {key: list(records.values()) for key, records in self._unread.items()}
        self._unread.clear()
        for records in found.values():
            for record in records:
                self.mirror.apply(record)
        return found

    def view(self, job: JobId) -> ClassAd | None:
        """Return a job as last read; None if it was not there."""
        return self.mirror.ad(job) if job in self.mirror else None


_TIMER_REMOVE: Final = "TimerRemove"
_USAGE: Final = "RemoteUserCpu"
_STATE: Final = "JobState"


# Source: "Job ClassAd Information Flow in HTCondor", and for what it leaves open HTCondor 25.14 (qmgr_job_updater.cpp,
# baseshadow.cpp, dollarDollarExpand).
class Flow:
    """The copies of all jobs' ads, and the messages that update them.

    ``listeners`` are called with each message. The effect of a failed message: to the negotiator, the job is not
    considered in this cycle; for the shadow fetching edits, they come with the next one; between starter and shadow,
    the connection breaks, the starter tries again (8, 16, 32 s ... later), and the run is lost when the job's lease
    ends; from starter to startd, from shadow to schedd while the job runs, and to a history, nothing is resent; the
    last update from shadow to schedd is retried some times, then the job is queued again; the router reads again at its
    next poll.
    """

    def __init__(self, settings: PoolSettings, timetable: Timetable, context: Callable[[int], Context]) -> None:
        self._settings = settings.flow
        self._seed = settings.seed
        self._timetable = timetable
        self._context = context
        self._begin = timetable.now
        self._copies: dict[JobId, Copies] = {}
        self._histories: dict[tuple[Party, JobId], ClassAd] = {}
        self._router = RouterCopy()
        self._polls = False
        self.listeners: list[Listener] = []

    def view(self, party: Party, job: JobId) -> ClassAd | None:
        """Return a copy of what a party now sees of a job; None if it has nothing.

        The negotiator only has one in the second in which it considers the job.
        """
        if party in (Party.HISTORY, Party.STARTD_HISTORY):
            ad = self._histories.get((party, job))
            return None if ad is None else ad.copy()
        if party is Party.ROUTER:
            return self._router.view(job)
        copies = self._copies.get(job)
        if copies is None:
            return None
        if party is Party.SCHEDD:
            return copies.schedd()
        if party is Party.NEGOTIATOR and copies.negotiated != self._timetable.now:
            return None
        ad = getattr(copies, party.value)
        return None if ad is None else ad.copy()

    # What happens in the queue

    def submit(self, job: PoolJob) -> None:
        """Record a new job."""
        self._copies[job.id] = Copies(job)
        self._tell(Link.USER_SCHEDD, job, "submit", whole=len(job.ad))

    def write(self, job: PoolJob, values: Mapping[str, object]) -> None:
        """Record what a daemon is about to write into the queue; a local starter informs the schedd at once."""
        copies = self._copies[job.id]
        copies.write(values)
        if job.is_local and copies.attempt is not None:
            told = {name: value for name, value in values.items() if lower(name) in LAGGING}
            if told:
                self._tell(Link.STARTER_SCHEDD, job, "update", _shown(told))

    def edit(self, job: PoolJob, values: Mapping[str, object]) -> None:
        """Record what a user has edited: the shadow is told to fetch it."""
        copies = self._copies[job.id]
        self._tell(Link.USER_SCHEDD, job, "edit", _texts(job.ad, values))
        if copies.shadow is None:
            return
        for name in values:
            copies.edited[lower(name)] = name
            copies.unsent.pop(lower(name), None)
        texts = _texts(job.ad, copies.edited.values())
        if self._send(Link.SCHEDD_SHADOW, job, "pull", texts):
            for name in copies.edited.values():
                _copy(job.ad, copies.shadow, name)
            copies.edited.clear()

    def leave(self, job: PoolJob) -> None:
        """Write the history of a job that leaves the queue."""
        copies = self._copies.pop(job.id)
        if self._send(Link.SCHEDD_HISTORY, job, "left", whole=len(job.ad)):
            self._histories[Party.HISTORY, job.id] = copies.schedd()

    def follow(self, record: Record) -> None:
        """Add a record of job_queue.log: the router reads it when it polls.

        Values that the shadow has not sent to the schedd yet are not in the log.
        """
        job = JobId.parse(record.key) if record.op is Op.SET else None
        if job in self._copies and lower(record.name) in self._copies[job].unsent:
            return
        self._router.note(record)
        if not self._polls:
            self._polls = True
            self._poll_later()

    def _poll_later(self) -> None:
        period = self._settings.job_router_polling_period
        now = self._timetable.now
        self._timetable.at(now + period - (now - self._begin) % period, self._poll)

    def _poll(self, now: int) -> None:
        if self._fails(Link.SCHEDD_ROUTER, now):
            self._hear(Message(now, Link.SCHEDD_ROUTER, JobId(0, 0), "poll", arrived=False, values=NOTHING))
            self._poll_later()
            return
        self._polls = False
        for key, records in self._router.read().items():
            job = JobId.parse(key)
            if job is None:
                continue
            texts = {record.name: record.value for record in records if record.op is Op.SET}
            is_new = any(record.op is Op.NEW for record in records)
            why = "gone" if records[-1].op is Op.DESTROY else "poll"
            shown = NOTHING if is_new else texts
            self._hear(Message(now, Link.SCHEDD_ROUTER, job, why, values=shown, whole=len(texts) if is_new else 0))

    # What happens to a run

    def negotiate(self, job: PoolJob) -> bool:
        """Send a job to the negotiator, and return whether it arrived."""
        copies = self._copies[job.id]
        if not self._send(Link.SCHEDD_NEGOTIATOR, job, "negotiation", whole=len(job.ad)):
            return False
        copies.negotiator, copies.negotiated = copies.schedd(), self._timetable.now
        return True

    def match(self, job: PoolJob, run: JobRun, slot: ClassAd | None) -> None:
        """Start a shadow with a job's ad, which it passes to startd and starter; or the schedd's own starter."""
        copies, now = self._copies[job.id], self._timetable.now
        expanded = _expanded(job.ad, run.ad) if job.has_dollars else {}
        ad = run.ad.copy()
        copies.provide(ad, slot, self._context(now))
        copies.attempt = Attempt(now)
        copies.starter = ad
        if job.is_local:
            self._tell(Link.SCHEDD_STARTER, job, "start", expanded, len(ad))
            return
        copies.shadow, copies.startd = ad.copy(), ad.copy()
        self._tell(Link.SCHEDD_SHADOW, job, "start", expanded, len(ad))
        self._tell(Link.SHADOW_STARTD, job, "activation", whole=len(ad))
        self._tell(Link.SHADOW_STARTER, job, "start", whole=len(ad))

    def start(self, job: PoolJob, killed: Callable[[], None]) -> None:
        """Start the updates: the program has started. ``killed`` ends the run when its lease does."""
        copies = self._copies[job.id]
        attempt = copies.attempt
        if attempt is None:
            return
        attempt.since, attempt.killed = self._timetable.now, killed
        attempt.last_contact = self._timetable.now
        if job.is_local:
            return
        settings = self._settings
        self._later(copies, settings.first_update)
        self._update_later(copies)
        if not settings.shadow_lazy_queue_update:
            self._update(copies, "start")

    def suspend(self, job: PoolJob, *, is_told: bool = True) -> None:
        """Tell the shadow at once that a program is suspended; or with the next update, unless ``is_told``."""
        copies = self._copies[job.id]
        if copies.attempt is not None:
            copies.attempt.ran, copies.attempt.since = copies.attempt.seconds(self._timetable.now), None
        if is_told:
            self._report(copies, "suspended", "Suspended")

    def resume(self, job: PoolJob) -> None:
        """Tell the shadow at once that a program continues."""
        copies = self._copies[job.id]
        if copies.attempt is not None:
            copies.attempt.since = self._timetable.now
        self._report(copies, "continued", "Running")

    def exit(self, job: PoolJob, values: Mapping[str, object]) -> int | None:
        """Tell the shadow how a program has ended; if that fails, return when to retry (epoch seconds)."""
        copies = self._copies[job.id]
        attempt = copies.attempt
        if attempt is None:
            return None
        if attempt.since is not None:
            attempt.ran, attempt.since = attempt.seconds(self._timetable.now), None
            self._to_startd(copies, "final", {_USAGE: attempt.ran, _STATE: "Exited", **values})
        self._timetable.cancel(attempt.starter_next)
        if self._report(copies, "final", "Exited", values):
            return None
        return self._timetable.now + self._backoff(attempt)

    def final(self, job: PoolJob, attempt: int) -> bool:
        """Tell the schedd how a job has ended, and return whether that worked; ``attempt`` counts from 0."""
        return self._update(self._copies[job.id], "final" if not attempt else f"final, retry {attempt}")

    def evict(self, job: PoolJob) -> dict[str, object]:
        """Tell the schedd that a job was evicted; return what it does not know and never will."""
        copies = self._copies[job.id]
        if copies.shadow is None or self._update(copies, "eviction"):
            return {}
        return copies.forgotten()

    def forgotten(self, job: PoolJob) -> dict[str, object]:
        """Return the schedd's values of what the shadow has not sent."""
        return self._copies[job.id].forgotten()

    def free(self, job: PoolJob) -> None:
        """End a run: the startd writes its history, and shadow, startd and starter drop their copies."""
        copies = self._copies[job.id]
        attempt = copies.attempt
        if attempt is not None:
            for entry in (attempt.lease, attempt.starter_next, attempt.shadow_next):
                self._timetable.cancel(entry)
        if copies.startd is not None and self._send(Link.STARTD_HISTORY, job, "end", whole=len(copies.startd)):
            self._histories[Party.STARTD_HISTORY, job.id] = copies.startd
        copies.end_run()

    def policy_ad(self, job: PoolJob) -> ClassAd:
        """Return the ad in which a job's policy is evaluated: the shadow's if there is one, else the schedd's."""
        copies = self._copies[job.id]
        return job.ad if copies.shadow is None else copies.shadow

    # Updates

    def _later(self, copies: Copies, seconds: int) -> None:
        if copies.attempt is not None:
            at = self._timetable.now + seconds
            copies.attempt.starter_next = self._timetable.at(at, lambda _: self._starter_update(copies))

    def _starter_update(self, copies: Copies) -> None:
        """Send the starter's measurements to shadow and startd."""
        attempt = copies.attempt
        if attempt is None:
            return
        state = "Suspended" if attempt.since is None else "Running"
        arrived = self._report(copies, "update", state)
        self._to_startd(copies, "update", {_USAGE: attempt.seconds(self._timetable.now), _STATE: state})
        self._later(copies, self._settings.starter_update_interval if arrived else self._backoff(attempt))

    def _report(self, copies: Copies, why: str, state: str, values: Mapping[str, object] = NOTHING) -> bool:
        """Send an update from starter to shadow; if it fails, the lease begins to run out."""
        attempt, now = copies.attempt, self._timetable.now
        if attempt is None or copies.shadow is None:
            return True
        told = {_USAGE: attempt.seconds(now), _STATE: state, **values}
        if copies.starter is not None:
            write(copies.starter, told)
        if not self._send(Link.STARTER_SHADOW, copies.job, why, _shown(told)):
            attempt.is_broken = True
            if attempt.lease is None:
                duration = count(copies.job.ad, "JobLeaseDuration") or self._settings.job_default_lease_duration
                attempt.lease = self._timetable.at(attempt.last_contact + duration, lambda _: self._lose(copies))
            return False
        attempt.last_contact, attempt.is_broken, attempt.tries = now, False, 0
        self._timetable.cancel(attempt.lease)
        attempt.lease = None
        write(copies.shadow, told)
        return True

    def _backoff(self, attempt: Attempt) -> int:
        """Return how long the starter waits before a retry."""
        attempt.tries += 1
        first = self._settings.starter_initial_update_interval
        return min(first << min(attempt.tries - 1, 20), max(first, self._settings.starter_update_interval))

    def _lose(self, copies: Copies) -> None:
        """End a run whose lease is over: the startd kills it."""
        attempt = copies.attempt
        if attempt is not None and attempt.killed is not None:
            attempt.lease = None
            attempt.killed()

    def _to_startd(self, copies: Copies, why: str, values: Mapping[str, object]) -> None:
        sent = self._send(Link.STARTER_STARTD, copies.job, why, _shown(values))
        if sent and copies.startd is not None:
            write(copies.startd, values)

    def _update_later(self, copies: Copies) -> None:
        if copies.attempt is not None:
            at = self._timetable.now + self._settings.shadow_queue_update_interval
            copies.attempt.shadow_next = self._timetable.at(at, lambda _: self._periodic_update(copies))

    def _periodic_update(self, copies: Copies) -> None:
        self._update(copies, "update")
        self._update_later(copies)

    def _update(self, copies: Copies, why: str) -> bool:
        """Send the shadow's news to the schedd; it reads TimerRemove there."""
        shadow, job = copies.shadow, copies.job
        if shadow is None:
            return True
        told = {name: shadow[name].unparse(UnparseForm.OLD) for name, _ in copies.unsent.values() if name in shadow}
        if _USAGE in shadow:
            told[_USAGE] = shadow[_USAGE].unparse(UnparseForm.OLD)
        if not self._send(Link.SHADOW_SCHEDD, job, why, told):
            return False
        copies.unsent.clear()
        for name, text in told.items():
            self.follow(Record(Op.SET, job.key, name, text))
        if _USAGE in shadow:
            copies.usage[_USAGE] = shadow[_USAGE]
        if _TIMER_REMOVE in shadow:
            _copy(job.ad, shadow, _TIMER_REMOVE)
        return True

    # Messages

    def _send(self, link: Link, job: PoolJob, why: str, values: Mapping[str, str] = NOTHING, whole: int = 0) -> bool:
        arrived = not self._fails(link, self._timetable.now, *job.id)
        self._hear(Message(self._timetable.now, link, job.id, why, arrived, values, whole))
        return arrived

    def _tell(self, link: Link, job: PoolJob, why: str, values: Mapping[str, str] = NOTHING, whole: int = 0) -> None:
        self._hear(Message(self._timetable.now, link, job.id, why, values=values, whole=whole))

    def _fails(self, link: Link, now: int, *key: int) -> bool:
        after = now - self._begin
        return any(fault.hits(link, after, self._seed, now, *key) for fault in self._settings.faults)

    def _hear(self, message: Message) -> None:
        for listener in self.listeners:
            listener(message)


def _texts(ad: ClassAd, names: Iterable[str]) -> dict[str, str]:
    """Return the texts of some attributes, ``undefined`` for missing ones."""
    return {name: printed(ad, name) if name in ad else "undefined" for name in names}


def _shown(values: Mapping[str, object]) -> dict[str, str]:
    ad = ClassAd({name: value for name, value in values.items() if value is not None})
    return {name: printed(ad, name) for name in ad}


def _copy(source: ClassAd, goal: ClassAd, name: str) -> None:
    write(goal, {name: expression(source, name)})


def _expanded(ad: ClassAd, given: ClassAd) -> dict[str, str]:
    """Return the texts that differ in the copy given to a shadow."""
    return {name: printed(given, name) for name in given if name not in ad or printed(given, name) != printed(ad, name)}
