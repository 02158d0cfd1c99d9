"""A fault before and after every transaction of the router: no job is lost, none runs twice, limits always hold."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.router.daemon.rehearsal import Site, SiteFault
from crondor.router.table.route import RoutingTable
from crondor.schedd.protocol import Hold
from tests.examples import TIMES, examples
from tests.router.daemon.faults import Crash, Fault, Script, Watch, end_of, leftovers, play, unreachable
from tests.router.daemon.scenes import ROUTE, Stage, job, table

MOST, IDLE = 2, 1
RULES = f"{ROUTE}MaxJobs = {MOST}\nMaxIdleJobs = {IDLE}\n"
POLLS = range(9, 60)
DONE = {("history", JobStatus.COMPLETED)}
REMOVED = {("history", JobStatus.REMOVED)}
HELD = {("queue", JobStatus.HELD)}


def quiet(_stage: Stage, _jobs: list[JobId], _number: int) -> None:
    """Nobody does anything."""


def removing(stage: Stage, jobs: list[JobId], number: int) -> None:
    """The owner removes the first job while it runs."""
    if number == 3:
        stage.source.remove(jobs[0], "by alice")


def holding(stage: Stage, jobs: list[JobId], number: int) -> None:
    """The owner holds the first job while it runs."""
    if number == 3:
        stage.source.hold(jobs[0], Hold("by alice"))


def losing(stage: Stage, _jobs: list[JobId], number: int) -> None:
    """The site removes what it gets, and then runs jobs."""
    if number == 0:
        stage.sites.change(Site("Site1", slots=2, fault=SiteFault.REMOVES))
    elif number == 4:
        stage.sites.change(Site("Site1", slots=2, run_time=20))


def grumbling(stage: Stage, _jobs: list[JobId], number: int) -> None:
    """The site holds what it gets; an administrator releases the copies and mends the site."""
    if number == 0:
        stage.sites.change(Site("Site1", slots=2, fault=SiteFault.HOLDS))
    elif number == 5:
        stage.sites.change(Site("Site1", slots=2, run_time=20))
        stage.destination.release('RoutedBy =?= "jobrouter"', "mended")


SCRIPTS: dict[str, tuple[Script, set[tuple[str, JobStatus]]]] = {
    "quiet": (quiet, DONE),
    "removing": (removing, DONE | REMOVED),
    "holding": (holding, DONE | HELD),
    "losing": (losing, DONE),
    "grumbling": (grumbling, DONE),
}


@cache
def routes() -> RoutingTable:
    """Return the table, which is read once."""
    return table({"Site1": RULES}, "MAX_JOB_MIRROR_UPDATE_LAG = 60")


def run(
    script: Script, fault: Fault, *, atomic: bool = True, two: bool = False, polls: range = POLLS
) -> tuple[Stage, list[JobId], Watch]:
    """Play a script with a fault, to the end."""
    stage = Stage(routes(), [Site("Site1", slots=2, run_time=20)], atomic=atomic, two=two)
    watch = Watch(stage, MOST, IDLE)
    jobs = stage.submit(job(), job(), *([job()] if script is quiet else []))
    play(stage, jobs, fault, script, polls)
    return stage, jobs, watch


def check(name: str, stage: Stage, jobs: list[JobId], watch: Watch) -> list[str]:
    """Return what is wrong in the end."""
    allowed = SCRIPTS[name][1]
    wrong = list(dict.fromkeys(watch.broken)) + leftovers(stage)
    ends = [end_of(stage, found) for found in jobs]
    wrong += [f"{found} ends in {end}" for found, end in zip(jobs, ends, strict=True) if end not in allowed]
    if name in {"removing", "holding"}:
        wrong += [f"{found} ends in {end}" for found, end in zip(jobs[1:], ends[1:], strict=True) if end not in DONE]
    wrong += [f"{source} was done {n} times" for source, n in Counter(stage.sites.ended).items() if n > 1]
    if name != "holding":
        starts = Counter(each.source for each in stage.sites.runs)
        wrong += [f"{source} was started {n} times" for source, n in starts.items() if n > 1]
    return wrong


ONE_QUEUE, TWO_STEPWISE = (True, False), (False, True)
MODES = [(name, *mode) for name in SCRIPTS for mode in (ONE_QUEUE, TWO_STEPWISE)]


@pytest.mark.parametrize(("name", "atomic", "two"), [*MODES, ("quiet", False, False), ("quiet", True, True)])
@pytest.mark.parametrize("kind", [Crash, unreachable])
def test_any_single_fault(name: str, atomic: bool, two: bool, kind: Callable[[], BaseException]) -> None:
    """Before and after each transaction in turn, the invariants hold; CRONDOR_EXAMPLES=4 tries each in each mode."""
    script = SCRIPTS[name][0]
    free = Fault()
    assert check(name, *run(script, free, atomic=atomic, two=two)) == []
    assert free.count > 10
    wrong = {}
    step = max(1, 5 - TIMES)
    for point in range((two + 2 * (kind is Crash)) % step, 2 * free.count, step):
        fault = Fault(point, kind=kind)
        found = check(name, *run(script, fault, atomic=atomic, two=two))
        assert fault.struck == 1
        if found:
            wrong[point] = found
    assert wrong == {}


@examples(15)
@given(
    st.sampled_from(sorted(SCRIPTS)),
    st.sets(st.integers(0, 80), min_size=2, max_size=6),
    st.sampled_from([Crash, unreachable]),
    st.booleans(),
    st.booleans(),
)
def test_any_faults(name: str, points: set[int], kind: Callable[[], BaseException], atomic: bool, two: bool) -> None:
    """Several faults, those during the recovery from another included."""
    assert check(name, *run(SCRIPTS[name][0], Fault(*points, kind=kind), atomic=atomic, two=two)) == []


ACTIONS: dict[str, Callable[[Stage, JobId], object]] = {
    "hold the source": lambda stage, found: stage.source.hold(found, Hold("by alice")),
    "release the source": lambda stage, found: stage.source.release(found, "by alice"),
    "remove the source": lambda stage, found: stage.source.remove(found, "by alice"),
    "hold the copies": lambda stage, _: stage.destination.hold('RoutedBy =?= "jobrouter"', Hold("by the site")),
    "release the copies": lambda stage, _: stage.destination.release('RoutedBy =?= "jobrouter"', "by the site"),
    "remove the copies": lambda stage, _: stage.destination.remove(
        'RoutedBy =?= "jobrouter" && JobStatus =!= 4', "by the site"
    ),
    "the site swallows": lambda stage, _: stage.sites.change(Site("Site1", slots=2, fault=SiteFault.SWALLOWS)),
    "the site runs": lambda stage, _: stage.sites.change(Site("Site1", slots=2, run_time=20)),
    "the site fails": lambda stage, _: stage.sites.change(Site("Site1", slots=2, fault=SiteFault.FAILS)),
    "a new router": lambda stage, _: stage.start(),
    "another takes the source": lambda stage, found: stage.source.edit_if(
        found, "JobStatus == 1", {"Managed": "External", "ManagedManager": "other"}
    ),
}


@examples(20)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(sorted(ACTIONS)), st.integers(0, 1)), max_size=12),
    st.sets(st.integers(0, 60), max_size=3),
    st.sampled_from([Crash, unreachable]),
    st.booleans(),
    st.booleans(),
)
def test_any_order_of_events(
    events: list[tuple[int, str, int]], points: set[int], kind: Callable[[], BaseException], atomic: bool, two: bool
) -> None:
    """Whatever users, sites and other routers do, and whenever: one place for each job, and nobody's copies."""

    def script(stage: Stage, jobs: list[JobId], number: int) -> None:
        for at, action, which in events:
            if at == number:
                ACTIONS[action](stage, jobs[which])
        if number == 14:
            ACTIONS["the site runs"](stage, jobs[0])
            ACTIONS["release the copies"](stage, jobs[0])

    stage, jobs, watch = run(script, Fault(*points, kind=kind), atomic=atomic, two=two, polls=range(16, 60))
    assert [each for each in watch.broken if not each.endswith("idle")] == []  # who holds a copy makes it count as idle
    ends = [end_of(stage, found) for found in jobs]
    others = [str(ad["ClusterId"]) for ad in stage.source.jobs('ManagedManager =?= "other"')]
    assert [each for each in leftovers(stage) if not any(each.startswith(f"source {n} ") for n in others)] == []
    if "hold the source" not in {action for _, action, _ in events}:  # its copy may have done its work just before
        assert all(count == 1 for count in Counter(stage.sites.ended).values())
    for found, (where, status) in zip(jobs, ends, strict=True):
        if where == "queue" and str(found.cluster) not in others:
            assert status is JobStatus.HELD
