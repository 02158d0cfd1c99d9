"""Comparisons for programs; `crondor config schema diff` has the keys."""

from __future__ import annotations

from crondor.diagnostics import Diagnostic
from crondor.spec import CronSpec, Field
from crondor.words import describe
from crondor_cli.common.data import diagnostic_data, instant
from crondor_cli.common.streaming import echo_json
from crondor_cli.diff.comparison import ComparedSide, Comparison


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
        "first": _side(c.first),
        "second": _side(c.second),
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


def _side(side: ComparedSide) -> dict[str, object]:
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
