"""A comparison as text and as JSON (`crondor config schema diff`)."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING

from crondor.algebra import has_day_zero
from crondor.day_rule import decided_by
from crondor.diagnostics import Diagnostic, printable
from crondor.preview.comparison import ComparedSide, Comparison, Parting, Relation
from crondor.preview.facts import LAST_INSTANT
from crondor.preview.field_words import day_rule_words, value_set, written
from crondor.preview.runs import DAY_ZERO, folded, last_retry
from crondor.recurrence import never_reason
from crondor.spec import CronSpec, Dialect, Field
from crondor.words import describe
from crondor_cli.kit.screen import FACTS, prose, say, screen_columns
from crondor_cli.kit.tables import columns, diagnostic_data, echo_json, instant, instant_or_none
from crondor_cli.kit.times import local_text, relative, retries_text, zone_text

if TYPE_CHECKING:
    from crondor_cli.diff import results


def print_json(comparisons: list[Comparison], warnings: list[Diagnostic]) -> None:
    """Print one object with the pairs in order."""
    data: results.DiffResult = {
        "differs": any(c.differs for c in comparisons),
        "pairs": [_pair(c) for c in comparisons],
        "diagnostics": [diagnostic_data(warning) for warning in warnings],
    }
    echo_json(data)


def _pair(c: Comparison) -> results.Pair:
    clock = c.first.job.clock
    relation: results.Relation | None = None
    if c.wall is not None and c.zone is not None:
        relation = {"wall_clock": c.wall.value, "zone": c.zone.value}
    times: list[results.Parting] = []
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
        "first_common": instant_or_none(c.common, clock.zone),
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(c.findings)],
    }


def _side_data(side: ComparedSide) -> results.Side:
    spec, schedule = side.spec, side.schedule
    time = schedule.time if schedule is not None and spec is None else None
    return {
        "name": side.job.name,
        "line": side.job.line,
        "count": side.job.count,
        "dialect": side.dialect.value,
        "words": None if spec is None else describe(spec),
        "canonical": None if spec is None else str(spec),
        "deferral_time": time if time is None or isinstance(time, int) else str(time),
        "refusal": side.refusal,
    }


def _field(c: Comparison, field: Field) -> results.Field:
    return {"field": field.name, "first": _reading(c.first.spec, field), "second": _reading(c.second.spec, field)}


def _reading(spec: CronSpec | None, field: Field) -> results.Reading | None:
    if spec is None:
        return None
    return {"written": spec.given[field.index], "values": list(spec.values(field)), "starred": spec.stars[field.index]}


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
    zone = _fact("zone", zone_text(clock))
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
