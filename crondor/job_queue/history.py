"""The schedd's history file: jobs that have left the queue, each followed by a banner.

The format is HTCondor 25.14's (``AppendHistory``): the job's attributes with those of its cluster as ``-long`` lines,
then ``*** Offset = <bytes before the ad> ClusterId = ... CurrentTime = <epoch seconds of the writing>``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.formats.pieces import Report
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, printable
from crondor.job import attributes
from crondor.job_queue.disk import Appendix, Disk, Left
from crondor.job_queue.faults import JobQueueError, QueueIO, refused_by_disk
from crondor.rights.walk import open_plain
from crondor.source import Source

_DISK: Final = Disk()
_WINDOW: Final = 1 << 16
_BANNER: Final = re.compile(rb"^\*\*\* Offset = .*\n", re.MULTILINE)
_ROTATED: Final = re.compile(r"\d{8}T\d{6}").fullmatch
_NOT_WRITTEN: Final = {
    Left.NOTHING: "these jobs cannot be written to the history",
    Left.PART: "these jobs cannot be written to the history, and half of them cannot be taken back out of it",
    Left.UNKNOWN: "these jobs may be in the history or not: the disk says neither that they are nor that they are not",
}
_ATTRIBUTE: Final = re.compile(rb"[^\s=]+ = ").match


def history_record(ad: ClassAd, offset: int, now: int) -> str:
    """Return what a job's ad looks like in the history file.

    ``offset`` is the size of the file before it, bytes; ``now`` epoch seconds. What the banner says of the job is
    evaluated, as HTCondor does; -1 and ? stand for what is no number and no string.
    Raises ClassAdSyntaxError for an ad with an expression that cannot be read.
    """
    context = Context(now=now)
    numbers = (attributes.int32(ad, name, context) for name in ("ClusterId", "ProcId", "CompletionDate"))
    cluster, proc, completion = (-1 if number is None else number for number in numbers)
    owner = attributes.string(ad, "Owner", context)
    shown = "?" if owner is None else printable(owner)  # HTCondor lets a line end in it end the banner
    return (
        f"{ad.print(Format.LONG)}*** Offset = {offset} ClusterId = {cluster} ProcId = {proc} "
        f'Owner = "{shown}" CompletionDate = {completion} CurrentTime = {now}\n'
    )


def read_history(path: Path | str, *, report: Report | None = None) -> Iterator[ClassAd]:
    """Return the jobs of a history file one by one, the oldest first.

    Raises QueueIO, and ClassAdSyntaxError for what is no ad. If ``report`` is given it is called with each bad line
    instead, reading goes on, and expressions are read when they are asked for.
    """
    mode = ReadMode.STRICT if report is None else ReadMode.LAZY
    try:
        with os.fdopen(open_plain(path), encoding="utf-8", errors="surrogateescape", newline="") as file:
            yield from read_ads(file, Format.LONG, mode, name=str(path), report=report)
    except OSError as error:
        raise refused_by_disk(path, "this history cannot be read", error) from error


def history_files(path: str, since: int = 0) -> list[str]:
    """Return a history file and those that it was before it was rotated, the oldest first.

    ``since`` (epoch seconds): those alone that were written to later. A file that is not there has none.
    """
    folder, name = os.path.split(path)
    found: list[tuple[str, str]] = []
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            time = entry.name.removeprefix(f"{name}.")
            is_one = entry.name == name or (time != entry.name and _ROTATED(time))
            if is_one and entry.is_file() and entry.stat().st_mtime >= since:
                found.append(("~" if entry.name == name else time, entry.path))
    return [each for _, each in sorted(found)]


class History:
    """A history file that jobs are moved to; each append is durable when it returns."""

    def __init__(self, path: Path | str, disk: Disk = _DISK) -> None:
        """Open the file, making it where there is none; half a record at its end, left by a crash, is taken back.

        Raises QueueIO, and JobQueueError for a file that is no history.
        """
        self.path = Path(path)
        try:
            descriptor = disk.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            self._end = Appendix(disk, descriptor)
            torn = self._torn()
        except OSError as error:
            raise refused_by_disk(path, "this history cannot be opened", error) from error
        if torn:
            self.take_back(self.size - torn)

    def _torn(self) -> int:
        """Return how many bytes of a record without banner the file ends with: a crash came between.

        Raises JobQueueError for a file that is no history, and OSError.
        """
        with os.fdopen(open_plain(self.path), "rb") as file:
            window = 0
            while True:
                window = min(self.size, max(_WINDOW, window * 2))
                file.seek(self.size - window)
                data = file.read(window)
                banners = list(_BANNER.finditer(data))
                if banners or window == self.size:
                    break
        tail = data[banners[-1].end() :] if banners else data
        if not all(map(_ATTRIBUTE, tail.split(b"\n")[:-1])):
            self.close()
            message = "this does not end as a history file does: a job's attributes and a line that begins with ***"
            raise JobQueueError(Diagnostic("queue-history", message, span=Source("", str(self.path)).span()))
        return len(tail)

    @property
    def size(self) -> int:
        """The size of the file, bytes."""
        return self._end.size

    def append(self, ads: list[ClassAd], now: int) -> None:
        """Write jobs behind those that are there, all or none; ``now`` is epoch seconds. Raises QueueIO.

        After a disk that failed twice nobody knows how the file ends, and nothing more is written: open it again.
        """
        if self._end.broken:
            message = "the disk failed, and how this history ends is not known"
            hint = "close it and open it again: half a record at its end is taken back"
            raise QueueIO(Diagnostic("queue-history", message, span=Source("", str(self.path)).span(), help=hint))
        text, at = b"", self.size
        for ad in ads:
            text += history_record(ad, at + len(text), now).encode("utf-8", "surrogateescape")
        try:
            self._end.append(text)
        except OSError as error:
            raise refused_by_disk(self.path, _NOT_WRITTEN[self._end.left], error) from error

    def take_back(self, size: int) -> bool:
        """Cut the file to a size it had, for a removal that failed later; say whether that was done."""
        return self._end.cut(size)

    def close(self) -> None:
        """Close the file."""
        self._end.close()
