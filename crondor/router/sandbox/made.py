"""What the router has made beside the queue and the spool, noted so that another process can clean up after it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from crondor.rights.accounts import Account, is_root
from crondor.rights.acting import as_account
from crondor.rights.trust import Untrusted, check, make_folder, stranger
from crondor.rights.walk import open_plain
from crondor.router.sandbox.faults import FilesRefused, refused
from crondor.router.sandbox.reach import CHUNK, PART, write_file

_MOST: Final = 16 << 20


class Noted(NamedTuple):
    """A file that was made: for what, where, and what was put there (SHA-256), last and before that."""

    key: str
    path: str
    digests: tuple[str, ...]


class Made:
    """A note in a file: which files were made, by their paths. It is written before a file is made.

    A file is deleted only while it holds what was put there: one that somebody has written since is left alone.
    """

    def __init__(self, note: Path | str) -> None:
        """Read the note, where there is one; one that cannot be read counts as none.

        Raises Untrusted for one that another user could have written: what it says is deleted.
        """
        self._note = str(note)
        self._noted: dict[str, Noted] = {}
        try:
            check(note)
            with os.fdopen(open_plain(note), "rb") as file:
                for key, path, digests in json.loads(file.read(_MOST)):
                    self._noted[str(path)] = Noted(str(key), str(path), tuple(map(str, digests)))
        except (OSError, ValueError, TypeError):
            self._noted = {}

    def __iter__(self) -> Iterator[Noted]:
        """Iterate over what is noted."""
        return iter(list(self._noted.values()))

    def find(self, path: str) -> Noted | None:
        """Return what is noted of a path."""
        return self._noted.get(path)

    def add(self, key: str, path: str, data: bytes) -> None:
        """Note what a file is about to hold. Raises FilesRefused."""
        before = self._noted.get(path)
        kept = () if before is None else before.digests[-1:]
        self._noted[path] = Noted(key, path, (*kept, hashlib.sha256(data).hexdigest()))
        self._write()

    def drop(self, path: str) -> bool:
        """Delete a file that was made, and its note; say whether it is gone. Raises FilesRefused."""
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
    """Return as whom a file is to be made or deleted; None: as this process, since nobody can change its folder.

    What root did by itself in somebody's folder he could turn to another one. Raises FilesRefused and OSError.
    """
    try:
        return stranger(os.path.dirname(path) or ".") if is_root() else None  # noqa: PTH120 - a text
    except Untrusted as error:
        raise FilesRefused(error.diagnostics) from None


def _deleted(path: str, digests: Collection[str]) -> bool:
    """Delete a file that holds what was put there, and say whether none is there any more. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path + PART)  # noqa: PTH108 - a text
    found = _digest_of(path)
    if found in digests:
        os.unlink(path)  # noqa: PTH108 - a text
        found = None
    return found is None


def _digest_of(path: str) -> str | None:
    """Return the digest of a file, None where there is none; of what is no plain file it is empty. Raises OSError."""
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
