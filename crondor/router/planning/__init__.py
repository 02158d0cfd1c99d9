"""Scheduled jobs on routes: for each coming run the route that takes it, and what becomes of the schedule there.

``plan`` makes a plan of jobs and a routing table; ``manner_of`` says what a copy does with the schedule in it, ``cure``
writes the lines that take it out. The public front is ``crondor.router_bridge``.
"""

from crondor.router.planning.conduct import Conduct, Manner, manner_of
from crondor.router.planning.cure import Cure, cure, is_cured
from crondor.router.planning.jobs import Plannable, PlannedJob, Reading
from crondor.router.planning.life import one_run
from crondor.router.planning.options import PlanOptions
from crondor.router.planning.plan import RoutePlan, plan
from crondor.router.planning.runs import Outcome, PlannedRun, Room

__all__ = [
    "Conduct",
    "Cure",
    "Manner",
    "Outcome",
    "PlanOptions",
    "Plannable",
    "PlannedJob",
    "PlannedRun",
    "Reading",
    "Room",
    "RoutePlan",
    "cure",
    "is_cured",
    "manner_of",
    "one_run",
    "plan",
]
