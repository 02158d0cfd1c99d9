"""A sandboxed copy's files: its input into the spool, its output back to where its source wants it.

HTCondor: submit_job, finalize_job.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue.disk import sync_folder
from crondor.job_queue.keys import JobId
from crondor.rights.accounts import Account, Accounts, account_of, is_root
from crondor.rights.acting import RightsRefused, as_account
from crondor.router.sandbox.faults import FilesRefused, Report, fault, ignored, refused, warning
from crondor.router.sandbox.listing import Listing, SandboxItem, SandboxLimits, expanded, inputs, outputs
from crondor.router.sandbox.reach import Opened, Reach, copy_bytes
from crondor.router.sandbox.rewriting import base, kept_apart, restored, text
from crondor.router.sandbox.spool import Known, Spool
from crondor.schedd.ads import owner_of

_DEFAULT = SandboxLimits()
_T = TypeVar("_T")


class Moved(NamedTuple):
    """What was moved: files and folders, and bytes."""

    files: int
    size: int


class Sandbox:
    """Moves files between a spool and the folders that are allowed.

    ``folders`` are those that users' files may be read from and written to, no others are touched. Where this process
    is root, it does so as the job's owner, as his account stands in ``accounts``; elsewhere it does what the operating
    system lets it do, and ``report`` is told.
    """

    def __init__(
        self,
        spool: Spool,
        folders: Iterable[str | Path],
        *,
        limits: SandboxLimits = _DEFAULT,
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Take them; nothing is opened."""
        self.spool = spool
        self._folders = tuple(str(each) for each in folders)
        self._limits = limits
        self._accounts = accounts
        self._report = report

    def prepared(self, copy: ClassAd, files: Iterable[str] = ()) -> dict[str, object]:
        """Return the edits to a copy before it is submitted: its list of input files, and its output kept apart.

        Looks at all input files first, so that nothing is submitted that cannot be spooled; ``files`` may be read
        although they are not in the folders that are allowed. Raises FilesRefused with all that is wrong.
        """
        reach = self._reach(copy, files)

        def looked() -> dict[str, object]:
            edits = kept_apart(copy)
            made = expanded(copy, reach)
            if made is not None:
                edits["TransferInput"] = made
            changed = copy.copy()
            for name, value in edits.items():
                changed.set(name, value)
            inputs(changed, reach, self._limits).check()
            return edits

        return _as(reach.who, looked)

    def spool_in(self, job: JobId, copy: ClassAd, files: Iterable[str] = ()) -> Moved:
        """Copy the input of a submitted copy into its sandbox, unless it is there; the ad may be rewritten already.

        Whatever ends it, the next call begins anew, until the sandbox is whole. Raises FilesRefused.
        """
        if self.spool.is_whole(job):
            return Moved(0, 0)
        ad = restored(copy)
        reach = self._reach(ad, files)
        listing = _as(reach.who, lambda: inputs(ad, reach, self._limits))
        listing.check()
        owner = self._owner(ad, str(self.spool.place(job)))
        part = self.spool.begin(job)
        proxy = base(text(ad, "x509userproxy") or "")
        known: dict[str, Known] = {}
        size = 0
        for item in listing.items:
            target = f"{part}/{item.target}"
            mode = 0o600 if item.target == proxy else item.mode | 0o400
            try:
                if item.is_folder:
                    os.makedirs(target, mode=0o700, exist_ok=True)  # noqa: PTH103 - its mode comes last
                    continue
                found = _filled(reach, item, target, mode, owner, self._limits.most_bytes - size)
            except (OSError, ValueError) as error:
                raise refused(item.source, "cannot spool", error) from error
            size += found.size
            known[item.target] = found
        try:
            _give(part, [item for item in listing.items if item.is_folder], owner)
        except OSError as error:
            raise refused(str(part), "cannot give away", error) from error
        self.spool.finish(job, known)
        for each in listing.warnings:
            self._report(each)
        return Moved(len(listing.items), size)

    def fetch_back(self, job: JobId, copy: ClassAd) -> Moved:
        """Copy the output of a copy to where the source wants it: its Iwd, or what TransferOutputRemaps say.

        All is copied beside its place first, and put there when everything is; then each file is old or new, never
        half of it. A link in the sandbox is followed within it only; one that is in the place of a file is replaced.
        It can be done again. Raises FilesRefused with all that is missing or not allowed.
        """
        ad = restored(copy)
        place = str(self.spool.place(job))
        if not self.spool.is_whole(job):
            raise FilesRefused(fault("sandbox-missing", f"the sandbox of {job} is not there", place))
        account = self._account(ad)
        uploaded = text(copy, "TransferOutputRemaps") or ""
        inside, outside, known = Reach([place], account), Reach(self._folders, account), self.spool.known(job)

        def fetched() -> tuple[Listing, int]:
            listing = outputs(ad, place, known, inside, self._limits, uploaded)
            listing.check()
            return listing, _Staging(job, inside, outside).put(listing.items)

        listing, size = _as(account, fetched)
        for found in listing.warnings:
            self._report(found)
        return Moved(len(listing.items), size)

    def remove(self, job: JobId) -> None:
        """Delete a copy's sandbox. Raises FilesRefused."""
        self.spool.remove(job)

    def _account(self, ad: ClassAd) -> Account | None:
        """Return whose files a job's are, None where nobody needs to ask. Raises FilesRefused."""
        if not is_root():
            return None
        owner = owner_of(ad)
        found = self._accounts(owner)
        if found is None:
            message = f"there is no account {owner!r} on this machine whose files could be moved"
            raise FilesRefused(fault("no-account", message))
        return found

    def _reach(self, ad: ClassAd, files: Iterable[str]) -> Reach:
        return Reach(self._folders, self._account(ad), files)

    def _owner(self, ad: ClassAd, place: str) -> tuple[int, int] | None:
        """Return whom to give a sandbox to, None where it stays ours."""
        account = self._accounts(owner_of(ad))
        if account is None or account.uid == os.geteuid():
            return None
        if is_root():
            return account.uid, account.gid
        message = f"the sandbox stays with the router's account: only root can give it to {account.name}"
        self._report(warning("sandbox-owner", message, place))
        return None


def _as(account: Account | None, deed: Callable[[], _T]) -> _T:
    """Do something as an account. Raises FilesRefused where this process cannot."""
    try:
        return as_account(account, deed)
    except RightsRefused as error:
        raise FilesRefused(error.diagnostics) from None


def _filled(reach: Reach, item: SandboxItem, target: str, mode: int, owner: tuple[int, int] | None, most: int) -> Known:
    """Copy a file into the spool, onto the disk. Raises OSError, ValueError and FilesRefused."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with reach.file(item.source) as opened:
        descriptor = os.open(target, flags, 0o600)
        try:
            copy_bytes(opened.descriptor, descriptor, most)
            if owner is not None:
                os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            state = os.fstat(descriptor)
        finally:
            os.close(descriptor)
    return Known(state.st_size, state.st_mtime_ns)


def _give(part: Path, folders: Sequence[SandboxItem], owner: tuple[int, int] | None) -> None:
    """Set the modes of the folders and give them away, the outermost last: until then nobody else can get in.

    Raises OSError.
    """
    for item in reversed(folders):
        os.chmod(f"{part}/{item.target}", item.mode | 0o700)  # noqa: PTH101 - paths are texts here
    for folder, _, _ in os.walk(part, topdown=False):
        if owner is not None:
            os.chown(folder, *owner)
        sync_folder(folder)


class _Staging:
    """Output on its way from a sandbox: copied beside its places, then put there; all of it as the job's owner."""

    def __init__(self, job: JobId, inside: Reach, outside: Reach) -> None:
        self._job = job
        self._inside = inside
        self._outside = outside

    def put(self, items: Sequence[SandboxItem]) -> int:
        """Copy all, then put each in its place; return the bytes. Raises FilesRefused, and then nothing is put."""
        staged: list[tuple[str, SandboxItem]] = []
        faults: list[Diagnostic] = []
        size = 0
        try:
            for number, item in enumerate(items):
                part = f".crondor-{self._job}-{number}"
                try:
                    if item.is_folder:
                        self._make_folder(item)
                    else:
                        size += self._stage(item, part)
                        staged.append((part, item))
                except FilesRefused as error:
                    faults += error.diagnostics
                except (OSError, ValueError) as error:
                    faults += refused(item.target, "cannot write", error, self._outside.who).diagnostics
            if faults:
                raise FilesRefused(faults)
            while staged:
                part, item = staged[0]
                self._rename(part, item)
                del staged[0]
        finally:
            for part, item in staged:
                self._drop(part, item)
        return size

    def _make_folder(self, item: SandboxItem) -> None:
        """Make a folder, unless it is there. Raises OSError and FilesRefused."""
        folder, name = _split(item.target)
        with self._outside.folder(folder) as opened, suppress(FileExistsError):
            os.mkdir(name, item.mode | 0o700, dir_fd=opened.descriptor)
            os.fsync(opened.descriptor)

    def _stage(self, item: SandboxItem, part: str) -> int:
        """Copy a file beside its place; return its bytes. Raises OSError and FilesRefused."""
        folder, name = _split(item.target)
        with self._outside.folder(folder) as where, self._inside.file(item.source) as opened:
            self._check(item, name, where)
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=where.descriptor)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            descriptor = os.open(part, flags, 0o600, dir_fd=where.descriptor)
            try:
                size = copy_bytes(opened.descriptor, descriptor, opened.state.st_size)
                os.fchmod(descriptor, item.mode | 0o400)
                os.fsync(descriptor)
            except BaseException:
                os.unlink(part, dir_fd=where.descriptor)
                raise
            finally:
                os.close(descriptor)
        return size

    def _check(self, item: SandboxItem, name: str, where: Opened) -> None:
        """Refuse to put a file in the place of a folder, or of what the owner may not replace."""
        try:
            state = os.stat(name, dir_fd=where.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return
        who = self._outside.who
        if stat.S_ISDIR(state.st_mode):
            raise FilesRefused(fault("spool-special", f"{item.target} is a folder", item.target))
        if who is not None and not who.may_replace(where.state, state):
            raise FilesRefused(fault("file-denied", f"{who.name} may not replace {item.target}", item.target))

    def _rename(self, part: str, item: SandboxItem) -> None:
        """Put a copied file in its place. Raises FilesRefused."""
        folder, name = _split(item.target)
        with self._outside.folder(folder) as where:
            try:
                os.rename(part, name, src_dir_fd=where.descriptor, dst_dir_fd=where.descriptor)
                os.fsync(where.descriptor)
            except OSError as error:
                raise refused(item.target, "cannot write", error, self._outside.who) from error

    def _drop(self, part: str, item: SandboxItem) -> None:
        with suppress(FilesRefused, OSError), self._outside.folder(_split(item.target)[0]) as where:
            os.unlink(part, dir_fd=where.descriptor)


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder or "/", name
