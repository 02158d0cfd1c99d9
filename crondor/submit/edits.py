"""Changes of a submit description's text, and what they change of its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crondor.diagnostics import Source, Span
from crondor.macro import Budget
from crondor.submit.facts import InvalidSubmit
from crondor.submit.file import SubmitFile

_MOST_JOBS = 200  # of each name that are looked at one by one; a fix that changes others changes one of the first
_MOST_VALUES = 20_000  # of all names together, but for one of each queue statement
_MOST_WORK = 1 << 22  # of all macros in these values, as of Budget; what is beyond says why it has none
_NAME = re.compile(r"[ \t\ufeff]*(\+?[A-Za-z_][\w.]*)[ \t]*[=:]")


class TextEdit(NamedTuple):
    """One change of a file: ``text`` in the place of ``span``; an empty span inserts."""

    span: Span
    text: str


class OverlappingEdits(ValueError):
    """Two edits that want the same characters."""


def apply(source: Source, edits: Iterable[TextEdit]) -> str:
    """Return the text after some edits of it, in whatever order they come; equal edits count once.

    Several insertions at one place stand there in the order given. Raises OverlappingEdits, and ValueError for an
    edit of another source.
    """
    return changed(source, edits).text


class TextChange(NamedTuple):
    """A text after some edits: for each, by its place, where it began and ended before, and what it wrote does now."""

    text: str
    written: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    def place(self, at: int) -> int:
        """Return where a place of the old text is now; one that was written over is where that begins."""
        moved = 0
        for (start, end), (new, new_end) in self.written:
            if at < start:
                break
            if at < end or at == start:
                return new
            moved = new_end - end
        return at + moved


def changed(source: Source, edits: Iterable[TextEdit]) -> TextChange:
    """Return the text after some edits as ``apply`` does, and what it takes to find a place again."""
    text = source.text
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end))
    pieces: list[str] = []
    written: list[tuple[tuple[int, int], tuple[int, int]]] = []
    at = size = 0
    for span, new in ordered:
        if span.source is not source:
            raise ValueError(f"an edit of {span.source.name}, not of {source.name}")
        if span.start < at:
            raise OverlappingEdits(f"{span.location}: two edits of the same characters")
        pieces += text[at : span.start], new
        size += span.start - at
        written.append(((span.start, span.end), (size, size + len(new))))
        size += len(new)
        at = span.end
    return TextChange("".join((*pieces, text[at:])), tuple(written))


def literal_value(source: Source, name: str, value: str | None, span: Span | None) -> Span | None:
    """Return the place of a command's value where the text of ``source`` there is that value, as ``literal`` does."""
    if span is None or not value or span.source is not source or span.text != value or "\n" in value:
        return None
    line = source.text[source.text.rfind("\n", 0, span.start) + 1 : span.start]
    written, equals, rest = line.partition("=")
    return span if equals and not rest.strip() and key_of(written) == name else None


def line_end(text: str, at: int) -> str:
    """Return what ends a new line at a place: what ends the line above it, or else the first of the text."""
    ends = text.rfind("\n", 0, at)
    if ends < 0:
        ends = text.find("\n")
    return "\r\n" if ends > 0 and text[ends - 1] == "\r" else "\n"


def key_of(written: str) -> str:
    """Return the lower-case key of a name as it is written: ``+X`` is my.x."""
    name = written.strip().lower()
    return f"my.{name[1:]}" if name.startswith("+") else name


class JobsValue(NamedTuple):
    """What a name comes to in some jobs of one queue statement: that and the first ProcId, how many, the text."""

    first: tuple[int, int]
    jobs: int
    text: str


Meaning = dict[str, tuple[object, ...]]


def meaning(file: SubmitFile) -> Meaning:
    """Return what each name comes to in the jobs, by its lower-case key; under the empty key how many there are.

    The job ads are made of nothing else: where only one name's values differ, only that name has changed them.
    """
    found: Meaning = {"": tuple(queue.jobs for queue in file.queues)}
    budget = Budget(_MOST_WORK)
    most = len(file.queues) + min(_MOST_JOBS, _MOST_VALUES // max(1, len(file.keys)))
    for key in file.keys:
        values: list[object] = []
        try:
            groups = file.groups((key,), most, in_order=True, budget=budget)
            values.extend(JobsValue(each.first, each.count, each.values[key]) for each in groups if key in each.values)
        except InvalidSubmit as error:
            values.append(tuple(fault.kind for fault in error.diagnostics))
        found[key] = tuple(values)
    return found


def differing(one: Meaning, other: Meaning) -> set[str]:
    """Return the names that do not mean the same in both; one that has no value anywhere is as good as none."""
    return {key for key in one.keys() | other.keys() if one.get(key, ()) != other.get(key, ())}


def touched(source: Source, change: TextChange) -> set[str]:
    """Return the keys of the statements that a change of a source writes to, takes away or puts there.

    The empty key stands for what is no assignment: a queue statement, for example.
    """
    before = ((start, end) for (start, end), _ in change.written)
    after = ((start, end) for _, (start, end) in change.written)
    return {*_keys(source.text, before), *_keys(change.text, after)}


def _keys(text: str, places: Iterable[tuple[int, int]]) -> Iterator[str]:
    for start, end in places:
        at = _statement(text, start)
        while at <= end:
            stop = text.find("\n", at)
            line = text[at : len(text) if stop < 0 else stop]
            name = _NAME.match(line)
            if name is not None:
                yield key_of(name[1])
            elif line.strip() and not line.lstrip().startswith("#"):
                yield ""
            if stop < 0 or stop + 1 >= end:
                break
            at = stop + 1


def _statement(text: str, at: int) -> int:
    """Return where the statement begins that a place is in: above the lines that go on after a backslash."""
    start = text.rfind("\n", 0, at) + 1
    while start and text[: start - 1].rstrip("\r \t").endswith("\\"):
        start = text.rfind("\n", 0, start - 1) + 1
    return start
