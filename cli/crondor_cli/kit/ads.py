"""Ads in files, read singly or by several processes, and the findings about them."""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from io import BufferedReader, BytesIO
from itertools import chain
from typing import BinaryIO, Final, Generic, NamedTuple, TypeAlias, TypeVar

import click

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.classad.formats import MAX_AD, Format, ReadMode, detect, read_ad, read_ads, write_ads
from crondor.classad.formats.parquet import MAGIC, read_parquet
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, printable
from crondor.knowledge.kinds import FileKind
from crondor_cli.kit.files import check_kind, file_problem, open_given, standard_input
from crondor_cli.kit.options import Clock
from crondor_cli.kit.parallel import Alone, Sharing
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import show

_CHUNK = 1 << 16


def chunks(path: str) -> Iterator[str]:
    """Yield the text of a file of ads, or of standard input for ``-``, in pieces; invalid UTF-8 is preserved.

    Raises what byte_chunks raises, and UsageError for a file that is clearly of another kind.
    """
    return _checked(byte_chunks(path), path)


def _checked(pieces: Iterable[bytes], path: str) -> Iterator[str]:
    """Yield the text of bytes. Raises UsageError if they are clearly not ads."""
    is_first = True
    for text in decoded(pieces):
        if is_first:
            check_kind(text, path, FileKind.ADS)
            is_first = False
        yield text


def decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    """Decode bytes piece by piece; invalid UTF-8 is preserved."""
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def byte_chunks(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input for ``-``, piece by piece; Parquet becomes ``-long`` text.

    Raises UsageError if it cannot be read, and what read_parquet raises.
    """
    with _opened(path) as file:
        if _is_parquet(file):
            for text in write_ads(read_parquet(file, name=name_of(path))):
                yield text.encode("utf-8", "surrogateescape")
        else:
            yield from _pieces(file)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``, and show the progress of reading it. Raises UsageError."""
    try:
        if path == "-":
            PROGRESS.begin("reading standard input")
            yield standard_input() or BytesIO()
        else:
            with open_given(path) as file:
                PROGRESS.begin(f"reading {printable(os.path.basename(path))}", os.fstat(file.fileno()).st_size)
                yield file
    except CrondorError:
        raise
    except (OSError, ValueError) as error:
        raise file_problem("read", path, error) from None


def _is_parquet(file: BinaryIO) -> bool:
    return isinstance(file, BufferedReader) and file.peek(len(MAGIC)).startswith(MAGIC)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while data := file.read(_CHUNK):
        yield data
        PROGRESS.done += len(data)


def name_of(path: str) -> str:
    """Return the name of a file in messages."""
    return "<stdin>" if path == "-" else path


def ads_in(
    path: str, report: Callable[[Diagnostic], None], form: Format | None = None, mode: ReadMode = ReadMode.LAZY
) -> Iterator[ClassAd]:
    """Yield the ads of a file, also Parquet, and report faults. Raises UsageError, and what read_parquet raises."""
    with _opened(path) as file:
        if _is_parquet(file):
            yield from read_parquet(file, name=name_of(path), report=report)
        else:
            yield from read_ads(_checked(_pieces(file), path), form, mode, name=name_of(path), report=report)


def ad_of(path: str, mode: ReadMode) -> ClassAd:
    """Return the only ad of a file. Raises CrondorError for faults, none or several; UsageError if it is unreadable."""
    parts: list[str] = []
    size = 0
    for chunk in chunks(path):
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_AD:  # reading reports it
            break
    return read_ad(Source("".join(parts), name_of(path)), mode=mode)


def context_of(clock: Clock, *, faithful: bool = False) -> Context:
    """Return the context of an evaluation; ``faithful`` is that of Context."""
    return Context(now=clock.now, zone=clock.zone, faithful=faithful)


lenient_option = click.option(
    "--lenient",
    is_flag=True,
    help="Read as HTCondor's daemons do: the rest of an ad after a bad line is dropped silently.",
)
faithful_option = click.option(
    "--faithful",
    is_flag=True,
    help='Evaluate exactly as HTCondor 25.14 does, with its defect in names selected from x["y"].',
)


def mode_of(lenient: bool) -> ReadMode:
    """Return how strict to read."""
    return ReadMode.DAEMON if lenient else ReadMode.STRICT


SIZE: Final = 1 << 18  # bytes of a chunk: 10 ms of work
FEW: Final = 8  # chunks, 2 MB or 60 ms of work: forking two processes and filling them takes 20 to 40 ms
_MOST: Final = 1 << 20  # bytes without an empty line
_BEGINNING: Final = 4096  # characters used to detect the form
_ENDS: Final = (b"\n\n", b"\r\n\r\n")
_BOM: Final = "\ufeff"

_Made = TypeVar("_Made")
Report: TypeAlias = Callable[[Diagnostic], None]


# A text in the ``-long`` form is split at empty lines, which end an ad in any case. Everything else is read by one
# process, in order: the other forms, ads read as the daemon does (which drops the rest after a bad line), and long
# texts without an empty line.
class AdChunk(NamedTuple):
    """Whole ads of a ``-long`` text: its name, their first line, and their bytes."""

    name: str
    line: int
    data: bytes


class Found(NamedTuple):
    """A finding, in order among the results."""

    diagnostic: Diagnostic


class NearAd:
    """An ad in the process that read it; another process gets its first line, for ``SharedAds.again``."""

    __slots__ = ("ad", "line")

    def __init__(self, ad: ClassAd | None, line: int) -> None:
        """Store the ad, None in another process."""
        self.ad = ad
        self.line = line

    @classmethod
    def of(cls, ad: ClassAd) -> NearAd:
        """Return a reference to an ad of this process."""
        return cls(ad, 0 if ad.place is None else ad.place.line)

    def __reduce__(self) -> tuple[type[NearAd], tuple[None, int]]:
        """Send only the line."""
        return NearAd, (None, self.line)


def own_ad(near: NearAd) -> ClassAd:
    """Return an ad that this process has read. Raises ValueError if another process has."""
    if near.ad is None:
        raise ValueError(f"the ad of line {near.line} is another process's")
    return near.ad


class SharedAds(Generic[_Made]):
    """Reads ads and applies ``make``, which gets some of the ads, and a function to report findings.

    ``make`` must not depend on earlier ads: each chunk may go to another process.
    """

    def __init__(self, make: Callable[[Iterator[ClassAd], Report], Iterator[_Made]], mode: ReadMode) -> None:
        self._make = make
        self._mode = mode
        self._chunk: AdChunk | None = None
        self._again: dict[int, ClassAd] = {}

    def made(
        self, parts: Iterable[AdChunk | Alone[_Made | Found]], report: Report, jobs: int | None
    ) -> Generator[_Made, None, None]:
        """Yield the results for the parts in order, and report their findings."""
        sharing = Sharing(self._of_chunk, few=FEW, on_task=self._begin)
        with closing(sharing.in_order(parts, jobs)) as events:
            for each in events:
                if isinstance(each, Found):
                    report(each.diagnostic)
                else:
                    yield each

    def again(self, line: int) -> ClassAd:
        """Return the ad that starts at a line of the chunk in use; it is read again."""
        if not self._again and self._chunk is not None:
            chunk = self._chunk
            ads = self._read((chunk.data,), chunk.name, chunk.line, lambda _found: None)
            self._again = {ad.place.line: ad for ad in ads if ad.place is not None}
        return self._again[line]

    def _begin(self, chunk: AdChunk) -> None:
        self._chunk = chunk
        self._again.clear()

    def alone(self, ads: Callable[[Report], Iterator[ClassAd]]) -> Alone[_Made | Found]:
        """Return a part to be read by one process."""
        return Alone(lambda: self._events(ads))

    def parts(
        self, pieces: Iterator[bytes], name: str, form: Format | None = None
    ) -> Iterator[AdChunk | Alone[_Made | Found]]:
        """Yield the parts of a text; without a form it is detected from the start of the text.

        Raises UsageError for a text that is clearly of another kind.
        """
        held, pieces = _begun(pieces)
        if form is None:
            check_kind(held.decode("utf-8", "surrogateescape"), "-" if name == "<stdin>" else name, FileKind.ADS)
        if self._mode is ReadMode.DAEMON or (_form(held) if form is None else form) is not Format.LONG:
            text = decoded(chain((held,), pieces))
            yield self.alone(lambda report: read_ads(text, form, self._mode, name=name, report=report))
            return
        line, least = 1, 0
        waiting, size = [held], len(held)
        while True:
            if size > least:
                held = b"".join(waiting)
                end = _end(held)
                if end:
                    yield AdChunk(name, line, held[:end])
                    line, held, least = line + held.count(b"\n", 0, end), held[end:], SIZE
                elif size > _MOST:
                    break
                waiting, size = [held], len(held)
            piece = next(pieces, None)
            if piece is None:
                if size:
                    yield AdChunk(name, line, b"".join(waiting))
                return
            waiting.append(piece)
            size += len(piece)
        rest = chain((held,), pieces)
        yield self.alone(lambda report: self._read(rest, name, line, report))

    def _of_chunk(self, chunk: AdChunk) -> Iterator[_Made | Found]:
        return self._events(lambda report: self._read((chunk.data,), chunk.name, chunk.line, report))

    def _read(self, pieces: Iterable[bytes], name: str, line: int, report: Report) -> Iterator[ClassAd]:
        """Return the ads of a ``-long`` text, whose first line has a number."""
        return read_ads(decoded(pieces), Format.LONG, self._mode, name=name, report=report, line=line)

    def _events(self, ads: Callable[[Report], Iterator[ClassAd]]) -> Iterator[_Made | Found]:
        """Yield results and findings in the order in which they occur."""
        found: list[Found] = []

        def report(diagnostic: Diagnostic) -> None:
            found.append(Found(diagnostic))

        try:
            for each in self._make(ads(report), report):
                yield from found
                found.clear()
                yield each
        except Exception:
            yield from found
            raise
        yield from found


def _begun(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes of a text that are not just blanks, and the rest."""
    held = b""
    for piece in pieces:
        held += piece
        if held.strip() or len(held) > _MOST:
            break
    return held, pieces


def _form(begun: bytes) -> Format:
    """Return the form of a text from its start, as detected by read_ads()."""
    text = begun.decode("utf-8", "surrogateescape")
    return detect(text.removeprefix(_BOM).lstrip()[:_BEGINNING])


def _end(data: bytes) -> int:
    """Return the end of the last whole ad in bytes, 0 if there is none."""
    for sign in _ENDS:
        at = data.rfind(sign)
        if at >= 0:
            return at + len(sign)
    return 0


_MOST_FAULTS = 20


class FirstFaults:
    """The first faults, and the number of ``more``, in bounded memory.

    ``is_bad``: at least one of all faults is an error.
    """

    def __init__(self, most: int = _MOST_FAULTS) -> None:
        """Start empty; ``most`` faults are stored."""
        self.shown: list[Diagnostic] = []
        self.more = 0
        self.is_bad = False
        self._most = most

    def add(self, found: Diagnostic) -> None:
        """Store a fault, or count it."""
        self.is_bad = self.is_bad or found.severity is Severity.ERROR
        if len(self.shown) < self._most:
            self.shown.append(found)
        else:
            self.more += 1

    def listed(self) -> list[Diagnostic]:
        """Return the stored faults, and a last one with the number of others."""
        if not self.more:
            return self.shown
        severity = Severity.ERROR if self.is_bad else Severity.WARNING
        return [*self.shown, Diagnostic("more-faults", f"{self.more:,} more faults like these", severity)]


_MOST_SHOWN = 10_000  # different findings remembered, so that each is shown once


class AdFindings:
    """Shows each finding once, however many ads have it; ``failed``: at least one counted."""

    def __init__(self) -> None:
        self.failed = False
        self._left_out = 0
        self._shown: set[Diagnostic] = set()

    def add(self, found: Iterable[Diagnostic], *, counts: bool = True) -> None:
        """Show new findings; without ``counts`` only an error makes the status 1."""
        for each in found:
            self.failed = self.failed or counts or each.severity is Severity.ERROR
            if each in self._shown:
                continue
            if len(self._shown) >= _MOST_SHOWN:
                self._left_out += 1
                continue
            self._shown.add(each)
            show([each])

    def end(self) -> None:
        """Report the number of findings not shown."""
        if self._left_out:
            show([Diagnostic("more-faults", f"{self._left_out:,} more findings like these", Severity.WARNING)])
