"""The parts of one statement: a name, an operator, a value; or a queue statement's arguments.

HTCondor: Parse_macros.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crondor.macro import BLANKS

_HEAD = re.compile(r"([^ \t\r\n\v\f=:]*)([ \t\r\n\v\f]*)")
_OPERATOR = re.compile(r"[=:@+]")
_APPEND = r"\+(?:([,;|&*])(\1)?)?="
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_CONDITIONALS = frozenset(("if", "elif", "else", "endif"))
_QUEUES = frozenset(("queue", "iter", "itera", "iterat", "iterate"))
_LONGEST = len("iterate") + 1


class Statement(NamedTuple):
    """A line taken apart: ``operator`` is ``=``, ``:``, ``@=``, ``+=`` or nothing; ``value`` is where a value begins.

    ``is_sentence`` says that words stand between the name and the operator; ``joint`` is what ``+=`` puts between
    the old text and the new one.
    """

    name: str
    operator: str
    at: int
    value: int
    is_sentence: bool
    joint: str = " "


def split(text: str) -> Statement:
    """Take a line apart; never fails, since what is no statement has no operator.

    parts = word text? operator text
    operator = "=" | ":" | "@=" | append
    append = "+" ([,;|&*] | ",," | ";;" | "||" | "&&" | "**")? "="
    """
    head = _HEAD.match(text)
    name, at = (head[1], head.end()) if head else ("", 0)
    is_sentence = False
    found = _OPERATOR.match(text, at)
    if found is None and at < len(text):
        is_sentence = True
        found = _OPERATOR.search(text, at)
    if found is None:
        return Statement(name, "", at, at, is_sentence)
    at, operator, end, joint = found.start(), found[0], found.end(), " "
    if operator == "@":
        operator, end = ("@=", end + 1) if text.startswith("=", end) else ("", end)
    elif operator == "+":
        append = re.compile(_APPEND).match(text, at)
        operator, end = ("+=", append.end()) if append else ("", end)
        if append and append[1]:
            joint = f" {append[1] * 2} " if append[2] else append[1]
    value = len(text) - len(text[end:].lstrip(BLANKS))
    return Statement(name, operator, at, value, is_sentence, joint)


def is_name(text: str) -> bool:
    """Whether HTCondor takes the text for the name of a macro (is_valid_param_name).

    name = [A-Za-z0-9_./]+
    """
    return bool(text) and _NAME.issuperset(text)


def is_hidden_if(text: str) -> bool:
    """Whether a line is an if behind a colon, which hides it from releases that know no conditionals."""
    return text[:3] == ":if" and text[3:4] in {"", *BLANKS}


def conditional(text: str) -> str:
    """Return the keyword of an if, elif, else or endif line in lower case, else nothing."""
    word = _first_word(text)
    return word if word in _CONDITIONALS else ""


def queue_arguments(text: str) -> int | None:
    """Return where the arguments of a queue statement begin, None if the line is none (``iterate`` is the same)."""
    word = _first_word(text)
    if word not in _QUEUES:
        return None
    return len(text) - len(text[len(word) :].lstrip(BLANKS))


def _first_word(text: str) -> str:
    """Return the first word in lower case, cut where it is too long to be one that matters."""
    word = text[:_LONGEST]
    for index, char in enumerate(word):
        if char in BLANKS:
            return word[:index].lower()
    return word.lower()
