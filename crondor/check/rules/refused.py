"""CRN017: what condor_submit refuses of a description beside its schedule, by the job ads that it would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crondor.check.made import MOST_JOBS
from crondor.check.rule import RuleHit, rule
from crondor.check.rules.commands import no_universe
from crondor.check.rules.deferral import bad_expression, bad_number
from crondor.check.rules.quoting import comment_behind
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.source import Span

_OF_TIMES = frozenset(("submit-number", "submit-scheduler"))  # CRN301 and CRN503


@rule("CRN017", "refused", Severity.ERROR, "a job that condor_submit refuses")
def refused(file: CheckedFile) -> Iterator[RuleHit]:
    """The words are those of condor_submit 25.14, which makes no job of the file then."""
    faults = [] if file.made is None else [fault for fault in file.made.faults if fault.kind not in _OF_TIMES]
    said = _said(file) if faults else ()
    for fault in faults:
        is_refusal = fault.kind.startswith("submit-") or fault.code == "CRN005"
        if is_refusal and not any(_is_in(fault.span, span) for span in said):
            yield RuleHit(fault.message, fault.span or _queue(file), fault.help)


def _said(file: CheckedFile) -> tuple[Span, ...]:
    """Return the places of which other rules speak."""
    rules = (bad_number, bad_expression, no_universe)
    found = {hit.span for job in file.jobs[:MOST_JOBS] for rule in rules for hit in rule.function(job)}
    behind = {hit.span for hit in comment_behind.function(file)}
    return tuple(span for span in (*found, *file.explained, *_values_of(file, behind)) if span is not None)


def _values_of(file: CheckedFile, spans: Iterable[Span | None]) -> Iterator[Span]:
    """Yield the places of the values that some places are in."""
    yield from (value.span for value in file.given.all if any(_is_in(span, value.span) for span in spans))


def _is_in(span: Span | None, said: Span) -> bool:
    return span is not None and span.source is said.source and said.start <= span.start <= said.end


def _queue(file: CheckedFile) -> Span | None:
    return next((job.span() for job in file.jobs), None)
