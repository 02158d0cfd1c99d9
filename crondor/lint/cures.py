"""Fixes of a job's commands: other field values, a clause in requirements, a comment moved to its own line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from crondor._schedule import Universe, read_string
from crondor.algebra import has_day_zero, portable, reread
from crondor.compile.markers import is_order
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.lint.rule import Fix
from crondor.lint.schedules import FieldFault, refusals
from crondor.lint.subject import CheckedJob
from crondor.lint.written import faults
from crondor.schedule import JobSchedule, speaks_of_time
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, CronSpec, Dialect, Field, InvalidSpec
from crondor.submit.edits import TextEdit, apply, line_end, literal_value
from crondor.zones import zone_of

if TYPE_CHECKING:
    from crondor.compile.writing.compiler import DayZeroCure


def literal(job: CheckedJob, name: str) -> Span | None:
    """Return the place of a command's value in the checked file if it is literal: no macro, no list of items.

    None if replacing the text at that place would not replace the value.
    """
    return literal_value(job.file.source, name, job.values.get(name), job.group.spans.get(name))


def replacement(job: CheckedJob, name: str, text: str) -> TextEdit | None:
    """Return the edit that gives a command another value, None if the value is not literal."""
    span = literal(job, name)
    return None if span is None else TextEdit(span, text)


def joined(job: CheckedJob, name: str, operator: str, clause: str) -> TextEdit | None:
    """Return the edit that joins a clause to the expression of a command, ``(expression) operator clause``.

    None if the value is not literal or not a valid expression.
    """
    made = f"({job.values[name]}) {operator} {clause}"  # a comment may have swallowed the clause
    return None if faults(job.values[name], name) or faults(made, name) else replacement(job, name, made)


def insertion(job: CheckedJob, name: str, value: str) -> TextEdit | None:
    """Return the edit that sets a command on a line of its own, before the job's queue statement.

    It also applies to later queue statements. None if the statement is not in the checked file, or no line can be
    inserted.
    """
    source, queue = job.file.source, job.group.queue
    text = source.text
    if queue is not None and queue.source is not source:
        return None
    at = len(text) if queue is None else text.rfind("\n", 0, queue.start) + 1
    if queue is not None and text[at : queue.start].strip():
        return None
    at = at if queue is None else _above_comments(text, at)
    before = text[text.rfind("\n", 0, max(0, at - 1)) + 1 : at].strip()
    if before.endswith("\\"):
        return None
    end = line_end(text, at)
    begin = end if at and text[at - 1] != "\n" else ""
    return TextEdit(source.span(at, at), f"{begin}{name} = {value}{end}")


def _above_comments(text: str, at: int) -> int:
    """Return the place above the crondor comments for a line, so that they still refer to that line."""
    top = start = at
    while start:
        start = text.rfind("\n", 0, start - 1) + 1
        line = text[start:top].lstrip()
        if not line.startswith("#"):
            break
        if is_order(line):
            at = start
        top = start
    return at


REQUIREMENTS = ("requirements", "my.requirements")

_ROUNDS = 4  # a field with quotes around a name needs two
_MOST_USES = 1000


def placed(job: CheckedJob, field: Field, fault: Diagnostic) -> Diagnostic:
    """Return a fault in a field's text with its place in the file."""
    onto = job.field_span(field)
    if fault.span is not None and onto.text == f'"{fault.span.source.text}"':
        onto = onto.part(1, len(onto.text) - 1)
    return fault.relocated(onto)


def edit_field(job: CheckedJob, field: Field, text: str) -> TextEdit | None:
    """Return the edit that gives a field another text, None if its value is not literal."""
    name = job.crontab.names[field]
    return replacement(job, name, f'"{text}"' if name.startswith("my.") else text)


def mended(field: Field, text: str, faults: Iterable[FieldFault]) -> str | None:
    """Return a field's text with every fault fixed and read alike by all, None if only the author can fix it."""
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
    """Return the edits after which the schedd reads both day fields like the manual: fields and requirements.

    None if not all edits are possible.
    """
    spec = job.crontab.manual
    if spec is None:
        return ()
    wanted = portable(spec)
    if has_day_zero(wanted) and not is_cured(job, wanted):
        return edit_day_zero(job, wanted)
    return _edit_texts(job, {}, wanted) or ()


def edit_day_zero(job: CheckedJob, wanted: CronSpec) -> tuple[TextEdit, ...]:
    """Return the edits that fix the day-0 defect for a job, none if not all are possible."""
    cure = cure_of(job, wanted)
    texts, clause = _edit_texts(job, cure.texts, wanted), _edit_requirements(job, cure.clause)
    return () if texts is None or clause is None else (*texts, clause)


def _edit_texts(job: CheckedJob, texts: Mapping[Field, str], wanted: CronSpec) -> tuple[TextEdit, ...] | None:
    """Return the edits that give the day fields ``texts`` or those of ``wanted``, None if not all are possible."""
    spec = job.crontab.manual
    edits: list[TextEdit] = []
    for field in (DAY_OF_MONTH, DAY_OF_WEEK):
        old = None if spec is None else spec.given[field.index]
        new = texts.get(field, wanted.given[field.index])
        if new is None or old == new or (old is None and field not in texts):
            continue
        is_new = field not in job.crontab.names
        edit = insertion(job, field.command, new) if is_new else edit_field(job, field, new)
        if edit is None or not (_is_last(job) if is_new else _is_alone(job, edit.span)):
            return None
        edits.append(edit)
    return tuple(edits)


def _is_last(job: CheckedJob) -> bool:
    """Return whether all later jobs have this job's cron fields."""
    return len(job.file.uses) <= _MOST_USES and all(
        use.cron == job.use.cron for use in job.file.uses if use.queue > job.use.queue
    )


def is_cured(job: CheckedJob, wanted: CronSpec) -> bool:
    """Return whether the job's requirements reject the wrong times that the defect adds to ``wanted``."""
    name = job.first(*REQUIREMENTS)
    zone, now = job.settings.zone, job.settings.now
    if name is None:
        return False
    found = refusals(job.values[name], wanted, reread(wanted, Dialect.HTCONDOR), zone, now, job.file.effort)
    return found is not None and found.is_cure


def compile_command(job: CheckedJob, text: str) -> str:
    """Return the command that compiles a schedule for a job, in the time zone of its submit host."""
    universe = " --universe local" if _is_local(job) else ""
    return f"crondor compile {shlex.quote(text)} --tz {zone_of(job.settings.zone).name}{universe}"


def fields_text(job: CheckedJob, texts: Mapping[Field, str] | None = None) -> str:
    """Return a job's five fields as a crontab line, with some replaced by ``texts``."""
    own = {field: read_string(value) or value.strip() for field, value in job.crontab.values.items()}
    return " ".join({**own, **(texts or {})}.get(field) or "*" for field in FIELDS)


def has_clause(job: CheckedJob) -> bool:
    """Return whether requirements test the time, so that the fields may name more times than wanted."""
    name = job.first(*REQUIREMENTS)
    return name is not None and speaks_of_time(job.values[name])


def cure_of(job: CheckedJob, wanted: CronSpec) -> DayZeroCure:
    """Return the fix for a job whose fields should mean ``wanted``."""
    from crondor.compile.writing.compiler import day_zero_cure  # noqa: PLC0415 - 15 ms, and few files have the defect

    settings = job.settings
    schedule = job.manual.schedule or JobSchedule(
        universe=Universe.LOCAL if _is_local(job) else Universe.VANILLA, schedd_interval=settings.schedd_interval
    )
    return day_zero_cure(wanted, schedule, zone_of(settings.zone), settings.now)


def _is_local(job: CheckedJob) -> bool:
    return job.values.get("universe", "").strip().lower() == "local"


def _edit_requirements(job: CheckedJob, clause: str) -> TextEdit | None:
    """Return the edit that adds a clause to requirements: to its value, or on a new line."""
    if any(literal(job, name) is None for name in job.crontab.names.values()):
        return None
    name = job.first(*REQUIREMENTS)
    if name is None:
        edit = insertion(job, REQUIREMENTS[0], clause)
        return edit if edit and _is_alone(job, None) else None
    if name != REQUIREMENTS[0]:
        return None  # an attribute replaces the whole clause that condor_submit adds
    edit = joined(job, name, "&&", clause)
    return edit if edit and _is_alone(job, edit.span) else None


def _is_alone(job: CheckedJob, span: Span | None) -> bool:
    """Return whether every job that uses a value has this job's cron fields.

    None means a new line before the queue statement, which later jobs without requirements use.
    """
    ours = job.use
    uses = job.file.uses
    if len(uses) > _MOST_USES:
        return False
    if span is None:
        return all(use.cron == ours.cron for use in uses if use.queue > ours.queue and use.requirements < 0)
    return all(use.cron == ours.cron for use in uses if span.start in {use.requirements, *use.places})


_LINE = re.compile(
    r"(?P<margin>[ \t]*)[\w.+]+[ \t]*=[ \t]*(?P<value>[^\"'\\\r\n]*?)(?P<gap>[ \t]+)(?P<comment>#[^\\\r\n]*)"
)
_AMOUNT = re.compile(r"\d+(?:[ \t]*[KMGT]B?)?", re.IGNORECASE | re.ASCII).fullmatch
_SPEAKS = "crondor:"  # a crondor comment applies to its own line


def moved(source: Source, at: int, is_value: Callable[[str], bool]) -> Fix | None:
    """Return the edit that moves the comment at an offset to its own line; None if it may be part of the value.

    None also if quotes, a backslash or a continued line are near it, or if ``is_value`` rejects the text before it.
    """
    text = source.text
    begin = text.rfind("\n", 0, at) + 1
    found = _LINE.match(text, begin)
    if found is None or text[found.end() : found.end() + 1] not in {"", "\r", "\n"}:
        return None
    before = text[:begin].removesuffix("\n").removesuffix("\r")
    if before.endswith("\\") or _SPEAKS in found["comment"] or not is_value(found["value"]):
        return None
    end = "\r\n" if text.startswith("\r\n", found.end()) else "\n"
    comment = f"{found['margin']}{found['comment'].rstrip()}{end}"
    edits = (TextEdit(source.span(begin, begin), comment), TextEdit(source.span(found.start("gap"), found.end()), ""))
    return Fix("move the comment to a line of its own", edits)


def is_field(field: Field) -> Callable[[str], bool]:
    """Return a test for the values of a cron field."""

    def test(value: str) -> bool:
        try:
            CronSpec.from_mapping({field.attribute: value})
        except CrondorError:
            return False
        return True

    return test


def is_number(value: str) -> bool:
    """Return whether a value is a plain number."""
    return value.isascii() and value.isdigit()


def is_amount(value: str) -> bool:
    """Return whether a value is a number with an optional unit, as in request_memory."""
    return _AMOUNT(value) is not None
