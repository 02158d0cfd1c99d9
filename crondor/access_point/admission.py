"""What a schedd makes of one job: transformed, asked, taken or refused.

HTCondor: CheckTransaction (src/condor_schedd.V6/qmgmt.cpp): for each job of the submission, the transforms in their
order, each where the job, changed by those before, meets its REQUIREMENTS; then the submit requirements, which see the
changed job. The first that refuses ends the whole submission. A transform that fails does too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from crondor.access_point.transforms import SubmitTransform
from crondor.classad.ad import ClassAd
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic
from crondor.source import Span
from crondor.transform import AttributeChange, Changes, TraceStep

FAILED: Final = "Failed to apply a required job transform."
"""What the schedd says of a transform that fails, whatever the reason: that stands in its log alone."""


SCHEDULING: Final = frozenset(
    (
        *("cronminute", "cronhour", "crondayofmonth", "cronmonth", "crondayofweek"),
        *("deferraltime", "deferralwindow", "deferralpreptime", "scheddinterval", "jobuniverse", "onexitremove"),
    )
)
"""Attributes, in lower case, that decide when a job runs and whether it repeats."""


class Kind(Enum):
    """What refuses a job, or warns of it."""

    REQUIREMENT = "requirement"
    TRANSFORM = "transform"
    LIMIT = "limit"


class Verdict(NamedTuple):
    """One refusal or warning: the knob, the schedd's words, and where the knob stands."""

    kind: Kind
    knob: str
    reason: str
    place: Span | None = None
    help: str | None = None


class TransformStep(NamedTuple):
    """A transform that ran: what it changed in the job as it is stored, and what each of its lines did."""

    transform: SubmitTransform
    changes: Changes
    trace: tuple[TraceStep, ...]

    def place(self, name: str) -> Span | None:
        """Return the line that changed an attribute last, where that can be told; else where the transform stands."""
        if self.transform.is_classad:
            return self.transform.place
        words = (name.lower(), f"my.{name.lower()}")
        lines = [step.span for step in self.trace if not step.is_detail and words[0] in step.span.text.lower()]
        return lines[-1] if lines else self.transform.place


@dataclass(frozen=True)
class Admission:
    """What became of a job.

    ``before`` is its ad as condor_submit sends it, ``after`` as the schedd would store it; both have all attributes.
    ``steps`` are the transforms that ran, ``refusal`` is why it is not taken, None: it is. ``warnings`` are
    requirements that only warn, ``unsure`` those whose answer depends on what nobody knows before.
    """

    before: ClassAd
    after: ClassAd
    steps: tuple[TransformStep, ...] = ()
    refusal: Verdict | None = None
    warnings: tuple[Verdict, ...] = ()
    unsure: tuple[Verdict, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def schedule_changes(self) -> tuple[tuple[TransformStep, AttributeChange], ...]:
        """What transforms change of when and where the job runs, each with the transform."""
        return tuple((step, each) for step in self.steps for each in step.changes if lower(each.name) in SCHEDULING)

    @property
    def changes(self) -> Changes:
        """All that differs between the two ads."""
        return Changes(self.before, self.after)
