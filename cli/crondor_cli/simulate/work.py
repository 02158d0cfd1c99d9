"""The work of `crondor simulate`, once its options are read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.diagnostics import CrondorError
from crondor.event_log import write_event
from crondor.pool.daemons.events import PoolEvent, Watcher
from crondor.pool.daemons.flow.messages import Listener
from crondor.pool.daemons.log_events import events
from crondor.spec import Dialect
from crondor_cli.common.columns import plural
from crondor_cli.common.options import Clock, UsageProblem
from crondor_cli.common.plot_file import writes
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.show import show
from crondor_cli.simulate.data import print_json
from crondor_cli.simulate.drawing import draw
from crondor_cli.simulate.flow import print_messages
from crondor_cli.simulate.lines import COLOURS, Lanes, print_happenings
from crondor_cli.simulate.pool import PoolOptions
from crondor_cli.simulate.runs import Simulated, SimulatedFiles
from crondor_cli.simulate.text import print_table

if TYPE_CHECKING:
    from crondor_cli.simulate.plot import Picture


class SimulationViews(NamedTuple):
    """What is wanted of a simulation: other dialects beside htcondor's, advice, and views."""

    dialects: tuple[Dialect, ...]
    advice: bool
    events: bool
    trace: bool
    timeline: bool
    plot: str | None
    log: str | None
    format: str


def begun(pool: PoolOptions, clock: Clock, days: int, files: SimulatedFiles) -> Simulated:
    """Return a simulation of some days that has no jobs yet. Raises UsageProblem for a setting that cannot be read."""
    try:
        return Simulated(pool.settings(), clock.now, clock.now + days * 86_400, clock, files)
    except CrondorError as error:
        raise UsageProblem(error) from None


def simulate(simulated: Simulated, paths: tuple[str, ...], shown: SimulationViews) -> None:
    """Run the jobs of the files in each dialect, and show what became of them."""
    _read(simulated, paths, shown.format)
    views = _Views(simulated, shown)
    for dialect in dict.fromkeys((Dialect.HTCONDOR, *shown.dialects)):
        bar = _progress(simulated, dialect)
        watchers, listeners = views.watchers(), views.listeners()
        simulated.run(dialect, advise=shown.advice, watchers=watchers, listeners=listeners, progress=bar)
    views.show()
    if not simulated.is_fine:
        raise click.exceptions.Exit(1)


class _Views:
    """What is shown and written of a simulation; what happens is that of the first dialect."""

    def __init__(self, simulated: Simulated, shown: SimulationViews) -> None:
        self._simulated = simulated
        self._shown = shown
        self._lanes = Lanes(simulated)
        self._is_json = shown.format == "json"
        self._happened: list[dict[str, object]] = []
        self._messages: list[dict[str, object]] = []

    def watchers(self) -> list[Watcher]:
        """Return who is told what happens."""
        if self._simulated.sides:
            return []
        found: list[Watcher] = [self._lanes.note] if self._shown.timeline or self._shown.plot else []
        if self._shown.events:
            found.append(print_happenings(self._simulated, self._happened if self._is_json else None))
        if self._shown.log is not None:
            found.append(_log_writer(self._shown.log, self._simulated.clock.zone))
        return found

    def listeners(self) -> list[Listener]:
        """Return who is told the messages between the daemons."""
        if not self._shown.trace or self._simulated.sides:
            return []
        return [print_messages(self._simulated, self._messages if self._is_json else None)]

    def show(self) -> None:
        """Show what became of the jobs."""
        draw(lambda: _picture(self._simulated, self._lanes), self._shown.plot)
        if self._is_json:
            happened, messages = self._happened, self._messages
            print_json(
                self._simulated, happened if self._shown.events else None, messages if self._shown.trace else None
            )
        else:
            print_table(self._simulated, self._lanes if self._shown.timeline else None)


def _read(simulated: Simulated, paths: tuple[str, ...], form: str) -> None:
    """Read the files, and say what is wrong with them; where all are refused, there is no table to show."""
    simulated.read(paths)
    show(dict.fromkeys(simulated.findings))
    if not simulated.groups and form != "json":
        raise click.exceptions.Exit(1)


def _progress(simulated: Simulated, dialect: Dialect) -> Callable[[int], None]:
    """Return what says how far a simulation is; to find what would be enough it goes through the span again."""
    span = max(1, simulated.end - simulated.start)
    PROGRESS.begin(f"simulating ({dialect.value})", 100)

    def show_progress(reached: int) -> None:
        share = min(100, (reached - simulated.start) * 100 // span)
        if share < PROGRESS.done:
            PROGRESS.begin("trying what would be enough", 100)
        PROGRESS.done = share

    return show_progress


def _log_writer(path: str, zone: tzinfo) -> Watcher:
    """Return what writes the events of all jobs into a file that is not there yet."""
    with writes(path):
        file = open(path, "x", encoding="utf-8")  # noqa: SIM115 - closed with the command
    click.get_current_context().call_on_close(file.close)

    def note(seen: PoolEvent) -> None:
        file.writelines(write_event(event, zone) for event in events(seen))

    return note


def _picture(simulated: Simulated, lanes: Lanes) -> Picture:
    from crondor_cli.simulate.plot import Picture  # noqa: PLC0415 - matplotlib is optional, and takes 0.4 s

    lanes.close()
    title = f"{plural(simulated.job_count, 'job')}, {plural(simulated.settings.slots, 'slot')} (htcondor)"
    labels = lanes.labels
    return Picture(title, lanes.axis, labels, [lanes.lane(number) for number in range(len(labels))], COLOURS)
