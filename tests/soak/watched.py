"""The files of the soak as crondor monitor watches them, on a clock that is a number."""

from contextlib import ExitStack
from datetime import timezone

from crondor.monitor.watched import Wanted, WatchedQueue
from crondor.schedd.protocol import Selection
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.monitor.queues import queues_of
from tests.soak.files import Files

SIX = 1_795_586_400  # 2026-11-25 06:00 UTC


def clock_at(now: int) -> Clock:
    """Return a clock that stands still."""
    return Clock(now, "UTC", timezone.utc)


def watched(files: Files, stack: ExitStack) -> WatchedQueue:
    """Return the queue, which is open as long as ``stack`` is."""
    _, log, _, history, _, folder, *_ = files.monitored()
    wanted = Wanted(QueueOptions(None, log=log), Selection.of(None), None, None, 60, None, (history,), (folder,))
    (queue,) = queues_of(wanted, clock_at(SIX), lambda: SIX, stack, every=False)
    return queue
