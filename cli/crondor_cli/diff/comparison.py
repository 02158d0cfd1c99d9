"""Two schedules, or two readings of one, compared: where they part, what differs, and how they relate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from crondor.algebra import first_collision, first_difference, has_day_zero, is_subset
from crondor.day_rule import decided_by
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, shortened
from crondor.recurrence import NeverRuns, Recurrence, ScheddAnswer, never_reason
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, CronSpec, Dialect, Field
from crondor.times import JobTimes
from crondor.words import describe
from crondor.zones import zone_of
from crondor_cli.kit.facts import LAST_INSTANT, years_after
from crondor_cli.kit.jobs import Job, ReadSchedule
from crondor_cli.kit.previews import DAY_ZERO, folded, hold_reason, last_retry, placed
from crondor_cli.kit.screen import FACTS, prose, say, screen_columns
from crondor_cli.kit.tables import columns, day_rule_words, diagnostic_data, echo_json, instant, value_set, written
from crondor_cli.kit.times import local_text, relative, retries_text


class Relation(str, Enum):
    """How the instants of two schedules relate."""

    SAME = "same"
    SUBSET = "subset"  # the first is a part of the second
    SUPERSET = "superset"
    NEITHER = "neither"


class ComparedSide(NamedTuple):
    """One schedule in one dialect."""

    job: Job
    reading: ReadSchedule

    @property
    def dialect(self) -> Dialect:
        """How the fields are read."""
        return self.reading.dialect

    @property
    def schedule(self) -> JobSchedule | None:
        """What the job asks for, None where it is refused."""
        return self.reading.schedule

    @property
    def spec(self) -> CronSpec | None:
        """The crontab fields, if there are any."""
        return self.reading.spec

    @property
    def recurrence(self) -> Recurrence | None:
        """When the crontab fields fire."""
        return self.schedule.recurrence if self.schedule is not None else None

    @property
    def as_set(self) -> Recurrence | None:
        """The same where it is a set of instants, of which requirements exclude none."""
        return None if self.dialect is Dialect.HTCONDOR or self.times.is_restricted else self.recurrence

    @property
    def times(self) -> JobTimes:
        """When the job runs."""
        return self.job.times(self.schedule or JobSchedule())

    @property
    def refusal(self) -> str | None:
        """Why the dialect refuses the schedule, or how the schedd does."""
        fault = self.reading.error
        if self.schedule is not None or fault is None:
            return None
        held = hold_reason(fault)
        return fault.diagnostics[0].message if held is None else f"held, {shortened(held)}"


class Parting(NamedTuple):
    """An instant at which exactly one side fires; ``is_retry`` where it is a schedd's "now + 120 s"."""

    time: int
    is_first: bool
    is_retry: bool = False


class Term(NamedTuple):
    """Something beside the schedule that differs: its name, and the value of each side."""

    name: str
    first: int | str | None
    second: int | str | None


@dataclass
class Comparison:
    """Two sides compared from now until ``until`` (epoch seconds)."""

    first: ComparedSide
    second: ComparedSide
    until: int
    findings: list[Diagnostic] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    partings: list[Parting] = field(default_factory=list)
    common: int | None = None
    wall: Relation | None = None
    zone: Relation | None = None
    trouble: bool = False

    @property
    def sides(self) -> tuple[ComparedSide, ComparedSide]:
        """Both sides."""
        return self.first, self.second

    @property
    def is_refused(self) -> bool:
        """Say whether a side has no schedule because its dialect does not accept it."""
        return any(side.schedule is None for side in self.sides)

    @property
    def has_instants(self) -> bool:
        """Say whether there are times to compare: both wait for some, and not for one unknown time."""
        if not all(side.schedule is not None and side.schedule.is_deferred for side in self.sides):
            return False
        times = [side.schedule.time for side in self.sides if side.schedule is not None and side.spec is None]
        return not (len(times) == 2 and times[0] == times[1] and not isinstance(times[0], int))

    @property
    def differs(self) -> bool:
        """Say whether anything but the spelling differs."""
        deferred = {side.schedule is not None and side.schedule.is_deferred for side in self.sides}
        return bool(self.partings or self.terms) or self.is_refused or len(deferred) == 2


def compare(first: ComparedSide, second: ComparedSide, count: int, until: int | None) -> Comparison:
    """Compare two sides; ``count`` is the most instants to name, ``until`` where to stop (epoch seconds)."""
    clock = first.job.clock
    has_chain = any(side.recurrence is not None and side.as_set is None for side in (first, second))
    end = until if until is not None else years_after(clock.now, 1, clock.zone) if has_chain else LAST_INSTANT
    result = Comparison(first, second, end)
    for side in result.sides:
        result.findings += side.reading.error.diagnostics if side.reading.error else ()
        result.findings += side.schedule.notes if side.schedule else ()
    if result.is_refused:
        return result
    result.fields = [f for f in FIELDS if first.spec and second.spec and _differ(first.spec, second.spec, f)]
    result.terms = list(_terms(first, second))
    result.wall, result.zone = _relations(first, second)
    try:
        _find_instants(result, count)
    except CrondorError as error:
        result.trouble = True
        result.findings += error.diagnostics
    return result


def _differ(a: CronSpec, b: CronSpec, which: Field) -> bool:
    """Say whether a field is written or read otherwise; one that is not given is `*`."""
    written = [(spec.given[which.index] or "*").strip() for spec in (a, b)]
    stars = [spec.stars[which.index] for spec in (a, b)]
    return written[0] != written[1] or value_set(a, which) != value_set(b, which) or stars[0] != stars[1]


def _terms(first: ComparedSide, second: ComparedSide) -> Iterator[Term]:
    """Yield what else differs of two jobs of files; a crontab line says nothing of it."""
    ours, theirs = first.schedule, second.schedule
    if ours is None or theirs is None or first.job.line is None or second.job.line is None:
        return
    found: list[tuple[str, object, object]] = [
        ("deferral_time", ours.time, theirs.time),
        ("window", ours.window, theirs.window),
        ("prep_time", ours.prep_time, theirs.prep_time),
        ("universe", ours.universe.name.lower(), theirs.universe.name.lower()),
    ]
    for name, one, two in found if ours.spec is None and theirs.spec is None else found[1:]:
        if one != two:
            yield Term(
                name, *(value if isinstance(value, int) or value is None else str(value) for value in (one, two))
            )


def _relations(first: ComparedSide, second: ComparedSide) -> tuple[Relation | None, Relation | None]:
    """Return how two sets relate on the wall clock, and in the zone."""
    a, b, zone = first.spec, second.spec, first.job.clock.zone
    if a is None or b is None or first.as_set is None or second.as_set is None:
        return None, None
    wall = _relation(is_subset(a, b), is_subset(b, a))
    if zone_of(zone).is_fixed:
        return wall, wall
    return wall, _relation(is_subset(a, b, zone), is_subset(b, a, zone))


def _relation(inside: bool, around: bool) -> Relation:
    if inside:
        return Relation.SAME if around else Relation.SUBSET
    return Relation.SUPERSET if around else Relation.NEITHER


def _find_instants(result: Comparison, count: int) -> None:
    """Find the instants that one side alone has, and the first that both have."""
    now, until = result.first.job.clock.now, result.until
    a, b = result.first.as_set, result.second.as_set
    if a is not None and b is not None and not (a.wall_clock.never or b.wall_clock.never):
        result.common = first_collision(a, b, now, until)
        while len(result.partings) < count:
            found = first_difference(a, b, now, until)
            if found is None:
                return
            now = found.instant
            result.partings.append(Parting(now, found.first == now))
        return
    if result.has_instants:
        ours, theirs = (_runs(side, now, until, result.findings) for side in result.sides)
        _walk(result, ours, theirs, count)


def _runs(side: ComparedSide, start: int, end: int, findings: list[Diagnostic]) -> Iterator[int]:
    """Return the runs of a side, whatever it is; one that never fires has none, and a warning says so."""
    schedule = side.schedule
    if schedule is None or not schedule.is_deferred:
        return iter(())
    if schedule.recurrence is None:
        return side.times.admitted(iter(_once(side.job, schedule, start, end)))
    try:
        return side.times.runs(start, end)
    except NeverRuns as error:
        for fault in error.diagnostics:
            found = placed(fault, side.job)
            findings.append(Diagnostic(found.kind, found.message, Severity.WARNING, found.span, found.help))
        return iter(())


def _once(job: Job, schedule: JobSchedule, start: int, end: int) -> tuple[int, ...]:
    try:
        time = schedule.next(start).time
    except CrondorError as error:
        raise CrondorError([placed(fault, job) for fault in error.diagnostics]) from None
    return (time,) if start < time <= end else ()


def _walk(result: Comparison, first: Iterator[int], second: Iterator[int], count: int) -> None:
    """Walk along two chains side by side, until there is nothing left to find."""
    one, two = next(first, None), next(second, None)
    while one is not None or two is not None:
        if len(result.partings) == count and (result.common is not None or one is None or two is None):
            return
        if one == two:
            result.common = one if result.common is None else result.common
            one, two = next(first, None), next(second, None)
        elif two is None or (one is not None and one < two):
            _part(result, one, count, is_first=True)
            one = next(first, None)
        else:
            _part(result, two, count, is_first=False)
            two = next(second, None)


def _part(result: Comparison, time: int | None, count: int, *, is_first: bool) -> None:
    if time is not None and len(result.partings) < count:
        result.partings.append(Parting(time, is_first, isinstance(time, ScheddAnswer) and time.is_retry))


def pairs(
    left: list[Job], right: list[Job], dialects: tuple[Dialect, Dialect]
) -> Iterator[tuple[ComparedSide, ComparedSide]]:
    """Pair as many jobs with as many, in order."""
    for ours, theirs in zip(left, right, strict=True):
        yield ComparedSide(ours, ours.read(dialects[0])), ComparedSide(theirs, theirs.read(dialects[1]))


def print_json(comparisons: list[Comparison], warnings: list[Diagnostic]) -> None:
    """Print one object with the pairs in order."""
    data = {
        "differs": any(c.differs for c in comparisons),
        "pairs": [_pair(c) for c in comparisons],
        "diagnostics": [diagnostic_data(warning) for warning in warnings],
    }
    echo_json(data)


def _pair(c: Comparison) -> dict[str, object]:
    clock = c.first.job.clock
    relation = None
    if c.wall is not None and c.zone is not None:
        relation = {"wall_clock": c.wall.value, "zone": c.zone.value}
    times = []
    for parting in c.partings:
        fires = "first" if parting.is_first else "second"
        times.append({**instant(parting.time, clock.zone), "fires": fires, "retry": parting.is_retry})
    return {
        "first": _side_data(c.first),
        "second": _side_data(c.second),
        "zone": clock.zone_name,
        "now": clock.now,
        "until": c.until,
        "differs": c.differs,
        "relation": relation,
        "fields": [_field(c, field) for field in c.fields],
        "terms": [{"term": name, "first": one, "second": two} for name, one, two in c.terms],
        "partings": times,
        "first_common": None if c.common is None else instant(c.common, clock.zone),
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(c.findings)],
    }


def _side_data(side: ComparedSide) -> dict[str, object]:
    spec, schedule = side.spec, side.schedule
    time = schedule.time if schedule is not None and spec is None else None
    return {
        "name": side.job.name,
        "line": side.job.line,
        "count": side.job.count,
        "dialect": side.dialect.value,
        "words": spec and describe(spec),
        "canonical": spec and str(spec),
        "deferral_time": time if time is None or isinstance(time, int) else str(time),
        "refusal": side.refusal,
    }


def _field(c: Comparison, field: Field) -> dict[str, object]:
    return {"field": field.name, "first": _reading(c.first.spec, field), "second": _reading(c.second.spec, field)}


def _reading(spec: CronSpec | None, field: Field) -> dict[str, object] | None:
    if spec is None:
        return None
    return {
        "written": spec.given[field.index],
        "values": list(spec.values(field)),
        "starred": spec.stars[field.index],
    }


_RELATIONS = {
    Relation.SAME: "both mean the same",
    Relation.SUBSET: "every run of < is one of >, but not the other way round",
    Relation.SUPERSET: "every run of > is one of <, but not the other way round",
    Relation.NEITHER: "neither contains the other",
}


def print_table(comparisons: list[Comparison], count: int) -> None:
    """Print all comparisons, a blank line between them."""
    say("\n\n".join("\n\n".join("\n".join(part) for part in _sections(c, count)) for c in comparisons))


def _sections(c: Comparison, count: int) -> list[list[str]]:
    clock = c.first.job.clock
    hint = "" if clock.is_given else "; --tz names another"
    zone = _fact("zone", f"{clock.zone_name} (must be the submit host's{hint})")
    head = [*_side("<", c.first, c), *_side(">", c.second, c), *zone]
    if c.is_refused:
        return [head]
    found = [head, _table(c)] if _has_rows(c) else [head]
    if c.has_instants:
        found += [[*_relation_text(c), *_common(c)], _partings(c, count)]
    return found + [_day_zero(mark) for mark, side in zip("<>", c.sides, strict=True) if _strikes(side)]


def _side(mark: str, side: ComparedSide, c: Comparison) -> list[str]:
    job = side.job
    name = printable(job.name if job.line is None else f"{job.name}:{job.line}")
    jobs = "" if job.count == 1 else f" ({job.count} jobs)"
    plain = all(other.dialect is Dialect.MANUAL for other in c.sides)
    return [f"{mark} {name}{jobs}{'' if plain else f', {side.dialect.value}'}", *_wrapped(_words(side), "    ")]


def _words(side: ComparedSide) -> str:
    if side.schedule is None:
        return f"{'the schedd would not run it' if side.dialect is Dialect.HTCONDOR else 'refused'}: {side.refusal}"
    if side.spec is not None:
        return describe(side.spec)
    time = side.schedule.time
    if time is None:
        return "no schedule: the job may run at once"
    return f"once, at {local_text(time, side.job.clock.zone)}" if isinstance(time, int) else f"once, at {time}"


def _wrapped(text: str, indent: str) -> list[str]:
    return prose(printable(text), screen_columns(sys.stdout), indent, indent, FACTS)


def _fact(name: str, text: str) -> list[str]:
    return prose(text, screen_columns(sys.stdout), f"  {name:<12}  ", " " * 16, FACTS)


def _has_rows(c: Comparison) -> bool:
    return bool(c.fields or c.terms)


def _table(c: Comparison) -> list[str]:
    """Return what differs, a pair of lines for each field."""
    rows = [["field", "", "written", "values"]]
    a, b = c.first.spec, c.second.spec
    if a is not None and b is not None:
        for field in c.fields:
            ours, theirs = value_set(a, field), _second_set(a, b, field)
            rows.append([field.title, "<", printable(written(a, field)), ours])
            rows.append(["", ">", printable(written(b, field)), theirs])
    for name, one, two in c.terms:
        unit = " s" if name in {"window", "prep_time"} else ""
        rows.append([name.replace("_", " "), "<", printable(f"{one}{unit}"), ""])
        rows.append(["", ">", printable(f"{two}{unit}"), ""])
    lines = columns(rows)
    if a is not None and b is not None and decided_by(a) is not decided_by(b):
        lines += [*_fact("day rule", f"<  {day_rule_words(a)}"), *_fact("", f">  {day_rule_words(b)}")]
    return lines


def _second_set(a: CronSpec, b: CronSpec, field: Field) -> str:
    text = value_set(b, field)
    if text != value_set(a, field):
        return text
    starred = [spec.stars[field.index] for spec in (a, b)]
    return "the same" if starred[0] == starred[1] else f"the same, {'' if starred[1] else 'not '}starred"


def _relation_text(c: Comparison) -> list[str]:
    never = [mark for mark, side in zip("<>", c.sides, strict=True) if side.spec and never_reason(side.spec)]
    if never:
        hangs = ", and the schedd hangs in its search" if c.wall is None else ""
        return _fact("relation", f"{'neither ever' if len(never) == 2 else f'{never[0]} never'} fires{hangs}")
    if c.wall is None or c.zone is None:
        if all(side.spec is not None for side in c.sides):
            return _fact(
                "relation",
                "none: the htcondor dialect is no set of times, since its answers depend on when it is asked",
            )
        return []
    if c.wall is c.zone:
        return _fact("relation", _RELATIONS[c.wall])
    zone = c.first.job.clock.zone_name
    return _fact("relation", f"on the wall clock {_RELATIONS[c.wall]}; in {zone} {_RELATIONS[c.zone]}")


def _common(c: Comparison) -> list[str]:
    clock = c.first.job.clock
    if c.common is None:
        return _fact("first common", f"no time {_until(c)} that both have")
    return _fact("first common", f"{local_text(c.common, clock.zone)}, {relative(c.common - clock.now)}")


def _until(c: Comparison) -> str:
    if c.until == LAST_INSTANT:
        return "before 2201"
    end = datetime.fromtimestamp(c.until, c.first.job.clock.zone)
    return f"until {end:%Y-%m-%d %H:%M}"


def _partings(c: Comparison, count: int) -> list[str]:
    """Return the times that one side alone has."""
    clock = c.first.job.clock
    if not c.partings:
        return _fact("partings", f"no time {_until(c)} that only one of them has")
    if len(c.partings) < count:
        title = f"  The times {_until(c)} that only one of them has:"
    else:
        title = (
            f"  The first {count} times that only one of them has:"
            if count > 1
            else "  The first time that only one of them has:"
        )
    rows = []

    def retry_of(parting: Parting) -> tuple[bool, int] | None:
        return (parting.is_first, parting.time) if parting.is_retry else None

    def last_of(is_first: bool, time: int) -> int | None:
        recurrence = (c.first if is_first else c.second).recurrence
        return None if recurrence is None else last_retry(recurrence, time)

    for parting, last in folded(c.partings, retry_of, last_of):
        mark = " (retry)" if parting.is_retry else ""
        time = local_text(parting.time, clock.zone) + mark
        rows.append([("<" if parting.is_first else ">") + f"  {time}", relative(parting.time - clock.now)])
        if last is not None:
            rows.append([retries_text(parting.time, last, clock.zone)])
    return [title, *(f"  {line}" for line in columns(rows))]


def _strikes(side: ComparedSide) -> bool:
    return side.dialect is Dialect.HTCONDOR and side.spec is not None and has_day_zero(side.spec)


def _day_zero(mark: str) -> list[str]:
    return prose(f"{mark} has the schedd's {DAY_ZERO}", screen_columns(sys.stdout), "  ", "  ")
