"""A long run of changes to a queue, and a disk on which it dies: started as a program, it dies in every possible way.

``python scripted.py FOLDER``: for each way and each k the run is made in a process of its own, in a folder of its own,
and ends at the k-th thing asked of the disk by os._exit. What was acknowledged stands in the file ``acknowledged``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from crondor.job_queue import History, JobId, JobQueue
from crondor.job_queue.disk import Disk

NOW = 1_800_000_000
WAYS = ("before", "half", "after", "lost")
"""Before the k-th thing is done, in the middle of a write, after it, or before it with all unsynced bytes lost."""


def run(folder: Path, disk: Disk, acknowledge: Callable[[JobQueue], object]) -> None:
    """Make all changes, and say so after each transaction."""
    for queue in _sessions(folder, disk):
        history = History(folder / "history", disk)
        for number in range(4):
            with queue.transaction(comment=f"submit {number}") as change:
                cluster = change.new_cluster()
                change.set(f"0{cluster}.-1", "Owner", "alice")
                change.set(f"0{cluster}.-1", "CronMinute", "*/5")
                jobs = [change.new_proc(cluster) for _ in range(2)]
                for job in jobs:
                    change.set(job, "JobStatus", 1)
            acknowledge(queue)
            with queue.transaction(durable=number % 3 != 0) as change:
                change.set(jobs[0], "JobStatus", 5)
                change.set(jobs[0], "HoldReason", 'said "no" \\ twice: käse')
            acknowledge(queue)
            with queue.transaction() as change:
                change.delete(jobs[0], "HoldReason")
                change.delete(jobs[1], "CronMinute")
                change.set(jobs[1], "JobStatus", 4)
                change.move_to_history(jobs[1], history, NOW)
            acknowledge(queue)
            if number % 4 == 2:
                queue.compact()
            if number % 3 == 2:
                with queue.transaction() as change:
                    change.move_to_history(JobId(cluster, 0), history, NOW)
                acknowledge(queue)
        history.close()


def _sessions(folder: Path, disk: Disk) -> Iterator[JobQueue]:
    """Open the queue twice: the second time it recovers and compacts."""
    for _ in range(2):
        with JobQueue(folder / "job_queue.log", now=NOW, disk=disk) as queue:
            yield queue


class Counting(Disk):
    """Counts what is asked of it; bytes need not outlive the machine here, only the process."""

    def __init__(self) -> None:
        """Begin to count."""
        self.count = 0

    def reached(self, _data: tuple[int, bytes] | None = None) -> None:
        """Count one thing that is about to be done."""
        self.count += 1

    def done(self) -> None:
        """Take note that it is done."""

    def write(self, descriptor: int, data: bytes) -> int:
        """Write some bytes, in two pieces so that a caller must ask again."""
        self.reached((descriptor, data))
        written = super().write(descriptor, data[: max(1, len(data) * 2 // 3)])
        self.done()
        return written

    def sync(self, descriptor: int) -> None:
        """Do nothing."""
        self.reached()
        self.synced(descriptor)
        self.done()

    def synced(self, descriptor: int) -> None:
        """Take note that a file's bytes are on the disk."""

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file."""
        self.reached()
        super().truncate(descriptor, size)
        self.done()

    def rename(self, old: Path, new: Path) -> None:
        """Put a file in another's place."""
        self.reached()
        super().rename(old, new)
        self.done()

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name."""
        self.reached()
        super().link(old, new)
        self.done()

    def remove(self, path: Path) -> None:
        """Remove a name."""
        self.reached()
        super().remove(path)
        self.done()

    def sync_folder(self, path: Path) -> None:  # noqa: ARG002 - the real one's parameter
        """Do nothing."""
        self.reached()
        self.done()


class Dying(Counting):
    """A disk on which the process dies."""

    def __init__(self, way: str, last: int) -> None:
        """Die at the ``last`` thing."""
        super().__init__()
        self.way = way
        self.last = last
        self.safe: dict[int, int] = {}

    def open(self, path: Path, flags: int) -> int:
        """Open a file."""
        descriptor = super().open(path, flags)
        self.safe[descriptor] = self.size(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        """Close a file."""
        self.safe.pop(descriptor, None)
        super().close(descriptor)

    def reached(self, data: tuple[int, bytes] | None = None) -> None:
        """Die here, perhaps."""
        super().reached()
        if self.count != self.last or self.way == "after":
            return
        if self.way == "half" and data is not None:
            os.write(data[0], data[1][: len(data[1]) // 2])
        if self.way == "lost":
            for descriptor, size in self.safe.items():
                os.ftruncate(descriptor, min(size, self.size(descriptor)))
        os._exit(9)

    def done(self) -> None:
        """Die here, perhaps."""
        if self.count == self.last:
            os._exit(9)

    def synced(self, descriptor: int) -> None:
        """Note what a crash of the machine leaves."""
        self.safe[descriptor] = self.size(descriptor)


def _die(folder: Path, way: str, last: int) -> int:
    """Run in a process of its own until it dies, and return its exit status."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        try:
            with (folder / "acknowledged").open("ab", buffering=0) as file:
                run(folder, Dying(way, last), lambda _: file.write(b"."))
        except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as its parent
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    """Die in every way at every place, until a run comes to its end."""
    for way in WAYS:
        last, status = 0, 9
        while status == 9:
            last += 1
            status = _die(folder / f"{way}-{last}", way, last)
        sys.stdout.write(f"{way} {last} {status}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
