"""The pool that the options of `crondor simulate` describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TypeVar

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.policy import NO_POLICY, SystemPolicy
from crondor.pool.settings.exits import Exits
from crondor.pool.settings.lengths import Lengths
from crondor.pool.settings.links import FlowSettings, LinkFault
from crondor.pool.settings.machines import Machine
from crondor.pool.settings.pool import PoolSettings
from crondor.pool.settings.preemption import Preemption
from crondor.zones import Policy

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
