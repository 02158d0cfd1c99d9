"""CRN1..: the values of the cron fields, and what the schedd makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Found, rule
from crondor.check.subject import CheckedJob
from crondor.diagnostics import Severity


@rule("CRN101", "out-of-range", Severity.ERROR, "a value outside its field")
def out_of_range(job: CheckedJob) -> Iterator[Found]:
    """The schedd takes a single value out of range for every value of the field, and clips a range."""
    for fault in job.faults("cron-range"):
        yield Found(fault.message, fault.span, fault.help)
