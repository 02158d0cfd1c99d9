"""The input of `crondor simulate`: files, a crontab line, and the options of the pool."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

from crondor.diagnostics import CrondorError, Source
from crondor.knowledge.kinds import FileKind
from crondor.pool.simulate.jobs import PoolOptions, Simulated
from crondor.spec import FIELDS, CronSpec
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.schedules import host_of, read_description

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint


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


class SimulatedFiles(NamedTuple):
    """A crontab line to simulate as well, and what submit files may use besides their own text."""

    crontab: str | None = None
    surroundings: Surroundings = Surroundings()
    access_point: AccessPoint | None = None

    def read(self, path: str | None, start: int, zone: tzinfo, host: SubmitHost) -> SubmitFile:
        """Return a submit file, or for None the crontab line. Raises CrondorError, UsageError if unreadable."""
        source = self._line() if path is None else read_source(path, FileKind.SUBMIT)
        return read_description(source, "-" if path is None else path, self.surroundings, start, zone, host=host)

    def read_into(self, simulated: Simulated, paths: Sequence[str]) -> None:
        """Read submit files and the crontab line; faults of one are findings, and the others are simulated."""
        host = host_of(self.access_point)._replace(schedd_interval=simulated.settings.schedd_interval)
        named = (*paths, *([] if self.crontab is None else [None]))
        for path in PROGRESS.counted(named, "reading", "files"):
            self._read_one(simulated, path, host)
        simulated.check()

    def _read_one(self, simulated: Simulated, path: str | None, host: SubmitHost) -> None:
        try:
            file = self.read(path, simulated.start, simulated.clock.zone, host)
            simulated.take(file, is_named_alone=path is None)
        except CrondorError as error:
            simulated.refuse(error)

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
