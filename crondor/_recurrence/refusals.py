"""What a recurrence refuses to answer, and why."""

from __future__ import annotations

from crondor._recurrence.local_walk import WallClock
from crondor._recurrence.schedd_walk import ScheddWalk
from crondor._types import expect
from crondor.calendar import LONGEST
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source
from crondor.spec import DAY_OF_MONTH, MONTH, CronSpec, Dialect
from crondor.zones import zone_of

FIRST_INSTANT = 0
END_OF_INSTANTS = 7289654400  # 2201-01-01 00:00 UTC


class NeverRuns(CrondorError, ValueError):
    """The schedule names no date that exists."""


class ScheddHangs(NeverRuns):
    """The schedule names no date that exists, and a schedd that is given it never returns from its search."""


class NotASet(CrondorError, TypeError):
    """The HTCONDOR dialect has no set of instants: its answers depend on when it is asked."""


class OutOfRange(CrondorError, OverflowError):
    """An instant outside the years 1970 to 2200."""


def never_reason(spec: CronSpec) -> str | None:
    """Return why a schedule never fires ("day 31 does not occur in months 2, 4"), or None if it does.

    Exact for every dialect.
    """
    expect("spec", spec, CronSpec, "a CronSpec", "write CronSpec.from_line('30 2 * * *')")
    empty = ScheddWalk(spec, zone_of("UTC")).hangs if spec.dialect is Dialect.HTCONDOR else WallClock(spec).never
    if not empty:
        return None
    days = spec.values(DAY_OF_MONTH)
    months = spec.values(MONTH)
    which = f"day {days[0]} does" if len(days) == 1 else f"days {', '.join(map(str, days))} do"
    where = f"month {months[0]}" if len(months) == 1 else f"months {', '.join(map(str, months))}"
    return f"{which} not occur in {where}"


def never_runs(spec: CronSpec) -> Diagnostic:
    message = f"the schedule never fires: {never_reason(spec)}"
    if spec.dialect is Dialect.HTCONDOR:
        message += "; a schedd that is given it never returns from its search"
    span = None
    text = spec.given[DAY_OF_MONTH.index]
    if text is not None:
        span = Source(text, DAY_OF_MONTH.name).span()
    longest = max(LONGEST[month] for month in spec.values(MONTH))
    help_text = f"write a day of month up to {longest}, or other months"
    return Diagnostic("cron-never", message, span=span, help=help_text)


def out_of_range(instant: int) -> OutOfRange:
    """Return the error for an instant (epoch seconds) that cannot be asked about."""
    shown = str(instant) if abs(instant) < 10**18 else "given"
    message = f"the instant {shown} (epoch seconds) lies outside the years 1970 to 2200"
    return OutOfRange(Diagnostic("time-range", message, help="ask for a time between 1970 and 2200"))


def none_before(instant: int) -> OutOfRange:
    """Return the error for a schedule that has not fired between 1970 and an instant (epoch seconds)."""
    message = f"no run lies between 1970 and {instant} (epoch seconds)"
    return OutOfRange(Diagnostic("time-range", message, help="ask for a later time"))
