"""The job router as a daemon: follow a queue, route jobs, keep each source and its copy in sync, and clean up.

``Router(table, schedd, clock=...)`` works over any ``Schedd``, or over two; ``router.poll()`` is one round of
HTCondor's condor_job_router. ``RouterOptions`` lists the differences from the daemon. ``router.why(job)`` returns why a
job is not routed now, ``router.routes()`` the state of each route. All state is in the queues. ``RouterLock`` keeps out
a second router of the same name. ``Rehearsal`` runs all of it in memory, with simulated sites and a virtual clock.
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

__getattr__, __dir__ = late(__name__, {"crondor.router.daemon.rehearsal": "Rehearsal"})
