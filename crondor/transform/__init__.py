"""The transform language of HTCondor: rules that change ads, compiled once and applied to many.

``Transform.parse(source)`` compiles rules, ``transform.apply(ad, facts)`` returns a TransformResult with the new ad;
``apply_all`` applies several in a row, ``transform_ads`` to many ads, ``Chain`` round by round if one iterates.
``TransformFacts`` has the other inputs.
"""

from crondor.transform.apply import AttributeChange, Changes
from crondor.transform.compiled import Chain, Transform, TransformOutcome, TransformResult, apply_all, transform_ads
from crondor.transform.expressions import InvalidTransform, TraceStep, TransformFacts
from crondor.transform.program import RuleSource

__all__ = [
    "AttributeChange",
    "Chain",
    "Changes",
    "InvalidTransform",
    "RuleSource",
    "TraceStep",
    "Transform",
    "TransformFacts",
    "TransformOutcome",
    "TransformResult",
    "apply_all",
    "transform_ads",
]
