"""The loop of `crondor run`: steps of the session, signals, and the exit status."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

from crondor.queued import JobStatus
from crondor.world.happenings import Happening, What
from crondor.world.session import Session
from crondor_cli.view_run import View

_LONGEST: Final = 60.0  # seconds between two looks at the clock, which somebody may set
_ASKING: Final = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)


class Loop:
    """Runs a session until nothing is to come, or somebody asks to end."""

    def __init__(self, session: Session, view: View) -> None:
        """Take both; ``run`` does it."""
        self._session = session
        self._view = view
        self._asked = 0
        self._failed = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        os.set_blocking(self._reader, False)

    def run(self) -> int:
        """Run, and return the exit status. Raises QueueIO."""
        session, view = self._session, self._view
        session.world.watchers.append(self._note)
        before = {number: signal.signal(number, self._ask) for number in _ASKING}
        wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        try:
            view.begin(session.begin())
            while session.step(min(_LONGEST, view.pace), self._reader):
                if (self._asked or view.is_unheard) and not session.is_closed:
                    session.close()
                    view.closing(session.programs.running)
                if self._asked > 1:
                    session.leave()
                    view.end(["left at once"])
                    return 130
                view.refresh()
            view.end(self._left())
            missed = session.missed()
            return int(self._failed or bool(missed))
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._reader)
            os.close(self._writer)
            sys.stdout.flush() if sys.stdout is not None and not view.is_unheard else None

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1

    def _note(self, seen: Happening) -> None:
        if seen.what is What.HELD:
            self._failed = True
        elif seen.what in {What.ENDED, What.COMPLETED}:
            ad = seen.job.ad
            self._failed |= bool(ad.value("ExitBySignal") is True or ad.value("ExitCode"))

    def _left(self) -> list[str]:
        """Return what there is to say of the jobs that stay in the queue."""
        session = self._session
        missed = set(session.missed())
        lines = [f"job {job} has missed its time and stays idle: nothing starts it any more" for job in sorted(missed)]
        jobs = session.world.jobs.values()
        held = sum(job.status == JobStatus.HELD for job in jobs)
        waiting = sum(job.is_idle and job.id not in missed for job in jobs)
        if held or waiting:
            where = f"in {session.folder}"
            parts = [f"{number} {word}" for number, word in ((waiting, "idle"), (held, "held")) if number]
            lines.append(f"{' and '.join(parts)} {where}: crondor run goes on with them")
        return lines
