"""Why a schedule fires at an instant, or which field blocks it, and the nearest instants that do fire."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import NamedTuple

from crondor.day_rule import DecidedBy, decided_by
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Field


class Arm(str, Enum):
    """Which of the two day fields takes a day, or how both do."""

    EVERY_DAY = "every day"  # neither field restricts the days
    DAY_OF_MONTH = "day of month"
    DAY_OF_WEEK = "day of week"
    EITHER = "day of month and day of week"  # both arms of the OR hold, or both fields are asked for at once
    NEITHER = "neither"


class FieldMatch(NamedTuple):
    """One field at a wall-clock time: the value there, and whether the field names it."""

    field: Field
    value: int
    matches: bool


class Why(NamedTuple):
    """Why a schedule fires at an instant or does not.

    ``instant`` (epoch seconds) has the wall-clock time ``wall``. ``blocking`` are the fields that do not allow it,
    the day fields only where no arm of the day rule holds. ``note`` says what else decides: seconds, or a clock
    change. ``earlier`` and ``later`` are the nearest instants that fire, None where there is none in 1970 to 2200.
    """

    fires: bool
    instant: int
    wall: datetime
    fields: tuple[FieldMatch, ...]
    arm: Arm
    blocking: tuple[Field, ...]
    note: str | None
    earlier: int | None
    later: int | None


def field_matches(spec: CronSpec, wall: datetime) -> tuple[FieldMatch, ...]:
    """Return what each field says to a wall-clock time."""
    values = wall.minute, wall.hour, wall.day, wall.month, (wall.weekday() + 1) % 7
    fields = MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK
    return tuple(
        FieldMatch(field, value, bool(spec.bits[field.index] >> value & 1))
        for field, value in zip(fields, values, strict=True)
    )


def day_arm(spec: CronSpec, matches: tuple[FieldMatch, ...]) -> Arm:
    """Return which arm of the day rule takes the day."""
    day, weekday = matches[DAY_OF_MONTH.index].matches, matches[DAY_OF_WEEK.index].matches
    by = decided_by(spec)
    if by is DecidedBy.NEITHER:
        return Arm.EVERY_DAY
    if by is DecidedBy.BOTH:
        return Arm.EITHER if day and weekday else Arm.NEITHER
    day, weekday = day and by is not DecidedBy.DAY_OF_WEEK, weekday and by is not DecidedBy.DAY_OF_MONTH
    if day and weekday:
        return Arm.EITHER
    return Arm.DAY_OF_MONTH if day else Arm.DAY_OF_WEEK if weekday else Arm.NEITHER


def blocking_fields(matches: tuple[FieldMatch, ...], arm: Arm) -> tuple[Field, ...]:
    """Return the fields that keep a time from being one of the schedule's."""
    found = [match.field for match in matches if not match.matches]
    days = () if arm is Arm.NEITHER else (DAY_OF_MONTH, DAY_OF_WEEK)
    return tuple(field for field in found if field not in days)
