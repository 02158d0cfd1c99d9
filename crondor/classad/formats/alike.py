"""Ads in the old form that are much like those before: read by one regular expression, not line by line.

The ads of a queue or a pool have the same attributes in the same order, many of them with the same value, and the
others with values that are alike: literals, and expressions of few shapes. What was read line by line shows which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.printing import remember_as_written
from crondor.classad.scope import Code
from crondor.classad.shapes import pattern_like

_FEW: Final = 8  # lines of an ad that is read as fast line by line
_MANY: Final = 500  # lines of an ad that is not worth keeping
_LONG: Final = 1 << 14  # characters of such an ad
_MOST_NAMES: Final = 16
_MOST_TEMPLATES: Final = 4
_LEAST: Final = 12  # ads read line by line that pay for a template,
_PART: Final = 200  # or one for so many characters
_MANY_READ: Final = 100  # ads that a template has read so that the next may be as cheap
_MOST_PATTERNS: Final = 8  # of one attribute
_ANY: Final = r"[^\n]*"


class Unusual(Exception):
    """A line has to be looked at: it is not as HTCondor writes them, or it has a fault."""


class AdTemplate:
    """Ads as one regular expression: the lines that are the same in all, and what the values of the others are like.

    ``patterns`` has for each line that varies the patterns of its values; none: any text, which is read by itself.
    ``read`` counts the ads that were like this.
    """

    __slots__ = ("_codes", "_keys", "_match", "_others", "_plain", "lines", "read")

    def __init__(
        self,
        lines: Sequence[str],
        keys: Sequence[str],
        codes: Sequence[Code | str],
        patterns: Mapping[int, Sequence[str]],
    ) -> None:
        """Take the lines of an ad, its names in lower case and its expressions."""
        self.lines = len(lines)
        self.read = 0
        self._codes = dict(zip(keys, codes, strict=True))
        numbers = sorted(patterns)
        self._keys = [keys[at] for at in numbers]
        self._others = [(place, _beginning(lines[at])) for place, at in enumerate(numbers) if not patterns[at]]
        self._plain = _taker([place for place, at in enumerate(numbers) if patterns[at]], len(numbers))
        made = [re.escape(line) for line in lines]
        for at in numbers:
            made[at] = f"{re.escape(_beginning(lines[at]))}({'|'.join(patterns[at]) or _ANY})"
        self._match = re.compile("\n".join(made)).fullmatch

    def codes(self, block: str, known: Mapping[str, tuple[str, Code | str]]) -> dict[str, Code | str] | None:
        """Return the expressions of an ad, None if it is not like this; ``known`` reads lines that may be anything.

        Raises Unusual and ClassAdSyntaxError for one of these.
        """
        match = self._match(block)
        if match is None:
            return None
        texts = match.groups()
        made = self._codes.copy()
        made.update(zip(self._keys, texts))  # noqa: B905 - a group for each
        for place, before in self._others:
            made[self._keys[place]] = known[before + texts[place]][1]
        self.read += 1
        remember_as_written(texts if self._plain is None else self._plain(texts), len(block))
        return made


def _taker(places: Sequence[int], size: int) -> Callable[[Sequence[str]], Sequence[str]] | None:
    """Return what takes the texts at these places out of so many; None where that is all of them."""
    if len(places) == size:
        return None
    return itemgetter(*places) if len(places) > 1 else lambda texts: [texts[at] for at in places]


def _beginning(line: str) -> str:
    return line[: line.index(" = ") + 3]


class _SameNames:
    """The ads with the same names in the same order that were read line by line since there is a template of them."""

    __slots__ = ("_last", "_patterns", "_price", "_seen", "_template", "_waits", "names")

    def __init__(self, names: dict[str, str], size: int) -> None:
        """Take the names, and the characters of an ad."""
        self.names = names  # kept so that its id stays its own
        self._price = self._waits = max(_LEAST, size // _PART)
        self._seen: list[Sequence[str]] = []
        self._last: list[Sequence[str]] = []  # the ad that has the lines which do not vary in the template
        self._patterns: dict[int, tuple[str, ...]] = {}
        self._template: AdTemplate | None = None

    def add(self, lines: Sequence[str], keys: Sequence[str], codes: Sequence[Code | str]) -> AdTemplate | None:
        """Take an ad; return a template for those to come when there have been enough."""
        self._seen.append(lines)
        if len(self._seen) < self._waits:
            return None
        for at, column in enumerate(zip(*self._seen, *self._last, strict=True)):
            if at in self._patterns or len(set(column)) > 1:
                self._learn(at, column)
        self._seen, self._last = [], [lines]
        before = self._template
        self._waits = self._price if before is None or before.read >= _MANY_READ else 2 * self._waits
        self._template = AdTemplate(lines, keys, codes, self._patterns)
        return self._template

    def _learn(self, at: int, lines: Iterable[str]) -> None:
        """Take note of what the values of a line that varies are like."""
        known = self._patterns.get(at)
        if known == ():
            return
        patterns = dict.fromkeys(known or ())
        for line in dict.fromkeys(lines):
            pattern = pattern_like(line[len(_beginning(line)) :])
            if pattern is None or len(patterns) >= _MOST_PATTERNS:
                self._patterns[at] = ()
                return
            patterns[pattern] = None
        self._patterns[at] = tuple(patterns)


_Ad = tuple[Sequence[str], Sequence[str], dict[str, str], Sequence[Code | str]]
"""Lines, keys, spellings and expressions of an ad."""

_NOTHING: Final[_Ad] = (), (), {}, ()


class Alike:
    """The templates of one text, made of ads that were read line by line."""

    __slots__ = ("_by_names", "_first", "_known", "_templates")

    def __init__(self, known: Mapping[str, tuple[str, Code | str]]) -> None:
        """Begin with none; ``known`` has the name and the expression of a line."""
        self._known = known
        self._first: _Ad | None = None
        self._by_names: dict[int, _SameNames] = {}
        self._templates: list[tuple[AdTemplate, dict[str, str]]] = []

    def read(self, block: str) -> tuple[dict[str, Code | str], dict[str, str], int] | None:
        """Return the expressions, the spellings and the number of lines of an ad that is like those before."""
        for number, (template, names) in enumerate(self._templates):
            try:
                codes = template.codes(block, self._known)
            except (Unusual, ClassAdSyntaxError):
                return None
            if codes is not None:
                if number:
                    self._templates.insert(0, self._templates.pop(number))
                return codes, names, template.lines
        return None

    def learn(
        self, lines: Sequence[str], keys: Sequence[str], names: dict[str, str], codes: Sequence[Code | str]
    ) -> None:
        """Look at an ad that was read line by line; ``names`` is the same object for all ads of the same names."""
        if not _FEW <= len(lines) <= _MANY or len(names) != len(lines):
            return
        same = self._by_names.get(id(names))
        if same is None:
            if self._first is None:  # most texts have one ad: nothing is to be learnt from it
                self._first = lines, keys, names, codes
                return
            first, self._first = self._first, _NOTHING
            if first is not _NOTHING:
                self.learn(*first)
                self.learn(lines, keys, names, codes)
                return
            size = sum(map(len, lines))
            if size > _LONG:
                return
            if len(self._by_names) >= _MOST_NAMES:
                self._by_names.clear()
            same = self._by_names[id(names)] = _SameNames(names, size)
        template = same.add(lines, keys, codes)
        if template is not None:
            kept = [each for each in self._templates if each[1] is not names]
            self._templates = [(template, names), *kept[: _MOST_TEMPLATES - 1]]
