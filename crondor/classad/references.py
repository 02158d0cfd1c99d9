"""The attributes an expression refers to: those of its own ad, and others.

HTCondor: ClassAd::GetInternalReferences, ClassAd::GetExternalReferences.
"""

from __future__ import annotations

from typing import NamedTuple

from crondor.classad.parser import unparse
from crondor.classad.scope import ENCLOSED, NOWHERE, AdValue, Code, Compiler, EvaluationState, code_tree, find, root_of
from crondor.classad.text import lower
from crondor.classad.tree import (
    MAX_DEPTH,
    MAX_REFERENCES,
    UNDEFINED,
    AdNode,
    Call,
    Failure,
    ListNode,
    Node,
    Reference,
    children,
)


class _Text:
    """The expression itself (``free``) or an attribute it leads to, and the ad in which its names are looked up."""

    def __init__(self, place: AdValue, *, free: bool) -> None:
        self.place = place
        self.free = free


class _Item(NamedTuple):
    """A tree to visit: what it is part of, the depth used, and special cases.

    ``scope`` is an ad that is only named to select from; ``chosen`` a selection whose scope has been visited already.
    """

    node: Node
    text: _Text
    depth: int
    scope: bool = False
    chosen: bool = False


class _Walk:
    """Visits everything an expression reaches; it fails (None) where HTCondor does."""

    def __init__(self, state: EvaluationState, compiler: Compiler) -> None:
        self.state = state
        self.compiler = compiler
        self.found: dict[str, str] = {}
        self.left = MAX_REFERENCES

    def run(self, node: Node, place: AdValue, *, free: bool) -> list[str] | None:
        cur, used, around = self.state.cur, self.state.used, self.state.free
        work = [_Item(node, _Text(place, free=free), used)]
        while work:
            item = work.pop()
            self.left -= 1
            more = self.step(item) if self.left >= 0 else None
            if more is None:
                self.state.cur, self.state.used, self.state.free = cur, used, around
                return None
            work.extend(reversed(more))
        self.state.cur, self.state.used, self.state.free = cur, used, around
        return [self.found[key] for key in sorted(self.found)]

    def step(self, item: _Item) -> list[_Item] | None:
        if isinstance(item.node, Reference):
            return self.reference(item.node, item)
        depth = item.depth + isinstance(item.node, (Call, ListNode, AdNode))
        if depth > MAX_DEPTH:
            return None
        return [_Item(child, item.text, depth, item.scope) for child in children(item.node)]

    def reference(self, node: Reference, item: _Item) -> list[_Item] | None:
        """Record a name and return what it leads to; None: no answer."""
        raise NotImplementedError

    def add(self, name: str) -> None:
        self.found.setdefault(lower(name), name)

    def start(self, node: Reference, item: _Item) -> AdValue | Failure | None:
        """Return the ad in which a reference begins; None: it is undefined; a Failure: it is not an ad."""
        self.state.cur, self.state.used = item.text.place, item.depth
        self.state.free = item.depth if item.text.free else ENCLOSED
        if node.scope is None:
            return root_of(self.state) if node.absolute else item.text.place
        try:
            value = Code(node.scope, self.compiler).evaluate(self.state)
        except Failure as failure:
            return failure
        if value is UNDEFINED:
            return None
        return value if isinstance(value, AdValue) else Failure("no ad to select from")

    def follow(self, start: AdValue, name: str, item: _Item) -> tuple[AdValue, list[_Item] | None] | None:
        """Return where a name is found and what to visit there; None: it is not found."""
        found = find(self.state, start, lower(name)) if start is not NOWHERE else None
        if found is None:
            return None
        place, code = found
        if item.depth >= MAX_DEPTH:
            return place, None
        return place, [_Item(code_tree(code), _Text(place, free=False), item.depth + 1, item.scope)]


class External(_Walk):
    """The names an expression does not find in its own ad."""

    @staticmethod
    def of(state: EvaluationState, place: AdValue, node: Node, compiler: Compiler, *, free: bool) -> list[str] | None:
        """Return the names, sorted ignoring case; None: HTCondor finds no answer (a circle, a selection from a non-ad).

        ``free``: the expression is not an attribute of the ad.
        """
        return External(state, compiler).run(node, place, free=free)

    def reference(self, node: Reference, item: _Item) -> list[_Item] | None:
        """Record a name that is not found; follow one that is."""
        start = self.start(node, item)
        if start is None and node.scope is not None:
            self.add(f"{unparse(node.scope, faithful=True)}.{node.name}")
            return []
        if not isinstance(start, AdValue):
            return None
        found = self.follow(start, node.name, item)
        if found is None:
            self.add(node.name)
            return []
        return found[1]


class Internal(_Walk):
    """The attributes of its own ad an expression reaches, directly or through others."""

    @staticmethod
    def of(state: EvaluationState, place: AdValue, node: Node, compiler: Compiler, *, free: bool) -> list[str] | None:
        """Return the names, sorted ignoring case; None: HTCondor finds no answer."""
        return Internal(state, compiler).run(node, place, free=free)

    def step(self, item: _Item) -> list[_Item] | None:
        """Return the children of a tree."""
        if item.scope and isinstance(item.node, AdNode):
            return []  # an ad that is only selected from
        return super().step(item)

    def reference(self, node: Reference, item: _Item) -> list[_Item] | None:
        """Record a name that is found in the ad itself, and follow it."""
        if node.scope is not None and not item.chosen:
            scope = _Item(node.scope, item.text, item.depth, scope=True)
            return [scope, item._replace(chosen=True)]
        start = self.start(node, item)
        if start is None and node.scope is not None:
            return []
        if not isinstance(start, AdValue):
            return None
        found = self.follow(start, node.name, item)
        if found is None:
            item.text.place = self.outermost(start)  # as in HTCondor, which continues where it looked last
            return []
        place, more = found
        if place is self.state.root and lower(node.name) in place.codes:
            self.add(node.name)
        return more

    def outermost(self, place: AdValue) -> AdValue:
        """Return the last ad that is searched for a name, starting from an ad."""
        while place is not self.state.root and place.parent is not None:
            place = place.parent
        return place
