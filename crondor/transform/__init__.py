"""The transform language of HTCondor: rules that change ads, compiled once and applied to many.

``Transform.parse(source)`` compiles rules, ``transform.apply(ad, facts)`` returns a Result with the new ad;
``apply_all`` applies several in a row, ``transform_ads`` to many ads, ``Chain`` round by round where one iterates.
``Facts`` has what they may see beside the ad.
"""

from crondor.transform.compiled import Chain, Outcome, Result, Transform, apply_all, transform_ads
from crondor.transform.errors import InvalidTransform
from crondor.transform.facts import Facts
from crondor.transform.program import Form
from crondor.transform.trace import Step
from crondor.transform.undo import Change, Changes

__all__ = [
    "Chain",
    "Change",
    "Changes",
    "Facts",
    "Form",
    "InvalidTransform",
    "Outcome",
    "Result",
    "Step",
    "Transform",
    "apply_all",
    "transform_ads",
]
