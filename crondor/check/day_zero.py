"""The schedd's day-0 defect: the next wrong time it gives a job, and whether the job's requirements refuse those."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crondor.calendar import DAY, EPOCH_ORDINAL, day_number
from crondor.diagnostics import CrondorError
from crondor.recurrence import OutOfRange, Recurrence, ScheddAnswer
from crondor.spec import DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec
from crondor.times import admission_of
from crondor.zones import Zone, zone_of

if TYPE_CHECKING:
    from crondor.classad.scope import Effort

_MONTHS = 14  # that are looked at
_RUNS = 100  # of a month, whose match is tried
_STEP = 11 * 3600 + 60  # seconds between two retries whose match is tried; the schedd makes one in 120 s
_TRY = 60  # steps that it takes to find a time, beside those of the evaluation


class Wrong(NamedTuple):
    """A time that the schedd sets and the schedule does not have, and when it was asked (epoch seconds)."""

    asked: int
    answer: ScheddAnswer


class RefusedTimes(NamedTuple):
    """What requirements do, in epoch seconds: the first right time they refuse, and the first wrong one they let by."""

    refused: int | None
    admitted: int | None

    @property
    def is_cure(self) -> bool:
        """Whether exactly the right times can match."""
        return self.refused is None and self.admitted is None


def next_wrong(spec: CronSpec, zone: str | tzinfo, now: int) -> Wrong | None:
    """Return the next wrong time of a HTCONDOR spec that the defect strikes, None if the coming months have none.

    The schedd is asked ``now`` and then after the last run of each month.
    """
    return _next_wrong(spec, zone_of(zone), now)


@lru_cache(maxsize=64)  # many jobs of one description share a schedule
def _next_wrong(spec: CronSpec, zone: Zone, now: int) -> Wrong | None:
    return next(wrong_times(spec, zone, now, step=DAY * 31), None)


def wrong_times(spec: CronSpec, zone: Zone, now: int, step: int = _STEP) -> Iterator[Wrong]:
    """Yield wrong times: of each coming month the first after its last run, and retries ``step`` seconds apart."""
    schedd = Recurrence(spec, zone.info)
    runs = Recurrence(_runs(spec), zone.info)
    try:
        for end in islice(_month_ends(zone, now), _MONTHS):
            asked = max(now, runs.previous(end))
            while asked < end:
                answer = schedd.next(asked)
                if isinstance(answer, ScheddAnswer) and _is_wrong(answer, spec, zone):
                    yield Wrong(asked, answer)
                asked += step
    except OutOfRange:
        return


def refusals(
    requirements: str, spec: CronSpec, schedd: CronSpec, zone: str | tzinfo, now: int, effort: Effort | None = None
) -> RefusedTimes | None:
    """Try requirements on the right and the wrong times of the coming months, each as DeferralTime.

    ``spec`` is what the manual reads, ``schedd`` what the schedd does; ``effort`` pays for the evaluations. What other
    attributes decide counts as possible. None where requirements do not speak of the time, or cannot be evaluated.
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
        # Beside a clock change no clause on the wall clock can tell a run that is moved, or a retry at its minute.
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


def _is_wrong(answer: ScheddAnswer, spec: CronSpec, zone: Zone) -> bool:
    return answer.is_retry or not _is_day(zone.moment(answer), spec)


def _is_named(time: int, spec: CronSpec, zone: Zone) -> bool:
    """Say whether the wall clock at a time is one that a schedule by weekdays names."""
    at = zone.moment(time)
    return bool(spec.bits[MINUTE.index] >> at.minute & spec.bits[HOUR.index] >> at.hour & 1) and _is_day(at, spec)


def _is_day(at: datetime, spec: CronSpec) -> bool:
    return bool(spec.bits[DAY_OF_WEEK.index] >> at.isoweekday() % 7 & spec.bits[MONTH.index] >> at.month & 1)


def _runs(spec: CronSpec) -> CronSpec:
    """Return the times that a HTCONDOR spec names, as the manual would read them."""
    texts = {
        field.attribute: "*" if spec.bits[field.index] == field.full else ",".join(map(str, spec.values(field)))
        for field in FIELDS
    }
    return CronSpec.from_mapping(texts)
