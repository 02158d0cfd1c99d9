"""`crondor hook daemon-cron`: a daemon's cron jobs, run as the daemon would, and the ads that come of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import chain

import click

from crondor.classad.ad import ClassAd
from crondor.classad.formats import read_ads
from crondor.classad.scope import Context
from crondor.diagnostics import Severity
from crondor.hooks.cron.live import LivePrograms
from crondor.hooks.cron.schedule import CronManager, Event, What
from crondor.hooks.cron.settings import CronSettings, Manager, Mode, read_settings
from crondor.hooks.environment import daemon_environment
from crondor.hooks.runner import RunningHook, wait
from crondor_cli.classad_files import chunks, name_of
from crondor_cli.hook_config import knobs_of
from crondor_cli.options import Clock, clock_of, clock_options
from crondor_cli.show import show

EPILOG = """\b
Examples:
  crondor hook daemon-cron --config /etc/condor/config.d/50-cron.conf
  crondor hook daemon-cron --config cron.conf --once --slots 4
  condor_status -long | crondor hook daemon-cron --config cron.conf --once --slot-ads -
  crondor hook daemon-cron --config cron.conf --manager schedd --for 60 --format json

All jobs of the configuration run, of STARTD_CRON_, SCHEDD_CRON_ and, with --benchmarks, BENCHMARKS_. --once ends when
each job has run one time; without it and without --for it goes on until Ctrl-C. At the end the ads are shown.

Exit status: 0 fine; 1 a fault in the configuration, or a program that could not be started; 2 wrong usage."""

_TICK = 0.05  # seconds between two looks at the clock
_NAMES = {manager.name.lower(): manager for manager in Manager}


@click.command("daemon-cron", epilog=EPILOG, short_help="Run a daemon's cron jobs, and show the ads they make.")
@click.option("--config", metavar="FILE", multiple=True, required=True, help="HTCondor configuration; later ones win.")
@click.option("--manager", type=click.Choice(list(_NAMES)), multiple=True, help="Whose jobs (default: startd, schedd).")
@click.option("--benchmarks", is_flag=True, help="Run the benchmarks, too: RunBenchmarks becomes true once.")
@click.option("--slots", metavar="N", type=click.IntRange(1, 1000), default=1, show_default=True, help="Slots to fill.")
@click.option("--slot-ads", metavar="FILE", help="The ads of the slots, from condor_status -long.")
@click.option("--once", is_flag=True, help="End when each job has run one time.")
@click.option("--for", "seconds", metavar="SECONDS", type=click.FloatRange(min=0), help="End after this time.")
@clock_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="json: a line each event.",
)
def command(
    config: tuple[str, ...],
    manager: tuple[str, ...],
    benchmarks: bool,
    slots: int,
    slot_ads: str | None,
    once: bool,
    seconds: float | None,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Run the cron jobs of a configuration as the startd and the schedd do, and show the resulting ads."""
    clock = clock_of(now, tz)
    knobs = knobs_of(config, Context(now=clock.now, zone=clock.zone), "STARTD")
    wanted = [_NAMES[name] for name in manager] or [Manager.STARTD, Manager.SCHEDD]
    wanted += [Manager.BENCHMARKS] if benchmarks and Manager.BENCHMARKS not in wanted else []
    settings = [read_settings(each, knobs) for each in wanted]
    faults = (*knobs.diagnostics, *chain.from_iterable(each.diagnostics for each in settings))
    show(faults)
    if not any(each.jobs for each in settings):
        raise click.UsageError("no jobs: STARTD_CRON_JOBLIST or SCHEDD_CRON_JOBLIST names none that can run")
    ads = _slots(slots, slot_ads)
    managers = [(_manager(each, clock, ads[0]), each) for each in settings if each.jobs]
    from crondor_cli.view_cron import Screen  # noqa: PLC0415 - after what can go wrong

    screen = Screen(format_, clock)
    with ExitStack() as stack:
        for each, _ in managers:
            stack.callback(_stop, each)
        with suppress(KeyboardInterrupt):
            for event in _events(managers, clock, now is not None, once, seconds):
                screen.event(event)
                show(event.diagnostics)
        for each, _ in managers:
            merged = [ClassAd({"Name": "schedd"})] if each.settings.manager is Manager.SCHEDD else ads
            screen.ads(each.settings.manager, [(ad, each.ads.merged(ad)) for ad in merged])
    bad = any(each.severity is Severity.ERROR for each in faults)
    if bad or screen.failed:
        raise click.exceptions.Exit(1)


def _manager(settings: CronSettings, clock: Clock, slot: ClassAd) -> CronManager:
    programs = LivePrograms(settings, daemon_environment(os.environ), time.monotonic, os.getcwd())
    return CronManager(settings, programs, slot, Context(now=clock.now, zone=clock.zone))


def _stop(manager: CronManager) -> None:
    """End what still runs, however the command ends."""
    for _ in manager.stop(time.monotonic()):
        pass


def _slots(count: int, path: str | None) -> list[ClassAd]:
    """Return the ads of the slots. Raises UsageError and CrondorError."""
    if path is None:
        return [ClassAd({"Name": f"slot{n}@localhost", "SlotID": n}) for n in range(1, count + 1)]
    ads = list(read_ads(chunks(path), name=name_of(path)))
    if not ads:
        raise click.UsageError(f"'{name_of(path)}' has no ad")
    return ads


def _events(
    managers: list[tuple[CronManager, CronSettings]], clock: Clock, stands: bool, once: bool, seconds: float | None
) -> Iterator[Event]:
    """Yield what happens until the end; with --now the clock of the ads stands still."""
    began = time.monotonic()

    def at() -> float:
        return clock.now + (0 if stands else time.monotonic() - began)

    done: set[tuple[str, str]] = set()
    for each, settings in managers:
        starts = each.configure(settings, at())
        benchmarks = each.demand(at()) if settings.manager is Manager.BENCHMARKS else ()
        yield from _noted(chain(starts, benchmarks), settings.manager, done)
    expected = {(s.manager.name, job.name) for _, s in managers for job in s.jobs if _runs(s.manager, job.mode)}
    while not (once and expected <= done) and (seconds is None or time.monotonic() - began < seconds):
        wait([hook for each, _ in managers for hook in _started(each)], _TICK)
        for each, settings in managers:
            yield from _noted(each.step(at()), settings.manager, done)
        benchmarks_run = any(each.running for each, theirs in managers if theirs.manager is Manager.BENCHMARKS)
        for each, settings in managers:
            each.blocked = settings.manager is Manager.STARTD and benchmarks_run


def _noted(events: Iterable[Event], manager: Manager, done: set[tuple[str, str]]) -> Iterator[Event]:
    """Yield events, and note which jobs have had a turn."""
    for event in events:
        if event.what in {What.ENDED, What.FAILED_TO_START}:
            done.add((manager.name, event.job))
        yield event


def _runs(manager: Manager, mode: Mode) -> bool:
    return mode is not Mode.ON_DEMAND or manager is Manager.BENCHMARKS


def _started(manager: CronManager) -> list[RunningHook]:
    programs = manager.programs
    return [each for each in programs.started if each.poll() is None] if isinstance(programs, LivePrograms) else []
