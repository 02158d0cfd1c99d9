"""A routing table for people, as condor_job_router_info prints it, and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.router import Rejected, Route, RoutingTable
from crondor.router.table.printing import printed_route, printed_transform
from crondor.source import Span
from crondor.transform import Transform
from crondor.transform.universes import universe_name
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json


def print_table(table: RoutingTable) -> None:
    """Print transforms, routes, and what was rejected."""
    for line in _lines(table):
        say(line)


def remarks(table: RoutingTable, *, legacy: bool = False) -> Iterator[str]:
    """Yield what has to be said beside the table; of routes that are ClassAds another command says more."""
    if not table.is_enabled:
        yield "JobRouter is disabled."
    found = Counter(each.severity for each in _by_place(table.diagnostics))
    others = [(found[kind], kind.value) for kind in (Severity.WARNING, Severity.NOTE) if found[kind]]
    if others:
        said = " and ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in others)
        yield f"{said}: see crondor route {'convert' if legacy else 'check'}"


def _by_place(found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """Return one finding for each code and place: what the defaults or a route say may be said for many."""
    kept: dict[object, Diagnostic] = {}
    for each in found:
        span = each.span
        at = each.message if span is None else (span.source.name, span.start, span.end)
        kept.setdefault((each.code, at), each)
    return kept.values()


def _lines(table: RoutingTable) -> Iterator[str]:
    for kind, transforms in (("Pre", table.before), ("Post", table.after)):
        for transform in transforms:
            yield f"{kind}-Route Transform : {printable(transform.name)}"
            yield from _indented(printed_transform(transform))
            yield ""
    for number, route in enumerate(table.routes or table.idle, start=1):
        yield f"Route {number}"
        yield from _route(route)
        yield ""
    if table.rejected:
        yield "Rejected routes:"
        for rejected in table.rejected:
            yield from _rejected(rejected)


def _route(route: Route) -> Iterator[str]:
    asked = route.transform.requirements
    rows = (
        ("Name", f'"{route.name}"'),
        ("Source", route.name),
        ("Universe", str(route.universe)),
        ("MaxJobs", str(route.max_jobs)),
        ("MaxIdleJobs", str(route.max_idle_jobs)),
        ("GridResource", route.grid_resource or ""),
        ("Requirements", asked.text if asked is not None else ""),
    )
    for name, value in rows:
        yield f"{name:<12} : {printable(value)}".rstrip()
    yield from _indented(printed_route(route))


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"\t{printable(line.replace(chr(9), '    '))}" for line in lines)


def _rejected(rejected: Rejected) -> Iterator[str]:
    yield f"Name         : {printable(rejected.name)}"
    for found in rejected.diagnostics:
        place = f" ({found.span.location})" if found.span is not None else ""
        yield f"Reason       : {printable(found.message + place)}"


def print_json(table: RoutingTable, effective: dict[str, object] | None = None) -> None:
    """Print one object, with what one job passes if that was asked; `crondor config schema route show` has the keys."""
    data: dict[str, object] = {
        "is_enabled": table.is_enabled,
        "routes": [_route_data(route) for route in table.routes or table.idle],
        "before": [_transform_data(transform) for transform in table.before],
        "after": [_transform_data(transform) for transform in table.after],
        "rejected": [
            {"name": each.name, "diagnostics": [diagnostic_data(found) for found in each.diagnostics]}
            for each in table.rejected
        ],
        "diagnostics": [diagnostic_data(found) for found in table.diagnostics],
    }
    if effective is not None:
        data["effective"] = effective
    echo_json(data)


def _route_data(route: Route) -> dict[str, object]:
    asked = route.transform.requirements
    return {
        "name": route.name,
        "universe": route.universe,
        "universe_name": universe_name(route.universe),
        "max_jobs": route.max_jobs,
        "max_idle_jobs": route.max_idle_jobs,
        "failure_rate_threshold": route.failure_rate_threshold,
        "grid_resource": route.grid_resource,
        "requirements": asked.text if asked is not None else None,
        "is_legacy": route.is_legacy,
        "text": "\n".join(printed_route(route)),
        "place": route.place and _place(route.place),
    }


def _transform_data(transform: Transform) -> dict[str, object]:
    return {"name": transform.name, "text": "\n".join(printed_transform(transform))}


def _place(span: Span) -> dict[str, object]:
    return {"file": span.source.name, "line": span.line, "column": span.column}
