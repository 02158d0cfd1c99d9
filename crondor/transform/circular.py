"""Attributes that transforms in a row make refer to themselves, whatever the job is.

The lines are run on ads that stand for all others: one that has every attribute they name, with expressions that lead
nowhere, and one that has none; and on each way through their conditions.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.classad.circles import Circle, circles, new_circles
from crondor.classad.scope import Code
from crondor.diagnostics import Diagnostic, Severity
from crondor.macro.lines import LogicalLine
from crondor.transform.apply import TransformRun
from crondor.transform.compiled import Transform
from crondor.transform.facts import TransformFacts

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SETS: Final = re.compile(r"(?i)[ \t]*(?:SET|DEFAULT|COPY|RENAME)[ \t]")
_SOME: Final = "TARGET.Unknown"
_FIXED: Final = re.compile(r"(?i)[ \t]*(?:!?[ \t]*(?:[0-9.]+|true|false|yes|no|t|f)|version\b.*)[ \t]*").fullmatch
_MOST_LINES: Final = 20_000
_ALL_WAYS: Final = 4  # conditions of which each combination is tried
_ONE_BY_ONE: Final = 30  # conditions each of which is tried against all others
_OF_THE_MACHINE: Final = frozenset(("requirements", "rank"))


def find_circles(transforms: Sequence[Transform], facts: TransformFacts) -> Iterator[Diagnostic]:
    """Yield a fault for each circle that lines of the transforms close; a warning where it is not always gone round."""
    if sum(len(each.lines) for each in transforms) > _MOST_LINES or not _may_close(transforms, facts):
        return
    told: set[frozenset[str]] = set()
    found = [each for names in (_names(transforms), ()) for each in _of_ways(transforms, facts, names)]
    for circle, spelled, line in sorted(found, key=lambda each: not each[0].is_sure):
        if frozenset(circle.names) not in told:
            told.add(frozenset(circle.names))
            yield circular(circle, spelled, line)


def circular(circle: Circle, spelled: Mapping[str, str], line: LogicalLine | None) -> Diagnostic:
    """Return what to say of a circle that a line of a transform closes."""
    severity = Severity.ERROR if circle.is_sure else Severity.WARNING
    span = None if line is None else line.span()
    text = "" if line is None else line.text
    return Diagnostic("circle", circle.message(spelled), severity, span, instead(circle, spelled, text))


def instead(circle: Circle, spelled: Mapping[str, str], text: str) -> str:
    """Return what to write in place of the text of a line that closes a circle."""
    keyword, *words = _WORD.findall(text) or [""]
    name = spelled.get(circle.names[0], circle.names[0])
    if keyword.upper() in {"COPY", "RENAME"}:
        return f"write EVALSET {' '.join(reversed(words[:2]))} to take the value, not the expression"
    if len(circle.names) > 1:
        return "COPY one of them to another name first, and refer to that"
    if name.lower() in _OF_THE_MACHINE or "target." in text.lower():
        return f"write $(MY.{name}) for the expression that the job has"
    return f"write EVALSET {name} for its value, or $(MY.{name}) for the expression that the job has"


def new_warnings(before: ClassAd, after: ClassAd, known: Container[str] = ()) -> list[Diagnostic]:
    """Return warnings of circles that changes of an ad have closed, without those whose message is known."""
    found = [circular(circle, after.names, None) for circle in new_circles(before.codes, after.codes)]
    return [as_warning(each) for each in found if each.message not in known]


def as_warning(found: Diagnostic) -> Diagnostic:
    """Return what is said of a circle where that ends nothing: HTCondor does all the same what is asked."""
    return replace(found, severity=Severity.WARNING)


class _Probe(TransformRun):
    """A run that goes a way of its own through conditions, and notes which line set an attribute."""

    is_plannable = False  # each line is run by itself

    def __init__(self, ad: ClassAd, facts: TransformFacts, way: Sequence[bool]) -> None:
        super().__init__(ad, facts, {}, facts.defaults(iterates=False))
        self.asked = 0
        self.writers: dict[str, LogicalLine] = {}
        self.spelled: dict[str, str] = {}
        self._way = way

    def condition(self, keyword: str, text: str) -> None:
        if keyword in {"if", "elif"} and not _FIXED(text):
            text = "true" if self.asked >= len(self._way) or self._way[self.asked] else "false"
            self.asked += 1
        super().condition(keyword, text)

    def put(self, key: str, name: str, code: Code | str) -> None:
        super().put(key, name, code)
        if self.line is not None:
            self.writers.pop(key, None)  # the last one stands last
            self.writers[key] = self.line.line
        self.spelled[key] = name


_Found: TypeAlias = "tuple[Circle, Mapping[str, str], LogicalLine]"


def _of_ways(transforms: Sequence[Transform], facts: TransformFacts, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the circles on each way through the conditions, for ads that have some attributes."""
    first = _probe(transforms, facts, names, ())
    yield from _closed(first, is_forced=bool(first.asked))
    count = first.asked
    ways: Sequence[Sequence[bool]]
    if count <= _ALL_WAYS:
        ways = list(product((True, False), repeat=count))[1:]
    else:
        others = [[at == taken for at in range(count)] for taken in range(count if count <= _ONE_BY_ONE else 0)]
        ways = [[False] * count, *others]
    for way in ways:
        yield from _closed(_probe(transforms, facts, names, way), is_forced=True)


def _probe(transforms: Sequence[Transform], facts: TransformFacts, names: Sequence[str], way: Sequence[bool]) -> _Probe:
    run = _Probe(
        ClassAd.of(dict.fromkeys(map(str.lower, names), _SOME), {name.lower(): name for name in names}), facts, way
    )
    for transform in transforms:
        if transform.run(run) is not None:
            break
    return run


def _closed(run: _Probe, *, is_forced: bool) -> Iterator[_Found]:
    for circle in circles(run.codes, run.writers):
        if run.writers.keys().isdisjoint(circle.names):
            continue
        is_sure = circle.is_sure and (not is_forced or len(circle.names) == 1)
        last = [name for name in run.writers if name in circle.names][-1]
        at = circle.names.index(last)
        turned = Circle((*circle.names[at:], *circle.names[:at]), is_sure)
        yield turned, run.spelled, run.writers[last]


def _names(transforms: Sequence[Transform]) -> list[str]:
    """Return every word of the lines: the names of all attributes are among them."""
    words = {word.lower(): word for each in transforms for line in each.lines for word in _WORD.findall(line.text)}
    return list(words.values())


def _may_close(transforms: Sequence[Transform], facts: TransformFacts) -> bool:
    """Say whether an attribute that lines set may lead to itself: whether its name stands in what is set at all."""
    targets: set[str] = set()
    words: set[str] = set()
    for transform in transforms:
        for line in transform.lines:
            found = [word.lower() for word in _WORD.findall(line.text)]
            if not _SETS.match(line.text):
                words.update(found)  # of a macro, perhaps
            elif len(found) > 1:
                is_move = found[0] in {"copy", "rename"}
                targets.update(found[1:] if is_move else found[1:2])
                words.update(found[1:] if is_move else found[2:])
            if "$(" in line.text:
                texts = [facts.knobs.get(word, "") for word in found]
                words.update(word.lower() for text in texts for word in _WORD.findall(text))
    return not targets.isdisjoint(words)
