"""The living router: it follows a queue, routes jobs, keeps source and copy together, and cleans up.

``Router(table, schedd, clock=...)`` over any ``Schedd``, or over two; ``router.poll()`` is one round of HTCondor's
condor_job_router. ``Options`` say where it differs from the daemon. ``router.why(job)`` says why a job is not routed
now, ``router.routes()`` how each route stands. All that it must remember is in the queues. ``RouterLock`` keeps a
second router of the same name away. ``Rehearsal`` is all of it with simulated sites, in memory, on a virtual clock.
"""

from crondor.router.life.because import Because, Reason, RouteNow
from crondor.router.life.desk import Delivery, Options
from crondor.router.life.events import EventWriter, UserLogs
from crondor.router.life.hooking import HookDesk
from crondor.router.life.journal import Entry, What
from crondor.router.life.lock import RouterLock, RouterLocked
from crondor.router.life.record import RoutedJob, State
from crondor.router.life.rehearsal import Rehearsal
from crondor.router.life.report import InvalidReport, Report
from crondor.router.life.router import Router
from crondor.router.life.survey import Survey

__all__ = [
    "Because",
    "Delivery",
    "Entry",
    "EventWriter",
    "HookDesk",
    "InvalidReport",
    "Options",
    "Reason",
    "Rehearsal",
    "Report",
    "RouteNow",
    "RoutedJob",
    "Router",
    "RouterLock",
    "RouterLocked",
    "State",
    "Survey",
    "UserLogs",
    "What",
]
