"""An agenda as a picture, SVG or PNG: the days and hours above, a lane for each job below."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from crondor_cli.agenda.days import Agenda
from crondor_cli.agenda.heat import draw_heat, heat_height
from crondor_cli.agenda.lanes import draw_lanes, lanes_height, lanes_of
from crondor_cli.common.columns import plural
from crondor_cli.common.options import Clock
from crondor_cli.common.plot import save_figure
from crondor_cli.times.text import local_text

_WIDTH = 14.0  # inches
_MARGINS = 2.4  # titles, axes and legend


def save(agenda: Agenda, clock: Clock, path: str) -> None:
    """Draw into a file, by its suffix. Raises OSError."""
    save_figure(lambda: _draw(agenda, clock), path)


def _draw(agenda: Agenda, clock: Clock) -> Figure:
    mpl.rc("axes", titlesize=10, titlelocation="left")
    mpl.rc("hatch", linewidth=0.6)
    lanes = lanes_of(agenda)
    heights = [heat_height(agenda), lanes_height(lanes)]
    figure = Figure(figsize=(_WIDTH, sum(heights) + _MARGINS), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    heat, timeline = figure.subplots(2, 1, height_ratios=heights)
    figure.suptitle(_title(agenda, clock), x=0.01, ha="left", fontsize=12, fontweight="bold")
    draw_heat(figure, heat, agenda)
    draw_lanes(figure, timeline, agenda, lanes)
    return figure


def _title(agenda: Agenda, clock: Clock) -> str:
    start, end = (local_text(time, clock.zone)[:20] for time in (agenda.span.start, agenda.span.end))
    return (
        f"{plural(agenda.jobs, 'job')}, {plural(agenda.total, 'start')} from {start} until {end}, {clock.zone_name}"
        f" ({agenda.dialect.value})"
    )
