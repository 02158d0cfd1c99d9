"""The job router as a daemon: it follows a queue, routes jobs, keeps source and copy together, and cleans up.

``Router(table, schedd, clock=...)`` over any ``Schedd``, or over two; ``router.poll()`` is one round of HTCondor's
condor_job_router. ``RouterOptions`` say where it differs from the daemon. ``router.why(job)`` says why a job is not
routed now, ``router.routes()`` how each route stands. All that it must remember is in the queues. ``RouterLock``
keeps a second router of the same name away. ``Rehearsal`` is all of it with simulated sites, in memory, on a virtual
clock.
"""

from typing import TYPE_CHECKING

from crondor._types import late
from crondor.router.daemon.context import Delivery, RouterOptions
from crondor.router.daemon.lock import RouterLock, RouterLocked
from crondor.router.daemon.log import EventWriter, LogEntry, RouterEvent, UserLogs
from crondor.router.daemon.routed_job import HookRunners, RoutedJob, RoutedState
from crondor.router.daemon.router import Router
from crondor.router.daemon.status import Because, InvalidReport, QueueStatus, RouteNow, RouteReason, RouterReport

if TYPE_CHECKING:
    from crondor.router.daemon.rehearsal import Rehearsal

__all__ = [
    "Because",
    "Delivery",
    "EventWriter",
    "HookRunners",
    "InvalidReport",
    "LogEntry",
    "QueueStatus",
    "Rehearsal",
    "RouteNow",
    "RouteReason",
    "RoutedJob",
    "RoutedState",
    "Router",
    "RouterEvent",
    "RouterLock",
    "RouterLocked",
    "RouterOptions",
    "RouterReport",
    "UserLogs",
]

__getattr__, __dir__ = late(__name__, {"Rehearsal": f"{__name__}.rehearsal"})
