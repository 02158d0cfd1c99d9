"""A suggestion as a picture: the slots held at each time above, the starts in each minute of the hour below."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from crondor.calendar import short_weekday
from crondor.spreading import Load
from crondor_cli.agenda.days import Agenda
from crondor_cli.agenda.suggest import Suggestion
from crondor_cli.common.columns import plural
from crondor_cli.common.options import Clock
from crondor_cli.common.plot import save_figure
from crondor_cli.times.text import local_text

_BEFORE, _AFTER = "#E69F00", "#0072B2"  # after Okabe and Ito
_STEPS = 700  # of the time axis, each as high as the busiest minute in it
_MOST_DATES = 16  # that are named


def save_suggestion(agenda: Agenda, suggestion: Suggestion, clock: Clock, path: str) -> None:
    """Draw into a file, by its suffix. Raises OSError."""
    save_figure(lambda: _draw(agenda, suggestion, clock), path)


def _draw(agenda: Agenda, suggestion: Suggestion, clock: Clock) -> Figure:
    mpl.rc("axes", titlesize=10, titlelocation="left")
    figure = Figure(figsize=(14.0, 7.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2)
    time = suggestion.time
    start, end = (local_text(each, clock.zone)[:20] for each in (time.start, time.end))
    title = (
        f"{plural(agenda.jobs, 'job')} from {start} until {end}, {clock.zone_name}: minutes as they are, and proposed"
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    spreading = suggestion.spreading
    for column, (name, load, colour) in enumerate(
        (("Before", spreading.before, _BEFORE), ("After", spreading.after, _AFTER))
    ):
        _draw_held(axes[0][column], load, agenda, suggestion, colour)
        axes[0][column].set_title(f"{name}: slots held at once, {load.most_held:,} at most")
        _draw_starts(axes[1][column], load, colour)
        axes[1][column].set_title(f"{name}: most starts in each minute of the hour, {load.most_starts:,} at most")
    for row, most in enumerate((spreading.before.most_held, spreading.before.most_starts)):
        for each in axes[row]:
            each.set_ylim(0, max(1, most) * 1.05)  # the same on both sides: else they cannot be compared
            each.yaxis.get_major_locator().set_params(integer=True)
            each.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_held(axes: Axes, load: Load, agenda: Agenda, suggestion: Suggestion, colour: str) -> None:
    size = -(-len(load.held) // _STEPS)
    lows = range(0, len(load.held), size)
    axes.fill_between(lows, [max(load.held[low : low + size]) for low in lows], step="post", color=colour, linewidth=0)
    axes.set_xlim(0, len(load.held))
    days = agenda.span.days
    shown = days[:: -(-len(days) // _MOST_DATES)]
    labels = [f"{short_weekday(day.date)} {day.date.day:02}" for day in shown]
    axes.set_xticks([suggestion.time.minute(day.start) for day in shown], labels, ha="left")
    axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)


def _draw_starts(axes: Axes, load: Load, colour: str) -> None:
    # The time begins at a local midnight; in a zone with half hours a clock change may move what follows.
    axes.bar(range(60), [max(load.starts[minute::60], default=0) for minute in range(60)], width=0.8, color=colour)
    axes.set_xlim(-0.6, 59.6)
    axes.set_xticks(range(0, 60, 5), [f":{minute:02}" for minute in range(0, 60, 5)])
