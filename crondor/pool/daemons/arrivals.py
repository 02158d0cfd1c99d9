"""What the starter decides when a job has arrived with its files (HTCondor 25.14: Starter::jobWaitUntilExecuteTime)."""

from __future__ import annotations

from collections.abc import Callable

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.deferral import LATEST, Arrival, Deferral, Verdict
from crondor.job.attributes import integer


def arrival(ad: ClassAd, now: int, context: Callable[[int], Context], known: int | None = None) -> Arrival | None:
    """Return the verdict on a job at ``now``, epoch seconds of the execute machine; None for one that is not deferred.

    ``known`` is the time that was read from the ad before: an expression is evaluated once. A time that is no positive
    number is a missed one, and a window that is no number has no length. A real number counts by its whole part.
    """
    if "DeferralTime" not in ad:
        return None
    time = integer(ad, "DeferralTime", context(now)) if known is None else known
    if time is None or time <= 0:
        return Arrival(Verdict.MISSED, now)
    if time > LATEST:
        return Arrival(Verdict.WAIT, time - now)
    if now < time:
        return Arrival(Verdict.WAIT, time - now)
    window = integer(ad, "DeferralWindow", context(now)) or 0
    return Deferral(time, min(max(window, 0), LATEST)).arrival(now)


def time_of(ad: ClassAd, context: Context) -> int | None:
    """Return the DeferralTime that the starter reads (epoch seconds), None where it is no number."""
    return integer(ad, "DeferralTime", context)
