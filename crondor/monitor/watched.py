"""The watched queues: how each is read at a look, and how it finds jobs that have left."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast
from zlib import crc32

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job.attributes import JobStatus, integer
from crondor.job.policy import QueuedJob
from crondor.job_queue import HistoryFollower, JobId, history_files, read_history
from crondor.monitor import DueRun, Look, QueueWatch, Totals, UserLogFollower, Verdict
from crondor.monitor.queue_watch import IS_SCHEDULED, LOOKED_AT, OF_LOGS, FindLeft, may_have_changed, may_refer
from crondor.preview.jobs import Clock
from crondor.schedd.embedded import HISTORY, no_queue
from crondor.schedd.live import LiveSchedd, Question
from crondor.schedd.live_process import Answer
from crondor.schedd.protocol import NotOffered, Schedd, Selection, Unreachable
from crondor.schedd.reading import QueueLogSchedd, ScheduledJob, UnreadAd, job_id
from crondor.spec import Dialect
from crondor.zones import Policy

_CHUNK = 200  # jobs queried by number at once
_MOST_DUE = 100  # of more jobs that are due, all are queried: that costs the schedd less
_WHOLE = 300  # seconds between queries for all jobs
_EARLY, _AGAIN = 10, 60  # seconds before a job is due, and after a change
_STAYS = f"JobStatus =!= {JobStatus.REMOVED:d} && JobStatus =!= {JobStatus.COMPLETED:d}"
_IS_LEAVING = re.compile(rf"^JobStatus = [{JobStatus.REMOVED:d}{JobStatus.COMPLETED:d}]$", re.MULTILINE).search
_MOST_LEFT = 10_000  # jobs of a history that are examined
_SILENT = "the schedd does not answer: the other queues are watched meanwhile"


class QueueSource(Protocol):
    """The location of a queue."""

    @property
    def kind(self) -> str:
        """``queue``, ``log``, ``live`` or ``ads``."""

    @property
    def dialect(self) -> Dialect:
        """The dialect in which its Cron attributes are read."""

    @property
    def folder(self) -> Path:
        """The folder of an embedded queue."""


class Wanted(NamedTuple):
    """What to watch: queue and jobs, how to read them, since when (epoch seconds), and further files.

    ``is_once``: do not wait for a queue that is missing.
    """

    asked: QueueSource
    chosen: Selection
    dialect: Dialect | None
    policy: Policy | None
    grace: int
    begin: int | None
    histories: tuple[str, ...]
    folders: tuple[str, ...]
    is_once: bool = False


@dataclass
class _Heard:
    """The answers received before a look; None: the look queries."""

    ads: list[UnreadAd] | None = None
    due: list[JobId] | None = None  # queried by number, together with changed jobs; None: all are queried
    odd: list[JobId] = field(default_factory=list)  # jobs to be queried with all attributes
    asks_odd: bool = False
    left: list[ClassAd] | None = None
    fault: CrondorError | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    seconds: float = 0.0
    since: float | None = None  # when the jobs were received, by the monotonic clock

    @property
    def age(self) -> int:
        """The age of the answer in seconds."""
        return 0 if self.since is None else int(time.monotonic() - self.since)

    def found_left(self, _jobs: Sequence[JobId]) -> Iterable[ClassAd]:
        return self.left or ()


class WatchedQueue:
    """One queue, opened, with the known state of its jobs; ``fault`` is why the last look failed.

    ``looks`` is the number of successful looks, ``seconds`` the duration of the last one.
    """

    def __init__(
        self,
        name: str,
        wanted: Wanted,
        clock: Clock,
        open_: Callable[[], Schedd | None],
        read: Callable[[], tuple[list[ClassAd], list[Diagnostic]]] | None = None,
    ) -> None:
        """Open nothing yet; ``read`` reads the jobs of a file of ads."""
        self.name = name
        self.fault: CrondorError | None = None
        self.looks = 0
        self.seconds = 0.0
        self.totals = Totals()
        self.findings: list[Diagnostic] = []
        self.schedd: Schedd | None = None
        self._wanted = wanted
        self._open = open_
        self._read = read
        self._zone = clock.zone
        self._watch = QueueWatch(
            name,
            zone=clock.zone,
            schedd=wanted.asked.dialect,
            dialect=wanted.dialect or Dialect.MANUAL,
            policy=wanted.policy,
            sees_deferral_time=wanted.asked.kind != "log",
            grace=wanted.grace,
            since=wanted.begin,
        )
        self._histories = tuple(map(HistoryFollower, self._history_paths()))
        self._heard = _Heard()
        self._answered = 0.0  # when the last look's jobs were received, by the monotonic clock
        self._looked = 0  # that time (epoch seconds)
        self._next_whole = 0.0  # when to query all jobs, by the monotonic clock; queues do it at different times
        self._leaving: dict[JobId, ClassAd] = {}  # in a history file, but still in the queue when it was read
        self._logs = UserLogFollower(wanted.folders, clock.zone) if wanted.folders else None

    def _history_paths(self) -> Iterable[str]:
        """Return the history files given, or that of an embedded queue."""
        asked = self._wanted.asked
        if self._wanted.histories or asked.kind != "queue":
            return self._wanted.histories
        return [str(asked.folder / HISTORY)]

    @property
    def label(self) -> str:
        """The queue's name when one is required."""
        return self.name or self._wanted.asked.kind

    # Queries in other threads

    def ask(self) -> Question | None:
        """Return the query to make before the next look, in any thread; None if the look makes it."""
        self._heard = _Heard()
        if self._wanted.asked.kind != "live":
            return None
        if self.schedd is None:
            self.schedd = self._open()
        passed = int(time.monotonic() - self._answered)
        due = self._watch.due(self._looked + passed + _EARLY)
        if self.fault is not None or time.monotonic() >= self._next_whole or len(due) > _MOST_DUE:
            return self._asking()
        self._heard.due = due
        changed = may_have_changed(passed + _AGAIN)
        return self._asking(f"{changed} || {Selection(jobs=tuple(due)).text}" if due else changed)

    def _asking(self, changed: str | None = None) -> Question:
        """Return the query for all scheduled jobs, or for some and the number of all."""
        schedd, chosen = _live(self.schedd), self._wanted.chosen
        names = (*LOOKED_AT, *(OF_LOGS if self._wanted.folders else ()))
        if changed is None:
            self._heard.due = None
            return schedd.asking(chosen.where(IS_SCHEDULED), names)
        return schedd.asking(chosen.where(changed).where(IS_SCHEDULED), names, chosen.where(_STAYS).where(IS_SCHEDULED))

    def hear(self, answer: Answer | CrondorError, began: float, ended: float) -> Question | None:
        """Process an answer; return the next query, None if the look can be made.

        ``began`` and ``ended`` are the times of the query and the answer, by the monotonic clock.
        """
        heard, schedd = self._heard, _live(self.schedd)
        heard.seconds += ended - began
        try:
            if isinstance(answer, CrondorError):
                raise answer
            if heard.ads is None or heard.asks_odd:
                found, rest = schedd.unread(answer), list[UnreadAd]()
                if heard.ads is None:
                    unchanged = self._unchanged(found, answer)
                    if unchanged is None:
                        return self._asking()
                    rest = unchanged
                    heard.since = ended
                    odd = {ad.job for ad in found if not self._watch.knows(ad) and may_refer(ad.text)}
                    found = [ad for ad in found if ad.job not in odd]
                    heard.odd = sorted(odd)
                heard.ads = sorted([*(heard.ads or ()), *found, *rest], key=lambda ad: ad.job)
                whole, heard.odd = tuple(heard.odd[:_CHUNK]), heard.odd[_CHUNK:]
                heard.asks_odd = bool(whole)
                if whole:
                    return schedd.asking(Selection(jobs=whole))
                missing = [] if self._histories else self._watch.missing({ad.job for ad in heard.ads})
                return schedd.asking_history(Selection(jobs=tuple(missing)), len(missing)) if missing else None
            heard.left = schedd.left(answer)
        except CrondorError as error:
            heard.fault = error
        return None

    def _unchanged(self, found: Sequence[UnreadAd], answer: Answer) -> list[UnreadAd] | None:
        """Return the jobs that were not queried; None if one of them has left, so that all must be queried."""
        if self._heard.due is None:
            return []
        here = {ad.job for ad in found}
        rest = set(self._watch.present()).difference(here, self._heard.due)
        staying = sum(not _IS_LEAVING(str(ad.text)) for ad in found)
        if answer.done.get("total") != staying + len(rest):
            return None
        return [UnreadAd(job, None, partial(self._read_now, job)) for job in rest]

    def _read_now(self, job: JobId) -> ClassAd | None:
        """Return the ad of a job that has become due since the query. Raises CrondorError."""
        return next(iter(_live(self.schedd).jobs(job)), None)

    def be_silent(self) -> None:
        """Record that the schedd has not answered and is no longer waited for."""
        self.fault = Unreachable(Diagnostic("schedd-timeout", _SILENT))

    def interrupt(self) -> None:
        """End the query of another thread."""
        if self.schedd is not None:
            _live(self.schedd).interrupt()

    def look(self, clock: Clock) -> Look | None:
        """Look at the queue; None if it cannot be read, with the reason in ``fault``."""
        began = time.monotonic()
        if self._wanted.asked.kind == "live" and self._heard.ads is None and self._heard.fault is None:
            self._ask_all()
        heard, self._heard = self._heard, _Heard()
        now = clock.now - heard.age
        if heard.due is None and heard.since is not None:
            share = 1.0 if self._next_whole else crc32(self.name.encode()) / 2**32
            self._next_whole = heard.since + _WHOLE * share
            _live(self.schedd).close()  # the bindings never free the memory of a long answer
        self._answered, self._looked = heard.since or 0.0, now
        self.findings = heard.findings
        try:
            if heard.fault is not None:
                raise heard.fault
            if not self.looks:
                for each in self._histories:
                    each.skip()  # before the jobs are read: a job that leaves in between is then in the file
            ads = self._ads() if heard.ads is None else heard.ads
            events = [] if self._logs is None else self._logs.events(ads, now)
            begin = self._wanted.begin
            left = self._new_left(ads, now) if self.looks or begin is None else self._left_since(begin, now)
            find_left: FindLeft | None = None if self._histories else self._find_left
            if heard.left is not None:
                find_left = heard.found_left
            found = self._watch.look(ads, now, events=events, find_left=find_left, left=left)
        except CrondorError as error:
            self.fault = error
            return None
        finally:
            self.seconds = heard.seconds + time.monotonic() - began
            if self.schedd is not None:
                self.findings += getattr(self.schedd, "diagnostics", ())
        if self._logs is not None:
            self.findings += self._logs.diagnostics
        self.fault = None
        self.looks += 1
        self.totals.add(found.runs)
        return found

    def _ask_all(self) -> None:
        """Make all queries before a look."""
        try:
            question = self.ask()
            while question is not None:
                answer: Answer | CrondorError
                try:
                    answer = question()
                except CrondorError as error:
                    answer = error
                question = self.hear(answer, 0.0, time.monotonic())
        except CrondorError as error:
            self._heard.fault = error
        self._heard.seconds = 0.0

    def _ads(self) -> Iterable[ClassAd | UnreadAd]:
        """Return the scheduled jobs. Raises CrondorError."""
        if self._read is not None:
            ads, findings = self._read()
            self.findings += findings
            return ads
        if self.schedd is None:
            self.schedd = self._open()
            if self.schedd is None:
                severity = Severity.ERROR if self._wanted.is_once else Severity.NOTE
                self.findings.append(no_queue(self._wanted.asked.folder, severity))
                return []
            self.findings += getattr(self.schedd, "diagnostics", ())
        is_first = not self.looks or self.fault is not None  # what a failed look has read is not known
        return cast("QueueLogSchedd", self.schedd).unread(self._wanted.chosen, anew=is_first)

    # Jobs that have left

    def _new_left(self, ads: Iterable[ClassAd | UnreadAd], now: int) -> list[ClassAd]:
        """Return the jobs that have left since the last look, from the history files; each once.

        A schedd writes there first, and then removes the job from its queue. Raises QueueIO.
        """
        for each in self._histories:
            for ad in self._chosen(each.poll(self.findings.append), now):
                job = job_id(ad)
                if job is not None:
                    self._leaving[job] = ad
        if not self._leaving:
            return []
        here = {job_id(ad) if isinstance(ad, ClassAd) else ad.job for ad in ads}
        left = [ad for job, ad in self._leaving.items() if job not in here]
        self._leaving = {job: ad for job, ad in self._leaving.items() if job in here}
        return left

    def _find_left(self, jobs: Sequence[JobId]) -> Iterable[ClassAd]:
        """Return the ads of jobs that have left; empty without a source. Raises CrondorError."""
        if self.schedd is None:
            return []
        try:
            return self.schedd.history(Selection(jobs=tuple(jobs)), limit=len(jobs))
        except NotOffered:
            return []

    def _left_since(self, begin: int, now: int) -> list[ClassAd]:
        """Return the jobs that have left since a time (epoch seconds). Raises CrondorError."""
        if self._histories:
            ads = self._chosen(self._of_histories(begin), now)
        elif self.schedd is not None:
            try:
                condition = self._wanted.chosen.where(f"EnteredCurrentStatus >= {begin}")
                ads = iter(self.schedd.history(condition, limit=_MOST_LEFT))
            except NotOffered:
                return []
        else:
            return []
        return list(islice((ad for ad in ads if (integer(ad, "EnteredCurrentStatus") or 0) >= begin), _MOST_LEFT))

    def _of_histories(self, begin: int) -> Iterator[ClassAd]:
        """Yield the jobs of the history files, including files rotated since a time. Raises QueueIO."""
        for each in self._histories:
            for path in history_files(each.path, begin):
                yield from read_history(path, report=self.findings.append)

    def _chosen(self, ads: Iterable[ClassAd], now: int) -> Iterator[ClassAd]:
        """Yield the watched jobs: the selected ones that are scheduled."""
        chosen, context = self._wanted.chosen, Context(now=now, zone=self._zone)
        return (ad for ad in ads if QueuedJob(ad).is_scheduled and chosen.holds(ad, context))


def _live(schedd: Schedd | None) -> LiveSchedd:
    return cast("LiveSchedd", schedd)


class Row(NamedTuple):
    """A due time and its job; ``run`` None: no due time has come yet, or none ever will."""

    queue: str
    run: DueRun | None
    status: ScheduledJob | None

    @property
    def job(self) -> str | None:
        """The job's number."""
        return self.status.id if self.status is not None else None if self.run is None else self.run.job

    def string(self, name: str) -> str | None:
        """Return Owner or Cmd."""
        if self.status is not None:
            return self.status.queued.string(name)
        return None if self.run is None else {"Owner": self.run.owner, "Cmd": self.run.cmd}[name]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the due time."""
        return Verdict.AHEAD if self.run is None else self.run.verdict

    @property
    def is_troubled(self) -> bool:
        """Whether something keeps the job from running, or will."""
        return self.status is not None and self.status.is_troubled


def all_rows(queue: str, look: Look, *, every: bool) -> Iterator[Row]:
    """Yield a row for each job with its last due time, or with ``every`` for each due time of the look."""
    standings = {str(standing.job): standing for standing in look.jobs}
    statuses = {job: standing.status for job, standing in standings.items()}
    if every:
        yield from (Row(queue, run, statuses.get(run.job)) for run in look.runs)
    said = {run.job for run in look.runs} if every else set()
    for job, standing in standings.items():
        if job not in said:
            yield Row(queue, standing.latest, statuses[job])
    if every:
        return
    for run in look.runs:  # jobs that have left and were just judged; unplanned starts
        if run.verdict is Verdict.UNPLANNED or (run.job not in statuses and run.is_final):
            yield Row(queue, run, statuses.get(run.job))


PATIENCE: Final = 20.0
"""Seconds that a round waits for a schedd that answered the last time, or was never asked."""

_SLICE: Final = 0.5  # seconds between checks whether to end
_END: Final = 5.0  # seconds to wait for a thread after its worker was ended


# A query waits for another process, and its thread does nothing but wait. Answers are processed by the one thread that
# makes the looks.
class _Answered(NamedTuple):
    queue: WatchedQueue
    answer: Answer | CrondorError | None
    began: float
    ended: float


class Questions:
    """Queries queues round by round; a single queue, or one without a schedd, is queried by its look.

    ``silenced`` are those that did not answer in the last round, but did before.
    """

    def __init__(self, queues: Sequence[WatchedQueue]) -> None:
        self.silenced: list[WatchedQueue] = []
        self._queues = queues
        self._busy: dict[WatchedQueue, threading.Thread] = {}
        self._answered: queue.SimpleQueue[_Answered] = queue.SimpleQueue()

    def round(self, patience: float, is_over: Callable[[], bool]) -> Iterator[WatchedQueue]:
        """Query all queues, and yield each one that can be looked at; queues that have not answered are skipped.

        Pending queries are not repeated; ``patience`` is in seconds, and a queue that did not answer the last time is
        not waited for. ``is_over`` is called repeatedly, and ends the waiting.
        """
        for each in self._queues:
            if each in self._busy:
                continue
            question = each.ask() if len(self._queues) > 1 else None
            if question is None:
                yield each
            else:
                self._ask(each, question)
        end = time.monotonic() + patience
        while not is_over():
            is_awaited = any(each.fault is None for each in self._busy)
            left = end - time.monotonic() if is_awaited else 0.0
            try:
                found = self._answered.get(block=left > 0, timeout=min(_SLICE, left) if left > 0 else None)
            except queue.Empty:
                if left > 0:
                    continue
                break
            if self._is_done(found):
                yield found.queue
        self.silenced = [each for each in self._busy if each.fault is None]
        for each in self.silenced:
            each.be_silent()

    def close(self) -> None:
        """End the pending queries."""
        for each, thread in self._busy.items():
            each.interrupt()
            thread.join(_END)
        self._busy.clear()

    def _is_done(self, found: _Answered) -> bool:
        """Process an answer, and return whether nothing else must be queried."""
        del self._busy[found.queue]
        answer = found.answer
        question = None if answer is None else found.queue.hear(answer, found.began, found.ended)
        if question is not None:
            self._ask(found.queue, question)
        return question is None

    def _ask(self, asked: WatchedQueue, question: Question) -> None:
        def work() -> None:
            began = time.monotonic()
            answer: Answer | CrondorError | None = None
            try:
                answer = question()
            except CrondorError as error:
                answer = error
            finally:
                self._answered.put(_Answered(asked, answer, began, time.monotonic()))

        thread = threading.Thread(target=work, daemon=True)
        self._busy[asked] = thread
        thread.start()
