"""A simulation as a picture, SVG or PNG: a lane of time for each job, and what became of its runs beside it."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from crondor_cli.common.columns import plural
from crondor_cli.common.plot import save_figure
from crondor_cli.simulate.lines import HELD, LATE, MISSED, MOST_LANES, RUNNING, WAITING, Lanes
from crondor_cli.simulate.runs import Simulated
from crondor_cli.times.text import local_text

_WIDTH: Final = 12.0  # inches
_LANE: Final = 0.3
_MARGINS: Final = 1.8
_COLOURS: Final = {
    WAITING: ("#f0c648", "waits on its slot"),
    RUNNING: ("#3f8f4f", "runs"),
    LATE: ("#8cc46b", "started late, in the window"),
    HELD: ("#7a7f87", "held"),
    MISSED: ("#c8402f", "missed"),
}

_DAY = 86_400
_TICK = 0.0012  # of the width: a run of a minute in a week would be a thirtieth of a pixel
_DATES = 7


def save(simulated: Simulated, lanes: Lanes, path: str) -> None:
    """Draw into a file, by its suffix. Raises OSError."""
    save_figure(lambda: _draw(simulated, lanes), path)


def _draw(simulated: Simulated, lanes: Lanes) -> Figure:
    lanes.close()
    groups = simulated.groups[:MOST_LANES]
    figure = Figure(figsize=(_WIDTH, _LANE * max(1, len(groups)) + _MARGINS), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    days = (simulated.end - simulated.start) / _DAY
    for number in range(len(groups)):
        for state, (colour, _) in _COLOURS.items():
            spans = [_bar(span, simulated.start, days) for span in lanes.spans.get(number, ()) if span[2] == state]
            axes.broken_barh(spans, (number - 0.4, 0.8), facecolors=colour, linewidth=0)
    axes.set_yticks(range(len(groups)), [group.label for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(0, days)
    _date(axes, simulated)
    title = f"{plural(simulated.job_count, 'job')}, {plural(simulated.settings.slots, 'slot')} (htcondor)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    patches = [Patch(facecolor=colour, label=name) for colour, name in _COLOURS.values()]
    figure.legend(handles=patches, loc="outside lower left", ncols=len(patches), frameon=False)
    return figure


def _bar(span: tuple[int, int, int], start: int, days: float) -> tuple[float, float]:
    """Return where a bar begins and how wide it is, in days; a short one is a tick that can be seen."""
    first, last, _ = span
    return (first - start) / _DAY, max((last - first) / _DAY, days * _TICK)


def _date(axes: Axes, simulated: Simulated) -> None:
    """Write dates and times of day below the lanes."""
    step = (simulated.end - simulated.start) / _DATES
    moments = [round(simulated.start + number * step) for number in range(_DATES + 1)]
    texts = [local_text(moment, simulated.clock.zone) for moment in moments]
    labels = [f"{text[:14]}\n{text[15:20]}" for text in texts]
    axes.set_xticks([(moment - simulated.start) / _DAY for moment in moments], labels)
    axes.set_xlabel(simulated.clock.zone_name)
