"""The daemon-timeline kind: deferred and crontab jobs of a real pool, lived through again in crondor's world.

From the recording come the submit text, what users did, and what no rule decides: when the negotiator gave the job a
machine (or the schedd's pass started a local one), when the schedd made its passes, and how long the program slept.
Whether the gates are open then, and everything else, is crondor's.
"""

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from crondor.classad import Expression, UnparseForm
from crondor.classad.ad import ClassAd
from crondor.classad.tree import Exceptional, Literal
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import Source
from crondor.event_log import EventType, JobEvent, read_events
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.pool.daemons.events import events
from crondor.pool.daemons.pool import Pool
from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.daemons.starter import DrawnPrograms, Lasting, process_of
from crondor.pool.settings import Exit, FlowSettings, Lengths, PoolSettings
from crondor.schedd.protocol import Hold
from crondor.submit import SubmitHost, job_ads, read_submit
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    Replay,
    check_fields,
    compare,
    integer,
    items,
    mapping,
    shown,
    text,
)

_POLL = 1.0  # seconds between two looks at the queue
_TOLERANCE = _POLL + 2
_RECONFIG = 40  # condor_reconfig -schedd went to the pool of the s and h jobs at this time (README of the recording)
_COMPARED = (
    "JobStatus", "DeferralTime", "NumJobStarts", "HoldReasonCode", "HoldReasonSubCode", "HoldReason", "LastHoldReason",
    "ReleaseReason", "NumHolds", "NumJobCompletions", "JobRunCount", "ExitCode", "CronMinute", "DeferralPrepTime",
    "DeferralWindow", "JobCurrentStartExecutingDate", "gone",
)  # fmt: skip
_SLEEP = re.compile(r"\bsleep\s+(\d{1,6})\b").search
_EXIT = re.compile(r"\bexit\s+(\d{1,3})\b").search
_KILLED = re.compile(r"\bkill\s+-(\d{1,2})\s+\$\$").search
_ACTIONS = frozenset({"condor_hold", "condor_release", "condor_rm", "condor_suspend", "condor_continue"})
_ALWAYS_WORK = frozenset({"condor_submit", "condor_reconfig"})
_VACATING = frozenset({"condor_vacate", "condor_vacate_job"})

# What the recorded pool needed, the same for all its jobs: a second to get a job's files to the machine, ten to bring
# the hold of a missed run back, and up to eleven until the queue says NumJobStarts (a shadow reports every ten).
_TRANSFER = Lengths.fixed(1)
_MISSED_DELAY = 10
_LAG = {"NumJobStarts": 11.0}
_DATES = frozenset({"JobCurrentStartExecutingDate"})  # as near as the times themselves
_MISSED_EXIT = 255  # 23.9.6 has it as the ExitCode of a missed run, and 25.14 none (README of the recording)
_PERIODIC = 60  # its PERIODIC_EXPR_INTERVAL; none of its jobs needed it
# Its starters report every five seconds, the first time too: a job that was suspended before it began is Suspended to
# the queue that long after the start.
_FLOW = FlowSettings(starter_update_interval=5)
# What the recording has of a job at its end, beside what is compared all along.
_FINAL = (
    "JobStatus", "DeferralTime", "NumJobStarts", "NumShadowStarts", "NumJobCompletions", "JobRunCount", "NumHolds",
    "ExitCode", "HoldReason", "HoldReasonCode", "HoldReasonSubCode", "LastHoldReason", "RemoveReason", "ExitBySignal",
)  # fmt: skip
_FINAL_DATES = ("CompletionDate",)
# The starter's events, of sizes and transfers. That a job was evicted, HTCondor writes of one that waits, and not of
# one that a periodic expression removes: crondor has it the other way round.
_UNLIKE = frozenset({EventType.IMAGE_SIZE, EventType.FILE_TRANSFER, EventType.JOB_EVICTED})


class _Change(NamedTuple):
    """A value from a time on (seconds after t0)."""

    t: float
    value: object


class _Command(NamedTuple):
    """What a user did, at a whole second after t0."""

    t: int
    words: list[str]
    number: int
    worked: bool


class _Shell(DrawnPrograms):
    """The programs of a recording, as their ads name them: they sleep, and exit or kill themselves.

    What sleeps is over at its time also when it was stopped meanwhile.
    """

    def __init__(self, settings: PoolSettings) -> None:
        super().__init__(settings)
        self.clock: Callable[[], int] = lambda: 0
        self._ends: dict[JobId, int] = {}

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting:
        """Read how long it sleeps, and how it ends."""
        process = process_of(run.ad)
        command = "" if isinstance(process, Hold) else " ".join(process.argv)
        sleep, ended, killed = (search(command) for search in (_SLEEP, _EXIT, _KILLED))
        seconds = int(sleep[1]) if sleep else 0
        self._ends[job.id] = now + seconds
        return Lasting(seconds, Exit(int(killed[1]), by_signal=True) if killed else Exit(int(ended[1]) if ended else 0))

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Let it sleep on."""
        run.left = max(0, self._ends[job.id] - self.clock())


class _Recorded:
    """The moments of the recording, for each proc (epoch seconds)."""

    def __init__(self, interval: int, procs: Mapping[int, Sequence[Mapping[str, object]]], t0: int) -> None:
        self._interval = interval
        self._matches = {proc: list(_matches(seen)) for proc, seen in procs.items()}
        self._passes = sorted({at for seen in procs.values() for at in _passes(seen, t0)})

    def requested(self, now: int) -> int:
        """When a pass is seen to have happened, after it was asked for."""
        return next((at for at in self._passes if now <= at <= now + self._interval), now + 1)

    def pass_from(self, time: int) -> int:
        """When a pass is seen to have happened; at the latest the interval later."""
        return next((at for at in self._passes if time <= at <= time + self._interval), time + self._interval)

    def match(self, job: JobId, opens: int, run: int) -> int | None:  # noqa: ARG002 - no run is like another
        """When the job is seen to have been given a machine."""
        return next((at for at in self._matches.get(job.proc, ()) if at >= opens), None)

    def local(self, job: JobId, opens: int, now: int) -> int | None:
        """When the schedd is seen to have started the job."""
        return self.match(job, opens, now)


def _replay_timeline(case: Case) -> list[Difference]:
    """Compare, for each proc, the values of five attributes one after the other, each with its time."""
    record = case.record(
        ["universe", "schedd_interval", "t0", "cluster", "submit", "commands", "procs", "user_log", "final"], ["pool"]
    )
    t0 = integer(record["t0"], "t0")
    procs = {int(proc): _observations(seen, f"procs.{proc}") for proc, seen in mapping(record, "procs").items()}
    commands = [_command(line, number) for number, line in enumerate(items(record, "commands"))]
    name = str(record.get("name", ""))
    if name[:1] in {"s", "h"} and not any(c.words[0] == "condor_reconfig" for c in commands):
        commands.append(_Command(_RECONFIG, ["condor_reconfig"], -1, worked=True))
    life = _Life(record, t0, procs)
    found = life.live(sorted(commands, key=lambda command: command.t))
    for proc, seen in procs.items():
        for attribute in _COMPARED:
            is_left_out = attribute == "ExitCode" and "pool" in record
            expected = list(_changes(seen, attribute, _MISSED_EXIT if is_left_out else None))
            said = life.seen.get(proc, {}).get(attribute, [])
            if attribute in _DATES:
                said = _as_near(said, expected)
            found += _compare(f"procs.{proc}.{attribute}", expected, said, life.lag + _LAG.get(attribute, 0))
    finals = [mapping({"final": final}, "final") for final in items(record, "final")]
    found += compare("final", sorted(procs), sorted(int(text(final, "ProcId")) for final in finals))
    for number, final in enumerate(finals):
        found += life.compare_final(final, f"final[{number}]")
    return [*found, *life.compare_events()]


class _Life:
    """Lives through the recorded commands, and notes what would be seen."""

    def __init__(
        self, record: Mapping[str, object], t0: int, procs: Mapping[int, Sequence[Mapping[str, object]]]
    ) -> None:
        self._submit = text(record, "submit")
        pool = mapping(record, "pool") if "pool" in record else {}
        self.lag = integer(pool.get("periodic_interval", 0), "pool.periodic_interval")
        self._missed_delay = integer(pool.get("missed_delay", _MISSED_DELAY), "pool.missed_delay")
        self._interval = integer(record["schedd_interval"], "schedd_interval")
        self._log = text(record, "user_log")
        self._cluster = integer(record["cluster"], "cluster")
        self._events: list[JobEvent] = []
        self._t0 = t0
        self._procs = procs
        self._end = max((float(str(seen[-1]["t"])) for seen in procs.values() if seen), default=0.0)
        self.seen: dict[int, dict[str, list[_Change]]] = {}
        self._ads_seen: dict[int, ClassAd] = {}

    def live(self, commands: Sequence[_Command]) -> list[Difference]:
        """Do what the users did, and return where it did not work as it did."""
        settings = PoolSettings(
            schedd_interval=self._interval,
            transfer=_TRANSFER,
            slots=1000,
            missed_delay=self._missed_delay,
            periodic_interval=1 if self.lag else _PERIODIC,
            flow=_FLOW,
        )
        turns = _Recorded(self._interval, self._procs, self._t0)
        start = min(command.t for command in commands)
        programs = _Shell(settings)
        pool = Pool(settings, self._t0 + start, turns=turns, programs=programs)
        programs.clock = lambda: pool.now
        pool.watchers.append(lambda seen: self._events.extend(events(seen)))
        jobs: list[JobId] = []
        found: list[Difference] = []
        for command in commands:
            self._advance(pool, self._t0 + command.t)
            if command.words[0] == "condor_submit":
                jobs += pool.submit(self._ads(self._t0 + command.t))
            elif command.words[0] == "condor_reconfig":
                pool.reconfig()
            elif self._do(pool, jobs, command.words) != command.worked:
                said = "worked" if command.worked else "failed"
                found.append(Difference(f"commands[{command.number}]", f"recorded that it {said}, crondor differs"))
            self._look(pool)
        self._advance(pool, self._t0 + math.ceil(self._end))
        return found

    def compare_final(self, final: Mapping[str, object], field: str) -> list[Difference]:
        """Compare the texts of a job's last ad, where the recording has them."""
        check_fields(final, ("ClusterId", "ProcId"), (*_FINAL, *_FINAL_DATES))
        final = {**dict.fromkeys((*_FINAL, *_FINAL_DATES), "undefined"), **final}
        proc = int(text(final, "ProcId"))
        ad = self._ads_seen[proc]
        said = {
            name: ad[name].unparse(UnparseForm.OLD) if name in ad else "undefined" for name in (*_FINAL, *_FINAL_DATES)
        }
        said |= {"ProcId": str(proc), "ClusterId": str(self._cluster)}
        for name in _FINAL_DATES:
            theirs, ours = str(final[name]), said[name]
            if theirs.isdigit() and ours.isdigit() and abs(int(theirs) - int(ours)) <= _TOLERANCE + self.lag:
                said[name] = theirs
        return compare(field, final, said)

    def compare_events(self) -> Iterator[Difference]:
        """Compare the events in the user's log up to the last look, with their times, but for those of _UNLIKE."""
        last = self._t0 + math.ceil(self._end)
        log = [each for each in read_events(self._log) if each.cluster == self._cluster and each.time <= last]
        for proc in self._procs:
            recorded = list(_without_missed([e for e in log if e.proc == proc and e.number not in _UNLIKE]))
            said = [each for each in self._events if each.proc == proc and each.number not in _UNLIKE]
            field = f"user_log.{proc}"
            yield from compare(field, [int(each.number) for each in recorded], [int(each.number) for each in said])
            for theirs, ours in zip(recorded, said, strict=False):
                if abs(theirs.time - ours.time) > _TOLERANCE + self.lag:
                    yield Difference(field, f"recorded {theirs.number} at {theirs.time}, crondor says at {ours.time}")

    def _ads(self, now: int) -> list[ClassAd]:
        host = SubmitHost(schedd_interval=self._interval)
        file = read_submit(Source(self._submit, "job.sub"), now=now, host=host)
        return [ad for jobs, ad in job_ads(file, in_order=True) for _ in range(jobs.count)]

    def _do(self, pool: Pool, jobs: Sequence[JobId], words: Sequence[str]) -> bool:
        """Do what a command does to each of the jobs, and say whether it did anything."""
        tool, arguments = words[0], list(words[1:])
        by = f"via {tool}"
        while arguments and arguments[0].startswith("-"):
            option = arguments.pop(0)
            if option in {"-reason", "-subcode"} and arguments:
                by = arguments.pop(0) if option == "-reason" else by
        if not arguments:
            raise Malformed("commands", f"{tool} says no job")
        chosen = [job for job in jobs if arguments[0] in {"<cluster>", f"<cluster>.{job.proc}"}]
        by += " (by user alice)"
        done = [self._act(pool, job, tool, arguments, by) for job in chosen]  # all of them, before one is asked for
        return any(done)

    def _act(self, pool: Pool, job: JobId, tool: str, arguments: Sequence[str], by: str) -> bool:
        if tool == "condor_qedit":
            value = Expression.parse(Source(" ".join(arguments[2:]), "<qedit>"), old=True)
            return pool.edit(job, {arguments[1]: value})
        actions: dict[str, Callable[[], bool]] = {
            "condor_hold": lambda: pool.hold(job, Hold(by)),
            "condor_release": lambda: pool.release(job, by),
            "condor_rm": lambda: pool.remove(job, by),
            "condor_suspend": lambda: not pool.jobs[job].is_local and pool.suspend(job),
            "condor_continue": lambda: not pool.jobs[job].is_local and pool.resume(job),
        }
        if job not in pool.jobs:
            return False
        return actions.get(tool, lambda: pool.vacate(job))()

    def _advance(self, pool: Pool, until: int) -> None:
        while (time := pool.next_time) is not None and time <= until:
            pool.advance(time)
            self._look(pool)
        pool.advance(until)

    def _look(self, pool: Pool) -> None:
        """Note what a look at the queue would show at the end of this second."""
        t = pool.now - self._t0
        for proc in self._procs:
            job = next((job for key, job in pool.jobs.items() if key.proc == proc), None)
            if job is not None:
                self._ads_seen[proc] = job.ad  # the world's own, which has its last values when it leaves
            if job is None and proc not in self.seen:
                continue
            for attribute in _COMPARED:
                value: object = job is None or None
                if attribute != "gone":
                    value = None if job is None or attribute not in job.ad else _as_queried(job.ad, attribute)
                changes = self.seen.setdefault(proc, {}).setdefault(attribute, [])
                while changes and changes[-1].t == t:
                    changes.pop()
                if not changes or changes[-1].value != value:
                    changes.append(_Change(t, value))


def _as_queried(ad: ClassAd, attribute: str) -> object:
    """Return an attribute as condor_q -json has it: the value of a literal, the text of any other expression."""
    expression = ad[attribute]
    if isinstance(expression.tree, Literal):
        if expression.tree.value is Exceptional.UNDEFINED:
            return None  # condor_q -json leaves it out
        return ad.python(attribute)
    return f"/Expr({expression.unparse(UnparseForm.OLD, faithful=True)})/"


def _command(line: object, number: int) -> _Command:
    fields = mapping({f"commands[{number}]": line}, f"commands[{number}]")
    words = shlex.split(text(fields, "cmd").replace('"', '\\"'))
    known = words[0] in {"condor_qedit"} | _ALWAYS_WORK | _ACTIONS | _VACATING
    if not known:
        raise Malformed(f"commands[{number}].cmd", f"{words[0]} is not known here")
    rc = integer(fields["rc"], f"commands[{number}].rc")
    if rc not in ((0,) if words[0] in _ALWAYS_WORK else (0, 1)):
        raise Malformed(f"commands[{number}].rc", f"{rc} is no status of {words[0]} here")
    return _Command(math.floor(float(str(fields["t"]))), words, number, worked=rc == 0)


def _observations(seen: object, field: str) -> list[dict[str, object]]:
    return [mapping({f"{field}[{n}]": look}, f"{field}[{n}]") for n, look in enumerate(items({field: seen}, field))]


def _matches(seen: Sequence[Mapping[str, object]]) -> Iterator[int]:
    """Yield when the job was given a machine: NumShadowStarts rises."""
    before: object = None
    for look in seen:
        if "NumShadowStarts" in look and look["NumShadowStarts"] != before:
            before = look["NumShadowStarts"]
            yield integer(look["EnteredCurrentStatus"], "EnteredCurrentStatus")


def _passes(seen: Sequence[Mapping[str, object]], t0: int) -> Iterator[int]:
    """Yield when the schedd is seen to have passed over its queue: a DeferralTime, or a hold for the schedule."""
    before: tuple[object, ...] = (None, None)
    matched: object = None
    for look in seen:
        now = look.get("DeferralTime"), look.get("HoldReasonCode") == 25
        if now != before:
            at = t0 + math.floor(float(str(look["t"])))
            is_match = look.get("JobStatus") == JobStatus.RUNNING and look["NumShadowStarts"] != matched
            yield min(at, integer(look["EnteredCurrentStatus"], "EnteredCurrentStatus")) if is_match else at
        before, matched = now, look.get("NumShadowStarts")


def _changes(seen: Sequence[Mapping[str, object]], attribute: str, none: object = None) -> Iterator[_Change]:
    """Yield the values of an attribute; ``none`` counts as if it had not been there."""
    before: object = _Change
    for look in seen:
        value = look.get(attribute)
        value = None if value == none else value
        if value != before:
            yield _Change(float(str(look["t"])), value)
            before = value


def _without_missed(log: Sequence[JobEvent]) -> Iterator[JobEvent]:
    """Yield events, but for the start of a run that was missed, which crondor's log does not have."""
    for event, after in zip_longest(log, log[1:]):
        is_missed = after is not None and after.attributes.get("HoldReasonCode") == MISSED_DEFERRED_EXECUTION_TIME
        if event.number != EventType.EXECUTE or not is_missed:
            yield event


def _as_near(said: Sequence[_Change], expected: Sequence[_Change]) -> list[_Change]:
    """Return values that are times as the recorded ones, where they are as near as the times of what is seen."""
    dates = [each.value for each in expected if isinstance(each.value, int)]
    return [
        _Change(t, next((date for date in dates if isinstance(v, int) and abs(date - v) <= _TOLERANCE), v))
        for t, v in said
    ]


def _compare(field: str, expected: Sequence[_Change], said: Sequence[_Change], lag: float = 0) -> list[Difference]:
    """Compare two courses of an attribute; what lasts no longer than a poll may have been seen by one of them only.

    ``lag`` is how much later than it happens it may be seen in the queue (seconds).
    """
    while expected and len(said) > 1 and said[1].t <= expected[0].t and said[0].value != expected[0].value:
        said = said[1:]  # nobody had looked yet
    a, b = _Course(expected, _POLL), _Course(said, _POLL + lag)
    first = True
    while a.left or b.left:
        is_equal = a.left and b.left and a.value == b.value
        if is_equal and (first or -_TOLERANCE <= a.t - b.t <= _TOLERANCE + lag):
            first = False
            a.step()
            b.step()
        elif b.left and b.is_short:
            b.pass_over()
        elif a.left and a.is_short:
            a.pass_over()
        elif is_equal:
            return [Difference(field, f"recorded {shown(a.value)} at {a.t:g} s, crondor says at {b.t:g} s")]
        else:
            return [Difference(field, f"recorded {a.shown}, crondor says {b.shown}")]
    return []


class _Course:
    """The values of an attribute, one after the other; ``short`` is what may have been overlooked (seconds)."""

    def __init__(self, changes: Sequence[_Change], short: float) -> None:
        self._changes = changes
        self._short = short
        self._at = 0
        self._last: object = _Course

    @property
    def left(self) -> bool:
        """Say whether there is a value; one that only follows what was skipped is none of its own."""
        while self._at < len(self._changes) and self._changes[self._at].value == self._last:
            self._at += 1
        return self._at < len(self._changes)

    @property
    def t(self) -> float:
        """When the value begins."""
        return self._changes[self._at].t

    @property
    def value(self) -> object:
        """The value."""
        return self._changes[self._at].value

    @property
    def is_short(self) -> bool:
        """Say whether the value lasts no longer than a poll; the last one lasts for ever."""
        return self._at + 1 < len(self._changes) and self._changes[self._at + 1].t - self.t <= self._short + 0.1

    @property
    def shown(self) -> str:
        """The value with its time."""
        return f"{shown(self.value)} at {self.t:g} s" if self.left else "nothing more"

    def step(self) -> None:
        """Go on; the value is kept in mind."""
        self._last = self.value
        self._at += 1

    def pass_over(self) -> None:
        """Go on as if the value had not been there."""
        self._at += 1


KINDS: Mapping[str, Replay] = {"daemon-timeline": _replay_timeline}
