"""What has become of jobs between two questions, from the transactions of a mirror."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.job_queue.keys import JobId, cluster_of
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.schedd.protocol import JobChange


def job_changes(mirror: Mirror, changes: tuple[AdChange, ...]) -> Iterator[JobChange]:
    """Yield a transaction's changes job by job; a change of a cluster's ad is one of each of its jobs."""
    for change in changes:
        job = JobId.parse(change.key)
        if job is not None:
            yield JobChange(job, change.kind, change.attributes)
            continue
        cluster = cluster_of(change.key) if change.kind is ChangeKind.CHANGED else None
        if cluster is not None:
            yield from (JobChange(found, ChangeKind.CHANGED, change.attributes) for found in mirror.procs(cluster))


class ChangeList:
    """Gathers the changes of a mirror until they are taken; at first, all its jobs are new.

    It holds one change a job at most, however many transactions there were; nothing before the first are taken.
    """

    def __init__(self, mirror: Mirror) -> None:
        """Begin with the jobs that are there."""
        self._mirror = mirror
        self._found: dict[JobId, JobChange] | None = None
        self.close = mirror.subscribe(self._add)

    def take(self) -> list[JobChange]:
        """Return the changes, job by job in the order of their first, and begin anew."""
        found, self._found = self._found, {}
        if found is None:
            return [JobChange(job, ChangeKind.CREATED) for job in self._mirror]
        return list(found.values())

    def _add(self, changes: tuple[AdChange, ...]) -> None:
        if self._found is None:
            return
        for change in job_changes(self._mirror, changes):
            before = self._found.get(change.job)
            if before is None:
                self._found[change.job] = change
                continue
            both = _joined(before, change)
            if both is None:
                del self._found[change.job]
            else:
                self._found[change.job] = both


def _joined(first: JobChange, second: JobChange) -> JobChange | None:
    """Return two changes of a job as one; None for a job that came and went."""
    if first.kind is ChangeKind.CREATED:
        return None if second.kind is ChangeKind.DESTROYED else first
    if second.kind is ChangeKind.DESTROYED:
        return second
    if first.kind is ChangeKind.DESTROYED:  # it is there again, as after a log was replaced by another
        return JobChange(first.job, ChangeKind.CREATED)
    return JobChange(first.job, ChangeKind.CHANGED, first.attributes | second.attributes)
