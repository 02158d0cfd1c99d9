"""The last touches to a routed copy before it is submitted: HTCondor 25.14's job router, submit, steps 5 to 7.

HTCondor: JobRouter::FinishSubmitJob, submit_job.
"""

from __future__ import annotations

from typing import Final

from crondor.classad.ad import ClassAd
from crondor.hold_codes import SPOOLING_INPUT
from crondor.job.attributes import exact_integer, string
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.daemon.reading import ROUTE_NAME, ROUTED_BY, ROUTED_FROM, ROUTED_TO, status
from crondor.schedd.protocol import SUBMITTING

SPOOLING_REASON: Final = "Spooling input data files"

NEVER_SENT: Final = (
    "x509userproxysubject", "x509UserProxyExpiration", "x509UserProxyEmail", "x509UserProxyVOName",
    "x509UserProxyFirstFQAN", "x509UserProxyFQAN", "AuthTokenSubject", "AuthTokenIssuer", "AuthTokenGroups",
    "AuthTokenScopes", "AuthTokenId",
)  # fmt: skip
"""Attributes that a schedd finds out by itself and lets no client set."""

_MANAGING: Final = ("Managed", "ManagedManager")


def working(source: ClassAd) -> ClassAd:
    """Return what the route is applied to: the source as it was before the router took it."""
    made = source.flat()
    for name in _MANAGING:
        made.prune(name)
    return made


def submitted(
    routed: ClassAd, source: JobId, route: str, router: str, owner: str, now: int, *, domain: str, is_sandboxed: bool
) -> ClassAd:
    """Return the ad that is submitted at ``now`` (epoch seconds); ids are the schedd's to give.

    ``owner`` is the source's; with ``domain`` he is the copy's User. What leads back to the source comes after all
    transforms, so that no route can set it.
    """
    made = routed.copy()
    for name in (*NEVER_SENT, ROUTED_TO, *_MANAGING, "ClusterId", "ProcId"):
        made.prune(name)
    user = f"{owner}@{domain}" if domain else owner
    for name, value in (
        (ROUTED_FROM, str(source)),
        (ROUTED_BY, router),
        (ROUTE_NAME, route),
        ("User", user),
        ("QDate", now),
        ("EnteredCurrentStatus", now),
    ):
        made.set(name, value)
    if "Owner" not in made:
        made.set("Owner", owner)
    if "JobStatus" not in made:
        made.set("JobStatus", int(JobStatus.IDLE))
    if is_sandboxed:
        made.set("JobStatus", int(JobStatus.HELD))
        made.set("HoldReason", SPOOLING_REASON)
        made.set("HoldReasonCode", SPOOLING_INPUT)
    made.set_text("LeaveJobInQueue", f"JobStatus == {int(JobStatus.COMPLETED)}")
    return made


def waits_for_input(copy: ClassAd) -> bool:
    """Say whether a copy is on hold until its input is spooled."""
    return status(copy) is JobStatus.HELD and exact_integer(copy, "HoldReasonCode") == SPOOLING_INPUT


def is_unfinished(copy: ClassAd) -> bool:
    """Say whether a copy's submission ended halfway: its ad is not whole. A schedd adds to the reason whose it is."""
    return status(copy) is JobStatus.HELD and (string(copy, "HoldReason") or "").startswith(SUBMITTING)


def domain_of(source: ClassAd) -> str:
    """Return the domain of the source's User, empty where it has none."""
    return (string(source, "User") or "").partition("@")[2]
