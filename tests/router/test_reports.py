"""The reports of routed jobs as functions over ads: whatever stands in an ad, there is a line for it and no more."""

from datetime import timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAdSyntaxError, Context
from crondor.classad.ad import ClassAd
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.tools import (
    RouteHistory,
    Times,
    Totals,
    batch_lines,
    ended_of,
    job_lines,
    look_at,
    record_lines,
    routed,
    site_lines,
    sites_of,
    summarise,
    summary_lines,
)
from crondor.schedd.protocol import Selection
from tests.examples import examples
from tests.router.daemon.scenes import ROUTE, Stage, job, table

CONTEXT = Context(now=1_795_195_625)
NAMES = (
    "ClusterId", "ProcId", "Owner", "JobStatus", "JobUniverse", "JobPrio", "QDate", "Cmd", "Arguments", "Args",
    "RouteName", "RoutedFromJobId", "GridResource", "TotalSubmitProcs", "ShadowBday", "RemoteWallClockTime",
    "ImageSize", "MemoryUsage", "JobBatchName", "DAGManJobId", "DAGNodeName", "JobDescription", "ServerTime",
    "TransferringInput", "TransferringOutput", "TransferQueued", "JobCoolDownExpiration", "CompletionDate",
    "EnteredCurrentStatus", "SUBMIT_Iwd", "Iwd",
)  # fmt: skip
VALUES = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(-1, 12),
    st.floats(),
    st.booleans(),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
TEXTS = st.sampled_from(("undefined", "error", "1/0", "(((", "{ 1, 2 }", "[ a = 1 ]", "JobStatus", 'real("inf")'))


def _ad(values: dict[str, object], texts: dict[str, str]) -> ClassAd:
    ad = ClassAd({"ClusterId": 1, "ProcId": 0, "RouteName": "A", **values})  # by chance few would be a job
    for name, text in texts.items():
        ad.put(name, text)  # unread, as a lenient reader leaves it
    return ad


@examples(15)
@given(
    st.lists(
        st.builds(
            _ad,
            st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8),
            st.dictionaries(st.sampled_from(NAMES), TEXTS, max_size=4),
        ),
        max_size=3,
    )
)
def test_every_ad_has_its_line(ads: list[ClassAd]) -> None:
    """No value raises, breaks a line or reaches the terminal as more than text; no job is lost from a count."""
    rows = summarise(ads, CONTEXT)
    assert sum(row.jobs for row in rows) == len(ads)
    jobs = [look_at(ad, CONTEXT) for ad in ads]
    lines = [*job_lines(jobs, timezone.utc), *summary_lines(rows)]
    assert len(lines) == len(ads) + len(rows) + 2
    lines += batch_lines(jobs, timezone.utc)
    assert sum(Totals.of(ads, CONTEXT)) <= len(ads)
    ended = [job for ad in ads for times in Times if (job := ended_of(ad, CONTEXT, times)) is not None]
    sites = sites_of(ended)
    assert sum(site.completed + site.aborted for site in sites) == len(ended)
    lines += [*record_lines(ended, iwd=True), *site_lines(sites)]
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("text", ["x) || (true", "", "1 +", "true; false", "true)"])
def test_a_constraint_stays_in_its_parentheses(text: str) -> None:
    """What is no expression by itself is refused, not pasted."""
    with pytest.raises(ClassAdSyntaxError):
        routed(constraints=[text])


@pytest.mark.parametrize("text", ["true", "true || true", "RouteName =?= undefined || true", "true // )"])
def test_nothing_that_is_not_routed_is_meant(text: str) -> None:
    """Whatever the constraint says."""
    chosen = routed(Selection.parse(["1.0"]), constraints=[text])
    job = ClassAd({"ClusterId": 1, "ProcId": 0})
    assert not chosen.holds(job, CONTEXT)
    job["RouteName"] = "A"
    assert chosen.holds(job, CONTEXT)
    assert chosen.holds(job, CONTEXT) is Selection.of(chosen.text).holds(job, CONTEXT)


def test_rows_are_in_the_tools_order() -> None:
    """By route, and of one route by the printed row, as `sort -k 3` has them."""
    states = [("B", 2)] * 10 + [("B", 5)] * 2 + [("A", 1)]
    rows = summarise([ClassAd({"RouteName": name, "JobStatus": status}) for name, status in states], CONTEXT)
    assert [(row.jobs, row.state, row.route) for row in rows] == [(1, "I", "A"), (2, "H", "B"), (10, "R", "B")]


def test_hours_are_added_before_they_are_rounded() -> None:
    """Three jobs of 20 minutes are an hour; a file-transferring job is no completed one."""
    ads = [
        ClassAd({"ClusterId": 1, "ProcId": proc, "RouteName": "A", "JobStatus": status, "RemoteWallClockTime": 1200})
        for proc, status in enumerate((4, 4, 4, 6))
    ]
    jobs = [job for ad in ads if (job := ended_of(ad, CONTEXT)) is not None]
    assert sites_of(jobs) == [RouteHistory("A", 3600, 3, 1)]
    assert [*site_lines(sites_of(jobs))][-1].split() == ["TOTAL", "1", "3", "1"]


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
