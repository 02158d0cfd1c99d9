"""A job along a plan: its runs in turn, its ad, and the copy that it has on a route."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.classad.tree import Literal
from crondor.classad.unparse import unparse
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.policy import Act, at_exit, ended, known_at_exit
from crondor.job.queued import QueuedJob
from crondor.router.apply.one_run import one_run
from crondor.router.plan.copy_schedule import CopySchedule, Manner
from crondor.router.plan.jobs import PlannedJob
from crondor.router.plan.runs import LastAsked, PlannedOutcome
from crondor.router.table.route import Route
from crondor.times import JobTimes


class Copy:
    """A copy on a route. ``starts`` and ``ends`` (epoch seconds) are None where that never comes."""

    __slots__ = ("ad", "ends", "is_idle", "manner", "route", "starts", "stays")

    def __init__(self, route: Route, manner: Manner, ad: ClassAd) -> None:
        """Begin: it is idle."""
        self.route = route
        self.manner = manner
        self.ad = ad
        self.is_idle = True
        self.stays = False
        self.starts: int | None = None
        self.ends: int | None = None

    def matched(self, run: Deferral, ready: int) -> int:
        """Return when the copy, ready then, is idle no more (epoch seconds).

        It has JobStatus 2 while its starter waits for the time of the run.
        """
        starts = self.starts or 0
        if self.manner.conduct is CopySchedule.AT_ONCE:
            return starts
        return min(starts, max(ready, starts - (run.time - run.match_opens)))


class JobProgress:
    """A job and the runs that are ahead; ``token`` tells events that still count from those that do not."""

    def __init__(self, number: int, job: PlannedJob, now: int, until: int | None, count: int | None) -> None:
        """Begin with the first run behind ``now``, or the one whose window is open."""
        self.number = number
        self.job = job
        self.ad = job.ad.copy()
        self.token = 0
        self.run: Deferral | None = None
        self.copy: Copy | None = None
        self.asked: LastAsked | None = None
        self.taken: int | None = None
        self.next_ask = 0
        self.starts = _count_of(job.ad)
        self.rest = PlannedOutcome.GONE
        self.number_of_rows = 0
        self._runs = self._deferrals(job, now)
        self._ahead: Deferral | None = None
        self._until = until
        self._left = count
        self.told: set[tuple[object, ...]] = set()
        self._said: set[Diagnostic] = set()
        self._once: ClassAd | None = None

    def pull(self) -> Deferral | None:
        """Return the next run that is planned, and take it for the present one; None where there is none."""
        self.run = None
        if self._left == 0:
            return None
        run = self._ahead if self._ahead is not None else next(self._runs, None)
        self._ahead = None
        if run is None or (self._until is not None and run.time > self._until):
            return None
        if self._left is not None:
            self._left -= 1
        self.run = run
        return run

    def peek(self) -> Deferral | None:
        """Return the run behind the present one, planned or not; None where there is none."""
        if self._ahead is None:
            self._ahead = next(self._runs, None)
        return self._ahead

    def changed(self) -> None:
        """Note that the ad is another one, beside its DeferralTime."""
        self._once = None

    def one_run(self, run: Deferral) -> ClassAd:
        """Return the job for one run; the ads of all runs have the names of their attributes in common."""
        if self._once is None:
            self._once = _with_texts(one_run(self.ad, run))
        made = self._once.copy()
        made.set("DeferralTime", run.time)
        return made

    def new(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the findings that were not said of this job yet."""
        found = tuple(each for each in dict.fromkeys(findings) if each not in self._said)
        self._said.update(found)
        return found

    def _deferrals(self, job: PlannedJob, now: int) -> Iterator[Deferral]:
        schedule = job.schedule
        if schedule is None:
            return
        try:
            queued = QueuedJob(job.ad)
            times = JobTimes(schedule, queued.requirements, queued.present)
            if schedule.recurrence is None:
                run = schedule.next(now)
                if not times.excludes(run.time):
                    yield run
                return
            present = queued.present
            if present is not None and present <= now and not times.excludes(present):
                run = schedule.deferral(present, now)
                if now <= run.last_match:
                    yield run
            for time in times.runs(now):
                yield schedule.deferral(int(time), now)
        except CrondorError:  # said of the job beforehand, or the end of all calendars
            return


def _with_texts(ad: ClassAd) -> ClassAd:
    """Return an ad with its numbers and plain strings as texts, as a queue has them: routes copy such ads faster."""
    for name in ad:
        code = ad.codes[lower(name)]
        constant = None if isinstance(code, str) else code.const
        if constant.__class__ in (int, str) and ad.text(name) == unparse(Literal(constant)):
            ad.set(name, constant)
    return ad


def stays(ad: ClassAd, now: int, starts: int, context: Context) -> bool:
    """Say whether a job that ends well at ``now`` (epoch seconds) stays in its queue; ``starts`` is NumJobStarts."""
    if "OnExitRemove" not in ad:
        return False
    return (known_at_exit(ad) or at_exit(ended(ad, starts), now, context).act) is Act.STAY


def _count_of(ad: ClassAd) -> int:
    number = QueuedJob(ad).integer("NumJobStarts")
    return number if number is not None and number >= 0 else 0
