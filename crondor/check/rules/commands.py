"""CRN5..: the commands themselves, and the universe the job is in."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Edit, Fix, RuleHit, rule
from crondor.check.subject import CheckedFile, CheckedJob
from crondor.diagnostics import Severity


@rule("CRN501", "misspelt", Severity.WARNING, "a command that HTCondor passes over")
def misspelt_command(file: CheckedFile) -> Iterator[RuleHit]:
    """An unknown command is a user's own macro to condor_submit: it says nothing, and the field stays unset."""
    for fault in file.misspelt:
        fix = None
        if fault.fix and fault.span is not None and fault.span.source is file.source:
            fix = Fix(f"write {fault.fix}", (Edit(fault.span, fault.fix),))
        yield RuleHit(fault.message, fault.span, fault.help, fix)


@rule("CRN502", "bypass", Severity.ERROR, "an attribute set behind condor_submit's back")
def bypass(job: CheckedJob) -> Iterator[RuleHit]:
    """+CronMinute and its like get no window and no prep time; Requirements is then undefined, and never matches."""
    for fault in job.faults("CRN502"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN503", "scheduler-refused", Severity.ERROR, "a deferral time in the scheduler universe")
def scheduler_refused(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit refuses it, and proposes the local universe."""
    for fault in job.faults("CRN503"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN504", "scheduler-never", Severity.ERROR, "cron fields in the scheduler universe")
def scheduler_never(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit accepts the job, and the schedd never runs it."""
    for fault in job.faults("CRN504"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN505", "grid-ignores", Severity.WARNING, "a time in the grid universe")
def grid_ignores(job: CheckedJob) -> Iterator[RuleHit]:
    """The attributes are set, and nothing waits for them: the job goes to its site at once."""
    for fault in job.faults("CRN505"):
        yield RuleHit(fault.message, fault.span, fault.help)


@rule("CRN506", "no-universe", Severity.ERROR, "a universe that there is not")
def no_universe(job: CheckedJob) -> Iterator[RuleHit]:
    """condor_submit refuses it."""
    for fault in job.faults("CRN506"):
        yield RuleHit(fault.message, fault.span, fault.help)
