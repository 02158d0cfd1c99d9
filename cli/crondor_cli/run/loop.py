"""The loop of `crondor run` and its output: session steps, signals, events, the display on a terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import tzinfo
from types import FrameType
from typing import TYPE_CHECKING, Final

from crondor.classad import Context
from crondor.diagnostics import Diagnostic, printable
from crondor.job.attributes import JobStatus, ending, string
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.starter import time_of
from crondor.pool.local.session import Session, is_missed
from crondor.pool.local.submit_file import NAME
from crondor_cli.kit.screen import ERASE, Visible, clipped, drawn_columns, say, shown, together, whole
from crondor_cli.kit.services import ServiceManager, Waker, waking
from crondor_cli.kit.tables import say_json
from crondor_cli.kit.times import local_text, relative

if TYPE_CHECKING:
    from crondor_cli.run import results

_PLAIN_WIDTH: Final = 80  # columns of a terminal of unknown width
_PACE: Final = 1.0  # seconds between updates of the display
_MOST: Final = 20  # jobs displayed
_WIDEST_TEXT: Final = 300  # characters of a reason


class RunLines:
    """Event lines on stderr, without a display.

    ``pace`` is the interval of updates in seconds; ``is_unheard``: the reader of the output has gone.
    """

    pace = 3600.0

    def __init__(self, session: Session, zone: tzinfo) -> None:
        self._session = session
        self._zone = zone
        self.is_unheard = False

    def begin(self, running: int) -> None:
        """Print the state at the start."""
        if running:
            self.write(f"{running} earlier program{'' if running == 1 else 's'} still running")

    def note(self, seen: PoolEvent) -> None:
        """Print an event."""
        said = _SAID.get(seen.what)
        if said is not None:
            self.write(f"{self.stamp(seen.time)}  {self.name(seen.job)}  {said(self, seen)}")

    def say(self, finding: Diagnostic) -> None:
        """Show a finding."""
        self.write(shown(finding, sys.stderr))

    def closing(self, running: int) -> None:
        """Print that running programs are waited for."""
        if running:
            programs = "1 program still runs" if running == 1 else f"{running} programs still run"
            self.write(f"ending: {programs}; another Ctrl-C ends {'it' if running == 1 else 'them'} at once")

    def refresh(self) -> None:
        """Update the display."""

    def end(self, lines: Sequence[str]) -> None:
        """Print the jobs left."""
        for line in lines:
            self.write(line)

    def write(self, text: str) -> None:
        """Write a line, if anyone still reads."""
        with suppress(OSError, ValueError):
            say(text, err=True)

    def stamp(self, when: int) -> str:
        """Return a time as text."""
        return local_text(when, self._zone)

    def name(self, job: PoolJob) -> str:
        """Return a readable name of a job."""
        name = string(job.ad, NAME)
        return str(job.id) if name is None else f"{job.id!s:<6} {printable(name)}"

    def time_of(self, job: PoolJob) -> int | None:
        """Return the DeferralTime of a job."""
        return time_of(job.ad, Context(now=self._session.pool.now)) if "DeferralTime" in job.ad else None

    def planned(self, seen: PoolEvent) -> str:
        """Return the time of a job's next run as text."""
        return f"next run {self.stamp(seen.number)}"

    def pid(self, job: PoolJob) -> int | None:
        """Return the process id of a job."""
        return self._session.programs.pid(job)


def _exit(seen: PoolEvent) -> str:
    found = ending(seen.job.ad)
    if found is None:
        return "ended"
    return f"ended by signal {found.number}" if found.by_signal else f"exited with {found.number}"


_SAID: Final[dict[PoolEventKind, Callable[[RunLines, PoolEvent], str]]] = {
    PoolEventKind.SUBMITTED: lambda _view, _seen: "submitted",
    PoolEventKind.PLANNED: RunLines.planned,
    PoolEventKind.STARTED: lambda _view, _seen: "started",
    PoolEventKind.ENDED: lambda _view, seen: f"{_exit(seen)}{', queued again' if seen.number else ''}",
    PoolEventKind.HELD: lambda _view, seen: f"held (code {seen.number}): {printable(seen.text)[:_WIDEST_TEXT]}",
    PoolEventKind.RELEASED: lambda _view, seen: f"released: {printable(seen.text)[:_WIDEST_TEXT]}",
    PoolEventKind.REMOVED: lambda _view, seen: f"removed: {printable(seen.text)[:_WIDEST_TEXT]}",
}


class JsonView(RunLines):
    """One JSON object per line, on stdout."""

    def note(self, seen: PoolEvent) -> None:
        """Write an event."""
        data: results.RunResult = {"time": seen.time, "job": str(seen.job.id), "what": seen.what.value}
        if seen.what is PoolEventKind.PLANNED:
            data["deferral_time"] = seen.number
        elif seen.what is PoolEventKind.STARTED:
            data["pid"] = self.pid(seen.job)
        elif seen.what is PoolEventKind.ENDED:
            found = ending(seen.job.ad)
            if found is not None:
                if found.by_signal:
                    data["signal"] = found.number
                else:
                    data["exit_code"] = found.number
            data["queued_again"] = bool(seen.number)
        elif seen.what is PoolEventKind.HELD:
            data["hold_reason_code"] = seen.number
        if seen.text:
            data["reason"] = seen.text
        self._print(data)

    def begin(self, running: int) -> None:
        """Print nothing: running programs appear when they end."""

    def end(self, lines: Sequence[str]) -> None:
        """Print nothing: the events cover it."""

    def closing(self, running: int) -> None:
        """Print that running programs are waited for, since the user has pressed Ctrl-C."""
        if not self.is_unheard:
            super().closing(running)

    def _print(self, data: results.RunResult) -> None:
        if self.is_unheard:
            return
        try:
            say_json(data)
        except BrokenPipeError:
            self.is_unheard = True
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class LiveView(RunLines):
    """Event lines, and below them the waiting and running jobs, updated each second."""

    pace = _PACE

    def __init__(self, session: Session, zone: tzinfo) -> None:
        super().__init__(session, zone)
        self._drawn = 0

    def refresh(self) -> None:
        """Show the jobs, those that run first at the top."""
        jobs = sorted(self._session.pool.jobs.values(), key=_order)
        height = shutil.get_terminal_size().lines
        width = drawn_columns(sys.stderr) or _PLAIN_WIDTH
        most = max(1, min(_MOST, height - 3))
        lines = [self._line(job) for job in jobs[:most]]
        if len(jobs) > most:
            lines.append(f"and {len(jobs) - most:,} more")
        lines = [clipped(line, max(1, width - 1)) for line in lines]
        self._put(together(self._erased(), *(f"{line}\n" for line in lines)))
        self._drawn = len(lines)

    def write(self, text: str) -> None:
        """Write a line above the display."""
        self._put(self._erased())
        self._drawn = 0
        super().write(text)

    def end(self, lines: Sequence[str]) -> None:
        """Remove the display."""
        self._put(self._erased())
        self._drawn = 0
        super().end(lines)

    def _put(self, text: str) -> None:
        with suppress(OSError, ValueError):
            say(text, err=True, nl=False, fits=False)

    def _erased(self) -> Visible:
        """Return the sequence that erases the display, and the terminal's echo of Ctrl-C below it."""
        return Visible(f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ERASE)

    def _line(self, job: PoolJob) -> str:
        now, when = self._session.pool.now, self.time_of(job)
        if job.run is not None and job.run.started is not None:
            word = "suspended" if job.run.is_suspended else "runs"
            pid = self.pid(job)
            process = "" if pid is None else f", process {pid}"
            return f"{self.name(job)}  {word}{process}, started {relative(job.run.started - now)}"
        if job.status == JobStatus.HELD:
            return f"{self.name(job)}  held: {printable(str(job.ad.value('HoldReason')))}"
        if when is not None and when > now:
            return f"{self.name(job)}  waits for {self.stamp(when)}, {relative(when - now)}"
        return f"{self.name(job)}  idle"


def _order(job: PoolJob) -> tuple[int, tuple[int, int]]:
    runs = job.run is not None and job.run.started is not None
    return (0 if runs else 2 if job.status == JobStatus.HELD else 1, (job.id.cluster, job.id.proc))


def view_of(session: Session, zone: tzinfo, *, is_json: bool) -> RunLines:
    """Return the view for the output in use."""
    if is_json:
        return JsonView(session, zone)
    stream = sys.stderr
    if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb":
        return LiveView(session, zone)
    return RunLines(session, zone)


_LONGEST: Final = 60.0  # seconds between readings of the clock, which may be set
_REASON: Final = 300  # characters of a reason
_ASKING: Final = ("SIGINT", "SIGTERM", "SIGHUP")


class Loop:
    """Runs a session until nothing is left to do, or the user ends it."""

    def __init__(self, session: Session, view: RunLines) -> None:
        self._session = session
        self._view = view
        self._asked = 0
        self._failed = False
        self._is_gone = False
        self._told: set[JobId] = set()  # jobs whose hold has been reported

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
                view.end(["ended at once"])
                return 130
        self._look()
        view.end(self._left())
        return int(self._failed or bool(session.missed()) or any(map(_is_held, session.pool.jobs.values())))

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1

    def _look(self) -> None:
        """Report once that the queue's folder was removed: nothing more starts, and running programs are waited for."""
        if self._session.is_there or self._is_gone:
            return
        self._failed = self._is_gone = True
        message = f"the queue in {printable(str(self._session.folder))} has been removed: nothing more is started"
        hint = "press Ctrl-C twice to end the running programs"
        self._view.say(Diagnostic("run-folder-gone", message, help=hint))

    def _note(self, seen: PoolEvent) -> None:
        if seen.what is PoolEventKind.HELD:
            self._told.add(seen.job.id)
            self._failed |= is_missed(seen)
        elif seen.what in {PoolEventKind.ENDED, PoolEventKind.COMPLETED}:
            found = ending(seen.job.ad)
            self._failed |= found is not None and (found.by_signal or found.number != 0)

    def _left(self) -> list[str]:
        """Return messages about the jobs that stay in the queue."""
        session = self._session
        missed = set(session.missed())
        lines = [f"job {job} has missed its time and stays idle: nothing will start it" for job in sorted(missed)]
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
            lines.append(f"{waiting:,} idle in {folder}: crondor run continues with {'it' if waiting == 1 else 'them'}")
        if held:
            which = str(held[0].id) if len(held) == 1 else "--constraint 'JobStatus == 5'"
            command = f"crondor queue release --queue {folder} {which}"
            them = "it" if len(held) == 1 else "them"
            lines.append(f"{len(held):,} held in {folder}; this lets the next crondor run continue with {them}:")
            lines.append(whole(f"  {command}"))
        return lines


def _is_held(job: PoolJob) -> bool:
    return job.status == JobStatus.HELD
