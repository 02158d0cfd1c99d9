"""A simulation as JSON; `crondor config schema simulate` has the keys."""

from __future__ import annotations

from collections.abc import Sequence

from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.streaming import echo_json
from crondor_cli.simulate.runs import Group, Simulated, SimulatedResult


def print_json(
    simulated: Simulated,
    happened: Sequence[dict[str, object]] | None,
    messages: Sequence[dict[str, object]] | None = None,
) -> None:
    """Print one object."""
    settings = simulated.settings
    data: dict[str, object] = {
        "zone": simulated.clock.zone_name,
        "from": simulated.start,
        "until": simulated.end,
        "schedd_interval": settings.schedd_interval,
        "match_delay": str(settings.match_delay),
        "transfer": str(settings.transfer),
        "run_time": str(settings.run_time),
        "slots": settings.slots,
        "skew": settings.skew,
        "seed": settings.seed,
        "machines": [str(machine) for machine in settings.machines],
        "exit_code": str(settings.exits),
        "preempt": None if settings.preemption is None else str(settings.preemption),
        "fail": [str(fault) for fault in settings.flow.faults],
        "readings": [
            {
                "dialect": dialect.value,
                "jobs": [
                    _job(simulated, group, result) for group, result in zip(simulated.groups, results, strict=True)
                ],
            }
            for dialect, results in simulated.sides.items()
        ],
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(simulated.findings)],
    }
    if happened is not None:
        data["events"] = list(happened)
    if messages is not None:
        data["flow"] = list(messages)
    echo_json(data)


def _job(simulated: Simulated, group: Group, result: SimulatedResult) -> dict[str, object]:
    outcome, enough = result
    return {
        "name": group.name,
        "line": group.line,
        "count": group.jobs.count,
        "is_deferred": outcome.is_deferred,
        "planned": outcome.planned,
        "named": simulated.named(group, outcome),
        **{fate.value: count for fate, count in outcome.counts.items()},
        "starts": outcome.starts,
        "evicted": outcome.evicted,
        "untold": outcome.untold,
        "repeated": outcome.repeated,
        "is_stranded": outcome.is_stranded,
        "idle_slot": outcome.idle_slot,
        "has_left": outcome.has_left,
        "hold_reason": outcome.hold,
        "removed": outcome.removed,
        "trouble": [fault.message for fault in outcome.trouble],
        "enough_prep_time": None if enough is None else enough.prep_time,
        "enough_window": None if enough is None else enough.window,
        "changes": [
            {"file": c.name, "line": c.line, "command": c.command, "before": c.old, "after": c.new}
            for c in simulated.changes(group, result)
        ],
    }
