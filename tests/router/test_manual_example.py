"""The example of HTCondor's manual, stray parenthesis and all."""

from collections import Counter
from pathlib import Path

from crondor.classad import Context
from crondor.config import read_config
from crondor.diagnostics import Severity, Source
from crondor.lint.routes import check_routes
from crondor.router import Matcher, RouteState, RoutingTable, apply_route, load_table
from tests.router.tables import job

MANUAL = Path(__file__).with_name("manual.conf").read_text(encoding="utf-8")


def test_it_loads_and_routes() -> None:
    """The attribute with the stray parenthesis is not set, and all else is done (HTCondor 25.14)."""
    table = load_table(read_config(Source(MANUAL, "manual.conf")))
    assert [(each.name, each.grid_resource, each.max_idle_jobs) for each in table.routes] == [
        ("Site1", "batch slurm", 50),
        ("Site2", "arc", 50),
        ("CondorSite", "condor", 20),
    ]
    assert (table.settings.max_jobs, table.settings.update_lag) == (50, 60)
    (found,) = [each for each in table.before[0].warnings if each.kind == "set-expression"]
    assert (found.severity, found.span and found.span.location) == (Severity.WARNING, "manual.conf:25:69")
    made = apply_route(table, table.routes[1], job(WantJobRouter="true")).ad
    assert made is not None
    assert (made.python("ArcRte"), made.python("GridResource"), made.python("Requirements")) == (
        "ENV/PROXY",
        "arc",
        True,
    )
    assert "PeriodicRemove" not in made
    assert "WantJobRouter" not in made


def test_its_constraint_decides_which_jobs_are_routed() -> None:
    """One that asks for a failed match waits for it; what is done and what is not is said of its copy."""
    table = load_table(read_config(Source(MANUAL, "manual.conf")))
    ad = job(WantJobRouter="LastRejMatchTime =!= UNDEFINED", Requirements="TARGET.Memory > 1")
    assert not list(Matcher(table).match([("1.0", ad)], RouteState(), Context()))
    ad.set("LastRejMatchTime", 5)
    (match,) = Matcher(table).match([("1.0", ad)], RouteState(), Context())
    routed = apply_route(table, match.route, ad)
    assert routed.ad is not None
    assert routed.ad.text("Requirements") == "true"
    assert "PeriodicRemove" not in routed.ad
    assert "WantJobRouter" not in routed.ad
    (found,) = routed.diagnostics
    assert "PeriodicRemove" in found.message
    assert found.span is not None
    assert found.span.source.name == "manual.conf"


def test_the_stray_parenthesis_is_found_with_its_place() -> None:
    """Over the continuation, where it stands."""
    findings = check_routes(read_config(Source(MANUAL, "manual.conf"))).reports[0].findings
    stray = next(each.diagnostic for each in findings if each.diagnostic.code == "CRN622")
    assert stray.message.startswith("SET PeriodicRemove invalid expression : JobStatus == 5 || ")
    assert stray.span is not None
    assert (stray.span.location, stray.span.text) == ("manual.conf:25:69", ")")


_CONFIG = Path(__file__).with_name("upstream.conf").read_text(encoding="utf-8")


def _table(config: str) -> RoutingTable:
    return load_table(read_config(Source(config, "routes.conf")))


def test_jobs_of_the_upstream_test_are_routed_by_their_number() -> None:
    """Of 16 jobs the 8 that want it are routed, odd ones to production and even ones to analysis; first match wins."""
    table = _table(_CONFIG)
    assert [route.name for route in table.routes] == ["Production1", "Analysis3", "Production2", "Analysis4"]
    jobs = {f"1.{n}": job(ProcId=str(n), RouteMe="true" if n < 8 else "false") for n in range(16)}
    wanted = {name: ad for name, ad in jobs.items() if ad.value("RouteMe") is True}
    found = list(Matcher(table).match(jobs.items(), RouteState(), Context()))
    assert [match.job for match in found] == list(wanted)
    kinds: Counter[tuple[str, object, object]] = Counter()
    for match in found:
        copy = apply_route(table, match.route, jobs[match.job]).ad
        assert copy is not None
        assert (copy.value("CollHost"), copy.value("RoutedJob"), "RouteMe" in copy) == ("jira902", True, False)
        odd = int(match.job.partition(".")[2]) % 2 == 1
        kinds[match.route.name, odd, copy.value("ProductionJob")] += 1
    assert kinds.keys() == {("Production1", True, True), ("Analysis3", False, False)}


def test_eight_of_sixteen() -> None:
    """As it is submitted: 8 jobs with RouteMe = 0 and 8 with 1, in one cluster each."""
    table = _table(_CONFIG)
    jobs = [(f"{2 - wants}.{n}", job(ClusterId=str(2 - wants), ProcId=str(n), RouteMe=str(wants)))
            for wants in (0, 1) for n in range(8)]  # fmt: skip
    found = Counter(match.route.name for match in Matcher(table).match(jobs, RouteState(), Context()))
    assert found == {"Production1": 4, "Analysis3": 4}
