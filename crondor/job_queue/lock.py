"""One writer at a time: a lock beside the log that ends with the process, however it ends.

The schedd itself takes no such lock: whoever writes a log beside a running schedd destroys it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from crondor.diagnostics import Diagnostic
from crondor.job_queue.disk import Disk, leads_to
from crondor.job_queue.faults import QueueLocked, refused_by_disk
from crondor.source import Source

if sys.platform != "win32":
    import fcntl


Waiting: TypeAlias = Callable[[], bool]
"""Called while another process has a lock: waits a little, and says whether to try again."""


def at_once() -> bool:
    """Wait for nobody."""
    return False


class Lock:
    """A lock that is held until ``close``."""

    def __init__(self, path: Path, disk: Disk, wait: Waiting = at_once) -> None:
        """Take the lock file, making it where there is none. Raises QueueLocked and QueueIO."""
        try:
            self._descriptor = disk.open(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise refused_by_disk(path, "this lock cannot be taken", error) from error
        try:
            self._take(path, wait)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, path: Path, wait: Waiting) -> None:
        """Take the lock, or refuse. Raises QueueLocked and QueueIO."""
        try:
            while not self._is_taken():
                if not wait():
                    break
            else:
                return
        except OSError as error:
            raise refused_by_disk(path, "this lock cannot be taken", error) from error
        message = "another process writes this queue: two writers would destroy it"
        hint = "end the other one, or follow the log, which needs no lock"
        raise QueueLocked(Diagnostic("queue-locked", message, span=Source("", str(path)).span(), help=hint))

    def _is_taken(self) -> bool:
        """Take the lock, or say that another process has it. Raises OSError."""
        try:
            if sys.platform != "win32":  # schedds run on Linux; elsewhere nothing keeps a second writer away
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def keep_from_daemons(self) -> bool:
        """Lock the file for HTCondor's daemons too, whose locks are POSIX's; say whether none of them has it.

        Such a lock belongs to the process: it ends where that closes any descriptor of the file.
        """
        try:
            if sys.platform != "win32":
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without such locks
            return True
        return True

    def is_at(self, path: Path) -> bool:
        """Say whether a path still leads to the file that is locked."""
        return leads_to(path, self._descriptor)

    def close(self) -> None:
        """Let others write."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
