"""The run times of a job: those its schedule names, those its requirements allow, and why a time is excluded.

A crontab job whose requirements exclude its DeferralTime stays idle until the window is over, and the schedd then
computes the next time: an excluded time is not a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Final

from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.recurrence import NeverRuns, OutOfRange, Recurrence
from crondor.schedule import COMMANDS, Evaluate, JobSchedule, speaks_of_time
from crondor.spec import FIELDS, CronSpec, Dialect
from crondor.zones import Policy, zone_of

if TYPE_CHECKING:
    from crondor.classad.scope import Effort
    from crondor.job.expressions import Admission
    from crondor.job.policy import QueuedJob
    from crondor.recurrence import Why

__all__ = ["MOST_EXCLUDED", "REQUIREMENTS", "JobTimes", "admission_of", "requirements_of"]

MOST_EXCLUDED: Final = 10_000
"""Number of consecutive times excluded by requirements after which the search stops if it has no end."""

REQUIREMENTS: Final = ("my.requirements", "requirements")
"""The submit commands that set Requirements, in lower case; the attribute overrides the command."""

_MOST_IN_SPAN: Final = 300_000  # the same if it has an end


@dataclass(frozen=True, slots=True)
class JobTimes:
    """The run times of one job: its schedule, and its Requirements as far as they depend on DeferralTime.

    Conditions on machines, other attributes and the moment of the match count as possible. ``present`` is the
    DeferralTime (epoch seconds) that a schedd has computed already: the first time from then on. All times are epoch
    seconds; in the HTCONDOR dialect they are the ScheddAnswers of a schedd that is asked repeatedly.
    """

    schedule: JobSchedule
    requirements: str = ""
    present: int | None = None

    @classmethod
    def from_submit(
        cls,
        commands: Mapping[str, str],
        *,
        dialect: Dialect = Dialect.MANUAL,
        zone: str | tzinfo = "UTC",
        policy: Policy | None = None,
        evaluate: Evaluate | None = None,
        now: int | None = None,
    ) -> JobTimes:
        """Read the submit commands of one job, including ``requirements``: names in lower case, macros expanded.

        Raises InvalidSchedule or InvalidSpec with all faults.
        """
        schedule = JobSchedule.from_submit(
            {name: text for name, text in commands.items() if name in COMMANDS},
            dialect=dialect,
            zone=zone,
            policy=policy,
            evaluate=evaluate,
            now=now,
        )
        return cls(schedule, requirements_of(commands))

    @classmethod
    def from_queue(
        cls,
        job: QueuedJob,
        now: int,
        *,
        dialect: Dialect = Dialect.MANUAL,
        zone: str | tzinfo = "UTC",
        policy: Policy | None = None,
    ) -> JobTimes:
        """Read a job of a queue in its state at ``now`` (epoch seconds). Raises InvalidSchedule."""
        return cls(job.schedule(now, dialect=dialect, zone=zone, policy=policy), job.requirements, job.present)

    def in_dialect(self, dialect: Dialect) -> JobTimes:
        """Return the times of the same fields read in another dialect: HTCONDOR for those of the real schedd.

        Raises InvalidSpec if a schedd holds the job for its fields.
        """
        spec = self.schedule.spec
        if spec is None or spec.dialect is dialect:
            return self
        given = {field.attribute: text for field, text in zip(FIELDS, spec.given, strict=True) if text is not None}
        read = CronSpec.from_mapping(given, dialect=dialect)
        return replace(self, schedule=replace(self.schedule, spec=read))

    @property
    def is_restricted(self) -> bool:
        """Return whether requirements depend on the time at all."""
        return self._admission is not None

    def named(self, after: int, until: int | None = None, *, now: int | None = None) -> Iterator[int]:
        """Yield the times that the schedule names with ``after`` < time <= ``until``, including excluded ones.

        The expressions of a job with one time are evaluated at ``now``, or else at ``after``. Raises at once what the
        schedule raises: NeverRuns, OutOfRange, UnknownValue, InvalidDeferral.
        """
        if self.schedule.recurrence is None:
            time = self.schedule.next(after if now is None else now).time
            return iter((time,) if after < time and (until is None or time <= until) else ())
        return self._repeated(self.schedule.recurrence, after, until)

    def _repeated(self, recurrence: Recurrence, after: int, until: int | None) -> Iterator[int]:
        times: Iterator[int]
        if self.present is None or self.present <= after:
            times = recurrence.upcoming(after)
        else:
            times = chain((self.present,), recurrence.upcoming(self.present))
        return times if until is None else takewhile(until.__ge__, times)

    def excludes(self, time: int) -> bool:
        """Return whether requirements prevent a match when DeferralTime is ``time``."""
        return bool(self.why_excluded(time))

    def why_excluded(self, time: int) -> str:
        """Return the part of the requirements that excludes a time, empty if none does."""
        admission = self._admission
        return "" if admission is None else _refusing(admission, time)

    def admitted(
        self, times: Iterator[int], most: int = _MOST_IN_SPAN, excluded: Callable[[int], object] | None = None
    ) -> Iterator[int]:
        """Yield the times that are runs, until ``most`` in a row are not; excluded ones go to ``excluded``."""
        if self._admission is None:
            yield from times
            return
        row = 0
        for time in times:
            if not self.excludes(time):
                row = 0
                yield time
                continue
            if excluded is not None:
                excluded(time)
            row += 1
            if row > most:
                return

    def runs(self, after: int, until: int | None = None, *, now: int | None = None) -> Iterator[int]:
        """Yield the times at which the job runs, with ``after`` < time <= ``until``; see ``named``.

        Without an end it stops after MOST_EXCLUDED excluded times in a row.
        """
        return self.admitted(self.named(after, until, now=now), MOST_EXCLUDED if until is None else _MOST_IN_SPAN)

    def next(self, after: int, *, now: int | None = None) -> int:
        """Return the first run later than ``after``. Raises what ``named`` raises, and NeverRuns if there is none."""
        if self.schedule.recurrence is None or self._admission is None or self.present is not None:
            found = next(self.runs(after, now=now), None)
        else:
            found = _first_run(self.schedule.recurrence, self._admission, after)
        if found is None:
            raise NeverRuns(self._never())
        return found

    def previous(self, before: int) -> int:
        """Return the last run earlier than ``before``. Raises NeverRuns, NotASet and OutOfRange."""
        recurrence = self.schedule.recurrence
        if recurrence is None:
            raise NeverRuns(_no_cron())
        for _ in range(MOST_EXCLUDED):
            before = recurrence.previous(before)
            if not self.excludes(before):
                return before
        raise NeverRuns(self._never())

    def backwards(self, before: int) -> Iterator[int]:
        """Yield the runs earlier than ``before``, the latest first. Raises NotASet, and NeverRuns if there is none."""
        found = False
        while True:
            try:
                before = self.previous(before)
            except OutOfRange:
                return
            except NeverRuns:
                if not found:
                    raise
                return
            found = True
            yield before

    def is_run(self, time: int) -> bool:
        """Return whether the job runs at a time (HTCONDOR dialect: according to a schedd asked just before)."""
        return time in self.named(time - 1, time) and not self.excludes(time)

    def why(self, instant: int) -> Why:
        """Return why the job runs at an instant or not: a field, a clock change, requirements.

        ``earlier`` and ``later`` are the runs before and after it, None if none was found. Raises NotASet and
        OutOfRange, and NeverRuns for a job without cron fields.
        """
        recurrence = self.schedule.recurrence
        if recurrence is None:
            raise NeverRuns(_no_cron())
        found = recurrence.why(instant)
        if not self.is_restricted:
            return found
        part = self.why_excluded(instant) if found.fires else ""
        return found._replace(
            fires=found.fires and not part,
            note=f"requirements exclude this time: {part}" if part else found.note,
            earlier=_or_none(self.previous, instant),
            later=_or_none(self.next, instant),
        )

    def deferral(self, time: int, now: int) -> Deferral:
        """Return the moments of the run at a time; see JobSchedule.deferral."""
        return self.schedule.deferral(time, now)

    @property
    def _admission(self) -> Admission | None:
        return _admission(self.requirements, zone_of(self.schedule.zone).info)

    def _never(self) -> Diagnostic:
        message = f"requirements exclude all times that were checked ({MOST_EXCLUDED:,} or more)"
        help_text = (
            "a job matches only when its requirements are true for its DeferralTime: compare them with the times"
        )
        return Diagnostic("times-excluded", message, help=help_text)


def _no_cron() -> Diagnostic:
    return Diagnostic("no-cron", "a job without cron fields has no earlier run")


def _or_none(find: Callable[[int], int], instant: int) -> int | None:
    try:
        return find(instant)
    except CrondorError:
        return None


def requirements_of(commands: Mapping[str, str]) -> str:
    """Return the requirements among the submit commands of a job, empty if there are none."""
    return next((commands[name] for name in REQUIREMENTS if commands.get(name)), "")


def admission_of(requirements: str, zone: tzinfo, effort: Effort | None = None) -> Admission | None:
    """Return a test whether requirements allow a match at a DeferralTime, None if they do not depend on it.

    It is that of ``crondor.job.expressions``, which is only imported if requirements depend on the time.
    """
    if not speaks_of_time(requirements):
        return None
    from crondor.job.expressions import admission  # noqa: PLC0415 - the engine takes 17 ms, and few requirements speak of the time

    return admission(requirements, zone, effort)


_admission = lru_cache(maxsize=512)(admission_of)  # the jobs of a queue have few different requirements


@lru_cache(maxsize=1024)  # a queue is read repeatedly, and its jobs have few different schedules
def _first_run(recurrence: Recurrence, admission: Admission, after: int) -> int | None:
    times = islice(recurrence.upcoming(after), MOST_EXCLUDED)
    return next((time for time in times if not _refusing(admission, time)), None)


def _refusing(admission: Admission, time: int) -> str:
    """Return the part of requirements that excludes a time, empty if none does."""
    try:
        return admission.refusing(int(time)) or ""
    except CrondorError:  # checks report what cannot be evaluated
        return ""
