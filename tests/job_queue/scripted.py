"""A long run of changes to a queue, and a disk on which it dies in every possible way.

At each thing asked of the disk all files are copied as they are, once for each way to die: no more is left of a process
that ends there. What was acknowledged stands in the file ``acknowledged``.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from crondor.job_queue import History, JobId, JobQueue
from crondor.job_queue.history import Disk

NOW = 1_800_000_000


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
    """A disk on which the process dies at each thing that is asked.

    It dies before the thing is done, in the middle of a write, after it, or before it with all unsynced bytes lost.
    """

    def __init__(self, home: Path, graves: Path) -> None:
        """Take the folder of the run, and the one where each death gets a folder of its own."""
        super().__init__()
        self.home = home
        self.graves = graves
        self.safe: dict[int, int] = {}  # bytes of each open file that outlive the machine

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
        """Die before this is done."""
        super().reached()
        self._die("before")
        if data is not None:
            self._die("half", data)
        self._die("lost")

    def done(self) -> None:
        """Die when it is done."""
        self._die("after")

    def synced(self, descriptor: int) -> None:
        """Note what a crash of the machine leaves."""
        self.safe[descriptor] = self.size(descriptor)

    def _die(self, way: str, data: tuple[int, bytes] | None = None) -> None:
        """Leave what a process that ends here leaves: its files as they are now, without what it would do next."""
        folder = self.graves / f"{way}-{self.count}"
        shutil.copytree(self.home, folder)
        if data is not None:
            for name in self._names(data[0]):
                with (folder / name).open("ab") as file:
                    file.write(data[1][: len(data[1]) // 2])
        if way == "lost":
            for descriptor, size in self.safe.items():
                for name in self._names(descriptor):
                    os.truncate(folder / name, min(size, self.size(descriptor)))

    def _names(self, descriptor: int) -> list[str]:
        """Return the names that an open file has now."""
        found = os.fstat(descriptor)
        return [file.name for file in self.home.iterdir() if os.path.samestat(file.stat(), found)]


def die(folder: Path) -> int:
    """Die in every way at every place of one run; return how many places there are."""
    home = folder / "run"
    home.mkdir()
    with (home / "acknowledged").open("ab", buffering=0) as file:
        disk = Dying(home, folder)
        run(home, disk, lambda _: file.write(b"."))
    return disk.count
