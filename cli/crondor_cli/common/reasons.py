"""Why the real schedd runs a job at other times than the manual says, and what to write so that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.algebra import FieldDifference, Untranslatable, day_zero_clause, field_differences, has_day_zero, portable
from crondor.calendar import DAY
from crondor.recurrence import never_reason
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, CronSpec, Field
from crondor.zones import Policy, Stretch, Zone, zone_of
from crondor_cli.common.options import Clock
from crondor_cli.common.rows import DialectReason, Rows, RunSide

DAY_ZERO = (
    "day 0: with a day of week and no day of month the schedd also runs the job on the last day of a month, "
    "and then every two minutes until the month ends"
)
_NO_STRING = "the schedd takes an attribute that is not a string for `*`"


def reasons(rows: Rows, clock: Clock, ours: JobSchedule | None, theirs: JobSchedule | None) -> Iterator[DialectReason]:
    """Yield why rows differ: the manual's reading ``ours`` against the schedd's, None where it is refused."""
    if ours is None:
        yield DialectReason("accepted", "condor_submit and the schedd take the schedule without a word")
    elif ours.spec is None:
        yield DialectReason("attribute", f"{_NO_STRING}, even where it is undefined")
    else:
        is_cure = never_reason(ours.spec) is None  # what never fires would hang a schedd that read it alike
        for reason in _reasons(rows, clock, ours, ours.spec, theirs.spec if theirs else None):
            yield reason if is_cure else reason._replace(write=None, is_clause=False)


def _reasons(
    rows: Rows, clock: Clock, ours: JobSchedule, spec: CronSpec, schedd: CronSpec | None
) -> Iterator[DialectReason]:
    differences = field_differences(spec)
    for difference in differences:
        yield DialectReason("field", _field_words(difference), f"{difference.field.command} = {difference.portable}")
    if schedd is not None:
        yield from _unread(spec, schedd)
    if differences:
        yield from _left_over(spec, [difference.field for difference in differences])
    odd = (row.schedd for row in rows.parting() if row.schedd is not None)
    strikes = schedd is not None and has_day_zero(schedd) and has_day_zero(portable(spec))
    if strikes and any(run.is_retry or _is_extra(run, ours) for run in odd):
        yield day_zero(spec)
    yield from _clock_changes(rows, clock, ours.policy)


def _field_words(difference: FieldDifference) -> str:
    manual, schedd = _few(difference.manual), difference.schedd
    read = "nothing" if schedd is None else _few(schedd)
    title = f"{difference.field.title} {difference.text.strip()}"
    if schedd == difference.manual:
        return f"{title}: {difference.why}"
    return f"{title}: the manual reads {manual}, the schedd {read}: {difference.why}"


def _unread(spec: CronSpec, schedd: CronSpec) -> Iterator[DialectReason]:
    """Name the fields that the schedd does not see: attributes that are no strings."""
    for field in FIELDS:
        text = spec.given[field.index]
        if text is not None and schedd.given[field.index] != text:
            yield DialectReason("attribute", f"{field.title} {text}: {_NO_STRING}", f"{field.command} = {text}")


def _left_over(spec: CronSpec, named: list[Field]) -> Iterator[DialectReason]:
    """Name a day field that adds nothing as things stand, and would decide alone once the others are rewritten."""
    wanted = portable(spec)
    for field in FIELDS:
        text = spec.given[field.index]
        if text is None or field in named or spec.stars[field.index] or wanted.given[field.index] != "*":
            continue
        why = f"{field.title} {text.strip()}: adds nothing, since every day counts already"
        yield DialectReason("field", why, f"{field.command} = *")


def _few(values: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, values[:8]))
    return f"{shown} ..." if len(values) > 8 else shown


def _is_extra(run: RunSide, ours: JobSchedule) -> bool:
    """Say whether the schedd runs the job at a time that the manual's reading does not have."""
    return ours.recurrence is not None and not ours.recurrence.matches(run.time)


def day_zero(spec: CronSpec) -> DialectReason:
    """Return what the day-0 defect does to a schedule that it strikes, and the clause that cures it."""
    try:
        clause = day_zero_clause(portable(spec))
    except Untranslatable:
        return DialectReason("day-zero", DAY_ZERO)
    return DialectReason("day-zero", DAY_ZERO, clause, is_clause=True)


def _clock_changes(rows: Rows, clock: Clock, policy: Policy | None) -> Iterator[DialectReason]:
    """Name the first clock change beside a row that differs."""
    zone = zone_of(clock.zone)
    for row in rows.parting():
        for run in (row.run, row.schedd):
            change = _change_beside(run, zone) if run is not None else None
            if change is not None:
                day = zone.moment(change.start).date()
                forward = change.offset > change.before
                if policy is not None and policy is not Policy.COMPATIBLE:
                    said = f"the schedd has its own way with that, whatever --policy {policy.value} says"
                elif forward and run is not None and run.answer is not None and run.answer.moved < 0:
                    said = "the schedd puts a run in the skipped time before it, and then answers now + 120 s"
                elif forward:
                    said = "the schedd moves a run in the skipped time behind it"
                else:
                    said = "the schedd answers by what its process asked before"
                where = f"in {clock.zone_name} the clocks go {'forward' if forward else 'back'} on {day}"
                yield DialectReason("clock-change", f"{where}, and {said}")
                return


def _change_beside(run: RunSide, zone: Zone) -> Stretch | None:
    """Return the stretch that a clock change begins: one that the run follows, or one that repeats or moved its time.

    Of a retry the instant counts that the schedd found: what follows a clock change is no reason for it.
    """
    found = run.answer.computed if run.answer is not None else None
    time = run.time if found is None else found
    now = zone.at(time)
    then = zone.at(now.end)
    shift = then.before - then.offset if run.answer is None or run.answer.moved >= 0 else then.offset - then.before
    if time < then.start <= time + shift:
        return then
    return now if found is None and now.offset != now.before and time - now.start < DAY else None
