"""Where a program runs, and as whom: as its caller, or as a user with nothing of what is the caller's."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from crondor.rights.accounts import Account, account_of, current_user, owner_environment
from crondor.rights.acting import as_account

_UMASK: Final = 0o022  # what a user has unless he says otherwise, and where he says so no daemon looks
_SAME: Final = -1
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class ProcessPlace(NamedTuple):
    """What ``subprocess.Popen`` takes; None: the caller's, and so is an umask of -1."""

    env: Mapping[str, str]
    cwd: str | None = None
    user: int | None = None
    group: int | None = None
    extra_groups: Sequence[int] | None = None
    umask: int = _SAME


@contextmanager
def placed(environ: Mapping[str, str], folder: str | None, user: str | None) -> Iterator[ProcessPlace]:
    """Give where a program runs; ``user`` is as whom, and then of ``environ`` only what is the machine's counts.

    Raises KeyError for a user whom the system does not know, and OSError.
    """
    if user is None:
        yield ProcessPlace(environ, folder)
        return
    owner = account_of(user)
    if owner is None:
        raise KeyError(f"the system knows no user {user}")
    with _entered(owner, folder) as cwd:
        env = owner_environment(environ, owner)
        yield ProcessPlace(env, cwd, owner.uid, owner.gid, sorted({owner.gid, *owner.groups}), _UMASK)


@contextmanager
def _entered(owner: Account, folder: str | None) -> Iterator[str]:
    """Give a folder that a user may enter: ``folder``, or else his home, or the root folder. Raises OSError.

    A program changes to its folder before it changes its user, and root gets anywhere that a link of his leads to. So
    he opens it, and the program goes to what he has opened.
    """
    for path in [folder] if folder is not None else [owner.home or "/", "/"]:
        try:
            descriptor = as_account(owner, functools.partial(os.open, path, _FOLDER))
        except OSError:
            if path == "/" or folder is not None:
                raise
            continue
        try:
            yield path if owner.uid == current_user() else f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
