"""Opening files below allowed folders and nowhere else, as the account that they are opened for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, TypeVar

from crondor.job_queue.disk import sync_folder
from crondor.rights.accounts import Account
from crondor.rights.acting import as_account
from crondor.rights.walk import APPENDING, append, folder_of, open_file, open_real
from crondor.router.sandbox.faults import FilesRefused, fault, refused

_FOLDER: Final = os.O_RDONLY | sum(getattr(os, each, 0) for each in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"))
CHUNK: Final = 1 << 20
PART: Final = ".crondor-part"

_T = TypeVar("_T")


class Opened(NamedTuple):
    """An open file and what it was when it was opened."""

    descriptor: int
    state: os.stat_result


class Reach:
    """What may be opened: the files at or below some folders, and those that their account may open.

    ``who`` None: whatever the operating system lets this process open; else it is opened as that account. Links are
    resolved first, and the path that comes of it is walked without following any, so that none leads out, also one that
    is made in the meantime. ``files`` are single files that are allowed beside the folders. No pipe or device is ever
    waited for.
    """

    def __init__(self, roots: Iterable[str], who: Account | None = None, files: Iterable[str] = ()) -> None:
        """Resolve the folders; nothing is opened."""
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._files = frozenset(os.path.realpath(file) for file in files)
        self.who = who

    def real(self, path: str, *, is_there: bool = True) -> str:
        """Return a path with all links followed; with ``is_there`` it must lead to something.

        Raises FilesRefused where it is outside, or nothing is there.
        """
        try:
            real = as_account(self.who, lambda: os.path.realpath(path, strict=is_there))
        except FileNotFoundError as error:
            raise FilesRefused(fault("spool-missing", f"cannot open {path}: {error.strerror}", path)) from None
        except (OSError, ValueError) as error:
            raise refused(path, "cannot open", error, self.who) from None
        if real not in self._files and not any(real == root or _is_below(real, root) for root in self._roots):
            message = f"{path} lies outside of the folders whose files may be moved"
            raise FilesRefused(fault("spool-outside", message, path, "allow its folder"))
        return real

    @contextmanager
    def file(self, path: str) -> Iterator[Opened]:
        """Open a plain file for reading. Raises FilesRefused."""
        real = self.real(path)
        descriptor = self._done(path, "cannot read", lambda: open_file(real, os.O_RDONLY))
        try:
            yield Opened(descriptor, os.fstat(descriptor))
        finally:
            os.close(descriptor)

    @contextmanager
    def folder(self, path: str) -> Iterator[Opened]:
        """Open a folder, to list it or to write in it. Raises FilesRefused."""
        real = self.real(path)

        def opened() -> int:
            with folder_of(real) as (parent, name):
                return os.open(name, _FOLDER, dir_fd=parent)

        descriptor = self._done(path, "cannot open", opened)
        try:
            yield Opened(descriptor, os.fstat(descriptor))
        finally:
            os.close(descriptor)

    def state(self, path: str) -> os.stat_result:
        """Return what a path leads to. Raises FilesRefused."""
        real = self.real(path)

        def looked() -> os.stat_result:
            with folder_of(real) as (parent, name):
                return os.stat(name, dir_fd=parent, follow_symlinks=False)

        return self._done(path, "cannot look at", looked)

    def append(self, path: str, data: bytes, mode: int) -> None:
        """Write behind a plain file, which is made where there is none. Raises FilesRefused."""
        real = self.real(path, is_there=False)
        self._done(path, "cannot write", lambda: append(open_real(real, APPENDING, mode), data, path))

    def _done(self, path: str, doing: str, deed: Callable[[], _T]) -> _T:
        """Do something as the account. Raises FilesRefused."""
        try:
            return as_account(self.who, deed)
        except OSError as error:
            raise refused(path, doing, error, self.who) from None


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def copy_bytes(source: int, target: int, most: int) -> int:
    """Copy what is in an open file into another one, and return how many bytes; beyond ``most`` it raises ValueError.

    Raises OSError.
    """
    done = 0
    while chunk := os.read(source, CHUNK):
        done += len(chunk)
        if done > most:
            message = f"more than {most} bytes"
            raise ValueError(message)
        _write_all(target, chunk)
    return done


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_file(path: str, data: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Put a file in its place at once, with its mode and owner; it is on the disk when this returns. Raises OSError."""
    part = path + PART
    with suppress(FileNotFoundError):
        os.unlink(part)  # noqa: PTH108 - of a process that ended; paths are texts here
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        try:
            _write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            if owner is not None:
                os.fchown(descriptor, *owner)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(part, path)  # noqa: PTH105
    except BaseException:
        os.unlink(part)  # noqa: PTH108
        raise
    sync_folder(os.path.dirname(path) or ".")  # noqa: PTH120
