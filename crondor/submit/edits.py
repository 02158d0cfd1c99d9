"""Edits of a submit description's text, and how they change its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crondor.diagnostics import Source, Span
from crondor.macro import Budget
from crondor.submit.facts import InvalidSubmit
from crondor.submit.file import SubmitFile

_MOST_JOBS = 200  # of each name that are compared one by one; a fix that changes others changes one of the first
_MOST_VALUES = 20_000  # of all names together, except one per queue statement
_MOST_WORK = 1 << 22  # of all macros in these values, as of Budget; the rest has an error instead of a value
_NAME = re.compile(r"[ \t\ufeff]*(\+?[A-Za-z_][\w.]*)[ \t]*[=:]")


class TextEdit(NamedTuple):
    """One change of a file: ``text`` replaces ``span``; an empty span inserts."""

    span: Span
    text: str


class OverlappingEdits(ValueError):
    """Two edits of the same characters."""


def apply(source: Source, edits: Iterable[TextEdit]) -> str:
    """Return the text after some edits of it, in any order; equal edits count once.

    Several insertions at one place keep their order. Raises OverlappingEdits, and ValueError for an edit of another
    source.
    """
    return changed(source, edits).text


class TextChange(NamedTuple):
    """A text after some edits: for each, by its place, the old begin and end, and the new end."""

    text: str
    written: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    def place(self, at: int) -> int:
        """Return where a place of the old text is now; an overwritten place moves to the beginning of its edit."""
        moved = 0
        for (start, end), (new, new_end) in self.written:
            if at < start:
                break
            if at < end or at == start:
                return new
            moved = new_end - end
        return at + moved


def changed(source: Source, edits: Iterable[TextEdit]) -> TextChange:
    """Return the text after some edits like ``apply``, with the information to find a place again."""
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
    """Return the place of a command's value if the text of ``source`` there is that value, as ``literal`` does."""
    if span is None or not value or span.source is not source or span.text != value or "\n" in value:
        return None
    line = source.text[source.text.rfind("\n", 0, span.start) + 1 : span.start]
    written, equals, rest = line.partition("=")
    return span if equals and not rest.strip() and key_of(written) == name else None


def line_end(text: str, at: int) -> str:
    """Return the line end for a new line at a place: that of the line above, or else the first of the text."""
    ends = text.rfind("\n", 0, at)
    if ends < 0:
        ends = text.find("\n")
    return "\r\n" if ends > 0 and text[ends - 1] == "\r" else "\n"


def key_of(written: str) -> str:
    """Return the lower-case key of a name as it is written: ``+X`` is my.x."""
    name = written.strip().lower()
    return f"my.{name[1:]}" if name.startswith("+") else name


class JobsValue(NamedTuple):
    """The value of a name in some jobs of one queue statement: the statement and first ProcId, the number, the text."""

    first: tuple[int, int]
    jobs: int
    text: str


Meaning = dict[str, tuple[object, ...]]


def meaning(file: SubmitFile) -> Meaning:
    """Return the value of each name in the jobs, by its lower-case key; the empty key has the number of jobs.

    Job ads depend on nothing else: if only one name's values differ, only that name has changed the jobs.
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
    """Return the names that differ in meaning; a name without any value counts as missing."""
    return {key for key in one.keys() | other.keys() if one.get(key, ()) != other.get(key, ())}


def touched(source: Source, change: TextChange) -> set[str]:
    """Return the keys of the statements that a change of a source edits, removes or adds.

    The empty key is for anything but an assignment, such as a queue statement.
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
    """Return where the statement of a place begins, including lines continued by a backslash."""
    start = text.rfind("\n", 0, at) + 1
    while start and text[: start - 1].rstrip("\r \t").endswith("\\"):
        start = text.rfind("\n", 0, start - 1) + 1
    return start
