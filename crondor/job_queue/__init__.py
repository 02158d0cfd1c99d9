"""job_queue.log, the schedd's own file: read it, follow it, and write it so that a crash loses nothing committed.

Reading
    ``read_log(path)`` returns a Reading: the ``mirror``, and as diagnostics what is damaged and what was kept.
    ``Follower(path).poll()`` returns what has changed since the last poll; its ``mirror`` is always up to date.

The queue in memory
    A ``Mirror`` iterates over its jobs (``JobId``); ``mirror.ad(job)`` is a ClassAd chained to its cluster's,
    ``mirror.text(job, "Owner")`` an attribute's text. ``mirror.subscribe(function)`` calls the function with the
    ``AdChange``s of each transaction. ``by_status``, ``by_owner``, ``by_cron`` and ``Index`` keep jobs by values.

Writing
    ``JobQueue(path, now=...)`` takes over or makes a log. ``with queue.transaction() as change:`` commits when the
    block ends; see Transaction. ``queue.compact()`` writes the log anew. ``History`` is the file of jobs that
    have left, ``HistoryFollower`` what others write into one.

Errors are JobQueueError: DamagedLog, QueueLocked, QueueIO (an OSError too), NotAQueueLog, InvalidChange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crondor._types import late
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.job_queue.records import (
    HEADER,
    DamagedLog,
    InvalidChange,
    JobId,
    JobQueueError,
    NotAQueueLog,
    QueueIO,
    QueueLocked,
    cluster_key,
)

if TYPE_CHECKING:
    from crondor.job_queue.follow import Follower, Index, QueuePoll, by_cron, by_owner, by_status
    from crondor.job_queue.history import History, HistoryFollower, history_files, history_record, read_history
    from crondor.job_queue.records import BadRecord, Op, Record, format_record, parse_record
    from crondor.job_queue.recovery import LogReading, read_log
    from crondor.job_queue.write import JobQueue, Transaction

# What stands on files comes late: who names jobs has no need of it.
_HOMES = {
    "BadRecord": "crondor.job_queue.records",
    "Follower": "crondor.job_queue.follow",
    "History": "crondor.job_queue.history",
    "HistoryFollower": "crondor.job_queue.history",
    "Index": "crondor.job_queue.follow",
    "JobQueue": "crondor.job_queue.write",
    "LogReading": "crondor.job_queue.recovery",
    "Op": "crondor.job_queue.records",
    "QueuePoll": "crondor.job_queue.follow",
    "Record": "crondor.job_queue.records",
    "Transaction": "crondor.job_queue.write",
    "by_cron": "crondor.job_queue.follow",
    "by_owner": "crondor.job_queue.follow",
    "by_status": "crondor.job_queue.follow",
    "format_record": "crondor.job_queue.records",
    "history_files": "crondor.job_queue.history",
    "history_record": "crondor.job_queue.history",
    "parse_record": "crondor.job_queue.records",
    "read_history": "crondor.job_queue.history",
    "read_log": "crondor.job_queue.recovery",
}

__all__ = [
    "HEADER",
    "AdChange",
    "BadRecord",
    "ChangeKind",
    "DamagedLog",
    "Follower",
    "History",
    "HistoryFollower",
    "Index",
    "InvalidChange",
    "JobId",
    "JobQueue",
    "JobQueueError",
    "LogReading",
    "Mirror",
    "NotAQueueLog",
    "Op",
    "QueueIO",
    "QueueLocked",
    "QueuePoll",
    "Record",
    "Transaction",
    "by_cron",
    "by_owner",
    "by_status",
    "cluster_key",
    "format_record",
    "history_files",
    "history_record",
    "parse_record",
    "read_history",
    "read_log",
]

__getattr__, __dir__ = late(__name__, _HOMES)
