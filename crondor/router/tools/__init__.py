"""What HTCondor's reporting tools of a job router say, made of ads: routed jobs in the queue, and those that have left.

``routed(...)`` is the Selection of the routed copies that condor_router_q and condor_router_rm mean. ``summarise`` and
``summary_lines`` are condor_router_q -S; ``look_at``, ``job_lines``, ``batch_lines``, ``Totals`` the lists of condor_q.
``Period`` and ``ended_of`` make the records of condor_router_history, ``record_lines`` and ``sites_of`` with
``site_lines`` its two reports. Now is an argument (epoch seconds), and so is the zone.
"""

from crondor.router.tools.batches import batch_lines
from crondor.router.tools.history import (
    EndedJob,
    Period,
    RouteHistory,
    Times,
    ended_of,
    heading,
    history_files,
    record_lines,
    site_lines,
    sites_of,
)
from crondor.router.tools.listing import Listed, Totals, banner, job_lines, look_at, totals_lines
from crondor.router.tools.selecting import HELD, IDLE, NOT_RUNNING, ROUTED, RUNNING, routed
from crondor.router.tools.summary import SummaryRow, summarise, summary_lines

__all__ = [
    "HELD",
    "IDLE",
    "NOT_RUNNING",
    "ROUTED",
    "RUNNING",
    "EndedJob",
    "Listed",
    "Period",
    "RouteHistory",
    "SummaryRow",
    "Times",
    "Totals",
    "banner",
    "batch_lines",
    "ended_of",
    "heading",
    "history_files",
    "job_lines",
    "look_at",
    "record_lines",
    "routed",
    "site_lines",
    "sites_of",
    "summarise",
    "summary_lines",
    "totals_lines",
]
