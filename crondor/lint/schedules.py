"""A job's schedule as written: its cron fields, the file's own schedule line, the schedd's day-0 defect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crondor._readings import FieldDifference, field_differences
from crondor._schedule import InvalidSchedule, commands_of, read_commands, read_string
from crondor._spec import read_schedd_field
from crondor.calendar import DAY, EPOCH_ORDINAL, day_number
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.compile.markers import Policies, read_policies
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.macro.files import FileRefused, Files
from crondor.recurrence import OutOfRange, Recurrence, ScheddAnswer
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field, InvalidSpec
from crondor.times import admission_of
from crondor.zones import Policy, UnknownZone, Zone, zone_of

if TYPE_CHECKING:
    from crondor.classad.scope import Effort
    from crondor.compile.meaning import WrittenSchedule
    from crondor.compile.writing.wish import Block

CRON_NAMES = {field: commands_of(field.attribute) for field in FIELDS}

_LONGEST = 200  # characters of a HoldReason that are shown
_FEW = 8  # values that are shown


class FieldFault(NamedTuple):
    """A fault of a field in one reading; ``fault`` has its place in the field's own ``text``."""

    field: Field
    text: str
    fault: Diagnostic


@dataclass(frozen=True, eq=False)
class Crontab:
    """The cron fields of a job in two readings, each None if it rejects them or none is set.

    ``names`` has the lower-case name that sets each field, and ``values`` its value (a string literal for my.x).
    ``readable`` is the manual's reading of the fields without a fault.
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
        """Return whether a field is a string in the job ad; the schedd reads anything else as `*`."""
        return not self.names[field].startswith("my.") or read_string(self.values[field]) is not None

    @cached_property
    def differences(self) -> tuple[FieldDifference, ...]:
        """The fields without a fault that the schedd and the manual read differently."""
        ours, theirs = self.readable, self.schedd
        if ours is None:
            return ()
        if theirs is not None and (ours.bits, ours.stars) == (theirs.bits, theirs.stars):
            full_days = ours.bits[DAY_OF_MONTH.index] == DAY_OF_MONTH.full and not ours.stars[DAY_OF_MONTH.index]
            if not full_days:
                return ()
        return tuple(found for found in field_differences(ours) if self.is_string(found.field))

    def consequence(self, field: Field, text: str, shown: str) -> str:
        """Return how the schedd reads a field's text, which is ``shown`` so, as the end of a sentence."""
        read = read_schedd_field(text if self.is_string(field) else "*", field)
        if read.fault is not None:
            return self.held(field)
        if field is DAY_OF_WEEK and read.star:
            return f"the schedd reads {shown} as `*`"
        if read.bits == field.full:
            return f"the schedd reads {shown} as every {field.title}"
        return f"the schedd reads {shown} as {few(n for n in range(64) if read.bits >> n & 1)}"

    def held(self, field: Field) -> str:
        """Return what happens to a job whose field the schedd cannot read, as the end of a sentence.

        The HoldReason of a job with several such fields has the text of each; only this field's is shown.
        """
        reason = (self.hold_reason or "").strip()
        begin, colon, rest = reason.partition(": ")
        own = [f"Invalid{said}" for said in rest.split("Invalid") if said.endswith(f" for {field.attribute}")]
        if len(own) == 1:
            reason = begin + colon + own[0]
        return f"the schedd holds the job (code {INVALID_CRON_SETTINGS}): {reason[:_LONGEST]}"

    @cached_property
    def left_out(self) -> tuple[Field, Field] | None:
        """The minute, or else the hour, if unset, and the first later field that restricts.

        The job then runs at every minute or hour, which is rarely intended.
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
    for field, spellings in CRON_NAMES.items():
        name = next((name for name in spellings if values.get(name, "").strip()), None)
        if name is not None:
            names[field] = name
    cron = {name: values[name] for spellings in CRON_NAMES.values() for name in spellings if name in values}
    manual, faults, _ = _read(cron, spans, Dialect.MANUAL)
    schedd, schedd_faults, hold_reason = _read(cron, spans, Dialect.HTCONDOR)
    readable = manual
    if faults:
        bad = {name for found in faults for name in CRON_NAMES[found.field]}
        readable, _, _ = _read({name: text for name, text in cron.items() if name not in bad}, spans, Dialect.MANUAL)
    texts = {field: values[name] for field, name in names.items()}
    return Crontab(names, texts, manual, readable, faults, schedd, schedd_faults, hold_reason)


def _read(
    cron: Mapping[str, str], spans: Mapping[str, Span], dialect: Dialect
) -> tuple[CronSpec | None, tuple[FieldFault, ...], str | None]:
    """Return the spec, or the faults of the fields and the HoldReason."""
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


_LARGEST = 1_000_000  # bytes of a calendar: a second for each file that is checked


class OwnSchedule(NamedTuple):
    """The line's text, its meaning and the policies; ``block``: the compiled lines, ``zone``: the submit host's.

    ``schedule`` is None if the line cannot be read (see ``faults``), or names a file that may not be read.
    """

    line: Span | None = None
    schedule: WrittenSchedule | None = None
    block: Block | None = None
    zone: Zone = zone_of("UTC")
    faults: tuple[Diagnostic, ...] = ()
    policies: Policies = Policies()


def own_schedule(source: Source, files: Files | None, host: str | tzinfo, policy: Policy | None) -> OwnSchedule:
    """Return the schedule of a file's own line, read with its calendars from ``files`` (None: no calendars).

    ``host`` is the submit host's zone if the compiled lines do not name it.
    """
    lowered = source.text.lower()
    if "crondor:" not in lowered:
        return OwnSchedule()
    policies = read_policies(source)
    if "schedule" not in lowered:
        return OwnSchedule(faults=tuple(_lone(policies)), policies=policies)
    from crondor.compile.meaning import read_schedule, schedule_line  # noqa: PLC0415 - 15 ms, and few files have a schedule of their own

    block = _block(source)
    zone = _host(block, host)
    calendars = _Calendars(files)
    line = None
    try:
        line = schedule_line(source)
        if line is None:
            return OwnSchedule(faults=tuple(_lone(policies)), policies=policies)
        chosen = policy or Policy.COMPATIBLE
        schedule = read_schedule(line, zone=zone, policy=chosen, files=calendars)
        if block is not None and schedule.until is not None and schedule.until < block.until:  # as --until has it
            schedule = read_schedule(line, zone=zone, policy=chosen, files=calendars, is_whole=True)
    except CrondorError as error:
        faults = [each for each in error.diagnostics if each.kind != "schedule-file" or not calendars.has_hidden]
        return OwnSchedule(line, None, block, zone, (*faults, *policies.faults), policies)
    return OwnSchedule(line, schedule, block, zone, policies.faults, policies)


def _lone(policies: Policies) -> Iterator[Diagnostic]:
    """Yield that each policy has no effect, in a file without a schedule line."""
    for name, span in policies.places.items():
        message = f"{name} has no effect: the file has no schedule line to compile"
        yield Diagnostic("schedule-policy", message, span=span, help="add # crondor: schedule = TEXT, and compile")


class _Calendars:
    """The calendar files for a check: only those in folders that may be read, and no large ones."""

    def __init__(self, files: Files | None) -> None:
        self._files = None if files is None else files.limited(_LARGEST)
        self.has_hidden = False

    def read(self, path: str) -> Source:
        """Return a file's text. Raises FileRefused, and InvalidText if it is not text."""
        if self._files is None:
            self.has_hidden = True
            raise FileRefused(Diagnostic("file-outside", f"{path} may not be read"))
        try:
            return self._files.read(path)
        except FileRefused as refusal:
            self.has_hidden = self.has_hidden or refusal.is_outside
            raise


def _block(source: Source) -> Block | None:
    from crondor.compile.writing.wish import marked_lines  # noqa: PLC0415 - as above

    try:
        return marked_lines(source)
    except CrondorError:
        return None


def _host(block: Block | None, host: str | tzinfo) -> Zone:
    """Return the submit host's zone: the one that the lines were compiled for, wherever they are checked."""
    try:
        return zone_of(block.zone if block is not None and block.zone else host)
    except UnknownZone:
        return zone_of(host)


_MONTHS = 14  # that are examined
_RUNS = 100  # of a month that are tried
_STEP = 11 * 3600 + 60  # seconds between two retries that are tried; the schedd retries every 120 s
_TRY = 60  # steps to find a time, besides those of the evaluation


class Wrong(NamedTuple):
    """A time that the schedd sets and the schedule does not have, and when it was computed (epoch seconds)."""

    asked: int
    answer: ScheddAnswer


class RefusedTimes(NamedTuple):
    """The first right time that requirements reject, and the first wrong time they accept (epoch seconds)."""

    refused: int | None
    admitted: int | None

    @property
    def is_cure(self) -> bool:
        """Whether exactly the right times can match."""
        return self.refused is None and self.admitted is None


def next_wrong(spec: CronSpec, zone: str | tzinfo, now: int) -> Wrong | None:
    """Return the next wrong time of a HTCONDOR spec caused by the defect, None if the coming months have none.

    The schedd computes a time ``now`` and after the last run of each month.
    """
    return _next_wrong(spec, zone_of(zone), now)


@lru_cache(maxsize=64)  # many jobs of one description share a schedule
def _next_wrong(spec: CronSpec, zone: Zone, now: int) -> Wrong | None:
    return next(wrong_times(spec, zone, now, step=DAY * 31), None)


def wrong_times(spec: CronSpec, zone: Zone, now: int, step: int = _STEP) -> Iterator[Wrong]:
    """Yield wrong times: in each coming month the first after its last run, and retries ``step`` seconds apart."""
    schedd = Recurrence(spec, zone.info)
    runs = Recurrence(_runs(spec), zone.info)
    try:
        for end in islice(_month_ends(zone, now), _MONTHS):
            asked = max(now, runs.previous(end))
            while asked < end:
                answer = schedd.next(asked)
                if isinstance(answer, ScheddAnswer) and (answer.is_retry or not _is_day(zone.moment(answer), spec)):
                    yield Wrong(asked, answer)
                asked += step
    except OutOfRange:
        return


def refusals(
    requirements: str, spec: CronSpec, schedd: CronSpec, zone: str | tzinfo, now: int, effort: Effort | None = None
) -> RefusedTimes | None:
    """Try requirements with the right and the wrong times of the coming months as DeferralTime.

    ``spec`` is the manual's reading, ``schedd`` the schedd's; ``effort`` is charged for the evaluations. Results that
    depend on other attributes count as possible. None if requirements do not depend on the time, or cannot be
    evaluated.
    """
    return _refusals(requirements, spec, schedd, zone_of(zone), now, effort)


@lru_cache(maxsize=64)
def _refusals(
    requirements: str, spec: CronSpec, schedd: CronSpec, zone: Zone, now: int, effort: Effort | None
) -> RefusedTimes | None:
    admits = admission_of(requirements, zone.info, effort)
    if admits is None:
        return None

    def may_match(time: int) -> bool:
        if effort is not None:
            effort.left -= _TRY
        return admits(time)

    try:
        # Near a clock change, wall-clock conditions cannot tell a moved run from a retry at its minute.
        right = (time for time in _right_times(spec, zone, now) if _is_named(time, spec, zone))
        wrong = (int(time) for _, time in wrong_times(schedd, zone, now) if not _is_named(int(time), spec, zone))
        refused = next((time for time in right if not may_match(time)), None)
        return RefusedTimes(refused, next((time for time in wrong if may_match(time)), None))
    except CrondorError:
        return None


def _right_times(spec: CronSpec, zone: Zone, now: int) -> Iterator[int]:
    runs = Recurrence(spec, zone.info)
    start = now
    for end in islice(_month_ends(zone, now), _MONTHS):
        yield from islice(runs.between(start, end - 1), _RUNS)
        start = end - 1


def _month_ends(zone: Zone, now: int) -> Iterator[int]:
    """Yield the instants at which the coming months begin."""
    today = date.fromordinal(zone.local(now) // DAY + EPOCH_ORDINAL)
    year, month = today.year, today.month
    while True:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        wall = day_number(year, month, 1) * DAY
        offsets = {zone.at(wall - DAY).offset, zone.at(wall + DAY).offset}
        begin = min(wall - offset for offset in offsets if zone.local(wall - offset) >= wall)
        start = zone.at(begin).start
        yield start if zone.local(start) >= wall else begin


def _is_named(time: int, spec: CronSpec, zone: Zone) -> bool:
    """Return whether the wall clock at a time is one that a schedule by weekdays names."""
    at = zone.moment(time)
    return bool(spec.bits[MINUTE.index] >> at.minute & spec.bits[HOUR.index] >> at.hour & 1) and _is_day(at, spec)


def _is_day(at: datetime, spec: CronSpec) -> bool:
    return bool(spec.bits[DAY_OF_WEEK.index] >> at.isoweekday() % 7 & spec.bits[MONTH.index] >> at.month & 1)


def _runs(spec: CronSpec) -> CronSpec:
    """Return the times that a HTCONDOR spec names, read like the manual."""
    texts = {
        field.attribute: "*" if spec.bits[field.index] == field.full else ",".join(map(str, spec.values(field)))
        for field in FIELDS
    }
    return CronSpec.from_mapping(texts)
