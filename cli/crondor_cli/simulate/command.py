"""`crondor simulate`: simulate the jobs of submit files in a pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from crondor.event_log import write_event
from crondor.pool.daemons.events import PoolEvent, Watcher, events
from crondor.pool.daemons.flow import Listener
from crondor.pool.simulate.jobs import PoolOptions, Simulated
from crondor.spec import Dialect
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import check_plot, writes
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings, check_target, interval_of, is_typed
from crondor_cli.kit.parallel import sharing_options
from crondor_cli.kit.pool_config import read_pool
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import show
from crondor_cli.kit.tables import plural
from crondor_cli.simulate.routes import draw, run
from crondor_cli.simulate.runs import SimulatedFiles, SimulationOptions, begun, few_collections
from crondor_cli.simulate.shown import (
    COLOURS,
    Lanes,
    Picture,
    print_happenings,
    print_json,
    print_messages,
    print_table,
)

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release
    from crondor_cli.simulate import results


def simulate(simulated: Simulated, shown: SimulationOptions) -> None:
    """Simulate the jobs of the files in each dialect, and show the outcome."""
    show(dict.fromkeys(simulated.findings))
    if not simulated.groups and shown.format_ != "json":  # all files are invalid
        raise click.exceptions.Exit(1)
    views = _Views(simulated, shown)
    for dialect in dict.fromkeys((Dialect.HTCONDOR, *map(Dialect, shown.dialects))):
        bar = _progress(simulated, dialect)
        watchers, listeners = views.watchers(), views.listeners()
        with few_collections():
            simulated.run(dialect, advise=shown.advice, watchers=watchers, listeners=listeners, progress=bar)
    views.show()
    if not simulated.is_fine:
        raise click.exceptions.Exit(1)


class _Views:
    """The outputs of a simulation; events and messages are those of the first dialect."""

    def __init__(self, simulated: Simulated, shown: SimulationOptions) -> None:
        self._simulated = simulated
        self._shown = shown
        self._lanes = Lanes(simulated)
        self._is_json = shown.format_ == "json"
        self._happened: list[results.Event] = []
        self._messages: list[results.Message] = []

    def watchers(self) -> list[Watcher]:
        """Return the watchers of events."""
        if self._simulated.sides:
            return []
        found: list[Watcher] = [self._lanes.note] if self._shown.timeline or self._shown.plot else []
        if self._shown.events:
            found.append(print_happenings(self._simulated, self._happened if self._is_json else None))
        if self._shown.log is not None:
            found.append(_log_writer(self._shown.log, self._simulated.clock.zone))
        return found

    def listeners(self) -> list[Listener]:
        """Return the listeners to messages between the daemons."""
        if not self._shown.trace or self._simulated.sides:
            return []
        return [print_messages(self._simulated, self._messages if self._is_json else None)]

    def show(self) -> None:
        """Show the outcome of the jobs."""
        draw(lambda: _picture(self._simulated, self._lanes), self._shown.plot)
        if self._is_json:
            happened, messages = self._happened, self._messages
            print_json(
                self._simulated, happened if self._shown.events else None, messages if self._shown.trace else None
            )
        else:
            print_table(self._simulated, self._lanes if self._shown.timeline else None)


def _progress(simulated: Simulated, dialect: Dialect) -> Callable[[int], None]:
    """Return a function that shows the progress; the search for a sufficient time simulates the span again."""
    span = max(1, simulated.end - simulated.start)
    PROGRESS.begin(f"simulating ({dialect.value})", 100)

    def show_progress(reached: int) -> None:
        share = min(100, (reached - simulated.start) * 100 // span)
        if share < PROGRESS.done:
            PROGRESS.begin("finding sufficient times", 100)
        PROGRESS.done = share

    return show_progress


def _log_writer(path: str, zone: tzinfo) -> Watcher:
    """Return a watcher that writes the events of all jobs to a new file."""
    with writes(path):
        file = open(path, "x", encoding="utf-8")  # noqa: SIM115 - closed with the command
    click.get_current_context().call_on_close(file.close)

    def note(seen: PoolEvent) -> None:
        file.writelines(write_event(event, zone) for event in events(seen))

    return note


def _picture(simulated: Simulated, lanes: Lanes) -> Picture:
    lanes.close()
    title = f"{plural(simulated.job_count, 'job')}, {plural(simulated.settings.slots, 'slot')} (htcondor)"
    labels = lanes.labels
    return Picture(title, lanes.axis, labels, [lanes.lane(number) for number in range(len(labels))], COLOURS)


_OF_POOL: Final = (
    *("transfer", "machines", "exit_code", "preempt", "faults", "knobs", "skew", "dialects", "policy", "advice"),
    *("trace", "log"),
)
_OF_ROUTER: Final = ("sites", "wait_for_gates")


def check_options(*, routed: bool) -> None:
    """Check the options for a pool and those for a router. Raises UsageError."""
    context = click.get_current_context()
    wrong = [
        option.opts[0]
        for option in context.command.params
        if option.name in (_OF_POOL if routed else _OF_ROUTER) and is_typed(option.name)
    ]
    if wrong and routed:
        raise click.UsageError(
            f"{', '.join(wrong)} cannot be used with --routes, where the sites run the jobs", context
        )
    if wrong:
        raise click.UsageError(f"{', '.join(wrong)} needs --routes FILE", context)


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

All jobs are submitted together at --now. Lengths are seconds, 5m, 2h, 1d, a range 30-90, or exp:5m (exponential with
that mean); random lengths are the same for the same --seed. The pool behaves as HTCondor 25.14 does.

Exit status: 0 all planned runs start, 1 a planned run does not start, or a file is invalid, 2 wrong usage."""

_DIALECTS = click.Choice([dialect.value for dialect in Dialect], case_sensitive=False)


@click.command("simulate", cls=Command, example='crondor simulate --crontab "30 2 * * *"', epilog=EPILOG)
@opts.submit_files()
@opts.crontab_option
@click.option("--days", type=click.IntRange(1, 3660), help="Days of 24 h to simulate (default: 30, with --routes 1).")
@opts.interval_option
@opts.pool_config_options
@opts.target_option
@with_default("--run-time", "60", "How long a program runs.", metavar="LENGTH")
@with_default("--match-delay", "0-60", "How long a job that may be matched waits for the negotiator.", metavar="LENGTH")
@with_default("--transfer", "1", "How long the transfer of files takes.", metavar="LENGTH")
@with_default("--slots", 1, "Slots, one job each.", click.IntRange(1, 1_000_000))
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="cpus=N,memory=SIZE",
    help="A partitionable machine, instead of --slots; also disk=SIZE and count=N. Repeatable.",
)
@with_default("--exit-code", "0", "How programs end: 1, sig9, 0:95,1:4,sig9:1.", metavar="CODES")
@click.option("--preempt", metavar="[N%@]LENGTH", help="Preempt the job this long after its match, in N % of runs.")
@click.option(
    "--fail",
    "faults",
    multiple=True,
    metavar="LINK[:N%][@FROM..TO]",
    help="Make updates fail: shadow-schedd:20%@1h..2h fails 20 % between 1 h and 2 h after --now. Repeatable.",
)
@click.option(
    "--knob",
    "knobs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A knob of the daemons, such as SHADOW_QUEUE_UPDATE_INTERVAL=60.",
)
@with_default("--skew", 0, "Seconds that the execute machine's clock is ahead.", click.IntRange(-86_400, 86_400))
@click.option(
    "--routes", multiple=True, metavar="FILE", help="The configuration of a job router, which sends jobs to sites."
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="ROUTE=run|fail[:N%]|swallow|hold|remove",
    help="The behaviour of a route's site, followed by ,slots=N ,delay=LENGTH ,run-time=LENGTH. Repeatable.",
)
@click.option("--wait-for-gates", is_flag=True, help="With --routes: take scheduled jobs when a run's gate opens.")
@click.option("--dialect", "dialects", type=_DIALECTS, multiple=True, help="Also show this reading.")
@opts.file_options
@opts.policy_option(", in the other dialects")
@opts.clock_options
@click.option("--advice/--no-advice", default=True, help="Find the prep time and the window that would be enough.")
@click.option("--events", is_flag=True, help="Print all events, line by line.")
@click.option(
    "--trace", type=click.Choice(["flow"]), help="Print the messages between daemons about a job, line by line."
)
@click.option("--timeline", is_flag=True, help="Print a line of time for each job.")
@click.option("--plot", metavar="FILE", help="Draw the timeline to a .svg or .png file (needs matplotlib).")
@click.option("--log", metavar="FILE", help="Write the user log of all jobs into a new file.")
@opts.format_option("table", "json")
@sharing_options
@opts.gathered("shown", SimulationOptions)
@opts.gathered("pool", PoolOptions)
def command(
    paths: tuple[str, ...],
    crontab: str | None,
    days: int | None,
    pool_config: ConfigFiles | None,
    target: Release | None,
    pool: PoolOptions,
    surroundings: Surroundings,
    clock: Clock,
    shown: SimulationOptions,
    jobs: int | None,
) -> None:
    """Simulate the jobs of submit files in a pool: which runs start, which are late, missed, held.

    The pool has a schedd with SCHEDD_INTERVAL, a negotiator, slots and starters, and a simulated clock.
    """
    context = click.get_current_context()
    if pool.machines and context.get_parameter_source("slots") is not ParameterSource.DEFAULT:
        raise click.UsageError("--slots and --machine both define the pool: choose one", context)
    if not paths and crontab is None:
        raise click.UsageError("give at least one submit file: crondor simulate FILE, or --crontab LINE", context)
    check_target(pool_config)
    access_point = None
    if pool_config is not None:
        access_point = read_pool(pool_config, surroundings.allow_dirs, clock, target, beside=paths)
        interval = interval_of(pool.schedd_interval, access_point)
        pool = replace(pool, schedd_interval=interval, system_policy=access_point.policy)
    if not pool.schedd_interval:
        raise click.UsageError("--schedd-interval 0: a simulated schedd needs a pause between two passes", context)
    check_plot(shown.plot)
    check_options(routed=bool(shown.routes))
    pool = replace(pool, zone=clock.zone, seed=surroundings.seed or 0)
    simulated = begun(pool, clock, days or (1 if shown.routes else 30), access_point)
    SimulatedFiles(crontab, surroundings, access_point).read_into(simulated, paths, jobs)
    (run if shown.routes else simulate)(simulated, shown)
