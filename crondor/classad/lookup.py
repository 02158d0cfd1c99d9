"""The search for a name through the ads around an ad, and the ads that HTCondor builds around the two of a match.

HTCondor: ClassAd::LookupInScope, MatchClassAd::InitMatchClassAd.
"""

from __future__ import annotations

from collections.abc import Callable

from crondor.classad.code import (
    constant,
    no_compiler,
)
from crondor.classad.scope import BEYOND, NOWHERE, SPECIAL, AdValue, Code, Codes, EvaluationState
from crondor.classad.tree import Reference

_LEFT = Reference(None, "LEFT", True)  # noqa: FBT003
_RIGHT = Reference(None, "RIGHT", True)  # noqa: FBT003


def find(state: EvaluationState, start: AdValue, name: str) -> tuple[AdValue, Code] | None:
    """Look a name (lower case) up in an ad and the ads around it.

    Attributes come first at every level; then the names HTCondor keeps for itself; then the ad around.
    """
    place = start
    while True:
        code = place.codes.get(name)
        if code is not None:
            return place, as_code(state.read, place.codes, name, code)
        if state.root is None:
            root_of(state)
        around = None if place is state.root else place.parent
        if name in SPECIAL:
            return _special(state, place, around, name)
        if around is None:
            return None
        place = around


def find_bare(state: EvaluationState, start: AdValue, name: str) -> tuple[AdValue, Code] | None:
    """Look a name without scope up: in MY and around it, then in the other ad of the match and around that."""
    if start is NOWHERE:
        return None
    if name in BEYOND or not start.matched:
        found = find(state, start, name)
        if found is not None or start.other is None:
            return found
        return find(state, start.other, name)
    for place in (start, start.other):
        code = None if place is None else place.codes.get(name)
        if code is not None and place is not None:
            return place, as_code(state.read, place.codes, name, code)
    return None


def as_code(read: Callable[[str], Code], codes: Codes, name: str, found: Code | str) -> Code:
    """Return an attribute's expression; a text is read the first time it is asked for, and kept in its ad."""
    if isinstance(found, Code):
        return found
    code = read(found)
    if isinstance(codes, dict):
        codes[name] = code
    return code


def _special(state: EvaluationState, place: AdValue, around: AdValue | None, name: str) -> tuple[AdValue, Code] | None:
    if place is NOWHERE:
        return None
    if name in ("self", "my"):
        return place, constant(place)
    if name == "parent":
        return None if around is None or around is NOWHERE else (place, constant(around))
    if name == "currenttime":
        return (place, constant(state.context.now)) if state.context.current_time else None
    return place, constant(root_of(state))


def link(my: AdValue, target: AdValue) -> None:
    """Make two ads a match: what one lacks is looked for in the other. The ads around them are built when needed."""
    my.other, target.other = target, my
    my.matched = target.matched = True
    my.target = None if "target" in my.codes else target
    target.target = None if "target" in target.codes else my


_AROUND = {
    "symmetricMatch": "RIGHT.requirements && LEFT.requirements",
    "leftMatchesRight": "RIGHT.requirements",
    "rightMatchesLeft": "LEFT.requirements",
    "leftRankValue": "LEFT.rank",
    "rightRankValue": "RIGHT.rank",
}


def root_of(state: EvaluationState) -> AdValue:
    """Return the outermost ad: MY, or in a match the ad that HTCondor puts around the two.

    That ad's attributes can be named by an expression in either ad, for instance LEFT.
    """
    if state.root is not None:
        return state.root
    my = state.my
    target = my if my.other is None else my.other
    around = AdValue({}, {})
    left, right = _side(around, my, target, left=True), _side(around, target, my, left=False)
    my.parent, target.parent = left, right
    sides = {"LEFT": my, "RIGHT": target, "lCtx": left, "rCtx": right}
    around.names = {name.lower(): name for name in (*_AROUND, *sides)}
    around.codes = {name.lower(): text for name, text in _AROUND.items()}
    around.codes |= {name.lower(): constant(ad) for name, ad in sides.items()}
    state.root = around
    return around


def _side(around: AdValue, ad: AdValue, other: AdValue, *, left: bool) -> AdValue:
    mine, theirs = (_LEFT, _RIGHT) if left else (_RIGHT, _LEFT)
    codes: dict[str, Code | str] = {name: Code(theirs, no_compiler, other) for name in ("other", "target")}
    codes |= {name: Code(mine, no_compiler, ad) for name in ("my", "ad")}
    return AdValue(codes, {name: name for name in codes}, around)
