"""A made job, looked at time after time, and user logs of it."""

from __future__ import annotations

from crondor.classad.ad import ClassAd
from crondor.event_log import JobEvent
from crondor.monitor import DueRun, QueueWatch

SIX = 1_795_586_400  # 2026-11-25 06:00 UTC, a Wednesday
ENTERED = SIX - 7 * 86_400
HOUR = 3600


class MadeJob:
    """A job that is to run at each full hour, window 60 s, idle since it came; and what a watch says of it."""

    def __init__(self, watch: QueueWatch | None = None, **attributes: object) -> None:
        """Make it; attributes that are None are left out."""
        self.watch = QueueWatch("pool") if watch is None else watch
        self.values: dict[str, object] = {
            "ClusterId": 7,
            "ProcId": 0,
            "Owner": "alice",
            "Cmd": "/bin/date",
            "JobUniverse": 5,
            "JobStatus": 1,
            "QDate": ENTERED,
            "EnteredCurrentStatus": ENTERED,
            "CronMinute": "0",
            "DeferralWindow": 60,
            "DeferralPrepTime": 300,
            "ScheddInterval": 300,
            "OnExitRemove": False,
            "NumJobStarts": 0,
            "NumJobCompletions": 0,
        }
        self.set(**attributes)

    def set(self, **attributes: object) -> MadeJob:
        """Change attributes."""
        self.values |= attributes
        return self

    @property
    def ad(self) -> ClassAd:
        """Return its ad."""
        return ClassAd({name: value for name, value in self.values.items() if value is not None})

    def look(self, now: int, *, events: list[JobEvent] | None = None, **attributes: object) -> list[DueRun]:
        """Change attributes, look, and return the news."""
        self.set(**attributes)
        return self.watch.look([self.ad], now, events=events or ()).runs

    def said(self, now: int, **attributes: object) -> tuple[str, str | None]:
        """Return verdict and cause of its last due time."""
        self.set(**attributes)
        (standing,) = self.watch.look([self.ad], now).jobs
        assert standing.latest is not None
        return words(standing.latest)


def words(run: DueRun) -> tuple[str, str | None]:
    """Return verdict and cause."""
    return run.verdict.value, None if run.cause is None else run.cause.value
