"""A real schedd's job_queue.log, followed: jobs and their changes, nothing written.

What the schedd has not written is not seen: DeferralTime is one (docs/schedd.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Final, NoReturn

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue import Follower, JobId, read_history
from crondor.job_queue.mirror import Mirror
from crondor.rights.walk import is_there
from crondor.schedd.changes import ChangeList
from crondor.schedd.protocol import Acted, Capabilities, Clock, Hold, JobChange, Scheduled
from crondor.schedd.reading import context_at, jobs_of, latest, not_offered, scheduled_of
from crondor.schedd.selection import Selection, Which

_READ_ONLY: Final = "a followed log is read only"
_ASK_SCHEDD: Final = "ask the schedd itself: condor_qedit, condor_hold, or LiveSchedd"


class QueueLogSchedd:
    """The jobs of a log as they are now; each question reads first what is new in it.

    ``diagnostics`` are the findings of the last reading. ``history_path`` is the schedd's history file, where that is
    wanted too; ``embedded`` says that the log is an embedded queue's, which writes every DeferralTime.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        clock: Clock,
        zone: str | tzinfo = "UTC",
        history_path: Path | str | None = None,
        embedded: bool = False,
        on_read: Callable[[int], object] | None = None,
    ) -> None:
        """Read the log for the first time; ``on_read`` is told how many bytes are. Raises QueueIO, and UnknownZone."""
        self.capabilities = Capabilities(
            atomic_edits=False, can_submit=False, can_write=False, sees_deferral_time=embedded
        )
        self._follower = Follower(path, live=not embedded, on_read=on_read)
        self._clock = clock
        self._zone = zone
        self._history_path = history_path
        self._embedded = embedded
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.refresh()
        self._changes = ChangeList(self.mirror)

    @property
    def mirror(self) -> Mirror:
        """The queue as the last question saw it."""
        return self._follower.mirror

    def refresh(self) -> None:
        """Read what is new. Raises QueueIO."""
        self.diagnostics = self._follower.catch_up()

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs. Raises QueueIO and ClassAdSyntaxError."""
        self.refresh()
        return jobs_of(self.mirror, which, projection, context_at(self._clock, self._zone))

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the jobs that have a schedule. Raises QueueIO and ClassAdSyntaxError."""
        self.refresh()
        return scheduled_of(self.mirror, which, context_at(self._clock, self._zone))

    def changes(self) -> list[JobChange]:
        """Return what has become of jobs since the last call. Raises QueueIO."""
        self.refresh()
        return self._changes.take()

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return jobs of the history file, the latest first. Raises NotOffered without one, QueueIO."""
        if self._history_path is None:
            raise not_offered("a log does not say which jobs have left", "name the schedd's history file too")
        if self._embedded and not is_there(self._history_path):
            Selection.of(which)
            return []  # no job has left yet
        context = context_at(self._clock, self._zone)
        return latest(read_history(self._history_path), which, projection, limit, context)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Raise NotOffered."""
        _read_only(job, condition, edits)

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Raise NotOffered."""
        _read_only(ads)

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Raise NotOffered."""
        _read_only(which, hold)

    def release(self, which: Which, reason: str) -> Acted:
        """Raise NotOffered."""
        _read_only(which, reason)

    def remove(self, which: Which, reason: str) -> Acted:
        """Raise NotOffered."""
        _read_only(which, reason)


def _read_only(*_: object) -> NoReturn:
    raise not_offered(_READ_ONLY, _ASK_SCHEDD)
