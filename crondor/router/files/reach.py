"""Opening files below allowed folders and nowhere else, as the account that they are opened for would."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from crondor.job_queue.disk import sync_folder
from crondor.router.files.accounts import READ, SEARCH, WRITE, Account
from crondor.router.files.faults import FilesRefused, fault, refused

_PATH: Final = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
CHUNK: Final = 1 << 20
PART: Final = ".crondor-part"


class Opened(NamedTuple):
    """An open file and what it was when it was opened."""

    descriptor: int
    state: os.stat_result


class Reach:
    """What may be opened: the files at or below some folders, and those that their account may open.

    ``who`` None: whatever the operating system lets this process open. Links are resolved first, and the path that
    comes of it is walked without following any, so that none leads out, also one that is made in the meantime.
    ``files`` are single files that are allowed beside the folders. No pipe or device is ever waited for.
    """

    def __init__(self, roots: Iterable[str], who: Account | None = None, files: Iterable[str] = ()) -> None:
        """Resolve the folders; nothing is opened."""
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._files = frozenset(os.path.realpath(file) for file in files)
        self.who = who

    def real(self, path: str) -> str:
        """Return a path with all links followed. Raises FilesRefused where it is outside, or nothing is there."""
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError) as error:
            code = "file-missing" if isinstance(error, FileNotFoundError) else "file-io"
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise FilesRefused(fault(code, f"cannot open {path}: {reason}", path)) from None
        if real not in self._files and not any(real == root or _is_below(real, root) for root in self._roots):
            message = f"{path} lies outside of the folders whose files may be moved"
            raise FilesRefused(fault("file-outside", message, path, "allow its folder"))
        return real

    @contextmanager
    def file(self, path: str) -> Iterator[Opened]:
        """Open a plain file for reading. Raises FilesRefused."""
        with self._folder_of(path) as (parent, name):
            try:
                descriptor = os.open(name, _FILE, dir_fd=parent)
            except OSError as error:
                raise refused(path, "cannot open", error) from None
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise FilesRefused(fault("file-special", f"{path} is not a plain file", path))
            self._check(path, state, READ, "read")
            yield Opened(descriptor, state)
        finally:
            os.close(descriptor)

    @contextmanager
    def folder(self, path: str, need: int = READ | SEARCH) -> Iterator[Opened]:
        """Open a folder, to list it or to write in it. Raises FilesRefused."""
        with self._folder_of(path) as (parent, name):
            try:
                descriptor = os.open(name or ".", os.O_RDONLY | _FOLDER, dir_fd=parent)
            except OSError as error:
                raise refused(path, "cannot open", error) from None
        try:
            state = os.fstat(descriptor)
            self._check(path, state, need, "write to" if need & WRITE else "read")
            yield Opened(descriptor, state)
        finally:
            os.close(descriptor)

    def state(self, path: str) -> os.stat_result:
        """Return what a path leads to. Raises FilesRefused."""
        with self._folder_of(path) as (parent, name):
            try:
                return os.stat(name or ".", dir_fd=parent, follow_symlinks=False)
            except OSError as error:
                raise refused(path, "cannot look at", error) from None

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder that a path is in, piece by piece from the root, and return it and the last piece."""
        pieces = [piece for piece in self.real(path).split("/") if piece]
        at = os.open("/", _PATH | _FOLDER)
        try:
            for piece in pieces[:-1]:
                below = os.open(piece, _PATH | _FOLDER, dir_fd=at)
                os.close(at)
                at = below
                self._check(path, os.fstat(at), SEARCH, "reach")
            yield at, pieces[-1] if pieces else ""
        except OSError as error:
            raise refused(path, "cannot open", error) from None
        finally:
            os.close(at)

    def _check(self, path: str, state: os.stat_result, need: int, word: str) -> None:
        if self.who is not None and not self.who.may(state, need):
            message = f"{self.who.name} may not {word} {path}"
            raise FilesRefused(fault("file-denied", message, path, "change its owner or its mode"))


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
