"""What became of scheduled jobs' due times: started, late, missed, lost, and why.

``QueueWatch`` looks at the jobs of one queue, time after time, and gives each due time one verdict. What it knows of a
job comes from its ads, from user logs and from the history; docs/monitor.md has the rules in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crondor._late import late

if TYPE_CHECKING:
    from crondor.monitor.job_history import JobCondition, JobHistory
    from crondor.monitor.queue_watch import JobStanding, Look, QueueWatch
    from crondor.monitor.totals import Totals
    from crondor.monitor.user_logs import UserLogFollower
    from crondor.monitor.verdicts import Cause, DueRun, Verdict

_HOMES = {
    "Cause": "crondor.monitor.verdicts",
    "DueRun": "crondor.monitor.verdicts",
    "JobCondition": "crondor.monitor.job_history",
    "JobHistory": "crondor.monitor.job_history",
    "JobStanding": "crondor.monitor.queue_watch",
    "Look": "crondor.monitor.queue_watch",
    "QueueWatch": "crondor.monitor.queue_watch",
    "Totals": "crondor.monitor.totals",
    "UserLogFollower": "crondor.monitor.user_logs",
    "Verdict": "crondor.monitor.verdicts",
}

__all__ = [
    "Cause",
    "DueRun",
    "JobCondition",
    "JobHistory",
    "JobStanding",
    "Look",
    "QueueWatch",
    "Totals",
    "UserLogFollower",
    "Verdict",
]

__getattr__, __dir__ = late(__name__, _HOMES)
