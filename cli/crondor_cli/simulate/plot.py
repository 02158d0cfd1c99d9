"""A simulation as a picture, SVG or PNG: a lane of time for each job, and what became of its runs beside it."""

from __future__ import annotations

from typing import Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from crondor_cli.common.columns import plural
from crondor_cli.common.plot import save_figure
from crondor_cli.simulate.lines import COLUMNS, HELD, IDLE, LATE, MISSED, MOST_LANES, RUNNING, WAITING, Lanes
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


def save(simulated: Simulated, lanes: Lanes, path: str) -> None:
    """Draw into a file, by its suffix. Raises OSError."""
    save_figure(lambda: _draw(simulated, lanes), path)


def _draw(simulated: Simulated, lanes: Lanes) -> Figure:
    lanes.close()
    groups = simulated.groups[:MOST_LANES]
    figure = Figure(figsize=(_WIDTH, _LANE * max(1, len(groups)) + _MARGINS), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    days = (simulated.end - simulated.start) / 86_400
    step = days / COLUMNS
    for number in range(len(groups)):
        lane = lanes.columns.get(number, [IDLE] * COLUMNS)
        for state, (colour, _) in _COLOURS.items():
            spans = [(column * step, step) for column, found in enumerate(lane) if found == state]
            axes.broken_barh(spans, (number - 0.4, 0.8), facecolors=colour)
    axes.set_yticks(range(len(groups)), [group.label for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(0, days)
    axes.set_xlabel(f"days from {local_text(simulated.start, simulated.clock.zone)}")
    title = f"{plural(simulated.job_count, 'job')}, {plural(simulated.settings.slots, 'slot')} (htcondor)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    patches = [Patch(facecolor=colour, label=name) for colour, name in _COLOURS.values()]
    figure.legend(handles=patches, loc="outside lower left", ncols=len(patches), frameon=False)
    return figure
