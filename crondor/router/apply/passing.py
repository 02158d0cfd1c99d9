"""Which transforms one job passes on its route, in order, and which variables each reads: values, and who set them."""

from __future__ import annotations

from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.config import Configuration
from crondor.macro import MacroError
from crondor.router.apply.applying import RoutedAd, TransformStep, apply_route
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.source import Span
from crondor.transform import Transform
from crondor.transform.apply import TransformRun
from crondor.transform.variables import defined_by, from_outside


class Setter(NamedTuple):
    """Who gave a variable its value: a ``knob``, HTCondor's ``default``, a ``route``, or a ``transform``; its name."""

    kind: str
    name: str
    place: Span | None = None


class PassedVariable(NamedTuple):
    """A variable that a transform reads, as it is when the transform begins.

    ``value`` is its text with macros replaced, None: nobody set it. ``default`` is what then stands in its place
    (None: nothing). ``place`` is where it is read.
    """

    name: str
    value: str | None
    default: str | None
    setter: Setter | None
    place: Span


class PassedTransform(NamedTuple):
    """A transform on the way of a job. ``position`` is pre-route, route or post-route.

    ``is_applied`` is false where the job, as it is then, does not meet its REQUIREMENTS.
    """

    position: str
    transform: Transform
    is_applied: bool
    variables: tuple[PassedVariable, ...]

    @property
    def place(self) -> Span | None:
        """Return where its text stands, None where it has none."""
        if self.transform.requirements is not None:
            return self.transform.requirements.span
        return self.transform.lines[0].span() if self.transform.lines else None


class Passing(NamedTuple):
    """The transforms that a job passes, and what they made of it."""

    transforms: tuple[PassedTransform, ...]
    routed: RoutedAd


def passing(table: RoutingTable, configuration: Configuration, route: Route, ad: ClassAd) -> Passing:
    """Return the transforms that a job passes on a route, whether or not the route matches; the ad stays as it is.

    ``configuration`` is that of the table: it says where knobs were set. A transform that fails is the last one.
    """
    seen: list[PassedTransform] = []

    def watch(step: TransformStep) -> None:
        run = step.run
        variables = []
        for name, read in from_outside(step.transform).items():
            setter = _setter(seen, configuration, run, name)
            shown = _shown(name, read.span)
            variables.append(PassedVariable(shown, _value(run, name), read.default, setter, read.span))
        seen.append(PassedTransform(step.position, step.transform, step.is_applied, tuple(variables)))

    return Passing((), apply_route(table, route, ad, watch=watch))._replace(transforms=tuple(seen))


def _value(run: TransformRun, name: str) -> str | None:
    raw = run.lookup(name)
    try:
        return run.expand(raw).strip() if raw else None
    except MacroError:
        return raw


def _setter(seen: list[PassedTransform], configuration: Configuration, run: TransformRun, name: str) -> Setter | None:
    """Return who set a variable: the last transform before that did, else the configuration."""
    if name in run.macros:
        for passed in reversed(seen):
            lines = [line for line in passed.transform.lines if defined_by(line) == name] if passed.is_applied else []
            if lines:
                kind = "route" if passed.position == "route" else "transform"
                return Setter(kind, passed.transform.name, lines[-1].span())
    knob = configuration.find(name)
    if knob is not None and knob.text:
        return Setter("default" if knob.is_default else "knob", knob.name, knob.span)
    return Setter("default", name) if run.lookup(name) else None


def _shown(name: str, span: Span) -> str:
    """Return a name as the transform spells it."""
    at = span.text.lower().find(name)
    return span.text[at : at + len(name)] if at >= 0 else name
