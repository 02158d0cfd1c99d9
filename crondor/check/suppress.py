"""Comments that silence rules, ``# crondor: ignore[CRN101]`` above a line or ``ignore-file[...]`` anywhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from crondor.check.rule import Finding, Rule
from crondor.compile.markers import BEGIN, END, EXPECTED, SCHEDULE
from crondor.source import Source, Span

_COMMENT = re.compile(r"^[ \t]*#[ \t]*crondor[ \t]*:(.*)$", re.MULTILINE)
_ORDER = re.compile(r"[ \t]*(ignore|ignore-file)[ \t]*\[([^\[\]]*)\][ \t]*\r?")
_CODE = re.compile(r"[A-Za-z0-9]+")
_LIST = re.compile(r"[ \t]*[A-Za-z0-9]+[ \t]*(,[ \t]*[A-Za-z0-9]+[ \t]*)*")
_MOST = 1000  # orders of one source; a file with more is not for people


def is_order(line: str) -> bool:
    """Say whether a line is a comment that speaks to crondor."""
    return _COMMENT.match(line) is not None


class Suppression(NamedTuple):
    """One code in a comment: its place, and the lines it is about (from 1; all of them where ``last`` is None)."""

    span: Span
    prefix: str  # the code, or its beginning, in capitals
    first: int
    last: int | None

    def covers(self, code: str, line: int) -> bool:
        """Say whether a finding with that code, which begins on that line, is meant."""
        return code.startswith(self.prefix) and self.first <= line and (self.last is None or line <= self.last)


class Comments:
    """The comments of one source that speak to crondor; ``orders`` as they stand, ``malformed`` what cannot be read."""

    def __init__(self, source: Source) -> None:
        """Read them."""
        self.orders: list[Suppression] = []
        self.malformed: list[Span] = []
        self._compiled: list[Suppression] = []
        self._by_line: dict[int, list[Suppression]] = {}
        if "crondor" in source.text:
            self._read(source)
        for order in self.orders:
            self._by_line.setdefault(0 if order.last is None else order.first, []).append(order)
        self._firsts = sorted(self._by_line)

    def covering(self, code: str, line: int) -> Iterator[Suppression]:
        """Yield the orders that silence a finding; the markers of compiled lines are some."""
        yield from (order for order in self._compiled if order.covers(code, line))
        if not self._firsts:
            return
        near = self._firsts[bisect_right(self._firsts, line) - 1] if line >= self._firsts[0] else 0
        for first in dict.fromkeys((0, near)):  # statements do not overlap
            yield from (order for order in self._by_line.get(first, ()) if order.covers(code, line))

    def _read(self, source: Source) -> None:
        statements = _Statements(source)
        for comment in _COMMENT.finditer(source.text):
            if self._is_of_schedule(source, comment):
                continue
            order = _ORDER.fullmatch(comment[1])
            if order is None or not _LIST.fullmatch(order[2]) or len(self.orders) + order[2].count(",") >= _MOST:
                self.malformed.append(source.span(comment.start(), comment.start() + len(comment[0].rstrip("\r"))))
                if len(self.malformed) >= _MOST:
                    return
                continue
            whole = order[1] == "ignore-file"
            first, last = (1, None) if whole else statements.below(source.position(comment.start())[0])
            at = comment.start(1) + order.start(2)
            spans = (source.span(at + c.start(), at + c.end()) for c in _CODE.finditer(order[2]))
            self.orders += [Suppression(span, span.text.upper(), first, last) for span in spans]

    def _is_of_schedule(self, source: Source, comment: re.Match[str]) -> bool:
        """Say whether a comment is a schedule or a marker of compiled lines, and take note of these."""
        text = comment[0].rstrip("\r")
        if BEGIN.fullmatch(text):
            span, line = source.span(comment.start(), comment.end()), source.position(comment.start())[0]
            self._compiled = [Suppression(span, code, line, None) for code in EXPECTED]
        elif END.fullmatch(text):
            last = source.position(comment.start())[0]
            self._compiled = [order._replace(last=last) for order in self._compiled]
        else:
            return SCHEDULE.fullmatch(text) is not None
        return True


class Silence(NamedTuple):
    """The comments of a source, those of their orders that silenced something, and the codes there are.

    ``is_whole``: the description could be read, so that what was not found is not there.
    """

    comments: Comments
    used: frozenset[Suppression]
    codes: frozenset[str]
    is_whole: bool = True


def heard(
    findings: Iterable[Finding],
    source: Source,
    rules: Iterable[Rule[Silence]],
    codes: Collection[str],
    *,
    is_whole: bool,
) -> tuple[list[Finding], list[Finding]]:
    """Part the findings that comments silence from the others, and add what is wrong with the comments of ``source``.

    ``rules`` are those about comments, ``codes`` all that a comment may name; ``is_whole``: the text could be read,
    so that what was not found is not there.
    """
    comments: dict[Source, Comments] = {source: Comments(source)}
    used: set[Suppression] = set()
    found: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        span = finding.diagnostic.span
        orders: list[Suppression] = []
        if span is not None:
            if span.source not in comments:
                comments[span.source] = Comments(span.source)
            orders = list(comments[span.source].covering(finding.diagnostic.code, span.line))
        used.update(orders)
        (silenced if orders else found).append(finding)
    silence = Silence(comments[source], frozenset(used), frozenset(codes), is_whole)
    for comment_rule in rules:
        found += comment_rule.findings(silence)
    return found, silenced


class _Statements:
    """Finds the statement below a line, for lines that come in order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = source.text.count("\n") + 1
        self._found = (0, 0)

    def below(self, line: int) -> tuple[int, int]:
        """Return the first and the last line of the statement that follows a line (from 1)."""
        if line < self._found[0]:
            return self._found  # nothing but comments and blank lines stands between the two
        first = line + 1
        while first < self._count and _is_passed_over(self._source.line(first)):
            first += 1
        last = first
        while last < self._count and _continues(self._source.line(last)):
            last += 1
        self._found = first, last
        return self._found


def _continues(text: str) -> bool:
    """Say whether the statement goes on below a line; a comment within it does not end it."""
    return text.rstrip().endswith("\\") or text.lstrip().startswith("#")


def _is_passed_over(text: str) -> bool:
    text = text.strip()
    return not text or text.startswith("#")
