"""The loop of `crondor run`: steps of the session, signals, and the exit status."""

from __future__ import annotations

import os
import shlex
import sys
from types import FrameType
from typing import Final

from crondor.diagnostics import Diagnostic, printable
from crondor.job.attributes import ending
from crondor.job.status import JobStatus
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.local.session import Session, is_missed
from crondor_cli.common.notify import ServiceManager
from crondor_cli.common.output import whole
from crondor_cli.common.signals import Waker, waking
from crondor_cli.run.text import RunLines

_LONGEST: Final = 60.0  # seconds between two looks at the clock, which somebody may set
_MOST: Final = 20  # jobs of which it is said why they are held
_REASON: Final = 300  # characters of a reason
_ASKING: Final = ("SIGINT", "SIGTERM", "SIGHUP")


class Loop:
    """Runs a session until nothing is to come, or somebody asks to end."""

    def __init__(self, session: Session, view: RunLines) -> None:
        """Take both; ``run`` does it."""
        self._session = session
        self._view = view
        self._asked = 0
        self._failed = False
        self._is_gone = False
        self._told: set[JobId] = set()  # whose hold has been said

    def run(self) -> int:
        """Run, and return the exit status. Raises QueueIO."""
        self._session.pool.watchers.append(self._note)
        try:
            with waking(dict.fromkeys(_ASKING, self._ask)) as waker:
                return self._live(waker)
        finally:
            sys.stdout.flush() if sys.stdout is not None and not self._view.is_unheard else None

    def _live(self, waker: Waker) -> int:
        session, view, manager = self._session, self._view, ServiceManager(os.environ)
        view.begin(session.begin())
        manager.ready()
        while session.step(min(_LONGEST, view.pace, manager.period or _LONGEST), waker.descriptor, view.refresh):
            manager.alive()
            self._look()
            if (self._asked or view.is_unheard) and not session.is_closed:
                manager.stopping()
                session.close()
                view.closing(session.programs.running)
            if self._asked > 1:
                session.leave()
                view.end(["left at once"])
                return 130
        self._look()
        view.end(self._left())
        return int(self._failed or bool(session.missed()) or any(map(_is_held, session.pool.jobs.values())))

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1

    def _look(self) -> None:
        """Say it once where the queue's folder is no longer there: nothing more starts, and what runs is waited for."""
        if self._session.is_there or self._is_gone:
            return
        self._failed = self._is_gone = True
        message = f"the queue in {printable(str(self._session.folder))} has been removed: nothing more is started"
        hint = "Ctrl-C twice ends what runs still"
        self._view.say(Diagnostic("run-folder-gone", message, help=hint))

    def _note(self, seen: PoolEvent) -> None:
        if seen.what is PoolEventKind.HELD:
            self._told.add(seen.job.id)
            self._failed |= is_missed(seen)
        elif seen.what in {PoolEventKind.ENDED, PoolEventKind.COMPLETED}:
            found = ending(seen.job.ad)
            self._failed |= found is not None and (found.by_signal or found.number != 0)

    def _left(self) -> list[str]:
        """Return what there is to say of the jobs that stay in the queue."""
        session = self._session
        missed = set(session.missed())
        lines = [f"job {job} has missed its time and stays idle: nothing starts it any more" for job in sorted(missed)]
        jobs = sorted(session.pool.jobs.values(), key=lambda job: job.id)
        held = [job for job in jobs if _is_held(job)]
        waiting = sum(job.is_idle and job.id not in missed for job in jobs)
        old = [job for job in held if job.id not in self._told]
        lines += [
            f"job {job.id} is held: {printable(str(job.ad.value('HoldReason')))[:_REASON]}" for job in old[:_MOST]
        ]
        if self._is_gone:
            return lines
        folder = shlex.quote(printable(str(session.folder)))
        if waiting:
            lines.append(f"{waiting:,} idle in {folder}: crondor run goes on with {'it' if waiting == 1 else 'them'}")
        if held:
            which = str(held[0].id) if len(held) == 1 else "--constraint 'JobStatus == 5'"
            command = f"crondor queue release --queue {folder} {which}"
            them = "it" if len(held) == 1 else "them"
            lines.append(f"{len(held):,} held in {folder}; this lets the next crondor run go on with {them}:")
            lines.append(whole(f"  {command}"))
        return lines


def _is_held(job: PoolJob) -> bool:
    return job.status == JobStatus.HELD
