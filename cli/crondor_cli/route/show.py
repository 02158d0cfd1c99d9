"""`crondor route show`: the routing table of a configuration."""

from __future__ import annotations

import click

from crondor.classad.scope import Context
from crondor.diagnostics import Severity
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.options import Surroundings, clock_of, clock_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.route_options import (
    ConfigCommand,
    config_option,
    legacy_option,
    load_config,
    show_faults,
    table_of,
)
from crondor_cli.common.show import show
from crondor_cli.route.effective import effective_data, effective_of, print_effective
from crondor_cli.route.jobs import JobFiles
from crondor_cli.route.text import print_json, print_table, remarks

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route show --config r.conf"""

EPILOG = """\b
Examples:
  crondor route show --config 50-routes.conf
  crondor route show --config 10-base.conf --config 50-routes.conf \\
      --format json
  crondor route show --ce --config-root ./image --effective job.sub

Routes are shown as condor_job_router_info -config of HTCondor 25.14 shows them; those that it silently leaves out
follow with the reason and the place. Where the value of a knob beside them cannot be read nothing is routed: they are
shown all the same, and stderr says why.

With --effective the transforms that one job passes are shown: before the route, the route, behind it; each with the
variables that it reads, their values there, and who set them. FILE is a submit file or ads.

Exit status: 0 every listed route is there; 1 a route is rejected, routing is switched off, or a file is no text,
with --effective no route takes the job; 2 wrong usage, or a file that cannot be read."""


@click.command(
    "show",
    example=EXAMPLE,
    cls=ConfigCommand,
    epilog=EPILOG,
)
@config_option
@legacy_option
@click.option("--effective", metavar="FILE", help="Show the transforms that a job of this file passes, in order.")
@click.option("--job", metavar="C.P", help="With --effective: the job of this number, not the first.")
@format_option("table", "json", text="How to print the table.")
@clock_options
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    legacy: bool,
    effective: str | None,
    job: str | None,
    format_: str,
    now: str | None,
    tz: str | None,
) -> None:
    """Show the routes of a configuration in the order in which they are asked, and the transforms around them."""
    clock = clock_of(now, tz)
    context = Context(now=clock.now, zone=clock.zone)
    if job is not None and effective is None:
        raise click.UsageError("--job goes with --effective FILE", click.get_current_context(silent=True))
    configuration = load_config(config, allow_dirs, context)
    table = table_of(configuration, config, allow_dirs, context, legacy=legacy)
    if effective is not None:
        files = JobFiles((effective,), clock, Surroundings(allow_dirs=allow_dirs))
        found = effective_of(files, job, table, configuration)
        if format_ == "json":
            print_json(table, effective_data(found))
        else:
            print_effective(found)
            show_faults(table)
        raise click.exceptions.Exit(int(not found.is_routed))
    if format_ == "json":
        print_json(table)
    else:
        print_table(table)
        show(each for each in table.diagnostics if each.severity is Severity.ERROR)
        for line in remarks(table, legacy=legacy):
            say(line, err=True)
    raise click.exceptions.Exit(int(bool(table.rejected) or not table.is_enabled))
