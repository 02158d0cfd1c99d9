"""Ads that have not changed since the last look, and until when what is said of their jobs stays the same."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, Deferral
from crondor.job.queued import TERMS, QueuedJob
from crondor.monitor.job_watch import run_at
from crondor.schedd.status import NEWS, ScheduledJob, ScheduledState

_SAID: Final = {name.lower(): name for name in ("ClusterId", "ProcId", "Owner", "Cmd")}
_LOOKED_AT: Final = (
    *TERMS,
    *_SAID,
    *map(
        str.lower,
        (
            "JobStatus", "LastJobStatus", "EnteredCurrentStatus", "QDate", "OnExitRemove", "HoldReason",
            "HoldReasonCode", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "JobLastStartDate",
            "LastRemoteWallClockTime", "NumJobStarts", "NumJobCompletions", "NumShadowStarts", "ExitCode",
            "ExitBySignal", "ExitSignal", "Managed", "RoutedToJobId", "NumHolds", "RemoveReason", "UserLog", "Iwd",
        ),
    ),
)  # fmt: skip


def texts_of(ad: ClassAd) -> tuple[Hashable, ...]:
    """Return what a look goes by, None for what the ad has not: texts, or what was read of them."""
    codes = ad.codes
    return tuple([codes.get(name) for name in _LOOKED_AT])


def small(ad: ClassAd) -> QueuedJob:
    """Return a job with nothing but what rows and metrics say of it: what is kept must not grow with the ads."""
    codes = ad.codes
    return QueuedJob(ClassAd.of({low: codes[low] for low in _SAID if low in codes}, _SAID))


def fresh_until(status: ScheduledJob, now: int) -> int:
    """Return until when a status is the same where the ad is: its moments change it, an expression at any time.

    Of a job on a machine it is not told; there are fewer of those.
    """
    schedule = status.schedule
    if status.state not in (ScheduledState.IDLE, ScheduledState.HELD):
        return 0
    if schedule is None or not all(isinstance(each, int) for each in (schedule.window, schedule.prep_time)):
        return 0
    if schedule.recurrence is None and not isinstance(schedule.time, int):
        return 0
    runs = [run for run in (status.next, _run_of(status)) if run is not None]
    moments = [moment for run in runs for moment in _moments(run) if moment > now]
    return min(moments, default=LATEST)


def _run_of(status: ScheduledJob) -> Deferral | None:
    time = status.deferral_time
    return None if time is None or not 0 < time <= LATEST else run_at(status.schedule, time, time)


def _moments(run: Deferral) -> tuple[int, ...]:
    """Return when something about a run changes, and when one that has not begun is in trouble."""
    return run.match_opens, run.time, run.last_match + 1, run.last_start + 1, run.last_start + NEWS + 1
