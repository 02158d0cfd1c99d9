"""Crontab and deferral jobs through a job router: the public front of ``crondor.router.plan``.

::

    from crondor.config import read_config
    from crondor.router import load_table
    from crondor.router_bridge import PlanOptions, plan
    from crondor.diagnostics import Source
    from crondor.submit import read_submit

    table = load_table(read_config(text_of_the_configuration))
    file = read_submit(Source(text_of_a_submit_file, "nightly.sub"))
    for run in plan(file, table, now, until, PlanOptions(at_gate=True)):
        print(run.job.id, run.run.time, run.outcome.value, run.route and run.route.name)

A plan takes ``JobSchedule``, submit files, job ads or any ``Schedd``, and gives a ``PlannedRun`` for each coming run:
the route that takes it and when, what is left of the route's limits, the routed ad, what the copy does with the
schedule in it (``CopySchedule``), and ``findings``. By default it shows HTCondor's daemon, which takes a job as soon as
it is idle, and whole; with ``at_gate`` a router that takes it run by run when the gate opens. ``cure(routed, ...)``
writes the lines that take a schedule out of copies, and applies them. The model is in docs/route-plan.md.
"""

from crondor.router.applying import one_run
from crondor.router.plan.copy_schedule import (
    CopySchedule,
    JobSettings,
    Manner,
    Plannable,
    PlannedJob,
    PlannedOutcome,
    PlannedRun,
    PlanOptions,
    Room,
    manner_of,
)
from crondor.router.plan.planner import RoutePlan, plan
from crondor.router.plan.remarks import Cure, cure, is_cured

__all__ = [
    "CopySchedule",
    "Cure",
    "JobSettings",
    "Manner",
    "PlanOptions",
    "Plannable",
    "PlannedJob",
    "PlannedOutcome",
    "PlannedRun",
    "Room",
    "RoutePlan",
    "cure",
    "is_cured",
    "manner_of",
    "one_run",
    "plan",
]
