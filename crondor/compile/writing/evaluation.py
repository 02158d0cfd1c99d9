"""A clause over DeferralTime, evaluated by the ClassAd engine for the minutes of whole days.

On days with few minutes each is evaluated. Otherwise the clause is split at ``&&``, ``||`` and ``!``, and each part is
evaluated once for all minutes that it cannot tell apart: ``(DeferralTime + c) / 86400`` once a day, ``(DeferralTime +
c) % n`` once for each minute of its period.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from crondor.calendar import DAY
from crondor.classad import AdValue, Context, Expression, code_of
from crondor.classad.evaluate import holds, value_of
from crondor.classad.tree import Binary, Call, ListNode, Literal, Node, Reference, Ternary, Unary, bare, children, nodes
from crondor.compile.days import MINUTES, WHOLE_DAY
from crondor.zones import Zone

_FEW = 4  # minutes of a day that are evaluated one by one
_LONGEST_PERIOD = 14 * MINUTES
_DATES = frozenset("aAbBdDeFjmuUVwWyYgGC")
_TIMES = frozenset("HIMpRTS")


class _Shape(NamedTuple):
    """What a part depends on at a constant offset: ``period`` minutes, or the day (None); ``shift`` has the offset.

    ``local``: it reads the clock of the host.
    """

    period: int | None
    shift: Node | int
    local: bool


class Clause:
    """A clause in the ClassAd language, on a host in a zone."""

    def __init__(self, text: str, zone: Zone) -> None:
        """Take its text; ``zone`` is that of the evaluating host."""
        self.text = text
        self.zone = zone
        self._tree = Expression(text).tree
        self._known: dict[int, tuple[int, int]] = {}
        self._leaves: dict[int, Callable[[int, tzinfo], bool]] = {}
        self._breaks = sorted(set(_breaks(self._tree)))
        self._reads_clock = any(
            isinstance(node, Call) and node.name.lower() == "formattime" for node in nodes(self._tree)
        )
        self._shapes: dict[int, _Shape | bool] = {}
        self._days: dict[tuple[int, int, int], bool] = {}
        self._tables: dict[tuple[int, int], int] = {}

    def holds(self, instant: int) -> bool:
        """Return whether a DeferralTime (epoch seconds) passes."""
        return self._holds(self._tree, instant)

    def _holds(self, node: Node, instant: int) -> bool:
        node = bare(node)
        if isinstance(node, Binary) and node.op in {"&&", "||"}:
            left = self._holds(node.left, instant)
            return self._holds(node.right, instant) if left is (node.op == "&&") else left
        if isinstance(node, Unary) and node.op == "!":
            return not self._holds(node.operand, instant)
        return self._leaf(node)(instant, self.zone.info)

    def _leaf(self, node: Node) -> Callable[[int, tzinfo], bool]:
        found = self._leaves.get(id(node))
        if found is None:
            found = self._leaves[id(node)] = _test(node)
        return found

    def minutes(self, day: int, asked: int) -> int:
        """Return which of the ``asked`` minutes (a bit set) of a UTC day pass."""
        known = self._known.get(day)
        if known is None or known[0] != asked:
            known = self._known[day] = asked, self._minutes(day, asked)
        return known[1]

    def _minutes(self, day: int, asked: int) -> int:
        start = day * DAY
        if asked.bit_count() <= _FEW:
            return self._each(start, asked)
        first = bisect_right(self._breaks, start)
        if first < len(self._breaks) and self._breaks[first] < start + DAY:
            return self._broken(start, asked, first)
        return self._piece(start, asked)

    def _broken(self, start: int, asked: int, first: int) -> int:
        """Return the minutes of a day with a change in it, piece by piece."""
        found, low = 0, 0
        edges = [-(-(at - start) // 60) for at in self._breaks[first : bisect_right(self._breaks, start + DAY - 1)]]
        for high in (*edges, MINUTES):
            part = asked & ((1 << high) - (1 << low)) if high > low else 0
            if part:
                found |= self._piece(start, part, low)
            low = max(low, high)
        return found

    def _piece(self, start: int, asked: int, low: int = 0) -> int:
        """Return the minutes of a piece of a day without a change in the clause."""
        if self._reads_clock and self.zone.at(start).end < start + DAY:
            return self._each(start, asked)
        return asked & self._bits(self._tree, start, start + 60 * low, asked)

    def _each(self, start: int, asked: int) -> int:
        found = 0
        left = asked
        while left:
            bit = left & -left
            left ^= bit
            if self.holds(start + 60 * (bit.bit_length() - 1)):
                found |= bit
        return found

    def _bits(self, node: Node, start: int, at: int, asked: int) -> int:
        """Return the minutes of the day at ``start`` that pass a part; ``at`` is an instant of the piece."""
        node = bare(node)
        if isinstance(node, Binary) and node.op in {"&&", "||"}:
            left = self._bits(node.left, start, at, asked)
            if node.op == "&&":
                return left and left & self._bits(node.right, start, at, asked & left)
            rest = asked & ~left
            return left | (self._bits(node.right, start, at, rest) if rest else 0)
        if isinstance(node, Unary) and node.op == "!":
            return WHOLE_DAY & ~self._bits(node.operand, start, at, asked)
        shape = self._shape(node)
        if shape is True:  # nothing in it changes within the piece
            return WHOLE_DAY if self._leaf(node)(at, self.zone.info) else 0
        if shape is False:
            return self._leaf_each(node, start, asked)
        return self._shaped(node, shape, start, at)

    def _leaf_each(self, node: Node, start: int, asked: int) -> int:
        holds_, found, left = self._leaf(node), 0, asked
        while left:
            bit = left & -left
            left ^= bit
            if holds_(start + 60 * (bit.bit_length() - 1), self.zone.info):
                found |= bit
        return found

    def _shape(self, node: Node) -> _Shape | bool:
        found = self._shapes.get(id(node))
        if found is None:
            found = self._shapes[id(node)] = _shape(node)
        return found

    def _shaped(self, node: Node, shape: _Shape, start: int, at: int) -> int:
        fixed, shift, info = node, shape.shift, self.zone.info
        if shape.local:
            shift = self.zone.at(at).offset
            info = timezone(timedelta(seconds=shift))
        elif not isinstance(shift, int):
            number = _number(shift, at)
            fixed, shift = _with(node, shift, number), number
        if shape.period is None:
            return self._by_day(node, fixed, start, shift, info)
        return self._by_minute(node, fixed, shape.period, start, shift, info)

    def _by_day(self, node: Node, fixed: Node, start: int, shift: int, info: tzinfo) -> int:
        past = (start + shift) % DAY  # seconds since midnight on a clock shifted by this much
        bits = WHOLE_DAY if self._on_day(node, fixed, start - past, shift, info) else 0
        if past:
            edge = (1 << -(-(DAY - past) // 60)) - 1
            bits &= edge
            if self._on_day(node, fixed, start - past + DAY, shift, info):
                bits |= WHOLE_DAY & ~edge
        return bits

    def _on_day(self, node: Node, fixed: Node, instant: int, shift: int, info: tzinfo) -> bool:
        key = id(node), instant, shift
        found = self._days.get(key)
        if found is None:
            found = self._days[key] = _fixed(fixed)(instant, info)
        return found

    def _by_minute(self, node: Node, fixed: Node, period: int, start: int, shift: int, info: tzinfo) -> int:
        table = self._tables.get((id(node), shift))
        if table is None:
            base = period * 60 * (1_500_000_000 // (period * 60) + 1)
            holds_ = _fixed(fixed)
            table = sum(1 << minute for minute in range(period) if holds_(base + 60 * minute, info))
            self._tables[id(node), shift] = table
        return _tiled(table, period, start // 60 % period)


@lru_cache(maxsize=4096)
def _tiled(table: int, period: int, first: int) -> int:
    """Return the minutes of a day that begins at a place of a period."""
    row, length = table, period
    while length < MINUTES + period:
        row |= row << length
        length *= 2
    return row >> first & WHOLE_DAY


def _ad(instant: int) -> AdValue:
    return AdValue({"deferraltime": code_of(Literal(instant))}, {})


def _number(node: Node, instant: int) -> int:
    value = value_of(code_of(node), _ad(instant), None, Context(now=instant))
    return value if isinstance(value, int) else 0


def _is_time(node: Node) -> bool:
    return isinstance(node, Reference) and node.scope is None and node.name.lower() == "deferraltime"


def _speaks(node: Node) -> bool:
    return any(map(_is_time, nodes(node)))


def _integer(node: Node) -> int | None:
    node = bare(node)
    return node.value if isinstance(node, Literal) and type(node.value) is int else None


def _breaks(tree: Node) -> Iterator[int]:
    """Yield the instants at which a comparison of DeferralTime itself with a number changes, and the one after."""
    for node in nodes(tree):
        if isinstance(node, Binary) and node.op in {"<", "<=", ">", ">=", "==", "!="}:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                value = _integer(other)
                if _is_time(bare(one)) and value is not None:
                    yield value
                    yield value + 1
        elif isinstance(node, Call) and node.name.lower() == "member" and _is_time(bare(node.arguments[0])):
            for item in children(node.arguments[1]):
                value = _integer(item)
                if value is not None:
                    yield value
                    yield value + 1


class _Place(NamedTuple):
    """A piece of a part about the time: what it depends on, and the sum added to the time."""

    period: int | None  # minutes, None: the day
    shift: Node | int
    local: bool


def _shape(node: Node) -> _Shape | bool:
    """Return what a part depends on; True if it is constant in a piece, False if it needs each minute."""
    places: list[_Place] = []
    if not _collect(node, places):
        return False
    if not places:
        return True
    first = places[0]
    if any(place.shift != first.shift or place.local != first.local for place in places):
        return False
    if all(place.period is None for place in places):
        return _Shape(None, first.shift, first.local)
    if any(place.period is None for place in places):
        return False
    period = lcm(*(place.period or 1 for place in places))
    return _Shape(period, first.shift, first.local) if period <= _LONGEST_PERIOD else False


def _collect(node: Node, places: list[_Place]) -> bool:
    """Collect the pieces of a part about the time; return False if one has no known shape."""
    node = bare(node)
    if not _speaks(node) or _is_constant(node):
        return True
    if isinstance(node, Binary) and node.op in {"/", "%"}:
        found = _divided(node)
        if found is not None:
            places.append(found)
            return True
    if isinstance(node, Call) and node.name.lower() == "formattime":
        found = _formatted(node)
        if found is None:
            return False
        places.append(found)
        return True
    if isinstance(node, Reference):
        return False
    return all(_collect(child, places) for child in children(node))


def _is_constant(node: Node) -> bool:
    """Return whether a part is constant in a piece: it only compares DeferralTime itself with numbers.

    Another attribute is undefined here, and so differs from it at every instant.
    """
    if isinstance(node, Binary) and node.op == "=?=" and _is_time(bare(node.left)):
        return isinstance(bare(node.right), Reference) and not _speaks(node.right)
    if isinstance(node, Binary) and node.op in {"<", "<=", ">", ">=", "==", "!="}:
        return any(
            _is_time(bare(one)) and _integer(other) is not None
            for one, other in ((node.left, node.right), (node.right, node.left))
        )
    return isinstance(node, Call) and node.name.lower() == "member" and _is_time(bare(node.arguments[0]))


def _divided(node: Binary) -> _Place | None:
    """Return the shape of ``time / 86400``, ``time % n`` and ``time / m % n`` (each in whole minutes)."""
    number = _integer(node.right)
    if number is None or number <= 0:
        return None
    inner = bare(node.left)
    if node.op == "/":
        return _timed(inner, None) if number == DAY else None
    if isinstance(inner, Binary) and inner.op == "/":
        unit = _integer(inner.right)
        if unit is None or unit <= 0 or unit == DAY:
            return None
        inner, number = bare(inner.left), number * unit
    return None if number % 60 else _timed(inner, number // 60)


def _timed(node: Node, period: int | None) -> _Place | None:
    """Return the shape of DeferralTime, alone or plus something constant in a piece."""
    if _is_time(node):
        return _Place(period, 0, local=False)
    if isinstance(node, Binary) and node.op in {"+", "-"} and _is_time(bare(node.left)):
        shift = bare(node.right)
        number = _integer(shift)
        if number is not None:
            return _Place(period, number if node.op == "+" else -number, local=False)
        if isinstance(shift, Ternary) and node.op == "+" and not any(map(_is_moving, children(shift))):
            return _Place(period, shift, local=False)
    return None


def _is_moving(node: Node) -> bool:
    """Return whether a part of a sum may change within a piece."""
    node = bare(node)
    if not _speaks(node) or _is_constant(node):
        return False
    if isinstance(node, Ternary) or (isinstance(node, Binary) and node.op in {"&&", "||"}):
        return any(map(_is_moving, children(node)))
    return True


def _formatted(node: Call) -> _Place | None:
    """Return the shape of formatTime(DeferralTime, "..."); with days added the clock may change in between."""
    if len(node.arguments) != 2:
        return None
    time, form = bare(node.arguments[0]), bare(node.arguments[1])
    if not _is_time(time) or not isinstance(form, Literal) or not isinstance(form.value, str):
        return None
    letters = frozenset(form.value[at + 1] for at, sign in enumerate(form.value[:-1]) if sign == "%")
    if letters <= _DATES:
        return _Place(None, 0, local=True)
    return _Place(MINUTES, 0, local=True) if letters <= _TIMES else None


def _with(node: Node, part: Node, value: int) -> Node:
    """Return a tree with a part replaced by a number."""
    if node == part:
        return Literal(value)
    if isinstance(node, Unary):
        return node._replace(operand=_with(node.operand, part, value))
    if isinstance(node, Binary):
        return node._replace(left=_with(node.left, part, value), right=_with(node.right, part, value))
    if isinstance(node, Call):
        return node._replace(arguments=tuple(_with(each, part, value) for each in node.arguments))
    return node


@lru_cache(maxsize=1024)
def _fixed(node: Node) -> Callable[[int, tzinfo], bool]:
    return _test(node)


def _test(node: Node) -> Callable[[int, tzinfo], bool]:
    """Return a part without ``&&``, ``||`` and ``!`` as a test; a long list of integers becomes a set."""
    if isinstance(node, Call) and node.name.lower() == "member" and len(node.arguments) == 2:
        one, many = node.arguments
        numbers = [_integer(item) for item in children(many)] if isinstance(many, ListNode) else [None]
        if None not in numbers:
            code, known = code_of(one), frozenset(numbers)

            def among(instant: int, zone: tzinfo) -> bool:
                value = value_of(code, _ad(instant), None, Context(now=instant, zone=zone))
                return type(value) is int and value in known

            return among
    whole = code_of(node)
    return lambda instant, zone: holds(whole, _ad(instant), None, Context(now=instant, zone=zone))
