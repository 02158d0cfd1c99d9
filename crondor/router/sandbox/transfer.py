"""A sandboxed copy's files: spool its input, fetch its output to the source's folders.

HTCondor: submit_job, finalize_job.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue.history import sync_folder
from crondor.job_queue.records import JobId
from crondor.rights.replacing import RightsRefused, as_account
from crondor.rights.trust import Account, Accounts, account_of, is_root
from crondor.router.sandbox.reach import (
    NOWHERE,
    FilesRefused,
    Known,
    Opened,
    Reach,
    Report,
    Spool,
    base,
    copy_bytes,
    fault,
    ignored,
    is_false,
    is_true,
    is_url,
    kept_apart,
    listed,
    refused,
    restored,
    text,
    warning,
)
from crondor.router.table.route import EndlessRemaps, remapped
from crondor.schedd.protocol import edited
from crondor.schedd.reading import owner_of

_LINKS_SKIPPED: Final = "a link to a folder is not followed"


# HTCondor: FileTransfer::ExpandInputFileList.
@dataclass(frozen=True)
class SandboxLimits:
    """Limits of one sandbox: bytes, files and folders, and depth of nested folders."""

    most_bytes: int = 1 << 40
    most_files: int = 100_000
    deepest: int = 64


class SandboxItem(NamedTuple):
    """A file or folder to copy: source, target, and permissions."""

    source: str
    target: str
    mode: int
    is_folder: bool


@dataclass
class Listing:
    """The items to copy, folders before their contents, with faults and skipped items."""

    limits: SandboxLimits
    is_output: bool = False
    items: list[SandboxItem] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    _bytes: int = 0

    def add(self, item: SandboxItem, size: int = 0) -> None:
        """Add a file with its size in bytes, or a folder. Raises FilesRefused beyond a limit."""
        self.items.append(item)
        self._bytes += size
        if len(self.items) > self.limits.most_files:
            message = f"a sandbox may hold no more than {self.limits.most_files:,} files"
            raise FilesRefused(fault("sandbox-large", message, item.source))
        if self._bytes > self.limits.most_bytes:
            message = f"a sandbox may hold no more than {self.limits.most_bytes:,} bytes"
            raise FilesRefused(fault("sandbox-large", message, item.source))

    def check(self) -> None:
        """Raise FilesRefused with all faults, if there are any."""
        if self.faults:
            raise FilesRefused(self.faults)

    def tree(self, reach: Reach, path: str, target: str, depth: int = 0) -> None:
        """Add a file, or a folder with its contents. Raises FilesRefused."""
        state = reach.state(path)
        if stat.S_ISREG(state.st_mode):
            with reach.file(path):
                pass
            self.add(SandboxItem(path, target, stat.S_IMODE(state.st_mode) & 0o777, is_folder=False), state.st_size)
        elif stat.S_ISDIR(state.st_mode):
            self.add(SandboxItem(path, target, stat.S_IMODE(state.st_mode) & 0o777, is_folder=True))
            self.inside(reach, path, f"{target}/", depth)
        elif stat.S_ISFIFO(state.st_mode) or stat.S_ISSOCK(state.st_mode):
            self.warnings.append(warning("spool-special", f"{path} is a pipe or a socket, and is not copied", path))
        else:
            raise FilesRefused(fault("spool-special", f"{path} is neither a plain file nor a folder", path))

    def inside(self, reach: Reach, path: str, prefix: str, depth: int = 0) -> None:
        """Add the contents of a folder. Raises FilesRefused."""
        if depth > self.limits.deepest:
            message = f"folders may be nested no more than {self.limits.deepest} deep"
            raise FilesRefused(fault("sandbox-deep", message, path))
        for name in names(reach, path):
            below = f"{path.rstrip('/')}/{name}"
            if os.path.islink(below) and os.path.isdir(below):  # noqa: PTH112, PTH114 - what is there is checked later
                self.warnings.append(warning("file-link", f"{below}: {_LINKS_SKIPPED}", below))
                continue
            try:
                self.tree(reach, below, f"{prefix}{name}", depth + 1)
            except FilesRefused as error:
                if any(each.kind.startswith("sandbox-") for each in error.diagnostics):
                    raise
                if self.is_output and os.path.islink(below):  # noqa: PTH114 - as above
                    self.skip_link(below)
                else:
                    self.faults += error.diagnostics

    def skip_link(self, path: str) -> None:
        """Record that a link in the output is not followed."""
        self.warnings.append(warning("file-link", f"{path}: a link out of the sandbox is not followed", path))


def names(reach: Reach, path: str) -> list[str]:
    """Return the names in a folder, in order. Raises FilesRefused."""
    with reach.folder(path) as opened:
        return sorted(os.listdir(opened.descriptor))  # noqa: PTH208 - a folder that is open


def expanded(ad: ClassAd, reach: Reach) -> str | None:
    """Return TransferInput with each folder that ends with a slash replaced by its contents; None: unchanged.

    The schedd can then name the spooled files without looking (HTCondor's ``ExpandInputFileList``). Raises FilesRefused
    with all unreadable folders.
    """
    given = text(ad, "TransferInput")
    entries = listed(given)
    found: list[str] = []
    faults: list[Diagnostic] = []
    for entry in entries:
        if is_url(entry) or not entry.endswith("/"):
            found.append(entry)
            continue
        try:
            found += [f"{entry}{name}" for name in names(reach, _full(ad, entry))]
        except FilesRefused as error:
            faults += error.diagnostics
    commas = [entry for entry in found if "," in entry]
    faults += [fault("file-comma", f"{each}: a listed file name cannot contain a comma", each) for each in commas]
    if faults:
        raise FilesRefused(faults)
    return None if given is None or found == entries else ",".join(found)


def input_entries(ad: ClassAd) -> list[str]:
    """Return a job's input files as named in its ad, without duplicates and without files that its site fetches."""
    entries = [*listed(text(ad, "TransferInput")), *listed(text(ad, "PublicInputFiles"))]
    if not is_false(ad, "TransferIn"):
        entries.append(text(ad, "In") or "")
    entries += [text(ad, "DataReuseManifestSHA256") or "", text(ad, "x509userproxy") or ""]
    if not is_false(ad, "TransferExecutable"):
        entries.append(text(ad, "Cmd") or "")
    return list(dict.fromkeys(each for each in entries if each not in NOWHERE and not is_url(each)))


def inputs(ad: ClassAd, reach: Reach, limits: SandboxLimits) -> Listing:
    """Return the input of a job whose ad is not rewritten yet. Raises FilesRefused beyond a limit.

    Of two files of the same name the later one is used, as in HTCondor, with a warning.
    """
    listing = Listing(limits)
    keeps = is_true(ad, "PreserveRelativePaths")
    seen: dict[str, str] = {}
    for entry in input_entries(ad):
        path = _full(ad, entry)
        name = entry if keeps and not entry.startswith("/") else base(entry)
        if not is_legal(name):
            listing.faults.append(fault("spool-outside", f"{entry} has no valid name in a sandbox", entry))
            continue
        if seen.setdefault(name, path) != path:
            message = f"{seen[name]} and {path} are both {name} in the sandbox: the latter is used"
            listing.warnings.append(warning("sandbox-twice", message, path, "rename one of them"))
        for folder in _parents(name):
            listing.add(SandboxItem("", folder, 0o700, is_folder=True))
        try:
            listing.tree(reach, path, name)
        except FilesRefused as error:
            if any(each.kind.startswith("sandbox-") for each in error.diagnostics):
                raise
            listing.faults += error.diagnostics
    return listing


def outputs(
    ad: ClassAd, place: str, known: dict[str, Known], reach: Reach, limits: SandboxLimits, uploaded: str = ""
) -> Listing:
    """Return the files of a sandbox to fetch, with their targets; the ad is as it was before spooling.

    The files are those in SpooledOutputFiles or else TransferOutput, plus the job's output and errors; a job with
    neither attribute has all new or changed files fetched. ``uploaded`` are the remaps with which the site has sent
    files elsewhere; those files are not here. Raises FilesRefused beyond a limit.
    """
    listing = Listing(limits, is_output=True)
    chosen = text(ad, "SpooledOutputFiles")
    chosen = text(ad, "TransferOutput") if chosen is None else chosen
    streams = _streams(ad)
    if chosen is None:
        wanted = _changed(ad, place, known, reach, listing)
        lost = [each for each in streams if not os.path.lexists(f"{place}/{each}")]
        listing.warnings += [warning("output-missing", f"{each} is not in the sandbox", each) for each in lost]
    else:
        wanted = [each for each in dict.fromkeys([*listed(chosen), *streams]) if not _is_uploaded(each, uploaded)]
    rules, iwd = text(ad, "TransferOutputRemaps") or "", text(ad, "Iwd") or ""
    for name in wanted:
        found = _output(name, place, reach, limits)
        listing.faults += found.faults
        listing.warnings += found.warnings
        for item in found.items:
            target = _target(item.target, rules, iwd, listing)
            if target is not None:
                size = 0 if item.is_folder else os.lstat(item.source).st_size
                listing.add(item._replace(target=target), size)
    return listing


def _streams(ad: ClassAd) -> list[str]:
    """Return the job's output and error files that are not streamed."""
    named = [
        text(ad, name) for name, streamed in (("Out", "StreamOut"), ("Err", "StreamErr")) if not is_true(ad, streamed)
    ]
    return [name for name in named if name is not None and name not in NOWHERE]


def _output(name: str, place: str, reach: Reach, limits: SandboxLimits) -> Listing:
    """Return a file or folder of a sandbox by its name in the ad; a fault excludes it completely."""
    listing = Listing(limits, is_output=True)
    entry = name if os.path.lexists(f"{place}/{name}") else base(name)
    if not is_legal(entry):
        listing.faults.append(fault("spool-outside", f"{name} is not a valid file name in a sandbox", name))
    elif not os.path.lexists(f"{place}/{entry}"):
        message = f"{name} is not in the sandbox: the job did not create it"
        listing.faults.append(fault("output-missing", message, name))
    else:
        try:
            listing.tree(reach, f"{place}/{entry}", base(entry))
        except FilesRefused as error:
            return Listing(limits, faults=list(error.diagnostics))
    return listing


def _is_uploaded(name: str, rules: str) -> bool:
    try:
        return is_url(name) or is_url(remapped(rules, name) or "")
    except EndlessRemaps:
        return False


def _changed(ad: ClassAd, place: str, known: dict[str, Known], reach: Reach, listing: Listing) -> list[str]:
    """Return the top-level files of a sandbox that the job has created or changed."""
    own = {base(text(ad, name) or "") for name in ("Cmd", "x509userproxy")}
    found = []
    for name in names(reach, place):
        if name in own:
            continue
        path = f"{place}/{name}"
        state = os.lstat(path)
        if stat.S_ISLNK(state.st_mode):
            try:
                state = reach.state(path)
            except FilesRefused:
                listing.skip_link(path)
                continue
        if stat.S_ISREG(state.st_mode) and known.get(name) != Known(state.st_size, state.st_mtime_ns):
            found.append(name)
    return found


def _target(name: str, rules: str, iwd: str, listing: Listing) -> str | None:
    try:
        found = remapped(rules, name)
    except EndlessRemaps:
        listing.faults.append(fault("endless-remaps", f"TransferOutputRemaps has an endless chain from {name}", name))
        return None
    place = name if found is None else found
    if is_url(place):
        return None
    if place.endswith("/"):
        place += base(name)
    if base(place) in (".", "..") or not (iwd or place.startswith("/")):
        listing.faults.append(fault("spool-outside", f"{name} would go to {place}, which is not a file name", name))
        return None
    return place if place.startswith("/") else f"{iwd}/{place}"


def _parents(name: str) -> Iterator[str]:
    pieces = name.split("/")[:-1]
    for number in range(len(pieces)):
        yield "/".join(pieces[: number + 1])


def is_legal(name: str) -> bool:
    """Return whether a name is valid in a sandbox, and does not lead out of it."""
    pieces = name.split("/")
    return all(piece not in ("", ".", "..") and "\0" not in piece for piece in pieces)


def _full(ad: ClassAd, path: str) -> str:
    return path if path.startswith("/") else f"{text(ad, 'Iwd') or '.'}/{path}"


_DEFAULT = SandboxLimits()
_T = TypeVar("_T")


class Moved(NamedTuple):
    """The number of files and folders moved, and the bytes."""

    files: int
    size: int


class Sandbox:
    """Moves files between a spool and the allowed folders.

    ``folders`` are the only folders where users' files are read and written. As root, this process does so as the job's
    owner, looked up in ``accounts``; otherwise with its own rights, and ``report`` gets a note.
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
        """Store the arguments; open nothing."""
        self.spool = spool
        self._folders = tuple(str(each) for each in folders)
        self._limits = limits
        self._accounts = accounts
        self._report = report

    def prepared(self, copy: ClassAd, files: Iterable[str] = ()) -> dict[str, object]:
        """Return the edits to a copy before it is submitted: its list of input files, and its output names.

        All input files are checked first, so that no copy is submitted that cannot be spooled; ``files`` may be read
        although they are outside the allowed folders. Raises FilesRefused with all faults.
        """
        reach = self._reach(copy, files)

        def looked() -> dict[str, object]:
            edits = kept_apart(copy)
            made = expanded(copy, reach)
            if made is not None:
                edits["TransferInput"] = made
            inputs(edited(copy, edits), reach, self._limits).check()
            return edits

        return _as(reach.who, looked)

    def spool_in(self, job: JobId, copy: ClassAd, files: Iterable[str] = ()) -> Moved:
        """Copy the input of a submitted copy into its sandbox, unless it is complete; its ad may be rewritten already.

        After an interruption, the next call starts again. Raises FilesRefused.
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
        """Copy the output of a copy to the source's Iwd, or to the targets in TransferOutputRemaps.

        Everything is first copied next to its target, then renamed, so that each file is old or new, never partial. A
        link in the sandbox is followed only within it; a link at a target is replaced. May be repeated. Raises
        FilesRefused with all missing and forbidden files.
        """
        ad = restored(copy)
        place = str(self.spool.place(job))
        if not self.spool.is_whole(job):
            raise FilesRefused(fault("sandbox-missing", f"the sandbox of {job} is missing", place))
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
        """Return the account of a job's files; None if it does not matter. Raises FilesRefused."""
        if not is_root():
            return None
        owner = owner_of(ad)
        found = self._accounts(owner)
        if found is None:
            message = f"this machine has no account {owner!r} whose files could be moved"
            raise FilesRefused(fault("no-account", message))
        return found

    def _reach(self, ad: ClassAd, files: Iterable[str]) -> Reach:
        return Reach(self._folders, self._account(ad), files)

    def _owner(self, ad: ClassAd, place: str) -> tuple[int, int] | None:
        """Return the owner to give a sandbox to; None if it stays ours."""
        account = self._accounts(owner_of(ad))
        if account is None or account.uid == os.geteuid():
            return None
        if is_root():
            return account.uid, account.gid
        message = f"the sandbox keeps the router's account as owner: only root can give it to {account.name}"
        self._report(warning("sandbox-owner", message, place))
        return None


def _as(account: Account | None, deed: Callable[[], _T]) -> _T:
    """Call a function as an account. Raises FilesRefused if this process cannot."""
    try:
        return as_account(account, deed)
    except RightsRefused as error:
        raise FilesRefused(error.diagnostics) from None


def _filled(reach: Reach, item: SandboxItem, target: str, mode: int, owner: tuple[int, int] | None, most: int) -> Known:
    """Copy a file into the spool and sync it. Raises OSError, ValueError and FilesRefused."""
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
    """Set the folders' modes and give them away, outermost last: until then nobody else enters. Raises OSError."""
    for item in reversed(folders):
        os.chmod(f"{part}/{item.target}", item.mode | 0o700)  # noqa: PTH101 - paths are texts here
    for folder, _, _ in os.walk(part, topdown=False):
        if owner is not None:
            os.chown(folder, *owner)
        sync_folder(folder)


class _Staging:
    """Output files of a sandbox, copied next to their targets, then renamed; all as the job's owner."""

    def __init__(self, job: JobId, inside: Reach, outside: Reach) -> None:
        self._job = job
        self._inside = inside
        self._outside = outside

    def put(self, items: Sequence[SandboxItem]) -> int:
        """Copy all items, then move them into place; return the bytes. Raises FilesRefused, with nothing moved."""
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
                folder, name = _split(item.target)
                with self._outside.folder(folder) as where:
                    try:
                        os.rename(part, name, src_dir_fd=where.descriptor, dst_dir_fd=where.descriptor)
                        os.fsync(where.descriptor)
                    except OSError as error:
                        raise refused(item.target, "cannot write", error, self._outside.who) from error
                del staged[0]
        finally:
            for part, item in staged:
                self._drop(part, item)
        return size

    def _make_folder(self, item: SandboxItem) -> None:
        """Create a folder if it is missing. Raises OSError and FilesRefused."""
        folder, name = _split(item.target)
        with self._outside.folder(folder) as opened, suppress(FileExistsError):
            os.mkdir(name, item.mode | 0o700, dir_fd=opened.descriptor)
            os.fsync(opened.descriptor)

    def _stage(self, item: SandboxItem, part: str) -> int:
        """Copy a file next to its target; return its bytes. Raises OSError and FilesRefused."""
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
        """Refuse to replace a folder, or a file that the owner may not replace."""
        try:
            state = os.stat(name, dir_fd=where.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return
        who = self._outside.who
        if stat.S_ISDIR(state.st_mode):
            raise FilesRefused(fault("spool-special", f"{item.target} is a folder", item.target))
        if who is not None and not who.may_replace(where.state, state):
            raise FilesRefused(fault("file-denied", f"{who.name} may not replace {item.target}", item.target))

    def _drop(self, part: str, item: SandboxItem) -> None:
        with suppress(FilesRefused, OSError), self._outside.folder(_split(item.target)[0]) as where:
            os.unlink(part, dir_fd=where.descriptor)


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder or "/", name
