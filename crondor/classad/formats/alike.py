"""Ads in the old form that are much like one before: most lines are the same, and are compared many at once.

The ads of a queue or a pool have the same attributes in the same order, and most of the same values. What was read
line by line shows which lines differ; the text between these is a text to find again, not lines to take apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.printing import remember_literals
from crondor.classad.scope import Code

_LITERAL: Final = r'(?:"[ !#-\[\]-~]{0,400}"|0|-?[1-9][0-9]{0,17}|true|false|undefined)'
_SIMPLE: Final = re.compile(_LITERAL).fullmatch
_ALL_SIMPLE: Final = re.compile(rf"{_LITERAL}(?:\n{_LITERAL})*").fullmatch
_FEW: Final = 8  # lines of an ad that is read as fast line by line
_MANY: Final = 500  # lines of an ad that is not worth keeping
_MOST_SHAPES: Final = 16
_MOST_TEMPLATES: Final = 4
_PRICE: Final = 4  # ads read line by line that pay for a template
_MOST_CREDIT: Final = 64
_MOST_WAIT: Final = 30


class Unusual(Exception):
    """A line has to be looked at: it is not as HTCondor writes them, or it has a fault."""


class AdTemplate:
    """The lines that ads have in common, and where the others stand between them."""

    __slots__ = ("_beginnings", "_codes", "_head", "_keys", "_parts", "lines")

    def __init__(
        self, lines: Sequence[str], keys: Sequence[str], codes: Sequence[Code | str], varying: set[int]
    ) -> None:
        """Take the lines of an ad, its names in lower case and its expressions; ``varying`` are numbers of lines."""
        self.lines = len(lines)
        self._codes = dict(zip(keys, codes, strict=True))
        numbers = sorted(varying)
        self._keys = [keys[at] for at in numbers]
        self._beginnings = [_beginning(lines[at]) for at in numbers]
        self._parts: list[tuple[str, int]] = []
        first, *others = [*numbers, len(lines)]
        self._head = _before(lines, 0, first)
        for at, following in zip(numbers, others, strict=True):
            after = "\n" + _before(lines, at + 1, following) if at + 1 < len(lines) else ""
            self._parts.append((after, len(after)))

    def codes(self, block: str, known: Mapping[str, tuple[str, Code | str]]) -> dict[str, Code | str] | None:
        """Return the expressions of an ad, None if it is not like this; ``known`` reads the lines that differ.

        Raises Unusual and ClassAdSyntaxError for one of these.
        """
        if not block.startswith(self._head):
            return None
        at = len(self._head)
        texts: list[str] = []
        for after, size in self._parts:
            end = block.find("\n", at)
            if end < 0:
                end = len(block)
            if not block.startswith(after, end):
                return None
            texts.append(block[at:end])
            at = end + size
        if at != len(block):
            return None
        made = self._codes.copy()
        if _ALL_SIMPLE("\n".join(texts)):
            made.update(zip(self._keys, texts, strict=True))
            remember_literals(texts)
        else:
            for key, before, text in zip(self._keys, self._beginnings, texts, strict=True):
                made[key] = text if _SIMPLE(text) else known[before + text][1]
        return made


def _beginning(line: str) -> str:
    return line[: line.index(" = ") + 3]


def _before(lines: Sequence[str], begin: int, end: int) -> str:
    """Return the text of lines up to the value of line ``end``, or to the end of all of them."""
    if end == len(lines):
        return "\n".join(lines[begin:end])
    return "\n".join([*lines[begin:end], _beginning(lines[end])])


class _Shape:
    """What is known of the ads with the same names in the same order."""

    __slots__ = ("codes", "misses", "names", "varying", "wait")

    def __init__(self, names: dict[str, str], codes: Sequence[Code | str]) -> None:
        self.names = names  # kept so that its id stays its own
        self.codes = codes
        self.varying: set[int] = set()
        self.misses = 0  # ads in a row that differ too much from the one before
        self.wait = 0  # ads that are not looked at, since those before differ too much


class Alike:
    """The templates of one text, made of ads that were read line by line."""

    __slots__ = ("_credit", "_known", "_shapes", "_templates")

    def __init__(self, known: Mapping[str, tuple[str, Code | str]]) -> None:
        """Begin with none; ``known`` has the name and the expression of a line."""
        self._known = known
        self._shapes: dict[int, _Shape] = {}
        self._templates: list[tuple[AdTemplate, dict[str, str]]] = []
        self._credit = _MOST_CREDIT

    def read(self, block: str) -> tuple[dict[str, Code | str], dict[str, str], int] | None:
        """Return the expressions, the spellings and the number of lines of an ad that is like one before."""
        for number, (template, names) in enumerate(self._templates):
            try:
                codes = template.codes(block, self._known)
            except (Unusual, ClassAdSyntaxError):
                return None
            if codes is not None:
                if number:
                    self._templates.insert(0, self._templates.pop(number))
                if self._credit < _MOST_CREDIT:
                    self._credit += 1
                return codes, names, template.lines
        return None

    def learn(
        self, lines: Sequence[str], keys: Sequence[str], names: dict[str, str], codes: Sequence[Code | str]
    ) -> None:
        """Look at an ad that was read line by line; ``names`` is the same object for all ads of the same names."""
        if not _FEW <= len(lines) <= _MANY or len(names) != len(lines):
            return
        self._credit += 1
        shape = self._shapes.get(id(names))
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[id(names)] = _Shape(names, codes)
            return
        if shape.wait:
            shape.wait -= 1
            shape.codes = codes
            return
        differing = {at for at, (one, other) in enumerate(zip(shape.codes, codes, strict=True)) if one is not other}
        shape.codes = codes
        if len(differing) > len(lines) // 3 or self._credit < _PRICE:
            shape.misses += 1
            shape.wait = min(shape.misses, _MOST_WAIT)
            return
        shape.misses = 0
        shape.varying |= differing
        if len(shape.varying) > len(lines) // 2:
            shape.varying = differing
        self._credit -= _PRICE
        self._templates.insert(0, (AdTemplate(lines, keys, codes, shape.varying), names))
        del self._templates[_MOST_TEMPLATES:]
