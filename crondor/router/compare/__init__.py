"""Two routing tables compared by what they do with jobs, and jobs made from what routes ask for.

``compare_tables(old, new, jobs)`` returns a TablesComparison; ``made_jobs([old, new])`` makes jobs that reach every
branch, so that no queue is needed: ``compare_tables(old, new, ((job.id, job.ad) for job in made_jobs([old, new])))``.
``unmet(table, expectation)`` says what of a job is not as expected; ``record(table, jobs)`` writes expectations down.
"""

from crondor.router.compare.comparing import compare_tables
from crondor.router.compare.made import (
    MOST_MADE,
    Expectation,
    MadeJob,
    Unmet,
    chosen_of,
    made_jobs,
    plain_job,
    reasons_of,
    record,
    unmet,
)
from crondor.router.compare.outcomes import (
    CopyChange,
    CopyDifference,
    Overlap,
    RouteChange,
    RouteListChange,
    SettingChange,
    TablesComparison,
    TextPair,
    Unreached,
    Witness,
)

__all__ = [
    "MOST_MADE",
    "CopyChange",
    "CopyDifference",
    "Expectation",
    "MadeJob",
    "Overlap",
    "RouteChange",
    "RouteListChange",
    "SettingChange",
    "TablesComparison",
    "TextPair",
    "Unmet",
    "Unreached",
    "Witness",
    "chosen_of",
    "compare_tables",
    "made_jobs",
    "plain_job",
    "reasons_of",
    "record",
    "unmet",
]
