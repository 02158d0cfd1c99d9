"""An agenda as a picture, SVG or PNG: the days and hours above, a lane for each job below."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from crondor_cli._agenda_heat import draw_heat, heat_height
from crondor_cli._agenda_lanes import draw_lanes, lanes_height, lanes_of
from crondor_cli.agenda import Agenda
from crondor_cli.options import Clock
from crondor_cli.times_text import local_text
from crondor_cli.view_agenda import plural

_WIDTH = 14.0  # inches
_MARGINS = 2.4  # titles, axes and legend


def save(agenda: Agenda, clock: Clock, path: str) -> None:
    """Draw into a file, by its suffix. Raises OSError."""
    form = Path(path).suffix[1:].lower()
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font does not have is drawn as a box
        figure = draw(agenda, clock)
        figure.savefig(path, format=form, metadata={"Date": None} if form == "svg" else None)


def draw(agenda: Agenda, clock: Clock) -> Figure:
    """Return the picture; it needs no screen. To be called within ``matplotlib.rc_context``."""
    mpl.rcdefaults()  # not those of the user: a picture looks the same everywhere
    mpl.rc("font", size=9)
    mpl.rc("axes", titlesize=10, titlelocation="left")
    mpl.rc("hatch", linewidth=0.6)
    mpl.rc("svg", hashsalt="crondor")  # the same picture has the same bytes
    mpl.rc("text", parse_math=False)  # a file's name is no formula
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
