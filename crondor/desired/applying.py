"""Change a queue to what a folder of submit files wants, job by job, so that it may be ended at any moment.

A job is submitted on hold, and released when it is certain to be the only one of its place in the folder; a job that
it replaces is removed in between. Whatever a killed apply leaves, the next one finds by the marks: nothing is lost, and
nothing runs twice. Two at once converge in the same way: a released job wins, otherwise the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from crondor.classad import Expression, lower, print_string
from crondor.classad.ad import ClassAd
from crondor.codes import SUBMITTED_ON_HOLD
from crondor.desired.differences import REMOVING, Action, Difference, Wanted, is_as, is_being_submitted
from crondor.desired.marks import (
    CRON,
    DIGEST,
    EDITING,
    HELD,
    NAMES,
    SUBMITTING,
    UNFINISHED,
    Marks,
    content_of,
    digest,
    jobs_of_plan,
    names_text,
    text_of,
)
from crondor.job.attributes import JobStatus, int32
from crondor.job_queue.records import JobId
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Hold, Schedd, Selection, edited
from crondor.schedd.reading import job_id
from crondor.transform import AttributeChange

REASON: Final = "via crondor apply"
"""ReleaseReason of the jobs that apply releases."""

_UNDEFINED: Final = Expression("undefined")
# A job that waits on its machine for its time has Running as its status, and no run to cut off.
_NOT_UNDER_WAY: Final = "(JobStatus =!= 2 && JobStatus =!= 6 && JobStatus =!= 7) || (DeferralTime > time()) =?= true"
_ON_HOLD: Final = {"JobStatus": int(JobStatus.HELD), "HoldReason": SUBMITTING, "HoldReasonCode": SUBMITTED_ON_HOLD}
_GONE: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)
_AFTERWARDS: Final = "the change is made after its run"
_IS_HELD: Final = "JobStatus =?= 5"


class Applied(NamedTuple):
    """A difference after apply: the job that is there now, and why it was not done (empty: it is done)."""

    difference: Difference
    job: JobId | None = None
    why: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the queue has what is wanted."""
        return not self.why


class Applying:
    """Applies the differences of one plan to one queue; ``cuts_runs`` also replaces and removes running jobs."""

    def __init__(self, schedd: Schedd, plan: str, owner: str, *, cuts_runs: bool = False) -> None:
        self._schedd = schedd
        self._plan = plan
        self._owner = owner
        self._guard = "true" if cuts_runs else _NOT_UNDER_WAY

    def apply(self, difference: Difference) -> Applied:
        """Do one action. Raises ScheddError, and JobQueueError for a queue on disk; the next apply does the rest."""
        action, job, ad, wanted = difference.action, difference.job, difference.ad, difference.wanted
        if difference.waits:
            return Applied(difference, job, f"it is running: {_AFTERWARDS}")
        if wanted is not None and action in (Action.SUBMIT, Action.REPLACE):
            return self._submit(difference, wanted)
        if job is not None and ad is not None and wanted is not None:
            if action is Action.EDIT:
                return self._edit(difference, job, ad, wanted)
            if action is Action.RELEASE and is_being_submitted(ad):
                return self._settled(difference, job, wanted)
        done = job is None or action is Action.NOTHING or self._acted(action, job, difference.why)
        return Applied(difference, job, "" if done else "it has started, or has left the queue, in the meantime")

    def _acted(self, action: Action, job: JobId, why: str) -> int | bool:
        """Release, hold or remove a job; return 0 if it was not done."""
        if action is Action.RELEASE:
            return self._schedd.release(Selection(jobs=(job,)).where(_IS_HELD), REASON).done
        return self._hold(job) if action is Action.HOLD else self._remove(job, why)

    def _hold(self, job: JobId) -> int:
        return self._schedd.hold(self._idle(job), Hold("held by its submit file, via crondor apply")).done

    def _idle(self, job: JobId) -> Selection:
        return Selection(jobs=(job,)).where(self._guard)

    def _remove(self, job: JobId, why: str) -> bool:
        """Remove a job unless its program runs; return whether it is no longer there."""
        done = self._schedd.remove(self._idle(job), f"{REMOVING}{why}").done
        return bool(done) or all(int32(ad, "JobStatus") in _GONE for ad in self._schedd.jobs(job, ["JobStatus"]))

    def _there(self, wanted: Wanted) -> list[tuple[JobId, ClassAd]]:
        """Return the jobs of a place in the folder, without those that are going."""
        ads = self._schedd.jobs(jobs_of_plan(self._plan, self._owner, wanted.key))
        found = ((job_id(ad), ad) for ad in ads if int32(ad, "JobStatus") not in _GONE)
        return [(job, ad) for job, ad in found if job is not None]

    def _submit(self, difference: Difference, wanted: Wanted) -> Applied:
        """Submit a job, and remove the one that it replaces."""
        mine, ad = difference.new, wanted.ad
        if mine is None:
            is_alone = difference.job is None and self._schedd.capabilities.atomic_edits  # this is the only writer
            is_safe = is_alone or HELD in content_of(ad)
            (mine,) = self._schedd.submit([ad if is_safe else edited(ad, _ON_HOLD)])
            if is_alone:
                return Applied(difference, mine)
            self._note_alterations(mine, wanted)
        return self._settled(difference, mine, wanted)

    def _note_alterations(self, job: JobId, wanted: Wanted) -> None:
        """Mark the attributes that the schedd has changed as it received the job (JOB_TRANSFORM_NAMES)."""
        ad, content = next(iter(self._schedd.jobs(job)), None), content_of(wanted.ad)
        if ad is None:
            return
        altered = [name for name, text in content.items() if name != HELD and text_of(ad, name) != text]
        if altered:
            left = {name: text for name, text in content.items() if name not in altered}
            self._schedd.edit_if(job, "true", {NAMES: names_text(content, left), DIGEST: digest(left)})

    def _settled(self, difference: Difference, mine: JobId, wanted: Wanted) -> Applied:
        """Release a new job if it is the one to stay, after removing the others of its place."""
        there = dict(self._there(wanted))
        if mine not in there:
            return Applied(difference, None, "it has left the queue in the meantime")
        begun = {job for job, ad in there.items() if is_being_submitted(ad)}
        good = {job for job, ad in there.items() if is_as(wanted, ad)} | {mine}
        first = min(good - begun or good)
        if first != mine:
            self._remove(mine, f"job {first} is the one to stay")
            return Applied(difference, first)
        for other in sorted(there.keys() - begun - good):
            if not self._remove(other, f"replaced by {mine}"):
                self._remove(mine, f"job {other} is running")
                return Applied(difference, other, f"it has started in the meantime: {_AFTERWARDS}")
        if mine in begun:
            self._schedd.release(Selection(jobs=(mine,)).where(_IS_HELD), REASON)
        twice = sorted(job for job, ad in self._there(wanted) if not is_being_submitted(ad))
        for other in twice[1:]:  # two applies at once have released theirs
            self._remove(other, f"it is there twice, as job {twice[0]}")
        return Applied(difference, next(iter(twice), None))

    def _edit(self, difference: Difference, job: JobId, ad: ClassAd, wanted: Wanted) -> Applied:
        """Edit a job in place; one that is held is released then, since it was held with its old content."""
        marks = Marks.of(ad)
        content = content_of(wanted.ad)
        compared = marks.compared(content)
        held, is_held = HELD in content, int32(ad, "JobStatus") == JobStatus.HELD
        final = digest(compared)
        edits: dict[str, object] = {
            each.name: _value(wanted.ad, each) for each in difference.attributes if each.name != HELD
        }
        edits[NAMES] = names_text(content, compared)
        if self._schedd.capabilities.atomic_edits and any(lower(name) in CRON for name in edits):
            edits["DeferralTime"] = _UNDEFINED  # that of the old schedule; recalculate follows
        if is_held and not held:
            edits["HoldReason"] = EDITING
        if held and not is_held and not self._hold(job):
            return Applied(difference, job, f"it has started in the meantime: {_AFTERWARDS}")
        is_old = f"{DIGEST} =?= {print_string(marks.digest)}" if marks.digest else f"size({DIGEST}) > 0 =!= true"
        if self._schedd.capabilities.atomic_edits:
            is_edited = self._schedd.edit_if(job, is_old, {**edits, DIGEST: final})
        else:
            half = f"{UNFINISHED}{final}"
            is_edited = self._schedd.edit_if(job, is_old, {DIGEST: half, **edits})
            is_edited = is_edited and self._schedd.edit_if(job, f"{DIGEST} =?= {print_string(half)}", {DIGEST: final})
        if not is_edited:
            return Applied(difference, job, "it was changed in the meantime: run crondor apply again")
        if is_held and not held:
            self._schedd.release(Selection(jobs=(job,)).where(_IS_HELD), REASON)
        return Applied(difference, job)


def _value(ad: ClassAd, change: AttributeChange) -> Expression:
    return _UNDEFINED if change.after is None else ad[change.name]


def recalculate(schedd: EmbeddedSchedd, plan: Selection, jobs: Iterable[JobId], now: int) -> None:
    """Compute the DeferralTime of some jobs of an embedded queue, as a schedd does, and of those of a plan without one.

    An apply that was ended has left those. Raises JobQueueError.
    """
    without = (job_id(ad) for ad in schedd.jobs(plan, ["DeferralTime"]) if text_of(ad, "DeferralTime") is None)
    chosen = {*jobs, *without}
    schedd.apply(edit for edit in schedd.book.recalculate(now) if edit.job in chosen)
