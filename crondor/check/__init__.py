"""What will go wrong with a submit description, or not go as its author thinks, said before submission.

``check_submit(source, settings)`` gives a CheckReport with Findings; a Finding is a Diagnostic under a stable code
(CRN101) and, where there is one, a Fix. ``report_data`` gives plain values for JSON, ``crondor.check.baseline`` keeps
quiet what is known, ``crondor.check.fixing`` makes the fixes. docs/python.md has a service and a pytest fixture.
"""

from crondor.check.data import finding_data, report_data
from crondor.check.engine import CheckReport, check_submit, refused, select
from crondor.check.pages import address, page
from crondor.check.rule import Finding, Fix, Rule, RuleHit, TextEdit
from crondor.check.rules import RULES
from crondor.check.subject import CheckedFile, CheckedJob, CheckSettings

__all__ = [
    "RULES",
    "CheckReport",
    "CheckSettings",
    "CheckedFile",
    "CheckedJob",
    "Finding",
    "Fix",
    "Rule",
    "RuleHit",
    "TextEdit",
    "address",
    "check_submit",
    "finding_data",
    "page",
    "refused",
    "report_data",
    "select",
]
