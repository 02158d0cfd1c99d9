"""A schedd that takes no writing is left alone for a while: one question tells how it stands, not one for each job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue.keys import JobId
from crondor.schedd.protocol import (
    Acted,
    Capabilities,
    Forbidden,
    Hold,
    JobChange,
    Schedd,
    ScheddError,
    Scheduled,
    Unreachable,
)
from crondor.schedd.selection import Which

_Answer = TypeVar("_Answer")
_ITS_OWN: Final = (Unreachable, Forbidden)  # what is not about the job that was asked for
_MOST: Final = 30  # polls; five minutes, where a poll is made every ten seconds


class LeftAlone(ScheddError):
    """It was not asked: nothing was done."""


class Patient:
    """A schedd, asked until it refuses or does not answer; then not before ``begin_poll`` says so.

    The polls it is left alone for are none after the first time, and then 1, 3, 7 up to 30, until it has done
    something again.
    """

    def __init__(self, schedd: Schedd) -> None:
        """Take a schedd that answers, as far as is known."""
        self._schedd = schedd
        self._failures = 0
        self._left = 0
        self._is_left_alone = False

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self._schedd.capabilities

    @property
    def is_left_alone(self) -> bool:
        """Say whether it is not asked in this poll, or not any more."""
        return self._is_left_alone

    @property
    def is_doubtful(self) -> bool:
        """Say whether it refused or did not answer when it was last asked."""
        return self._failures > 0

    @property
    def pause(self) -> int:
        """For how many of the next polls it is left alone."""
        return self._left

    def begin_poll(self) -> None:
        """Count a poll."""
        self._is_left_alone = self._left > 0
        self._left = max(0, self._left - 1)

    def ask_again(self) -> None:
        """Forget what it refused: somebody has changed something."""
        self._failures = self._left = 0
        self._is_left_alone = False

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Ask for jobs."""
        return self._ask(lambda: self._schedd.jobs(which, projection))

    def scheduled(self, which: Which = None) -> Scheduled:
        """Ask for the jobs that have a schedule."""
        return self._ask(lambda: self._schedd.scheduled(which))

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit a job."""
        return self._write(lambda: self._schedd.edit_if(job, condition, edits))

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs."""
        return self._write(lambda: self._schedd.submit(ads))

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Hold jobs."""
        return self._write(lambda: self._schedd.hold(which, hold))

    def release(self, which: Which, reason: str) -> Acted:
        """Release jobs."""
        return self._write(lambda: self._schedd.release(which, reason))

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs."""
        return self._write(lambda: self._schedd.remove(which, reason))

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Ask for jobs that have left."""
        return self._ask(lambda: self._schedd.history(which, projection, limit))

    def changes(self) -> list[JobChange]:
        """Ask what has become of jobs."""
        return self._ask(self._schedd.changes)

    def _write(self, call: Callable[[], _Answer]) -> _Answer:
        answer = self._ask(call)
        self._failures = self._left = 0
        return answer

    def _ask(self, call: Callable[[], _Answer]) -> _Answer:
        if self._is_left_alone:
            raise LeftAlone(Diagnostic("route-left-alone", "the schedd is left alone for a while"))
        try:
            return call()
        except ScheddError as error:
            if not isinstance(error, _ITS_OWN) and not isinstance(error.__cause__, _ITS_OWN):
                raise
            self._failures += 1
            self._left = min((1 << min(self._failures - 1, 10)) - 1, _MOST)
            self._is_left_alone = True
            raise
