"""CRN1..: the values of the cron fields, and what the schedd makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from crondor._recurrence.spelling import FieldDifference
from crondor.algebra import portable
from crondor.check.crontab import NAMES, FieldFault, few
from crondor.check.inline import is_field, moved
from crondor.check.rewrite import compile_command, cure_of, edit_days, edit_field, fields_text, mended, placed
from crondor.check.rule import Fix, RuleHit, passed_on, rule
from crondor.check.subject import CheckedJob
from crondor.diagnostics import Diagnostic, Severity
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, Field
from crondor.words import step_beyond
from crondor.zones import zone_of

_STEP = re.compile(r"\*/(\d{1,9})")
# Of fields that have as many values each time: how many, of what, and of which whole.
_WHOLE = {MINUTE: (60, "minute", "hour"), HOUR: (24, "hour", "day"), MONTH: (12, "month", "year")}
_UNSURE = frozenset({"cron-reversed", "cron-blank", "cron-empty"})  # the author may have meant something else


def _faults(job: CheckedJob, code: str) -> Iterator[RuleHit]:
    """Yield the faults of the fields under a code: what, what the schedd does with the field, what to write."""
    crontab = job.crontab
    found: dict[tuple[Field, str], list[FieldFault]] = {}
    for each in crontab.faults:
        if each.fault.code == code:
            found.setdefault((each.field, each.fault.kind), []).append(each)
    for (field, _), (first, *others) in found.items():
        fix = _mending(job, field, first.text)
        said = first.fault.message.partition(" (the schedd ")[0]  # of the item; the field says it better
        help_text = first.fault.help
        if others:
            said += f" ({few(_wrong(other) for other in others)} too)"
            help_text = f"write {fix.better}" if fix else help_text
        message = f"{said}; {crontab.consequence(field, first.text)}"
        if first.fault.kind == "cron-unsupported":
            help_text = _compiled_help(job) or help_text
        told = placed(job, field, replace(first.fault, message=message, help=help_text))
        is_comment = fix is None and first.fault.kind == "cron-comment"
        cure = _comment(job, field, told) if is_comment else fix and fix.fix
        yield RuleHit(told.message, told.span, told.help, cure)


def _compiled_help(job: CheckedJob) -> str | None:
    """Return what to do where crondor can read a job's fields as they are meant; None where it cannot."""
    from crondor.compile.cron import has_choice  # noqa: PLC0415 - 15 ms, and few files have such a field
    from crondor.compile.text import InvalidSchedule, read_schedule  # noqa: PLC0415 - as above

    text = fields_text(job)
    try:
        read_schedule(text, zone=zone_of(job.settings.zone), name="x")
    except InvalidSchedule:
        return None
    name = " --name NAME" if has_choice(text) else ""
    return f"fields and a clause that say it: {compile_command(job, text)}{name}"


def _comment(job: CheckedJob, field: Field, told: Diagnostic) -> Fix | None:
    """Return the fix of a comment behind the value of a field."""
    source = job.file.source
    if told.span is None or told.span.source is not source:
        return None
    return moved(source, told.span.start, is_field(field))


def _wrong(found: FieldFault) -> str:
    return found.fault.span.text if found.fault.span else found.text


class _Mending(NamedTuple):
    better: str
    fix: Fix


def _mending(job: CheckedJob, field: Field, text: str) -> _Mending | None:
    """Return the fix of all faults of a field."""
    if field not in job.crontab.names:
        return None
    better = mended(field, text, job.crontab.faults)
    edit = edit_field(job, field, better) if better is not None else None
    if edit is None:
        return None
    is_sure = not any(fault.field is field and fault.fault.kind in _UNSURE for fault in job.crontab.faults)
    return _Mending(better or "", Fix(f"write {field.command} = {better}", (edit,), safe=is_sure))


out_of_range = passed_on("CRN101", "out-of-range", Severity.ERROR, "a value outside its field", _faults)


@rule("CRN102", "step-phase", Severity.WARNING, "a step that the schedd counts from 0, not from the range's begin")
def step_phase(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd keeps the multiples of the step; the manual and Unix cron count from the low end of the range."""
    for found in job.crontab.differences:
        if found.schedd is not None and not _is_starred_weekday(found) and not _is_full_month(found):
            message = (
                f"{found.field.title} {found.text.strip()}: the manual, as Unix cron, reads {few(found.manual)}, "
                f"the schedd {few(found.schedd)}: {found.why}"
            )
            yield _differing(job, found, message)


reversed_range = passed_on(
    "CRN103", "reversed-range", Severity.ERROR, "a range whose end lies before its begin", _faults
)


name = passed_on("CRN104", "name", Severity.ERROR, "the name of a month or weekday", _faults)


nickname = passed_on("CRN105", "nickname", Severity.ERROR, "a crontab nickname such as @daily", _faults)


foreign_syntax = passed_on(
    "CRN106", "foreign-syntax", Severity.ERROR, "characters that belong to other schedulers, or to none", _faults
)


quoted = passed_on("CRN107", "quoted", Severity.ERROR, "quotes in the value of a submit command", _faults)


blank_inside = passed_on("CRN108", "blank-inside", Severity.ERROR, "a blank between two numbers", _faults)


@rule("CRN109", "empty", Severity.WARNING, "an empty item or field")
def empty(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd passes over empty items; a command without a value is as good as none."""
    for found in _faults(job, "CRN109"):
        is_held = job.crontab.hold_reason is not None
        yield found._replace(severity=Severity.ERROR if is_held else None)
    for field, names in NAMES.items():
        unset = next((name for name in names if not job.values.get(name, "x").strip()), None)
        if unset is None or unset.startswith("my.") or field in job.crontab.names:
            continue
        message = f"{field.command} is empty: condor_submit leaves it out, "
        message += f"and every {field.title} counts" if job.crontab.names else "and the job runs at once"
        yield RuleHit(message, job.span(unset), f"write a value, `*` for every {field.title}, or remove the line")


single_step = passed_on("CRN110", "single-step", Severity.ERROR, "a step behind a single value", _faults)


step_zero = passed_on("CRN111", "step-zero", Severity.ERROR, "a step of 0", _faults)


@rule("CRN112", "starred-weekday", Severity.WARNING, "an item with * in the day of week, which the schedd drops")
def starred_weekday(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd drops items with * in the day of week: */2 restricts nothing there, and *,1 is Mondays."""
    for found in job.crontab.differences:
        if found.schedd is not None and _is_starred_weekday(found):
            message = (
                f"day of week {found.text.strip()}: the manual reads {few(found.manual)}, the schedd "
                f"{few(found.schedd)}: {found.why}"
            )
            yield _differing(job, found, message)


@rule("CRN113", "full-month", Severity.WARNING, "all days of the month written out, beside a day of week")
def full_month(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd takes 31 values for *; by the manual the two day fields are joined by OR, which is every day."""
    for found in job.crontab.differences:
        if _is_full_month(found):
            message = f"day of month {found.text.strip()}: {found.why}; by the manual either decides: every day"
            place = _differing(job, found, message)
            yield place._replace(help="write cron_day_of_month = * for the weekdays alone, or no day of week")


@rule("CRN114", "no-string", Severity.ERROR, "an attribute that is no string")
def no_string(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd takes an attribute that is not a string for *, even one that is undefined."""
    yield from _faults(job, "CRN114")
    faulty = {fault.field for fault in job.crontab.faults}
    for field in FIELDS:
        attribute = f"my.{field.attribute.lower()}"
        if attribute not in job.values or field in faulty:
            continue
        text = job.crontab.values.get(field, "").strip()
        if not text or text.lower() == "undefined":
            message = f"{field.attribute} is undefined: the schedd makes a crontab job of it, at every {field.title}"
            yield RuleHit(message, job.field_span(field), f'write {field.attribute} = "..." with the values in quotes')
        elif text.isdecimal():
            message = f"{field.attribute} is a number, not a string: the schedd takes every {field.title}"
            edit = edit_field(job, field, text)
            fix = Fix(f"make {field.attribute} a string", (edit,)) if edit else None
            yield RuleHit(message, job.field_span(field), f'write {field.attribute} = "{text[:20]}"', fix)


syntax = passed_on("CRN115", "syntax", Severity.ERROR, "a field that is neither values, ranges, steps nor *", _faults)


@rule("CRN116", "held", Severity.ERROR, "a field that the manual allows and the schedd holds the job for")
def held(job: CheckedJob) -> Iterator[RuleHit]:
    """The schedd keeps the multiples of a step only; if none lies in the range, nothing is left of the field."""
    for found in job.crontab.differences:
        if found.schedd is None:
            message = f"{found.field.title} {found.text.strip()}: the manual reads {few(found.manual)}, and "
            yield _differing(job, found, message + job.crontab.held(found.field))


@rule("CRN117", "set-twice", Severity.WARNING, "a field that is set under two names")
def set_twice(job: CheckedJob) -> Iterator[RuleHit]:
    """An attribute with + or MY. wins over the command, and the command over the attribute's name without them."""
    for names in NAMES.values():
        given = [name for name in names if job.values.get(name, "").strip()]
        for other in given[1:]:
            message = f"{_shown(job, other)} has no effect beside {_shown(job, given[0])}"
            yield RuleHit(message, job.span(other), "remove one of the two")


@rule("CRN118", "uneven-step", Severity.NOTE, "a step that does not divide its field")
def uneven_step(job: CheckedJob) -> Iterator[RuleHit]:
    """A step counts within its field and begins anew with it: */45 is minute 0 and 45, and */90 minute 0 alone."""
    for field, (size, unit, whole) in _WHOLE.items():
        text = job.crontab.values.get(field, "").strip().strip('"')
        found = _STEP.fullmatch(text)
        step = int(found[1]) if found is not None else 0
        if job.crontab.manual is None or not step or size % step == 0:
            continue
        rest = size % step
        last = f"{rest} {unit}s" if rest > 1 else f"1 {unit}"
        message = step_beyond(field, text)
        message = message or f"{text} counts from the beginning of each {whole}: its last gap is {last}, not {step}"
        even = ", ".join(str(number) for number in range(2, size) if size % number == 0)
        severity = Severity.WARNING if 2 * step > size else None
        help_text = f"{size} {unit}s part evenly by {even}; or list the values"
        yield RuleHit(message, job.field_span(field), help_text, severity=severity)


def _shown(job: CheckedJob, key: str) -> str:
    written = job.file.submit.name(key) if job.file.submit else None
    return written.text if written else key


def _is_starred_weekday(found: FieldDifference) -> bool:
    return found.field is DAY_OF_WEEK and "*" in found.text


def _is_full_month(found: FieldDifference) -> bool:
    return found.field is DAY_OF_MONTH and found.schedd == found.manual


def _differing(job: CheckedJob, found: FieldDifference, message: str) -> RuleHit:
    """Return a finding about a field that the schedd reads otherwise, and the spelling that it reads alike."""
    field = found.field
    title = f"write {field.command} = {found.portable}, which the schedd reads as the manual says"
    if field in {DAY_OF_MONTH, DAY_OF_WEEK}:
        edits = edit_days(job)
    else:
        edit = edit_field(job, field, found.portable)
        edits = (edit,) if edit else ()
    spec = job.crontab.manual
    has_clause = any("DeferralTime" in edit.text for edit in edits)
    is_safe = not has_clause or spec is None or cure_of(job, portable(spec)).is_alike
    fix = Fix(title, edits, safe=is_safe) if edits else None
    return RuleHit(message, job.field_span(field), f"write {field.command} = {found.portable}", fix)
