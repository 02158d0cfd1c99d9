"""The loop of `crondor hook daemon-cron`: steps of the managers, signals, and the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from types import FrameType
from typing import Final

from crondor.hooks.cron.live import LivePrograms
from crondor.hooks.cron.schedule import CronEvent, CronManager, CronStep
from crondor.hooks.cron.settings import CronMode, CronSettings, Manager
from crondor.hooks.runner import RunningHook, wait
from crondor_cli.common.signals import Waker, waking

Read = Callable[[], Sequence[CronSettings] | None]
"""Reads the configuration anew: the settings of the managers in their order, None where that cannot be done."""

_LONGEST: Final = 0.5  # seconds between two looks, where nothing is due before
_MOST_CLOSING: Final = 5.0  # seconds for programs to end, of which SIGKILL is sent after one


class CronLoop:
    """Runs the cron jobs of some managers until the end, or until somebody asks for it.

    ``start`` is the time in the ads at the beginning; where it ``stands``, it does not go on. SIGHUP reads the
    configuration anew, as condor_reconfig; SIGTERM and Ctrl-C end the programs, a second one at once.
    """

    _waker: Waker

    def __init__(self, managers: Sequence[CronManager], start: float, *, stands: bool, read: Read) -> None:
        """Take the managers, which nobody has configured yet."""
        self._managers = managers
        self._start = start
        self._stands = stands
        self._read = read
        self._began = time.monotonic()
        self._done: set[tuple[Manager, str]] = set()
        self._asked = 0
        self._is_new = False

    def events(self, *, once: bool, seconds: float | None) -> Iterator[CronEvent]:
        """Yield what happens: until each job has run one time (``once``), for some time, or until it is asked to end.

        Raises KeyboardInterrupt where it is asked a second time.
        """
        with waking({"SIGINT": self._end, "SIGTERM": self._end, "SIGHUP": self._renew}) as self._waker:
            yield from self._configured([each.settings for each in self._managers], self._now())
            while not (self._asked or (once and self._is_through()) or self._is_over(seconds)):
                self._wait()
                yield from self._stepped(self._now())
                if self._is_new:
                    self._is_new = False
                    settings = self._read()
                    yield from () if settings is None else self._configured(settings, self._now())
            yield from self._closed()

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1
        if self._asked > 1:
            raise KeyboardInterrupt

    def _renew(self, _number: int, _frame: FrameType | None) -> None:
        self._is_new = True

    def _now(self) -> float:
        return self._start + (0 if self._stands else time.monotonic() - self._began)

    def _is_over(self, seconds: float | None) -> bool:
        return seconds is not None and time.monotonic() - self._began >= seconds

    def _is_through(self) -> bool:
        """Say whether each job has had its run; one that waits has none if nothing runs whose end it could await."""
        left = {
            (manager.settings.manager, job.name)
            for manager in self._managers
            for job in manager.settings.jobs
            if job.mode is not CronMode.ON_DEMAND or manager.settings.manager is Manager.BENCHMARKS
        } - self._done
        waiting = {(manager.settings.manager, name) for manager in self._managers for name in manager.waiting}
        return left <= waiting and not (left and any(manager.running for manager in self._managers))

    def _wait(self) -> None:
        due = [time for manager in self._managers if (time := manager.next_time()) is not None]
        longest = min([_LONGEST, *(time - self._now() for time in due if not self._stands)])
        wait([hook for manager in self._managers for hook in _started(manager)], longest, [self._waker.descriptor])
        self._waker.forget()

    def _configured(self, settings: Sequence[CronSettings], now: float) -> Iterator[CronEvent]:
        for manager, theirs in zip(self._managers, settings, strict=True):
            starts = manager.configure(theirs, now)
            benchmarks = manager.demand(now) if theirs.manager is Manager.BENCHMARKS else ()
            yield from self._noted(chain(starts, benchmarks), manager)

    def _stepped(self, now: float) -> Iterator[CronEvent]:
        for manager in self._managers:
            for hook in _started(manager):  # also those of jobs that have been taken away
                hook.poll()
            yield from self._noted(manager.step(now), manager)
        is_busy = any(each.running for each in self._managers if each.settings.manager is Manager.BENCHMARKS)
        for manager in self._managers:
            manager.blocked = manager.settings.manager is Manager.STARTD and is_busy

    def _closed(self) -> Iterator[CronEvent]:
        """End what still runs; time goes on for that, even where the clock stands."""
        began = time.monotonic()
        base = self._now()
        for manager in self._managers:
            yield from manager.close(base)
        while any(manager.running for manager in self._managers) and time.monotonic() - began < _MOST_CLOSING:
            self._wait()
            yield from self._stepped(base + time.monotonic() - began)

    def _noted(self, events: Iterable[CronEvent], manager: CronManager) -> Iterator[CronEvent]:
        """Yield events, and note which jobs have had a run."""
        for event in events:
            if event.what in {CronStep.ENDED, CronStep.FAILED_TO_START}:
                self._done.add((manager.settings.manager, event.job))
            yield event


def _started(manager: CronManager) -> list[RunningHook]:
    programs = manager.programs
    return programs.started if isinstance(programs, LivePrograms) else []
