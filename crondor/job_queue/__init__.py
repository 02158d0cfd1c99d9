"""job_queue.log, the schedd's own file: read it, follow it, and write it so that a crash loses nothing committed.

Reading
    ``read_log(path)`` returns a LogReading: the ``mirror``, and diagnostics of damaged and recovered records.
    ``Follower(path).poll()`` returns the changes since the last poll; its ``mirror`` is always up to date.

The queue in memory
    A ``Mirror`` iterates over its jobs (``JobId``); ``mirror.ad(job)`` is a ClassAd chained to its cluster's,
    ``mirror.text(job, "Owner")`` an attribute's text. ``mirror.subscribe(function)`` calls the function with the
    ``AdChange``s of each transaction. ``by_status``, ``by_owner``, ``by_cron`` and ``Index`` group jobs by values.

Writing
    ``JobQueue(path, now=...)`` opens or creates a log. ``with queue.transaction() as change:`` commits when the block
    ends; see Transaction. ``queue.compact()`` rewrites the log. ``History`` is the file of jobs that have left,
    ``HistoryFollower`` reads what others append to it.

Errors are JobQueueError: DamagedLog, QueueLocked, QueueIO (also an OSError), NotAQueueLog, InvalidChange.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.job_queue.follow import Follower, Index, QueuePoll, by_cron, by_owner, by_status
    from crondor.job_queue.history import History, HistoryFollower, history_files, history_record, read_history
    from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
    from crondor.job_queue.records import (
        HEADER,
        BadRecord,
        DamagedLog,
        InvalidChange,
        JobId,
        JobQueueError,
        NotAQueueLog,
        Op,
        QueueIO,
        QueueLocked,
        Record,
        cluster_key,
        format_record,
        parse_record,
    )
    from crondor.job_queue.recovery import LogReading, read_log, read_records
    from crondor.job_queue.write import JobQueue, Transaction

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
    "read_records",
]

_HOMES = {
    "crondor.job_queue.follow": "Follower Index QueuePoll by_cron by_owner by_status",
    "crondor.job_queue.history": "History HistoryFollower history_files history_record read_history",
    "crondor.job_queue.mirror": "AdChange ChangeKind Mirror",
    "crondor.job_queue.records": (
        "HEADER BadRecord DamagedLog InvalidChange JobId JobQueueError NotAQueueLog Op QueueIO QueueLocked "
        "Record cluster_key format_record parse_record"
    ),
    "crondor.job_queue.recovery": "LogReading read_log read_records",
    "crondor.job_queue.write": "JobQueue Transaction",
}
__getattr__, __dir__ = late(__name__, _HOMES)
