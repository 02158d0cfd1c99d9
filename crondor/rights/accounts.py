"""The accounts of this machine, by name and by number."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

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
