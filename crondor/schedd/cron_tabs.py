"""A schedd's handling of crontab jobs: when it computes a new DeferralTime, and which jobs it holds.

The rules are those of HTCondor 25.14 (``Scheduler::calculateCronTabSchedule``); docs/deferral.md explains them. A
parsed schedule is used until a reconfig, even if its attributes are edited. Due times wait in a heap, so that a pass
costs only what is due; jobs with the same texts share one schedule and its next time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.codes import INVALID_CRON_SETTINGS, USER_REQUEST
from crondor.deferral import LATEST
from crondor.diagnostics import CrondorError
from crondor.job import attributes
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.job_queue.records import JobId, cluster_key
from crondor.recurrence import Policy, Recurrence
from crondor.schedd.protocol import Hold, JobChange, Schedd, Selection, job_changes
from crondor.schedd.reading import int32_in
from crondor.schedule import InvalidSchedule, JobSchedule, Recalculation
from crondor.spec import FIELDS, Dialect

HOLD_SUBCODE: Final = 0

_CRON: Final = tuple(field.attribute.lower() for field in FIELDS)
_TERMS: Final = (*_CRON, "deferralwindow")
_PREFIX: Final = "Invalid cron schedule parameters: "
_UNDER_WAY: Final = frozenset((JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED))
_IDLE: Final = int(JobStatus.IDLE)
_RUNNING: Final = int(JobStatus.RUNNING)
_SPARE: Final = 1000
_KNOWN: Final = 10_000  # times cached per schedule
_NAMES: Final = {name: name for name in _CRON}

Terms = tuple["str | None", ...]


class CronEdit(NamedTuple):
    """The effect of a pass over the queue on one job.

    ``time`` is its new DeferralTime (epoch seconds); if it is None, ``hold`` is the HoldReason, with HoldReasonCode 25
    and subcode 0. ``why`` is the reason for the computation.
    """

    job: JobId
    why: Recalculation
    time: int | None
    hold: str | None = None


_edit: Final = tuple.__new__  # takes a third of the time of the constructor


class _Plan:
    """A parsed schedule and its last result; shared by jobs with the same Cron texts."""

    __slots__ = ("_known", "_recurrence", "asked", "hold", "text", "time")

    def __init__(self, recurrence: Recurrence | None, hold: str | None) -> None:
        self._recurrence = recurrence
        self.hold = hold
        self.asked: int | None = None
        self.time = 0
        self.text: str | None = None
        self._known: dict[int, int] = {}

    def next(self, now: int) -> int | None:
        """Return the next time at ``now``, None if there is none."""
        found = self._known.get(now)
        if found is None and self._recurrence is not None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            with suppress(CrondorError):
                found = self._known[now] = int(self._recurrence.next(now))
        return found

    def ask(self, now: int) -> None:
        """Compute the next time at ``now``; a schedule without one is rejected, where the real schedd never returns."""
        self.asked = now
        if self._recurrence is None:
            return
        try:
            self.time = int(self._recurrence.next(now))
        except CrondorError as error:
            self._recurrence = self.text = None
            self.hold = _PREFIX + "; ".join(fault.message for fault in error.diagnostics)
            return
        self.text = str(self.time)


class _Group:
    """Jobs with the same texts: their window, and their plan once one of them was computed.

    ``window`` is in seconds, None if it must be evaluated. The schedd stores it as an ``int``.
    """

    __slots__ = ("cron", "plan", "window")

    def __init__(self, terms: Terms) -> None:
        *cron, window = terms
        self.cron: Terms = tuple(cron)
        self.plan: _Plan | None = None
        self.window = 0 if window is None else attributes.int32_of(attributes.plain(window))


class _Entry:
    """One crontab job."""

    __slots__ = ("due", "group", "job", "own", "plan", "status")

    def __init__(self, job: JobId, own: dict[str, str], status: int | None, group: _Group) -> None:
        self.job = job
        self.own = own  # the mirror's texts of the job
        self.status = status
        self.group = group  # according to the present texts
        self.plan: _Plan | None = None  # the cached schedule, according to the texts when it was parsed
        self.due: int | None = None  # its place in _waiting; None: not waiting


class CronTabs:
    """The crontab jobs of a queue, kept up to date with its mirror.

    ``recalculate`` is the schedd's pass; ``reconfig`` is condor_reconfig. A new object is a schedd that just started.
    """

    def __init__(
        self,
        mirror: Mirror,
        *,
        zone: str | tzinfo = "UTC",
        dialect: Dialect = Dialect.HTCONDOR,
        policy: Policy | None = None,
    ) -> None:
        """Read all jobs once, and each job that changes from now on. Raises UnknownZone."""
        self._mirror = mirror
        self._read: Callable[[QueuedJob, int], JobSchedule] = lambda job, now: job.schedule(
            now, dialect=dialect, zone=zone, policy=policy
        )
        self._manual = dialect is not Dialect.HTCONDOR
        self._entries: dict[JobId, _Entry] = {}
        self._plans: dict[Terms, _Plan] = {}
        self._groups: dict[Terms, _Group] = {}
        self._pending: dict[_Entry, Recalculation] = {}
        self._waiting: dict[int, list[_Entry]] = {}  # by the second in which their time is missed
        self._dues: list[int] = []
        self._slots = 0  # entries in _waiting, including abandoned ones
        for job in mirror:
            self._enter(job)
        self.close = mirror.subscribe(self._update)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, job: object) -> bool:
        return job in self._entries

    @property
    def next_due(self) -> int | None:
        """When the next pass has something to do if nothing changes (epoch seconds); 0: now; None: never."""
        if self._pending:
            return 0
        return self._dues[0] if self._dues else None

    def reconfig(self) -> None:
        """Forget the schedules, like condor_reconfig: the next pass reads the texts again, and computes all idle jobs.

        Unchanged texts are not parsed again, since they mean the same.
        """
        used = {id(entry.group) for entry in self._entries.values()}
        self._groups = {terms: group for terms, group in self._groups.items() if id(group) in used}
        self._plans = {group.cron: group.plan for group in self._groups.values() if group.plan is not None}
        self._waiting.clear()
        self._dues.clear()
        self._slots = 0
        for entry in self._entries.values():
            entry.plan = entry.due = None
        idle = [entry for entry in self._entries.values() if entry.status == _IDLE]
        self._pending = dict.fromkeys(idle, Recalculation.NO_SCHEDULE)

    def recalculate(self, now: int) -> list[CronEdit]:
        """Return the effects of a pass over the queue at ``now`` (epoch seconds), without edits that change nothing.

        They are assumed to be applied. If one was not (another client was faster), the job's change or the end of its
        time brings the job back.
        """
        edits: list[CronEdit] = []
        pending, self._pending = self._pending, {}
        missed = self._missed(now)  # first, since a negative window makes a new time past at once
        self._compute(pending, now, edits)
        self._compute({entry: why for entry, why in missed.items() if entry not in pending}, now, edits)
        return edits

    def _missed(self, now: int) -> dict[_Entry, Recalculation]:
        """Return the idle jobs whose time has passed, each once, and end their waiting."""
        found: dict[_Entry, Recalculation] = {}
        while self._dues and self._dues[0] <= now:
            due = heapq.heappop(self._dues)
            bucket = self._waiting.pop(due)
            self._slots -= len(bucket)
            for entry in bucket:
                if entry.due == due:
                    entry.due = None
                    if entry.status == _IDLE:
                        found[entry] = Recalculation.MISSED
        return found

    def recalculate_one(self, job: JobId, now: int) -> CronEdit | None:
        """Return the effect on one job at ``now`` (epoch seconds), as at the end of its run; None if there is none."""
        entry = self._entries.get(job)
        why = None if entry is None else self._pending.pop(entry, None)
        edits: list[CronEdit] = []
        if entry is not None and why is not None:
            self._compute({entry: why}, now, edits)
        return edits[0] if edits else None

    def begin_run(self, job: JobId) -> None:
        """Record that an idle job's run has started, like ``enter_status`` but faster."""
        entry = self._entries.get(job)
        if entry is not None:
            entry.status = _RUNNING
            entry.due = None
            if self._pending:
                self._pending.pop(entry, None)

    def end_run(self, job: JobId, now: int) -> int | None:
        """Record that a job's run ended at ``now`` (epoch seconds), and return its next DeferralTime.

        This is ``enter_status`` and ``recalculate_one`` in one, but faster; the caller writes the time into the mirror.
        Returns None and does nothing if the job must be read, or the time would not be in the future.
        """
        entry = self._entries.get(job)
        if entry is None or entry.plan is None or entry.group.window is None:
            return None
        time = entry.plan.next(now)
        if time is None or not now < time <= LATEST:
            return None
        entry.status = _IDLE
        entry.own["deferraltime"] = str(time)
        self._wait(entry, time + entry.group.window + 1)
        return time

    def next_time(self, job: JobId, now: int) -> int | None:
        """Return the DeferralTime that a job would get at ``now`` (epoch seconds), as at the end of its run.

        None if that requires reading the job, as before its first pass.
        """
        entry = self._entries.get(job)
        if entry is None or entry.plan is None or entry.group.window is None:
            return None
        return entry.plan.next(now)

    def _compute(self, entries: Mapping[_Entry, Recalculation], now: int, edits: list[CronEdit]) -> None:
        """Compute jobs again, with little work for each, since there may be a hundred thousand."""
        waiting = self._waiting
        for entry, why in entries.items():
            plan = entry.plan
            if plan is None:
                plan = entry.plan = entry.group.plan or self._plan(entry, now)
            if plan.asked != now:
                plan.ask(now)
            if plan.hold is not None:
                entry.plan = entry.due = None
                edits.append(CronEdit(entry.job, why, None, plan.hold))
            elif plan.text is not None:
                if entry.own.get("deferraltime") != plan.text:
                    edits.append(_edit(CronEdit, (entry.job, why, plan.time, None)))
                window = entry.group.window
                due = self._due(entry, plan.time, now) if window is None else plan.time + window + 1
                if due in waiting and entry.due != due:
                    entry.due = due
                    waiting[due].append(entry)
                    self._slots += 1
                elif entry.due != due:
                    self._wait(entry, due)

    def _due(self, entry: _Entry, time: int, now: int) -> int:
        """Return the first second in which a time is missed; a window that is not a number of seconds counts as 0."""
        window = entry.group.window
        if window is None:
            ad = self._mirror.ad(entry.job)
            ad["DeferralTime"] = time
            window = attributes.int32(ad, "DeferralWindow", Context(now=now)) or 0
        return time + window + 1

    def _wait(self, entry: _Entry, due: int | None) -> None:
        entry.due = due
        if due is None:
            return
        self._slots += 1
        if self._slots > 2 * len(self._entries) + _SPARE:
            self._tidy()
            return
        bucket = self._waiting.get(due)
        if bucket is None:
            self._waiting[due] = [entry]
            heapq.heappush(self._dues, due)
        else:
            bucket.append(entry)

    def _tidy(self) -> None:
        """Drop abandoned entries: endless edits must not fill the memory."""
        self._waiting.clear()
        self._slots = 0
        for entry in self._entries.values():
            if entry.due is not None:
                self._waiting.setdefault(entry.due, []).append(entry)
                self._slots += 1
        self._dues = list(self._waiting)
        heapq.heapify(self._dues)

    def enter_status(self, job: JobId, status: int) -> None:
        """Record a JobStatus that is already in the mirror."""
        entry = self._entries.get(job)
        if entry is not None:
            self._enter_status(entry, status)

    # Schedules

    def _plan(self, entry: _Entry, now: int) -> _Plan:
        """Return the parsed schedule of a job; jobs with the same texts share it, unless it needs evaluation."""
        cron = entry.group.cron
        ad = ClassAd.of({name: text for name, text in zip(_CRON, cron, strict=True) if text}, _NAMES)
        alone = QueuedJob(ad)
        try:
            shared = not alone.has_expressions
        except CrondorError:
            shared = True  # the same fault for all
        if not shared:
            return self._parsed(QueuedJob(self._mirror.ad(entry.job)), now)
        plan = self._plans.get(cron)
        if plan is None:
            plan = self._plans[cron] = self._parsed(alone, now)
        entry.group.plan = plan
        return plan

    def _parsed(self, job: QueuedJob, now: int) -> _Plan:
        try:
            return _Plan(self._read(job, now).recurrence, None)
        except CrondorError as error:
            spec = error.invalid_spec if isinstance(error, InvalidSchedule) else None
            known = None if spec is None else spec.hold_reason
            return _Plan(None, known or _PREFIX + "; ".join(fault.message for fault in error.diagnostics))

    def _group(self, job: JobId, own: dict[str, str]) -> _Group | None:
        """Return the group of a job's texts; None if it is not a crontab job."""
        cluster = self._mirror.ads.get(cluster_key(job.cluster), {})
        terms = tuple(own.get(name, cluster.get(name)) for name in _TERMS)
        if all(text is None for text in terms[: len(_CRON)]):
            return None
        return self._groups.setdefault(terms, _Group(terms))

    # Changes

    def _update(self, changes: tuple[AdChange, ...]) -> None:
        for change in job_changes(self._mirror, changes):
            if change.kind is ChangeKind.DESTROYED:
                self._leave(change.job)
            elif change.kind is ChangeKind.CREATED:
                self._leave(change.job)
                self._enter(change.job)
            elif change.job in self._entries:
                self._change(self._entries[change.job], change)
            elif not change.attributes.isdisjoint(_CRON):
                self._enter(change.job)

    def _leave(self, job: JobId) -> None:
        entry = self._entries.pop(job, None)
        if entry is not None:
            entry.due = None
            self._pending.pop(entry, None)

    def _enter(self, job: JobId) -> None:
        if job not in self._mirror:
            return
        own = self._mirror.ads[self._mirror.key(job)]
        group = self._group(job, own)
        if group is None:
            return
        entry = self._entries[job] = _Entry(job, own, self._status(job), group)
        if entry.status == _IDLE:
            self._pending[entry] = Recalculation.NO_SCHEDULE

    def _change(self, entry: _Entry, change: JobChange) -> None:
        """Record an edit of a crontab job; its parsed schedule stays."""
        entry.own = self._mirror.ads[self._mirror.key(entry.job)]
        if not change.attributes.isdisjoint(_TERMS):
            group = self._group(entry.job, entry.own)
            if group is None:
                self._leave(entry.job)
                return
            entry.group = group
        if "jobstatus" in change.attributes:
            self._enter_status(entry, self._status(entry.job))
        if entry.status == _IDLE and not change.attributes.isdisjoint(("deferraltime", "deferralwindow")):
            self._set_due(entry)

    def _enter_status(self, entry: _Entry, status: int | None) -> None:
        before, entry.status = entry.status, status
        if status == JobStatus.HELD and before in _UNDER_WAY and self._forgets(entry.job):
            entry.plan = None
        if status != _IDLE:
            self._pending.pop(entry, None)
            entry.due = None
        elif before in _UNDER_WAY:
            self._pending[entry] = Recalculation.RUN_ENDED
        elif entry.plan is None:
            self._pending[entry] = Recalculation.NO_SCHEDULE
        elif before == JobStatus.HELD and self._manual:
            self._pending[entry] = Recalculation.RELEASED
        else:
            self._set_due(entry)

    def _forgets(self, job: JobId) -> bool:
        """Return whether the schedd forgets the schedule of a job that was held while it ran.

        It does if the shadow or the local starter exits with JOB_SHOULD_HOLD or a missed time. If a user holds the job,
        the shadow is only told to remove it.
        """
        return int32_in(self._mirror, job, "HoldReasonCode") != USER_REQUEST

    def _set_due(self, entry: _Entry) -> None:
        """Let a job wait for the end of its DeferralTime, which may have been edited."""
        if entry.plan is None or entry in self._pending:
            return  # the next pass computes it anyway
        text = self._mirror.text(entry.job, "DeferralTime")
        if text is None:
            due = 0 if self._manual else None  # without one the schedd does nothing
        else:
            due = self._due(entry, self._time(entry.job, text, entry.plan.asked or 0), entry.plan.asked or 0)
        if due != entry.due:
            self._wait(entry, due)

    def _time(self, job: JobId, text: str, now: int) -> int:
        """Return the DeferralTime of a job with a text, as the schedd looks it up; 0 if it is not a number."""
        time = attributes.plain(text)
        if time is None:
            time = attributes.integer(self._mirror.ad(job), "DeferralTime", Context(now=now))
        return time or 0

    def _status(self, job: JobId) -> int | None:
        return int32_in(self._mirror, job, "JobStatus")


def recalculate(
    queue: Mirror,
    now: int,
    *,
    zone: str | tzinfo = "UTC",
    dialect: Dialect = Dialect.HTCONDOR,
    policy: Policy | None = None,
) -> list[CronEdit]:
    """Return what a schedd that has just started or been reconfigured does to the crontab jobs of a queue.

    ``now`` is in epoch seconds. Raises UnknownZone.
    """
    book = CronTabs(queue, zone=zone, dialect=dialect, policy=policy)
    try:
        return book.recalculate(now)
    finally:
        book.close()


_IS_IDLE = "JobStatus == 1"


def hold_of(edit: CronEdit) -> Hold:
    """Return the hold for a job with an invalid schedule."""
    return Hold(edit.hold or "", INVALID_CRON_SETTINGS, HOLD_SUBCODE)


def apply_edits(schedd: Schedd, edits: Iterable[CronEdit]) -> list[CronEdit]:
    """Write edits whose jobs are idle, and return those written.

    Each is one attribute, or one hold, with its own condition: after an interruption the next pass does the rest.
    Raises what the schedd raises.
    """
    return [edit for edit in edits if _apply(schedd, edit)]


def _apply(schedd: Schedd, edit: CronEdit) -> bool:
    if edit.time is not None:
        return schedd.edit_if(edit.job, _IS_IDLE, {"DeferralTime": edit.time})
    return schedd.hold(Selection(jobs=(edit.job,)).where(_IS_IDLE), hold_of(edit)).done > 0
