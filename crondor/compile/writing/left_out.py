"""What a way to say the wanted times takes too many, left out by days and by spans of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from crondor.calendar import DAY, lowest
from crondor.compile.days import MINUTES, members
from crondor.compile.writing.clause import Day, Way, by_clock, grouped, runs_between
from crondor.compile.writing.clock import TIME, Change, EpochClock, one_of

_MOST_LEFT_OUT = 20_000  # minutes that are looked at one by one
_SPAN_OF_DAYS = 8  # a run of so many days that are left out is a span of time
_NEVER = 1 << 40
Moment = tuple[int, int]  # a day and a minute


class Said(NamedTuple):
    """A way's whole text, and whether it may hold for ever: nothing but what is before its first time is left out."""

    text: str
    is_rule: bool
    is_local: bool
    ends: bool  # no time passes after the last one that is wanted


def complete(way: Way, days: dict[int, Day]) -> Said:
    """Return a way's text with what it takes too many left out."""
    is_local = way.clock.is_local
    is_endless = not (way.is_list or way.clock.ends)
    if way.clock.has_table and not way.clock.is_local:
        way = _by_utc(way)
    whole, spans = _left_out(way, days)
    parts = [grouped(way.text)] if way.text else []
    if whole:
        text = way.clock.day_in(whole)
        parts.append(f"!{text}" if text.startswith(("member", "stringList")) else text.replace(" == ", " != "))
    single = [low for low, high in spans if low == high]
    if len(single) == 1:
        parts.append(f"{TIME} != {single[0]}")
    elif single:
        parts.append(f"!{one_of(TIME, single)}")
    parts += [_outside(low, high) for low, high in spans if low != high]
    is_rule = is_endless and not whole and all(low < 0 and high < _NEVER for low, high in spans)
    return Said(" && ".join(parts), is_rule, is_local, any(high >= _NEVER for _, high in spans))


def _by_utc(way: Way) -> Way:
    """Return a way that leaves out days of UTC, which need no table; the same where those are too many."""
    if sum(bits.bit_count() for bits in way.excess.values()) > _MOST_LEFT_OUT:
        return way
    found: dict[int, int] = {}
    for day, bits in way.excess.items():
        for minute in members(bits):
            at = way.clock.instant(day, minute)
            found[at // DAY] = found.get(at // DAY, 0) | 1 << at % DAY // 60
    return Way(way.text, EpochClock((Change(0, 0),)), found, way.is_list)


def _outside(low: int, high: int) -> str:
    if low < 0:
        return f"{TIME} > {high}"
    if high >= _NEVER:
        return f"{TIME} < {low}"
    return f"({TIME} < {low} || {TIME} > {high})"


def _left_out(way: Way, days: dict[int, Day]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the days to leave out whole, and the spans (both ends included) to leave out, in order of time."""
    if not way.excess:
        return [], []
    table = by_clock(days, way.clock)
    if any(day not in table for day in way.excess):
        return [], []
    filled = sorted(day for day, (_, wanted) in table.items() if wanted)
    whole: list[int] = []
    left: list[tuple[int, int]] = []
    for low, high in _joined(way.excess, table, filled):
        inside = range(low[0], high[0] + 1)
        is_edge = not filled or low < (filled[0], 0) or high > (filled[-1], MINUTES)
        if not is_edge and len(inside) <= _SPAN_OF_DAYS and all(d not in table or not table[d].wanted for d in inside):
            whole += [d for d in inside if d in way.excess]
            continue
        before = not filled or low < (filled[0], lowest(table[filled[0]].wanted))
        after = not filled or high > (filled[-1], table[filled[-1]].wanted.bit_length() - 1)
        left.append((-1 if before else way.clock.instant(*low), _NEVER if after else way.clock.instant(*high)))
    return whole, left


def _joined(excess: dict[int, int], table: dict[int, Day], filled: list[int]) -> Iterator[tuple[Moment, Moment]]:
    """Yield the spans of minutes taken too many, as long as no wanted one lies in them."""
    start: Moment | None = None
    last: Moment = (0, 0)
    for day in sorted(excess):
        wanted = table[day].wanted
        for low, high in _gaps(excess[day], wanted):
            if start is not None and _has_wanted(table, filled, last, (day, low)):
                yield start, last
                start = None
            start = (day, low) if start is None else start
            last = day, high
    if start is not None:
        yield start, last


@lru_cache(maxsize=2048)
def _gaps(excess: int, wanted: int) -> tuple[tuple[int, int], ...]:
    if not wanted:
        return ((lowest(excess), excess.bit_length() - 1),)
    return tuple(runs_between(excess, excess | wanted))


def _has_wanted(table: dict[int, Day], filled: list[int], low: Moment, high: Moment) -> bool:
    """Say whether a wanted minute lies between two moments."""
    between_ = (1 << high[1]) - 1
    if low[0] == high[0]:
        return bool(table[low[0]].wanted & between_ >> low[1] << low[1])
    if table[low[0]].wanted >> low[1] or table[high[0]].wanted & between_:
        return True
    at = bisect_right(filled, low[0])
    return at < len(filled) and filled[at] < high[0]
