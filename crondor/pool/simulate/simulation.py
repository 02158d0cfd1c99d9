"""A span of virtual time for some jobs, once or again with other windows and prep times; and which would be enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.job.attributes import integer
from crondor.job_queue import JobId
from crondor.pool.daemons.events import Watcher
from crondor.pool.daemons.flow.messages import Listener
from crondor.pool.daemons.pool import Pool
from crondor.pool.settings.pool import PoolSettings
from crondor.pool.simulate.outcome import JobOutcome, Lateness, OutcomeCounts, RunOutcome

Progress = Callable[[int], None]
"""Called with the virtual time that was reached (epoch seconds)."""

_STEPS: Final = 20_000  # of the pool between two calls of the progress
_WIDE: Final = 7 * 86400  # the window of a run that is to show how late a job would be
_TRIES: Final = 4
_MOST_ALONE: Final = 8  # groups of jobs
_LATE: Final = (RunOutcome.LATE, RunOutcome.MISSED, RunOutcome.MISSED_HELD, RunOutcome.MISSED_IDLE)
_PREP: Final = "DeferralPrepTime"
_WINDOW: Final = "DeferralWindow"

Terms = Mapping[int, int]
"""Another prep time or window (seconds) for jobs, by their number."""


class Enough(NamedTuple):
    """The smallest prep time and the smallest window (seconds) that would have been enough for all runs of a job.

    Each is for the other one as it is. None: none would have been, as where the files need longer than a schedule's
    gaps, or where a job was submitted too late.
    """

    prep_time: int | None
    window: int | None


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
        """Live through it, and return what became of each job, in the order of the ads. Raises UnknownZone.

        ``watchers`` are told what happens, ``listeners`` which message goes from one daemon to another.
        """
        return self._live(prep_times, windows, watchers, listeners, progress)[0]

    def _live(
        self,
        prep_times: Terms | None,
        windows: Terms | None,
        watchers: Sequence[Watcher] = (),
        listeners: Sequence[Listener] = (),
        progress: Progress | None = None,
    ) -> tuple[list[JobOutcome], bool]:
        """Return the outcomes, and whether a job had to wait for another one's slot."""
        settings = self.settings
        if listeners:
            settings = replace(settings, flow=replace(settings.flow, is_kept=True))
        pool = Pool(settings, self.start)
        if pool.flow is not None:
            pool.flow.listeners += listeners
        ledger = OutcomeCounts(pool)
        pool.watchers += watchers
        jobs: list[JobId] = []
        for ads in self.clusters:
            made = [ad.copy() for ad in ads]
            for number, ad in enumerate(made, start=len(jobs)):
                for name, terms in ((_PREP, prep_times), (_WINDOW, windows)):
                    if terms is not None and number in terms and name in ad:
                        ad.set(name, terms[number])
            jobs += pool.submit(made)
        while not pool.advance(self.end, _STEPS):
            if progress is not None:
                progress(pool.now)
        ledger.close()
        return [ledger[job] for job in jobs], pool.matching.negotiator.has_kept_waiting

    def enough(self, progress: Progress | None = None, together: Together | None = None) -> list[Enough]:
        """Return what would have been enough for each job; each answer was simulated.

        What the jobs' gates and matches are late by in a pool with wide windows is what has to be added; a job's
        delays belong to its runs, so that they are the same each time. Jobs that are changed ``together`` get one
        number; each is changed alone, where nothing is said. Where they compete for slots, the first eight numbers
        that are needed are each tried while all else stays as it is.
        """
        ads = [ad for cluster in self.clusters for ad in cluster]
        known = {n for n, ad in enumerate(ads) if None not in (_number(ad, _PREP), _number(ad, _WINDOW))}
        each = [[n] for n in range(len(ads))]
        preps, windows = (_only(known, groups) for groups in together or (each, each))
        probe, is_contended = self._live(None, dict.fromkeys(known, _WIDE), progress=progress)
        prep_times = self._prep_times(ads, preps, probe, progress)
        found = self._windows(windows, probe, progress)
        if is_contended and max(len(preps), len(windows)) > 1:
            outcomes = self.run(progress=progress)
            for group in _first_failing(preps, outcomes, _is_early):
                _replace(prep_times, group, self._prep_time_alone(ads, group, progress))
            for group in _first_failing(windows, outcomes, _is_in_window):
                _replace(found, group, self._window_alone(group, progress))
        return [Enough(prep_times.get(n), found.get(n)) for n in range(len(ads))]

    def _prep_time_alone(self, ads: Sequence[ClassAd], group: Sequence[int], progress: Progress | None) -> int | None:
        """Return the smallest prep time that is enough for some jobs while the others stay as they are."""
        probe = self.run(windows=dict.fromkeys(group, _WIDE), progress=progress)
        found = self._prep_times(ads, [group], probe, progress)

        def is_early(seconds: int) -> bool:
            outcomes = self.run(prep_times=dict.fromkeys(group, seconds), progress=progress)
            return all(_is_early(outcomes[n]) for n in group)

        return _least([found.get(n) for n in group], is_early)

    def _window_alone(self, group: Sequence[int], progress: Progress | None) -> int | None:
        """Return the smallest window that is enough for some jobs while the others stay as they are."""
        probe = self.run(windows=dict.fromkeys(group, _WIDE), progress=progress)
        found = self._windows([group], probe, progress)

        def is_in_window(seconds: int) -> bool:
            outcomes = self.run(windows=dict.fromkeys(group, seconds), progress=progress)
            return all(_is_in_window(outcomes[n]) for n in group)

        return _least([found.get(n) for n in group], is_in_window)

    def _prep_times(
        self,
        ads: Sequence[ClassAd],
        groups: Sequence[Sequence[int]],
        probe: Sequence[JobOutcome],
        progress: Progress | None,
    ) -> dict[int, int]:
        tried = {n: _number(ads[n], _PREP) or 0 for n in _planned(groups, probe)}
        if not tried:
            return {}
        windows = {n: _number(ads[n], _WINDOW) or 0 for n in tried}
        late = {n: _needed(probe[n].ready, windows[n]) for n in tried}
        for _ in range(_TRIES):
            tried = _level({n: max(0, prep + late[n]) for n, prep in tried.items()}, groups)
            found = self.run(prep_times=tried, progress=progress)
            late = {n: 0 if _is_early(found[n]) else max(0, _needed(found[n].ready, windows[n])) for n in tried}
            if not any(late.values()):
                break
        return {n: prep for n, prep in tried.items() if _is_early(found[n])}

    def _windows(
        self, groups: Sequence[Sequence[int]], probe: Sequence[JobOutcome], progress: Progress | None
    ) -> dict[int, int]:
        tried = _level({n: _widest(probe[n]) for n in _planned(groups, probe)}, groups)
        if not tried:
            return {}
        for _ in range(_TRIES):
            found = self.run(windows=tried, progress=progress)
            short = {n: _widest(found[n]) for n in tried if not _is_in_window(found[n])}
            if all(tried[n] >= late for n, late in short.items()):
                break
            tried = _level(tried | short, groups)
        return {n: window for n, window in tried.items() if _is_in_window(found[n])}


def _only(known: Collection[int], groups: Sequence[Sequence[int]]) -> list[list[int]]:
    return [[n for n in group if n in known] for group in groups]


def _planned(groups: Sequence[Sequence[int]], outcomes: Sequence[JobOutcome]) -> list[int]:
    """Return the jobs of groups that have planned runs."""
    return [n for group in groups for n in group if outcomes[n].planned]


def _first_failing(
    groups: Sequence[Sequence[int]], outcomes: Sequence[JobOutcome], is_fine: Callable[[JobOutcome], bool]
) -> Sequence[Sequence[int]]:
    """Return the groups with a job that is not fine, as many as are tried alone."""
    return [group for group in groups if not all(is_fine(outcomes[n]) for n in group)][:_MOST_ALONE]


def _replace(numbers: dict[int, int], jobs: Sequence[int], number: int | None) -> None:
    for n in jobs:
        if number is None:
            numbers.pop(n, None)
        else:
            numbers[n] = number


def _least(found: Sequence[int | None], is_enough: Callable[[int], bool]) -> int | None:
    """Return a number that is enough and whose predecessor is not, from one that is known to be enough for all."""
    known = [number for number in found if number is not None]
    if not known or len(known) < len(found):
        return None
    low, high = -1, max(known)
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
    """Say whether nothing was late or missed."""
    return not any(outcome.counts[fate] for fate in _LATE)


def _is_in_window(outcome: JobOutcome) -> bool:
    return not any(outcome.counts[fate] for fate in _LATE[1:])


def _needed(late: Lateness, window: int) -> int:
    """Return by how much earlier the latest run must be matched to arrive in time, and its match, which is strict."""
    arrival = 0 if late.arrival is None else late.arrival
    return arrival if late.match is None else max(arrival, late.match + 1 - window)


def _widest(outcome: JobOutcome) -> int:
    """Return the window that lets the latest arrival start, and the latest match be made."""
    found = [0]
    for late in (outcome.ready, outcome.unready):
        found += [late.arrival] if late.arrival is not None else []
        found += [late.match + 1] if late.match is not None else []
    return max(found)


def _number(ad: ClassAd, name: str) -> int | None:
    return integer(ad, name)
