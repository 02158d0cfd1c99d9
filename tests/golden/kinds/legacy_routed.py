"""The kind of legacy-routed: what HTCondor 23.9.6, of the last series that took them, makes of jobs with old routes.

It is the layout of the kind of routes: the table, the umbrella constraint, the matches in order, each routed ad.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from crondor.classad.scope import Context
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router.legacy import legacy_table, read_legacy
from crondor.router.match.matcher import Matcher, RouteState
from crondor.router.table.route import Route, printed_route
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    Replay,
    check_fields,
    compare,
    items,
    mapping,
    optional_text,
    text,
)
from tests.golden.kinds.routes import (
    ENVIRON,
    compare_umbrella,
    read_jobs,
    recorded_copies,
    recorded_matches,
    routed_copy,
    shown_copy,
)

_FIELDS = ("config", "jobs", "table", "diagnostics", "umbrella", "matches", "routed", "rc", "stderr", "htcondor")
_ROUTE = ("n", "text", "Name", "Source", "Universe", "MaxJobs", "MaxIdleJobs", "GridResource", "Requirements")
_COMMENT = re.compile(r"# (?:autoconversion of route|\w+_\* rules|remove temporary|temporarily SET)|\s*$")
_RUNS = ("config", "match", "route")
_DISABLED = "JobRouter is disabled."
_BESIDE = ("Route", "WARNING")  # what is printed after the table and was taken for fields of the last route


def _replay(case: Case) -> list[Difference]:
    """Compare the routes in order with their fields, the umbrella constraint, the matches, and all that was routed."""
    record = case.record(_FIELDS)
    context = Context()
    configuration = read_config(Source(text(record, "config"), "config"), environ=ENVIRON, context=context)
    table = legacy_table(read_legacy(configuration), context, faithful=True)
    jobs = dict(read_jobs([_ads(case, record)], ignores=False))
    search = Matcher(table).match(jobs.items(), RouteState(), context)
    found = list(search)
    differences = compare(
        "table", _recorded_table(record), [_route(number, route) for number, route in enumerate(table.routes, 1)]
    )
    for field in ("rc", "stderr"):
        check_fields(mapping(record, field), _RUNS)
    differences += compare("rc", record["rc"], dict.fromkeys(_RUNS, 0))
    is_off = any(_DISABLED in text({"said": each}, "said") for each in mapping(record, "stderr").values())
    differences += compare("disabled", is_off, not table.is_enabled)
    differences += compare_umbrella(optional_text(record, "umbrella"), search.umbrella, jobs.values())
    differences += compare(
        "matches", recorded_matches(record), [{"job": job, "route": route.name} for job, route in found]
    )
    made = {match.job: routed_copy(table, jobs[match.job], match) for match in found}
    said = {job: shown_copy(routed) for job, routed in made.items() if not routed.failed}
    return differences + compare("routed", recorded_copies(record), said)


def _ads(case: Case, record: Mapping[str, object]) -> str:
    """Return the jobs of the set that a line names, which stands beside the recording or in a folder ads there."""
    name = f"{text(record, 'jobs')}.ads"
    for path in (case.folder / name, case.folder / "ads" / name):
        if path.is_file():
            return Path(path).read_text(encoding="utf-8")
    raise Malformed("jobs", f"there is no {name} beside the recording")


def _recorded_table(record: Mapping[str, object]) -> list[dict[str, object]]:
    routes: list[dict[str, object]] = []
    for each in items(record, "table"):
        route = mapping({"table": each}, "table")
        check_fields(route, _ROUTE, _BESIDE)
        lines = text(route, "text").split("\n")
        if lines[0] != f"NAME {text(route, 'Name')[1:-1]}":
            raise Malformed("table", f"the text begins with {lines[0][:60]!r}")
        fields = {name: route[name] for name in _ROUTE if name != "Source"}
        routes.append({**fields, "text": [line.rstrip() for line in lines[1:] if not _COMMENT.match(line)]})
    return routes


def _route(number: int, route: Route) -> dict[str, object]:
    asked = route.transform.requirements
    return {
        "n": number,
        "text": [line.rstrip() for line in printed_route(route)[1:] if not _COMMENT.match(line)],
        "Name": f'"{route.name}"',
        "Universe": str(route.universe),
        "MaxJobs": str(route.max_jobs),
        "MaxIdleJobs": str(route.max_idle_jobs),
        "GridResource": route.grid_resource or "",
        "Requirements": "" if asked is None else asked.text,
    }


KINDS: Mapping[str, Replay] = {"legacy-routed": _replay}
