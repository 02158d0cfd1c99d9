"""Jobs of submit files in a simulated pool: what becomes of their runs, in one dialect or several."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.policy import NO_POLICY, SystemPolicy
from crondor.knowledge.kinds import FileKind
from crondor.pool.settings.exits import Exits
from crondor.pool.settings.lengths import Lengths
from crondor.pool.settings.links import FlowSettings, LinkFault
from crondor.pool.settings.machines import Machine
from crondor.pool.settings.pool import PoolSettings
from crondor.pool.settings.preemption import Preemption
from crondor.pool.simulate.jobs import Simulated
from crondor.source import Source
from crondor.spec import FIELDS, CronSpec
from crondor.submit import SubmitFile, SubmitHost, read_submit
from crondor.zones import Policy
from crondor_cli.kit.files import read_source
from crondor_cli.kit.jobs import files_of, host_of
from crondor_cli.kit.options import (
    Clock,
    Surroundings,
    UsageProblem,
)
from crondor_cli.kit.progress import PROGRESS

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint


class SimulatedRouter(NamedTuple):
    """The options of a simulated router."""

    routes: tuple[str, ...]
    sites: tuple[str, ...]
    wait_for_gates: bool
    events: bool
    timeline: bool
    plot: str | None
    format: str


_OBJECTS = 100_000  # made and not freed between two searches for garbage


class SimulatedFiles(NamedTuple):
    """A crontab line that is simulated as well, and what submit files may see beside their own text."""

    crontab: str | None = None
    surroundings: Surroundings = Surroundings()
    access_point: AccessPoint | None = None

    def read(self, path: str | None, start: int, zone: tzinfo, host: SubmitHost) -> SubmitFile:
        """Return a submit file, for None that of the crontab line. Raises CrondorError, UsageError if unreadable."""
        allow_dirs, seed, environ = self.surroundings
        source = self._line() if path is None else read_source(path, FileKind.SUBMIT)
        files = files_of("-" if path is None else path, allow_dirs)
        return read_submit(source, files=files, environ=environ, now=start, zone=zone, seed=seed, host=host)

    def read_into(self, simulated: Simulated, paths: Sequence[str]) -> None:
        """Read submit files and the crontab line; what is wrong with one is a finding, and the others count."""
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
    """Look for circles of garbage less often: a simulation leaves none, and looking takes a quarter of the time.

    The process is the command's own; the library leaves it alone.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


Made = TypeVar("Made")


@dataclass(frozen=True)
class PoolOptions:
    """The options, as they were written."""

    interval: int
    match_delay: str
    transfer: str
    run_time: str
    slots: int
    machines: tuple[str, ...]
    exit_code: str
    preempt: str | None
    faults: tuple[str, ...]
    knobs: tuple[str, ...]
    skew: int
    zone: tzinfo
    policy: Policy | None
    seed: int
    system_policy: SystemPolicy = field(default_factory=lambda: NO_POLICY)

    def settings(self) -> PoolSettings:
        """Return them as settings. Raises CrondorError with the faults of all of them."""
        found: list[Diagnostic] = []

        def read(parse: Callable[[str, str], Made], text: str, name: str, default: Made) -> Made:
            try:
                return parse(text, name)
            except CrondorError as error:
                found.extend(error.diagnostics)
                return default

        length = Lengths.fixed(0)
        flow = FlowSettings()
        for knob in self.knobs:
            flow = read(flow.with_knob, knob, "--knob", flow)
        faults = [read(LinkFault.parse, text, "--fail", None) for text in self.faults]
        machines = [read(Machine.parse, text, "--machine", None) for text in self.machines]
        made = PoolSettings(
            schedd_interval=self.interval,
            match_delay=read(Lengths.parse, self.match_delay, "--match-delay", length),
            transfer=read(Lengths.parse, self.transfer, "--transfer", length),
            run_time=read(Lengths.parse, self.run_time, "--run-time", length),
            slots=self.slots,
            machines=tuple(machine for machine in machines if machine is not None),
            exits=read(Exits.parse, self.exit_code, "--exit-code", Exits()),
            preemption=None if self.preempt is None else read(Preemption.parse, self.preempt, "--preempt", None),
            flow=flow.with_faults(fault for fault in faults if fault is not None),
            skew=self.skew,
            zone=self.zone,
            policy=self.policy,
            seed=self.seed,
            system_policy=self.system_policy,
        )
        if found:
            raise CrondorError(found)
        return made


def begun(pool: PoolOptions, clock: Clock, days: int, access_point: AccessPoint | None) -> Simulated:
    """Return a simulation of some days that has no jobs yet. Raises UsageProblem for a setting that cannot be read."""
    try:
        return Simulated(pool.settings(), clock.now, clock.now + days * 86_400, clock, access_point)
    except CrondorError as error:
        raise UsageProblem(error) from None
