"""Two routing tables compared by what they do with jobs, and jobs made from what routes ask for.

``compare_tables(old, new, jobs)`` returns a TablesComparison; ``made_jobs([old, new])`` makes jobs that reach every
branch, so that no queue is needed: ``compare_tables(old, new, ((job.id, job.ad) for job in made_jobs([old, new])))``.
"""

from crondor.router.compare.comparing import compare_tables
from crondor.router.compare.found import (
    CopyChange,
    Overlap,
    RouteChange,
    RouteListChange,
    SettingChange,
    TablesComparison,
    TextPair,
    Unreached,
    Witness,
)
from crondor.router.compare.made import MOST_MADE, MadeJob, made_jobs

__all__ = [
    "MOST_MADE",
    "CopyChange",
    "MadeJob",
    "Overlap",
    "RouteChange",
    "RouteListChange",
    "SettingChange",
    "TablesComparison",
    "TextPair",
    "Unreached",
    "Witness",
    "compare_tables",
    "made_jobs",
]
