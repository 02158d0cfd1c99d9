"""What the router asks of a job's ad, and the names that it writes there itself.

As HTCondor's router, it takes an integer for one only where it is no real and no boolean: what it writes goes by
conditions that ask for the status with ``=?=``.
"""

from __future__ import annotations

from typing import Final

from crondor.classad.ad import ClassAd
from crondor.job.attributes import exact_integer, string
from crondor.job.status import JobStatus

EXTERNAL: Final = "External"
SCHEDD: Final = "Schedd"
SCHEDD_DONE: Final = "ScheddDone"

ROUTED_BY: Final = "RoutedBy"
ROUTED_FROM: Final = "RoutedFromJobId"
ROUTED_TO: Final = "RoutedToJobId"
ROUTE_NAME: Final = "RouteName"
HOLD_COPIED: Final = "HoldCopiedFromTargetJob"

RUNNING: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)

_STATUS: Final = {int(status): status for status in JobStatus}


def status(ad: ClassAd | None) -> JobStatus | None:
    """Return a job's status, None for one that HTCondor does not have."""
    number = None if ad is None else exact_integer(ad, "JobStatus")
    return None if number is None else _STATUS.get(number)


def is_managed_by(ad: ClassAd, name: str) -> bool:
    """Say whether a router of this name has a job."""
    return string(ad, "Managed") == EXTERNAL and string(ad, "ManagedManager") == name
