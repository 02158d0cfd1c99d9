"""The ads of a routing table's text: separated by blanks and commas, each read on its own.

HTCondor: JobRoute::ParseNext.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.parser import parse_ad
from crondor.classad.tree import AdNode
from crondor.diagnostics import Diagnostic
from crondor.macro.lines import BLANKS
from crondor.source import Source
from crondor.transform.classad_form.placed import STRINGS, Placed, is_closed

SHOWN = 79
"""Characters of a malformed ad that HTCondor logs."""

MAX_WORK = 1 << 20
"""Characters that are read more than once before the rest of a text without sense is left alone."""

MAX_ADS = 100_000

LONGEST = 1 << 16
"""Characters of a malformed ad that are kept."""

MAX_FAULTS = 1000
"""Malformed ads after which the rest of a text is left alone."""

_MARK = re.compile(rf"[\[\]]|{STRINGS}")
_BETWEEN = re.compile(r"(?:[\s,;]|//[^\n]*|/\*[\s\S]*?\*/)*")


class Ad(NamedTuple):
    """An ad that reads, and its place in the text; the offsets of its tree count from ``start``."""

    tree: AdNode
    start: int
    end: int


class _Brackets(NamedTuple):
    """Where brackets open, and what each is closed by; ``None``: by nothing."""

    opens: list[int]
    closes: dict[int, int]


def read_ads(placed: Placed, knob: str, *, faithful: bool = False) -> Iterator[Ad | Diagnostic]:
    """Yield the ads of a text, and a finding for each piece that is none.

    ``faithful``: go on after a fault as condor_transform_ads 25.14 does, right behind the sign that made no sense, so
    that an ad inside a malformed one is taken for a route. Else a malformed ad is left out as a whole.
    """
    text = placed.text
    brackets = _brackets(text)
    at, left, count, faults = 0, len(text) + MAX_WORK, 0, 0
    for opening in brackets.opens:
        if opening < at:
            continue
        if faithful and _is_gone(text, at, opening):
            at = opening + 1
            continue
        if not faithful and (junk := _junk(placed, knob, at, opening)):
            yield junk
        end = brackets.closes.get(opening, len(text))
        left -= end - opening
        count += 1
        if left < 0 or count > MAX_ADS or faults > MAX_FAULTS:
            message = f"{knob} has too many malformed or too many ads: the rest of it is not read"
            yield Diagnostic("legacy-ad", message, span=placed.span(opening, opening + 1))
            return
        try:
            tree = parse_ad(Source(text[opening:end]))
        except ClassAdSyntaxError as error:
            found = _fault(placed, knob, opening, error)
            faults += 1
            at = _resume(text, found, brackets, opening, faithful=faithful)
            said = found.diagnostic
            lost = text[opening : max(opening, at)][:LONGEST]
            yield MalformedAd(said.kind, said.message, said.severity, said.span, said.help, text=lost)
            continue
        yield Ad(tree, opening, end)
        at = end
    if not faithful and (junk := _junk(placed, knob, at, len(text))):
        yield junk


@dataclass(frozen=True)
class MalformedAd(Diagnostic):
    """The finding about an ad that does not read; ``text`` is all of it that is left out."""

    text: str = ""


class _Fault(NamedTuple):
    """What is wrong with an ad, and where the sign begins and ends that makes no sense."""

    diagnostic: Diagnostic
    start: int
    end: int


def _brackets(text: str) -> _Brackets:
    """Find all brackets outside of strings and comments, in one walk."""
    opens: list[int] = []
    closes: dict[int, int] = {}
    stack: list[int] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark == "[":
            opens.append(found.start())
            stack.append(found.start())
        elif mark == "]":
            if stack:
                closes[stack.pop()] = found.end()
        elif not is_closed(found):
            break
    return _Brackets(opens, closes)


def _junk(placed: Placed, knob: str, start: int, end: int) -> Diagnostic | None:
    """Return a finding for text between ads, None for separators and comments."""
    found = _BETWEEN.match(placed.text, start, end)
    begin = found.end() if found else start
    if begin >= end:
        return None
    shown = " ".join(placed.text[begin : min(end, begin + SHOWN)].split())
    message = f"this text of {knob} is in no ad, and is left out: {shown}"
    help_text = "write each route between [ and ]"
    return Diagnostic("legacy-ad", message, span=placed.span(begin, min(end, begin + 1)), help=help_text)


def _fault(placed: Placed, knob: str, opening: int, error: ClassAdSyntaxError) -> _Fault:
    found = error.diagnostics[0]
    text = placed.text
    start = opening if found.span is None else opening + found.span.start
    end = start + 1 if found.span is None else max(start + 1, opening + found.span.end)
    shown = " ".join(text[opening : opening + SHOWN].split())
    message = f"malformed route in {knob}, left out: {found.message}; it begins {shown}"
    if "never closed" in found.message:
        end = len(text)  # HTCondor looks for the closing sign up to the end of the text
    span = placed.span(start, min(end, start + SHOWN))
    return _Fault(Diagnostic("legacy-ad", message, span=span, help=found.help), start, min(end, len(text)))


def _resume(text: str, fault: _Fault, brackets: _Brackets, opening: int, *, faithful: bool) -> int:
    """Return where the next ad is looked for behind a malformed one."""
    if faithful:
        return _read_on(text, fault.start, fault.end)
    closing = brackets.closes.get(opening)
    if closing is not None and not _is_entry(text, fault.start):
        return closing
    first = bisect_left(brackets.opens, fault.start)
    opens = (brackets.opens[number] for number in range(first, len(brackets.opens)))
    return next((each for each in opens if _is_entry(text, each)), len(text))


def _read_on(text: str, start: int, end: int) -> int:
    """Return how far HTCondor has read once it knows where a sign ends: what it looked at is gone.

    That is one character behind a word, a number and a sign that another could follow (``=`` and ``==``), and all
    blanks and one character behind a string, which another string could continue.
    """
    last = text[end - 1 : end]
    if last in {'"', "'"} and end - start > 1:
        while end < len(text) and text[end] in BLANKS:
            end += 1
        return end + 1
    is_open = last.isalnum() or last == "_" or (end - start == 1 and last in "=<>&|!?.-")
    return end + 1 if is_open else end


def _is_gone(text: str, start: int, opening: int) -> bool:
    """Whether HTCondor has looked at a bracket already when it gives up on what stands before it, from ``start`` on."""
    at = opening - 1
    if at >= start and text[at] not in BLANKS:
        is_pair = at > start and text[at - 1] in "=<>&|!?"
        return text[at] in {'"', "'"} or _read_on(text, at - is_pair, opening) > opening
    while at >= start and text[at] in BLANKS:
        at -= 1
    return at >= start and text[at] in {'"', "'"}


def _is_entry(text: str, at: int) -> bool:
    """Whether a bracket opens where an ad may begin: nothing stands before it that would make it a value."""
    if text[at : at + 1] != "[":
        return False
    before = at - 1
    while before >= 0 and text[before] in BLANKS:
        before -= 1
    return before < 0 or text[before] in "];,/"
