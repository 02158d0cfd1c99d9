"""Changes of a text that an editor offers beside the fix of one finding."""

from __future__ import annotations

import re
from typing import Final

from crondor.editing.findings import CheckedText
from crondor.editing.settings import EditSettings
from crondor.lint import TextEdit, select
from crondor.lint.submit import fixed
from crondor.source import Source
from crondor.submit.edits import line_end

_ORDER: Final = re.compile(r"[ \t]*#[ \t]*crondor[ \t]*:[ \t]*ignore[ \t]*\[([^\[\]\r\n]*)\][ \t]*\r?")


def safe_fixes(checked: CheckedText, settings: EditSettings) -> TextEdit | None:
    """Return what makes all safe fixes of a submit description at once, None where there is none to make.

    They are those of `crondor check --fix`: none makes the text worse.
    """
    if checked.report is None or not any(each.fix is not None and each.fix.safe for each in checked.findings):
        return None
    cured = fixed(
        checked.report,
        settings.check,
        lambda found: select(found, settings.chosen, settings.ignored),
        read=settings.read,
    )
    return difference(checked.source, cured.report.source.text)


def difference(source: Source, new: str) -> TextEdit | None:
    """Return the one edit that makes a text another, without what both begin and end with; None for equal ones."""
    old = source.text
    if old == new:
        return None
    most = min(len(old), len(new))
    begin = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - begin) if old[-1 - at] != new[-1 - at]), most - begin)
    return TextEdit(source.span(begin, len(old) - end), new[begin : len(new) - end])


def silenced(source: Source, at: int, code: str) -> TextEdit | None:
    """Return what silences a rule for the statement at an offset: a comment above it, or its code in the one there.

    None where no comment can stand above it.
    """
    text = source.text
    begin = text.rfind("\n", 0, at) + 1
    while begin and text[: begin - 1].removesuffix("\r").endswith("\\"):
        begin = text.rfind("\n", 0, begin - 1) + 1
    above = text.rfind("\n", 0, max(0, begin - 1)) + 1
    order = _ORDER.fullmatch(text, above, max(above, begin - 1)) if begin else None
    if order is not None:
        end = order.end(1)
        return TextEdit(source.span(end, end), f", {code}")
    margin = re.compile(r"[ \t]*").match(text, begin)
    blanks = margin[0] if margin else ""
    return TextEdit(source.span(begin, begin), f"{blanks}# crondor: ignore[{code}]{line_end(text, begin)}")
