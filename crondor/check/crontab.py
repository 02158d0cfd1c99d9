"""The cron fields of one job as they are written: what the manual and the schedd read, whatever else is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from crondor._recurrence.spelling import FieldDifference, field_differences
from crondor._schedule.job_terms import commands_of, read_string
from crondor._schedule.submit_terms import InvalidSchedule, read_commands
from crondor._spec.schedd_fields import read_schedd_field
from crondor.diagnostics import Diagnostic
from crondor.hold_codes import INVALID_CRON_SETTINGS
from crondor.source import Span
from crondor.spec import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    HOUR,
    MINUTE,
    CronSpec,
    Dialect,
    Field,
    InvalidSpec,
)

NAMES = {field: commands_of(field.attribute) for field in FIELDS}

_LONGEST = 200  # characters of a HoldReason that are shown
_FEW = 8  # values that are shown


class FieldFault(NamedTuple):
    """What a reading refuses of a field; ``fault`` has its place in the field's own ``text``."""

    field: Field
    text: str
    fault: Diagnostic


@dataclass(frozen=True, eq=False)
class Crontab:
    """The cron fields of a job in two readings, each None where it refuses them or none is set.

    ``names`` has the lower-case name that sets each field, and ``values`` its value (a string literal for my.x).
    ``readable`` is what the manual reads of the fields that have no fault.
    """

    names: Mapping[Field, str]
    values: Mapping[Field, str]
    manual: CronSpec | None
    readable: CronSpec | None
    faults: tuple[FieldFault, ...]
    schedd: CronSpec | None
    schedd_faults: tuple[FieldFault, ...]
    hold_reason: str | None

    def is_string(self, field: Field) -> bool:
        """Say whether a field is a string in the job ad; anything else is `*` to the schedd."""
        return not self.names[field].startswith("my.") or read_string(self.values[field]) is not None

    @cached_property
    def differences(self) -> tuple[FieldDifference, ...]:
        """The fields without a fault that the schedd reads otherwise than the manual."""
        ours, theirs = self.readable, self.schedd
        if ours is None:
            return ()
        if theirs is not None and (ours.bits, ours.stars) == (theirs.bits, theirs.stars):
            full_days = ours.bits[DAY_OF_MONTH.index] == DAY_OF_MONTH.full and not ours.stars[DAY_OF_MONTH.index]
            if not full_days:
                return ()
        return tuple(found for found in field_differences(ours) if self.is_string(found.field))

    def consequence(self, field: Field, text: str) -> str:
        """Return what the schedd makes of a field's text, as the end of a sentence."""
        read = read_schedd_field(text if self.is_string(field) else "*", field)
        if read.fault is not None:
            return self.held(field)
        if field is DAY_OF_WEEK and read.star:
            return "the schedd takes it for `*`"
        if read.bits == field.full:
            return f"the schedd takes every {field.title}"
        return f"the schedd takes {few(n for n in range(64) if read.bits >> n & 1)}"

    def held(self, field: Field) -> str:
        """Return what becomes of a job whose field the schedd does not read, as the end of a sentence.

        The HoldReason of a job with several such fields has the text of each; a field's own is shown.
        """
        reason = (self.hold_reason or "").strip()
        begin, colon, rest = reason.partition(": ")
        own = [f"Invalid{said}" for said in rest.split("Invalid") if said.endswith(f" for {field.attribute}")]
        if len(own) == 1:
            reason = begin + colon + own[0]
        return f"the schedd holds the job (code {INVALID_CRON_SETTINGS}): {reason[:_LONGEST]}"

    @cached_property
    def left_out(self) -> tuple[Field, Field] | None:
        """The minute, or else the hour, if nothing sets it, and the first field behind it that restricts.

        The job then runs at every minute or hour, which its author rarely means.
        """
        spec = self.readable
        missing = next((field for field in (MINUTE, HOUR) if field not in self.names), None)
        if spec is None or missing is None:
            return None
        coarser = [field for field in FIELDS[missing.index + 1 :] if not spec.stars[field.index]]
        return (missing, coarser[0]) if coarser else None


def read_crontab(values: Mapping[str, str], spans: Mapping[str, Span]) -> Crontab:
    """Read the cron fields among the values of a job (names in lower case)."""
    names = {}
    for field, spellings in NAMES.items():
        name = next((name for name in spellings if values.get(name, "").strip()), None)
        if name is not None:
            names[field] = name
    cron = {name: values[name] for spellings in NAMES.values() for name in spellings if name in values}
    manual, faults, _ = _read(cron, spans, Dialect.MANUAL)
    schedd, schedd_faults, hold_reason = _read(cron, spans, Dialect.HTCONDOR)
    readable = manual
    if faults:
        bad = {name for found in faults for name in NAMES[found.field]}
        readable, _, _ = _read({name: text for name, text in cron.items() if name not in bad}, spans, Dialect.MANUAL)
    texts = {field: values[name] for field, name in names.items()}
    return Crontab(names, texts, manual, readable, faults, schedd, schedd_faults, hold_reason)


def _read(
    cron: Mapping[str, str], spans: Mapping[str, Span], dialect: Dialect
) -> tuple[CronSpec | None, tuple[FieldFault, ...], str | None]:
    """Return the spec, or what is wrong with the fields and the HoldReason."""
    try:
        return read_commands(cron, spans, dialect, None).spec, (), None
    except InvalidSchedule as error:
        refused = error.invalid_spec
        return (None, (), None) if refused is None else (None, tuple(_in_fields(refused)), refused.hold_reason)


def _in_fields(error: InvalidSpec) -> Iterator[FieldFault]:
    for fault in error.diagnostics:
        field = next((field for field in FIELDS if fault.span and field.name == fault.span.source.name), None)
        if field and fault.span:
            yield FieldFault(field, fault.span.source.text, fault)


def few(values: Iterable[object]) -> str:
    """Return values as a list, cut where it gets long."""
    listed = tuple(values)
    return ", ".join(map(str, listed[:_FEW])) + (" ..." if len(listed) > _FEW else "")
