"""Names as they are spelled that many ads share, and what is worked out once for all of these ads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from crondor.classad.scope import Code, Codes

    Getter = Callable[[Codes], Sequence[Code | str]]

_FEW: Final = 8  # values that are printed as fast one by one
_SHORT: Final = 1 << 15  # characters of an ad that is worth remembering
_PRICE: Final = 4  # ads printed whole before it is looked again at what they have in common
_DEAREST: Final = 512


class Spelling(dict[str, str]):
    """The spelling of an ad's names by name in lower case. Nobody changes it, so that ads can share it.

    ``frames`` is what is known about printing these ads, by the order of the names.
    """

    __slots__ = ("frames",)

    def __init__(self, names: Mapping[str, str]) -> None:
        """Take the names."""
        super().__init__(names)
        self.frames: dict[str, Frame] = {}

    def __reduce__(self) -> tuple[type[Spelling], tuple[dict[str, str]]]:
        """Pickle by names."""
        return Spelling, (dict(self),)


class Frame:
    """The text of ads with the same names: most of their values are the same too, and the text around the others.

    ``get`` takes all values in their order out of an ad's expressions; ``blank`` is the text with room for them:
    every other piece is one. ``some`` makes a function that takes the values at certain places; ``printed`` has the
    text of each value.
    """

    __slots__ = ("_blank", "_common", "_get", "_known", "_last", "_others", "_price", "_printed", "_some", "_waits")

    def __init__(
        self,
        get: Getter,
        blank: list[str],
        some: Callable[[Sequence[int]], Getter],
        printed: Mapping[Code | str, str],
    ) -> None:
        """Begin without knowing what is the same."""
        self._get = get
        self._blank = blank
        self._some = some
        self._printed = printed
        self._last: Sequence[Code | str] = ()
        self._price = _PRICE
        self._waits = 1
        self._known: Sequence[Code | str] = ()
        self._others: set[int] = set()
        self._common: tuple[Getter, Sequence[Code | str], Getter, list[str]] | None = None

    def text(self, codes: Codes) -> str:
        """Return the text of an ad. Raises ClassAdSyntaxError."""
        common = self._common
        if common is None:
            return self._whole(codes)
        same, values, others, frame = common
        if same(codes) != values:
            return self._whole(codes)
        pieces = frame.copy()
        pieces[1::2] = map(self._printed.__getitem__, others(codes))
        return "".join(pieces)

    def _whole(self, codes: Codes) -> str:
        values = self._get(codes)
        pieces = self._blank.copy()
        pieces[1::2] = map(self._printed.__getitem__, values)
        text = "".join(pieces)
        if len(values) > _FEW and len(text) <= _SHORT:
            self._learn(values, pieces)
        return text

    def _learn(self, values: Sequence[Code | str], pieces: list[str]) -> None:
        """Look at what an ad has in common with the one before, and with the one that was looked at before.

        Less and less often, as it takes some time.
        """
        last, self._last = self._last, values
        self._waits -= 1
        if self._waits >= 0 or not last:
            return
        self._waits, self._price = self._price, min(2 * self._price, _DEAREST)
        known, self._known = self._known or last, values
        differing = {
            at for at, (one, *others) in enumerate(zip(values, last, known, strict=True)) if others != [one, one]
        }
        most = len(values) * 3 // 4
        self._others = differing if len(self._others | differing) > most else self._others | differing
        if len(self._others) > most:
            self._common = None
            return
        others = sorted(self._others)
        same = [at for at in range(len(values)) if at not in self._others]
        made, begin = [], 0
        for at in others:
            made += ["".join(pieces[begin : 2 * at + 1]), ""]
            begin = 2 * at + 2
        made.append("".join(pieces[begin:]))
        self._common = self._some(same), tuple(values[at] for at in same), self._some(others), made
