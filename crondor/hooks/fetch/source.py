"""crondor as a source of work: which run of which job a slot gets, each at most once.

A run is offered from its prep time before it until the end of its window. That it is offered is on disk before the
slot is told; a run whose offer is lost in a crash is not offered again. Only a slot that refuses it gives it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from itertools import islice
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.hooks.fetch.driver import check_cod, has_ended, refuses
from crondor.hooks.fetch.journal import (
    SAID,
    FetchRunState,
    Journal,
    JournalFault,
    NotPermitted,
    Reports,
    RunRecord,
    RunReport,
    Writer,
)
from crondor.hooks.kinds import HookType
from crondor.job.attributes import boolean, expression, string
from crondor.job.policy import QueuedJob
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.zones import Policy

KEY: Final = "CrondorRun"
"""The attribute of a fetched job that identifies the run."""

_MOST_RUNS: Final = 1000  # of one job that are due at one time
_LONGEST_REASON: Final = 300  # characters
_CRON: Final = ("CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek")
_STATES: Final = {
    HookType.EVICT_CLAIM: FetchRunState.EVICTED,
    HookType.PREPARE_JOB: FetchRunState.PREPARED,
    HookType.PREPARE_JOB_BEFORE_TRANSFER: FetchRunState.PREPARED,
    HookType.UPDATE_JOB_INFO: FetchRunState.RUNNING,
    HookType.JOB_EXIT: FetchRunState.EXITED,
}
_UNDER_WAY: Final = frozenset({FetchRunState.ACCEPTED, FetchRunState.PREPARED, FetchRunState.RUNNING})
_STARTERS: Final = frozenset(_STATES) - {HookType.EVICT_CLAIM}  # they may run as the job's owner


class FetchableJob(NamedTuple):
    """A job to run by its schedule: a constant name, and its ad."""

    name: str
    ad: ClassAd


class Due(NamedTuple):
    """A run that may be started now."""

    key: str
    spec: FetchableJob
    deferral: Deferral


class Offer(NamedTuple):
    """The answer of FETCH_WORK: a job, or None; ``findings`` are about jobs that could not be offered."""

    job: ClassAd | None
    findings: tuple[Diagnostic, ...]


class Heard(NamedTuple):
    """The result of a hook's report: the present run; None if the journal is another's, and a report was left."""

    run: RunRecord | None
    findings: tuple[Diagnostic, ...] = ()


class WorkSource:
    """Jobs by their schedules, and a journal of their runs. Schedules are read like in the manual."""

    def __init__(
        self, specs: Iterable[FetchableJob], journal: Journal, zone: str | tzinfo, policy: Policy | None = None
    ) -> None:
        """Take the jobs; nothing is read or written yet."""
        self.specs = tuple(specs)
        self.journal = journal
        self._reports = Reports(journal.path.parent)
        self._zone = zone
        self._policy = policy

    def due(self, now: int) -> tuple[list[Due], list[Diagnostic]]:
        """Return the runs that may be started at ``now`` (epoch seconds), and the faults of jobs without one."""
        found: list[Due] = []
        findings: list[Diagnostic] = []
        for spec in self.specs:
            found += self._due(spec, now, findings)
        return sorted(found, key=lambda due: (due.deferral.time, due.key)), findings

    def offer(self, slot: ClassAd | None, now: int) -> Offer:
        """Choose a run for a slot, and record the offer; None for ``slot``: any run that is due.

        It is the earliest due run that fits the slot, refused ones last. A slot that would not give up its job is
        offered none. Raises JournalFault.
        """
        dues, findings = self.due(now)
        if not dues and not self.journal.is_there():
            return Offer(None, tuple(findings))
        context = Context(now=now)
        with self._writing(now, findings, is_first=True) as writer:
            _lose(writer, slot, now)
            free = _free(dues, writer.runs, slot, context)
            due, job = _first_fit(free, slot, context, findings)
            if due is not None and job is not None:
                owner = _text(job, "Owner")
                findings += self._reports.make(owner)
                named = {"slot": _text(slot, "Name"), "owner": owner}
                writer.write(due.key, FetchRunState.OFFERED, now, due.deferral.last_start, **named)
            elif free and slot is not None:
                findings.append(_no_match(free, slot, context))
        return Offer(job, tuple(findings))

    def hear(
        self,
        hook: HookType,
        job: ClassAd,
        now: int,
        *,
        accepted: bool = True,
        reason: str = "",
        slot: ClassAd | None = None,
    ) -> Heard:
        """Record a hook's report about a run, or leave a report file if the journal is another user's.

        A late or repeated hook does not change a later state; ``slot`` is the replying slot, since a slot cannot free a
        run that has since been offered to another. Raises JournalFault, ReportFault for a report that cannot be left,
        and CrondorError for a job that is not from this source.
        """
        key = _text(job, KEY)
        state = _state(hook, job, accepted=accepted, reason=reason)
        said = {name: job.text(name) for name in SAID if name in job} | ({"reason": reason} if reason else {})
        findings: list[Diagnostic] = []
        try:
            with self._writing(now, findings) as writer:
                known = writer.runs.get(key)
                if known is None:
                    raise CrondorError(_unknown(key))
                who = _text(slot, "Name")
                is_anothers = state is FetchRunState.REJECTED and who and known.slot and who != known.slot
                if state.comes_after(known.state) and not is_anothers:
                    writer.write(key, state, now, known.last_start, **said)
                return Heard(writer.runs[key], tuple(findings))
        except NotPermitted:
            if hook not in _STARTERS:
                raise
        if not key:
            raise CrondorError(_unknown(key))
        self._reports.leave(RunReport(key, state, now, said))
        return Heard(None)

    def catch_up(self, now: int) -> list[Diagnostic]:
        """Apply the reports, if there are any; return their faults."""
        findings: list[Diagnostic] = []
        if self._reports.are_there():
            try:
                with self._writing(now, findings):
                    pass
            except JournalFault as fault:
                findings += fault.diagnostics
        return findings

    @contextmanager
    def _writing(self, now: int, findings: list[Diagnostic], *, is_first: bool = False) -> Iterator[Writer]:
        """Yield the writer of the journal, after applying the reports."""
        with self.journal.writing(is_first=is_first) as writer:
            findings += self._reports.take_in(writer, now)
            yield writer
            writer.compact(now)

    def _due(self, spec: FetchableJob, now: int, findings: list[Diagnostic]) -> list[Due]:
        try:
            return list(self._runs(spec, now))
        except CrondorError as error:
            findings += [Diagnostic(d.kind, f"{spec.name}: {d.message}", help=d.help) for d in error.diagnostics]
            return []

    def _runs(self, spec: FetchableJob, now: int) -> Iterator[Due]:
        job = QueuedJob(spec.ad)
        schedule = job.schedule(now, dialect=Dialect.MANUAL, zone=self._zone, policy=self._policy)
        following = schedule.next(now)
        if schedule.recurrence is None:
            if not isinstance(schedule.time, int) and any(each.kind == "expression-clock" for each in schedule.notes):
                message = "its DeferralTime differs at each evaluation: its runs could not be told apart"
                hint = "write epoch seconds, or cron_minute and the others"
                raise CrondorError(Diagnostic("fetch-clock", message, help=hint))
            found = [following]
        else:
            found = []
            times = JobTimes(schedule, job.requirements)
            for time in islice(times.runs(now - following.window - 1), _MOST_RUNS):
                run = schedule.deferral(time, now)
                if now < run.nominal_match:
                    break
                found.append(run)
        for run in found:
            if run.nominal_match <= now <= run.last_start:
                yield Due(f"{spec.name}@{int(run.time)}", spec, run)


def _free(dues: Iterable[Due], runs: Mapping[str, RunRecord], slot: ClassAd | None, context: Context) -> list[Due]:
    """Return the free runs that the slot does not refuse, the least rejected first."""
    free = [due for due in dues if (run := runs.get(due.key)) is None or run.state is FetchRunState.REJECTED]
    free = [due for due in free if slot is None or not refuses(slot, due.spec.ad, context)]
    return sorted(free, key=lambda due: runs[due.key].rejections if due.key in runs else 0)


def _first_fit(
    free: Iterable[Due], slot: ClassAd | None, context: Context, findings: list[Diagnostic]
) -> tuple[Due, ClassAd] | tuple[None, None]:
    """Return the first run whose job can be fetched and accepts the slot; the faults of others are findings."""
    for due in free:
        job = _job(due)
        problems = [f for f in check_cod(job) if f.severity is Severity.ERROR]
        if problems:
            findings += [Diagnostic(d.kind, f"{due.spec.name}: {d.message}", help=d.help) for d in problems]
        elif slot is None or "Requirements" not in job or boolean(job, "Requirements", context, slot):
            return due, job
    return None, None


def _lose(writer: Writer, slot: ClassAd | None, now: int) -> None:
    """Record the unreported end of a slot's runs, whose hooks were killed or never ran; a later report still counts."""
    name = _text(slot, "Name")
    if slot is None or not name or not has_ended(slot):
        return
    for run in [run for run in writer.runs.values() if run.slot == name and run.state in _UNDER_WAY]:
        said = {"reason": f"{name} asks for work again; the run was {run.state.value}"}
        writer.write(run.key, FetchRunState.LOST, now, run.last_start, **said)


def _state(hook: HookType, job: ClassAd, *, accepted: bool, reason: str) -> FetchRunState:
    """Return the state of a run when a hook is called."""
    if hook is HookType.JOB_EXIT and reason == "evict":
        return FetchRunState.EVICTED
    if hook is HookType.UPDATE_JOB_INFO and "JobState" not in job:  # the starter's call before PREPARE_JOB
        return FetchRunState.PREPARED
    return _STATES.get(hook, FetchRunState.ACCEPTED if accepted else FetchRunState.REJECTED)


def _unknown(key: str) -> Diagnostic:
    message = f"nothing is known of the run {printable(key)}" if key else f"the job has no {KEY}"
    return Diagnostic("fetch-unknown", message, help="it was not offered from this journal")


def _job(due: Due) -> ClassAd:
    """Return the ad of a run: the job's, with one time instead of a schedule."""
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
    return "" if ad is None else string(ad, name) or ""


def _no_match(free: Sequence[Due], slot: ClassAd, context: Context) -> Diagnostic:
    runs = "1 run is" if len(free) == 1 else f"{len(free)} runs are"
    job = _job(free[0])
    asked = expression(job, "Requirements")
    reason = None if asked is None else asked.explain(job, slot, context).reason()
    message = f"{runs} due, and the slot does not meet the requirements"
    said = f"{free[0].spec.name}: {printable(reason[:_LONGEST_REASON])}" if reason else None
    return Diagnostic("fetch-no-match", message, Severity.NOTE, help=said)
