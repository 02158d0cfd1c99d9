"""Crontab and deferral jobs as sources: when they may be routed, and what follows a run."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import Deferral
from crondor.diagnostics import CrondorError
from crondor.job.attributes import count, integer
from crondor.job.policy import Act, QueuedJob, at_exit
from crondor.schedd.reading import StatusReader
from crondor.times import JobTimes

NEVER: Final = 1 << 40
"""A time (epoch seconds) that never comes."""


def opens(ad: ClassAd, now: int, zone: str | tzinfo) -> int | None:
    """Return when a job may be matched for its next run (epoch seconds); None for a job without a schedule.

    This follows condor_submit's clause in Requirements: DeferralTime less the prep time and SCHEDD_INTERVAL. Returns
    NEVER for a job whose schedule cannot be read, or has no more runs.
    """
    if not QueuedJob(ad).is_scheduled:
        return None
    run = upcoming(ad, now, zone)
    return NEVER if run is None else run.match_opens


def upcoming(ad: ClassAd, now: int, zone: str | tzinfo) -> Deferral | None:
    """Return a job's next run; None if there is none or its schedule cannot be read."""
    try:
        return StatusReader(zone=zone).look(QueuedJob(ad), now).next
    except CrondorError:
        return None


def runs_again(ad: ClassAd, now: int, context: Context) -> bool:
    """Return whether a crontab job stays in the queue after a run: its on_exit_remove is false."""
    return QueuedJob(ad).is_crontab and at_exit(ad, now, context).act is Act.STAY


def next_run(ad: ClassAd, now: int, zone: str | tzinfo) -> dict[str, object] | None:
    """Return the edits that make a source wait for the run after this one; None if there are no more runs.

    DeferralTime is set to the next time at once: while the window of the old time is open, the job could be taken for
    the same run again.
    """
    present = integer(ad, "DeferralTime") or 0
    try:
        queued = QueuedJob(ad)
        times = JobTimes(queued.schedule(now, zone=zone), queued.requirements)
        after = times.next(max(now, present)) if queued.is_crontab else None
    except CrondorError:
        return None
    if after is None:
        return None
    return {"DeferralTime": after, "NumJobCompletions": count(ad, "NumJobCompletions") + 1, "EnteredCurrentStatus": now}
