"""The kind of routes: runs of condor_job_router_info over a configuration and jobs, up to each routed ad."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from crondor.classad.ad import ClassAd
from crondor.classad.evaluate import matches
from crondor.classad.expression import Expression
from crondor.classad.formats import Format, Order, ReadMode, read_ads
from crondor.classad.scope import AdValue, Context
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router.applying import RoutedAd, apply_route
from crondor.router.match.matcher import Match, Matcher, RouteState
from crondor.router.table.loading import load_table
from crondor.router.table.route import RoutingTable, forget_routing, id_text
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
    texts,
)
from tests.golden.kinds.routes_config import compare_config

_FIELDS = ("config", "jobs", "options", "config_out", "umbrella", "matches", "routed", "rc", "stdout", "stderr")
ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC"}
_IGNORE = "-ignore-prior-routing"
_RUNS = ("config", "match", "route")
_VARIANTS: tuple[Mapping[str, str | None], ...] = (
    {},
    {"JobStatus": "5"},
    {"ProcId": None},
    {"Owner": None},
    {"Owner": "undefined"},
    {"Managed": '"ScheddDone"'},
    {"Managed": '"External"'},
    {"Managed": '"Schedd"'},
    {"StageInStart": "1"},
    {"StageInStart": "1", "StageInFinish": "2"},
    {"RoutedBy": '"jobrouter"'},
    {"RoutedBy": '"JR2"'},
    {"RoutedBy": '"jr2"'},
    {"VO": '"atlas"'},
    {"VO": "5"},
    {"RequestMemory": "1"},
    {"RequestMemory": '"big"'},
    {"WantJobRouter": "true"},
    {"WantJobRouter": "error"},
)
"""Jobs that the umbrella constraint is asked about beside those of the line: theirs with these changes."""


def _replay(case: Case) -> list[Difference]:
    """Compare the table, the meaning of the umbrella constraint, the matches in order, and all that was routed."""
    record = case.record(_FIELDS)
    differences = compare_config(record)
    if mapping(record, "rc").get("config"):
        return differences  # HTCondor does not read the configuration, and has nothing more to say
    for field, names in (("rc", _RUNS), ("stderr", _RUNS), ("stdout", (*_RUNS[:2], "route_steps"))):
        check_fields(mapping(record, field), names)
    differences += compare("rc", record["rc"], dict.fromkeys(_RUNS, 0))
    options = texts(record, "options")
    if not set(options) <= {_IGNORE}:
        raise Malformed("options", f"{options} are not known here")
    context = Context()
    configuration = read_config(Source(text(record, "config"), "config"), environ=ENVIRON, context=context)
    table = load_table(configuration, context=context)
    jobs = dict(read_jobs(texts(record, "jobs"), ignores=_IGNORE in options))
    search = Matcher(table).match(jobs.items(), RouteState(), context)
    found = list(search)
    differences += compare_umbrella(optional_text(record, "umbrella"), search.umbrella, jobs.values())
    differences += compare(
        "matches", recorded_matches(record), [{"job": job, "route": route.name} for job, route in found]
    )
    made = {match.job: routed_copy(table, jobs[match.job], match) for match in found}
    said = {job: shown_copy(routed) for job, routed in made.items() if not routed.failed}
    return differences + compare("routed", recorded_copies(record), said)


def read_jobs(ads: Sequence[str], *, ignores: bool) -> Iterator[tuple[str, ClassAd]]:
    """Yield the jobs of some ads, by their numbers."""
    for ad in read_ads("\n".join(ads), Format.LONG, ReadMode.DAEMON):
        if ignores:
            forget_routing(ad)
        name = id_text(ad)
        if name is not None:
            yield name, ad


def compare_umbrella(recorded: str | None, said: str | None, jobs: Collection[ClassAd]) -> Iterator[Difference]:
    """Compare two umbrella constraints by their meaning."""
    if recorded is None or said is None:
        yield from compare("umbrella", recorded, said)
        return
    theirs, ours = (AdValue({"requirements": Expression(each).code}, {}) for each in (recorded, said))
    context = Context()
    for job in jobs:
        for variant in _VARIANTS:
            ad = job.copy()
            for name, value in variant.items():
                ad.prune(name) if value is None else ad.set_text(name, value)
            if matches(theirs, ad, context) != matches(ours, ad, context):
                yield Difference("umbrella", f"{recorded} and {said} part at {ad.print()}")
                return


def recorded_matches(record: Mapping[str, object]) -> list[object]:
    """Return the recorded matches. Raises Malformed."""
    found = items(record, "matches")
    for each in found:
        check_fields(mapping({"matches": each}, "matches"), ("job", "route"))
    return found


def recorded_copies(record: Mapping[str, object]) -> dict[str, object]:
    """Return what was routed, by job. Raises Malformed."""
    found: dict[str, object] = {}
    for each in items(record, "routed"):
        routed = mapping({"routed": each}, "routed")
        check_fields(routed, ("src", "route", "in_place", "ad"))
        job = text(routed, "src")
        if job in found:
            raise Malformed("routed", f"{job} stands twice")
        found[job] = {name: routed[name] for name in ("route", "in_place", "ad")}
    return found


def routed_copy(table: RoutingTable, job: ClassAd, match: Match) -> RoutedAd:
    """Route a job as the tool does: it claims a job that is to be copied in the ad that it copies."""
    routed = apply_route(table, match.route, job, faithful=True)
    if routed.in_place is not None:
        return routed
    claimed = job.copy()
    claimed.set("Managed", "External")
    claimed.set("ManagedManager", table.settings.name)
    return apply_route(table, match.route, claimed, faithful=True)


def shown_copy(routed: RoutedAd) -> dict[str, object]:
    """Return a routed copy as it is recorded."""
    is_edited = routed.in_place is not None
    return {"route": routed.route.name, "in_place": is_edited, "ad": None if routed.ad is None else _printed(routed.ad)}


def _printed(ad: ClassAd) -> dict[str, str]:
    """Return the ad as HTCondor prints it; a value may go over several lines."""
    return {
        name: ClassAd.of_texts({name: ad.text(name)})
        .print(Format.LONG, Order.NAME, faithful=True)
        .partition(" = ")[2]
        .removesuffix("\n")
        for name in ad
    }


KINDS: Mapping[str, Replay] = {"routes": _replay}
