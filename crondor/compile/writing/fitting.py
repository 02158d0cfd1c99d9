"""Whether the jobs of a file run at the times of a schedule: the proof, for lines that anybody wrote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.tree import Binary, Node, Reference, bare, nodes
from crondor.classad.unparse import UnparseForm, unparse
from crondor.compile.days import DaySet
from crondor.compile.writing.evaluation import Clause
from crondor.compile.writing.proof import Proof, prove, wanted_days
from crondor.compile.writing.superset import Superset
from crondor.spec import CronSpec
from crondor.zones import Zone


class WrittenJob(NamedTuple):
    """What a file says of a job: its fields as HTCondor's manual reads them, and its requirements ("" for none)."""

    spec: CronSpec
    requirements: str


def fit(schedule: DaySet, jobs: Iterable[WrittenJob], zone: Zone, start: int, until: int) -> Proof:
    """Compare a schedule with jobs from ``start`` to ``until`` (epoch seconds) on a submit host in a zone.

    Of requirements the parts count that speak of DeferralTime. Raises ClassAdSyntaxError.
    """
    if schedule.until is not None:
        until = min(until, schedule.until)
    pairs = []
    for job in jobs:
        text = clause_of(job.requirements)
        pairs.append((Superset(job.spec, zone), Clause(text, zone) if text else None))
    return prove(wanted_days(schedule, start, until), pairs, start, until)


def clause_of(requirements: str) -> str:
    """Return the parts of requirements, joined by ``&&``, that speak of DeferralTime. Raises ClassAdSyntaxError."""
    if "deferraltime" not in requirements.lower():
        return ""
    parts = [unparse(part, UnparseForm.COMPACT) for part in _parts(Expression(requirements).tree) if _speaks(part)]
    return " && ".join(f"({part})" for part in parts)


def _parts(node: Node) -> list[Node]:
    node = bare(node)
    if isinstance(node, Binary) and node.op == "&&":
        return _parts(node.left) + _parts(node.right)
    return [node]


def _speaks(node: Node) -> bool:
    return any(isinstance(each, Reference) and each.name.lower() == "deferraltime" for each in nodes(node))


__all__ = ["ClassAdSyntaxError", "WrittenJob", "clause_of", "fit"]
