"""Whatever a user writes into an attribute, nobody falls over it, and the jobs beside it go on.

Every name that a module speaks of gets every odd value (odd.py); a good job stands among them.
"""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from crondor.classad import Context, Expression
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Source
from crondor.hooks.cron.settings import Manager
from crondor.hooks.fetch.driver import FetchingSlot, SlotState, decide, fetch_delay, has_ended, is_willing, refuses
from crondor.hooks.fetch.journal import Journal
from crondor.hooks.fetch.source import KEY, FetchableJob, WorkSource
from crondor.hooks.kinds import (
    ROUTER_HOOKS,
    HookType,
    RouterHooks,
    conclude_starter,
    daemon_environment,
    starter_keyword,
)
from crondor.hooks.runner import HookCall, HookEnd, HookRun
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.lint import CheckSettings, check_submit
from crondor.pool.daemons.pool import Pool
from crondor.pool.simulate.outcome import OutcomeCounts, RunOutcome
from crondor.pool.simulate.simulation import Simulation
from crondor.router.daemon import RoutedState, RouterEvent, RouterOptions
from crondor.router.daemon import follow as following
from crondor.router.daemon import router as router_module
from crondor.router.daemon.context import RouterContext
from crondor.router.daemon.rehearsal import Site
from crondor.router.daemon.routed_job import RoutedJob
from crondor.router_bridge import PlanOptions, plan
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.guard import Guard
from crondor.schedd.protocol import Hold
from crondor.schedd.reading import StatusReader
from crondor.spec import Dialect
from crondor.submit import SubmitHost, job_ads, read_submit
from tests.cli.running import ROOT, crondor
from tests.examples import some
from tests.hooks.test_cron import Programs, live, settings
from tests.job.odd import HELD, JOB, NOW, ODD, RUNNING, UNREADABLE, attributes, job, jobs, long_form, names
from tests.pool.pools import POOL
from tests.router.daemon.scenes import ROUTE, Stage, table
from tests.router.daemon.scenes import job as routed_job

# Who reads the attributes of jobs, in whatever order the modules stand.
JOBS: Final = tuple(f"crondor/{each}" for each in ("job/policy.py", "schedule.py", "_schedule.py", "spec.py"))
SCHEDD: Final = (*JOBS, "crondor/schedd", "crondor/job_queue")
POLICY: Final = JOBS
WORLD: Final = (*POLICY, "crondor/schedd/protocol.py", "crondor/pool")
ROUTER: Final = (*POLICY, "crondor/router/daemon", "crondor/router/applying.py", "crondor/schedd/protocol.py")
PLAN: Final = (*POLICY, "crondor/router/plan", "crondor/router/applying.py")
HOOKS: Final = ("crondor/hooks",)
LAST: Final = 1_000_000  # the cluster of the good job
GOOD: Final = job("Good", "true", LAST)


@pytest.fixture
def clock() -> list[int]:
    """Return a clock that is set by hand."""
    return [NOW]


# Queues


@pytest.mark.parametrize("more", [JOB, HELD, RUNNING], ids=["idle", "held", "running"])
@pytest.mark.parametrize("dialect", [Dialect.MANUAL, Dialect.HTCONDOR])
def test_a_queue_is_read(more: dict[str, str], dialect: Dialect) -> None:
    """Each job says what it can; what keeps it from running is its own trouble."""
    ads = jobs(*SCHEDD, values=(*ODD, *UNREADABLE), more=more)
    looker = StatusReader(dialect=dialect)
    found = list(looker.looks([*ads, GOOD], NOW))
    assert (found[-1].id, found[-1].trouble) == (f"{LAST}.0", ())
    assert len(found) > len(ads) // 2
    for ad in ads:
        queued = QueuedJob(ad)
        assert {type(queued.id), type(queued.present)} <= {str, int, type(None)}


@pytest.mark.parametrize("more", [JOB, HELD], ids=["idle", "held"])
def test_a_schedds_passes_go_over_it(more: dict[str, str], clock: list[int]) -> None:
    """The pass over crontab jobs, the guard, hold, release, remove."""
    schedd = MemorySchedd(clock=lambda: clock[0], ads=[*jobs(*SCHEDD, more=more), GOOD], dialect=Dialect.HTCONDOR)
    assert JobId(LAST, 0) in {edit.job for edit in schedd.recalculate()}
    clock[0] += 4000
    assert JobId(LAST, 0) in {edit.job for edit in schedd.recalculate()}
    assert Guard(schedd).guard(clock[0] + 7300, apply=True).jobs
    assert schedd.hold(None, Hold("by a test")).done
    assert schedd.release(None, "by a test").done
    schedd.changes()
    schedd.clear_finished()
    assert schedd.remove(None, "by a test").done
    assert not [ad for ad in schedd.jobs() if QueuedJob(ad).status is not JobStatus.REMOVED]
    assert len(schedd.history()) > 0


@pytest.mark.parametrize(
    "command",
    [
        ["queue", "status"],
        ["next", "--list", "-n", "3"],
        ["queue", "recalc"],
        ["next"],
        ["route", "q"],
        ["route", "q", "--format", "json"],
        ["route", "plan", "--config", str(ROOT / "examples" / "routes.conf"), "-n", "1"],
        ["route", "status", "--config", str(ROOT / "examples" / "routes.conf")],
    ],
    ids=" ".join,
)
def test_a_command_shows_the_good_job(command: list[str]) -> None:
    """After all the others, in what condor_q has printed."""
    more = {"RoutedBy": '"jobrouter"', "RouteName": '"Slurm"', "RoutedFromJobId": '"7.0"'} if "q" in command else JOB
    ads = jobs(*JOBS, "cli", values=(*ODD, *UNREADABLE), more=more)
    good = job("DeferralTime", str(NOW - 30), LAST, more)  # the first of all starts
    found = crondor(*command, "--ads", "-", "--now", str(NOW), stdin=long_form([*ads, good]))
    assert "Traceback" not in found.err
    assert str(LAST) in found.out or "status" in command
    assert found.out


def test_what_is_advertised_counts_them() -> None:
    """The Schedd Cron job's ad."""
    ads = jobs(*JOBS, values=(*ODD, *UNREADABLE))
    found = crondor("queue", "advertise", "--ads", "-", "--now", str(NOW), stdin=long_form([*ads, GOOD]))
    assert found.status == 0, found.err
    assert int(found.lines[0].removeprefix("CrondorJobs = ")) > len(ads) // 2


def test_plans_are_made() -> None:
    """Of the runs of each, and of where they go."""
    made = table({"Site1": ROUTE, "Remote": 'REQUIREMENTS WantGrid\nUNIVERSE grid\nGridResource = "condor a b"\n'})
    for options in (PlanOptions(), PlanOptions(at_gate=True)):
        for ad in jobs(*PLAN, values=(*ODD, *UNREADABLE)):
            assert all(str(run.job.id) for run in plan(ad, made, NOW, NOW + 3700, options))


# Routers

LIMITS: Final = "MaxJobs = 1000000\nMaxIdleJobs = 1000000"
KNOBS: Final = "PERIODIC_EXPR_INTERVAL = 10"
SITE: Final = Site("Site1", slots=100_000, run_time=25)
PLAIN: Final = {"CronMinute": "undefined", "DeferralTime": "undefined", "Requirements": "true", "OnExitRemove": "true"}


@pytest.mark.parametrize("waits", [False, True])
def test_a_router_polls_on(waits: bool) -> None:
    """The good job is routed and given back, whatever stands beside it."""
    made = table({"Site1": f"{ROUTE}{LIMITS}"}, KNOBS)
    stage = Stage(made, [SITE], options=RouterOptions(waits_for_gates=waits))
    stage.submit(*(jobs(*SCHEDD) if waits else jobs(*ROUTER, more=PLAIN)))
    (good,) = stage.submit(routed_job())
    stage.poll(8)
    assert stage.values(good, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert not stage.said(RouterEvent.UNREACHABLE)
    stage.router.report()
    stage.router.summary()
    stage.start()
    stage.poll(2)


@pytest.mark.parametrize("which", ["source", "copy"])
def test_what_is_edited_under_a_routers_hands_ends_nothing(which: str) -> None:
    """An infinity in one user's TimerRemove ended the router of all."""
    stage = Stage(table({"Site1": f"{ROUTE}{LIMITS}"}, KNOBS), [SITE])
    odd = [(name, text) for name, text in attributes(*ROUTER) if name not in {"ClusterId", "ProcId"}]
    targets = stage.submit(*(routed_job() for _ in odd))
    stage.poll(2)
    if which == "copy":
        targets = [JobId(int(str(ad.value("ClusterId"))), int(str(ad.value("ProcId")))) for ad in stage.copies()]
    assert len(targets) == len(odd)
    for target, (name, text) in zip(targets, odd, strict=True):
        stage.source.write(target, {name: Expression(text)})
    (good,) = stage.submit(routed_job())
    stage.poll(7)
    assert stage.values(good, "JobStatus", "Managed") == [4, "ScheddDone"]
    assert not stage.said(RouterEvent.UNREACHABLE)
    stage.start()
    stage.poll(1)


def test_what_a_route_sets_ends_nothing() -> None:
    """A route that makes its copies odd has them alone."""
    odd = list(attributes("crondor/router/daemon"))
    for begin in range(0, len(odd), 60):
        rules = {
            f"R{number}": f"REQUIREMENTS Number == {number}\nUNIVERSE vanilla\nSET {name} {text}"
            for number, (name, text) in enumerate(odd[begin : begin + 60])
        }
        stage = Stage(table({**rules, "Site1": ROUTE}, KNOBS), [SITE])
        stage.submit(*(routed_job(Number=number, WantJobRouter=False) for number in range(len(rules))))
        (good,) = stage.submit(routed_job())
        stage.poll(7)
        assert stage.values(good, "JobStatus", "Managed") == [4, "ScheddDone"]


def test_a_job_of_whom_a_step_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and tried again by the next poll; the others go on."""
    stage = Stage(table({"Site1": ROUTE}), [SITE])
    bad, good = stage.submit(routed_job(), routed_job())
    real = following.check_status

    def fails(context: RouterContext, found: RoutedJob) -> None:
        if found.id == bad:
            ClassAd.of_texts({"A": "05"}).value("A")
        real(context, found)

    monkeypatch.setattr(router_module, "check_status", fails)
    stage.poll(2)
    assert {str(entry.job).partition(",")[0] for entry in stage.said(RouterEvent.PASSED_OVER)} == {str(bad)}
    monkeypatch.undo()
    stage.poll(8)
    assert [stage.values(each, "JobStatus", "Managed") for each in (bad, good)] == [[4, "ScheddDone"]] * 2


def test_a_run_that_the_schedd_has_not_computed_yet_is_routed() -> None:
    """The answer of a schedule is a number like others when it comes into an ad."""
    stage = Stage(table({"Site1": ROUTE}), options=RouterOptions(waits_for_gates=True))
    stage.submit(routed_job(CronMinute="*"))
    stage.poll(2)
    assert stage.states() == [RoutedState.SUBMITTED]


# Pools


def test_a_pool_lives_on() -> None:
    """A day in the life of all these jobs together; the good one has its runs."""
    pool = Pool(replace(POOL, slots=1_000_000), NOW - 3600)
    ledger = OutcomeCounts(pool)
    for ad in jobs(*WORLD):
        pool.submit([ad])
    (good,) = pool.submit([GOOD])
    assert pool.advance(NOW + 3700, 2_000_000)
    ledger.close()
    assert ledger[good].counts[RunOutcome.ON_TIME] >= 1


@pytest.mark.parametrize("name", ["DeferralTime", "DeferralWindow", "DeferralPrepTime", "ScheddInterval", "JobStatus"])
def test_a_simulation_says_what_would_be_enough(name: str) -> None:
    """For the good job, and nothing for one whose numbers are none."""
    ads = [[job(name, text.replace("SELF", name))] for text in ODD]
    simulation = Simulation(replace(POOL, slots=1000), [*ads, [GOOD]], NOW - 3600, NOW + 4000)
    assert len(simulation.run()) == len(ODD) + 1
    assert simulation.enough()[-1].window is not None


# Submit files


def test_submit_files_are_checked_and_simulated() -> None:
    """Attributes that a file sets by name, some at a time; a JobStatus of infinity was a traceback."""
    checked = CheckSettings(NOW, "UTC")
    known = names("crondor/submit", "crondor/lint", *JOBS)
    for text, begin in some(list(product(ODD, range(0, len(known), 25))), 60):
        lines = "".join(f"MY.{name} = {text.replace('SELF', name)}\n" for name in known[begin : begin + 25])
        source = Source(f"executable = /bin/true\ncron_minute = 0\n{lines}queue\n", "job.sub")
        assert check_submit(source, checked).source is source
        try:
            made = list(job_ads(read_submit(source, now=NOW, host=SubmitHost()), in_order=True))
        except CrondorError as error:
            assert error.diagnostics  # noqa: PT017 - refused, and said
            continue
        Simulation(POOL, [[ad for _, ad in made]], NOW - 60, NOW + 100).run()


@pytest.mark.parametrize("text", ODD)
def test_a_job_status_of_ones_own_is_no_traceback(text: str) -> None:
    """What condor_submit makes of it is a number: of none it makes an idle job."""
    source = Source(f"executable = /bin/true\nMY.JobStatus = {text.replace('SELF', 'JobStatus')}\nqueue\n", "job.sub")
    ((_, ad),) = job_ads(read_submit(source, now=NOW, host=SubmitHost()), in_order=True)
    assert type(ad.value("JobStatus")) is int


# Hooks


def _run(ad: ClassAd) -> HookRun:
    return HookRun(HookCall("/bin/true"), HookEnd.EXITED, 0, None, long_form([ad]), "")


def test_the_answers_of_hooks_mean_something() -> None:
    """Whatever they print."""
    hooks = RouterHooks({}, {})
    for name, text in attributes(*HOOKS, *JOBS, values=(*ODD, *UNREADABLE)):
        ad = ClassAd({"JobUniverse": 5, "Cmd": "/bin/true"})
        ad.put(name, text)
        run = _run(ad)
        for kind in (HookType.PREPARE_JOB, HookType.JOB_EXIT):
            assert conclude_starter(kind, run).reason
        for kind in ROUTER_HOOKS:
            assert hooks.conclude(kind, run).reason
            hooks.find(kind, ad)


@pytest.mark.parametrize("manager", [Manager.STARTD, Manager.SCHEDD])
def test_daemon_cron_publishes_on(manager: Manager) -> None:
    """What a job prints, and what the slot says; an infinite SlotId ended all jobs."""
    for name, text in attributes(*HOOKS, values=(*ODD, *UNREADABLE)):
        output = f"Good = 1\n{name} = {text}\n- tag update:{name}\n"
        knobs: dict[str, Any] = {
            "J_PERIOD": "5s",
            "J_METRICS": f"SUM:GPUs, PEAK:{name}",
            "J_CONDITION": f"{name} =!= 7",
        }
        made, _ = live(settings(manager, **knobs), Programs(text=output), 6)
        slot = ClassAd({"Name": "slot1@here", "SlotID": 1, "SlotTypeId": 1})
        constrained = {"slotmergeconstraint", "slotname", "name", "slotid", "slottypeid"}
        merged = made.ads.merged(slot)
        assert (manager is Manager.STARTD and name.lower() in constrained) or merged.value("Good") == 1
        slot.put(name, text)
        made.daemon_ad = slot
        list(made.configure(made.settings, 10))
        made.ads.merged(slot)


class _Done:
    """A job that is over as soon as it has begun."""

    def attributes(self, now: float) -> dict[str, object]:
        """Return what an update says."""
        return {"JobState": "Running", "Now": now}

    def ended(self, now: float) -> dict[str, object]:
        """Return how it ended."""
        return {"ExitCode": 0, "Now": now}

    def stop(self, now: float) -> None:
        """End it."""


class _Answers:
    """Hooks that print one and the same text."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        self.text = text

    def run(self, call: HookCall) -> HookRun:
        """Answer."""
        return HookRun(call, HookEnd.EXITED, 0, None, self.text, "")


KEYWORD: Final = {
    "STARTD_JOB_HOOK_KEYWORD": "K",
    **{f"K_HOOK_{kind}": "/bin/true" for kind in ("FETCH_WORK", "REPLY_FETCH", "PREPARE_JOB", "JOB_EXIT")},
}


def test_slots_fetch_on() -> None:
    """Odd jobs for odd slots."""
    for name, text in attributes("crondor/hooks/fetch", values=(*ODD, *UNREADABLE)):
        ad, slot = job(name, text), ClassAd({"Name": "slot1@here", "Requirements": True})
        slot.put(name, text)
        runner: Any = _Answers(long_form([ad]))
        fetched = FetchingSlot("slot1", slot, KEYWORD, lambda _ad, _now: _Done(), daemon_environment({}), "/", runner)
        for now in (NOW, NOW + 1, NOW + 400):
            assert all(step.what for step in fetched.step(now))
        list(fetched.evict(NOW + 500))
        assert fetched.next_time() is not None
        context = Context(now=NOW)
        decide(ad, slot, SlotState.CLAIMED, 1.0, context)
        assert {type(has_ended(slot)), type(is_willing(slot)), type(refuses(slot, ad, context))} == {bool}
        assert isinstance(fetch_delay(slot, ad), int)
        assert isinstance(starter_keyword(ad, KEYWORD), str)


def test_work_is_given_out(tmp_path: Path) -> None:
    """All at once, among them a good job, which a slot gets; what hooks tell of it counts."""
    odd = [
        FetchableJob(f"odd{n}#0", ad)
        for n, ad in enumerate(jobs("crondor/hooks/fetch", *JOBS, values=(*ODD, *UNREADABLE)))
    ]
    slot = ClassAd({"Name": "slot1@here", "Good": True})
    good = GOOD.copy()
    good.set_text("Requirements", "TARGET.Good")
    for each in odd:
        each.ad.set_text("Requirements", "false")
    work = WorkSource([*odd, FetchableJob("good#0", good)], Journal(tmp_path / "state"), "UTC")
    offered = work.offer(slot, NOW).job
    assert offered is not None
    assert str(offered.value(KEY)).startswith("good#0")
    for name, text in attributes("crondor/hooks/fetch", values=(*ODD, *UNREADABLE)):
        if name != KEY:
            told = offered.copy()
            told.put(name, text)
            work.hear(HookType.UPDATE_JOB_INFO, told, NOW + 1, slot=job(name, text))
    assert json.dumps(work.journal.read()[str(offered.value(KEY))].state.value)
