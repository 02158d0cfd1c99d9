"""`crondor simulate`: what a pool makes of the jobs of some submit files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.command import Command
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.options import (
    Surroundings,
    clock_of,
    clock_options,
    crontab_option,
    file_options,
    format_option,
    interval_option,
    policy_option,
)
from crondor_cli.common.plot_file import check_plot
from crondor_cli.common.pool_config import check_target, interval_of, pool_config_options, read_pool, target_option
from crondor_cli.common.submit_files import submit_files
from crondor_cli.simulate.options import SimulatedRouter, check_options

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release

EXAMPLE = 'crondor simulate --crontab "30 2 * * *"'

EPILOG = """\b
Examples:
  crondor simulate examples/nightly.sub
  crondor simulate a.sub b.sub --days 90 --slots 4 --run-time 20m-2h
  crondor simulate job.sub --schedd-interval 60 --match-delay 120 \\
      --transfer 5m --dialect manual
  crondor simulate job.sub --days 2 --events
  crondor simulate job.sub --pool-config 50-site.conf
  crondor simulate job.sub --days 1 --trace flow --fail shadow-schedd@1h..2h
  crondor simulate job.sub --routes 50-routes.conf \\
      --site Site1=fail:30% --timeline

All jobs are submitted at --now, at once. Lengths are seconds, 5m, 2h, 1d, a range 30-90, or exp:5m (exponential with
that mean); those that are drawn are the same for the same --seed. What is shown is what HTCondor 25.14 does.

Exit status: 0 all planned runs start, 1 some do not or a file is invalid, 2 wrong usage."""

_DIALECTS = click.Choice([dialect.value for dialect in Dialect], case_sensitive=False)


@click.command(
    "simulate",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@submit_files()
@crontab_option
@click.option("--days", type=click.IntRange(1, 3660), help="Days of 24 h to simulate (default: 30, with --routes 1).")
@interval_option
@pool_config_options
@target_option
@click.option("--run-time", default="60", show_default=True, metavar="LENGTH", help="How long a program runs.")
@click.option(
    "--match-delay",
    default="0-60",
    show_default=True,
    metavar="LENGTH",
    help="How long a job whose gates are open waits for the negotiator.",
)
@click.option("--transfer", default="1", show_default=True, metavar="LENGTH", help="How long its files travel.")
@click.option("--slots", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Jobs that run at once.")
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="cpus=N,memory=SIZE",
    help="A machine that is divided as jobs ask for it, in place of --slots; disk=SIZE and count=N too. Repeatable.",
)
@click.option(
    "--exit-code",
    default="0",
    show_default=True,
    metavar="CODES",
    help="How programs end: 1, sig9, 0:95,1:4,sig9:1.",
)
@click.option(
    "--preempt", metavar="[N%@]LENGTH", help="The pool takes the machine back, so long after the match, in N % of runs."
)
@click.option(
    "--fail",
    "faults",
    multiple=True,
    metavar="LINK[:N%][@FROM..TO]",
    help="Updates that fail, as shadow-schedd:20%@1h..2h, counted from --now. Repeatable.",
)
@click.option(
    "--knob", "knobs", multiple=True, metavar="NAME=VALUE", help="SHADOW_QUEUE_UPDATE_INTERVAL=60, and the like."
)
@click.option(
    "--skew",
    type=click.IntRange(-86_400, 86_400),
    default=0,
    show_default=True,
    help="How far the execute machine's clock is ahead (s).",
)
@click.option(
    "--routes", multiple=True, metavar="FILE", help="The configuration of a job router, which gives the jobs to sites."
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="ROUTE=run|fail[:N%]|swallow|hold|remove",
    help="What the site of a route does; then ,slots=N ,delay=LENGTH ,run-time=LENGTH. Repeatable.",
)
@click.option("--wait-for-gates", is_flag=True, help="With --routes: take scheduled jobs when a run's gate opens.")
@click.option("--dialect", "dialects", type=_DIALECTS, multiple=True, help="Show this reading beside htcondor's.")
@file_options
@policy_option(", in the other dialects")
@clock_options
@click.option("--advice/--no-advice", default=True, help="Find the prep time and the window that would be enough.")
@click.option("--events", is_flag=True, help="Print all that happens, line by line.")
@click.option("--trace", type=click.Choice(["flow"]), help="Print who tells whom about a job, line by line.")
@click.option("--timeline", is_flag=True, help="Print a line of time for each job.")
@click.option("--plot", metavar="FILE", help="Draw it, into a file .svg or .png (needs matplotlib).")
@click.option("--log", metavar="FILE", help="Write the user log of all jobs into a new file.")
@format_option("table", "json")
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    days: int | None,
    schedd_interval: int,
    pool_config: ConfigFiles | None,
    target: Release | None,
    run_time: str,
    match_delay: str,
    transfer: str,
    slots: int,
    machines: tuple[str, ...],
    exit_code: str,
    preempt: str | None,
    faults: tuple[str, ...],
    knobs: tuple[str, ...],
    skew: int,
    routes: tuple[str, ...],
    sites: tuple[str, ...],
    wait_for_gates: bool,
    dialects: tuple[str, ...],
    surroundings: Surroundings,
    policy: Policy | None,
    now: str | None,
    tz: str | None,
    advice: bool,
    events: bool,
    trace: str | None,
    timeline: bool,
    plot: str | None,
    log: str | None,
    format_: str,
) -> None:
    """Simulate the jobs of submit files in a pool: which runs start, which are late, missed, held.

    A schedd with SCHEDD_INTERVAL, a negotiator, slots and starters, on a clock that takes no time.
    """
    context = click.get_current_context()
    if machines and context.get_parameter_source("slots") is not ParameterSource.DEFAULT:
        raise click.UsageError("--slots and --machine are two ways to say what the pool has: choose one", context)
    if not paths and crontab is None:
        raise click.UsageError("name at least one submit file: crondor simulate FILE, or --crontab LINE", context)
    clock = clock_of(now, tz)
    check_target(pool_config)
    access_point = None
    if pool_config is not None:
        access_point = read_pool(pool_config, surroundings.allow_dirs, clock, target, beside=paths)
        schedd_interval = interval_of(schedd_interval, access_point)
    if not schedd_interval:
        raise click.UsageError("--schedd-interval 0: a simulated schedd has to rest between two looks", context)
    check_plot(plot)
    check_options(routed=bool(routes))
    # These take 200 ms, which --help does not need.
    from crondor_cli.simulate.pool import PoolOptions  # noqa: PLC0415
    from crondor_cli.simulate.routed import run  # noqa: PLC0415
    from crondor_cli.simulate.runs import SimulatedFiles  # noqa: PLC0415
    from crondor_cli.simulate.work import SimulationViews, begun, simulate  # noqa: PLC0415

    pool = PoolOptions(
        interval=schedd_interval,
        match_delay=match_delay,
        transfer=transfer,
        run_time=run_time,
        slots=slots,
        machines=machines,
        exit_code=exit_code,
        preempt=preempt,
        faults=faults,
        knobs=knobs,
        skew=skew,
        zone=clock.zone,
        policy=policy,
        seed=surroundings.seed or 0,
        **({} if access_point is None else {"system_policy": access_point.policy}),
    )
    simulated = begun(pool, clock, _days(days, routes), SimulatedFiles(crontab, surroundings, access_point))
    if routes:
        run(simulated, paths, SimulatedRouter(routes, sites, wait_for_gates, events, timeline, plot, format_))
    else:
        shown = SimulationViews(
            tuple(map(Dialect, dialects)), advice, events, trace is not None, timeline, plot, log, format_
        )
        simulate(simulated, paths, shown)


def _days(days: int | None, routes: tuple[str, ...]) -> int:
    return days if days is not None else 1 if routes else 30
