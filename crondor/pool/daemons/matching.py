"""How jobs come to their machines: gates, $$() in matches, turns, the schedd's passes.

HTCondor: Scheduler::FindRunnableJobForClaim, Scheduler::IsLocalJobEligibleToRun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, UnparseForm, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.job.attributes import JobStatus
from crondor.job.attributes import expression as job_expression
from crondor.job_queue import JobId
from crondor.pool.daemons.core import Core
from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.daemons.negotiator import Claim, Negotiator
from crondor.pool.daemons.pool_job import MATCH, PASS, JobRun, PoolJob, TimetableEntry
from crondor.pool.settings import Lengths, PoolSettings, chance, request
from crondor.schedd.cron_tabs import CronEdit, hold_of
from crondor.schedd.protocol import Hold

_MATCH: Final = "MATCH_"
_MATCH_EXP: Final = "MATCH_EXP_"
_BEGIN: Final = re.compile(r"\$\$\((?:([A-Za-z0-9_][A-Za-z0-9_.]*)(:[^)]*)?\)|\[)").search
_END: Final = re.compile(r"\]\s*\)").search
_ESCAPED: Final = re.compile(r'\\(["\\])')
_MOST: Final = 10_000  # pieces of an attribute, each of which makes it longer
_LONGEST: Final = 1 << 20  # characters


# The rules are those of HTCondor 25.14 (``dollarDollarExpand``): ``$$(Attribute)``, ``$$(Attribute:fallback)``,
# ``$$([expression])`` and ``$$(DOLLARDOLLAR)``; expanded texts are kept in the queue as MATCH_EXP_<job attribute>, and
# each attribute of the machine that was used as MATCH_<machine attribute>.
@dataclass
class Expansion:
    """A copy of a job's ad with ``$$`` expanded, in the attributes that are named, and what the queue keeps of it.

    ``failed`` is the piece that cannot be expanded.
    """

    ad: ClassAd
    expanded: list[str] = field(default_factory=list)
    records: dict[str, object] = field(default_factory=dict)
    failed: str | None = None


class _Failed(Exception):
    """A piece that cannot be expanded."""


def expand(ad: ClassAd, machine: ClassAd | None, context: Context) -> Expansion:
    """Expand ``$$`` in an ad with a machine's ad; without one (local universe) with what the queue keeps.

    The ad is not changed. If the result is not an expression, the attribute keeps its old text, as in HTCondor.
    """
    made = Expansion(ad.copy())
    for name in list(ad):
        if lower(name).startswith("match_") or "$$(" not in ad.text(name):
            continue
        code, kept = job_expression(ad, name), f"{_MATCH_EXP}{name}"
        before = job_expression(ad, kept) if machine is None else None
        if before is not None:
            made.ad[name] = before
            made.expanded.append(name)
            continue
        if code is None:
            continue
        try:
            text = _expanded(code.unparse(UnparseForm.OLD), ad, machine, context, made.records)
        except _Failed as failed:
            made.failed = str(failed)
            return made
        if text is None:
            continue
        try:
            expression = Expression.parse(Source(text, name), old=True)
        except ClassAdSyntaxError:
            continue
        made.ad[name] = expression
        made.expanded.append(name)
        made.records[kept] = expression
    return made


def _expanded(
    text: str, ad: ClassAd, machine: ClassAd | None, context: Context, records: dict[str, object]
) -> str | None:
    """Return a text with its pieces expanded from left to right, once each; None if it has none."""
    done: list[str] = []
    at = size = 0
    while len(done) < _MOST and size < _LONGEST:
        found = _BEGIN(text, at) if text.find(")", at) >= 0 else None
        if found is None:
            break
        if found[1] is not None:
            value, end = _attribute(found[1], found[2], ad, machine, records), found.end()
        else:
            closing = _END(text, found.end())
            if closing is None:
                break
            body = text[found.end() : closing.start()]
            value, end = _evaluated(body, ad, machine, context), closing.end()
        done += [text[at : found.start()], value]
        size += len(value)
        at = end
    return "".join([*done, text[at:]]) if done else None


def _attribute(
    name: str, fallback: str | None, ad: ClassAd, machine: ClassAd | None, records: dict[str, object]
) -> str:
    """Return the text of a machine's attribute, a string without its quotes."""
    if "." in name:
        raise _Failed(name)
    if lower(name) == "dollardollar":
        return "$$"
    source, key = (machine, name) if machine is not None else (ad, f"{_MATCH}{name}")
    expression = job_expression(source, key)
    if expression is not None:
        if machine is not None:
            records[f"{_MATCH}{name}"] = expression
        text = expression.unparse(UnparseForm.OLD)
    elif fallback is not None:
        text = fallback[1:]
    else:
        raise _Failed(name)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _evaluated(body: str, ad: ClassAd, machine: ClassAd | None, context: Context) -> str:
    """Return the value of an expression about the job (MY) and the machine (TARGET) as a string."""
    plain = _ESCAPED.sub(r"\1", body)
    try:
        expression = Expression.parse(Source(f"string({plain})", "$$"), old=True)
        value = expression.evaluate(ad, machine, context)
    except (ClassAdSyntaxError, EvaluationFailed):
        raise _Failed(f"[{body}]") from None
    if not isinstance(value, str):
        raise _Failed(f"[{body}]")
    return value


_MATCH_STAGE: Final = 1
_PHASE: Final = 3
_KNOWN: Final = 100_000  # jobs


# HTCondor: Scheduler::calculateCronTabSchedules, Matchmaker::negotiationTime.
class Turns(Protocol):
    """The moments that no rule determines; all times are epoch seconds."""

    def requested(self, now: int) -> int:
        """Return when the schedd makes the pass that was requested at ``now``."""

    def pass_from(self, time: int) -> int:
        """Return when the schedd makes its first pass at ``time`` or later, unless one is requested."""

    def match(self, job: JobId, opens: int, run: int) -> int | None:
        """Return when the negotiator considers a job whose gates open; ``run`` tells its runs apart. None for never."""

    def local(self, job: JobId, opens: int, now: int) -> int | None:
        """Return when the schedd considers an idle job that needs no machine; None for never."""


class RegularTurns:
    """Passes every SCHEDD_INTERVAL, shared with negotiation, and a random wait for a match."""

    def __init__(self, settings: PoolSettings, start: int) -> None:
        """Start at a time (epoch seconds); the position in the interval comes from the seed."""
        self._settings = settings
        self._interval = max(1, settings.schedd_interval)
        self._negotiation = max(1, min(settings.schedd_interval, settings.negotiator_interval))
        self._start = start - Lengths(0, self._interval - 1).draw(settings.seed, _PHASE)
        self._last = self._start
        self._begun: dict[JobId, int] = {}

    def requested(self, now: int) -> int:
        """Keep the minimum interval between passes; requests in between share one."""
        if self._last >= now:
            return self._last
        since = self._start + (now - self._start) // self._negotiation * self._negotiation
        self._last = max(now, max(self._last, since) + self._settings.min_interval)
        return self._last

    def pass_from(self, time: int) -> int:
        """Return the next common time of passes and negotiations."""
        return self._grid(time, self._negotiation)

    def match(self, job: JobId, opens: int, run: int) -> int | None:
        """Return the end of a random wait."""
        delay = self._settings.match_delay
        if delay.low == delay.high and delay.is_fixed:
            return opens + delay.low
        begun = self._begun.get(job)
        if begun is None:
            if len(self._begun) >= _KNOWN:
                self._begun.clear()
            begun = self._begun[job] = chance(self._settings.seed, _MATCH_STAGE, *job)
        return opens + delay.drawn(chance(run, after=begun))

    def local(self, job: JobId, opens: int, now: int) -> int | None:  # noqa: ARG002 - all local jobs share a pass
        """Return the schedd's next pass: one is made when a local job becomes idle."""
        return self.requested(now) if opens <= now else self._grid(opens, self._interval)

    def _grid(self, time: int, interval: int) -> int:
        return time + (self._start - time) % interval


FIRST: Final = (0,)
REJECTED: Final = "no match found"


class Shortcuts(Protocol):
    """Passes some runs without their events."""

    def take(self, job: PoolJob, now: int) -> bool:
        """Pass runs of a job that is considered now, or make it wait for a slot; return whether that was done."""


class Matching:
    """The negotiator, and the schedd's own starts of jobs that need no machine."""

    def __init__(
        self, core: Core, turns: Turns, begin: Callable[[PoolJob, JobRun], None], hold: Callable[[PoolJob, Hold], None]
    ) -> None:
        """Take the functions that begin a run and that hold jobs.

        ``pass_if_due`` makes the schedd pass over its queue if that has an effect, and returns whether it did.
        ``shortcuts`` pass the runs of a job that gets a slot; None if each event is simulated.
        """
        settings = core.settings
        self._core = core
        self._turns = turns
        self._begin = begin
        self._hold = hold
        self.pass_if_due: Callable[[int], bool] = lambda _: False
        self.shortcuts: Shortcuts | None = None
        self.negotiator: Negotiator[PoolJob] = Negotiator(settings.machine, settings.slots, settings.machines)

    def look(self, job: PoolJob) -> None:
        """Have an idle job considered when its gates are open."""
        if job.turn is not None:
            self._core.timetable.cancel(job.turn)
            job.turn = None
        job.is_starved = False
        if job.is_idle:
            opens = job.gate.opens(self._core.timetable.now)
            if opens is not None:
                self._turn_at(job, opens)

    def _turn_at(self, job: PoolJob, opens: int) -> None:
        time = self.moment(job, opens, self._core.timetable.now)
        if time is not None:
            self.turn(job, time)

    def moment(self, job: PoolJob, opens: int, now: int) -> int | None:
        """Return when a job whose gates open is considered, as known at ``now`` (epoch seconds); None for never.

        A job that has begun in this second is queued again too late for it: the schedd gives its claim back and waits
        for a negotiation cycle, or for another pass if it needs no machine. (Seen on a pool of 25.14 with intervals of
        5 s: /bin/true ran each 5 s, in the local universe after 1 s or more.)
        """
        if job.began == now:
            now += 1
            opens = max(opens, now)
        if job.is_local:
            return self._turns.local(job.id, opens, now)
        planned = job.gate.time
        return self._turns.match(job.id, opens, now if planned is None else planned)

    def turn(self, job: PoolJob, time: int) -> None:
        """Have a job considered at a time (epoch seconds)."""
        job.turn = self._core.timetable.at(time, partial(self._consider, job), MATCH, job.rank)

    def _consider(self, job: PoolJob, now: int) -> None:
        """Give a job a machine, or reject it."""
        if self.pass_if_due(now) and (not job.is_idle or (job.turn is not None and job.turn.call is not None)):
            return
        job.turn = None
        if self.shortcuts is not None and self.shortcuts.take(job, now):
            return
        core = self._core
        if core.flow is not None and not job.is_local and not core.flow.negotiate(job):
            self._turn_at(job, now + core.settings.negotiator_interval)
            return
        kinds = self._kinds(job, now)
        if not kinds:
            self._reject(job)
            if any(gate.changes_by_itself for gate in job.gates) and job.gate.opens(now) is not None:
                self._turn_at(job, now + core.settings.negotiator_interval)
            self.serve()
        elif job.is_local:
            self.match(job, None)
        else:
            self._claim(job, kinds)

    def _kinds(self, job: PoolJob, now: int) -> Sequence[int]:
        """Return the kinds of machines whose gates accept a job."""
        context = self._core.context
        if len(job.gates) == 1:
            return FIRST if job.gate.lets(now, context) else ()
        return [kind for kind, gate in enumerate(job.gates) if gate.lets(now, context)]

    def _claim(self, job: PoolJob, kinds: Sequence[int]) -> None:
        negotiator, core = self.negotiator, self._core
        wanted = None
        if negotiator.is_partitionable:
            wanted = request(job.ad, negotiator.ads[kinds[0]], core.context(core.now))
        claim = negotiator.take(kinds, wanted)
        if claim is None:
            self._reject(job)
            negotiator.wait(job, kinds, wanted)
            return
        self.match(job, claim)
        if wanted is not None:
            self.serve()  # the rest may be enough for another job

    def give_back(self, claim: Claim) -> None:
        """Take a slot back, and give it to another job."""
        self.negotiator.give_back(claim)
        self.serve()

    def serve(self) -> None:
        """Consider the best job that waits for a slot, if one is free."""
        job = self.negotiator.best()
        if job is not None:
            self._turn_at(job, self._core.now)

    def _reject(self, job: PoolJob) -> None:
        if not job.is_local:
            core = self._core
            core.write(job, {"LastRejMatchTime": core.now, "LastRejMatchReason": REJECTED})
            core.tell(PoolEventKind.REJECTED, job, text=REJECTED)

    def match(self, job: PoolJob, claim: Claim | None) -> None:
        """Begin a run; a job whose ``$$`` cannot be expanded is held instead."""
        core = self._core
        now = core.timetable.now
        found = self._expanded(job, claim) if job.has_dollars else None
        if found is not None and found.failed is not None:
            self._cannot_expand(job, claim, found.failed)
            return
        values = core.entered(job, JobStatus.RUNNING)
        values["JobCurrentStartDate"] = now
        values["JobRunCount"] = job.counter("jobruncount") + 1
        values["NumShadowStarts"] = job.counter("numshadowstarts") + 1
        if "jobstartdate" not in job.codes:
            values["JobStartDate"] = now
        core.count(job, values)
        given = job.ad.copy()
        if found is not None:
            for name in found.expanded:
                given[name] = found.ad[name]
        run = job.run = JobRun(given, now, claim)
        job.began = now
        run.time = job.gate.time if found is None else None
        core.tell(PoolEventKind.MATCHED, job)
        if core.flow is not None:
            core.flow.match(job, run, None if claim is None else self.negotiator.ad(claim))
        self._begin(job, run)

    def _expanded(self, job: PoolJob, claim: Claim | None) -> Expansion:
        """Expand ``$$`` in a job's ad; the queue keeps the result."""
        core = self._core
        machine = None if claim is None else self.negotiator.ad(claim)
        found = expand(job.ad, machine, core.context(core.now))
        if found.records:
            core.write(job, found.records)
        return found

    def _cannot_expand(self, job: PoolJob, claim: Claim | None, piece: str) -> None:
        if claim is not None:
            self.negotiator.give_back(claim)
        self._hold(job, Hold(f"Cannot expand $$ expression ({piece}).", 0, 0))
        self.serve()

    def is_open(self, job: PoolJob) -> bool:
        """Return whether a job may be matched, between its time and the end of its window."""
        deferral = job.gate.deferral()
        now = self._core.now
        if deferral is None or not deferral.time <= now <= deferral.last_match:
            return False
        return job.gate.lets(now, self._core.context)


_WORD: Final = 1024  # seconds


# HTCondor: Scheduler::calculateCronTabSchedules.
class Passes:
    """The schedd's passes over its queue, and their effects."""

    def __init__(
        self, core: Core, turns: Turns, hold: Callable[[PoolJob, Hold], None], look: Callable[[PoolJob], None]
    ) -> None:
        """Take the functions that hold jobs and that learn of a job with a new time."""
        self._core = core
        self._turns = turns
        self._hold = hold
        self._look = look
        self._next: TimetableEntry | None = None
        self._planned: int | None = None  # the time that the next pass is for
        self._leapt: dict[int, int] = {}  # seconds at which a job is considered without an event, as bits

    def ask(self) -> None:
        """Request a pass, as every change of the queue does."""
        self._at(self._turns.requested(self._core.now))

    def plan(self, earliest: int = 0) -> None:
        """Schedule a pass for when the crontab bookkeeping has something to do."""
        due, now = self._core.schedd.book.next_due, self._core.timetable.now
        is_coming = self._next is not None and self._next.call is not None
        if due is None or (due == self._planned and due >= now and due >= earliest and is_coming):
            return
        self._planned = due
        time = max(due, now, earliest)
        self._at(self._first_look(time, self._turns.pass_from(time)))

    def leap_over(self, time: int) -> None:
        """Record that a job is considered at a future time (epoch seconds) without an event.

        The schedd passes over its queue before that, if due.
        """
        word, bit = divmod(time, _WORD)
        self._leapt[word] = self._leapt.get(word, 0) | 1 << bit
        coming = self._next
        if self._planned is not None and coming is not None and self._planned <= time < coming.time:
            self._at(time)

    def _first_look(self, low: int, high: int) -> int:
        """Return the first time from ``low`` to ``high`` that was leapt over, else ``high``."""
        if not self._leapt:
            return high
        word, bit = divmod(low, _WORD)
        while word * _WORD < high:
            bits = self._leapt.get(word, 0) >> bit
            if bits:
                return min(high, word * _WORD + bit + (bits & -bits).bit_length() - 1)
            word, bit = word + 1, 0
        return high

    def _at(self, time: int) -> None:
        before = self._next
        if before is not None and before.call is not None:
            if before.time <= time:
                return
            self._core.timetable.cancel(before)
        self._next = self._core.timetable.at(time, self.look_through, PASS)

    def look_if_due(self, now: int) -> bool:
        """Pass over the queue if that has an effect, and return whether it did."""
        due = self._core.schedd.book.next_due
        if due is None or due > now:
            return False
        self.look_through(now)
        return True

    def look_through(self, now: int) -> None:
        """Pass over the queue."""
        self._apply(self._core.schedd.book.recalculate(now))
        self.plan(now + 1)  # a negative window makes a new time past at once: the next pass handles it

    def run_ended(self, job: PoolJob) -> None:
        """Compute the next time of a job that has just become idle."""
        edit = self._core.schedd.book.recalculate_one(job.id, self._core.now)
        if edit is not None:
            self._apply((edit,))

    def _apply(self, edits: Iterable[CronEdit]) -> None:
        core = self._core
        for edit in edits:
            job = core.jobs[edit.job]
            if edit.time is None:
                self._hold(job, hold_of(edit))
                continue
            core.plan(job, edit.time)
            for gate in job.gates:
                gate.plan(edit.time)
            core.tell(PoolEventKind.PLANNED, job, edit.time, edit.why.value)
            self._look(job)
