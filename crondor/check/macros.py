"""Macros that a description uses and nobody defines: every reference of every value, found in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from crondor.macro.scan import MacroFound, MacroKind, Scanner
from crondor.source import Span
from crondor.submit import SubmitFile

AS_WRITTEN: Final = ("ec2_parameter_", "transform_body_", "transformbody_")  # what these mean, others say
_OF_FILES: Final = re.compile(r"F[pnxdqabfwuPNXDQABFWU]*")
_OF_DAGS: Final = frozenset(("job", "retry", "dag_status", "failed_count", "dagmanjobid", "dag_parent_names", "dollar"))
_MOST: Final = 20_000  # references that are looked at


class MacroUse(NamedTuple):
    """A reference without a default to a macro, by its lower-case name."""

    name: str
    span: Span
    key: str = ""  # whose value it is in; nothing for a queue statement
    is_alone: bool = False  # whether it is all of the value


class Macros:
    """The macros of a description: ``defined`` is what it defines or HTCondor provides, ``unknown`` what nobody does.

    ``late`` are those that it defines, but behind the queue statement that uses them.
    """

    def __init__(self, file: SubmitFile) -> None:
        """Look at every value that a job may have, and at the queue statements."""
        variables = {name for queue in file.queues for name in queue.arguments.variables}
        self.defined = frozenset((*file.keys, *variables, "item"))
        self.used: set[str] = set()
        unknown: dict[str, MacroUse] = {}
        left = _MOST
        for use in _uses(file):
            left -= 1
            if left < 0:
                break
            self.used.add(use.name)
            is_known = f"submit.{use.name}" in self.defined or use.name in self.defined or use.name in _OF_DAGS
            if not is_known and use.name not in unknown and not file.provides(use.name):
                unknown[use.name] = use
        self.unknown = tuple(unknown.values())
        self.late = tuple(_late(file)) if len(file.queues) == 1 and file.behind_queue is not None else ()


def _late(file: SubmitFile) -> Iterator[MacroUse]:
    """Yield the macros of which the jobs of the only queue statement see nothing, since they are defined behind it."""
    (queue,) = file.queues
    first: dict[str, int] = {}
    for key, definition in file.definitions:
        first.setdefault(key, definition.version)
    late = {key for key, version in first.items() if version > queue.version} - set(queue.arguments.variables)
    told: set[str] = set()
    for use in _uses(file, queue.version) if late else ():
        if use.name in late - told and not file.provides(use.name):
            told.add(use.name)
            yield use


def _uses(file: SubmitFile, until: int | None = None) -> Iterator[MacroUse]:
    """Yield the macros that values refer to, of those defined until a version, and that queue statements do."""
    for key, definition in file.definitions:
        if "$" in definition.text and not key.startswith(AS_WRITTEN) and (until is None or definition.version <= until):
            yield from _of_text(definition.text, definition.span, key)
    for queue in file.queues[:_MOST] if until is None else ():
        if "$" in queue.span.text:
            yield from _of_text(queue.span.text.partition("\n")[0], queue.span)


def _of_text(text: str, span: Span, key: str = "") -> Iterator[MacroUse]:
    scanner, place, whole = Scanner(text), places_in(span, text), text.strip()
    at = text.find("$")
    while at >= 0:
        found = scanner.scan(at)
        name = _name(text, found)
        if name:
            yield MacroUse(name, place(found.at, found.end), key, text[found.at : found.end] == whole)
        at = text.find("$", found.resume)


def _name(text: str, found: MacroFound) -> str:
    """Return the macro without which what was found gives nothing, nothing where there is a default."""
    if found.kind is MacroKind.MACRO:
        return found.name if found.default < 0 else ""
    if found.kind is MacroKind.FUNCTION and _OF_FILES.fullmatch(found.name):
        body = text[text.index("(", found.at) + 1 : found.end - 1]
        return body.lower() if re.fullmatch(r"[\w.]+", body) else ""
    return ""


def places_in(span: Span, text: str) -> Callable[[int, int], Span]:
    """Return what says where parts of a definition are written, asked for in their order.

    They are in its own text, or found by their look where lines were joined.
    """
    written = span.text
    if written.startswith(text):
        return span.part
    at = 0

    def found(start: int, end: int) -> Span:
        nonlocal at
        here = written.find(text[start:end], at)
        if here < 0:
            return span
        at = here
        return span.part(here, here + end - start)

    return found
