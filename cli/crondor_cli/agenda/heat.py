"""The heat map of an agenda: the starts of each local hour of each date."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from crondor.calendar import short_weekday
from crondor_cli.agenda.days import Agenda
from crondor_cli.agenda.span import AgendaSpan, Day
from crondor_cli.agenda.text import is_skipped

_ROW = 0.28  # inches
_TALLEST = 9.0
_NUMBERED = 32  # rows that have room for numbers
_OUTSIDE = "#e6e6e6"
_LINES = "#d0d0d0"
_TWICE = "#CC79A7"
_PALEST = 0.15  # of the colour map: one start is still to be seen


class _Kind(Enum):
    """What an hour is, as the legend says it; the usual kind needs no words."""

    USUAL = ""
    OUTSIDE = "before these days"
    SKIPPED = "the clock skips this hour"
    REPEATED = "the clock repeats this hour: both counted"


def heat_height(agenda: Agenda) -> float:
    """Return the height in inches."""
    return min(_TALLEST, max(0.6, _ROW * len(agenda.span.days)))


class _Scale(NamedTuple):
    """The colours of counts from the least to the most."""

    least: int
    most: int
    colours: Colormap

    def shade(self, count: int) -> float:
        """Return where a count stands, from 0 to 1."""
        return (count - self.least) / (self.most - self.least)


def draw_heat(figure: Figure, axes: Axes, agenda: Agenda) -> None:
    """Draw a row for each date and a column for each hour."""
    days = agenda.span.days
    counts = [[agenda.in_hour(hour) for hour in day.hours] for day in days]
    most = max(1, *(count or 0 for row in counts for count in row))
    colours = ListedColormap(colormaps["Blues"]([_PALEST + (1 - _PALEST) * n / 255 for n in range(256)]))
    scale = _Scale(min(1, most - 1), most, colours)
    seen = set()
    for row, (day, cells) in enumerate(zip(days, counts, strict=True)):
        for hour, count in enumerate(cells):
            kind = _kind(day, hour, agenda.span, count)
            seen.add(kind)
            _draw_cell(axes, (hour, row), kind, count or 0, scale, has_room=len(days) <= _NUMBERED)
    _frame(axes, days)
    if most > 1:
        _draw_scale(figure, axes, scale)
    handles = [_patch(kind) for kind in _Kind if kind in seen and kind.value]
    if handles:
        axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(handles), frameon=False,
                    fontsize=8, borderaxespad=0.2)  # fmt: skip


def _draw_cell(axes: Axes, at: tuple[int, int], kind: _Kind, count: int, scale: _Scale, *, has_room: bool) -> None:
    """Draw an hour, with the number of its starts where there is room."""
    cell = _patch(kind, at)
    if count:
        cell.set_facecolor(scale.colours(scale.shade(count)))
    if count and has_room:
        ink = "white" if scale.shade(count) > 0.55 else "black"
        axes.text(at[0] + 0.5, at[1] + 0.5, _short(count), ha="center", va="center", color=ink, fontsize=8, zorder=4)
    if not has_room and kind is not _Kind.REPEATED:
        cell.set_linewidth(0)
    axes.add_patch(cell)


def _draw_scale(figure: Figure, axes: Axes, scale: _Scale) -> None:
    """Draw what the colours mean, with three numbers at most."""
    colours = ScalarMappable(Normalize(scale.least, scale.most), scale.colours)
    bar = figure.colorbar(colours, ax=axes, pad=0.01, fraction=0.02, aspect=12)
    ticks = sorted({1, (1 + scale.most) // 2, scale.most})
    bar.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    bar.set_label("starts")


def _kind(day: Day, hour: int, span: AgendaSpan, count: int | None) -> _Kind:
    if count is None:
        return _Kind.SKIPPED if is_skipped(day, hour, span) else _Kind.OUTSIDE
    return _Kind.REPEATED if day.hours[hour].length > 3600 else _Kind.USUAL


def _patch(kind: _Kind, at: tuple[int, int] = (0, 0)) -> Rectangle:
    """Return a cell, or its sample for the legend."""
    cell = Rectangle(at, 1, 1, facecolor="white", edgecolor=_LINES, linewidth=0.6, label=kind.value)
    if kind is _Kind.OUTSIDE:
        cell.set_facecolor(_OUTSIDE)
    elif kind is _Kind.SKIPPED:
        cell.set_hatch("////")
    elif kind is _Kind.REPEATED:
        cell.set(edgecolor=_TWICE, linewidth=2, zorder=3)
    return cell


def _short(count: int) -> str:
    """Return a count in four characters, cut off where it has more digits."""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _frame(axes: Axes, days: tuple[Day, ...]) -> None:
    axes.set_xlim(0, 24)
    axes.set_ylim(len(days), 0)
    axes.set_xticks([hour + 0.5 for hour in range(24)], [f"{hour:02}" for hour in range(24)])
    step = -(-len(days) // _NUMBERED)
    rows = range(0, len(days), step)
    labels = [f"{short_weekday(days[row].date)} {days[row].date.isoformat()}" for row in rows]
    axes.set_yticks([row + 0.5 for row in rows], labels)
    axes.tick_params(length=0)
    axes.set_title("Starts in each hour, local time")
    for spine in axes.spines.values():
        spine.set_visible(False)
