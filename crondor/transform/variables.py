"""The macros of a transform, which its authors call variables: which it defines, and which it reads, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crondor.macro.lines import LogicalLine
from crondor.macro.scan import MacroKind, Scanner
from crondor.macro.statement import split
from crondor.source import Span
from crondor.transform.compiled import Transform

_EVALUATED = re.compile(r"[ \t]*EVALMACRO[ \t]+([^ \t]+)", re.IGNORECASE)
_CONDITION = re.compile(r"[ \t]*(?:if|elif)[ \t]+(?:![ \t]*)?defined[ \t]+([\w.]+)", re.IGNORECASE)
_ARGUMENT = re.compile(r"\$(?:INT|REAL|STRING|EVAL|CHOICE|SUBSTR|BASENAME|DIRNAME|F[pndxfqabuw]*)\(([A-Za-z_][\w.]*)")


class VariableRead(NamedTuple):
    """A variable that a line reads: its lower-case name, where it stands, and the text that is there without it.

    ``default`` None: it has none. ``is_asked``: the line asks alone whether it is defined.
    """

    name: str
    span: Span
    default: str | None = None
    is_asked: bool = False


def defined_by(line: LogicalLine) -> str | None:
    """Return the lower-case name that a line defines, by an assignment or EVALMACRO; None where it defines none."""
    parts = split(line.text.removeprefix(":"))
    if parts.operator in {"=", "+=", "@="} and not parts.is_sentence:
        return f"my.{parts.name[1:].lower()}" if parts.name[:1] in {"+", "-"} else parts.name.lower()
    found = _EVALUATED.match(line.text)
    return found[1].strip('",=').lower() if found is not None else None


def read_by(line: LogicalLine) -> Iterator[VariableRead]:
    """Yield the variables that a line reads; ``$(MY.name)``, which is an attribute, is none."""
    for found in _reads(line):
        if not found.name.startswith("my."):
            yield found


def _reads(line: LogicalLine) -> Iterator[VariableRead]:
    asked = _CONDITION.match(line.text)
    if asked is not None and not asked[1].isdigit():
        yield VariableRead(asked[1].lower(), line.span(*asked.span(1)), is_asked=True)
    for found in _ARGUMENT.finditer(line.text):
        yield VariableRead(found[1].lower(), line.span(*found.span(1)))
    at = line.text.find("$")
    scanner = Scanner(line.text)
    while at >= 0:
        macro = scanner.scan(at)
        if macro.kind is MacroKind.MACRO and macro.name:
            default = line.text[macro.default : macro.end - 1] if macro.default >= 0 else None
            yield VariableRead(macro.name, line.span(macro.at, macro.end), default)
        at = line.text.find("$", max(macro.resume, at + 1))


def from_outside(transform: Transform) -> dict[str, VariableRead]:
    """Return the variables that a transform reads before it defines them itself, by name, in the order of its lines.

    What stands first with a default, or in a condition, is kept as such.
    """
    own: set[str] = set()
    found: dict[str, VariableRead] = {}
    for line in transform.lines:
        for each in read_by(line):
            if each.name not in own and (each.name not in found or (found[each.name].is_asked and not each.is_asked)):
                found[each.name] = each
        if (name := defined_by(line)) is not None:
            own.add(name)
    return found
