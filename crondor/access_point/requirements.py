"""SUBMIT_REQUIREMENT_ knobs: what each job has to meet before the schedd takes it.

HTCondor: Scheduler::checkSubmitRequirements (src/condor_schedd.V6/schedd.cpp). A requirement is evaluated in the
schedd's own ad, with the job's as TARGET; SCHEDD and JOB are other names for the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.access_point.knobs import ScheddKnobs
from crondor.access_point.unknown import asked_with
from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import Context
from crondor.classad.tree import Reference, nodes
from crondor.source import Span

NAMES: Final = "SUBMIT_REQUIREMENT_NAMES"
PREFIX: Final = "SUBMIT_REQUIREMENT_"


class Answer(Enum):
    """What a requirement says of a job: it is MET or not, has no truth value, or depends on what is not known."""

    MET = "met"
    UNMET = "unmet"
    NO_BOOLEAN = "no boolean"
    UNKNOWN = "unknown"


class SubmitRequirement(NamedTuple):
    """A requirement. ``reason`` gives the words of a refusal; with ``is_warning`` the job is taken all the same."""

    name: str
    expression: Expression
    reason: Expression | None = None
    is_warning: bool = False
    place: Span | None = None

    @property
    def knob(self) -> str:
        """The knob's name."""
        return PREFIX + self.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that it asks for, in the order in which they stand."""
        found = [node for node in nodes(self.expression.tree) if isinstance(node, Reference)]
        at = sorted(found, key=lambda node: node.start)
        return tuple(dict.fromkeys(node.name for node in at))

    def ask(self, job: ClassAd, schedd: ClassAd, context: Context) -> tuple[Answer, str]:
        """Return what it says of a job, and in which words the schedd refuses it (None met: empty)."""
        values = set(asked_with(self.expression, job, schedd, context))
        if len(values) > 1:
            return Answer.UNKNOWN, ""
        said = truth(values.pop())
        if said is None:
            return Answer.NO_BOOLEAN, f"Submit requirement {self.name} evaluated to non-boolean."
        return (Answer.MET, "") if said else (Answer.UNMET, self._words(job, schedd, context))

    def _words(self, job: ClassAd, schedd: ClassAd, context: Context) -> str:
        default = f"Submit requirement {self.name} not met."
        if self.reason is None:
            return default
        found = list(asked_with(self.reason, job, schedd, context))
        if len(set(map(str, found))) > 1:
            return f"{default} (the words of its reason depend on what is not known)"
        return found[0] if isinstance(found[0], str) else default


def read_requirements(knobs: ScheddKnobs) -> Iterator[SubmitRequirement]:
    """Yield the requirements in their order; those that the schedd passes over are noted."""
    for name, place in knobs.names(NAMES):
        if name == "NAMES":
            continue
        knob = PREFIX + name
        if knobs.string(knob) is None:
            knobs.missing(PREFIX, name, place)
            continue
        expression = knobs.expression(knob, "the schedd passes over it", old=False)
        if expression is None:
            continue
        reason = knobs.expression(f"{knob}_REASON", "the schedd gives words of its own", old=False)
        is_warning = knobs.boolean(f"{knob}_IS_WARNING", default=False)
        yield SubmitRequirement(name, expression, reason, is_warning, knobs.place(knob))
