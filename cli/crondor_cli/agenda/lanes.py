"""The timeline of an agenda: a lane for each job, with the bands around its starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import blended_transform_factory

from crondor.calendar import short_weekday
from crondor.diagnostics import CrondorError
from crondor_cli.agenda.days import Agenda, AgendaEntry
from crondor_cli.agenda.span import AgendaSpan
from crondor_cli.agenda.starts import members
from crondor_cli.agenda.text import with_count
from crondor_cli.common.columns import plural
from crondor_cli.times.text import relative

MOST_LANES = 30
_ROW = 0.28  # inches
_LONGEST = 38  # characters of a name
_DOTS = 1000  # of the width of the timeline
_NARROWEST = 2  # dots of a band
_CLOSE = 3  # dots between two starts that are drawn as one block
_PREP, _WINDOW, _START, _BLOCK = "#E69F00", "#56B4E9", "#000000", "#5A5A5A"  # after Okabe and Ito

_STRIPES = ("white", "#f5f5f5")

_Group = tuple[int, int]  # the first and the last of some starts


class Lane(NamedTuple):
    """A row: its name, the minutes of its starts, and how long before and after them its bands reach (seconds)."""

    name: str
    bits: int
    before: int = 0
    after: int = 0


def lanes_of(agenda: Agenda) -> list[Lane]:
    """Return a lane for each entry with a start, in file order; those that are too many share the last."""
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
    with suppress(CrondorError):  # a window that is an expression
        deferral = entry.schedule.deferral(entry.first or span.start, span.start)
        before, after = deferral.time - deferral.match_opens, deferral.last_start - deferral.time
    return Lane(name if len(name) <= _LONGEST else f"...{name[3 - _LONGEST :]}", entry.strand.bits, before, after)


def lanes_height(lanes: list[Lane]) -> float:
    """Return the height in inches."""
    return max(0.8, _ROW * len(lanes))


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
    title += f" ({idle:,} without a start left out)" if idle and lanes else ""
    axes.set_title(title, pad=18 if span.changes else None)
    if lanes:
        _legend(figure, lanes, groups, close)
    else:
        blank = {"facecolor": "white", "edgecolor": "none"}
        axes.text(0.5, 0.5, "no start in this time", transform=axes.transAxes, ha="center", va="center", bbox=blank)


def _seen(length: int, span: AgendaSpan) -> int:
    """Return the length that a band is drawn with: a short one is still to be seen beside its start."""
    return max(length, (span.end - span.start) * _NARROWEST // _DOTS) if length else 0


def _draw_lane(axes: Axes, row: int, lane: Lane, groups: list[_Group]) -> None:
    alone = [low for low, high in groups if low == high]
    for colour, offset, length in ((_PREP, -lane.before, lane.before), (_WINDOW, 0, lane.after)):
        if length:
            bands = [(time + offset, length) for time in alone]
            axes.broken_barh(bands, (row + 0.2, 0.6), facecolor=colour, edgecolor=colour, linewidth=0.5, zorder=2)
    axes.vlines(alone, row + 0.08, row + 0.92, color=_START, linewidth=0.9, zorder=4)
    blocks = [(low, high - low) for low, high in groups if low < high]
    axes.broken_barh(blocks, (row + 0.3, 0.4), facecolor=_BLOCK, edgecolor=_BLOCK, linewidth=0.5, zorder=3)


def _joined(times: Iterable[int], close: int) -> Iterator[_Group]:
    """Yield the first and last time of each group whose neighbours are closer than this."""
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
    room = (span.end - span.start) / 20  # for the name of a date
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
        distance = relative(close).removeprefix("in ")
        handles.append(Patch(color=_BLOCK, label=f"starts less than {distance} apart, bands left out"))
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), frameon=False)
