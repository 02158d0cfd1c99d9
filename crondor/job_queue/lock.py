"""One writer at a time: a lock beside the log that ends with the process, however it ends.

The schedd itself takes no such lock: whoever writes a log beside a running schedd destroys it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from crondor.diagnostics import Diagnostic
from crondor.job_queue.disk import Disk
from crondor.job_queue.faults import QueueLocked, refused_by_disk
from crondor.source import Source

if sys.platform != "win32":
    import fcntl


class Lock:
    """A lock that is held until ``close``."""

    def __init__(self, path: Path, disk: Disk) -> None:
        """Take the lock file, making it where there is none. Raises QueueLocked and QueueIO."""
        try:
            self._descriptor = disk.open(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise refused_by_disk(path, "this lock cannot be taken", error) from error
        try:
            if sys.platform != "win32":  # schedds run on Linux; elsewhere nothing keeps a second writer away
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            message = "another process writes this queue: two writers would destroy it"
            hint = "end the other one, or follow the log, which needs no lock"
            span = Source("", str(path)).span()
            raise QueueLocked(Diagnostic("queue-locked", message, span=span, help=hint)) from None
        except OSError as error:
            os.close(self._descriptor)
            raise refused_by_disk(path, "this lock cannot be taken", error) from error

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
        try:
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        except OSError:
            return False

    def close(self) -> None:
        """Let others write."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
