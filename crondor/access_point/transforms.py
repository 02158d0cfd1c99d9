"""JOB_TRANSFORM_ knobs: transforms of every job that is submitted, in the order of JOB_TRANSFORM_NAMES.

HTCondor: JobTransforms::initAndReconfig (src/condor_schedd.V6/job_transforms.cpp). Up to 25.7 a knob may be a ClassAd,
which is converted as routes were, with its macros replaced; 25.8 passes over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from crondor.access_point.knobs import ScheddKnobs
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.parser import parse_ad
from crondor.config import Knob
from crondor.diagnostics import Severity
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.source import Source, Span
from crondor.transform import InvalidTransform, RuleSource, Transform, TransformFacts
from crondor.transform.classad_form.ads import Ad
from crondor.transform.classad_form.entry import EntryAttributes, LegacyEntry
from crondor.transform.classad_form.placed import Placed
from crondor.transform.classad_form.verbatim import convert_faithfully

NAMES: Final = "JOB_TRANSFORM_NAMES"
PREFIX: Final = "JOB_TRANSFORM_"
FIRST_WITHOUT_CLASSADS: Final = (25, 8, 0)
"""The first release that takes no ClassAd any more (commit of HTCONDOR-3118, in 25.8)."""


class SubmitTransform(NamedTuple):
    """A transform of the schedd. ``place`` is where its knob's value stands; ``is_classad``: it was converted."""

    name: str
    transform: Transform
    place: Span | None = None
    is_classad: bool = False

    @property
    def knob(self) -> str:
        """The knob's name."""
        return PREFIX + self.name


def read_transforms(knobs: ScheddKnobs, facts: TransformFacts) -> Iterator[SubmitTransform]:
    """Yield the transforms that the schedd loads; those that it passes over are noted.

    A fault that only a job leads to is a warning here: the transform fails on that job.
    """
    for name, place in knobs.names(NAMES):
        if name.upper() == "NAMES":
            continue
        knob = knobs.knob(PREFIX + name)
        if knob is None:
            knobs.missing(PREFIX, name, place)
        elif not knob.text.strip(BLANKS):
            knobs.warn(f"{PREFIX}{name} is empty: the schedd passes over it", knob.name_span or place)
        elif knob.text.lstrip(BLANKS).startswith("["):
            yield from _classad(knobs, name, knob, facts)
        else:
            yield from _commands(knobs, name, knob, facts)


def _commands(knobs: ScheddKnobs, name: str, knob: Knob, facts: TransformFacts) -> Iterator[SubmitTransform]:
    try:
        made = Transform.parse(
            knob.source, name=name, form=RuleSource.KNOB, facts=facts, strict=False, lines=_lines(knob)
        )
    except InvalidTransform as error:
        for fault in error.diagnostics:
            message = f"{PREFIX}{name} is malformed, and the schedd passes over it: {fault.message}"
            knobs.warn(message, fault.span or knob.span, fault.help)
        return
    knobs.found += [replace(fault, severity=Severity.WARNING) for fault in made.faults]
    knobs.found += made.warnings
    yield SubmitTransform(name, made.once(), knob.span)


def _lines(knob: Knob) -> tuple[LogicalLine, ...]:
    lines = knob.lines()
    return () if any("\r" in line.text for line in lines) else lines


def _classad(knobs: ScheddKnobs, name: str, knob: Knob, facts: TransformFacts) -> Iterator[SubmitTransform]:
    place = knob.place()
    if facts.version >= FIRST_WITHOUT_CLASSADS:
        release = ".".join(map(str, facts.version[:2]))
        message = f"{PREFIX}{name} is a ClassAd, which HTCondor {release} does not take any more: it is passed over"
        knobs.warn(message, place.part(0, 1), "write it as commands: crondor preview --target 25.7 shows what it did")
        return
    text = (knobs.string(PREFIX + name) or "").lstrip(BLANKS)
    source = Source(text, PREFIX + name)
    try:
        tree = parse_ad(source)
    except ClassAdSyntaxError as error:
        for fault in error.diagnostics:
            message = f"{PREFIX}{name} is a malformed ClassAd, and the schedd passes over it: {fault.message}"
            knobs.warn(message, place, fault.help)
        return
    placed = Placed.of(source)
    read = EntryAttributes(Ad(tree, 0, len(text)), placed)
    made = convert_faithfully(LegacyEntry(name, read.ad(), PREFIX + name, 0, source.span(), read.places))
    if made is None:
        knobs.warn(f"{PREFIX}{name} does not convert, and the schedd passes over it", place)
        return
    try:
        rules = Source(made[1], f"{PREFIX}{name} (converted)")
        transform = Transform.parse(rules, name=made[0] or name, form=RuleSource.FILE, facts=facts, strict=False)
    except InvalidTransform as error:
        for fault in error.diagnostics:
            knobs.warn(f"{PREFIX}{name} does not convert, and is passed over: {fault.message}", place, fault.help)
        return
    yield SubmitTransform(name, transform.once(), place, is_classad=True)
