"""One router of a name at a time: JOB_ROUTER_LOCK (HTCondor: JobRouter::GetInstanceLock)."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.job_queue.history import Disk
from crondor.job_queue.records import QueueLocked, refused_by_disk
from crondor.job_queue.write import Lock
from crondor.rights.trust import Untrusted, check, make_folder
from crondor.rights.walk import open_plain

if sys.platform != "win32":
    import fcntl


class RouterLocked(CrondorError, RuntimeError):
    """Another router of this name is running."""


class RouterLock(AbstractContextManager["RouterLock"]):
    """A lock file held until closed; a crash releases it, and a clean end removes the file."""

    def __init__(self, path: Path | str, name: str) -> None:
        """Take the lock of a router's name, creating the file if it is missing; condor_job_router honors it too.

        The router's notes are in the same folder. Raises RouterLocked, QueueIO, and Untrusted if another user could
        have created or could change the folder.
        """
        self._path = Path(path)
        try:
            make_folder(self._path.parent)
            check(self._path)
        except Untrusted as error:
            raise error.naming("JOB_ROUTER_LOCK = PATH") from None
        except OSError as error:
            raise refused_by_disk(self._path.parent, "the router's lock cannot be created here", error) from error
        try:
            self._lock = Lock(self._path, Disk())
            while not self._lock.is_at(self._path):  # the holder removed the file after it was opened here
                self._lock.close()
                self._lock = Lock(self._path, Disk())
        except QueueLocked:
            raise _locked(self._path, name) from None
        if not self._lock.keep_from_daemons():
            self._lock.close()
            raise _locked(self._path, name)

    def close(self) -> None:
        """Release the lock for another router."""
        self._path.unlink(missing_ok=True)
        self._lock.close()

    def __exit__(self, *_error: object) -> None:
        self.close()


def _locked(path: Path, name: str) -> RouterLocked:
    message = f"another router named {name} is running: two would fight for their jobs"
    hint = "stop it, or set another JOB_ROUTER_NAME"
    return RouterLocked(Diagnostic("router-locked", message, span=Source("", str(path)).span(), help=hint))


def is_locked(path: Path | str) -> bool:
    """Return whether a router holds a lock file now. The file is opened, never created."""
    try:
        descriptor = open_plain(path)
    except OSError:
        return False
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
