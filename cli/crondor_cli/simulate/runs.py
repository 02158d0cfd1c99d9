"""The input of `crondor simulate`: files, a crontab line, and the options of the pool."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import NamedTuple

from crondor.access_point import AccessPoint
from crondor.diagnostics import CrondorError, Source
from crondor.pool.simulate.jobs import PoolOptions, Simulated, TakenFile
from crondor.spec import FIELDS, CronSpec
from crondor.submit import SubmitHost
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem
from crondor_cli.kit.parallel import FileTask, of_files
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import host_of, read_description


class SimulationOptions(NamedTuple):
    """The outputs wanted: the routes and sites of a router, dialects besides htcondor, advice, and views."""

    routes: tuple[str, ...]
    sites: tuple[str, ...]
    wait_for_gates: bool
    dialects: tuple[str, ...]
    advice: bool
    events: bool
    trace: str | None
    timeline: bool
    plot: str | None
    log: str | None
    format_: str


_OBJECTS = 100_000  # objects created between two garbage collections


_LEAST = 60  # files from which several processes read them; each takes 4 ms
_TOGETHER = 8  # files per task


class SimulatedFiles(NamedTuple):
    """A crontab line to simulate as well, and what submit files may use besides their own text."""

    crontab: str | None = None
    surroundings: Surroundings = Surroundings()
    access_point: AccessPoint | None = None

    def read_into(self, simulated: Simulated, paths: Sequence[str], jobs: int | None) -> None:
        """Read submit files and the crontab line; faults of one are findings, and the others are simulated.

        The files are read in a number of processes.
        """
        host = host_of(self.access_point)._replace(schedd_interval=simulated.settings.schedd_interval)
        work = partial(self._taken, simulated, host)
        all_taken = of_files(work, paths, self.surroundings.allow_dirs, jobs, least=_LEAST, together=_TOGETHER)
        with closing(all_taken):
            for taken in PROGRESS.counted(all_taken, "reading", "files", len(paths)):
                self._add(simulated, taken)
        if self.crontab is not None:
            try:
                line = self._line()
            except CrondorError as error:
                simulated.refuse(error)
            else:
                self._add(simulated, self._taken(simulated, host, FileTask("-", line)), is_named_alone=True)
        simulated.check()

    def _taken(self, simulated: Simulated, host: SubmitHost, task: FileTask) -> TakenFile | CrondorError:
        """Return the jobs of a file, or why it is refused. Raises UsageError if it cannot be read."""
        surroundings, zone = self.surroundings._replace(files=task.files), simulated.clock.zone
        try:
            file = read_description(task.read(), task.path, surroundings, simulated.start, zone, host=host)
            return simulated.taken(file)
        except CrondorError as error:
            return error

    @staticmethod
    def _add(simulated: Simulated, taken: TakenFile | CrondorError, *, is_named_alone: bool = False) -> None:
        if isinstance(taken, CrondorError):
            simulated.refuse(taken)
        else:
            simulated.add(taken, is_named_alone=is_named_alone)

    def _line(self) -> Source:
        line = (self.crontab or "").strip()
        given = CronSpec.from_line(line, name="--crontab").given
        commands = [f"{field.command} = {text}" for field, text in zip(FIELDS, given, strict=True) if text is not None]
        return Source("\n".join(["executable = /bin/true", *commands, "queue", ""]), line)


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage less often: a simulation leaves no cycles, and collecting takes a quarter of the time.

    This affects the process of the command; the library does not do it.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def begun(pool: PoolOptions, clock: Clock, days: int, access_point: AccessPoint | None) -> Simulated:
    """Return a simulation of some days without jobs. Raises UsageProblem for an invalid setting."""
    try:
        return Simulated(pool.settings(), clock.now, clock.now + days * 86_400, clock, access_point)
    except CrondorError as error:
        raise UsageProblem(error) from None
