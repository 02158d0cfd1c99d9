"""CRN8..: what DAGMan refuses in a DAG file, and nodes that do not run as their submit files say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.lint.rule import MANY, Fix, Rule, RuleHit
from crondor.submit.edits import TextEdit

DagFaults = tuple[Source, Iterable[Diagnostic]]
"""A DAG file, and what was found in it and its nodes."""

_TITLES: Final = {
    "CRN801": ("dag-command", Severity.ERROR, "a line of a DAG file that DAGMan refuses"),
    "CRN802": ("dag-undefined", Severity.ERROR, "a node or splice that the DAG does not define"),
    "CRN803": ("dag-twice", Severity.ERROR, "a name that a DAG defines twice"),
    "CRN804": ("dag-file", Severity.ERROR, "a file or folder of a DAG that does not exist"),
    "CRN805": ("dag-cycle", Severity.ERROR, "nodes that wait for each other"),
    "CRN806": ("dag-recursive", Severity.ERROR, "a DAG file that includes itself, or too much to read"),
    "CRN807": ("dag-kind", Severity.ERROR, "a command that is not possible for this kind of node"),
    "CRN808": ("dag-waits", Severity.WARNING, "a node that waits for a time"),
    "CRN809": ("dag-queues", Severity.WARNING, "a queue statement that DAGMan does not read"),
    "CRN810": ("dag-replaced", Severity.WARNING, "a value of VARS that the submit file replaces"),
}


def _hits(faults: DagFaults, code: str) -> Iterator[RuleHit]:
    source, found = faults
    for each in found:
        if each.code == code:
            is_here = each.fix is not None and each.span is not None and each.span.source is source
            edits = (TextEdit(each.span, each.fix),) if is_here and each.span and each.fix else ()
            fix = Fix(f"write {each.fix}", edits, safe=False) if edits else None
            yield RuleHit(each.message, each.span, each.help, fix, each.severity)


def _rule(code: str, name: str, severity: Severity, title: str) -> Rule[DagFaults]:
    return Rule(code, name, severity, title, lambda faults: _hits(faults, code), most=MANY)


RULES: Final = tuple(_rule(code, *said) for code, said in _TITLES.items())
"""The rules for DAG files; the reader and ``crondor.lint.dags`` find what they report."""
