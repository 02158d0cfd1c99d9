"""crondor as a source of work: which run of which job a slot gets, each at most once.

A run is offered from its prep time before it until the end of its window. That it is offered is on disk before the
slot hears of it; a run whose offer is lost in a crash is not offered again. Only a slot that refuses it gives it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.hooks.fetch.cod import check_cod
from crondor.hooks.fetch.journal import Journal, RunRecord, RunState
from crondor.hooks.hook_types import HookType
from crondor.queued import QueuedJob
from crondor.spec import Dialect
from crondor.zones import Policy

KEY: Final = "CrondorRun"
"""The attribute of a fetched job that says which run it is."""

_MOST_RUNS: Final = 1000  # of one job that are due at one time
_LONGEST_REASON: Final = 300  # characters
_CRON: Final = ("CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek")
_STATES: Final = {
    HookType.EVICT_CLAIM: RunState.EVICTED,
    HookType.PREPARE_JOB: RunState.PREPARED,
    HookType.PREPARE_JOB_BEFORE_TRANSFER: RunState.PREPARED,
    HookType.UPDATE_JOB_INFO: RunState.RUNNING,
    HookType.JOB_EXIT: RunState.EXITED,
}
_ENDED: Final = frozenset({RunState.EXITED, RunState.EVICTED})
_SAID: Final = ("JobState", "ExitCode", "ExitSignal", "ExitBySignal", "ExitReason", "JobDuration", "RemoteUserCpu")


class Spec(NamedTuple):
    """A job that is to run by its schedule: a name that stays the same, and its ad."""

    name: str
    ad: ClassAd


class Due(NamedTuple):
    """A run that may be started now."""

    key: str
    spec: Spec
    deferral: Deferral


class Offer(NamedTuple):
    """What FETCH_WORK prints: a job, or None; ``findings`` are about jobs that could not be offered."""

    job: ClassAd | None
    findings: tuple[Diagnostic, ...]


class WorkSource:
    """Jobs by their schedules, and a journal of their runs. Schedules are read as the manual says."""

    def __init__(
        self, specs: Iterable[Spec], journal: Journal, zone: str | tzinfo, policy: Policy | None = None
    ) -> None:
        """Take the jobs; nothing is read or written yet."""
        self.specs = tuple(specs)
        self.journal = journal
        self._zone = zone
        self._policy = policy

    def due(self, now: int) -> tuple[list[Due], list[Diagnostic]]:
        """Return the runs that may be started at ``now`` (epoch seconds), and what keeps jobs from having any."""
        found: list[Due] = []
        findings: list[Diagnostic] = []
        for spec in self.specs:
            found += self._due(spec, now, findings)
        return sorted(found, key=lambda due: (due.deferral.time, due.key)), findings

    def offer(self, slot: ClassAd | None, now: int) -> Offer:
        """Choose a run for a slot, and write down that it has it; None for ``slot``: whatever is due.

        Of the runs that are due it is the earliest that fits the slot, those that were refused before coming last.
        Raises JournalFault.
        """
        dues, findings = self.due(now)
        if not dues:
            return Offer(None, tuple(findings))
        context = Context(now=now)
        with self.journal.writing() as writer:
            free = [due for due in dues if _is_free(writer.runs.get(due.key))]
            free.sort(key=lambda due: writer.runs[due.key].rejections if due.key in writer.runs else 0)
            for due in free:
                job = _job(due)
                problems = [f for f in check_cod(job) if f.severity is Severity.ERROR]
                if problems:
                    findings += [Diagnostic(d.code, f"{due.spec.name}: {d.message}", help=d.help) for d in problems]
                elif slot is None or "Requirements" not in job or job["Requirements"].holds(job, slot, context):
                    name = _text(slot, "Name")
                    writer.write(due.key, RunState.OFFERED, now, due.deferral.last_start, slot=name)
                    writer.compact(now)
                    return Offer(job, tuple(findings))
            if free and slot is not None:
                findings.append(_no_match(free, slot, context))
        return Offer(None, tuple(findings))

    def hear(self, hook: HookType, job: ClassAd, now: int, *, accepted: bool = True, reason: str = "") -> RunRecord:
        """Write down what a hook tells of a run, and return the run.

        A hook that comes late, or twice, changes nothing that is further along. Raises JournalFault, and CrondorError
        for a job that is none of this source's.
        """
        key = _text(job, KEY)
        with self.journal.writing() as writer:
            known = writer.runs.get(key)
            if known is None:
                message = f"the job has no {KEY}" if not key else f"nothing is known of the run {key}"
                raise CrondorError(Diagnostic("fetch-unknown", message, help="it was not offered from this journal"))
            state = _STATES.get(hook, RunState.ACCEPTED if accepted else RunState.REJECTED)
            if hook is HookType.JOB_EXIT and reason == "evict":
                state = RunState.EVICTED
            if hook is HookType.UPDATE_JOB_INFO and "JobState" not in job:  # as the starter tells before PREPARE_JOB
                state = RunState.PREPARED
            if _comes_after(state, known.state):
                said = {name: job.text(name) for name in _SAID if name in job}
                writer.write(key, state, now, known.last_start, **said, **({"reason": reason} if reason else {}))
            return writer.runs[key]

    def _due(self, spec: Spec, now: int, findings: list[Diagnostic]) -> list[Due]:
        try:
            return list(self._runs(spec, now))
        except CrondorError as error:
            findings += [Diagnostic(d.code, f"{spec.name}: {d.message}", help=d.help) for d in error.diagnostics]
            return []

    def _runs(self, spec: Spec, now: int) -> Iterator[Due]:
        schedule = QueuedJob(spec.ad).schedule(now, dialect=Dialect.MANUAL, zone=self._zone, policy=self._policy)
        following = schedule.next(now)
        if schedule.recurrence is None:
            if not isinstance(schedule.time, int) and any(each.code == "expression-clock" for each in schedule.notes):
                message = "its DeferralTime is another at each look: nobody could tell one run from the next"
                hint = "write epoch seconds, or cron_minute and the others"
                raise CrondorError(Diagnostic("fetch-clock", message, help=hint))
            found = [following]
        else:
            found = []
            time = now - following.window - 1
            while len(found) < _MOST_RUNS:
                run = schedule.deferral(schedule.recurrence.next(time), now)
                if now < run.nominal_match:
                    break
                found.append(run)
                time = run.time
        for run in found:
            if run.nominal_match <= now <= run.last_start:
                yield Due(f"{spec.name}@{int(run.time)}", spec, run)


def _is_free(run: RunRecord | None) -> bool:
    return run is None or run.may_be_offered


def _comes_after(state: RunState, known: RunState) -> bool:
    order = list(RunState)
    if state in {RunState.ACCEPTED, RunState.REJECTED}:
        return known is RunState.OFFERED
    if known in _ENDED:
        return False
    return state is RunState.RUNNING or order.index(state) > order.index(known)


def _job(due: Due) -> ClassAd:
    """Return the ad of a run: the job's, for one time instead of a schedule."""
    job = due.spec.ad.copy()
    for name in _CRON:
        job.prune(name)
    run = due.deferral
    for name, value in (
        ("DeferralTime", run.time),
        ("DeferralWindow", run.window),
        ("DeferralPrepTime", run.prep_time),
        (KEY, due.key),
    ):
        job[name] = int(value) if isinstance(value, int) else value
    return job


def _text(ad: ClassAd | None, name: str) -> str:
    try:
        value = None if ad is None else ad.value(name)
    except CrondorError:
        return ""
    return value if isinstance(value, str) else ""


def _no_match(free: Sequence[Due], slot: ClassAd, context: Context) -> Diagnostic:
    runs = "1 run is" if len(free) == 1 else f"{len(free)} runs are"
    job = _job(free[0])
    reason = job["Requirements"].explain(job, slot, context).reason() if "Requirements" in job else None
    message = f"{runs} due, and the slot does not meet the requirements"
    said = f"{free[0].spec.name}: {printable(reason[:_LONGEST_REASON])}" if reason else None
    return Diagnostic("fetch-no-match", message, Severity.NOTE, help=said)
