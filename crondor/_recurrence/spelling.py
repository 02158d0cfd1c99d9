"""One schedule in several dialects: what they read otherwise, why, a spelling that all share, and translation."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from crondor._spec.canonical import field_text, values
from crondor.day_rule import DecidedBy, counts_as_star, decided_by, has_day_zero, takes_every_day
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, CronSpec, Dialect, Field, InvalidSpec

_MOST_MOMENTS = 24  # of a day-0 clause spelled moment by moment


class Untranslatable(CrondorError, ValueError):
    """A schedule that another dialect has no words for."""


class FieldDifference(NamedTuple):
    """A field that the schedd reads otherwise than the manual: both value sets, why, and what to write.

    ``schedd`` is None where nothing is left and the schedd holds the job.
    """

    field: Field
    text: str
    manual: tuple[int, ...]
    schedd: tuple[int, ...] | None
    why: str
    portable: str


def reread(spec: CronSpec, dialect: Dialect) -> CronSpec:
    """Return the same texts read in another dialect. Raises InvalidSpec."""
    minute, hour, day_of_month, month, day_of_week = spec.given
    return CronSpec(
        minute=minute, hour=hour, day_of_month=day_of_month, month=month, day_of_week=day_of_week, dialect=dialect
    )


def portable(spec: CronSpec) -> CronSpec:
    """Return a MANUAL spec whose texts all three dialects read alike, and which takes the days and times of ``spec``.

    A field that some dialect reads otherwise is written out as a list. What lists cannot cure stays: the schedd's
    day-0 defect, and the handling of clock changes. ``spec`` is MANUAL or UNIX. Raises Untranslatable.
    """
    texts: dict[str, str] = {}
    by = decided_by(spec)
    if by is DecidedBy.BOTH:
        message = f"{spec} needs both day fields at once, which only the UNIX dialect can say"
        minute, hour, dates, month, weekdays = spec.given
        both = f"({minute} {hour} {dates} {month} *) and ({minute} {hour} * {month} {weekdays})"
        help_text = f"crondor compile writes fields and a clause for it: crondor compile '{both}'"
        raise Untranslatable(Diagnostic("untranslatable", message, help=help_text))
    every_day = takes_every_day(spec)
    for field in FIELDS:
        text = spec.given[field.index]
        bits, star = spec.bits[field.index], spec.stars[field.index]
        day = field in {DAY_OF_MONTH, DAY_OF_WEEK}
        joined = spec.dialect is Dialect.UNIX and by is not DecidedBy.EITHER  # a full day field then restricts nothing
        if (day and every_day) or (bits == field.full and (star or (day and joined))):
            texts[field.name] = "*"
        elif text is not None and _read_alike(text, spec, field):
            texts[field.name] = text
        else:
            texts[field.name] = _listed(bits, field)
    return CronSpec.from_mapping({field.attribute: texts[field.name] for field in FIELDS})


def field_differences(spec: CronSpec) -> list[FieldDifference]:
    """Return the fields of a MANUAL spec that the schedd reads otherwise."""
    wanted = portable(spec)
    found = []
    for field in FIELDS:
        text = spec.given[field.index]
        if text is None:
            continue
        manual = spec.bits[field.index], spec.stars[field.index]
        schedd = _alone(text, field, Dialect.HTCONDOR)
        why = _why(text, field, manual, schedd)
        if field is DAY_OF_MONTH and spec.stars[DAY_OF_WEEK.index] and manual[0] == field.full:
            why = ""  # without a restricted day of week it makes no difference
        if why:
            found.append(
                FieldDifference(
                    field,
                    text,
                    values(manual[0]),
                    None if schedd is None else values(schedd[0]),
                    why,
                    wanted.given[field.index] or "*",
                )
            )
    return found


def day_zero_clause(spec: CronSpec) -> str:
    """Return a Requirements clause under which the wrong times of the day-0 defect never match (docs/dialects.md).

    formatTime uses the zone of the host that evaluates it.
    """
    minutes, hours, _, months, weekdays = (spec.values(field) for field in FIELDS)
    moments = [f"{d} {h:02}:{m:02}" for d in weekdays for h in hours for m in minutes]
    if len(moments) <= _MOST_MOMENTS:
        clauses = [_one_of("%w %H:%M", moments)]
    else:
        clauses = [_one_of("%w", [str(d) for d in weekdays])]
        clauses += [_one_of("%H", [f"{h:02}" for h in hours])] if len(hours) < 24 else []
        clauses += [_one_of("%M", [f"{m:02}" for m in minutes])] if len(minutes) < 60 else []
    if len(months) < 12:
        clauses.append(_one_of("%m", [f"{m:02}" for m in months]))
    return " && ".join(clauses)


def _one_of(form: str, allowed: list[str]) -> str:
    time = f'formatTime(DeferralTime, "{form}")'
    return f'{time} == "{allowed[0]}"' if len(allowed) == 1 else f'stringListMember({time}, "{",".join(allowed)}", ",")'


@lru_cache(maxsize=256)  # what is compared, explained and respelled is one schedule, and asked for in several places
def _alone(text: str, field: Field, dialect: Dialect) -> tuple[int, bool] | None:
    """Return bits and star flag of one field's text in a dialect, None where it is not valid."""
    try:
        spec = CronSpec.from_mapping({field.attribute: text}, dialect=dialect)
    except InvalidSpec:
        return None
    return spec.bits[field.index], counts_as_star(spec, field)


def _read_alike(text: str, spec: CronSpec, field: Field) -> bool:
    own = _meaning((spec.bits[field.index], counts_as_star(spec, field)), field)
    others = (_alone(text, field, dialect) for dialect in Dialect if dialect is not spec.dialect)
    return all(reading is not None and _meaning(reading, field) == own for reading in others)


def _meaning(reading: tuple[int, bool] | None, field: Field) -> tuple[int, bool] | None:
    """Return what counts of a reading: the values, and for day fields whether they restrict."""
    if reading is None or field in {DAY_OF_MONTH, DAY_OF_WEEK}:
        return reading
    return reading[0], False


def _listed(bits: int, field: Field) -> str:
    """Return values and ranges without steps: HTCONDOR canonical text of a day of week has no others."""
    text = field_text(bits, field, Dialect.HTCONDOR, star=False)
    return text if "/" not in text else ",".join(map(str, values(bits)))


def _why(text: str, field: Field, manual: tuple[int, bool], schedd: tuple[int, bool] | None) -> str:
    """Return why the schedd reads a field otherwise, "" where it does not."""
    if schedd is not None and _meaning(manual, field) == _meaning(schedd, field):
        return ""
    if field is DAY_OF_WEEK and "*" in text and schedd is not None:
        return "the schedd drops items with `*` there" + (
            ", so that nothing is left to restrict the days" if schedd[1] else ", and the others count"
        )
    if field is DAY_OF_MONTH and schedd is not None and manual[0] == schedd[0] == field.full and not manual[1]:
        return "the schedd takes 31 values for `*`, so that the day of week alone decides"
    if "/" in text:
        lost = ", of which none is left here: it holds the job" if schedd is None else ""
        return f"the schedd keeps the multiples of the step, whatever the range begins with{lost}"
    return "the schedd reads it otherwise"


def translate(spec: CronSpec, dialect: Dialect) -> CronSpec:
    """Return a spec of another dialect with the same wall-clock instants.

    Clock changes follow the other dialect's policy. Raises Untranslatable with the reason: the UNIX dialect can ask
    for both day fields at once, and a schedd's answers under the day-0 defect are no schedule at all.
    """
    if spec.dialect is dialect:
        return spec
    if spec.dialect is Dialect.HTCONDOR:
        spec = _as_manual(spec)
    found = reread(portable(spec), dialect)
    if dialect is Dialect.HTCONDOR and has_day_zero(found):
        message = f"the schedd's day-0 defect strikes {found}: it adds the last day of the month, and retries"
        help_text = f"write the schedule, and add to requirements: {day_zero_clause(spec)}"
        raise Untranslatable(Diagnostic("day-zero", message, help=help_text))
    return found


def _as_manual(spec: CronSpec) -> CronSpec:
    """Return the instants that a schedd takes as a MANUAL spec, if they are a set."""
    if has_day_zero(spec):
        message = f"with the schedd's day-0 defect {spec} is no set of instants"
        raise Untranslatable(Diagnostic("day-zero", message, help="translate the MANUAL reading instead"))
    every_day = takes_every_day(spec)
    texts: dict[str, object] = {}
    for field in FIELDS:
        day = field in {DAY_OF_MONTH, DAY_OF_WEEK}
        star = (every_day and day) or (spec.stars[field.index] and field is not DAY_OF_MONTH)
        texts[field.attribute] = "*" if star else _listed(spec.bits[field.index], field)
    return CronSpec.from_mapping(texts)
