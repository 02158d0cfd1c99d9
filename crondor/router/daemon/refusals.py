"""The jobs that a schedd has refused, and how long each of them waits."""

from __future__ import annotations

from typing import Final

from crondor.job_queue.keys import JobId

_LONGEST: Final = 300  # seconds that a job waits which was refused


class Refusals:
    """A job waits one poll, then 2, 4, up to five minutes."""

    def __init__(self) -> None:
        """Begin without any."""
        self._found: dict[JobId, tuple[int, int]] = {}  # until when, and how often it was refused

    def add(self, job: JobId, now: int, period: int) -> None:
        """Note a refusal at ``now`` (epoch seconds), where a poll is made every ``period`` seconds."""
        period, times = max(1, period), self._found.get(job, (0, 0))[1]
        self._found[job] = now + min(period << min(times, 10), max(period, _LONGEST)), times + 1

    def until(self, job: JobId) -> int:
        """Return until when a job waits (epoch seconds), 0 for one that does not."""
        return self._found.get(job, (0, 0))[0]

    def forget(self, job: JobId) -> None:
        """Forget a job."""
        self._found.pop(job, None)
