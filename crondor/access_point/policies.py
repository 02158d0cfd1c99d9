"""SYSTEM_PERIODIC_ knobs: the administrator's policy, which is asked after each expression of the job's own.

HTCondor: UserPolicy::Config (src/condor_utils/user_job_policy.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.access_point.knobs import ScheddKnobs
from crondor.classad import UnparseForm
from crondor.classad.scope import UNKNOWN
from crondor.job.policy import SystemExpression, SystemPolicy

_KNOBS: Final = {
    "PeriodicHold": "SYSTEM_PERIODIC_HOLD",
    "PeriodicRelease": "SYSTEM_PERIODIC_RELEASE",
    "PeriodicRemove": "SYSTEM_PERIODIC_REMOVE",
}
"""By the attribute that is asked before. SYSTEM_PERIODIC_VACATE is read and never asked (25.14)."""

_IGNORED: Final = "the schedd passes over it"


def read_policies(knobs: ScheddKnobs) -> SystemPolicy:
    """Return the expressions by attribute: those of _NAMES in their order, then the one without a name."""
    found = {attribute: tuple(_of(knobs, base)) for attribute, base in _KNOBS.items()}
    return {attribute: expressions for attribute, expressions in found.items() if expressions}


def _of(knobs: ScheddKnobs, base: str) -> Iterator[SystemExpression]:
    for name, place in knobs.names(f"{base}_NAMES"):
        if name.upper() == "NAMES":
            continue
        if knobs.knob(f"{base}_{name}") is None:
            knobs.missing(f"{base}_", name, place)
        yield from _one(knobs, base, f"{base}_{name}")
    yield from _one(knobs, base, base)


def _one(knobs: ScheddKnobs, base: str, knob: str) -> Iterator[SystemExpression]:
    expression = knobs.expression(knob, _IGNORED, old=True)
    if expression is None or (expression.code.const is not UNKNOWN and expression.code.const is False):
        return
    reason = knobs.expression(f"{knob}_REASON", "HTCondor gives words of its own", old=True)
    subcode = knobs.expression(f"{knob}_SUBCODE", "the subcode is 0", old=True)
    text = expression.unparse(UnparseForm.OLD)
    yield SystemExpression(base, knob, expression, text, reason, subcode, knobs.place(knob))
