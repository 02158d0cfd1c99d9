"""The accounts of this machine, and what their files let them do."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

READ: Final = 4
WRITE: Final = 2
SEARCH: Final = 1


class Account(NamedTuple):
    """Somebody who has files: a name, a user id, a group id, and all groups."""

    name: str
    uid: int
    gid: int
    groups: frozenset[int] = frozenset()

    def may(self, found: os.stat_result, what: int) -> bool:
        """Say whether the mode of a file lets this account do ``what``: READ, WRITE, SEARCH, or several (``|``)."""
        if self.uid == 0:
            return True
        if found.st_uid == self.uid:
            bits = found.st_mode >> 6
        elif found.st_gid == self.gid or found.st_gid in self.groups:
            bits = found.st_mode >> 3
        else:
            bits = found.st_mode
        return bits & what == what

    def may_replace(self, folder: os.stat_result, found: os.stat_result) -> bool:
        """Say whether this account may put another file in the place of one in a folder that it may write to."""
        is_sticky = folder.st_mode & stat.S_ISVTX
        return not is_sticky or self.uid in (0, found.st_uid, folder.st_uid)


Accounts: TypeAlias = Callable[[str], "Account | None"]
"""Returns the account of a user name, None where there is none."""


def account_of(name: str) -> Account | None:
    """Look a user up in the machine's own list."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return None
    try:
        found = pwd.getpwnam(name)
    except (KeyError, ValueError):
        return None
    return Account(name, found.pw_uid, found.pw_gid, frozenset(os.getgrouplist(name, found.pw_gid)))


def is_root() -> bool:
    """Say whether this process may do anything to anybody's files, and so must ask what their owner may do."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
