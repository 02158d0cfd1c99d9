"""What condor_job_router_info -config says of a configuration: the table, the transforms, what was rejected and why."""

import re
from collections.abc import Iterator, Mapping

from crondor.config import Configuration, read_config
from crondor.diagnostics import Severity, Source
from crondor.router import Route, RoutingTable, load_table
from crondor.router.table.route import printed_route, printed_transform
from tests.golden.kinds.case import Difference, Malformed, check_fields, compare, integer, items, mapping, text, texts

ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC"}
BASE_LINES = 12  # of the configuration that every recorded run has before its own
_OUT = ("routes", "transforms", "disabled", "diagnostics")
_ROUTE = ("n", "text", "Name", "Source", "Universe", "MaxJobs", "MaxIdleJobs", "GridResource", "Requirements")
_HEAD = re.compile(r"(?:CONFIGURATION (?:ERROR|WARNING)|ERROR|WARNING): (.*)", re.DOTALL)
_NOT_FOUND = re.compile(r"route '(.*)' from JOB_ROUTER_ROUTE_NAMES not found in the routing table\.?")
_IGNORED = re.compile(r"Ignoring route entry in JOB_ROUTER_ROUTE_(.*)")
_ORDER = "Routes will be matched in this order:"
_HARMLESS = (_ORDER, "JobRouter is disabled.", "WARNING: Submit file is empty: <")
"""Compared elsewhere, or said of a route that only has REQUIREMENTS."""
_RESOURCE = "Missing or invalid GridResource in job route."
_REMOVED = re.compile(r"(?:WARNING: )?([A-Z_, ]+) are no longer supported\. New configuration.*")


def read_recorded(record: Mapping[str, object]) -> Configuration:
    """Read the configuration of a recorded run."""
    return read_config(Source(text(record, "config"), "config"), environ=ENVIRON)


def compare_config(record: Mapping[str, object]) -> list[Difference]:
    """Compare the routes with every field and their text, transforms, on or off, and the core of each message."""
    configuration = read_recorded(record)
    code = integer(mapping(record, "rc").get("config"), "rc.config")
    if code:
        return _refused(record, configuration, code)
    table = load_table(configuration)
    out = mapping(record, "config_out")
    check_fields(out, _OUT)
    routes, warnings = _recorded_routes(out)
    said = [_route(number, route) for number, route in enumerate(table.routes, start=1)]
    differences = compare("config_out.routes", routes, said)
    differences += compare("config_out.transforms", items(out, "transforms"), _transforms(table))
    differences += compare("config_out.disabled", texts(out, "disabled"), [])
    lines = [*texts(out, "diagnostics"), *(f"WARNING: {warning}" for warning in warnings)]
    return differences + list(_diagnostics(lines, table))


def _recorded_routes(out: Mapping[str, object]) -> tuple[list[dict[str, object]], list[str]]:
    """Return the recorded routes; a warning that was taken for a field of the last one apart."""
    routes: list[dict[str, object]] = []
    warnings: list[str] = []
    for number, each in enumerate(items(out, "routes")):
        if not isinstance(each, dict):
            raise Malformed(f"config_out.routes[{number}]", "an object is expected")
        check_fields(each, _ROUTE, ("WARNING",))
        warnings += [text(each, "WARNING")] if "WARNING" in each else []
        routes.append({name: value for name, value in each.items() if name != "WARNING"})
    return routes, warnings


def _route(number: int, route: Route) -> dict[str, object]:
    asked = route.transform.requirements
    return {
        "n": number,
        "text": "\n".join(printed_route(route)),
        "Name": f'"{route.name}"',
        "Source": route.name,
        "Universe": str(route.universe),
        "MaxJobs": str(route.max_jobs),
        "MaxIdleJobs": str(route.max_idle_jobs),
        "GridResource": route.grid_resource or "",
        "Requirements": "" if asked is None else asked.text,
    }


def _transforms(table: RoutingTable) -> list[dict[str, str]]:
    return [
        {"kind": kind, "name": each.name, "text": "\n".join(printed_transform(each))}
        for kind, transforms in (("pre", table.before), ("post", table.after))
        for each in transforms
    ]


def _diagnostics(lines: list[str], table: RoutingTable) -> Iterator[Difference]:
    """Yield what is recorded and not said, and what is said and not recorded."""
    field = "config_out.diagnostics"
    said = [each.message for each in table.diagnostics]
    said += [each.message for rejected in table.rejected for each in rejected.diagnostics]
    not_found = {found[1].lower() for line in lines if (found := _NOT_FOUND.fullmatch(line))}
    rejected = {each.name.lower() for each in table.rejected}
    ordered = [line.removeprefix(_ORDER).strip() for line in lines if line.startswith(_ORDER)]
    order = ", ".join(route.name for route in table.routes)
    yield from compare(f"{field} not found", sorted(not_found), sorted(rejected) if table.is_enabled else [])
    yield from compare(f"{field} order", ordered, [order] if table.is_enabled else [])
    yield from compare(f"{field} disabled", "JobRouter is disabled." in lines, not table.is_enabled)
    resources = sum(line.startswith(_RESOURCE) for line in lines)
    yield from compare(f"{field} resources", resources, sum(_RESOURCE in message for message in said))
    printed = _printed(table)
    ignored = {found[1].lower() for line in lines if (found := _IGNORED.fullmatch(line))}
    if not ignored <= rejected:
        yield Difference(field, f"{sorted(ignored - rejected)} should be rejected")
    for line in lines:
        for core in _cores(line):
            if not any(core in message for message in said) and line not in printed:
                yield Difference(field, f"nothing says {core!r}, but {said[:5]}")


def _cores(line: str) -> Iterator[str]:
    """Yield what has to be said for a recorded line."""
    if _NOT_FOUND.fullmatch(line) or _IGNORED.fullmatch(line) or line.startswith(_HARMLESS):
        return
    removed = _REMOVED.fullmatch(line)
    if removed is not None:
        yield from (f"{name.strip()} is no longer supported" for name in removed[1].split(","))
        return
    error = re.match(r"Parse_config if error: '(.*)' line: ", line) or re.match(r"route \S+ is not valid: (.*)", line)
    head = _HEAD.fullmatch(line)
    core = error[1] if error else head[1] if head else line
    yield core.removesuffix(".")


def _printed(table: RoutingTable) -> set[str]:
    """Return the lines of the table and of what was left out, which a recorded line may only repeat."""
    found = {line for route in table.routes for line in printed_route(route)}
    found |= {line for each in (*table.before, *table.after) for line in printed_transform(each)}
    for key, knob in table.facts.knobs.items():
        if key.startswith("job_router_"):
            found |= {line.strip() for line in knob.splitlines()}
    return found | {f"Requirements : {_route(0, route)['Requirements']}" for route in table.routes}


def _refused(record: Mapping[str, object], configuration: Configuration, code: int) -> list[Difference]:
    """Compare a configuration that HTCondor does not read: it is refused, at the line that HTCondor names."""
    differences = compare("rc.config", code, 0 if configuration.is_valid else 1)
    said = mapping(record, "stderr").get("config")
    named = {
        int(number) - BASE_LINES for number in re.findall(r"[Ll]ine ([0-9]+)", said if isinstance(said, str) else "")
    }
    lines: set[int] = set()
    for each in configuration.diagnostics:
        if each.severity is Severity.ERROR and each.span is not None:
            source = each.span.source
            lines |= {each.span.line, source.position(each.span.end)[0], source.position(len(source.text.rstrip()))[0]}
    if named and not named & lines:
        differences.append(Difference("stderr.config", f"recorded line {sorted(named)}, crondor says {sorted(lines)}"))
    return differences
