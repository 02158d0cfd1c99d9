"""A pool on the real clock: the jobs of a queue in a folder run on this machine, as in the local universe.

A session may be killed at any moment and begun again: what it was about to do stands in the queue before it is done,
and the records of its runs (run_records.py) say what became of them. It ends itself when nothing is to come, and asks
the clock it was given, never the machine's.
"""

from __future__ import annotations

import heapq
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.event_log import JobEvent, write_event
from crondor.job.attributes import ON_MACHINE, JobStatus, boolean, count, integer, string
from crondor.job_queue import JobId, read_history
from crondor.job_queue.records import refused_by_disk
from crondor.pool.daemons.events import PoolEvent, PoolEventKind, events
from crondor.pool.daemons.pool import Pool
from crondor.pool.daemons.pool_job import PoolJob, Timetable, TimetableEntry
from crondor.pool.daemons.starter import time_of
from crondor.pool.local.programs import RUN_TIME, TOKEN, KeptQueue, RealPrograms, token_of
from crondor.pool.local.run_records import Records, Request, Requests, RunEnd, RunState, perform
from crondor.pool.local.supervisor import publish
from crondor.pool.settings import PoolSettings
from crondor.rights.trust import check
from crondor.rights.walk import APPENDING, append, is_there, open_own, open_plain
from crondor.schedd.embedded import HISTORY, EmbeddedSchedd
from crondor.schedd.protocol import Hold, edited

_PAUSE: Final = 5  # SCHEDD_MIN_INTERVAL: between two starts of a job without a time


class WallTimetable(Timetable):
    """A timetable whose ``now`` is the time it was given, however late an action is."""

    def advance(self, until: int, most: int | None = None) -> bool:
        """Do what is due at a time, at most ``most`` actions; return whether all of it was done."""
        self.now = max(self.now, until)
        done = 0
        while True:
            time = self.next_time
            if time is None or time > self.now:
                return True
            if done == most:
                return False
            entry = heapq.heappop(self._heap)[4]
            call, entry.call = entry.call, None
            done += 1
            if call is not None:
                call(self.now)


class PromptTurns:
    """A schedd whose passes come at once, and which considers a local job as soon as its gates are open.

    ``closed`` are jobs that are no longer considered, ``is_closed``: none is.
    """

    def __init__(self) -> None:
        self.closed: set[JobId] = set()
        self.is_closed = False
        self._last: dict[JobId, int] = {}

    def requested(self, now: int) -> int:
        """Return ``now``."""
        return now

    def pass_from(self, time: int) -> int:
        """Return the time."""
        return time

    def match(self, job: JobId, opens: int, run: int) -> int | None:  # noqa: ARG002 - the protocol's signature
        """Return None: there are no machines."""
        return None

    def local(self, job: JobId, opens: int, now: int) -> int | None:
        """Return the moment the gates open; a job that is queued again without a time waits a little."""
        if self.is_closed or job in self.closed:
            return None
        last = self._last.get(job)
        time = max(opens, now) if last is None else max(opens, now, last + _PAUSE)
        self._last[job] = time
        return time


SPEC: Final = "CrondorSpec"
"""The attribute with the path of a job's submit file; jobs without it are left alone."""
SPEC_JOB: Final = "CrondorSpecJob"
"""The attribute with its number among the jobs of that file."""
SESSION: Final = "CrondorSession"
"""The attribute with the name of the session that submitted it."""
NEW: Final = "CrondorIsNew"
"""The attribute of a job whose submission has not been reported yet."""
TOLD: Final = "CrondorToldToken"
"""The attribute with the token of the last start that was reported."""
STARTED: Final = "CrondorRunSession"
"""The attribute with the name of the session that started it last."""

MARKER: Final = "session"
"""The file that exists in the folder while a session is not over."""

LOST: Final = "The session ended while its program ran, and its result is unknown"
LEFT: Final = "Its program was ended with the session"

_RUNS: Final = "runs"
_GONE: Final = (int(JobStatus.COMPLETED), int(JobStatus.REMOVED))
_LEAD: Final = 5  # seconds before its time from which a run has its supervisor ready
_PATIENCE: Final = 10.0  # seconds for killed processes to be gone
_LONGEST_WAIT: Final = 15.0  # seconds for a session to read a request, and as many to answer
_LOOK: Final = 0.02  # seconds between two checks of the answer
_POLL: Final = 1.0  # seconds between two checks of the requests, without a pipe


@dataclass(frozen=True)
class SessionPlan:
    """The plan of a session: each job's next run only (``once``), nothing new after a time (epoch seconds)."""

    once: bool = False
    until: int | None = None


class Session(AbstractContextManager["Session"]):
    """The jobs of a queue's folder, run as time passes: ``submit``, ``begin``, and ``step`` until it returns False.

    ``clock`` returns epoch seconds with their fraction. ``was_killed``: the session before did not end by itself, and
    this one continues its plan. Use it as a context manager, in one thread.
    """

    def __init__(self, folder: Path, settings: PoolSettings, clock: Callable[[], float], plan: SessionPlan) -> None:
        """Open the queue.

        Raises QueueLocked if another session has it, Untrusted if another user could have made or could change it,
        DamagedLog, QueueIO and UnknownZone.
        """
        self.folder = folder
        self.plan = plan
        self._clock = clock
        self.embedded = EmbeddedSchedd(
            folder, clock=lambda: int(clock()), zone=settings.zone, dialect=settings.dialect, policy=settings.policy
        )
        try:
            self._open(settings)
        except BaseException:
            self.embedded.close()
            raise

    def _open(self, settings: PoolSettings) -> None:
        self._name, self.was_killed = self._mark()
        self._queue = KeptQueue(self.embedded)
        for job in [job for job in self.embedded.mirror if self._is_over(job)]:
            self.embedded.leave(job)  # a killed session may have come no further
        self._turns = PromptTurns()
        self.programs = RealPrograms(Records(self.folder / _RUNS), self._clock, {STARTED: self._name})
        try:
            self._requests = Requests(self.folder)
        except OSError as error:
            raise refused_by_disk(self.folder, "a session here could not receive requests", error) from error
        self.pool = Pool(
            replace(settings, counts_local_runs=True),
            int(self._clock()),
            turns=self._turns,
            schedd=self._queue,
            programs=self.programs,
            timetable=WallTimetable(int(self._clock())),
        )
        self.pool.watchers.append(self._note)

    def _mark(self) -> tuple[str, bool]:
        """Return the session's name, and whether it is that of a killed one."""
        path = self.folder / MARKER
        name = uuid.uuid4().hex
        try:
            check(path)
            is_new = publish(str(self.folder.resolve()), MARKER, name)
            self._marked = _identity(path)
            if is_new:
                return name, False
            with os.fdopen(open_plain(path), encoding="ascii", errors="replace") as file:
                return file.read().strip('"'), True
        except OSError as error:
            raise refused_by_disk(path, "a session cannot begin here", error) from error

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Close the queue; a session without anything left to do is over."""
        if kind is None and self.is_there:
            with suppress(OSError):
                (self.folder / MARKER).unlink()
        self._requests.close()
        self.programs.let_go()
        self.embedded.close()

    # Jobs

    def submitted(self, spec: str) -> list[JobId] | None:
        """Return the jobs of a submit file that are in the queue; None if they are still to be submitted.

        Jobs that this session submitted before it was killed are not submitted again, even if all have left.
        """
        found = [job for job in self.embedded.mirror if self._has(job, spec)]
        if found:
            return found
        if self.was_killed and any(string(ad, SESSION) == self._name for ad in self._past(spec)):
            return []
        return None

    def ran_at(self, spec: str, ads: Sequence[ClassAd]) -> dict[int, int]:
        """Return the numbers of a file's jobs that had their run at the same DeferralTime already.

        Jobs with cron attributes are not among them: their next time is a later one.
        """
        now = int(self._clock())
        wanted = {n: time for n, ad in enumerate(ads) if (time := _only_time(ad, now)) is not None}
        if not wanted:
            return {}
        done = {(integer(ad, SPEC_JOB), integer(ad, RUN_TIME)) for ad in self._past(spec) if count(ad, "NumJobStarts")}
        return {n: time for n, time in wanted.items() if (n, time) in done}

    def submit(self, spec: str, ads: Sequence[ClassAd], numbers: Sequence[int]) -> list[JobId]:
        """Put jobs of a submit file into the queue, all at once; ``numbers`` are theirs among the jobs of the file.

        Raises InvalidChange and QueueIO.
        """
        own = {SESSION: self._name, NEW: True, "NumJobStarts": 0, "NumJobCompletions": 0}
        made = [edited(ad, {SPEC: spec, SPEC_JOB: n, **own}) for ad, n in zip(ads, numbers, strict=True)]
        return self.embedded.submit(made)

    def begin(self) -> int:
        """Add the jobs of the queue, and return how many earlier programs still run.

        Raises QueueIO, and OSError for records that cannot be read.
        """
        mirror = self.embedded.mirror
        mine = [job for job in mirror if mirror.text(job, SPEC) is not None and not self._is_over(job)]
        found = 0
        wanted, late = set(), []
        for job in sorted(mine):
            ad = self._queue.take(job)
            token = token_of(ad) if count(ad, "JobStatus") in ON_MACHINE else ""
            course = self.programs.adopt(token, job) if token else RunState.CALLED_OFF
            found += course is RunState.RUNS
            wanted.add(token)
            if token and course is RunState.CALLED_OFF:
                starts = max(0, count(ad, "NumJobStarts") - 1)
                self._queue.write(job, {TOKEN: None, RUN_TIME: None, STARTED: None, "NumJobStarts": starts})
            if self.plan.once and string(ad, STARTED) == self._name:
                self._turns.closed.add(job)
            started = None if course is RunState.CALLED_OFF else self.programs.records.started_at(token)
            late.append((job, started if course is RunState.CALLED_OFF else started or self.pool.now))
        found += self.programs.sweep(wanted)
        for job, started in late:
            self.pool.restore(job, untold=self._untold(job, started), started=started)
        return found

    def _untold(self, job: JobId, started: int | None) -> list[PoolEventKind]:
        """Return the events that an earlier session did not report."""
        ad = self._queue.ads[job]
        found = [PoolEventKind.SUBMITTED] if boolean(ad, NEW) else []
        if started is not None and string(ad, TOLD) != token_of(ad):
            found.append(PoolEventKind.STARTED)
        return found

    def _has(self, job: JobId, spec: str) -> bool:
        mirror = self.embedded.mirror
        return mirror.text(job, SPEC) is not None and string(mirror.ad(job), SPEC) == spec and not self._is_over(job)

    def _is_over(self, job: JobId) -> bool:
        mirror = self.embedded.mirror
        return mirror.text(job, SPEC) is not None and count(mirror.ad(job), "JobStatus") in _GONE

    def _past(self, spec: str) -> Iterable[ClassAd]:
        """Yield the jobs of a submit file that are over: those that have left, and those that stay in the queue."""
        path, mirror = self.folder / HISTORY, self.embedded.mirror
        past = read_history(path) if is_there(path) else ()
        for ad in chain(past, (mirror.ad(job) for job in mirror if self._is_over(job))):
            if string(ad, SPEC) == spec:
                yield ad

    # Time

    @property
    def is_there(self) -> bool:
        """Return whether the folder is still the opened one: it may have been removed."""
        return self._marked is not None and _identity(self.folder / MARKER) == self._marked

    @property
    def is_closed(self) -> bool:
        """Return whether nothing is started any more."""
        return self._turns.is_closed

    def step(self, longest: float, wakeup: int | None = None, rest: Callable[[], None] | None = None) -> bool:
        """Do what is due, then wait for the next action, at most ``longest`` seconds; return whether more is to come.

        ``wakeup`` is a descriptor that ends the wait, ``rest`` is called before it. If the folder no longer exists
        (``is_there``), nothing more is started. Raises QueueIO.
        """
        now = int(self._clock())
        until = self.plan.until
        if not self.is_there or (until is not None and now > until):
            if self.is_there and until is not None and not self.is_closed and self.pool.now <= until:
                self.pool.advance(until)
            self.close()
        self.pool.advance(now)
        self._requests.serve(lambda request: perform(self.pool, self.embedded, request))
        for job, ending in self.programs.poll():
            self._ended(job, ending)
        self.pool.advance(int(self._clock()))
        if not self.has_more:
            return False
        soon = self._prepare(now)
        if rest is not None:
            rest()
        bell = self._requests.bell
        longest = min(longest, _POLL) if bell is None else longest
        most = longest if soon is None else max(0.0, min(longest, soon - self._clock()))
        self.programs.wait(most, [each for each in (wakeup, bell) if each is not None])
        return True

    def _prepare(self, now: int) -> int | None:
        """Prepare runs that start soon; return when to check again (epoch seconds), None: nothing is planned."""
        until = self.plan.until
        next_times = (self.pool.next_time, None if self.is_closed or until is None else until + 1)
        soon = min((time for time in next_times if time), default=None)
        if soon is None or soon <= now:
            return soon
        self.programs.prepare(sum(_is_due(job, now + _LEAD) for job in self.pool.jobs.values()))
        return soon - _LEAD if soon > now + _LEAD else soon

    @property
    def has_more(self) -> bool:
        """Return whether anything can still happen: a program runs, or one will."""
        if self.programs.running:
            return True
        return not self.is_closed and any(map(self._may_go_on, self.pool.jobs.values()))

    def _may_go_on(self, job: PoolJob) -> bool:
        if job.run is not None:
            return True
        if job.id in self._turns.closed:
            return False
        return _pending(job.turn) or _pending(job.check) or (job.is_idle and job.id in self._queue.book)

    def _ended(self, job_id: JobId, ending: RunEnd | None) -> None:
        job = self.pool.jobs.get(job_id)
        if job is None or job.run is None:
            return
        token = token_of(job.ad)
        if ending is None:
            self._give_up(job, LOST)
        elif isinstance(ending.result, Hold):
            self.pool.hold(job_id, ending.result)
        else:
            used = {"RemoteUserCpu": ending.user, "RemoteSysCpu": ending.system}
            self._queue.write(job_id, used)
            self.pool.ended(job_id, ending.result)
        self.programs.records.forget(token)

    def _give_up(self, job: PoolJob, reason: str) -> None:
        """End a run whose result is unknown: it must not run again in its window.

        A crontab job gets its next time; another one is held.
        """
        if job.id in self._queue.book:
            self.pool.vacate(job.id)
        else:
            self.pool.hold(job.id, Hold(reason, 0))

    # The end

    def close(self) -> None:
        """Start nothing more; jobs that wait for their time become idle again."""
        if self.is_closed:
            return
        self._turns.is_closed = True
        for job in list(self.pool.jobs.values()):
            self.pool.timetable.cancel(job.turn)
            job.turn = None
            if job.run is not None and job.run.started is None:
                self.pool.vacate(job.id)

    def leave(self) -> None:
        """End all programs at once, and wait until they are gone."""
        self.close()
        for job in list(self.pool.jobs.values()):
            if job.run is not None:
                self._give_up(job, LEFT)
        until = self._clock() + _PATIENCE
        while self.programs.running and self._clock() < until:
            self.programs.kill_all()
            self.programs.wait(0.05)
            self.programs.poll()

    def missed(self) -> list[JobId]:
        """Return the jobs that are idle and will never start: they have no future time."""
        return [
            job.id
            for job in self.pool.jobs.values()
            if job.is_idle and job.id not in self._queue.book and job.gate.opens(self.pool.now) is None
        ]

    def _note(self, seen: PoolEvent) -> None:
        if seen.what is PoolEventKind.SUBMITTED:
            self._queue.write(seen.job.id, {NEW: None})
        elif seen.what is PoolEventKind.STARTED:
            self._queue.write(seen.job.id, {TOLD: token_of(seen.job.ad)})
            if self.plan.once:
                self._turns.closed.add(seen.job.id)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of a file, None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_missed(seen: PoolEvent) -> bool:
    """Return whether a job is held since it missed its time."""
    return seen.what is PoolEventKind.HELD and seen.number == MISSED_DEFERRED_EXECUTION_TIME


def _is_due(job: PoolJob, until: int) -> bool:
    """Return whether a job that waits on its machine starts by a time."""
    run = job.run
    return run is not None and run.started is None and run.next is not None and run.next.time <= until


def _pending(entry: TimetableEntry | None) -> bool:
    return entry is not None and entry.call is not None


def _only_time(ad: ClassAd, now: int) -> int | None:
    """Return the DeferralTime of a job that has one and no schedule."""
    if any(name.startswith("cron") and name[4:] in _FIELDS for name in ad.names):
        return None
    return time_of(ad, Context(now=now)) if "DeferralTime" in ad else None


_FIELDS: Final = frozenset(("minute", "hour", "dayofmonth", "month", "dayofweek"))

_HOSTS: Final = ("SubmitHost", "ExecuteHost")
_MODE: Final = 0o664


class JobLogs:
    """Writes the events of a pool; ``note`` is the watcher.

    ``host`` is this machine's name in the events, ``zone`` that of their times. A log that cannot be written is
    reported once and ends no job.
    """

    def __init__(self, host: str, zone: tzinfo, report: Callable[[Diagnostic], None]) -> None:
        self._host = f"<{host}>"
        self._zone = zone
        self._report = report
        self._refused: set[str] = set()

    def note(self, seen: PoolEvent) -> None:
        """Append the log events of a pool event."""
        path = log_path(seen.job.ad)
        if path is None or path == os.devnull:
            return
        text = "".join(write_event(self._here(event), self._zone) for event in events(seen))
        if not text:
            return
        try:
            append(open_own(path, APPENDING, _MODE), text.encode("utf-8", "surrogateescape"), path)
        except (OSError, ValueError) as error:
            self._refuse(path, error)

    def _here(self, event: JobEvent) -> JobEvent:
        said = {name: self._host if name in _HOSTS else value for name, value in event.attributes.items()}
        return replace(event, attributes=said)

    def _refuse(self, path: str, error: OSError | ValueError) -> None:
        if path in self._refused:
            return
        self._refused.add(path)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"the user log '{printable(path)}' cannot be written: {reason}"
        self._report(Diagnostic("run-log", message, Severity.WARNING, help="the jobs run without a log"))


def log_path(ad: ClassAd) -> str | None:
    """Return the path of a job's user log, None if it has none."""
    log, folder = string(ad, "UserLog"), string(ad, "Iwd")
    if not log:
        return None
    return os.path.join("/" if folder is None else folder, log)  # noqa: PTH118 - a Path would change it


def ask(folder: Path, request: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the answer of the session of a queue's folder, None if none read the request. Raises CrondorError."""
    marker = folder / MARKER
    if not is_there(marker):
        return None
    try:
        asking = Request(folder, request)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused_by_disk(folder, "crondor run cannot be reached", error) from error
    answer = None
    try:
        answer = _waited(asking.answer, marker.exists)
    finally:
        was_taken = answer is not None or not asking.withdraw()
    if not was_taken:
        return None
    answer = answer or _waited(asking.answer, lambda: True)
    if answer is None:
        message = "the crondor run with this queue has read the request, but has not answered"
        hint = "see the output of crondor run; crondor queue history lists jobs that have left"
        raise CrondorError(Diagnostic("no-answer", message, help=hint))
    if "faults" in answer:
        raise CrondorError([Diagnostic(str(code), str(said), help=hint) for code, said, hint in answer["faults"]])
    return answer


def _waited(look: Callable[[], dict[str, Any] | None], is_there: Callable[[], bool]) -> dict[str, Any] | None:
    """Poll for an answer while its sender exists, for at most some seconds."""
    end = monotonic() + _LONGEST_WAIT
    while monotonic() < end:
        found = look()
        if found is not None or not is_there():
            return found
        sleep(_LOOK)
    return None
