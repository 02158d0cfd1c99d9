"""One router of a name at a time: JOB_ROUTER_LOCK (HTCondor: JobRouter::GetInstanceLock)."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

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
    """A lock file that is held until it is closed; it ends with the process, and a clean end removes the file."""

    def __init__(self, path: Path | str, name: str) -> None:
        """Take the lock of a router's name, making the file where there is none; condor_job_router sees it too.

        What the router notes stands beside it. Raises RouterLocked, Untrusted where another user could have made or
        could change that, and QueueIO.
        """
        self._path = Path(path)
        try:
            make_folder(self._path.parent)
            check(self._path)
        except Untrusted as error:
            raise error.naming("JOB_ROUTER_LOCK = PATH") from None
        except OSError as error:
            raise refused_by_disk(self._path.parent, "the router's lock cannot be here", error) from error
        try:
            self._lock = Lock(self._path, Disk())
            while not self._lock.is_at(self._path):  # removed by the one who had it, after this one opened it
                self._lock.close()
                self._lock = Lock(self._path, Disk())
        except QueueLocked:
            raise _locked(self._path, name) from None
        if not self._lock.keep_from_daemons():
            self._lock.close()
            raise _locked(self._path, name)

    def close(self) -> None:
        """Let another router begin."""
        self._path.unlink(missing_ok=True)
        self._lock.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


def _locked(path: Path, name: str) -> RouterLocked:
    message = f"another router named {name} is running: two would fight for their jobs"
    hint = "end it, or give this one another JOB_ROUTER_NAME"
    return RouterLocked(Diagnostic("router-locked", message, span=Source("", str(path)).span(), help=hint))


def is_locked(path: Path | str) -> bool:
    """Say whether a router holds a lock file now. The file is opened, never made."""
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
