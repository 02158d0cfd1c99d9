"""A simulation as a picture, SVG or PNG: a lane for each job or route, and a legend below."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from crondor_cli.kit.plot import save_figure
from crondor_cli.kit.times import local_text
from crondor_cli.simulate.shown import Picture, TimeAxis

_WIDTH: Final = 12.0  # inches
_LANE: Final = 0.3
_MARGINS: Final = 1.8
_DAY: Final = 86_400
_TICK: Final = 0.0012  # of the width: otherwise a run of a minute in a week is a thirtieth of a pixel
_DATES: Final = 7


def save(picture: Picture, path: str) -> None:
    """Draw into a file; its suffix sets the format. Raises OSError."""
    save_figure(lambda: _draw(picture), path)


def _draw(picture: Picture) -> Figure:
    figure = Figure(figsize=(_WIDTH, _LANE * max(1, len(picture.lanes)) + _MARGINS), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axis = picture.axis
    days = (axis.end - axis.start) / _DAY
    for number, lane in enumerate(picture.lanes):
        for state, (colour, _) in picture.colours.items():
            spans = [  # a short bar is widened to be visible
                ((span.start - axis.start) / _DAY, max((span.end - span.start) / _DAY, days * _TICK))
                for span in lane.spans
                if span.state == state
            ]
            axes.broken_barh(spans, (number - 0.4, 0.8), facecolors=colour, linewidth=0)
    axes.set_yticks(range(len(picture.labels)), list(picture.labels))
    axes.set_ylim(len(picture.labels) - 0.5, -0.5)
    axes.set_xlim(0, days)
    _date(axes, axis)
    figure.suptitle(picture.title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    patches = [Patch(facecolor=colour, label=name) for colour, name in picture.colours.values()]
    figure.legend(handles=patches, loc="outside lower left", ncols=len(patches), frameon=False)
    return figure


def _date(axes: Axes, axis: TimeAxis) -> None:
    """Write dates and times of day below the lanes."""
    moments = axis.ticks((axis.end - axis.start) // _DATES)
    texts = [local_text(moment, axis.zone) for moment in moments]
    labels = [f"{text[:14]}\n{text[15:20]}" for text in texts]
    axes.set_xticks([(moment - axis.start) / _DAY for moment in moments], labels)
    axes.set_xlabel(axis.zone_name)
