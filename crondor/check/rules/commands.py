"""CRN5..: the commands themselves, and the universe the job is in."""

from __future__ import annotations

from collections.abc import Iterator

from crondor._spec.inline_comment import CURE, inline_comment
from crondor.check.rule import Fix, RuleHit, TextEdit, passed_on, rule
from crondor.check.subject import CheckedFile, CheckedJob
from crondor.diagnostics import Severity


@rule("CRN501", "misspelt", Severity.WARNING, "a command that HTCondor passes over")
def misspelt_command(file: CheckedFile) -> Iterator[RuleHit]:
    """An unknown command is a user's own macro to condor_submit: it says nothing, and the field stays unset."""
    for fault in file.misspelt:
        fix = None
        if fault.fix and fault.span is not None and fault.span.source is file.source:
            fix = Fix(f"write {fault.fix}", (TextEdit(fault.span, fault.fix),))
        yield RuleHit(fault.message, fault.span, fault.help, fix)


bypass = passed_on("CRN502", "bypass", Severity.ERROR, "an attribute set behind condor_submit's back", CheckedJob.hits)


scheduler_refused = passed_on(
    "CRN503", "scheduler-refused", Severity.ERROR, "a deferral time in the scheduler universe", CheckedJob.hits
)


scheduler_never = passed_on(
    "CRN504", "scheduler-never", Severity.ERROR, "cron fields in the scheduler universe", CheckedJob.hits
)


grid_ignores = passed_on("CRN505", "grid-ignores", Severity.WARNING, "a time in the grid universe", CheckedJob.hits)


@rule("CRN506", "no-universe", Severity.ERROR, "a universe that there is not")
def no_universe(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit refuses it, with whatever stands behind it."""
    for hit in job.hits("CRN506"):
        has_comment = hit.span is not None and inline_comment(hit.span.text) is not None
        yield hit._replace(help=CURE) if has_comment else hit
