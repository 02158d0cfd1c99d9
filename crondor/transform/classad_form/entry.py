"""One route of an old table: its ad, merged with the defaults, and where each attribute was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crondor.classad import code_of, lower
from crondor.classad.ad import ClassAd
from crondor.classad.scope import Allowance, Code, Context, Value
from crondor.classad.values import UNDEFINED
from crondor.diagnostics import CrondorError
from crondor.source import Span
from crondor.transform.classad_form.ads import Ad
from crondor.transform.classad_form.placed import Placed

MAX_STEPS = 200_000
"""The work of one expression of a route, counted as evaluation does: a tenth of a second or two."""


def bounded() -> Context:
    """Return what an expression of a route may know and cost."""
    return Context(effort=Allowance(MAX_STEPS))


class EntryAttributes:
    """The attributes of one ad as it was written, each with the place of its expression."""

    __slots__ = ("codes", "names", "places")

    def __init__(self, ad: Ad | None, placed: Placed) -> None:
        """Take them from a tree."""
        self.codes: dict[str, Code | str] = {}
        self.names: dict[str, str] = {}
        self.places: dict[str, Span] = {}
        for name, node in () if ad is None else ad.tree.items:
            key = lower(name)
            self.codes[key] = code_of(node)
            self.names[key] = name
            self.places[key] = placed.span((ad.start if ad else 0) + node.start, (ad.start if ad else 0) + node.end)

    def updated(self, other: EntryAttributes) -> EntryAttributes:
        """Return the two together; the other's expressions win, the spelling of a name stays."""
        made = EntryAttributes(None, Placed(()))
        made.codes = {**self.codes, **other.codes}
        made.names = {**other.names, **self.names}
        made.places = {**self.places, **other.places}
        return made

    def ad(self) -> ClassAd:
        """Return them as an ad."""
        return ClassAd.of(dict(self.codes), dict(self.names))


@dataclass(frozen=True)
class LegacyEntry:
    """A route written as a ClassAd.

    ``name`` is what it is called: its Name, else its GridResource. ``ad`` has its attributes over those of
    JOB_ROUTER_DEFAULTS. ``knob`` and ``number`` say which ad of which knob it is, ``span`` where that stands and
    ``places`` where the attributes do (by lower-case name). ``expand`` replaces the macros that stay in strings, None:
    none stay, and what looks like one is text. ``is_knob``: it is a JOB_ROUTER_ROUTE_<name>, whose name holds.
    """

    name: str
    ad: ClassAd
    knob: str
    number: int
    span: Span
    places: Mapping[str, Span]
    expand: Callable[[str], str] | None = None
    is_knob: bool = False

    def value(self, name: str) -> Value:
        """Return an attribute's value in the route's own ad, UNDEFINED where it has none."""
        try:
            return self.ad.value(name, context=bounded())
        except CrondorError:
            return UNDEFINED

    def place(self, name: str) -> Span:
        """Return where an attribute is written, the whole route where it is not."""
        return self.places.get(lower(name), self.span)
