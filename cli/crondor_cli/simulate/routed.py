"""`crondor simulate --routes`: a job router in the simulated pool."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from crondor.classad.scope import Context
from crondor.router.daemon import RouterOptions
from crondor_cli.common.columns import plural
from crondor_cli.common.layout import screen_columns
from crondor_cli.common.output import say
from crondor_cli.common.route_options import load_route_table
from crondor_cli.common.show import show
from crondor_cli.simulate.drawing import draw
from crondor_cli.simulate.options import SimulatedRouter
from crondor_cli.simulate.route_lanes import COLOURS, RouteLanes
from crondor_cli.simulate.route_runs import RoutedSimulation, findings_of, sites_of
from crondor_cli.simulate.routes_text import print_events, print_json, print_table
from crondor_cli.simulate.runs import Simulated

if TYPE_CHECKING:
    from crondor_cli.simulate.plot import Picture


def run(simulated: Simulated, paths: Sequence[str], options: SimulatedRouter) -> None:
    """Simulate the jobs of some files, and print what became of them; exit with 1 where not all were done."""
    zone = simulated.clock.zone
    table = load_route_table(options.routes, (), Context(now=simulated.start, zone=zone), legacy=False)
    sites = sites_of(table, options.sites, simulated.settings)
    simulated.read(paths)
    made = RoutedSimulation.of(
        simulated, table, sites, RouterOptions(waits_for_gates=options.wait_for_gates, zone=zone)
    )
    made.run()
    findings = list(dict.fromkeys(findings_of(simulated, table)))
    show(findings)
    if not table.is_enabled:
        say("JobRouter is disabled.", err=True)
    screen = None if options.format == "json" else screen_columns(sys.stdout)
    lanes = RouteLanes(made, screen) if options.timeline or options.plot is not None else None
    shown = lanes if options.timeline else None
    if lanes is not None:
        draw(lambda: _picture(made, lanes), options.plot)
    if options.format == "json":
        print_json(made, findings, shown, events=options.events)
    else:
        if options.events:
            print_events(made)
        print_table(made, shown)
    if not made.is_fine:
        raise click.exceptions.Exit(1)


def _picture(made: RoutedSimulation, lanes: RouteLanes) -> Picture:
    from crondor_cli.simulate.plot import Picture  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s

    jobs, routes = plural(made.simulated.job_count, "job"), plural(len(made.table.routes), "route")
    return Picture(f"{jobs}, {routes}", lanes.axis, lanes.labels, lanes.lanes, COLOURS)
