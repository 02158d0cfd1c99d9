"""The spool: a folder for each sandboxed copy, where HTCondor's schedd has it, and a note beside it that it is ours.

HTCondor: SpooledJobFiles::getJobSpoolPath.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic
from crondor.job_queue.disk import sync_folder
from crondor.job_queue.keys import JobId
from crondor.rights.trust import Untrusted, check, make_folder
from crondor.rights.walk import is_there, open_plain
from crondor.router.sandbox.faults import FilesRefused, fault, refused
from crondor.router.sandbox.reach import PART, write_file

_BUCKETS: Final = 10_000
_NOTE: Final = ".crondor"
_NOTED: Final = re.compile(
    r"cluster([1-9][0-9]{0,9})\.proc(0|[1-9][0-9]{0,9})\.subproc0\.crondor(\.crondor-part)?"
).fullmatch
_MOST: Final = 64 << 20


class Known(NamedTuple):
    """A file of an input sandbox as it was put there: its size in bytes, and when it was written (ns since 1970)."""

    size: int
    time: int


class Spool:
    """The sandboxes below a folder, each at ``<cluster mod 10000>/<proc mod 10000>/cluster<c>.proc<p>.subproc0``.

    A sandbox is filled at ``<place>.tmp`` and renamed when it is whole, so that one that is there is complete. A note
    beside it, ``<place>.crondor``, is written first and deleted last: nothing without one is ever deleted.
    """

    def __init__(self, folder: Path | str) -> None:
        """Take the folder, which is made when the first sandbox is."""
        self._given = folder
        self.folder = Path(os.path.realpath(folder))

    def place(self, job: JobId) -> Path:
        """Return where the sandbox of a copy is."""
        buckets = self.folder / str(job.cluster % _BUCKETS) / str(job.proc % _BUCKETS)
        return buckets / f"cluster{job.cluster}.proc{job.proc}.subproc0"

    def begin(self, job: JobId) -> Path:
        """Return an empty folder to fill, and drop what was begun before. Raises FilesRefused."""
        place = self.place(job)
        part = _beside(place, ".tmp")
        try:
            self._check(place)
            make_folder(place.parent, 0o755)
            if is_there(place) and not is_there(self._note(job)):
                message = f"{place} is there, and crondor has not made it"
                raise FilesRefused(fault("spool-foreign", message, str(place), "give the router a spool of its own"))
            write_file(str(self._note(job)), b"{}")
            _remove(part)
            part.mkdir(mode=0o700)
        except OSError as error:
            raise refused(str(part), "cannot make", error) from error
        return part

    def finish(self, job: JobId, files: Mapping[str, Known]) -> None:
        """Put a filled folder, which is on the disk, in its place, and note what is in it. Raises FilesRefused."""
        place = self.place(job)
        part = _beside(place, ".tmp")
        try:
            write_file(str(self._note(job)), json.dumps({"files": files}).encode())
            _remove(place)
            part.rename(place)
            sync_folder(str(place.parent))
        except OSError as error:
            raise refused(str(place), "cannot put the sandbox at", error) from error

    def is_whole(self, job: JobId) -> bool:
        """Say whether the input of a copy is there, all of it. Raises FilesRefused."""
        try:
            self._check(self.place(job))
        except OSError:
            return False
        return self.place(job).is_dir() and self._files(job) is not None

    def known(self, job: JobId) -> dict[str, Known]:
        """Return the input files of a sandbox as they were put there, by name."""
        return self._files(job) or {}

    def remove(self, job: JobId) -> None:
        """Delete a sandbox of ours; one that is not there is fine. Raises FilesRefused."""
        place, note = self.place(job), self._note(job)
        try:
            self._check(place)
            _beside(note, PART).unlink(missing_ok=True)
            if not is_there(note):
                return
            _remove(_beside(place, ".tmp"))
            _remove(place)
            note.unlink(missing_ok=True)
            with suppress(OSError):  # others are in it
                place.parent.rmdir()
                place.parent.parent.rmdir()
        except OSError as error:
            raise refused(str(place), "cannot delete", error) from error

    def jobs(self) -> Iterator[JobId]:
        """Yield the copies that have a sandbox of ours, whole or begun."""
        for note in self.folder.glob(f"*/*/*{_NOTE}*"):
            found = _NOTED(note.name)
            job = None if found is None else JobId(int(found[1]), int(found[2]))
            if job is not None and self._note(job).parent == note.parent:
                yield job

    def sweep(self, is_needed: Callable[[JobId], bool]) -> list[JobId]:
        """Delete the sandboxes of copies that have left their queue, and return those.

        Raises FilesRefused with those that cannot be deleted, once the others are.
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
        """Raise FilesRefused where another user could put a sandbox or a note there, or a link instead; and OSError."""
        try:
            check(self._given)
            check(place.parent)
        except Untrusted as error:
            raise FilesRefused(error.diagnostics) from None

    def _note(self, job: JobId) -> Path:
        return _beside(self.place(job), _NOTE)

    def _files(self, job: JobId) -> dict[str, Known] | None:
        """Read what a note says of the files; None: the sandbox is not whole, or the note says nothing."""
        try:
            with os.fdopen(open_plain(self._note(job)), "rb") as file:
                said = json.loads(file.read(_MOST))
            return {str(name): Known(int(size), int(time)) for name, (size, time) in said["files"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def _beside(place: Path, end: str) -> Path:
    return place.with_name(place.name + end)


def _remove(path: Path) -> None:
    """Delete a folder with all that is in it, following no link; one that is not there is fine. Raises OSError."""
    if path.is_symlink():
        path.unlink()
    elif is_there(path):
        shutil.rmtree(path)
