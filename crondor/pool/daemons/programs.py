"""The programs of jobs, as a pool knows them: it has them started and ended, whether they run or only take time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from crondor.pool.daemons.pool_job import JobRun, PoolJob
from crondor.pool.settings.exits import SUCCESS, Exit
from crondor.pool.settings.pool import PoolSettings
from crondor.schedd.protocol import Hold

_PROGRAM: Final = 4
_EXIT: Final = 6
_made: Final = tuple.__new__  # a third of what the class itself takes
_NOTHING: Final[Mapping[str, object]] = {}


class Lasting(NamedTuple):
    """A program of which it is known when it ends (seconds from its start), and how."""

    seconds: int
    exit: Exit = SUCCESS


class Programs(Protocol):
    """What starts and ends programs; times are epoch seconds."""

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:
        """Return what is written into the job before its program is started."""

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting | Hold | None:
        """Start the program of a run; a Hold says why that cannot be.

        None: it ends when it ends, and somebody will call ``Pool.ended``.
        """

    def stop(self, job: PoolJob, run: JobRun, signal: str) -> None:
        """End a program that was started; ``signal`` is the job's attribute that names how: KillSig, RemoveKillSig."""

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Stop a program for a while."""

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Let a suspended program go on."""


class DrawnPrograms:
    """Programs that take the time the settings say, and end as these say."""

    def __init__(self, settings: PoolSettings) -> None:
        """Take the lengths, the ways to end, and the seed."""
        self._run_time = settings.run_time
        self._exits = settings.exits
        self._seed = settings.seed
        self._exit = self._exits.weights[0][0] if self._exits.is_fixed else None
        self._always = None
        if self._run_time.is_fixed and self._exit is not None:
            self._always = Lasting(self._run_time.low, self._exit)

    def marks(self, job: PoolJob, run: JobRun, now: int) -> Mapping[str, object]:  # noqa: ARG002 - the seam's signature
        """Write nothing."""
        return _NOTHING

    def start(self, job: PoolJob, run: JobRun, now: int) -> Lasting | Hold | None:  # noqa: ARG002 - the same
        """Draw how long it takes, and how it ends."""
        return self.drawn(job, now)

    def drawn(self, job: PoolJob, now: int) -> Lasting:
        """Return how long the program of a job's run takes that is started at ``now``, and how it ends."""
        if self._always is not None:
            return self._always
        time = job.gate.time
        key = now if time is None else time
        seconds = self._run_time.drawn(job.chance(self._seed, _PROGRAM, key))
        ending = self._exit
        if ending is None:
            ending = self._exits.drawn(job.chance(self._seed, _EXIT, key))
        return _made(Lasting, (seconds, ending))

    def stop(self, job: PoolJob, run: JobRun, signal: str) -> None:
        """Forget it: there is nothing to end."""

    def suspend(self, job: PoolJob, run: JobRun) -> None:
        """Leave it to the pool, which knows how long it has still to run."""

    def resume(self, job: PoolJob, run: JobRun) -> None:
        """Leave it to the pool."""
