"""What a fix would change, as the lines it takes and the lines it puts there."""

from __future__ import annotations

import io
from collections.abc import Iterator
from difflib import unified_diff

from crondor.diagnostics import Source, printable
from crondor.lint import Fix
from crondor.submit.edits import TextEdit, changed

_MOST = 12  # lines shown of one fix
_HEAD = 2  # lines that a unified diff begins with


def change_lines(fix: Fix) -> list[str]:
    """Return the lines of a fix as a diff has them, ``-`` for what goes and ``+`` for what comes; a long one is cut."""
    if not fix.edits:
        return []
    source = fix.edits[0].span.source
    lines = [line for edits in _neighbours(source, fix.edits) for line in _diff(source, edits)]
    more = len(lines) - _MOST
    return lines if more <= 0 else [*lines[:_MOST], f"({more} more lines: --fix shows them)"]


def _neighbours(source: Source, edits: tuple[TextEdit, ...]) -> Iterator[list[TextEdit]]:
    """Yield the edits that share lines, in the order of the text."""
    group: list[TextEdit] = []
    end = -1
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        if group and edit.span.start > end:
            yield group
            group = []
        group.append(edit)
        end = max(end if len(group) > 1 else 0, _line_end(source, edit.span.end))
    yield group


def _diff(source: Source, edits: list[TextEdit]) -> Iterator[str]:
    start = source.text.rfind("\n", 0, edits[0].span.start) + 1
    end = _line_end(source, max(edit.span.end for edit in edits))
    piece = Source(source.text[start:end], source.name)
    moved = [TextEdit(piece.span(e.span.start - start, e.span.end - start), e.text) for e in edits]
    before, after = (list(io.StringIO(text, newline="\n")) for text in (piece.text, changed(piece, moved).text))
    for line in list(unified_diff(before, after, n=0))[_HEAD:]:
        if not line.startswith("@@"):
            yield f"{line[0]} {printable(line[1:].rstrip(chr(10)).rstrip(chr(13)).expandtabs())}"


def _line_end(source: Source, at: int) -> int:
    found = source.text.find("\n", at)
    return len(source.text) if found < 0 else found + 1
