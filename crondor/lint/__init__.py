"""Rules for submit descriptions and for a job router's configuration.

``check_submit(source, settings)`` returns a CheckReport with Findings; a Finding is a Diagnostic with a stable code
(CRN101) and, if there is one, a Fix. ``crondor.lint.routes.check_routes`` does the same for routes. ``report_data``
returns plain values for JSON, ``fixed`` applies the fixes, and ``crondor.lint.baseline`` silences known findings.
docs/python.md has a service and a pytest fixture.
"""

from crondor.lint.fixing import Cured, LeftFix
from crondor.lint.report import CheckReport, address, finding_data, page, report_data, select
from crondor.lint.rule import Finding, Fix, Rule, RuleHit, rule
from crondor.lint.subject import CheckedFile, CheckedJob, CheckSettings
from crondor.lint.submit import RULES, check_submit, fixed, refused
from crondor.submit.edits import TextEdit

__all__ = [
    "RULES",
    "CheckReport",
    "CheckSettings",
    "CheckedFile",
    "CheckedJob",
    "Cured",
    "Finding",
    "Fix",
    "LeftFix",
    "Rule",
    "RuleHit",
    "TextEdit",
    "address",
    "check_submit",
    "finding_data",
    "fixed",
    "page",
    "refused",
    "report_data",
    "rule",
    "select",
]
