"""What HTCondor's own test job_router_xform.run expects, as far as matching and routing go."""

from collections import Counter
from pathlib import Path

from crondor.classad import Context
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router import Matcher, RouteState, RoutingTable, apply_route, load_table
from tests.router.tables import job

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
