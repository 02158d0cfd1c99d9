"""Comments that silence rules: ``# crondor: ignore[CRN101]`` above a line, ``ignore-file[...]`` anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crondor.source import Source, Span

_COMMENT = re.compile(r"^[ \t]*#[ \t]*crondor[ \t]*:(.*)$", re.MULTILINE)
_ORDER = re.compile(r"[ \t]*(ignore|ignore-file)[ \t]*\[([^\[\]]*)\][ \t]*\r?")
_CODE = re.compile(r"[A-Za-z0-9]+")


class Order(NamedTuple):
    """One code in a comment: its place, and the lines it is about (from 1; all of them where ``last`` is None)."""

    span: Span
    first: int
    last: int | None

    @property
    def prefix(self) -> str:
        """The code, or its beginning, in capitals."""
        return self.span.text.upper()

    def covers(self, code: str, line: int) -> bool:
        """Say whether a finding with that code, which begins on that line, is meant."""
        return code.startswith(self.prefix) and self.first <= line and (self.last is None or line <= self.last)


class Comments:
    """The comments of one source that speak to crondor; ``orders`` as they stand, ``malformed`` what cannot be read."""

    def __init__(self, source: Source) -> None:
        """Read them."""
        self.orders: list[Order] = []
        self.malformed: list[Span] = []
        if "crondor" not in source.text:
            return
        for comment in _COMMENT.finditer(source.text):
            order = _ORDER.fullmatch(comment[1])
            codes = list(_CODE.finditer(order[2])) if order else []
            if order is None or not codes:
                self.malformed.append(source.span(comment.start(), comment.start() + len(comment[0].rstrip("\r"))))
                continue
            whole = order[1] == "ignore-file"
            first, last = (1, None) if whole else _statement_below(source, source.position(comment.start())[0])
            at = comment.start(1) + order.start(2)
            self.orders += [Order(source.span(at + c.start(), at + c.end()), first, last) for c in codes]

    def covering(self, code: str, line: int) -> Iterator[Order]:
        """Yield the orders that silence a finding."""
        return (order for order in self.orders if order.covers(code, line))


def _statement_below(source: Source, line: int) -> tuple[int, int]:
    """Return the first and the last line of the statement that follows a line."""
    lines = source.text.count("\n") + 1
    first = line + 1
    while first < lines and _is_passed_over(source.line(first)):
        first += 1
    last = first
    while last < lines and source.line(last).rstrip().endswith("\\"):
        last += 1
    return first, last


def _is_passed_over(text: str) -> bool:
    text = text.strip()
    return not text or text.startswith("#")
