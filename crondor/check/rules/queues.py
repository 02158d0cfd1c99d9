"""CRN59..: queue statements that make other jobs than they seem to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.knowledge import submit_commands

_IN: Final = re.compile(r"(?<![\w.])in(?=[ \t])", re.IGNORECASE)
_TABLE: Final = re.compile(r"[\w./~+-]+\.(?:txt|csv|tsv|list|lst|lis|items|table)", re.IGNORECASE)
_ONE_LINE: Final = re.compile(r"(?<![\w.])from[ \t]*\((?P<row>[^()\n]*\S[^()\n]*)\)[ \t]*$", re.IGNORECASE)


_NEXT_LINE: Final = re.compile(
    r"\\\r?\n[ \t]*(?:(?P<name>[A-Za-z_]\w*)[ \t]+=(?!=)|queue[ \t]*(?=\r?\n|\Z|\d|\w+[ \t]+(?:in|from|matching)\b))",
    re.IGNORECASE,
)


@rule(
    "CRN590",
    "in-file",
    Severity.WARNING,
    "`in` before the name of a file: the name is the item, not its lines",
    most=MANY,
)
def in_file(file: CheckedFile) -> Iterator[RuleHit]:
    """`queue x in list.txt` makes one job, whose x is list.txt; `from` takes the lines of a file."""
    for queue in file.submit.queues if file.submit is not None else ():
        text = queue.span.text.partition("\n")[0]
        found = _IN.search(text)
        items = text[found.end() :].strip() if found is not None else ""
        if found is not None and _TABLE.fullmatch(items):
            at = text.rindex(items)
            message = f"this makes one job, and its item is the name {items} itself: no line of the file is read"
            edit = TextEdit(queue.span.part(found.start(), found.end()), "from")
            is_here = queue.span.source is file.source
            fix = Fix("write from", (edit,), safe=False) if is_here else None
            yield RuleHit(message, queue.span.part(at, at + len(items)), f"write from {items}", fix)


@rule("CRN591", "one-column", Severity.WARNING, "variables of a queue statement that never have a value", most=MANY)
def one_column(file: CheckedFile) -> Iterator[RuleHit]:
    """Each item of `in` is one word, so that the first variable takes it; `from ( rows )` has a value for each."""
    for queue in file.submit.queues if file.submit is not None else ():
        arguments = queue.arguments
        items = arguments.items
        if len(arguments.variables) > 1 and items is not None and not items.are_rows and not arguments.kinds:
            first, *others = arguments.variables
            message = f"each item of `in` is one word, and {first} takes it: {', '.join(others[:3])} stays empty"
            yield RuleHit(message, queue.span, "write from ( ... ), with a line for each job")


@rule("CRN592", "one-row", Severity.WARNING, "several words in one row: one job where several may be meant", most=MANY)
def one_row(file: CheckedFile) -> Iterator[RuleHit]:
    """`queue x from (a b c)` is one row, and x is all of it; `in` makes a job of each word."""
    for queue in file.submit.queues if file.submit is not None else ():
        text = queue.span.text.partition("\n")[0]
        found = _ONE_LINE.search(text)
        words = re.split(r"[ \t,]+", found["row"].strip()) if found is not None else []
        if found is not None and len(queue.arguments.variables) == 1 and len(words) > 1:
            name = queue.arguments.variables[0]
            message = f"this is one row, and makes one job: {name} is `{found['row'].strip()[:40]}`"
            edit = TextEdit(queue.span.part(found.start(), found.start() + 4), "in")
            fix = Fix("write in", (edit,), safe=False) if queue.span.source is file.source else None
            yield RuleHit(message, queue.span.part(found.start(), found.end()), "write in, for a job of each word", fix)


@rule("CRN593", "swallowed", Severity.WARNING, "a backslash that makes the next line a part of the value", most=MANY)
def swallowed(file: CheckedFile) -> Iterator[RuleHit]:
    """A backslash at the end of a line goes on with the next one, whatever that is: a queue statement, a command."""
    for _, definition in file.submit.definitions if file.submit is not None else ():
        text = definition.span.text
        for found in _NEXT_LINE.finditer(text) if "\\\n" in text or "\\\r\n" in text else ():
            name = found["name"]
            if name is not None and not submit_commands().is_one(name.lower()):
                continue
            what = "the queue statement" if name is None else f"the line of {name}"
            at = found.start()
            place = definition.span.part(at, at + 1)
            message = f"this backslash makes {what} at line {place.line + 1} a part of the value"
            fix = Fix("remove the backslash", (TextEdit(place, ""),), safe=False)
            is_here = place.source is file.source
            yield RuleHit(message, place, "remove the backslash", fix if is_here else None)
