"""Changing a description by what its fixes say, and making such changes of one job's commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crondor.check.rule import Fix, TextEdit
from crondor.check.subject import CheckedJob
from crondor.check.suppress import is_order
from crondor.source import Source, Span


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


def compatible(source: Source, fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that can be applied to a source at once: each that overlaps none taken before it.

    What is left out can be found again, and applied, once the others are.
    """
    taken: dict[TextEdit, None] = {}
    chosen: list[Fix] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in taken]
        if all(edit.span.source is source and not any(_meet(edit, other) for other in taken) for edit in new):
            taken.update(dict.fromkeys(new))
            chosen.append(fix)
    return chosen


def _meet(one: TextEdit, other: TextEdit) -> bool:
    """Say whether two edits cannot both be made: of the same characters, or insertions of one command at one place."""
    a, b = one.span, other.span
    if a.start == a.end == b.start == b.end:
        return one.text.partition("=")[0] == other.text.partition("=")[0]
    return a.start < b.end and b.start < a.end


def literal(job: CheckedJob, name: str) -> Span | None:
    """Return where the value of a command stands in the checked file as it is: with no macro, in no list of items.

    None where a replacement there would not be one of the value.
    """
    return literal_value(job.file.source, name, job.values.get(name), job.group.spans.get(name))


def literal_value(source: Source, name: str, value: str | None, span: Span | None) -> Span | None:
    """Return the place of a command's value where the text of ``source`` there is that value, as ``literal`` does."""
    if span is None or not value or span.source is not source or span.text != value or "\n" in value:
        return None
    line = source.text[source.text.rfind("\n", 0, span.start) + 1 : span.start]
    written, equals, rest = line.partition("=")
    return span if equals and not rest.strip() and key_of(written) == name else None


def replacement(job: CheckedJob, name: str, text: str) -> TextEdit | None:
    """Return the edit that gives a command another value, None where it is not literal."""
    span = literal(job, name)
    return None if span is None else TextEdit(span, text)


def joined(job: CheckedJob, name: str, operator: str, clause: str) -> TextEdit | None:
    """Return the edit that joins a clause to the expression of a command, ``(expression) operator clause``.

    None where the value is not literal, and where it is no expression: nobody can say what would become of it.
    """
    from crondor.check.expressions import faults  # noqa: PLC0415 - the engine takes 17 ms, and few files need it

    made = f"({job.values[name]}) {operator} {clause}"  # of which a comment may have eaten the clause
    return None if faults(job.values[name], name) or faults(made, name) else replacement(job, name, made)


def insertion(job: CheckedJob, name: str, value: str) -> TextEdit | None:
    """Return the edit that sets a command on a line of its own, before the job's queue statement.

    It holds for the queue statements that follow as well. None where the statement is not of the checked file, or
    no line can be put there.
    """
    source, queue = job.file.source, job.group.queue
    text = source.text
    if queue is not None and queue.source is not source:
        return None
    at = len(text) if queue is None else text.rfind("\n", 0, queue.start) + 1
    if queue is not None and text[at : queue.start].strip():
        return None
    at = at if queue is None else _above_comments(text, at)
    before = text[text.rfind("\n", 0, max(0, at - 1)) + 1 : at].strip()
    if before.endswith("\\"):
        return None
    end = line_end(text, at)
    begin = end if at and text[at - 1] != "\n" else ""
    return TextEdit(source.span(at, at), f"{begin}{name} = {value}{end}")


def line_end(text: str, at: int) -> str:
    """Return what ends a new line at a place: what ends the line above it, or else the first of the text."""
    ends = text.rfind("\n", 0, at)
    if ends < 0:
        ends = text.find("\n")
    return "\r\n" if ends > 0 and text[ends - 1] == "\r" else "\n"


def _above_comments(text: str, at: int) -> int:
    """Return the place above the comments to crondor about a line: they would speak of what is put below them."""
    top = start = at
    while start:
        start = text.rfind("\n", 0, start - 1) + 1
        line = text[start:top].lstrip()
        if not line.startswith("#"):
            break
        if is_order(line):
            at = start
        top = start
    return at


def key_of(written: str) -> str:
    """Return the lower-case key of a name as it is written: ``+X`` is my.x."""
    name = written.strip().lower()
    return f"my.{name[1:]}" if name.startswith("+") else name
