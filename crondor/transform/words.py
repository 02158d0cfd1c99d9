"""The words of a command line, as HTCondor's tokener cuts them, and the regular expression that may stand for one."""

from __future__ import annotations

import re
from typing import NamedTuple

_BLANK = re.compile(r"[ \t\r\n]")
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class Word(NamedTuple):
    """A word: ``start`` is where it begins with its quote, ``at`` behind that; ``next`` is where to look for another.

    ``next`` is None behind a quote that is never closed: nothing follows it.
    """

    text: str
    start: int
    at: int
    next: int | None

    @property
    def end(self) -> int:
        """Where the word ends, its quote aside."""
        return self.at + len(self.text)


def next_word(text: str, at: int | None) -> Word | None:
    r"""Return the next word from ``at`` on. Quotes hold blanks together, and nothing escapes one inside them.

    word = [^ \t\r\n"'] [^ \t\r\n]* | '"' [^"]* '"' | "'" [^']* "'"

    HTCondor: tokener::next.
    """
    found = None if at is None else _NOT_BLANK.search(text, at)
    if found is None:
        return None
    start = found.start()
    if found[0] in "\"'":
        close = text.find(found[0], start + 1)
        if close < 0:
            return Word(text[start + 1 :], start, start + 1, None)
        return Word(text[start + 1 : close], start, start + 1, close + 1)
    blank = _BLANK.search(text, start)
    if blank is None:
        return Word(text[start:], start, start, None)
    return Word(text[start : blank.start()], start, start, blank.start())


class Pattern(NamedTuple):
    """A regular expression between slashes, its options, and where the next word is looked for."""

    text: str
    options: str
    next: int


def pattern(text: str, word: Word) -> Pattern | None:
    """Return the regular expression that begins at a word; None: it has no end, or an option HTCondor does not know.

    A slash inside cannot be escaped.

    pattern = "/" [^/]* "/" [gimU]*
    """
    close = text.find("/", word.at + 1)
    if close < 0:
        return None
    blank = _BLANK.search(text, close + 1)
    end = len(text) if blank is None else blank.start()
    options = text[close + 1 : end]
    if set(options) - set("gimU"):
        return None
    return Pattern(text[word.at + 1 : close], options, end)
