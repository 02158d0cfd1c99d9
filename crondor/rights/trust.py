"""Which files and folders are ours: nobody else has made them, can change them, or can put others in their place.

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
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Source, printable
from crondor.rights.walk import PathStep, ours, steps

try:
    import grp
    import pwd
except ImportError:  # as on Windows
    _HAS_ACCOUNTS = False
else:
    _HAS_ACCOUNTS = True

ROOT = 0
MACHINES: Final = ("CONDOR_CONFIG", "TZ")
"""Variables of the machine, not of the user."""

PATH: Final = "/usr/bin:/bin"


class Account(NamedTuple):
    """A user with files: a name, a user id, a group id, all groups; the home folder, empty: none, and the shell."""

    name: str
    uid: int
    gid: int
    groups: frozenset[int] = frozenset()
    home: str = ""
    shell: str = "/bin/sh"

    def may_replace(self, folder: os.stat_result, found: os.stat_result) -> bool:
        """Return whether this account may replace a file in a folder that it may write to."""
        is_sticky = folder.st_mode & stat.S_ISVTX
        return not is_sticky or self.uid in (ROOT, found.st_uid, folder.st_uid)


Accounts: TypeAlias = Callable[[str], "Account | None"]
"""Returns the account of a user name, None if there is none."""


def account_of(name: str) -> Account | None:
    """Look a user up in the machine's own list."""
    if not _HAS_ACCOUNTS:
        return None
    try:
        found = pwd.getpwnam(name)
    except (KeyError, ValueError):  # ValueError: a name with a NUL, or one that is not text
        return None
    groups = frozenset(os.getgrouplist(found.pw_name, found.pw_gid))
    return Account(found.pw_name, found.pw_uid, found.pw_gid, groups, found.pw_dir, found.pw_shell or "/bin/sh")


def owner_environment(environ: Mapping[str, str], owner: Account) -> dict[str, str]:
    """Return the environment of a program that runs as a job's owner: the user's, and the machine's.

    HTCondor passes its whole environment on; root's, for example a token, is not for every user.
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
    """Return the account of a user id; without a name, just the number."""
    found = account_of(user_name(number))
    return Account(str(number), number, number) if found is None or found.uid != number else found


def current_user() -> int:
    """Return the number of the user that this process runs as."""
    return os.geteuid() if hasattr(os, "geteuid") else ROOT


def is_root() -> bool:
    """Return whether this process may access everybody's files."""
    return hasattr(os, "geteuid") and os.geteuid() == ROOT


def user_id(name: str) -> int | None:
    """Return a user's number, None for an unknown name."""
    found = account_of(name)
    return None if found is None else found.uid


def user_name(number: int) -> str:
    """Return a user's name, or the number if there is no name."""
    try:
        return pwd.getpwuid(number).pw_name if _HAS_ACCOUNTS else str(number)
    except (KeyError, OverflowError):
        return str(number)


_ANYBODY: Final = stat.S_IWOTH
_GROUP: Final = stat.S_IWGRP
_ACCESS_LIST: Final = "system.posix_acl_access"


class Untrusted(CrondorError, RuntimeError):
    """Something that another user has made, or could have."""

    def naming(self, option: str) -> Untrusted:
        """Return the same error, with the option for another place in the help."""
        return Untrusted([replace(found, help=f"{found.help}: {option}") for found in self.diagnostics])


def make_folder(path: Path | str, mode: int = 0o700) -> bool:
    """Create a folder, and those above it, if missing, and return whether any was created.

    All of them are then ours. Raises Untrusted and OSError.
    """
    if sys.platform == "win32":
        is_new = not os.path.isdir(path)  # noqa: PTH112 - a path or a text
        os.makedirs(path, mode, exist_ok=True)  # noqa: PTH103 - the same
        return is_new
    last = first = _looked(str(path))
    while last.state is None:
        with suppress(FileExistsError):  # another process was faster: it is checked next
            os.mkdir(last.path, mode)  # noqa: PTH102 - the same
        last = _looked(str(path))
    if not stat.S_ISDIR(last.state.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return first.state is None


def check(path: Path | str) -> None:
    """Check a file or folder; a missing one is fine if its folder is ours. Raises Untrusted and OSError."""
    if sys.platform != "win32":
        _looked(str(path))


def stranger(folder: str) -> Account | None:
    """Return as whom root must work in a folder: the owner of the first folder that others could change.

    None: there is none, and root works there as itself, as in /tmp. Raises Untrusted if anybody could change it, and
    OSError.
    """
    for step in steps(folder):
        if step.state is not None and step.state.st_uid not in ours():
            return account_with(step.state.st_uid)
        problem = _problem(step, is_last=False)
        if problem is not None:
            raise Untrusted(problem)
    return None


def _looked(path: str) -> PathStep:
    """Return the last step along a path, or the first missing one. Raises Untrusted and OSError."""
    last = PathStep("/", None)
    for last, problem in _judged(path):  # noqa: B007 - the last one is asked for
        if problem is not None:
            raise Untrusted(problem)
    return last


def _judged(path: str) -> Iterator[tuple[PathStep, Diagnostic | None]]:
    """Yield the steps of a path, with the objection to each. Raises OSError."""
    before: PathStep | None = None
    for step in steps(path):
        if before is not None:
            yield before, _problem(before, is_last=False)
        before = step
    if before is not None:
        yield before, _problem(before, is_last=True)


def _problem(step: PathStep, *, is_last: bool) -> Diagnostic | None:
    """Return the objection to a step; the last one must not be writable by others even if sticky."""
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
    message = f"this {kind} {what}, who could make {me} do anything: it is not trusted"
    return Diagnostic("not-trusted", printable(message), span=Source("", step.path).span(), help=hint)


def _is_alone(step: PathStep, state: os.stat_result) -> bool:
    """Return whether a group is one with a single member, the file's owner, and no access list lets others write."""
    with suppress(OSError):  # the bits of the group are the most that a list may grant
        if hasattr(os, "getxattr") and os.getxattr(step.path, _ACCESS_LIST, follow_symlinks=False):
            return False
    try:
        group = grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    members = {*group.gr_mem, *(each.pw_name for each in pwd.getpwall() if each.pw_gid == state.st_gid)}
    return members == {user_name(state.st_uid)}


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
