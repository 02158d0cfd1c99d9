"""Ads of long files shared out among processes: chunks of whole ads, and what is made of them in their order.

A text in the ``-long`` form is cut at empty lines, where an ad ends whatever stands in it. What cannot be cut so is
read by one process, in its turn: the other forms, ads read as the daemon does (it drops what follows a bad line, and
may end at it), and a text without an empty line for too long.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, detect, read_ads
from crondor.diagnostics import Diagnostic
from crondor.knowledge.kinds import FileKind
from crondor_cli.common.ad_files import decoded
from crondor_cli.common.given_files import check_kind
from crondor_cli.common.parallel import Alone, Sharing

SIZE: Final = 1 << 18  # bytes of a chunk that is sent: 10 ms of work
FEW: Final = 8  # chunks, 2 MB or 60 ms of work: to fork two processes and to fill them takes 20 to 40 ms
_MOST: Final = 1 << 20  # bytes without an empty line
_BEGINNING: Final = 4096  # characters that tell the form
_ENDS: Final = (b"\n\n", b"\r\n\r\n")
_BOM: Final = "\ufeff"

_Made = TypeVar("_Made")
Report: TypeAlias = Callable[[Diagnostic], None]


class AdChunk(NamedTuple):
    """Whole ads of a ``-long`` text: what it is called, the line that they begin at, and their bytes."""

    name: str
    line: int
    data: bytes


class Found(NamedTuple):
    """A finding, at its place among what was made."""

    diagnostic: Diagnostic


class NearAd:
    """An ad in the process that has read it; another one gets the line that it begins at, for ``SharedAds.again``."""

    __slots__ = ("ad", "line")

    def __init__(self, ad: ClassAd | None, line: int) -> None:
        """Take the ad, None in another process."""
        self.ad = ad
        self.line = line

    @classmethod
    def of(cls, ad: ClassAd) -> NearAd:
        """Take an ad of this process."""
        return cls(ad, 0 if ad.place is None else ad.place.line)

    def __reduce__(self) -> tuple[type[NearAd], tuple[None, int]]:
        """Send the line alone."""
        return NearAd, (None, self.line)


def own_ad(near: NearAd) -> ClassAd:
    """Return an ad that this process has read. Raises ValueError where another one has."""
    if near.ad is None:
        raise ValueError(f"the ad of line {near.line} is another process's")
    return near.ad


class SharedAds(Generic[_Made]):
    """How ads are read, and what ``make`` makes of them; it is given some of them, and to whom it reports findings.

    It must know nothing of the ads before: each chunk may be another process's.
    """

    def __init__(self, make: Callable[[Iterator[ClassAd], Report], Iterator[_Made]], mode: ReadMode) -> None:
        """Take what says so."""
        self._make = make
        self._mode = mode
        self._chunk: AdChunk | None = None
        self._again: dict[int, ClassAd] = {}

    def made(
        self, parts: Iterable[AdChunk | Alone[_Made | Found]], report: Report, jobs: int | None
    ) -> Generator[_Made, None, None]:
        """Yield what is made of the parts in their order, and report what was found on the way."""
        sharing = Sharing(self._of_chunk, few=FEW, on_task=self._begin)
        with closing(sharing.in_order(parts, jobs)) as events:
            for each in events:
                if isinstance(each, Found):
                    report(each.diagnostic)
                else:
                    yield each

    def again(self, line: int) -> ClassAd:
        """Return the ad that begins at a line, of the chunk of which something was yielded last: it is read anew."""
        if not self._again and self._chunk is not None:
            chunk = self._chunk
            ads = self._read((chunk.data,), chunk.name, chunk.line, lambda _found: None)
            self._again = {ad.place.line: ad for ad in ads if ad.place is not None}
        return self._again[line]

    def _begin(self, chunk: AdChunk) -> None:
        self._chunk = chunk
        self._again.clear()

    def alone(self, ads: Callable[[Report], Iterator[ClassAd]]) -> Alone[_Made | Found]:
        """Return a part that one process reads."""
        return Alone(lambda: self._events(ads))

    def parts(
        self, pieces: Iterator[bytes], name: str, form: Format | None = None
    ) -> Iterator[AdChunk | Alone[_Made | Found]]:
        """Yield the parts of a text; without a form it is told by the beginning.

        Raises UsageError for a text that is unmistakably of another kind.
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
        """Return the ads of a ``-long`` text from a line on."""
        return read_ads(decoded(pieces), Format.LONG, self._mode, name=name, report=report, line=line)

    def _events(self, ads: Callable[[Report], Iterator[ClassAd]]) -> Iterator[_Made | Found]:
        """Yield what is made of ads, and what was found on the way."""
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
    """Return the first bytes of a text that are not blank alone, and those behind them."""
    held = b""
    for piece in pieces:
        held += piece
        if held.strip() or len(held) > _MOST:
            break
    return held, pieces


def _form(begun: bytes) -> Format:
    """Return the form of a text that begins so, as read_ads() tells it."""
    text = begun.decode("utf-8", "surrogateescape")
    return detect(text.removeprefix(_BOM).lstrip()[:_BEGINNING])


def _end(data: bytes) -> int:
    """Return where the last whole ad of bytes ends, 0 if none does."""
    for sign in _ENDS:
        at = data.rfind(sign)
        if at >= 0:
            return at + len(sign)
    return 0
