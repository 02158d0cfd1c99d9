"""Fixes of a job's cron fields: other texts for them, and the clause against the schedd's day-0 defect."""

from __future__ import annotations

from collections.abc import Iterable

from crondor.algebra import day_zero_clause, has_day_zero, portable, reread
from crondor.check.crontab import FieldFault
from crondor.check.day_zero import refusals
from crondor.check.edit import apply, insertion, joined, literal, replacement
from crondor.check.rule import TextEdit
from crondor.check.subject import CheckedJob
from crondor.diagnostics import Diagnostic
from crondor.source import Span
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, CronSpec, Dialect, Field, InvalidSpec

REQUIREMENTS = ("requirements", "my.requirements")

_ROUNDS = 4  # a field with quotes around a name needs two
_MOST_USES = 1000


def placed(job: CheckedJob, field: Field, fault: Diagnostic) -> Diagnostic:
    """Return a fault of a field's text as one of the place where the field is set."""
    onto = job.field_span(field)
    if fault.span is not None and onto.text == f'"{fault.span.source.text}"':
        onto = onto.part(1, len(onto.text) - 1)
    return fault.relocated(onto)


def edit_field(job: CheckedJob, field: Field, text: str) -> TextEdit | None:
    """Return the edit that gives a field another text, None where its value is not literal."""
    name = job.crontab.names[field]
    return replacement(job, name, f'"{text}"' if name.startswith("my.") else text)


def mended(field: Field, text: str, faults: Iterable[FieldFault]) -> str | None:
    """Return a field's text with every fault fixed and read alike by all, None where that needs the author."""
    found = [fault.fault for fault in faults if fault.field is field]
    for _ in range(_ROUNDS):
        changed = _patched(text, found)
        if changed is None:
            return None
        text = changed
        try:
            spec = CronSpec.from_mapping({field.attribute: text})
        except InvalidSpec as error:
            found = list(error.diagnostics)
            continue
        return portable(spec).given[field.index]
    return None


def _patched(text: str, faults: list[Diagnostic]) -> str | None:
    edits: list[TextEdit] = []
    for fault in faults:
        if fault.kind == "cron-empty-item":
            continue
        if fault.fix is None or fault.span is None:
            return None
        edits.append(TextEdit(fault.span, fault.fix))
    changed = apply(edits[0].span.source, edits) if edits else text
    return ",".join(item.strip() for item in changed.split(",") if item.strip()) or None


def edit_days(job: CheckedJob) -> tuple[TextEdit, ...]:
    """Return the edits after which the schedd reads both day fields as the manual: of texts, and of requirements.

    None of them where not all can be made.
    """
    spec = job.crontab.manual
    if spec is None:
        return ()
    wanted = portable(spec)
    edits: list[TextEdit] = []
    for field in (DAY_OF_MONTH, DAY_OF_WEEK):
        old, new = spec.given[field.index], wanted.given[field.index]
        if old is None or new is None or old == new:
            continue
        edit = edit_field(job, field, new)
        if edit is None or not _is_alone(job, edit.span):
            return ()
        edits.append(edit)
    if has_day_zero(wanted) and not is_cured(job, wanted):
        clause = edit_requirements(job, wanted)
        if clause is None:
            return ()
        edits.append(clause)
    return tuple(edits)


def is_cured(job: CheckedJob, wanted: CronSpec) -> bool:
    """Say whether the job's requirements refuse the wrong times that the defect gives to ``wanted``."""
    name = job.first(*REQUIREMENTS)
    zone, now = job.settings.zone, job.settings.now
    if name is None:
        return False
    found = refusals(job.values[name], wanted, reread(wanted, Dialect.HTCONDOR), zone, now, job.file.effort)
    return found is not None and found.is_cure


def edit_requirements(job: CheckedJob, wanted: CronSpec) -> TextEdit | None:
    """Return the edit that adds the day-0 clause to requirements: to its value, or on a line of its own."""
    if any(literal(job, name) is None for name in job.crontab.names.values()):
        return None
    clause = day_zero_clause(wanted)
    name = job.first(*REQUIREMENTS)
    if name is None:
        edit = insertion(job, REQUIREMENTS[0], clause)
        return edit if edit and _is_alone(job, None) else None
    if name != REQUIREMENTS[0]:
        return None  # an attribute takes the place of the whole clause that condor_submit makes
    edit = joined(job, name, "&&", clause)
    return edit if edit and _is_alone(job, edit.span) else None


def _is_alone(job: CheckedJob, span: Span | None) -> bool:
    """Say whether every job that uses a value has this job's cron fields.

    None is a new line before the queue statement, which later jobs without requirements use.
    """
    ours = job.use
    uses = job.file.uses
    if len(uses) > _MOST_USES:
        return False
    if span is None:
        return all(use.cron == ours.cron for use in uses if use.queue > ours.queue and use.requirements < 0)
    return all(use.cron == ours.cron for use in uses if span.start in {use.requirements, *use.places})
