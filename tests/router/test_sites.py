"""Simulated sites: what a copy meets there."""

from crondor.router.daemon.rehearsal import Site, SiteFault
from tests.router.daemon.scenes import ROUTE, Stage, job, table


def test_a_site_that_begins_to_swallow_starts_nothing_more() -> None:
    """Neither those that wait for a slot nor the one that was about to start; what runs goes on, and later all do."""
    stage = Stage(table({"Site1": ROUTE}), [Site("Site1", slots=1, delay=15, run_time=40)])
    stage.submit(job(), job(), job())
    stage.poll(3)
    assert len(stage.sites.runs) == 1
    stage.sites.change(Site("Site1", slots=2, delay=15, run_time=40))
    stage.sites.change(Site("Site1", slots=2, delay=15, run_time=40, fault=SiteFault.SWALLOWS))
    stage.poll(20)
    assert (len(stage.sites.runs), len(stage.sites.ended), len(stage.copies())) == (1, 1, 2)
    stage.sites.change(Site("Site1", slots=2, delay=15, run_time=40))
    stage.poll(20)
    assert (len(stage.sites.ended), stage.copies()) == (3, [])
