"""Minutes and hours in submit files: where a job's stand, and the text of a file with others in their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from crondor.compile.markers import BEGIN, SCHEDULE, is_order
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source, Span
from crondor.spec import HOUR, MINUTE, Field
from crondor.submit import SubmitFile
from crondor.submit.edits import TextEdit, changed, differing, literal_value, meaning

_USE = {field: re.compile(rf"\$[\w]*\(\s*(my\.)?cron_?{field.name}\b", re.IGNORECASE) for field in (MINUTE, HOUR)}


class NotSpread(CrondorError, ValueError):
    """A file in which other minutes would change something else."""


def field_place(field: Field, name: str, values: Mapping[str, str], spans: Mapping[str, Span]) -> Span | None:
    """Return where the minute or hour of a job stands as it is in the file called ``name``, None where it does not.

    ``values`` and ``spans`` have the commands of the job by lower-case name.
    """
    span = spans.get(field.command)
    attribute = field.attribute.lower()
    if span is None or span.source.name != name or attribute in values or f"my.{attribute}" in values:
        return None
    return literal_value(span.source, field.command, values.get(field.command), span)


def why_pinned(field: Field, span: Span) -> str:
    """Say what in its file keeps a minute or hour where it stands, as the end of a sentence; empty: nothing does."""
    text = span.source.text
    if "crondor" in text and any(BEGIN.fullmatch(line) or SCHEDULE.fullmatch(line) for line in text.split("\n")):
        return "its file is compiled from a schedule: change that"
    if _USE[field].search(text):
        return f"something else in its file is made of its {field.name}"
    number = span.line - 1
    while number > 0 and (line := span.source.line(number).strip()).startswith("#"):
        if is_order(line):
            return f"the comment to crondor in line {number} is about it"
        number -= 1
    return ""


def spread_text(source: Source, values: Iterable[tuple[Span, str]], read: Callable[[Source], SubmitFile]) -> Source:
    """Return a file with other minutes and hours at some places. ``read`` is how to read it (files it may include).

    Raises NotSpread where anything but the minutes and hours would change.
    """
    after = Source(changed(source, [TextEdit(span, text) for span, text in values]).text, source.name)
    others = differing(meaning(read(source)), meaning(read(after))) - {MINUTE.command, HOUR.command}
    if others:
        what = ", ".join(sorted(each or "the number of jobs" for each in others)[:3])
        message = f"other minutes would change {what} as well, and the file is left as it is"
        raise NotSpread(Diagnostic("not-spread", message, span=source.span(0, 0), help="keep it with --pin"))
    return after
