"""Replacing a file whole or not at all, as the account that owns it."""

from __future__ import annotations

import errno
import functools
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Generic, TypeVar

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.rights.trust import ROOT, Account, current_user, is_root, stranger, user_name
from crondor.rights.walk import HAS_DESCRIPTORS, folder_of, followed

if TYPE_CHECKING:
    import ctypes

_T = TypeVar("_T")

_SETGROUPS: Final = {  # the number of setgroups(2) with ids of 32 bits; libc's own would apply to all threads
    "x86_64": 116,
    "aarch64": 159,
    "riscv64": 159,
    "loongarch64": 159,
    "ppc64le": 81,
    "s390x": 206,
}
_PR_GET_SECUREBITS: Final = 27  # prctl(2)
_NO_SETUID_FIXUP: Final = 1 << 2  # securebits(7): changing the uid keeps all of root's rights
_IDS: Final = 0xFFFF_FFFF

_here = threading.local()


# Anything root checks first, by modes or by paths, a user can change in between; and access lists, or a file server
# that does not trust root, are not visible at all. So the kernel must decide, by the user's identity. On Linux the
# identity belongs to a thread, and only libc makes it that of the process. So each deed has a thread of its own, which
# becomes the user by system calls without libc, and ends with the deed: - the other threads of a program, its event
# loop and its signal handlers, which Python runs in the main one, keep their identity. ``os.seteuid`` would change
# them, too; - nothing has to be restored, so no error and no Ctrl-C can leave root as a user, or a user as root; - only
# the filesystem uid changes, as in file servers: the user cannot stop or trace the thread, unlike a process, and no
# process as big as the program has to be forked for a line in a log; - files that the thread opens belong to the
# process, and stay open. Elsewhere there is no such thread, and root acts only as itself: ``RightsRefused``.
class RightsRefused(CrondorError, OSError):
    """This process cannot act as a user."""


def as_account(account: Account | None, deed: Callable[[], _T]) -> _T:
    """Do something with files as a user, and return the result; None: as the present user of this thread.

    A nested deed as the same user continues as that user. It must not start processes: those get the uids of the
    process. Raises what the deed raises, and RightsRefused if this process may not be that user.
    """
    mine = getattr(_here, "account", None)
    if account is None or account == mine:
        return deed()
    if mine is None and account.uid == current_user():
        return deed()
    if mine is not None or not is_root():
        reason = "only root may act as another user" if mine is None else f"this is done as {mine.name}"
        raise _refused(account, reason)
    acting = _Acting(account, deed)
    acting.start()
    try:
        acting.join()
    except BaseException:
        acting.join()  # the deed is completed: otherwise its files would stay open
        raise
    if acting.failed is not None:
        raise acting.failed
    return acting.result[0]


class _Acting(threading.Thread, Generic[_T]):
    """A thread that becomes a user, and does one thing."""

    def __init__(self, account: Account, deed: Callable[[], _T]) -> None:
        super().__init__(name=f"as {account.name}")
        self._account = account
        self._deed = deed
        self.result: list[_T] = []
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            _become(self._account)
            _here.account = self._account
            self.result.append(self._deed())
        except BaseException as error:  # noqa: BLE001 - it is raised where the deed was asked for
            self.failed = error


def _become(account: Account) -> None:
    """Make only this thread a user's. Raises RightsRefused."""
    import ctypes  # noqa: PLC0415 - a Python can be without it, and only root needs it

    number = _SETGROUPS.get(os.uname().machine) if sys.platform == "linux" and sys.maxsize > 1 << 32 else None
    if number is None or account.uid == ROOT:
        raise _refused(account, "this system has no users for single threads")
    libc = _libc()
    if libc.prctl(_PR_GET_SECUREBITS, 0, 0, 0, 0) & _NO_SETUID_FIXUP:
        raise _refused(account, "root's rights are set to stay with this process (securebits)")
    groups = sorted({account.gid, *account.groups})
    if libc.syscall(ctypes.c_long(number), ctypes.c_long(len(groups)), (ctypes.c_uint32 * len(groups))(*groups)) != 0:
        raise _refused(account, os.strerror(ctypes.get_errno()))
    for change, wanted in ((libc.setfsgid, account.gid), (libc.setfsuid, account.uid)):
        change(ctypes.c_uint32(wanted))  # it does not report success
        if change(ctypes.c_uint32(_IDS)) & _IDS != wanted:
            raise _refused(account, os.strerror(errno.EPERM))


@functools.cache
def _libc() -> ctypes.CDLL:
    import ctypes  # noqa: PLC0415 - the same

    return ctypes.CDLL(None, use_errno=True)


def _refused(account: Account, reason: str) -> RightsRefused:
    message = f"nothing can be done as {printable(account.name)}: {reason}"
    hint = "root needs Linux for it, with CAP_SETUID and CAP_SETGID" if is_root() else "run this as that user, or root"
    return RightsRefused(Diagnostic("no-rights", message, help=hint))


_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
_READING: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _CLOSED
_MAKING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _CLOSED
_CHANGING: Final = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _CLOSED
_STREAM: Final = re.compile(r"/dev/(?:null|tty|std(?:out|err)|fd/\d+)|/proc/self/fd/\d+")
_SYSTEMS: Final = ("security.", "trusted.")  # attributes that the system gives a new file by itself


class Changed(RuntimeError):
    """The file has changed; nothing was written."""


def replace_text(path: str, old: bytes, new: bytes) -> None:
    """Replace a file's old text by a new one; readers see the one or the other, complete.

    Owner, group, mode, access list and other attributes stay. In a folder of another user root acts as that user.
    Raises Changed, Untrusted, and OSError: also for a link, for a file with several names, since the others would keep
    the old text, and for one whose owner cannot be kept.
    """
    real = _place(path)
    if not HAS_DESCRIPTORS:
        _replace_there(Path(real), old, new)
        return
    _as_host(path, _host(real), lambda: _replace(real, old, new))


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """Yield a file to write to, which gets its name, or replaces an old file, when it is complete.

    Before that, and after an error, there is nothing or the old file. An old file keeps everything except the text, as
    in ``replace_text``; it must be writable. ``/dev/null`` and files opened by the shell (``/dev/stdout``,
    ``/dev/fd/63``) are written directly. Raises Untrusted, and OSError like ``replace_text``.
    """
    if _STREAM.fullmatch(path):
        with Path(path).open("wb") as file:
            yield file
        return
    real = _place(path)
    if not HAS_DESCRIPTORS:
        with _whole_there(Path(real)) as file:
            yield file
        return
    who = _host(real)
    fresh, part = _as_host(path, who, lambda: _begun(real))
    try:
        with os.fdopen(fresh, "wb") as file:
            yield file
            file.flush()
            os.fsync(fresh)
        _as_host(path, who, lambda: _named(real, part))
    except BaseException:
        _as_host(path, who, lambda: _dropped(real, part))
        raise


def _place(path: str) -> str:
    """Return a path without links to a file that exists, or may be created. Raises OSError.

    Links to its folders are followed if they are ours. The last piece must not be a link: its author, for example of a
    repository, would choose which file is written.
    """
    if os.path.islink(path):  # noqa: PTH114 - paths are texts here
        leads = printable(os.readlink(path))  # noqa: PTH115 - the same
        raise OSError(errno.ELOOP, f"it is a link to {leads}, and links are not written to: name the file itself", path)
    folder, name = os.path.split(path)
    if not HAS_DESCRIPTORS or name in {"", ".", ".."}:
        return os.path.realpath(path)
    return f"{followed(folder or '.').rstrip('/')}/{name}"


def _host(real: str) -> Account | None:
    """Return as whom root works in the folder of a path: its owner; None as itself."""
    return stranger(os.path.dirname(real)) if is_root() else None  # noqa: PTH120 - paths are texts here


def _as_host(path: str, who: Account | None, deed: Callable[[], _T]) -> _T:
    """Do something as the owner of the folder. Raises what the deed raises."""
    try:
        return as_account(who, deed)
    except PermissionError as error:
        if who is None:
            raise
        reason = f"{error.strerror}, as {who.name}, in whose folder it is"
        raise PermissionError(error.errno, reason, path) from None


def _begun(real: str) -> tuple[int, str]:
    """Create a similar file next to the present or future one at a path; return its descriptor and name."""
    with folder_of(real) as (folder, name):
        part = f".crondor-{os.urandom(8).hex()}"
        try:
            os.close(os.open(name, _CHANGING, dir_fd=folder))  # a file without write permission is not replaced either
            before = os.open(name, _READING, dir_fd=folder)
        except FileNotFoundError:
            return os.open(part, _MAKING, 0o666, dir_fd=folder), part
        try:
            state = _plain(before, real)
            fresh = os.open(part, _MAKING, 0o600, dir_fd=folder)
            try:
                _make_alike(fresh, before, state)
            except BaseException:
                os.close(fresh)
                os.unlink(part, dir_fd=folder)
                raise
        finally:
            os.close(before)
        return fresh, part


def _named(real: str, part: str) -> None:
    with folder_of(real) as (folder, name):
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        with suppress(PermissionError):  # a folder that is writable but not readable
            _sync(folder)


def _dropped(real: str, part: str) -> None:
    with folder_of(real) as (folder, _), suppress(FileNotFoundError):
        os.unlink(part, dir_fd=folder)


def _replace(real: str, old: bytes, new: bytes) -> None:
    with folder_of(real) as (folder, name):
        before = os.open(name, _READING, dir_fd=folder)
        try:
            state = _looked(before, old, real)
            part = _written(folder, before, state, new)
            try:
                _put(folder, part, name, state)
            except BaseException:
                os.unlink(part, dir_fd=folder)
                raise
        finally:
            os.close(before)
        with suppress(PermissionError):  # a folder that is writable but not readable
            _sync(folder)


def _written(folder: int, before: int, state: os.stat_result, new: bytes) -> str:
    """Write a file next to an old one, with all its attributes except the text, and return its name. Raises OSError."""
    part = f".crondor-{os.urandom(8).hex()}"
    fresh = os.open(part, _MAKING, 0o600, dir_fd=folder)
    try:
        with os.fdopen(os.dup(fresh), "wb") as file:
            file.write(new)
        _make_alike(fresh, before, state)
        os.fsync(fresh)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    finally:
        os.close(fresh)
    return part


def _put(folder: int, part: str, name: str, state: os.stat_result) -> None:
    """Rename a file to the name of the one checked before. Raises Changed and OSError."""
    if _mark(os.stat(name, dir_fd=folder, follow_symlinks=False)) != _mark(state):
        raise Changed
    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)


def _looked(descriptor: int, old: bytes, path: str) -> os.stat_result:
    """Return the state of an open file that may be replaced. Raises Changed and OSError."""
    state = _plain(descriptor, path)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        if file.read(len(old) + 1) != old:
            raise Changed
    return state


def _plain(descriptor: int, path: str) -> os.stat_result:
    """Return the state of an open plain file with one name. Raises OSError."""
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file", path)
    if state.st_nlink > 1:
        reason = f"it has {state.st_nlink} names (hard links), and the others would keep the old text"
        raise OSError(errno.EMLINK, reason, path)
    return state


def _make_alike(fresh: int, before: int, state: os.stat_result) -> None:
    """Give a new file all attributes of an old one except the text. Raises OSError."""
    made = os.fstat(fresh)
    if (made.st_uid, made.st_gid) != (state.st_uid, state.st_gid):
        try:
            os.fchown(fresh, state.st_uid, state.st_gid)
        except PermissionError:
            reason = f"its owner {user_name(state.st_uid)} and group {state.st_gid} could not be kept"
            raise PermissionError(errno.EPERM, reason) from None
    os.fchmod(fresh, stat.S_IMODE(state.st_mode))
    if hasattr(os, "listxattr"):
        _copy_attributes(fresh, before)


def _copy_attributes(fresh: int, before: int) -> None:
    """Copy the extended attributes of a file, its access list among them. Raises OSError."""
    names: list[str] = []
    with suppress(OSError):  # a file system without any
        names = os.listxattr(before)
    for name in names:
        with suppress(OSError) if name.startswith(_SYSTEMS) else nullcontext():
            os.setxattr(fresh, name, os.getxattr(before, name))


def _mark(state: os.stat_result) -> tuple[int, int, int, int]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _sync(folder: int) -> None:
    descriptor = os.open(".", os.O_RDONLY | _CLOSED, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace_there(path: Path, old: bytes, new: bytes) -> None:
    """Replace without folder descriptors and file owners: on Windows."""
    if path.read_bytes() != old:
        raise Changed
    with _whole_there(path) as file:
        file.write(new)


@contextmanager
def _whole_there(path: Path) -> Iterator[BinaryIO]:
    part = path.with_name(f".crondor-{os.urandom(8).hex()}")
    try:
        with part.open("xb") as file:
            yield file
        with suppress(FileNotFoundError):
            part.chmod(path.stat().st_mode & 0o7777)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
