"""What will go wrong with a submit description, or not go as its author thinks, said before submission.

``check(source, settings)`` gives a Report with Findings; a Finding is a Diagnostic under a stable code (CRN101) and,
where there is one, a Fix.
"""

from crondor.check.engine import Report, check, refused, select
from crondor.check.pages import page
from crondor.check.rule import Edit, Finding, Fix, Found, Rule
from crondor.check.rules import RULES
from crondor.check.subject import CheckedFile, CheckedJob, Settings

__all__ = [
    "RULES",
    "CheckedFile",
    "CheckedJob",
    "Edit",
    "Finding",
    "Fix",
    "Found",
    "Report",
    "Rule",
    "Settings",
    "check",
    "page",
    "refused",
    "select",
]
