"""The X.509 proxy that a route shares with its jobs: a copy for each, until that is in the job's sandbox.

HTCondor: RoutedJob::PrepareSharedX509UserProxy.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from crondor.rights.accounts import Accounts, account_of, is_root
from crondor.router.apply.applying import SharedProxy
from crondor.router.sandbox.faults import FilesRefused, Report, fault, ignored, refused, warning
from crondor.router.sandbox.made import Made, worker
from crondor.router.sandbox.reach import write_file

_MOST: Final = 1 << 20
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Proxies:
    """Makes and deletes the copies of shared proxies.

    ``note`` is a file of the router's own, which says what copies there are, so that none outlives a crash. A proxy
    must belong to this process's account, or to one of ``owners`` (user ids): what a job may say in its ad must not
    get it a file of somebody else.
    """

    def __init__(
        self,
        note: Path | str,
        *,
        owners: Collection[int] = (),
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Read the note; nothing else is opened."""
        self._made = Made(note)
        self._owners = frozenset(owners)
        self._accounts = accounts
        self._report = report

    @property
    def files(self) -> tuple[str, ...]:
        """The copies that there are."""
        return tuple(noted.path for noted in self._made)

    def prepare(self, proxy: SharedProxy, source: str, owner: str) -> None:
        """Make the copy of a proxy for a source, with mode 0600, and give it to the job's owner.

        Where this process is not root it stays ours, and that is reported. Raises FilesRefused.
        """
        data = self._read(proxy.file)
        _refuse_others(proxy.copy)
        account = self._accounts(owner)
        if account is None and is_root():
            message = f"there is no account {owner!r} on this machine to give a copy of {proxy.file} to"
            raise FilesRefused(fault("no-account", message, proxy.file))
        is_anothers = account is not None and account.uid != os.geteuid()
        if is_anothers and not is_root():
            message = f"{proxy.copy} stays with the router's account: only root can give it to {owner}"
            self._report(warning("proxy-owner", message, proxy.copy))
        found = self._made.find(proxy.copy)
        if found is None and os.path.lexists(proxy.copy):
            message = f"{proxy.copy} is there, and crondor has not made it"
            raise FilesRefused(fault("proxy-foreign", message, proxy.copy, "move it away"))
        self._made.add(source, proxy.copy, data)
        try:
            given = (account.uid, account.gid) if account is not None and is_anothers and is_root() else None
            write_file(proxy.copy, data, 0o600, given)
        except OSError as error:
            raise refused(proxy.copy, "cannot write", error) from error

    def remove(self, source: str) -> None:
        """Delete the copies that were made for a source. Raises FilesRefused."""
        for noted in self._made:
            if noted.key == source and not self._made.drop(noted.path):
                message = f"{noted.path} is not what the router has put there, and stays"
                self._report(warning("proxy-foreign", message, noted.path))

    def sweep(self, is_needed: Callable[[str], bool]) -> None:
        """Delete the copies that a process before this one has left, for sources that need them no more."""
        for source in {noted.key for noted in self._made}:
            if not is_needed(source):
                self.remove(source)

    def _read(self, path: str) -> bytes:
        _refuse_others(path)
        try:
            descriptor = os.open(path, _FILE)
        except (OSError, ValueError) as error:
            raise refused(path, "cannot read the shared proxy", error) from error
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            os.close(descriptor)
            raise FilesRefused(fault("spool-special", f"{path} is not a plain file", path))
        with os.fdopen(descriptor, "rb") as file:
            if state.st_uid != os.geteuid() and state.st_uid not in self._owners:
                message = f"{path} does not belong to the router's account: it is no proxy to share"
                raise FilesRefused(fault("proxy-denied", message, path, "change its owner to the router's"))
            try:
                data = file.read(_MOST + 1)
            except OSError as error:
                raise refused(path, "cannot read the shared proxy", error) from error
        if len(data) > _MOST:
            raise FilesRefused(fault("proxy-large", f"{path} has more than {_MOST:,} bytes: it is no proxy", path))
        return data


def _refuse_others(path: str) -> None:
    """Raise FilesRefused where root is to work in somebody's folder: a link could make any file of root's the proxy."""
    try:
        who = worker(path)
    except OSError as error:
        raise refused(path, "cannot look at", error) from error
    if who is not None:
        message = f"{path} lies in a folder of {who.name}'s: no proxy of root's is to be there"
        raise FilesRefused(fault("proxy-denied", message, path, "keep it where only root may write"))
