"""The few things a job queue asks of the operating system, in one place, so that a test can take its part."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from enum import Enum
from pathlib import Path

from crondor.rights.walk import open_plain

MODE = 0o600  # as the schedd creates its log
_NO_LINKS = {errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV}


class Disk:
    """The real one. Every method raises OSError."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file that nobody else may read, and return its descriptor."""
        return open_plain(path, flags, MODE)

    def size(self, descriptor: int) -> int:
        """Return the size of an open file, bytes."""
        return os.fstat(descriptor).st_size

    def write(self, descriptor: int, data: bytes) -> int:
        """Write some bytes, at least one, and return how many."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Return when the file's bytes are on the disk."""
        getattr(os, "fdatasync", os.fsync)(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Close a file."""
        os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Put a file in another's place at once."""
        old.replace(new)

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name, or copy it where the file system knows no second names."""
        try:
            os.link(old, new)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            shutil.copyfile(old, new)

    def remove(self, path: Path) -> None:
        """Remove a name; one that is not there is fine."""
        path.unlink(missing_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on the disk."""
        sync_folder(path)


def sync_folder(path: Path | str) -> None:
    """Return when the names in a folder are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leads_to(path: Path, descriptor: int) -> bool:
    """Say whether a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def write_all(disk: Disk, descriptor: int, data: bytes) -> None:
    """Write all of some bytes."""
    at = disk.write(descriptor, data)
    while at < len(data):
        at += disk.write(descriptor, data[at:])


class Left(Enum):
    """What bytes that could not be appended have left behind."""

    NOTHING = "nothing"  # they were taken back
    PART = "part"  # not all of them were written, and taking back failed
    UNKNOWN = "unknown"  # all were written, and the disk has confirmed neither that nor the taking back


class Appendix:
    """The end of an open file that is appended to: what was begun and not synced can be taken back.

    Once taking back has failed nobody knows how the file ends, and ``broken`` says so; ``left`` is what is known of
    the bytes that failed last.
    """

    def __init__(self, disk: Disk, descriptor: int) -> None:
        """Take an open file as it is."""
        self.disk = disk
        self.descriptor = descriptor
        self.size = disk.size(descriptor)
        self.broken = False
        self.left = Left.NOTHING

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Append bytes, all of them or none. Raises OSError; ``broken`` then says if nothing more may come.

        An interruption (KeyboardInterrupt, a signal handler that raises) takes them back too.
        """
        size, syncing = self.size, False
        self.left = Left.NOTHING
        try:
            write_all(self.disk, self.descriptor, data)
            if durable:
                syncing = True
                self.disk.sync(self.descriptor)
                syncing = False
            self.size += len(data)
        except BaseException:
            if not self.cut(size):
                self.left = Left.UNKNOWN if syncing else Left.PART
            if syncing:  # what else was not on the disk yet may be lost, and the system forgets to say so
                self.broken = True
            raise

    def sync(self) -> None:
        """Wait until what was appended is on the disk. Raises OSError, and then nobody knows what is."""
        try:
            self.disk.sync(self.descriptor)
        except BaseException:
            self.broken = True
            raise

    def cut(self, size: int) -> bool:
        """Take back what stands behind a size, or become ``broken``; say whether it was taken back."""
        try:
            self.disk.truncate(self.descriptor, size)
            self.disk.sync(self.descriptor)
            self.size = size
        except OSError:
            self.broken = True
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self.disk.close(self.descriptor)
