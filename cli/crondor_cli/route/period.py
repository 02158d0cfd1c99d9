"""The period that a report of routed jobs covers, as condor_router_history takes it."""

from __future__ import annotations

import math
from datetime import datetime

import click

from crondor.diagnostics import printable
from crondor.router.tools import Period
from crondor_cli.common.options import Clock
from crondor_cli.times.wall import Gap, instant

_DAY = 86400
_MOST_DAYS = 1_000_000.0


def days_option(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """Return a number of days, which may have a fraction. Raises BadParameter."""
    if text is None:
        return None
    try:
        days = float(text)
    except ValueError:
        days = math.nan
    if not 0 <= days <= _MOST_DAYS:
        message = f"{printable(text)!r} is no number of days from 0 to 1000000"
        raise click.BadParameter(message, ctx, param)
    return days


def period_of(days: float | None, age: float | None, start: str | None, clock: Clock) -> Period:
    """Return the time that --days, --age and --start name. Raises UsageError."""
    length = (1.0 if days is None else days) * _DAY
    end = clock.now - (age or 0.0) * _DAY
    if start is None:
        return Period(end - length, end)
    begin = _start(start, clock)
    if days is not None and age is None:
        end = begin + length
    if end < begin:
        message = f"--start {printable(start)} is later than the end of the report"
        raise click.UsageError(message, click.get_current_context(silent=True))
    return Period(begin, end)


def _start(text: str, clock: Clock) -> int:
    try:
        found = instant(datetime.strptime(text, "%Y-%m-%d %H:%M"), clock.zone)  # noqa: DTZ007 - the zone comes with it
    except (ValueError, OverflowError):
        message = f'--start: write "YYYY-MM-DD HH:MM", such as "2026-11-01 00:00", not {printable(text)!r}'
        raise click.UsageError(message, click.get_current_context(silent=True)) from None
    return found.instant if isinstance(found, Gap) else found
