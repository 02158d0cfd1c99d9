"""A crontab job for one of its runs: what a router that waits for gates applies a route to."""

from __future__ import annotations

from crondor.classad.ad import ClassAd
from crondor.deferral import Deferral
from crondor.job.queued import QueuedJob
from crondor.spec import FIELDS


def one_run(source: ClassAd, run: Deferral | None) -> ClassAd:
    """Return a job with one time, which schedules none by itself and leaves its queue when it has run.

    The Cron attributes are left out, and DeferralTime is the run's (None: as it is); a job without them stays as it is.
    """
    made = source.copy()
    if not QueuedJob(source).is_crontab:
        return made
    for field in FIELDS:
        made.prune(field.attribute)
    if "OnExitRemove" in made:
        made.set("OnExitRemove", value=True)
    if run is not None:
        made.set("DeferralTime", run.time)
    return made
