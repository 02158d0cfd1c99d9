"""Which options of `crondor simulate` are for a pool, and which for a router and its sites."""

from __future__ import annotations

from typing import Final, NamedTuple

import click

_OF_POOL: Final = (
    *("transfer", "machines", "exit_code", "preempt", "faults", "knobs", "skew", "dialects", "policy", "advice"),
    *("trace", "log"),
)
_OF_ROUTER: Final = ("sites", "wait_for_gates")


class SimulatedRouter(NamedTuple):
    """The options of a simulated router."""

    routes: tuple[str, ...]
    sites: tuple[str, ...]
    wait_for_gates: bool
    events: bool
    timeline: bool
    plot: str | None
    format: str


def check_options(*, routed: bool) -> None:
    """Refuse those of a pool with --routes, and those of a router without. Raises UsageError."""
    context = click.get_current_context()
    wrong = [
        option.opts[0]
        for option in context.command.params
        if option.name in (_OF_POOL if routed else _OF_ROUTER)
        and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if wrong and routed:
        raise click.UsageError(
            f"{', '.join(wrong)} cannot be used with --routes: there the sites run the jobs", context
        )
    if wrong:
        raise click.UsageError(f"{', '.join(wrong)} needs --routes FILE", context)
