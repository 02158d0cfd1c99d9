"""Lanes of time: what happened in a span, in columns of a terminal or to the second, above its dates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from crondor.calendar import DAY
from crondor.diagnostics import columns_of
from crondor_cli.common.layout import padded
from crondor_cli.times.text import local_text, relative

COLUMNS: Final = 72
_FEWEST: Final = 24  # columns of a lane, however narrow the terminal
MOST_SPANS: Final = 5000  # of a lane that are kept to the second
_MARGINS: Final = 4  # columns before the label and behind it
_DATE: Final = 12  # columns from one date to the next
_MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)  # from one tick to the next
_DAYS: Final = (1, 2, 7, 14, 28, 91, 182, 364)  # the same


class LaneSpan(NamedTuple):
    """A state that lasted, from and to epoch seconds; a moment ends when it begins."""

    start: int
    end: int
    state: int


class TimeAxis(NamedTuple):
    """A span of time (epoch seconds), and the zone that its dates are shown in."""

    start: int
    end: int
    zone: tzinfo
    zone_name: str
    columns: int = COLUMNS

    def fitting(self, labels: Iterable[str], screen: int | None) -> TimeAxis:
        """Return an axis whose lanes stand behind their labels on a screen of so many columns, None: on any."""
        if screen is None:
            return self
        room = screen - _MARGINS - max(map(columns_of, labels), default=0)
        return self._replace(columns=max(_FEWEST, min(COLUMNS, room)))

    @property
    def seconds(self) -> int:
        """How many seconds a column stands for."""
        return max(1, -(-(self.end - self.start) // self.columns))

    def heading(self, legend: str) -> str:
        """Return the line above the lanes."""
        start, end = (local_text(time, self.zone)[:20] for time in (self.start, self.end))
        return f"Timeline, {start} to {end}, {relative(self.seconds)[3:]} a column: {legend}"

    def rows(self, labels: Sequence[str], lanes: Iterable[str]) -> list[str]:
        """Return the lanes behind their labels, and the dates below them."""
        wide = max(map(columns_of, labels), default=0)
        made = [f"  {padded(label, wide)}  {lane}" for label, lane in zip(labels, lanes, strict=True)]
        return [*made, f"  {'':<{wide}}  {self._dates()}".rstrip()] if made else []

    def _dates(self) -> str:
        """Return month, day and time of day, each below the column that it falls into."""
        line = ""
        for apart in (_DATE, _DATE // 2, _DATE // 4):
            for time in self.ticks(apart * self.seconds):
                column = (time - self.start) // self.seconds
                if (not line or len(line) < column) and column + _DATE - 1 <= self.columns:
                    line = f"{line:<{column}}{local_text(time, self.zone)[9:20]}"
            if line:
                break
        return line

    def ticks(self, apart: int) -> list[int]:
        """Return round times of the zone's clock (epoch seconds), so many seconds apart at least."""
        step = next((60 * minutes for minutes in _MINUTES if 60 * minutes >= apart), DAY)
        days = next((days for days in _DAYS if days * DAY >= apart), -(-apart // DAY))
        found: list[int] = []
        day = datetime.combine(datetime.fromtimestamp(self.start, self.zone).date(), datetime.min.time())
        while day.replace(tzinfo=self.zone).timestamp() <= self.end:
            if (day.toordinal() - 1) % days == 0:  # whole weeks begin on Mondays
                found += [int(_at(day, second, self.zone)) for second in range(0, DAY, step)]
            day += timedelta(1)
        return sorted({time for time in found if self.start <= time <= self.end})


def _at(day: datetime, second: int, zone: tzinfo) -> float:
    """Return when the clock shows a time of a day, for one that it skips as much later."""
    return (day + timedelta(seconds=second)).replace(tzinfo=zone).timestamp()


class Lane:
    """One line of time: as many columns as there are, however long the span, and the first spans to the second."""

    def __init__(self, axis: TimeAxis) -> None:
        """Begin with state 0 from end to end."""
        self.columns = [0] * axis.columns
        self.spans: list[LaneSpan] = []
        self._axis = axis

    def mark(self, span: LaneSpan) -> None:
        """Draw a state; the strongest that falls into a column is what it shows."""
        axis = self._axis
        first, last = ((time - axis.start) // axis.seconds for time in (span.start, span.end))
        for column in range(max(0, first), min(axis.columns - 1, last) + 1):
            self.columns[column] = max(self.columns[column], span.state)

    def keep(self, span: LaneSpan) -> None:
        """Keep a state to the second, if there is room."""
        if span.state and len(self.spans) < MOST_SPANS:
            self.spans.append(span)
