"""A look at a made queue, as the command makes it."""

from contextlib import ExitStack
from datetime import timezone
from pathlib import Path
from typing import Any

from crondor.classad.printing import Format
from crondor.monitor import Look
from crondor.monitor.watched import Wanted, WatchedQueue
from crondor.schedd.protocol import Selection
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.monitor.queues import queues_of
from tests.monitor.made import SIX, MadeJob

LATER = SIX + 120


def looked(folder: Path) -> tuple[dict[WatchedQueue, Look | None], int]:
    """Return what a look finds at LATER: a job that was missed, one that is held, one that has started; and when."""
    begun: dict[str, Any] = {
        "JobStatus": 2,
        "JobCurrentStartDate": SIX - 5,
        "JobCurrentStartExecutingDate": SIX,
        "DeferralTime": SIX,
    }
    jobs = [
        MadeJob(),
        MadeJob(ClusterId=8, JobStatus=5, HoldReasonCode=20, HoldReason="too late", Owner='b"\\ob'),
        MadeJob(ClusterId=9, EnteredCurrentStatus=SIX - 5, **begun),
        MadeJob(ClusterId=10, DeferralTime=SIX + 7),
    ]
    path = folder / "queue.long"
    path.write_text("\n".join(job.ad.print(Format.LONG) for job in jobs), encoding="utf-8")
    asked = QueueOptions(queue=None, ads=str(path))
    wanted = Wanted(asked, Selection(), None, None, 60, None, (), ())
    clock = Clock(LATER, "UTC", timezone.utc)
    with ExitStack() as stack:
        (queue,) = queues_of(wanted, clock, lambda: LATER, stack, every=False)
        return {queue: queue.look(clock)}, LATER
