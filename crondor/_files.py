"""The encoding of texts, and files that grow and are renamed now and then."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic, Severity, Source

LINE_WITH_BYTES: Final = re.compile("^[^\\n\udc80-\udcff]*[\udc80-\udcff]", re.MULTILINE)
"""A line up to its first byte that is not UTF-8."""


def odd_comment(source: Source) -> Diagnostic | None:
    """Return a warning about the first byte that is not UTF-8 (allowed in comments), None if there is none."""
    text = source.text
    found = None if text.isascii() else LINE_WITH_BYTES.search(text)
    if found is None:
        return None
    at = found.end() - 1
    message = f"this comment is not UTF-8 text: byte 0x{ord(text[at]) & 0xFF:02x}, ignored with the comment"
    return Diagnostic("odd-comment", message, Severity.WARNING, source.span(at, at + 1), "save the file as UTF-8")


_MOST_NAMES: Final = 100_000  # of a folder that are examined
_BEHIND: Final = (".", "-")  # history.20261125T060000, job.log.old, job.log.1, job.log-20261125


class FileId(NamedTuple):
    """The identity of a file, whatever its name."""

    device: int
    number: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileId:
        """Return the identity of an open file."""
        return cls(status.st_dev, status.st_ino)


def renamed_since(path: str, file: FileId) -> list[str]:
    """Return the present names of a log that was read under ``path``, with those of the logs after it.

    The oldest comes first: that of ``file`` itself. None if it no longer exists, or is in another folder.
    """
    folder, name = os.path.split(path)
    found: list[tuple[int, str, FileId]] = []
    try:
        with os.scandir(folder or ".") as entries:
            for entry in islice(entries, _MOST_NAMES):
                if entry.name.startswith(tuple(name + each for each in _BEHIND)) and entry.is_file(
                    follow_symlinks=False
                ):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime_ns, entry.path, FileId.of(status)))
    except OSError:
        return []
    return _from(sorted(found), file)


def _from(found: Iterable[tuple[int, str, FileId]], file: FileId) -> list[str]:
    paths: list[str] = []
    for _, path, each in found:
        if paths or each == file:
            paths.append(path)
    return paths
