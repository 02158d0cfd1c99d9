"""What became of the due times of scheduled jobs: started, late, missed or lost, and why.

``QueueWatch`` looks repeatedly at the jobs of one queue, and gives each due time one verdict. It uses the jobs' ads,
user logs and the history; docs/monitor.md explains the rules.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.monitor.judging import JobStanding
    from crondor.monitor.queue_watch import Look, QueueWatch
    from crondor.monitor.user_logs import UserLogFollower
    from crondor.monitor.verdicts import Cause, DueRun, JobCondition, JobHistory, Totals, Verdict


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

_HOMES = {
    "crondor.monitor.judging": "JobStanding",
    "crondor.monitor.queue_watch": "Look QueueWatch",
    "crondor.monitor.user_logs": "UserLogFollower",
    "crondor.monitor.verdicts": "Cause DueRun JobCondition JobHistory Totals Verdict",
}
__getattr__, __dir__ = late(__name__, _HOMES)
