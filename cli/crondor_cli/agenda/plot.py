"""An agenda as a picture, SVG or PNG: days and hours at the top, a lane for each job below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

import matplotlib as mpl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import blended_transform_factory

from crondor.calendar import short_weekday
from crondor.diagnostics import CrondorError
from crondor.preview.agenda import Agenda, AgendaEntry, members, with_count
from crondor.preview.span import AgendaSpan, Day, is_skipped
from crondor.preview.suggestion import Suggestion
from crondor.spreading import Load
from crondor_cli.kit.options import Clock
from crondor_cli.kit.plot import save_figure
from crondor_cli.kit.tables import plural
from crondor_cli.kit.times import length, local_text

_ROW = 0.28  # inches
_TALLEST = 9.0
_NUMBERED = 32  # rows that still have room for numbers
_OUTSIDE = "#e6e6e6"
_LINES = "#d0d0d0"
_TWICE = "#CC79A7"
_PALEST = 0.15  # of the colour map: a single start must be visible


class _Kind(Enum):
    """The kind of an hour, as named in the legend; the usual kind has no name."""

    USUAL = ""
    OUTSIDE = "before the first day"
    SKIPPED = "the clock skips this hour"
    REPEATED = "the clock repeats this hour: both counted"


class _Scale(NamedTuple):
    """The colours for counts from the lowest to the highest."""

    least: int
    most: int
    colours: Colormap

    def shade(self, count: int) -> float:
        """Return the position of a count, from 0 to 1."""
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
        shades = ScalarMappable(Normalize(scale.least, scale.most), scale.colours)
        bar = figure.colorbar(shades, ax=axes, pad=0.01, fraction=0.02, aspect=12)
        ticks = sorted({1, (1 + scale.most) // 2, scale.most})
        bar.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
        bar.set_label("starts")
    handles = [_patch(kind) for kind in _Kind if kind in seen and kind.value]
    if handles:
        axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(handles), frameon=False,
                    fontsize=8, borderaxespad=0.2)  # fmt: skip


def _draw_cell(axes: Axes, at: tuple[int, int], kind: _Kind, count: int, scale: _Scale, *, has_room: bool) -> None:
    """Draw an hour, with the number of its starts if there is room."""
    cell = _patch(kind, at)
    if count:
        cell.set_facecolor(scale.colours(scale.shade(count)))
    if count and has_room:
        ink = "white" if scale.shade(count) > 0.55 else "black"
        axes.text(at[0] + 0.5, at[1] + 0.5, _short(count), ha="center", va="center", color=ink, fontsize=8, zorder=4)
    if not has_room and kind is not _Kind.REPEATED:
        cell.set_linewidth(0)
    axes.add_patch(cell)


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
    """Return a count in four characters, truncated if it has more digits."""
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


MOST_LANES = 30
_LONGEST = 38  # characters of a name
_DOTS = 1000  # of the width of the timeline
_NARROWEST = 2  # dots of a band
_CLOSE = 3  # dots between two starts drawn as one block
_PREP, _WINDOW, _START, _BLOCK = "#E69F00", "#56B4E9", "#000000", "#5A5A5A"  # after Okabe and Ito
_STRIPES = ("white", "#f5f5f5")
_Group = tuple[int, int]  # the first and the last of some starts


class Lane(NamedTuple):
    """A row: its name, the minutes of its starts, and the length of its bands before and after them (seconds)."""

    name: str
    bits: int
    before: int = 0
    after: int = 0


def lanes_of(agenda: Agenda) -> list[Lane]:
    """Return a lane for each entry with a start, in file order; the last lane combines those beyond the limit."""
    shown = [entry for entry in agenda.entries if entry.strand.bits]
    single = shown if len(shown) <= MOST_LANES else shown[: MOST_LANES - 1]
    lanes = [_lane(entry, agenda.span) for entry in single]
    rest = shown[len(single) :]
    if rest:
        bits = 0
        for entry in rest:
            bits |= entry.strand.bits
        lanes.append(Lane(f"and {plural(sum(entry.job.count for entry in rest), 'more job')}", bits))
    return lanes


def _lane(entry: AgendaEntry, span: AgendaSpan) -> Lane:
    name = with_count(entry)
    before = after = 0
    with suppress(CrondorError):  # the window is an expression
        deferral = entry.schedule.deferral(entry.first or span.start, span.start)
        before, after = deferral.time - deferral.match_opens, deferral.last_start - deferral.time
    return Lane(name if len(name) <= _LONGEST else f"...{name[3 - _LONGEST :]}", entry.strand.bits, before, after)


def draw_lanes(figure: Figure, axes: Axes, agenda: Agenda, lanes: list[Lane]) -> None:
    """Draw every lane, the axis of local time, and the legend."""
    span = agenda.span
    close = max(60, (span.end - span.start) * _CLOSE // _DOTS // 60 * 60)
    groups = [list(_joined(map(span.instant, members(lane.bits)), close)) for lane in lanes]
    for row, (lane, found) in enumerate(zip(lanes, groups, strict=True)):
        stripe = Rectangle((span.start, row), span.end - span.start, 1, facecolor=_STRIPES[row % 2], zorder=0)
        stripe.set_gid(f"lane-{row}")
        axes.add_patch(stripe)
        _draw_lane(axes, row, lane._replace(before=_seen(lane.before, span), after=_seen(lane.after, span)), found)
    axes.set_xlim(span.start, span.end)
    axes.set_ylim(max(1, len(lanes)), 0)
    axes.set_yticks([row + 0.5 for row in range(len(lanes))], [lane.name for lane in lanes])
    axes.tick_params(axis="y", length=0)
    _draw_time(axes, span)
    idle = len(agenda.idle)
    title = "Each run: from when it may be matched, its start, and until when it may start"
    title += f" ({idle:,} without a start not shown)" if idle and lanes else ""
    axes.set_title(title, pad=18 if span.changes else None)
    if lanes:
        _legend(figure, lanes, groups, close)
    else:
        blank = {"facecolor": "white", "edgecolor": "none"}
        axes.text(0.5, 0.5, "no start in this time", transform=axes.transAxes, ha="center", va="center", bbox=blank)


def _seen(length: int, span: AgendaSpan) -> int:
    """Return the drawn length of a band; a short band is still visible next to its start."""
    return max(length, (span.end - span.start) * _NARROWEST // _DOTS) if length else 0


def _draw_lane(axes: Axes, row: int, lane: Lane, groups: list[_Group]) -> None:
    alone = [low for low, high in groups if low == high]
    for colour, offset, size in ((_PREP, -lane.before, lane.before), (_WINDOW, 0, lane.after)):
        if size:
            bands = [(time + offset, size) for time in alone]
            axes.broken_barh(bands, (row + 0.2, 0.6), facecolor=colour, edgecolor=colour, linewidth=0.5, zorder=2)
    axes.vlines(alone, row + 0.08, row + 0.92, color=_START, linewidth=0.9, zorder=4)
    blocks = [(low, high - low) for low, high in groups if low < high]
    axes.broken_barh(blocks, (row + 0.3, 0.4), facecolor=_BLOCK, edgecolor=_BLOCK, linewidth=0.5, zorder=3)


def _joined(times: Iterable[int], close: int) -> Iterator[_Group]:
    """Yield the first and last time of each group of times closer than ``close``."""
    first = last = None
    for time in times:
        if first is None or last is None:
            first = time
        elif time - last >= close:
            yield first, last
            first = time
        last = time
    if first is not None and last is not None:
        yield first, last


def _draw_time(axes: Axes, span: AgendaSpan) -> None:
    """Mark the local dates and hours, and the clock changes."""
    step = -(-len(span.days) // 14)
    room = (span.end - span.start) / 20  # for a date label
    days = [day for day in span.days[::step] if min(day.end, span.end) - max(day.start, span.start) > room / step]
    names = [f"{short_weekday(day.date)}\n{day.date.isoformat()[5:]}" for day in days]
    axes.set_xticks([max(day.start, span.start) for day in days], names)
    hours = {1: 1, 2: 3, 3: 6, 4: 6}.get(len(span.days), 12 if len(span.days) <= 10 else 24)
    marks = [
        (span.instant(day.hours[hour].ranges[0][0]), f"{hour:02}")
        for day in span.days
        for hour in range(hours, 24, hours)
        if day.hours[hour].ranges and day.start + 3600 * hour > span.start
    ]
    axes.set_xticks([at for at, _ in marks], [name for _, name in marks], minor=True)
    axes.tick_params(axis="x", which="minor", labelsize=7, colors="#606060")
    axes.grid(visible=True, axis="x", which="major", color="#b0b0b0", linewidth=0.8)
    axes.grid(visible=True, axis="x", which="minor", color="#e0e0e0", linewidth=0.6)
    axes.set_axisbelow(True)
    across = blended_transform_factory(axes.transData, axes.transAxes)
    for change in span.changes:
        minutes = (change.after - change.before) // 60
        text = f"clock {minutes // 60:+} h" if minutes % 60 == 0 else f"clock {minutes:+} min"
        axes.axvline(change.instant, color="#CC79A7", linewidth=1.2, linestyle="--", zorder=1)
        axes.text(change.instant, 1.01, text, transform=across, ha="center", va="bottom", fontsize=8, color="#9A4D78")


def _legend(figure: Figure, lanes: list[Lane], groups: list[list[_Group]], close: int) -> None:
    alone = [lane for lane, found in zip(lanes, groups, strict=True) if any(low == high for low, high in found)]
    handles: list[Patch | Line2D] = []
    if any(lane.before for lane in alone):
        label = "may be matched: match opens until start (prep time + SCHEDD_INTERVAL)"
        handles.append(Patch(color=_PREP, label=label))
    if alone:
        handles.append(Line2D([], [], color=_START, linewidth=1.5, label="start"))
    if any(lane.after for lane in alone):
        handles.append(Patch(color=_WINDOW, label="may still start: window until last start"))
    if any(low < high for found in groups for low, high in found):
        distance = length(close, 2)
        handles.append(Patch(color=_BLOCK, label=f"starts less than {distance} apart, without bands"))
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), frameon=False)


_WIDTH = 14.0  # inches
_MARGINS = 2.4  # titles, axes and legend


def save(agenda: Agenda, clock: Clock, path: str) -> None:
    """Draw into a file; its suffix sets the format. Raises OSError."""
    save_figure(lambda: _draw(agenda, clock), path)


def _draw(agenda: Agenda, clock: Clock) -> Figure:
    mpl.rc("axes", titlesize=10, titlelocation="left")
    mpl.rc("hatch", linewidth=0.6)
    lanes = lanes_of(agenda)
    heights = [min(_TALLEST, max(0.6, _ROW * len(agenda.span.days))), max(0.8, _ROW * len(lanes))]
    figure = Figure(figsize=(_WIDTH, sum(heights) + _MARGINS), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    heat, timeline = figure.subplots(2, 1, height_ratios=heights)
    start, end = (local_text(time, clock.zone)[:20] for time in (agenda.span.start, agenda.span.end))
    starts = f"{plural(agenda.jobs, 'job')}, {plural(agenda.total, 'start')} from {start} until {end}"
    title = f"{starts}, {clock.zone_name} ({agenda.dialect.value})"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    draw_heat(figure, heat, agenda)
    draw_lanes(figure, timeline, agenda, lanes)
    return figure


_BEFORE, _AFTER = "#E69F00", "#0072B2"  # after Okabe and Ito
_STEPS = 700  # of the time axis, each as high as its busiest minute
_MOST_DATES = 16  # date labels


def save_suggestion(agenda: Agenda, suggestion: Suggestion, clock: Clock, path: str) -> None:
    """Draw into a file; its suffix sets the format. Raises OSError."""
    save_figure(lambda: _draw_suggestion(agenda, suggestion, clock), path)


def _draw_suggestion(agenda: Agenda, suggestion: Suggestion, clock: Clock) -> Figure:
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
            each.set_ylim(0, max(1, most) * 1.05)  # the same on both sides, for comparison
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
    # The span starts at a local midnight; in a zone with half hours a clock change may shift the rest.
    axes.bar(range(60), [max(load.starts[minute::60], default=0) for minute in range(60)], width=0.8, color=colour)
    axes.set_xlim(-0.6, 59.6)
    axes.set_xticks(range(0, 60, 5), [f":{minute:02}" for minute in range(0, 60, 5)])
