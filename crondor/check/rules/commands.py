"""CRN502 to CRN506: attributes behind condor_submit's back, and the universe the job is in."""

from __future__ import annotations

from collections.abc import Iterator

from crondor._spec.inline_comment import CURE, inline_comment
from crondor.check.rule import RuleHit, passed_on, rule
from crondor.check.subject import CheckedJob
from crondor.diagnostics import Severity

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
    for fault in job.faults("CRN506"):
        has_comment = fault.span is not None and inline_comment(fault.span.text) is not None
        yield RuleHit(fault.message, fault.span, CURE if has_comment else fault.help)
