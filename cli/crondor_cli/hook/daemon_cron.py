"""`crondor hook daemon-cron`: run a daemon's cron jobs as the daemon would, and show the resulting ads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import click

from crondor.classad.ad import ClassAd
from crondor.classad.formats import read_ads
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error, printable
from crondor.hooks.cron.schedule import CronEvent, CronLoop, CronManager, CronStep, LivePrograms
from crondor.hooks.cron.settings import CronSettings, Manager, misspelt, read_settings
from crondor.hooks.kinds import daemon_environment
from crondor.hooks.runner import RunningHook, wait
from crondor.job.attributes import printed, string
from crondor_cli.hook.run import ad_lines
from crondor_cli.kit.ads import chunks, name_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.configs import knobs_of
from crondor_cli.kit.options import Clock, clock_options, format_option
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.services import waking
from crondor_cli.kit.tables import say_json

if TYPE_CHECKING:
    from crondor_cli.hook import results


class Screen:
    """Prints events as they come, and the ads at the end."""

    def __init__(self, format_: str, clock: Clock) -> None:
        """Take the format (table or json) and the zone for times."""
        self._is_json = format_ == "json"
        self._clock = clock
        self.failed = False

    def event(self, event: CronEvent) -> None:
        """Print an event."""
        self.failed = self.failed or event.what is CronStep.FAILED_TO_START
        if self._is_json:
            say_json(_event_data(event))
            return
        moment = datetime.fromtimestamp(event.time, self._clock.zone)
        name = event.job if event.block is None else event.block.name
        said = event.text
        if event.published is not None:
            said = "update of the collector" if event.published.updates else "no update"
        say(printable(f"{moment:%H:%M:%S}  {name:12}  {event.what.value:15}  {said}".rstrip()))
        if event.block is not None:
            for line in ad_lines(event.block.ad):
                say(f"          {printable(line)}")

    def ads(self, manager: Manager, ads: Iterable[tuple[ClassAd, ClassAd]]) -> None:
        """Print the attributes that the jobs have added: pairs of an ad without and with them."""
        for before, after in ads:
            added = after.flat()
            for each in [n for n in after if n in before and printed(after, n) == printed(before, n)]:
                added.prune(each)
            shown = string(before, "Name") or "the ad"
            if self._is_json:
                values = {each: added.text(each) for each in added}
                data: results.Added = {"manager": manager.name.lower(), "ad": shown, "attributes": values}
                say_json(data)
            else:
                say(f"\n{printable(shown)}")
                for line in ad_lines(added) if added else ["nothing"]:
                    say(f"  {printable(line)}")


def _event_data(event: CronEvent) -> results.Event:
    block, published = event.block, event.published
    return {
        "time": round(event.time, 3),
        "job": event.job,
        "what": event.what.value,
        "text": event.text,
        "ad": None if block is None else {"name": block.name, "attributes": {n: block.ad.text(n) for n in block.ad}},
        "changed": None if published is None else published.changed,
        "updates": None if published is None else published.updates,
    }


EXAMPLE = """\
printf 'STARTD_CRON_JOBLIST=A\\nSTARTD_CRON_A_MODE=OneShot\\n' > a.conf
echo STARTD_CRON_A_EXECUTABLE=/bin/true >> a.conf
crondor hook daemon-cron --config a.conf --once"""

EPILOG = """\b
Examples:
  crondor hook daemon-cron --config /etc/condor/config.d/50-cron.conf
  crondor hook daemon-cron --config cron.conf --once --slots 4
  condor_status -long | crondor hook daemon-cron --config cron.conf \\
      --once --slot-ads -
  crondor hook daemon-cron --config cron.conf --manager schedd --for 60 \\
      --format json

All jobs of STARTD_CRON_, SCHEDD_CRON_ and, with --benchmarks, BENCHMARKS_ run. --once ends when each job has run once;
without it and without --for the command runs until Ctrl-C or SIGTERM, which end the programs (SIGTERM, a second later
SIGKILL). At the end the ads are shown. SIGHUP reads the configuration again, as condor_reconfig does.

Exit status: 0 fine; 1 a fault in the configuration, or a program that could not be started; 2 wrong usage."""

_NAMES = {manager.name.lower(): manager for manager in Manager}


@click.command("daemon-cron", cls=Command, is_endless=True, example=EXAMPLE, epilog=EPILOG)
@click.option("--config", metavar="FILE", multiple=True, required=True, help="HTCondor configuration; later lines win.")
@click.option(
    "--manager",
    type=click.Choice(list(_NAMES)),
    multiple=True,
    help="The daemon whose jobs run (default: startd, schedd).",
)
@click.option("--benchmarks", is_flag=True, help="Run the benchmarks, too: RunBenchmarks becomes true once.")
@with_default("--slots", 1, "Slots to fill.", click.IntRange(1, 1000), metavar="N")
@click.option("--slot-ads", metavar="FILE", help="The ads of the slots, from condor_status -long.")
@click.option("--once", is_flag=True, help="End when each job has run once.")
@click.option("--for", "seconds", metavar="SECONDS", type=click.FloatRange(min=0), help="End after this time.")
@clock_options
@format_option("table", "json", text="json: a line for each event.")
def command(
    config: tuple[str, ...],
    manager: tuple[str, ...],
    benchmarks: bool,
    slots: int,
    slot_ads: str | None,
    once: bool,
    seconds: float | None,
    clock: Clock,
    format_: str,
) -> None:
    """Run the cron jobs of a configuration as the startd and the schedd do, and show the resulting ads."""
    wanted = [_NAMES[name] for name in manager] or [Manager.STARTD, Manager.SCHEDD]
    wanted += [Manager.BENCHMARKS] if benchmarks and Manager.BENCHMARKS not in wanted else []
    settings, is_bad = _read(config, wanted, clock)
    if not any(each.jobs for each in settings):
        raise click.UsageError("no jobs: STARTD_CRON_JOBLIST or SCHEDD_CRON_JOBLIST has no job that can run")
    ads = _slots(slots, slot_ads)
    managers = [_manager(each, clock, ads[0]) for each in settings]

    def read_again() -> list[CronSettings] | None:
        nonlocal is_bad
        show([Diagnostic("hook-cron-reconfig", "SIGHUP: the configuration is reloaded", Severity.NOTE)])
        try:
            found, is_bad = _read(config, wanted, clock)
        except (click.UsageError, CrondorError) as error:
            is_bad = True
            show([Diagnostic("hook-cron-reconfig", f"{error}; the jobs are unchanged")])
            return None
        for each, theirs in zip(managers, found, strict=True):
            if isinstance(each.programs, LivePrograms):
                each.programs.settings = theirs
        return found

    screen = Screen(format_, clock)
    loop = CronLoop(managers, clock.now, stands=clock.is_fixed, read=read_again, ticks=time.monotonic)
    ends = dict.fromkeys(("SIGINT", "SIGTERM"), lambda *_: loop.end())
    with ExitStack() as stack:
        for each in managers:
            stack.callback(_stop, each)
        with suppress(KeyboardInterrupt), waking({**ends, "SIGHUP": lambda *_: loop.renew()}) as waker:

            def pause(hooks: Iterable[RunningHook], longest: float) -> None:
                wait(hooks, longest, [waker.descriptor])
                waker.forget()

            for event in loop.events(pause, once=once, seconds=seconds):
                screen.event(event)
                show(event.diagnostics)
        _show_ads(screen, managers, ads)
    if is_bad or screen.failed:
        raise click.exceptions.Exit(1)


def _show_ads(screen: Screen, managers: list[CronManager], slots: list[ClassAd]) -> None:
    """Show the slots, with the attributes of a startd's jobs and benchmarks, and the schedd."""
    into_slots = [each for each in managers if each.settings.jobs and each.settings.manager is not Manager.SCHEDD]
    for each in managers:
        if each.settings.jobs and each.settings.manager is Manager.SCHEDD:
            ad = ClassAd({"Name": "schedd"})
            screen.ads(Manager.SCHEDD, [(ad, each.ads.merged(ad))])
        elif into_slots and each is into_slots[0]:
            screen.ads(
                each.settings.manager,
                [(slot, reduce(lambda ad, one: one.ads.merged(ad), into_slots, slot)) for slot in slots],
            )


def _read(config: tuple[str, ...], wanted: list[Manager], clock: Clock) -> tuple[list[CronSettings], bool]:
    """Return the managers' settings, and whether there are faults, which are shown. Raises UsageError."""
    knobs = knobs_of(config, Context(now=clock.now, zone=clock.zone), "STARTD")
    settings = [read_settings(each, knobs) for each in wanted]
    faults = [*knobs.diagnostics, *chain.from_iterable(each.diagnostics for each in settings)]
    for each in settings:
        faults += misspelt(each, each.listed, knobs.texts())
    show(faults)
    return settings, has_error(faults)


def _manager(settings: CronSettings, clock: Clock, slot: ClassAd) -> CronManager:
    programs = LivePrograms(settings, daemon_environment(os.environ), time.monotonic, os.getcwd())
    return CronManager(settings, programs, slot, Context(now=clock.now, zone=clock.zone))


def _stop(manager: CronManager) -> None:
    """End running programs, however the command ends."""
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
