"""Accounts, the walk to a file folder by folder, and which files and folders nobody else can change.

What stands in a queue is run, what stands in a journal is believed, and what stands in a note is deleted. So the folder
of it must be this user's or root's, and nobody else's to write; and so must be each folder that it is in, up to the
root, and each link on the way. The rule is that of OpenSSH (``safe_path``) and sudo:

- who may write in a folder may rename what is in it. In one with the sticky bit, as /tmp, he may not where it is not
  his own: what is ours in there stays ours;
- a group whose only member is the file's owner is nobody else, as where each user has a group of his own;
- root believes nobody else, and every user believes root.

Along such a path nobody can change anything between a look and a deed.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Source, printable

ROOT = 0
MACHINES: Final = ("CONDOR_CONFIG", "TZ")
"""Variables of the machine, and not of who runs something on it."""

PATH: Final = "/usr/bin:/bin"


class Account(NamedTuple):
    """Somebody who has files: a name, a user id, a group id, all groups; his home, empty: none, and his shell."""

    name: str
    uid: int
    gid: int
    groups: frozenset[int] = frozenset()
    home: str = ""
    shell: str = "/bin/sh"

    def may_replace(self, folder: os.stat_result, found: os.stat_result) -> bool:
        """Say whether this account may put another file in the place of one in a folder that it may write to."""
        is_sticky = folder.st_mode & stat.S_ISVTX
        return not is_sticky or self.uid in (ROOT, found.st_uid, folder.st_uid)


Accounts: TypeAlias = Callable[[str], "Account | None"]
"""Returns the account of a user name, None where there is none."""


def account_of(name: str) -> Account | None:
    """Look a user up in the machine's own list."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows

        found = pwd.getpwnam(name)
    except (ImportError, KeyError, ValueError):  # ValueError: a name with a NUL, or one that is no text
        return None
    groups = frozenset(os.getgrouplist(found.pw_name, found.pw_gid))
    return Account(found.pw_name, found.pw_uid, found.pw_gid, groups, found.pw_dir, found.pw_shell or "/bin/sh")


def owner_environment(environ: Mapping[str, str], owner: Account) -> dict[str, str]:
    """Return what a program sees that runs as a job's owner: who he is, and what is the machine's.

    HTCondor hands its whole environment on; what root has in it, a token for example, is not for every user.
    """
    kept = {name: environ[name] for name in MACHINES if name in environ}
    return {
        **kept,
        "HOME": owner.home or "/",
        "LOGNAME": owner.name,
        "PATH": PATH,
        "SHELL": owner.shell,
        "USER": owner.name,
    }


def account_with(number: int) -> Account:
    """Return the account of a user id; of one without a name: that number and nothing else."""
    found = account_of(user_name(number))
    return Account(str(number), number, number) if found is None or found.uid != number else found


def current_user() -> int:
    """Return the number of the user that this process runs as."""
    return os.geteuid() if hasattr(os, "geteuid") else ROOT


def is_root() -> bool:
    """Say whether this process may do anything to anybody's files."""
    return hasattr(os, "geteuid") and os.geteuid() == ROOT


def user_id(name: str) -> int | None:
    """Return a user's number, None: the machine knows none of that name."""
    found = account_of(name)
    return None if found is None else found.uid


def user_name(number: int) -> str:
    """Return a user's name, or his number where the machine knows no name."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError, OverflowError):
        return str(number)


HAS_DESCRIPTORS: Final = os.open in os.supports_dir_fd
"""Whether folders can be opened here, and what is in them by that; Windows cannot."""

_LINKS: Final = 40  # as the kernel follows
_PATH: Final = getattr(os, "O_PATH", os.O_RDONLY)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_DESCRIPTORS: Final = ("/dev/fd", "/proc/self/fd")
_LONG: Final = 10  # digits that no descriptor has
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

APPENDING: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _AT_ONCE
"""The flags for ``append``: a pipe without a reader keeps nobody waiting."""


class PathStep(NamedTuple):
    """Something on the way along a path: a folder, a link that leads on, or the end.

    ``state`` None: nothing is there, and ``rest`` is what comes behind it.
    """

    path: str
    state: os.stat_result | None
    rest: str = ""

    @property
    def is_link(self) -> bool:
        """Whether the way goes on elsewhere."""
        return self.state is not None and stat.S_ISLNK(self.state.st_mode)


def ours() -> tuple[int, int]:
    """Return the user ids that this process believes: root's and its own."""
    return 0, os.geteuid()


# Looking


def steps(path: str) -> Iterator[PathStep]:
    """Yield what a path leads through, the root folder first and its end last, links before what they lead to.

    The first piece that is not there is the last step, whatever comes behind it. Raises OSError: what is in the way is
    no folder, or may not be looked at, or there are too many links.
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
    """Return a path with all links followed, of which each must be ours; the last piece may be missing.

    Another user's could lead to any file of ours, and be turned to it at any moment. Raises OSError.
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
    """Open the folder of a path, piece by piece from the root, following no link; give it, and the last piece.

    The path is one without links. Raises OSError.
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
    """Say whether a path leads to something. Raises OSError where one may not look: Path.exists of 3.14 says no."""
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
    """Open what is at a path without links, and return its descriptor. Raises OSError."""
    if not HAS_DESCRIPTORS:
        return os.open(real, flags, mode)
    with folder_of(real) as (folder, name):
        return os.open(name, flags | _NO_LINK, mode, dir_fd=folder)


def open_file(real: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a plain file by a path without links, and return its descriptor. Nothing is waited for. Raises OSError."""
    return _plain(open_real(real, flags | _AT_ONCE, mode), real)


def open_plain(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a plain file, wherever its path leads. Nothing is waited for. Raises OSError."""
    return _plain(os.open(path, flags | _AT_ONCE | getattr(os, "O_CLOEXEC", 0), mode), os.fspath(path))


def open_named(path: str) -> int:
    """Open a file that a person names for reading, wherever its path leads. Nothing is waited for. Raises OSError.

    It is a plain file, or what reads as an empty one (/dev/null). A pipe or device is read only where the shell has
    opened it for this process: /dev/stdin, or /dev/fd/63 for ``<(command)``.
    """
    number = _handed_over(path)
    if number is not None and not stat.S_ISREG(os.fstat(number).st_mode):
        return os.dup(number)
    descriptor = os.open(path, os.O_RDONLY | _AT_ONCE | getattr(os, "O_CLOEXEC", 0))
    found = os.fstat(descriptor)
    is_null = stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev  # noqa: PTH116 - a text
    return descriptor if is_null else _plain(descriptor, path)


def _handed_over(path: str) -> int | None:
    """Return the number of the descriptor that a path stands for, None for any other path."""
    folder, _, name = path.rpartition("/")
    is_number = name.isascii() and name.isdecimal() and len(name) < _LONG
    return 0 if path == "/dev/stdin" else int(name) if folder in _DESCRIPTORS and is_number else None


def open_own(path: str, flags: int, mode: int = 0o666) -> int:
    """Open a file that this process has for itself, in whoever's folder, so that nobody turns it to another of ours.

    Links of other users are not followed; nor, where they can make such, is a second name of a file. Raises OSError.
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
    """Empty a file that was opened to be written anew, unless it may be another one under this name. Raises OSError."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return
    if found.st_nlink > 1 and (folder.st_uid not in ours() or folder.st_mode & stat.S_IWOTH):
        raise PermissionError(errno.EACCES, f"{path} is a second name of a file", path)
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)


def place_of(descriptor: int) -> str:
    """Return the path of an open file, without links; empty where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - paths are texts here
    except OSError:
        return ""


def append(descriptor: int, data: bytes, path: str) -> None:
    """Write behind an open plain file in one piece, and close it. Raises OSError."""
    _plain(descriptor, path)
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(descriptor)


def _plain(descriptor: int, path: str) -> int:
    """Return a descriptor that is of a plain file; of anything else it is closed. Raises OSError."""
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "it is not a plain file", path)


_ANYBODY: Final = stat.S_IWOTH
_GROUP: Final = stat.S_IWGRP
_ACCESS_LIST: Final = "system.posix_acl_access"


class Untrusted(CrondorError, RuntimeError):
    """Something that another user has made, or could have."""

    def naming(self, option: str) -> Untrusted:
        """Return the same error, whose help says what names another place."""
        return Untrusted([replace(found, help=f"{found.help}: {option}") for found in self.diagnostics])


def make_folder(path: Path | str, mode: int = 0o700) -> bool:
    """Make a folder, and those that it is in, where they are not there, and say whether there was any to be made.

    All of them are ours when this returns. Raises Untrusted and OSError.
    """
    if sys.platform == "win32":
        is_new = not os.path.isdir(path)  # noqa: PTH112 - a path or a text
        os.makedirs(path, mode, exist_ok=True)  # noqa: PTH103 - the same
        return is_new
    last = first = _looked(str(path))
    while last.state is None:
        with suppress(FileExistsError):  # somebody else was faster: it is looked at next
            os.mkdir(last.path, mode)  # noqa: PTH102 - the same
        last = _looked(str(path))
    if not stat.S_ISDIR(last.state.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return first.state is None


def check(path: Path | str) -> None:
    """Look at a file or folder; one that is not there is fine, where its folder is ours.

    Raises Untrusted for one that is not ours, and OSError.
    """
    if sys.platform != "win32":
        _looked(str(path))


def stranger(folder: str) -> Account | None:
    """Return as whom root is to work in a folder: the first on the way to whom one belongs, and who could change it.

    None: nobody could, and root works there by itself, as in /tmp. Raises Untrusted where anybody could, and OSError.
    """
    for step in steps(folder):
        if step.state is not None and step.state.st_uid not in ours():
            return account_with(step.state.st_uid)
        problem = _problem(step, is_last=False)
        if problem is not None:
            raise Untrusted(problem)
    return None


def _looked(path: str) -> PathStep:
    """Return the last thing on the way along a path, or the first that is not there. Raises Untrusted and OSError."""
    last = PathStep("/", None)
    for last, problem in _judged(path):  # noqa: B007 - the last one is asked for
        if problem is not None:
            raise Untrusted(problem)
    return last


def _judged(path: str) -> Iterator[tuple[PathStep, Diagnostic | None]]:
    """Yield what a path leads through, with what speaks against each. Raises OSError."""
    before: PathStep | None = None
    for step in steps(path):
        if before is not None:
            yield before, _problem(before, is_last=False)
        before = step
    if before is not None:
        yield before, _problem(before, is_last=True)


def _problem(step: PathStep, *, is_last: bool) -> Diagnostic | None:
    """Return what speaks against something on the way; the last one may not be for others to write even if sticky."""
    state = step.state
    if state is None:
        return None
    if state.st_uid not in ours():
        return _said(step, f"belongs to {user_name(state.st_uid)}", _MOVE)
    if step.is_link or (state.st_mode & stat.S_ISVTX and stat.S_ISDIR(state.st_mode) and not is_last):
        return None
    shown = printable(step.path)
    if state.st_mode & _ANYBODY:
        return _said(step, "can be written by everybody", f"chmod o-w {shown}, or {_MOVE}")
    if state.st_mode & _GROUP and not _is_alone(step, state):
        group = _group(state.st_gid)
        return _said(step, f"can be written by the group {group}", f"chmod g-w {shown}, or {_MOVE}")
    return None


_MOVE: Final = "name one in folders that are yours or root's alone"


def _said(step: PathStep, what: str, hint: str) -> Diagnostic:
    kind = "link" if step.is_link else "folder" if step.state and stat.S_ISDIR(step.state.st_mode) else "file"
    me = user_name(current_user())
    message = f"this {kind} {what}, who could have {me} do what he likes: it is not trusted"
    return Diagnostic("not-trusted", printable(message), span=Source("", step.path).span(), help=hint)


def _is_alone(step: PathStep, state: os.stat_result) -> bool:
    """Say whether a group is one with a single member, the file's owner, and no access list lets others write."""
    import grp  # noqa: PLC0415 - there is none on Windows
    import pwd  # noqa: PLC0415 - the same

    with suppress(OSError):  # the bits of the group are the most that a list may give to anybody
        if hasattr(os, "getxattr") and os.getxattr(step.path, _ACCESS_LIST, follow_symlinks=False):
            return False
    try:
        group = grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    members = {*group.gr_mem, *(each.pw_name for each in pwd.getpwall() if each.pw_gid == state.st_gid)}
    return members == {user_name(state.st_uid)}


def _group(number: int) -> str:
    import grp  # noqa: PLC0415 - the same

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
