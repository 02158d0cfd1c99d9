"""A span of virtual time for some jobs, once or again with other windows and prep times; and which would be enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.attributes import integer
from crondor.job_queue import JobId
from crondor.pool.daemons.events import Watcher
from crondor.pool.daemons.flow import Listener
from crondor.pool.daemons.pool import Pool
from crondor.pool.settings import PoolSettings
from crondor.pool.simulate.outcome import JobOutcome, Lateness, OutcomeCounts, RunOutcome
from crondor.spec import FIELDS

Progress = Callable[[int], None]
"""Called with the virtual time reached (epoch seconds)."""

_STEPS: Final = 1000  # of the pool between two calls of the progress
_FEW_STEPS: Final = 500  # between two checks whether a try is futile
_TIMES: Final = 3  # the cost limit of advice in simulations, or that of a second or two
_SHORT: Final = 100_000
_AT_ONCE: Final = 10_000  # steps within one second, plus 100 for each job; a run takes a dozen
_EACH_AT_ONCE: Final = 100
_SUBMISSION: Final = 50  # the cost of submitting a job in events
_WIDE: Final = 7 * 86400  # the window of a run that shows how late a job would be
_TRIES: Final = 4
_MOST_ALONE: Final = 8  # groups of jobs
_LATE: Final = (RunOutcome.LATE, RunOutcome.MISSED, RunOutcome.MISSED_HELD, RunOutcome.MISSED_IDLE)
_PREP: Final = "DeferralPrepTime"
_WINDOW: Final = "DeferralWindow"

IsVain = Callable[[Sequence[JobOutcome]], bool]
"""Whether the outcomes so far, in the order of the ads, show that continuing is futile."""

Terms = Mapping[int, int]
"""Another prep time or window (seconds) for jobs, by their number."""


class Enough(NamedTuple):
    """The smallest prep time and the smallest window (seconds) with which all runs of a job succeed.

    Each assumes the present other one. None: none was found, for example if the files need longer than a schedule's
    gaps, or a job was submitted too late.
    """

    prep_time: int | None
    window: int | None


class Life(NamedTuple):
    """The results of one simulation; ``is_contended``: a job had to wait for another one's slot.

    ``cost`` is the work: events, plus some for each submitted job.
    """

    outcomes: list[JobOutcome]
    is_contended: bool
    cost: int


class EndlessSecond(CrondorError):
    """Jobs that repeat endlessly within one second."""

    @classmethod
    def at(cls, second: int) -> EndlessSecond:
        """Return the error for a second (epoch seconds)."""
        message = f"jobs start, end and are queued again endlessly within second {second}: time does not advance"
        hint = "give a run some time: a --run-time, --transfer or --match-delay of 1 s or more"
        return cls(Diagnostic("simulate-endless", message, help=hint))


class _Spent(Exception):
    """The limit of simulations is reached."""


class Together(NamedTuple):
    """The numbers of jobs whose prep times, and whose windows, are changed by the same line."""

    prep_times: Sequence[Sequence[int]]
    windows: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Simulation:
    """Jobs submitted together, cluster by cluster, from ``start`` to ``end`` (epoch seconds)."""

    settings: PoolSettings
    clusters: Sequence[Sequence[ClassAd]]
    start: int
    end: int

    def run(
        self,
        *,
        prep_times: Terms | None = None,
        windows: Terms | None = None,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
    ) -> list[JobOutcome]:
        """Simulate, and return the result of each job, in the order of the ads. Raises UnknownZone.

        ``watchers`` get the events, ``listeners`` the messages between daemons.
        """
        return self.life(
            prep_times=prep_times, windows=windows, watchers=watchers, listeners=listeners, progress=progress
        ).outcomes

    def life(
        self,
        *,
        prep_times: Terms | None = None,
        windows: Terms | None = None,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
        is_vain: IsVain | None = None,
        once: bool = False,
        most: int | None = None,
    ) -> Life:
        """Simulate, and return more about it.

        It ends early if ``is_vain`` returns true, or when it has cost more than ``most``. ``once``: jobs with one time
        leave after it, since further runs in their windows are not planned. Raises EndlessSecond if too much happens
        within one second.
        """
        settings = self.settings
        if listeners:
            settings = replace(settings, flow=replace(settings.flow, is_kept=True))
        pool = Pool(settings, self.start)
        if pool.flow is not None:
            pool.flow.listeners += listeners
        ledger = OutcomeCounts(pool)
        pool.watchers += watchers
        if not watchers and is_vain is None:  # early counting needs all events up to then
            pool.let_leap()
        jobs: list[JobId] = []
        for ads in self.clusters:
            jobs += pool.submit(_changed(ads, len(jobs), prep_times or {}, windows or {}, once=once))
        outcomes = [ledger[job] for job in jobs]
        is_ended = False
        steps = _STEPS if is_vain is None else _FEW_STEPS
        second, done = pool.now, 0  # steps since it was first seen
        while not (is_ended or pool.advance(self.end, steps)):
            is_ended = (is_vain is not None and is_vain(outcomes)) or (most is not None and ledger.seen > most)
            done = done + steps if pool.now == second else 0
            second = pool.now
            if done > _AT_ONCE + _EACH_AT_ONCE * len(jobs):
                raise EndlessSecond.at(second)
            if progress is not None:
                progress(pool.now)
        if not is_ended:
            ledger.close()
        return Life(outcomes, pool.matching.negotiator.has_kept_waiting, ledger.seen + _SUBMISSION * len(jobs))

    def enough(
        self, progress: Progress | None = None, together: Together | None = None, life: Life | None = None
    ) -> list[Enough]:
        """Return the prep times and windows that are enough for each job; each answer was simulated.

        The lateness of gates and matches in a pool with wide windows has to be added; a job's delays belong to its
        runs, so they are the same each time. Jobs that are changed ``together`` get one number; each is changed alone
        if nothing is given. If they compete for slots, the first eight numbers are each tried while the rest stays as
        it is.

        ``life`` is the simulation to improve, if done already. A long one is limited to three times its cost; what is
        not tried alone by then keeps the number that is enough with all others'.
        """
        lived = self.life(progress=progress) if life is None else life
        return _Advice(self, lived, progress).enough(together)


class _Advice:
    """The search for sufficient settings: simulations with other prep times and windows, up to a limit."""

    def __init__(self, simulation: Simulation, life: Life, progress: Progress | None) -> None:
        self._simulation = simulation
        self._life = life
        self._progress = progress
        self._left = self._most = max(_SHORT, _TIMES * life.cost)
        self._dearest = life.cost

    def enough(self, together: Together | None) -> list[Enough]:
        """Return the sufficient settings of each job."""
        ads = [ad for cluster in self._simulation.clusters for ad in cluster]
        known = {n for n, ad in enumerate(ads) if None not in (integer(ad, _PREP), integer(ad, _WINDOW))}
        each = [[n] for n in range(len(ads))]
        preps, windows = ([[n for n in group if n in known] for group in groups] for groups in together or (each, each))
        prep_times: dict[int, int] = {}
        found: dict[int, int] = {}
        with suppress(_Spent):
            probe = self._probe(known)
            prep_times = self._prep_times(ads, preps, probe.outcomes, kept=1)
            found = self._windows(windows, probe.outcomes)
            if probe.is_contended and max(len(preps), len(windows)) > 1:
                for group in _first_failing(preps, self._life.outcomes, _is_early):
                    _replace(prep_times, group, self._alone(ads, group, "prep_times"))
                for group in _first_failing(windows, self._life.outcomes, _is_in_window):
                    _replace(found, group, self._alone(ads, group, "windows"))
        return [Enough(prep_times.get(n), found.get(n)) for n in range(len(ads))]

    def _probe(self, jobs: Collection[int]) -> Life:
        """Simulate with wide windows for some jobs, to see how late they would be."""
        return self._lived(windows=dict.fromkeys(jobs, _WIDE), once=True)

    def _lived(
        self,
        prep_times: Terms | None = None,
        windows: Terms | None = None,
        is_vain: IsVain | None = None,
        *,
        once: bool = False,
    ) -> Life:
        """Simulate once more. Raises _Spent for a simulation that costs too much by itself."""
        made = self._simulation.life(
            prep_times=prep_times, windows=windows, progress=self._progress, is_vain=is_vain, once=once, most=self._most
        )
        self._left -= made.cost
        self._dearest = max(self._dearest, made.cost)
        if made.cost > self._most + _SUBMISSION * len(made.outcomes):
            raise _Spent
        return made

    def _may(self, lives: int) -> bool:
        """Return whether so many simulations are still allowed."""
        return self._left >= lives * self._dearest

    def _spend(self) -> None:
        """Raise _Spent if no further simulation is allowed."""
        if not self._may(1):
            raise _Spent

    def _alone(self, ads: Sequence[ClassAd], group: Sequence[int], what: str) -> int | None:
        """Return the smallest of ``what`` that is enough for some jobs while the others stay as they are."""
        self._spend()
        probe = self._probe(group).outcomes
        if what == "windows":
            found, is_fine = self._windows([group], probe, alone=True), _is_in_window
        else:
            found, is_fine = self._prep_times(ads, [group], probe, alone=True), _is_early
        return self._least([found.get(n) for n in group], is_fine, group, what)

    def _least(
        self, found: Sequence[int | None], is_fine: Callable[[JobOutcome], bool], group: Sequence[int], what: str
    ) -> int | None:
        """Return a number that is enough and whose predecessor is not, starting from one that is enough for all."""
        known = [number for number in found if number is not None]
        if not known or len(known) < len(found):
            return None

        def is_enough(seconds: int) -> bool:
            self._spend()
            terms = dict.fromkeys(group, seconds)
            preps, windows = (terms if what == name else None for name in ("prep_times", "windows"))
            outcomes = self._lived(preps, windows, is_vain=lambda so_far: not all(is_fine(so_far[n]) for n in group))
            return all(is_fine(outcomes.outcomes[n]) for n in group)

        return _least(max(known), is_enough)

    def _prep_times(
        self,
        ads: Sequence[ClassAd],
        groups: Sequence[Sequence[int]],
        probe: Sequence[JobOutcome],
        *,
        kept: int = 0,
        alone: bool = False,
    ) -> dict[int, int]:
        """Return prep times that are enough, all together; ``kept`` simulations are reserved."""
        tried = {n: integer(ads[n], _PREP) or 0 for n in _planned(groups, probe)}
        if not tried:
            return {}
        windows = {n: integer(ads[n], _WINDOW) or 0 for n in tried}
        late = {n: _needed(probe[n].ready, windows[n]) for n in tried}
        for number in range(_TRIES):
            if alone:
                self._spend()
            elif number and not self._may(1 + kept):
                break
            tried = _level({n: max(0, prep + late[n]) for n, prep in tried.items()}, groups)
            found = self._lived(prep_times=tried).outcomes
            late = {n: 0 if _is_early(found[n]) else max(0, _needed(found[n].ready, windows[n])) for n in tried}
            if not any(late.values()):
                break
        return {n: prep for n, prep in tried.items() if _is_early(found[n])}

    def _windows(
        self, groups: Sequence[Sequence[int]], probe: Sequence[JobOutcome], *, alone: bool = False
    ) -> dict[int, int]:
        """Return windows that are enough, all together."""
        tried = _level({n: _widest(probe[n]) for n in _planned(groups, probe)}, groups)
        if not tried:
            return {}
        for number in range(_TRIES):
            if alone:
                self._spend()
            elif number and not self._may(1):
                break
            found = self._lived(windows=tried).outcomes
            short = {n: _widest(found[n]) for n in tried if not _is_in_window(found[n])}
            if all(tried[n] >= late for n, late in short.items()):
                break
            tried = _level(tried | short, groups)
        return {n: window for n, window in tried.items() if _is_in_window(found[n])}


def _changed(
    ads: Sequence[ClassAd], first: int, prep_times: Terms, windows: Terms, *, once: bool = False
) -> list[ClassAd]:
    """Return copies of ads with other prep times and windows; ``first`` is the number of the first job.

    ``once``: those with one time are over after their first run.
    """
    made = [ad.copy() for ad in ads]
    for number, ad in enumerate(made, start=first):
        if once and _WINDOW in ad and not any(field.attribute in ad for field in FIELDS):
            ad.set("OnExitHold", value=False)
            ad.set("OnExitRemove", value=True)
        for name, terms in ((_PREP, prep_times), (_WINDOW, windows)):
            if number in terms and name in ad:
                ad.set(name, terms[number])
    return made


def _planned(groups: Sequence[Sequence[int]], outcomes: Sequence[JobOutcome]) -> list[int]:
    """Return the jobs of groups that have planned runs."""
    return [n for group in groups for n in group if outcomes[n].planned]


def _first_failing(
    groups: Sequence[Sequence[int]], outcomes: Sequence[JobOutcome], is_fine: Callable[[JobOutcome], bool]
) -> Sequence[Sequence[int]]:
    """Return the groups with a failing job, as many as are tried alone."""
    return [group for group in groups if not all(is_fine(outcomes[n]) for n in group)][:_MOST_ALONE]


def _replace(numbers: dict[int, int], jobs: Sequence[int], number: int | None) -> None:
    for n in jobs:
        if number is None:
            numbers.pop(n, None)
        else:
            numbers[n] = number


def _least(high: int, is_enough: Callable[[int], bool]) -> int:
    """Return a number that is enough and whose predecessor is not, starting from one that is enough."""
    low = -1
    if high == 0 or not is_enough(high - 1):
        return high
    high -= 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _level(tried: Mapping[int, int], groups: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the greatest of each group's numbers for all of its jobs."""
    made = {}
    for group in groups:
        jobs = [n for n in group if n in tried]
        made.update(dict.fromkeys(jobs, max((tried[n] for n in jobs), default=0)))
    return made


def _is_early(outcome: JobOutcome) -> bool:
    """Return whether nothing was late or missed."""
    return not any(outcome.counts[fate] for fate in _LATE)


def _is_in_window(outcome: JobOutcome) -> bool:
    return not any(outcome.counts[fate] for fate in _LATE[1:])


def _needed(late: Lateness, window: int) -> int:
    """Return by how much earlier the latest run must be matched to arrive in time; the match limit is strict."""
    arrival = 0 if late.arrival is None else late.arrival
    return arrival if late.match is None else max(arrival, late.match + 1 - window)


def _widest(outcome: JobOutcome) -> int:
    """Return the window with which the latest arrival starts, and the latest match is made."""
    found = [0]
    for late in (outcome.ready, outcome.unready):
        found += [late.arrival] if late.arrival is not None else []
        found += [late.match + 1] if late.match is not None else []
    return max(found)
