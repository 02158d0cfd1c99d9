"""CRN017: what condor_submit refuses of a description beside its schedule, by the job ads that it would make."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.inline import is_amount, moved
from crondor.check.made import MOST_JOBS
from crondor.check.rule import RuleHit, rule
from crondor.check.rules.commands import no_universe
from crondor.check.rules.deferral import bad_expression
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.source import Span

_OF_TIMES = frozenset(("submit-number", "submit-scheduler"))  # CRN301 and CRN503


@rule("CRN017", "refused", Severity.ERROR, "a job that condor_submit refuses")
def refused(file: CheckedFile) -> Iterator[RuleHit]:
    """The words are those of condor_submit 25.14, which makes no job of the file then."""
    faults = [] if file.made is None else [fault for fault in file.made.faults if fault.kind not in _OF_TIMES]
    said = _said(file) if faults else frozenset()
    for fault in faults:
        is_refusal = fault.kind.startswith("submit-") or fault.code == "CRN005"
        if is_refusal and (fault.span is None or fault.span not in said):
            span = fault.span or _queue(file)
            fix = moved(file.source, span.start, is_amount) if span and span.source is file.source else None
            yield RuleHit(fault.message, span, fault.help, fix)


def _said(file: CheckedFile) -> frozenset[Span | None]:
    """Return the places of which other rules speak."""
    rules = (bad_expression, no_universe)
    return frozenset(found.span for job in file.jobs[:MOST_JOBS] for rule in rules for found in rule.function(job))


def _queue(file: CheckedFile) -> Span | None:
    return next((job.span() for job in file.jobs), None)
