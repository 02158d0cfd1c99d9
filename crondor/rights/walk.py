"""Along a path piece by piece: what stands on the way, and opening its end without following any link.

A path says where something was a moment ago. Whoever may write in one of its folders can put a link there in between.
So links are followed once, and judged; the way that came of it is gone by descriptors, and a link that has come since
is an error. Nothing of the package is imported here: the supervisors of ``crondor run`` load this file by itself.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

HAS_DESCRIPTORS: Final = os.open in os.supports_dir_fd
"""Whether folders can be opened here, with their contents; not on Windows."""

_LINKS: Final = 40  # as the kernel follows
_PATH: Final = getattr(os, "O_PATH", os.O_RDONLY)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_DESCRIPTORS: Final = ("/dev/fd", "/proc/self/fd")
_LONG: Final = 10  # digits that no descriptor has
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

APPENDING: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _AT_ONCE
"""The flags for ``append``: a pipe without a reader does not block."""


class PathStep(NamedTuple):
    """A step along a path: a folder, a link, or the end.

    ``state`` None: nothing is there, and ``rest`` is the remaining path.
    """

    path: str
    state: os.stat_result | None
    rest: str = ""

    @property
    def is_link(self) -> bool:
        """Whether it is a link."""
        return self.state is not None and stat.S_ISLNK(self.state.st_mode)


def ours() -> tuple[int, int]:
    """Return the trusted user ids: root's and this process's own."""
    return 0, os.geteuid()


# Looking


def steps(path: str) -> Iterator[PathStep]:
    """Yield the steps of a path, the root folder first and its end last, links before their targets.

    The first missing piece is the last step. Raises OSError: a piece is not a folder, or may not be read, or there are
    too many links.
    """
    at = "/"
    left = _pieces(path if path.startswith("/") else f"{os.getcwd()}/{path}")  # noqa: PTH109 - paths are texts here
    yield PathStep(at, os.lstat(at))
    links = 0
    while left:
        piece = left.pop()
        if piece == "..":
            at = os.path.dirname(at)  # noqa: PTH120 - the same; no link is in it
            yield PathStep(at, os.lstat(at))
            continue
        found = PathStep(f"{at.rstrip('/')}/{piece}", None, "/".join(reversed(left)))
        with suppress(FileNotFoundError):
            found = found._replace(state=os.lstat(found.path))
        yield found
        if found.state is None:
            return
        if found.is_link:
            links += 1
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = os.readlink(found.path)  # noqa: PTH115 - the same
            at = "/" if target.startswith("/") else at
            left += _pieces(target)
        elif left and not stat.S_ISDIR(found.state.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), found.path)
        else:
            at = found.path


def _pieces(path: str) -> list[str]:
    """Return the pieces of a path, the last one first."""
    return [piece for piece in reversed(path.split("/")) if piece not in {"", "."}]


def followed(path: str) -> str:
    """Return a path with all links followed, each of which must be ours; the last piece may be missing.

    Another user's link could lead to any file of ours, and be changed at any moment. Raises OSError.
    """
    last = PathStep("/", None)
    for last in steps(path):
        if last.state is not None and last.is_link and last.state.st_uid not in ours():
            raise PermissionError(errno.EACCES, f"{last.path} is a link of another user", path)
    if last.state is None and last.rest:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), last.path)
    return last.path


# Opening


@contextmanager
def folder_of(real: str) -> Iterator[tuple[int, str]]:
    """Open the folder of a path, piece by piece from the root, following no link; yield it, and the last piece.

    The path must have no links. Raises OSError.
    """
    pieces = [piece for piece in real.split("/") if piece]
    at = os.open("/", _PATH | _FOLDER)
    try:
        for piece in pieces[:-1]:
            below = os.open(piece, _PATH | _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        yield at, pieces[-1] if pieces else "."
    finally:
        os.close(at)


def is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether a path exists. Raises OSError without permission: Path.exists of 3.14 returns False."""
    try:
        os.stat(path)  # noqa: PTH116 - a path or a text
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
        raise
    return True


def open_real(real: str, flags: int, mode: int = 0o600) -> int:
    """Open a path without links, and return its descriptor. Raises OSError."""
    if not HAS_DESCRIPTORS:
        return os.open(real, flags, mode)
    with folder_of(real) as (folder, name):
        return os.open(name, flags | _NO_LINK, mode, dir_fd=folder)


def open_file(real: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a plain file by a path without links, and return its descriptor. Never blocks. Raises OSError."""
    return _plain(open_real(real, flags | _AT_ONCE, mode), real)


def open_plain(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a plain file, wherever its path leads. Never blocks. Raises OSError."""
    return _plain(os.open(path, flags | _AT_ONCE | getattr(os, "O_CLOEXEC", 0), mode), os.fspath(path))


def open_named(path: str) -> int:
    """Open a file that a user names for reading, wherever its path leads. Never blocks. Raises OSError.

    It is a plain file, or reads as an empty one (/dev/null). A pipe or device is only read if the shell has opened it
    for this process: /dev/stdin, or /dev/fd/63 for ``<(command)``.
    """
    number = _handed_over(path)
    if number is not None and not stat.S_ISREG(os.fstat(number).st_mode):
        return os.dup(number)
    descriptor = os.open(path, os.O_RDONLY | _AT_ONCE | getattr(os, "O_CLOEXEC", 0))
    found = os.fstat(descriptor)
    is_null = stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev  # noqa: PTH116 - a text
    return descriptor if is_null else _plain(descriptor, path)


def _handed_over(path: str) -> int | None:
    """Return the descriptor number in a path, None for any other path."""
    folder, _, name = path.rpartition("/")
    is_number = name.isascii() and name.isdecimal() and len(name) < _LONG
    return 0 if path == "/dev/stdin" else int(name) if folder in _DESCRIPTORS and is_number else None


def open_own(path: str, flags: int, mode: int = 0o666) -> int:
    """Open a file of this process, in anybody's folder, safe from redirection to another of our files.

    Links of other users are not followed; nor is a second name of a file, if they can make one. Raises OSError.
    """
    real = followed(path)
    with folder_of(real) as (folder, name):
        descriptor = os.open(name, (flags & ~os.O_TRUNC) | _NO_LINK, mode, dir_fd=folder)
        try:
            _cleared(descriptor, os.fstat(folder), flags, real)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _cleared(descriptor: int, folder: os.stat_result, flags: int, path: str) -> None:
    """Empty a file that was opened for rewriting, unless its name may be another one's. Raises OSError."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return
    if found.st_nlink > 1 and (folder.st_uid not in ours() or folder.st_mode & stat.S_IWOTH):
        raise PermissionError(errno.EACCES, f"{path} is a second name of a file", path)
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)


def place_of(descriptor: int) -> str:
    """Return the path of an open file, without links; empty if the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - paths are texts here
    except OSError:
        return ""


def append(descriptor: int, data: bytes, path: str) -> None:
    """Append to an open plain file in one write, and close it. Raises OSError."""
    _plain(descriptor, path)
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(descriptor)


def _plain(descriptor: int, path: str) -> int:
    """Return a descriptor if it is a plain file; otherwise close it. Raises OSError."""
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "it is not a plain file", path)
