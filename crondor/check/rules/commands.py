"""CRN502 to CRN506: attributes behind condor_submit's back, and the universe the job is in."""

from __future__ import annotations

from crondor.check.rule import passed_on
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


no_universe = passed_on("CRN506", "no-universe", Severity.ERROR, "a universe that there is not", CheckedJob.hits)
