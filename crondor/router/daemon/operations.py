"""What the router does to queues, as values; each is safe where a schedd cannot edit several attributes at once.

HTCondor: claim_job, yield_job, remove_job in src/condor_job_router/submit_job.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.classad import Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.job.attributes import exact_boolean, expression
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon.reading import EXTERNAL, HOLD_COPIED, SCHEDD, SCHEDD_DONE, status
from crondor.schedd.protocol import Schedd
from crondor.schedd.selection import Selection

UNDEFINED: Final = Expression("undefined")
UNMANAGED: Final = f'(Managed =?= undefined || Managed =?= "{SCHEDD}")'
IDLE: Final = "JobStatus =?= 1"


class QueueStep(NamedTuple):
    """Attributes to set where a condition holds."""

    condition: str
    edits: Mapping[str, object]


@dataclass(frozen=True)
class JobEdit:
    """An edit of one job.

    A schedd with atomic edits does all steps at once under the condition of the first. Elsewhere they are done one by
    one, each under its own condition, until one does not hold; each has one attribute that anybody acts upon, and it
    stands first or is the last of all. ``undo`` is done where they end after the first.
    """

    job: JobId
    steps: tuple[QueueStep, ...]
    undo: QueueStep | None = None

    def do(self, schedd: Schedd) -> bool:
        """Do it, and say whether all conditions held. Raises what the schedd raises."""
        if schedd.capabilities.atomic_edits:
            edits = {name: value for step in self.steps for name, value in step.edits.items()}
            return schedd.edit_if(self.job, self.steps[0].condition, edits)
        for number, step in enumerate(self.steps):
            if not schedd.edit_if(self.job, step.condition, step.edits):
                if number and self.undo is not None:
                    schedd.edit_if(self.job, self.undo.condition, self.undo.edits)
                return False
        return True


def owned(name: str) -> str:
    """Return the condition that a router of this name has a job."""
    return f"Managed =?= {print_string(EXTERNAL)} && ManagedManager =?= {print_string(name)}"


def claim(job: JobId, name: str) -> JobEdit:
    """Take over an idle job that nobody has.

    Where edits are not atomic the name comes first: of two routers that write it, one finds the other's.
    """
    named = f"ManagedManager =?= {print_string(name)}"
    return JobEdit(
        job,
        (
            QueueStep(f"{IDLE} && {UNMANAGED}", {"ManagedManager": name}),
            QueueStep(f"{IDLE} && {UNMANAGED} && {named}", {"Managed": EXTERNAL}),
        ),
    )


def name_again(job: JobId, name: str) -> JobEdit:
    """Write the router's name into a job that it has taken, where somebody has deleted it."""
    return JobEdit(
        job,
        (QueueStep(f"Managed =?= {print_string(EXTERNAL)} && ManagedManager =?= undefined", {"ManagedManager": name}),),
    )


def tell(job: JobId, name: str, seen: JobStatus, edits: Mapping[str, object]) -> JobEdit:
    """Write what the copy's state changes in the source, while that is the router's and has the status it was seen in.

    The reasons of a hold or a removal come before it, since a held job without HoldCopiedFromTargetJob is held by its
    user; any other status comes first, since it is what the condition asks for. Where the user holds the job between
    the two, that hold is his.
    """
    condition = f"{owned(name)} && JobStatus =?= {int(seen)}"
    now = edits.get("JobStatus")
    if now is None or len(edits) == 1:
        return JobEdit(job, (QueueStep(condition, edits),))
    rest = {attribute: value for attribute, value in edits.items() if attribute != "JobStatus"}
    changed = QueueStep(condition, {"JobStatus": now})
    if now in (JobStatus.HELD, JobStatus.REMOVED):
        undo = QueueStep(owned(name), {HOLD_COPIED: False}) if rest.get(HOLD_COPIED) is True else None
        return JobEdit(job, (QueueStep(condition, rest), changed), undo)
    return JobEdit(job, (changed, QueueStep(owned(name), rest)))


def give_back(job: JobId, ad: ClassAd, name: str, *, done: bool, release_on_hold: bool) -> JobEdit:
    """Yield a job that has the ad's status (HTCondor 25.14's job router): the schedd has it again.

    ``done``: the copy has done its work, and the job leaves the queue. A hold that was the copy's is ended where
    ``release_on_hold`` is set. JobStatus comes before Managed, so that no schedd finds a job running that nobody runs.
    """
    now = status(ad)
    seen = "true" if now is None else f"JobStatus =?= {int(now)}"
    mine = owned(name)
    edits: dict[str, object] = {}
    if now is JobStatus.HELD and release_on_hold and exact_boolean(ad, HOLD_COPIED):
        edits = {"JobStatus": int(JobStatus.IDLE), HOLD_COPIED: UNDEFINED}
    elif now not in (JobStatus.IDLE, JobStatus.COMPLETED, JobStatus.REMOVED, JobStatus.HELD):
        edits = {"JobStatus": int(JobStatus.IDLE)}
    steps = [QueueStep(f"{mine} && {seen}", edits)] if edits else []
    seen = IDLE if edits else seen
    left = SCHEDD_DONE if done else SCHEDD
    steps += [
        QueueStep(f"{mine} && {seen}", {"Managed": left}),
        QueueStep(
            f"Managed =?= {print_string(left)} && ManagedManager =?= {print_string(name)}", {"ManagedManager": ""}
        ),
    ]
    return JobEdit(job, tuple(steps))


def run_again(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Give a completed source back to wait for its next run, with what its schedd notes about the one that is over."""
    mine = owned(name)
    done = f"{mine} && JobStatus =?= {int(JobStatus.COMPLETED)}"
    return JobEdit(
        job,
        (
            QueueStep(done, edits),
            QueueStep(done, {"JobStatus": int(JobStatus.IDLE)}),
            QueueStep(f"{mine} && {IDLE}", {"Managed": SCHEDD}),
            QueueStep(f"{UNMANAGED} && ManagedManager =?= {print_string(name)}", {"ManagedManager": ""}),
        ),
    )


def update_copy(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Set attributes of a copy."""
    return JobEdit(job, (QueueStep(f"RoutedBy =?= {print_string(name)}", edits),))


def update_source(job: JobId, name: str, edits: Mapping[str, object]) -> JobEdit:
    """Set attributes of a source while it is the router's."""
    return JobEdit(job, (QueueStep(owned(name), edits),))


def change_in_place(job: JobId, edits: Mapping[str, object]) -> JobEdit:
    """Edit an idle job that nobody manages."""
    return JobEdit(job, (QueueStep(f"{IDLE} && {UNMANAGED}", edits),))


def let_go(job: JobId, name: str) -> JobEdit:
    """Let a completed copy leave its queue."""
    mine = f"RoutedBy =?= {print_string(name)} && JobStatus =?= {int(JobStatus.COMPLETED)}"
    return JobEdit(job, (QueueStep(mine, {"LeaveJobInQueue": False}),))


def remove(schedd: Schedd, job: JobId, condition: str, reason: str) -> None:
    """Remove a job where a condition holds; one that is gone is none the worse. Raises what the schedd raises."""
    schedd.remove(Selection(jobs=(job,)).where(condition), reason)


def live(schedd: Schedd, job: JobId) -> ClassAd | None:
    """Return a job's ad as the schedd has it now. Raises what the schedd raises."""
    return next(iter(schedd.jobs(Selection(jobs=(job,)))), None)


def moved_release(source: ClassAd) -> Iterator[tuple[str, object]]:
    """Yield what a hold writes of the release before it, where there is one."""
    reason = expression(source, "ReleaseReason")
    if reason is not None and reason != UNDEFINED:
        yield "LastReleaseReason", reason
        yield "ReleaseReason", UNDEFINED
