"""Open files only below allowed folders, as an account; record, spool and rewrite files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

from crondor.classad import Expression, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.job import attributes
from crondor.job_queue.history import sync_folder
from crondor.job_queue.records import JobId
from crondor.rights.replacing import as_account
from crondor.rights.trust import Account, Untrusted, check, is_root, make_folder, stranger
from crondor.rights.walk import APPENDING, append, folder_of, is_there, open_file, open_plain, open_real

Report: TypeAlias = Callable[[Diagnostic], None]
"""Receives findings that do not stop the work."""


class FilesRefused(CrondorError, RuntimeError):
    """Files that could not be moved, with all faults."""


def fault(code: str, message: str, path: str = "", help: str | None = None) -> Diagnostic:
    """Return an error about a file."""
    return Diagnostic(code, message, span=Source("", path).span() if path else None, help=help)


def warning(code: str, message: str, path: str = "", help: str | None = None) -> Diagnostic:
    """Return a warning about a file."""
    return Diagnostic(code, message, Severity.WARNING, Source("", path).span() if path else None, help)


def refused(path: str, doing: str, error: OSError | ValueError, who: Account | None = None) -> FilesRefused:
    """Return an error for an operation that the system refused, to ``who`` if it was done as an account."""
    if isinstance(error, CrondorError):
        return FilesRefused(error.diagnostics)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, PermissionError) and who is not None:
        message, hint = f"{doing} {path} as {who.name}: {reason}", "change its owner or its mode, or that of its folder"
        return FilesRefused(fault("file-denied", message, path, hint))
    return FilesRefused(fault("file-io", f"{doing} {path}: {reason}", path))


def ignored(_found: Diagnostic) -> None:
    """Report nothing."""


_FOLDER: Final = os.O_RDONLY | sum(getattr(os, each, 0) for each in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"))
CHUNK: Final = 1 << 20
PART: Final = ".crondor-part"

_T = TypeVar("_T")


class Opened(NamedTuple):
    """An open file and its state when it was opened."""

    descriptor: int
    state: os.stat_result


class Reach:
    """The files that may be opened: those in some folders or below that their account may open.

    ``who`` None: anything this process may open; otherwise files are opened as that account. Links are resolved first,
    and the resulting path is walked without following links, so that no link, even a new one, leads out. ``files`` are
    single files allowed in addition. Opening never waits for a pipe or device.
    """

    def __init__(self, roots: Iterable[str], who: Account | None = None, files: Iterable[str] = ()) -> None:
        """Resolve the folders; open nothing."""
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._files = frozenset(os.path.realpath(file) for file in files)
        self.who = who

    def real(self, path: str, *, is_there: bool = True) -> str:
        """Return a path with all links resolved; with ``is_there`` it must exist.

        Raises FilesRefused if it is outside, or does not exist.
        """
        try:
            real = as_account(self.who, lambda: os.path.realpath(path, strict=is_there))
        except FileNotFoundError as error:
            raise FilesRefused(fault("spool-missing", f"cannot open {path}: {error.strerror}", path)) from None
        except (OSError, ValueError) as error:
            raise refused(path, "cannot open", error, self.who) from None
        if real not in self._files and not any(
            real == root or real.startswith(root.rstrip("/") + "/") for root in self._roots
        ):
            message = f"{path} is outside the folders whose files may be moved"
            raise FilesRefused(fault("spool-outside", message, path, "allow its folder"))
        return real

    @contextmanager
    def file(self, path: str) -> Iterator[Opened]:
        """Open a plain file for reading. Raises FilesRefused."""
        real = self.real(path)
        descriptor = self._done(path, "cannot read", lambda: open_file(real, os.O_RDONLY))
        try:
            yield Opened(descriptor, os.fstat(descriptor))
        finally:
            os.close(descriptor)

    @contextmanager
    def folder(self, path: str) -> Iterator[Opened]:
        """Open a folder, to list it or to write in it. Raises FilesRefused."""
        real = self.real(path)

        def opened() -> int:
            with folder_of(real) as (parent, name):
                return os.open(name, _FOLDER, dir_fd=parent)

        descriptor = self._done(path, "cannot open", opened)
        try:
            yield Opened(descriptor, os.fstat(descriptor))
        finally:
            os.close(descriptor)

    def state(self, path: str) -> os.stat_result:
        """Return the status of the file at a path. Raises FilesRefused."""
        real = self.real(path)

        def looked() -> os.stat_result:
            with folder_of(real) as (parent, name):
                return os.stat(name, dir_fd=parent, follow_symlinks=False)

        return self._done(path, "cannot look at", looked)

    def append(self, path: str, data: bytes, mode: int) -> None:
        """Append to a plain file, creating it if it is missing. Raises FilesRefused."""
        real = self.real(path, is_there=False)
        self._done(path, "cannot write", lambda: append(open_real(real, APPENDING, mode), data, path))

    def _done(self, path: str, doing: str, deed: Callable[[], _T]) -> _T:
        """Call a function as the account. Raises FilesRefused."""
        try:
            return as_account(self.who, deed)
        except OSError as error:
            raise refused(path, doing, error, self.who) from None


def copy_bytes(source: int, target: int, most: int) -> int:
    """Copy an open file to another, and return the size. Raises ValueError beyond ``most``, and OSError."""
    done = 0
    while chunk := os.read(source, CHUNK):
        done += len(chunk)
        if done > most:
            message = f"more than {most} bytes"
            raise ValueError(message)
        _write_all(target, chunk)
    return done


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_file(path: str, data: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Replace a file at once, with its mode and owner; it is on disk when this returns. Raises OSError."""
    part = path + PART
    with suppress(FileNotFoundError):
        os.unlink(part)  # noqa: PTH108 - of a process that ended; paths are texts here
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        try:
            _write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            if owner is not None:
                os.fchown(descriptor, *owner)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(part, path)  # noqa: PTH105
    except BaseException:
        os.unlink(part)  # noqa: PTH108
        raise
    sync_folder(os.path.dirname(path) or ".")  # noqa: PTH120


_MOST_MADE: Final = 16 << 20


class Noted(NamedTuple):
    """A file that was created: its key, its path, and the hashes of its contents (SHA-256), last and previous."""

    key: str
    path: str
    digests: tuple[str, ...]


class Made:
    """A list of created files, in a file. A path is added before its file is created.

    A file is deleted only if it still has the recorded contents: a file changed since is left alone.
    """

    def __init__(self, note: Path | str) -> None:
        """Read the list, if there is one; an unreadable list counts as empty.

        Raises Untrusted for a list that another user could have written, since listed files are deleted.
        """
        self._note = str(note)
        self._noted: dict[str, Noted] = {}
        try:
            check(note)
            with os.fdopen(open_plain(note), "rb") as file:
                for key, path, digests in json.loads(file.read(_MOST_MADE)):
                    self._noted[str(path)] = Noted(str(key), str(path), tuple(map(str, digests)))
        except (OSError, ValueError, TypeError):
            self._noted = {}

    def __iter__(self) -> Iterator[Noted]:
        return iter(list(self._noted.values()))

    def find(self, path: str) -> Noted | None:
        """Return the record of a path."""
        return self._noted.get(path)

    def add(self, key: str, path: str, data: bytes) -> None:
        """Record the contents that a file will get. Raises FilesRefused."""
        before = self._noted.get(path)
        kept = () if before is None else before.digests[-1:]
        self._noted[path] = Noted(key, path, (*kept, hashlib.sha256(data).hexdigest()))
        self._write()

    def drop(self, path: str) -> bool:
        """Delete a created file and its record; return whether it is gone. Raises FilesRefused."""
        noted = self._noted.get(path)
        if noted is None:
            return False
        try:
            is_gone = as_account(worker(path), lambda: _deleted(path, noted.digests))
        except OSError as error:
            raise refused(path, "cannot delete", error) from error
        del self._noted[path]
        self._write()
        return is_gone

    def _write(self) -> None:
        try:
            make_folder(os.path.dirname(self._note) or ".")  # noqa: PTH120 - a text
            write_file(self._note, json.dumps(list(self._noted.values())).encode())
        except OSError as error:
            raise refused(self._note, "cannot write", error) from error


def worker(path: str) -> Account | None:
    """Return the account to create or delete a file as; None: this process, since nobody else can change the folder.

    In another user's folder, that user could redirect an operation of root. Raises FilesRefused and OSError.
    """
    try:
        return stranger(os.path.dirname(path) or ".") if is_root() else None  # noqa: PTH120 - a text
    except Untrusted as error:
        raise FilesRefused(error.diagnostics) from None


def _deleted(path: str, digests: Collection[str]) -> bool:
    """Delete a file if it has a recorded content, and return whether the path is free. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path + PART)  # noqa: PTH108 - a text
    found = _digest_of(path)
    if found in digests:
        os.unlink(path)  # noqa: PTH108 - a text
        found = None
    return found is None


def _digest_of(path: str) -> str | None:
    """Return the hash of a file; None if it is missing, empty if it is not a plain file. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        if os.path.islink(path):  # noqa: PTH114 - a text
            return ""
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        found = hashlib.sha256()
        while chunk := os.read(descriptor, CHUNK):
            found.update(chunk)
        return found.hexdigest()
    finally:
        os.close(descriptor)


_BUCKETS: Final = 10_000
_NOTE: Final = ".crondor"
_NOTED: Final = re.compile(
    r"cluster([1-9][0-9]{0,9})\.proc(0|[1-9][0-9]{0,9})\.subproc0\.crondor(\.crondor-part)?"
).fullmatch
_MOST_SPOOLED: Final = 64 << 20


# HTCondor: SpooledJobFiles::getJobSpoolPath.
class Known(NamedTuple):
    """A file of an input sandbox as spooled: its size in bytes, and its time of modification (ns since 1970)."""

    size: int
    time: int


class Spool:
    """The sandboxes below a folder, each at ``<cluster mod 10000>/<proc mod 10000>/cluster<c>.proc<p>.subproc0``.

    A sandbox is filled at ``<place>.tmp`` and renamed when complete, so that an existing sandbox is always complete. A
    note next to it, ``<place>.crondor``, is written first and deleted last: nothing without a note is ever deleted.
    """

    def __init__(self, folder: Path | str) -> None:
        """Take the folder, which is created with the first sandbox."""
        self._given = folder
        self.folder = Path(os.path.realpath(folder))

    def place(self, job: JobId) -> Path:
        """Return the path of a copy's sandbox."""
        buckets = self.folder / str(job.cluster % _BUCKETS) / str(job.proc % _BUCKETS)
        return buckets / f"cluster{job.cluster}.proc{job.proc}.subproc0"

    def begin(self, job: JobId) -> Path:
        """Return an empty folder to fill, and delete an earlier incomplete one. Raises FilesRefused."""
        place = self.place(job)
        part = _sibling(place, ".tmp")
        try:
            self._check(place)
            make_folder(place.parent, 0o755)
            if is_there(place) and not is_there(self._note(job)):
                message = f"{place} exists, but crondor did not create it"
                raise FilesRefused(fault("spool-foreign", message, str(place), "give the router a spool of its own"))
            write_file(str(self._note(job)), b"{}")
            _remove(part)
            part.mkdir(mode=0o700)
        except OSError as error:
            raise refused(str(part), "cannot make", error) from error
        return part

    def finish(self, job: JobId, files: Mapping[str, Known]) -> None:
        """Move a filled folder, which is on disk, into place, and note its files. Raises FilesRefused."""
        place = self.place(job)
        part = _sibling(place, ".tmp")
        try:
            write_file(str(self._note(job)), json.dumps({"files": files}).encode())
            _remove(place)
            part.rename(place)
            sync_folder(str(place.parent))
        except OSError as error:
            raise refused(str(place), "cannot put the sandbox at", error) from error

    def is_whole(self, job: JobId) -> bool:
        """Return whether a copy's input is complete. Raises FilesRefused."""
        try:
            self._check(self.place(job))
        except OSError:
            return False
        return self.place(job).is_dir() and self._files(job) is not None

    def known(self, job: JobId) -> dict[str, Known]:
        """Return the input files of a sandbox as spooled, by name."""
        return self._files(job) or {}

    def remove(self, job: JobId) -> None:
        """Delete a sandbox of ours; a missing one is no error. Raises FilesRefused."""
        place, note = self.place(job), self._note(job)
        try:
            self._check(place)
            _sibling(note, PART).unlink(missing_ok=True)
            if not is_there(note):
                return
            _remove(_sibling(place, ".tmp"))
            _remove(place)
            note.unlink(missing_ok=True)
            with suppress(OSError):  # the folder has other sandboxes
                place.parent.rmdir()
                place.parent.parent.rmdir()
        except OSError as error:
            raise refused(str(place), "cannot delete", error) from error

    def jobs(self) -> Iterator[JobId]:
        """Yield the copies that have a sandbox of ours, complete or not."""
        for note in self.folder.glob(f"*/*/*{_NOTE}*"):
            found = _NOTED(note.name)
            job = None if found is None else JobId(int(found[1]), int(found[2]))
            if job is not None and self._note(job).parent == note.parent:
                yield job

    def sweep(self, is_needed: Callable[[JobId], bool]) -> list[JobId]:
        """Delete the sandboxes of copies that have left their queue, and return those copies.

        Raises FilesRefused with those that cannot be deleted, after deleting the others.
        """
        gone = [job for job in sorted(self.jobs()) if not is_needed(job)]
        faults = [found for job in gone for found in self._tried(job)]
        if faults:
            raise FilesRefused(faults)
        return gone

    def _tried(self, job: JobId) -> tuple[Diagnostic, ...]:
        try:
            self.remove(job)
        except FilesRefused as error:
            return error.diagnostics
        return ()

    def _check(self, place: Path) -> None:
        """Raise FilesRefused if another user could put a sandbox, note or link there. Raises OSError."""
        try:
            check(self._given)
            check(place.parent)
        except Untrusted as error:
            raise FilesRefused(error.diagnostics) from None

    def _note(self, job: JobId) -> Path:
        return _sibling(self.place(job), _NOTE)

    def _files(self, job: JobId) -> dict[str, Known] | None:
        """Return the files listed in a note; None: the sandbox is incomplete, or the note unreadable."""
        try:
            with os.fdopen(open_plain(self._note(job)), "rb") as file:
                said = json.loads(file.read(_MOST_SPOOLED))
            return {str(name): Known(int(size), int(time)) for name, (size, time) in said["files"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def _sibling(place: Path, end: str) -> Path:
    return place.with_name(place.name + end)


def _remove(path: Path) -> None:
    """Delete a folder with its contents, following no link; a missing one is no error. Raises OSError."""
    if path.is_symlink():
        path.unlink()
    elif is_there(path):
        shutil.rmtree(path)


PREFIX: Final = "SUBMIT_"
MARK: Final = "SUBMIT_Iwd"
"""The attribute that marks a rewritten job."""

STDOUT: Final = "_condor_stdout"
STDERR: Final = "_condor_stderr"
NOWHERE: Final = ("", "/dev/null")
UNDEFINED: Final = Expression("undefined")
_REMAPS: Final = "TransferOutputRemaps"
_NAMES: Final = (
    ("Cmd", "TransferExecutable"),
    ("In", "TransferIn"),
    ("TransferInput", ""),
    ("UserLog", ""),
    ("x509userproxy", ""),
    ("DataReuseManifestSHA256", ""),
)


# As the schedd of HTCondor 25.14 (``rewriteSpooledJobAd``): the job then runs in its spool folder, its files are named
# without folders, and the earlier values are stored as SUBMIT_...
def text(ad: ClassAd, name: str) -> str | None:
    """Return an attribute's value if it is a string."""
    return attributes.string(ad, name)


def is_true(ad: ClassAd, name: str) -> bool:
    """Return whether an attribute is present and true."""
    return attributes.boolean(ad, name) is True


def is_false(ad: ClassAd, name: str) -> bool:
    """Return whether an attribute is present and false."""
    return attributes.boolean(ad, name) is False


def is_url(path: str) -> bool:
    """Return whether an entry of a list of files is fetched at the site, not from here."""
    scheme, found, _ = path.partition("://")
    return bool(found) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def listed(value: str | None) -> list[str]:
    """Return the entries of a list of files."""
    return [] if value is None else [stripped for each in value.split(",") if (stripped := each.strip())]


def base(path: str) -> str:
    """Return the last part of a path, empty if it ends with a slash."""
    return path.rpartition("/")[2]


def kept_apart(ad: ClassAd) -> dict[str, object]:
    """Return the edits that leave a copy's output and errors in its sandbox until they are fetched.

    condor_submit -spool makes the same edits; HTCondor's router does not, so a copy with an Out in another folder
    writes there while it runs, or fails.
    """
    edits: dict[str, object] = {}
    remaps = text(ad, _REMAPS) or ""
    places: dict[str, str] = {}
    for name, stream, working in (("Out", "StreamOut", STDOUT), ("Err", "StreamErr", STDERR)):
        place = text(ad, name)
        if place is None or place in NOWHERE or "/" not in place or is_true(ad, stream):
            continue
        if place not in places:
            places[place] = working
            escaped = place.replace(";", "\\;")
            remaps = ";".join(filter(None, (remaps.rstrip("; "), f"{working}={escaped}")))
        edits[name] = places[place]
    if places:
        edits[_REMAPS] = remaps
    return edits


def rewritten(ad: ClassAd, place: str) -> dict[str, object]:
    """Return the edits that make a job run in its spool folder; none if they were made already."""
    if MARK in ad:
        return {}
    iwd = text(ad, "Iwd")
    edits: dict[str, object] = {MARK: UNDEFINED if iwd is None else iwd, "Iwd": place}
    edits |= dict(_remaps(ad))
    for name, transfers in _NAMES:
        before = text(ad, name)
        if before is None or before in NOWHERE or (transfers and is_false(ad, transfers)):
            continue
        after = ",".join(_in_sandbox(ad, before)) if name == "TransferInput" else base(before)
        if after != before:
            edits[PREFIX + name] = before
            edits[name] = after
    return edits


def _remaps(ad: ClassAd) -> Iterator[tuple[str, object]]:
    """Yield the edits to the remaps: those to URLs are for the site, the others wait for the output."""
    saved, left = PREFIX + _REMAPS, ""
    if _REMAPS in ad:
        rules = text(ad, _REMAPS)
        if rules is None:
            yield saved, ad[_REMAPS]
        else:
            each = [rule.strip() for rule in rules.split(";") if rule.strip()]
            left = ";".join(rule for rule in each if is_url(rule.partition("=")[2].strip()))
            yield saved, ";".join(rule for rule in each if not is_url(rule.partition("=")[2].strip()))
    elif saved in ad:
        yield saved, UNDEFINED
    yield _REMAPS, left or UNDEFINED


def _in_sandbox(ad: ClassAd, files: str) -> Iterator[str]:
    keeps = is_true(ad, "PreserveRelativePaths")
    for path in listed(files):
        yield path if is_url(path) or (keeps and not path.startswith("/")) else base(path)


def fresh(ad: ClassAd) -> ClassAd:
    """Return a copy's ad without attributes left from spooling its source, which would misdirect its own files."""
    made = ad.copy()
    for name in list(ad):
        if lower(name).startswith(lower(PREFIX)):
            made.prune(name)
    return made


def restored(ad: ClassAd) -> ClassAd:
    """Return a rewritten job's ad as it was before."""
    made = ad.flat()
    for name in list(ad):
        if lower(name).startswith(lower(PREFIX)):
            made.set_text(name[len(PREFIX) :], ad.text(name))
    return made
