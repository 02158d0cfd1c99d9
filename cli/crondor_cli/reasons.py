"""Why the real schedd runs a job at other times than the manual says, and what to write so that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.algebra import FieldDifference, Untranslatable, day_zero_clause, field_differences, has_day_zero, portable
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec
from crondor.zones import zone_of
from crondor_cli.options import Clock
from crondor_cli.rows import Reason, Row, Run


def reasons(rows: list[Row], clock: Clock, ours: JobSchedule | None, theirs: JobSchedule | None) -> Iterator[Reason]:
    """Yield why rows differ: the manual's reading ``ours`` against the schedd's, None where it is refused."""
    spec = ours.spec if ours else None
    schedd = theirs.spec if theirs else None
    if spec is None:
        yield Reason("accepted", "condor_submit and the schedd take the schedule without a word")
        return
    differences = field_differences(spec)
    for difference in differences:
        yield Reason("field", _field_words(difference), f"{difference.field.command} = {difference.portable}")
    odd = [row.schedd for row in rows if row.differs and row.schedd is not None]
    if schedd is not None and has_day_zero(schedd) and any(run.is_retry or _is_extra(run, ours) for run in odd):
        yield _day_zero(spec)
    yield from _clock_changes(rows, clock)


def _field_words(difference: FieldDifference) -> str:
    manual, schedd = _few(difference.manual), difference.schedd
    read = "nothing" if schedd is None else _few(schedd)
    title = f"{difference.field.title} {difference.text.strip()}"
    if schedd == difference.manual:
        return f"{title}: {difference.why}"
    return f"{title}: the manual reads {manual}, the schedd {read}: {difference.why}"


def _few(values: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, values[:8]))
    return f"{shown} ..." if len(values) > 8 else shown


def _is_extra(run: Run, ours: JobSchedule | None) -> bool:
    """Say whether the schedd runs the job at a time that the manual's reading does not have."""
    recurrence = ours.recurrence if ours else None
    return recurrence is not None and not recurrence.matches(run.deferral.time)


def _day_zero(spec: CronSpec) -> Reason:
    why = (
        "day 0: with a day of week and no day of month the schedd also runs the job on the last day of a month, "
        "and then every two minutes until the month ends"
    )
    try:
        clause = day_zero_clause(portable(spec))
    except Untranslatable:
        return Reason("day-zero", why)
    return Reason("day-zero", why, clause, is_clause=True)


def _clock_changes(rows: list[Row], clock: Clock) -> Iterator[Reason]:
    """Name the first clock change beside a row that differs."""
    zone = zone_of(clock.zone)
    for row in rows:
        for run in (row.run, row.schedd) if row.differs else ():
            if run is None or run.is_retry:
                continue
            stretch = zone.at(run.deferral.time)
            if stretch.offset != stretch.before and run.deferral.time - stretch.start < 86400:
                day = zone.moment(stretch.start).date()
                where = clock.zone_name
                why = f"the clocks change on {day} in {where}, and the schedd answers by what its process asked before"
                yield Reason("clock-change", why)
                return
