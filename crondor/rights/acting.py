"""Doing something with a user's files as that user: with his uid and his groups, and root's rights for nothing.

What root does by itself and checks before, by modes or by paths, the user can turn to something else in between; and
access lists, or a file server that trusts no root, are not seen at all. So the kernel is to decide, by who he is.

On Linux who somebody is belongs to a thread, and only libc makes it the whole process's. So each deed has a thread of
its own, which becomes the user by system calls that libc leaves alone, and ends with the deed:

- the other threads of a program, its event loop and its signal handlers, which Python runs in the main one, stay who
  they are all the time. ``os.seteuid`` would make users of them, too;
- nothing has to be given back, so no error and no Ctrl-C can leave root a user, or a user root;
- only the filesystem uid changes, as file servers have it: the user cannot stop or trace the thread, as he could a
  process of his, and no process that is as big as the program has to be forked for a line in a log;
- what the thread opens belongs to the process: its descriptors go on where it ends.

Elsewhere there is no such thread, and root acts for nobody but itself: ``RightsRefused``.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.rights.accounts import ROOT, Account, current_user, is_root

if TYPE_CHECKING:
    import ctypes

_T = TypeVar("_T")

_SETGROUPS: Final = {  # the number of setgroups(2) with ids of 32 bits, where libc's own would be for all threads
    "x86_64": 116,
    "aarch64": 159,
    "riscv64": 159,
    "loongarch64": 159,
    "ppc64le": 81,
    "s390x": 206,
}
_PR_GET_SECUREBITS: Final = 27  # prctl(2)
_NO_SETUID_FIXUP: Final = 1 << 2  # securebits(7): another uid, and still all of root's rights
_IDS: Final = 0xFFFF_FFFF

_here = threading.local()


class RightsRefused(CrondorError, OSError):
    """This process cannot act as a user."""


def as_account(account: Account | None, deed: Callable[[], _T]) -> _T:
    """Do something with files as a user, and return what came of it; None: as whoever this thread is.

    Within a deed, another one as the same user goes on as he is. It must not begin processes: those get the uids of the
    process. Raises what the deed raises, and RightsRefused where this process may not be that user.
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
        acting.join()  # what was begun is done to its end: nobody would close what it opens
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
    """Make this thread, and no other, a user's. Raises RightsRefused."""
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
        change(ctypes.c_uint32(wanted))  # it never says whether it did
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
