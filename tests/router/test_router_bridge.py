"""Scheduled jobs on routes: which run goes where, what is left there, and what becomes of the schedule."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Context, read_ads
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.deferral import Deferral
from crondor.diagnostics import Source
from crondor.job.policy import QueuedJob
from crondor.recurrence import Recurrence
from crondor.router import Matcher, RouteState, RoutingTable, apply_route, load_table
from crondor.router.plan.copy_schedule import DEFERRAL
from crondor.router_bridge import (
    CopySchedule,
    JobSettings,
    PlannedOutcome,
    PlannedRun,
    PlanOptions,
    cure,
    is_cured,
    manner_of,
    one_run,
    plan,
)
from crondor.schedd_adapter import EmbeddedSchedd
from crondor.schedule import JobSchedule, Universe
from crondor.spec import CronSpec, Dialect
from crondor.submit import SubmitFile, read_submit
from tests.examples import examples

NOW = 1_795_176_000  # Friday 2026-11-20 12:00 UTC
DAY = 86_400
NIGHT = NOW + 14 * 3600 + 30 * 60  # 02:30 of the next day
UTC = timezone.utc

POOL = "UNIVERSE VANILLA"
GRID = "UNIVERSE GRID\nGridResource = batch slurm"
CONDOR_C = "UNIVERSE GRID\nGridResource = condor remote.example.org cm.example.org"
ARC = "UNIVERSE GRID\nGridResource = arc arc.example.org"
NO_CRON = "DELETE /^Cron(Minute|Hour|DayOfMonth|Month|DayOfWeek)$/"


def table(*routes: str, **knobs: str) -> RoutingTable:
    """Return a table of routes named A, B, C; each knob is one of JOB_ROUTER_."""
    names = [chr(ord("A") + number) for number in range(len(routes))]
    lines = [f"JOB_ROUTER_{name} = {text}" for name, text in knobs.items()]
    if "SOURCE_JOB_CONSTRAINT" not in knobs:
        lines.append("JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true")
    lines.append(f"JOB_ROUTER_ROUTE_NAMES = {' '.join(names)}")
    for name, text in zip(names, routes, strict=True):
        lines.append(f"JOB_ROUTER_ROUTE_{name} @=end\n{text}\n@end")
    made = load_table(read_config("\n".join(lines)))
    assert not made.rejected
    return made


NIGHTLY = {
    "executable": "/bin/true",
    "cron_minute": "30",
    "cron_hour": "2",
    "cron_window": "900",
    "on_exit_remove": "false",
    "should_transfer_files": "YES",
    "transfer_output_files": '""',
}


def submit(commands: Mapping[str, str | None] | None = None, queue: str = "queue", **more: str | None) -> SubmitFile:
    """Return a submit file of the nightly job with other commands; None takes one out."""
    given_commands: dict[str, str | None] = {**NIGHTLY, **(commands or {}), **more}
    lines = [f"{name} = {text}" for name, text in given_commands.items() if text is not None]
    return read_submit(Source("\n".join([*lines, queue, ""]), "job.sub"), now=NOW, zone=UTC)


def planned(jobs: object, routes: RoutingTable, days: int = 3, **options: object) -> list[PlannedRun]:
    """Return the runs of some days."""
    return list(plan(jobs, routes, NOW, NOW + days * DAY, PlanOptions(**options)))  # type: ignore[arg-type]


def codes(runs: list[PlannedRun]) -> list[str]:
    """Return the codes of the findings in their order."""
    return [each.kind for run in runs for each in run.findings]


def outcomes(runs: list[PlannedRun]) -> list[PlannedOutcome]:
    """Return what becomes of each run."""
    return [run.outcome for run in runs]


# The daemon, which takes a job whole


def test_the_daemon_takes_a_job_at_its_next_poll() -> None:
    """Ten seconds from now at the latest, hours before the gate; the plan says so."""
    runs = planned(submit(), table(POOL))
    assert (runs[0].outcome, runs[0].taken, runs[0].run.time) == (PlannedOutcome.ROUTED, NOW + 10, NIGHT)
    assert "plan-taken-at-once" in codes(runs)


def test_a_copy_that_keeps_its_cron_attributes_schedules_itself() -> None:
    """The route is asked once; the runs that follow are the copy's own, and its place is held."""
    runs = planned(submit(), table(POOL))
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.BY_COPY, PlannedOutcome.BY_COPY]
    assert runs[0].conduct is CopySchedule.SCHEDULES_ITSELF
    assert [run.starts for run in runs] == [NIGHT, NIGHT + DAY, NIGHT + 2 * DAY]
    assert codes(runs) == ["plan-taken-at-once", "plan-schedules-itself", "plan-holds-place"]


def test_a_copy_that_leaves_takes_the_job_with_it() -> None:
    """Without on_exit_remove the copy runs once, and the completed source has no run left."""
    runs = planned(submit(on_exit_remove=None), table(POOL))
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.GONE, PlannedOutcome.GONE]
    assert "plan-last-run" in codes(runs)


def test_nobody_waits_for_a_time_in_the_grid() -> None:
    """The copy starts at once; one that stays in its queue starts again without end."""
    runs = planned(submit(), table(GRID))
    assert (runs[0].conduct, runs[0].starts, runs[0].ends) == (CopySchedule.AT_ONCE, NOW + 10, None)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.STUCK, PlannedOutcome.STUCK]
    assert codes(runs) == ["plan-taken-at-once", "plan-not-deferred", "plan-no-end"]


def test_htcondor_c_takes_the_schedule_along() -> None:
    """The remote schedd gets the whole ad, in the universe that the job had."""
    runs = planned(submit(), table(CONDOR_C))
    assert runs[0].conduct is CopySchedule.SCHEDULES_ITSELF_THERE
    assert "plan-schedules-itself" in codes(runs)


def test_a_remote_attribute_is_the_one_that_counts_there() -> None:
    """HTCondor-C replaces an attribute by its Remote_ counterpart."""
    runs = planned(submit(), table(f'{CONDOR_C}\n{NO_CRON}\nSET Remote_CronMinute "0"'))
    assert runs[0].conduct is CopySchedule.SCHEDULES_ITSELF_THERE
    runs = planned(submit(), table(f"{CONDOR_C}\nSET Remote_JobUniverse 7"))
    assert runs[0].conduct is CopySchedule.NEVER_RUNS


def test_deleting_the_cron_attributes_alone_leaves_a_copy_that_never_matches() -> None:
    """Its Requirements ask for a DeferralTime that nobody computes any more."""
    runs = planned(submit(), table(f"{POOL}\n{NO_CRON}"))
    assert (runs[0].conduct, runs[0].starts) == (CopySchedule.NEVER_MATCHES, None)
    assert "plan-never-matches" in codes(runs)
    assert outcomes(runs)[1:] == [PlannedOutcome.STUCK, PlannedOutcome.STUCK]


def test_requirements_that_the_route_sets_free_the_copy() -> None:
    """As the manual's own example does."""
    runs = planned(submit(), table(f"{POOL}\n{NO_CRON}\nSET Requirements true\nSET OnExitRemove true"))
    assert runs[0].conduct is CopySchedule.AT_ONCE
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.GONE, PlannedOutcome.GONE]


def test_the_scheduler_universe_runs_no_scheduled_copy() -> None:
    """Cron attributes are accepted there, and the job never runs."""
    runs = planned(submit(), table("UNIVERSE SCHEDULER"))
    assert (runs[0].conduct, codes(runs)[-1]) == (CopySchedule.NEVER_RUNS, "plan-never-runs")


def test_a_time_of_ones_own_is_waited_for() -> None:
    """A deferral_time is in the ad, so that the copy has it; the route can wait for its gate itself."""
    once = submit(cron_minute=None, cron_hour=None, on_exit_remove=None, deferral_time=str(NIGHT), cron_window="60")
    (run,) = planned(once, table(POOL))
    assert (run.taken, run.starts, run.conduct) == (NOW + 10, NIGHT, CopySchedule.WAITS)
    gate = "DeferralTime is undefined || time() + ScheddInterval >= DeferralTime - DeferralPrepTime"
    (run,) = planned(once, table(f"REQUIREMENTS {gate}\n{POOL}"))
    assert run.taken is not None
    assert run.run.match_opens <= run.taken < run.run.match_opens + 120
    assert codes([run]) == []


def test_a_time_by_qdate_is_another_one_in_the_copy() -> None:
    """The copy's QDate is the time of routing."""
    once = submit(cron_minute=None, cron_hour=None, on_exit_remove=None, deferral_time="QDate + 3600")
    (run,) = planned(once, table(POOL))
    assert (run.run.time, run.starts) == (NOW + 3600, NOW + 3610)
    assert "plan-shifted" in codes([run])


def test_a_job_whose_time_is_past_is_said_to_be_stuck() -> None:
    """Its copy comes too late as well."""
    once = submit(cron_minute=None, cron_hour=None, on_exit_remove=None, deferral_time=str(NOW - DAY))
    made = plan(once, table(POOL), NOW)
    (run,) = made
    assert [each.kind for each in made.findings] == ["plan-past"]
    assert (run.conduct, run.starts) == (CopySchedule.TOO_LATE, None)


# A router that waits for the gate


def test_a_router_that_waits_takes_each_run_when_its_gate_opens() -> None:
    """At its first poll after it; the copy has one time and no schedule."""
    runs = planned(submit(), table(POOL), at_gate=True)
    assert outcomes(runs) == [PlannedOutcome.ROUTED] * 3
    for run in runs:
        assert run.taken is not None
        assert run.routed is not None
        assert run.routed.ad is not None
        assert 0 <= run.taken - run.run.match_opens < 10
        assert (run.starts, run.conduct) == (run.run.time, CopySchedule.WAITS)
        assert run.routed.ad.value("DeferralTime") == run.run.time
        assert "CronMinute" not in run.routed.ad
    assert codes(runs) == []


def test_the_job_leaves_when_its_own_on_exit_remove_says_so() -> None:
    """It is asked after each run, as of a job that ended well."""
    runs = planned(submit(on_exit_remove="NumJobStarts >= 2"), table(POOL), at_gate=True, run_time=60)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.ROUTED, PlannedOutcome.GONE]


def test_a_run_that_comes_while_the_copy_runs_is_passed_over() -> None:
    """One instance at a time; missed times are not made up."""
    runs = planned(submit(), table(POOL), at_gate=True, run_time=DAY + 60)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.BUSY, PlannedOutcome.ROUTED]


def test_a_route_may_schedule_the_copy_again() -> None:
    """Then it is told as with the daemon."""
    runs = planned(submit(), table(f'{POOL}\nSET CronMinute "0"\nSET OnExitRemove false'), at_gate=True)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.BY_COPY, PlannedOutcome.BY_COPY]


# Limits along time


def test_a_full_route_leaves_a_run_to_the_next_one() -> None:
    """Two jobs of the same minute, and a place for one of them."""
    runs = planned(submit(queue="queue 2"), table(f"{POOL}\nMaxJobs = 1", GRID), days=1, at_gate=True)
    assert [(run.job.id, run.route and run.route.name) for run in runs] == [("1.0", "A"), ("1.1", "B")]
    assert runs[0].room is not None
    assert runs[0].room[:4] == (1, 1, 1, 50)


def test_a_run_without_a_place_says_why() -> None:
    """The figures are those of the moment."""
    runs = planned(submit(queue="queue 2"), table(f"{POOL}\nMaxJobs = 1"), days=1, at_gate=True)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.LOCAL]
    told = runs[1].why()
    assert told is not None
    assert told.verdicts[0].reason == "1 jobs, MaxJobs = 1"


def test_a_place_that_is_free_again_is_taken() -> None:
    """The second job waits for the first one's end, within its window."""
    file = submit(queue="queue 2", cron_window="3600")
    runs = planned(file, table(f"{POOL}\nMaxJobs = 1"), days=1, at_gate=True, run_time=600)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.ROUTED]
    assert runs[0].ends == NIGHT + 600
    assert (runs[1].taken, runs[1].starts) == (NIGHT + 600, NIGHT + 600)


def test_an_idle_limit_opens_when_a_copy_is_matched() -> None:
    """A copy that waits in its starter has JobStatus 2: MaxIdleJobs counts it until the poll after its gate alone."""
    file = submit(queue="queue 2", cron_window="3600")
    runs = planned(file, table(f"{POOL}\nMaxIdleJobs = 1"), days=1, at_gate=True, run_time=600)
    assert (runs[0].taken, runs[0].starts) == (NIGHT - 600, NIGHT)
    assert (runs[1].taken, runs[1].starts) == (NIGHT - 590, NIGHT)
    assert runs[1].room is not None
    assert (runs[1].room.jobs, runs[1].room.idle) == (2, 1)


def test_the_router_itself_may_be_full() -> None:
    """JOB_ROUTER_MAX_JOBS counts the jobs of all routes, and those that were there."""
    runs = planned(submit(queue="queue 3"), table(POOL, GRID, MAX_JOBS="2"), days=1, at_gate=True)
    assert outcomes(runs) == [PlannedOutcome.ROUTED, PlannedOutcome.ROUTED, PlannedOutcome.LOCAL]
    runs = planned(submit(), table(POOL, MAX_JOBS="1"), days=1, at_gate=True, route_state=RouteState(managed=1))
    assert outcomes(runs) == [PlannedOutcome.LOCAL]


def test_a_run_that_is_given_up_is_not_followed_by_a_poll_in_the_past() -> None:
    """The next run is asked for after the last match of the one before, when the place is taken still."""
    every = JobSchedule(CronSpec(minute="*"), window=1)
    routes = table(f"{POOL}\nMaxJobs = 1")
    runs = list(plan([every, every], routes, NOW, None, PlanOptions(at_gate=True, count=8)))
    taken = sorted((run.taken, run.ends) for run in runs if run.taken is not None and run.ends is not None)
    assert len(taken) > 2
    assert all(end <= begin for (_, end), (begin, _) in pairwise(taken))


def test_round_robin_goes_on_along_the_plan() -> None:
    """One count for all jobs and runs."""
    runs = planned(submit(), table(POOL, POOL, ROUND_ROBIN_SELECTION="true"), days=4, at_gate=True)
    assert [run.route and run.route.name for run in runs] == ["A", "B", "A", "B"]


def test_a_waiting_copy_that_schedules_itself_is_idle_between_its_runs() -> None:
    """It fills MaxIdleJobs all day, until its gate opens."""
    other = submit(cron_hour="4", cron_minute="0")
    runs = planned([submit(), other], table(f"{POOL}\nMaxIdleJobs = 1"), days=2, run_time=60)
    assert [run.outcome for run in runs if run.job.id == "1.0"] == [PlannedOutcome.ROUTED, PlannedOutcome.BY_COPY]
    assert {run.taken for run in runs if run.job.id == "2.0" and run.outcome is PlannedOutcome.ROUTED} == {NIGHT - 600}


# Requirements and the clock


def test_requirements_are_asked_at_the_moment_of_the_run() -> None:
    """time() is that of the poll, in the zone of the plan."""
    weekday = 'REQUIREMENTS formatTime(time(), "%u") == "7"'
    runs = planned(submit(), table(f"{weekday}\n{POOL}"), at_gate=True, days=3)
    assert outcomes(runs) == [PlannedOutcome.LOCAL, PlannedOutcome.ROUTED, PlannedOutcome.LOCAL]


def test_a_job_becomes_old_enough() -> None:
    """QDate is the time of submission."""
    runs = planned(submit(), table(f"REQUIREMENTS time() - QDate > 3600\n{POOL}"))
    assert runs[0].taken is not None
    assert 3600 < runs[0].taken - NOW < 3600 + 120


def test_a_rejection_by_the_local_pool_is_planned_where_it_is_asked_for() -> None:
    """job1.sub of the manual: +WantJobRouter = LastRejMatchTime =!= UNDEFINED."""
    file = submit({"+WantJobRouter": "LastRejMatchTime =!= UNDEFINED"})
    routes = table(POOL, SOURCE_JOB_CONSTRAINT="WantJobRouter")
    made = plan(file, routes, NOW, NOW + DAY)
    assert outcomes(list(made)) == [PlannedOutcome.LOCAL]
    assert [each.kind for each in made.findings] == ["plan-not-rejected"]
    runs = planned(file, routes, days=1, rejected=300)
    assert (runs[0].outcome, runs[0].taken) == (PlannedOutcome.ROUTED, NOW + 300)


# What a job for the grid needs


@pytest.mark.parametrize(
    ("changes", "route", "expected"),
    [
        ({}, GRID, set()),
        ({"should_transfer_files": None}, GRID, {"plan-no-transfer"}),
        ({"transfer_output_files": None}, GRID, {"plan-no-output"}),
        ({"transfer_output_files": None}, CONDOR_C, set()),
        ({}, ARC, {"plan-no-proxy"}),
        ({"x509userproxy": "proxy.pem"}, ARC, set()),
        ({"should_transfer_files": None, "transfer_output_files": None}, POOL, set()),
        ({}, f'{GRID}\nSET ShouldTransferFiles "NO"', {"plan-no-transfer"}),
    ],
)
def test_what_a_grid_route_needs_is_asked_of_the_copy(
    changes: dict[str, str | None], route: str, expected: set[str]
) -> None:
    """The manual: Job Submission with Job Routing Capability."""
    found = set(codes(planned(submit(changes), table(route), at_gate=True)))
    assert found & {"plan-no-transfer", "plan-no-output", "plan-no-proxy"} == expected


def test_a_shared_proxy_is_a_proxy() -> None:
    """The route adds it."""
    shared = 'UseSharedX509UserProxy = true\nSharedX509UserProxy = "/etc/proxy"\nJobShouldBeSandboxed = true'
    runs = planned(submit(), table(f"UNIVERSE GRID\nGridResource = arc x\n{shared}"), at_gate=True)
    assert runs[0].outcome is PlannedOutcome.ROUTED
    assert "plan-no-proxy" not in codes(runs)


def test_every_finding_says_what_to_write() -> None:
    """Each has a code of the plan's, a place in the submit file, and a help."""
    for route in (
        POOL,
        GRID,
        CONDOR_C,
        f"{POOL}\n{NO_CRON}",
        "UNIVERSE SCHEDULER",
        "UNIVERSE GRID\nGridResource = arc x",
    ):
        for run in planned(submit(should_transfer_files=None, transfer_output_files=None), table(route)):
            for found in run.findings:
                assert found.kind.startswith("plan-")
                assert found.help
                assert found.span is not None
                assert found.span.source.name == "job.sub"


# The cure


@pytest.mark.parametrize("at_gate", [False, True])
@pytest.mark.parametrize("on_exit_remove", [None, "false", "NumJobStarts >= 24"])
@pytest.mark.parametrize("route", [POOL, GRID, CONDOR_C, f"{POOL}\n{NO_CRON}", "UNIVERSE SCHEDULER", "UNIVERSE LOCAL"])
def test_the_lines_make_a_copy_that_runs_once(route: str, on_exit_remove: str | None, *, at_gate: bool) -> None:
    """Put at the end of the route they do what they did when they were offered."""
    file = submit(on_exit_remove=on_exit_remove)
    made = plan(file, table(route), NOW, NOW + 2 * DAY, PlanOptions(at_gate=at_gate))
    first = next(iter(made))
    found = made.cure(first)
    assert found is not None
    assert is_cured(found)
    cured = planned(file, table(f"{route}\n{found.text}"), days=2, at_gate=at_gate)
    assert cured[0].conduct is found.manner.conduct
    assert cured[0].outcome is PlannedOutcome.ROUTED
    assert not {"plan-schedules-itself", "plan-never-matches", "plan-never-runs", "plan-no-end"} & set(codes(cured))
    assert made.cure(cured[0]) is not None
    assert made.cure(cured[0]).text == ""  # type: ignore[union-attr]
    assert PlannedOutcome.BY_COPY not in outcomes(cured)


def test_what_htcondor_c_puts_in_place_is_cured_too() -> None:
    """A Remote_ attribute would be the remote schedd's schedule."""
    file, route = submit(), f'{CONDOR_C}\nSET Remote_CronMinute "0"\nSET Remote_DeferralTime 7'
    made = plan(file, table(route), NOW, NOW + DAY)
    first = next(iter(made))
    found = made.cure(first)
    assert first.conduct is CopySchedule.SCHEDULES_ITSELF_THERE
    assert found is not None
    assert is_cured(found)
    assert "Remote_JobUniverse" in found.ad
    cured = planned(file, table(f"{route}\n{found.text}"), days=1)
    assert cured[0].conduct is CopySchedule.AT_ONCE


def test_what_is_left_of_requirements_is_what_the_job_asked_for() -> None:
    """Only the clauses about the time go; a macro in them stays text."""
    job = ClassAd({"ClusterId": 1, "ProcId": 0, "JobUniverse": 5, "JobStatus": 1, "Owner": "a", "CronMinute": "0"})
    job.set_text("Requirements", '(TARGET.A == "$(x)") && (time() < DeferralTime) && (B || C)')
    routes = table(POOL)
    routed = apply_route(routes, routes.routes[0], job)
    found = cure(routed, NOW, UTC, routes.facts)
    assert found.ad.text("Requirements") == '(TARGET.A == "$(x)") && (B || C)'
    with pytest.raises(ValueError, match="only a routed copy"):
        cure(routed._replace(ad=None), NOW, UTC, routes.facts)


# Where jobs come from


def test_jobs_come_from_everywhere(tmp_path: Path) -> None:
    """A schedule, a submit file, an ad and a schedd give the same runs."""
    spec = CronSpec(minute="30", hour="2")
    schedule = JobSchedule(spec, window=900)
    file = submit()
    source = next(iter(plan(file, table(POOL), NOW, NOW + DAY).jobs)).ad
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW) as schedd:
        schedd.submit([source])
        ways = (schedule, file, source, QueuedJob(source), schedd, [schedule], iter([file]))
        found = [planned(way, table(POOL), at_gate=True) for way in ways]
    for runs in found:
        assert [(run.run, run.taken, run.outcome) for run in runs] == [
            (run.run, run.taken, run.outcome) for run in found[0]
        ]
    with pytest.raises(TypeError, match="not str"):
        plan(["job.sub"], table(POOL), NOW)  # type: ignore[list-item]


QUEUE = """\
ClusterId = 7
ProcId = 0
JobStatus = {status}
JobUniverse = 5
Owner = "alice"
CronMinute = "30"
CronHour = "2"
DeferralTime = {time}
DeferralWindow = 900
DeferralPrepTime = 300
ScheddInterval = 300
OnExitRemove = false
{more}
"""


def queue(status: int = 1, time: int = NIGHT, more: str = "") -> list[ClassAd]:
    """Return a job of a queue."""
    return list(read_ads(QUEUE.format(status=status, time=time, more=more)))


def test_a_computed_time_is_the_first_run() -> None:
    """A schedd's DeferralTime counts before the schedule; a time that is past with its window does not."""
    assert [run.run.time for run in planned(queue(time=NOW + 60), table(POOL), days=1)] == [NOW + 60, NIGHT]
    assert planned(queue(time=NOW - 60), table(POOL), days=1)[0].run.time == NOW - 60
    assert planned(queue(time=NOW - 1000), table(POOL), days=1)[0].run.time == NIGHT


def test_a_running_job_is_idle_again_when_it_has_run() -> None:
    """Its present run is the local pool's."""
    runs = planned(queue(status=2), table(POOL), at_gate=True, run_time=60)
    assert outcomes(runs) == [PlannedOutcome.LOCAL, PlannedOutcome.ROUTED, PlannedOutcome.ROUTED]


@pytest.mark.parametrize(
    ("status", "more", "code"),
    [(5, "", "plan-not-idle"), (4, "", "plan-not-idle"), (1, 'Managed = "External"', "plan-managed")],
)
def test_jobs_out_of_play_have_no_runs(status: int, more: str, code: str) -> None:
    """The plan says why."""
    made = plan(queue(status, more=more), table(POOL), NOW, NOW + DAY)
    assert list(made) == []
    assert [each.kind for each in made.findings] == [code]


def test_faults_of_a_schedule_are_findings() -> None:
    """Of a submit file at their places, and no run is planned."""
    made = plan(submit(cron_minute="61"), table(POOL), NOW, NOW + DAY)
    assert list(made) == []
    (found,) = made.findings
    assert found.span is not None
    assert found.span.text == "61"


def test_a_schedule_that_never_fires_is_a_finding() -> None:
    """It does not end the plan of the others."""
    made = plan([submit({"cron_day_of_month": "31", "cron_month": "2"}), submit()], table(POOL), NOW, NOW + DAY)
    assert [run.job.id for run in made] == ["2.0"]
    assert made.findings
    assert all(each.help for each in made.findings)


def test_a_plan_of_a_router_that_is_switched_off() -> None:
    """All runs are the local pool's."""
    made = plan(submit(), load_table(read_config("JOB_ROUTER_ROUTE_NAMES =")), NOW, NOW + DAY)
    assert outcomes(list(made)) == [PlannedOutcome.LOCAL]
    assert "plan-disabled" in [each.kind for each in made.findings]


def test_a_route_that_fails_leaves_the_run_to_the_pool() -> None:
    """Its failure is a finding."""
    runs = planned(submit(), table(f"{POOL}\nif $(MY.Cmd)\nendif"), days=1, at_gate=True)
    assert outcomes(runs) == [PlannedOutcome.FAILED]
    assert runs[0].findings


def test_a_job_that_is_edited_in_place_stays() -> None:
    """What the route changes is there at the next run."""
    edit = "REQUIREMENTS Marked is undefined\nEditJobInPlace = true\nSET Marked true"
    runs = planned(submit(), table(edit, POOL), days=2, at_gate=True)
    assert [(run.outcome, run.route and run.route.name) for run in runs] == [
        (PlannedOutcome.EDITED, "A"),
        (PlannedOutcome.ROUTED, "B"),
    ]


# For any schedule

SPECS = st.builds(
    CronSpec,
    minute=st.sampled_from(["*", "0", "*/20", "5,35", "59"]),
    hour=st.sampled_from([None, "2", "*/6", "0-5"]),
    day_of_month=st.sampled_from([None, "1", "15-20"]),
    day_of_week=st.sampled_from([None, "1", "6,0"]),
    dialect=st.sampled_from(list(Dialect)[:2]),
)


@examples(15)
@given(
    spec=SPECS, zone=st.sampled_from(["UTC", "Europe/Berlin"]), at_gate=st.booleans(), start=st.integers(0, 3 * 10**8)
)
def test_the_runs_of_a_plan_are_those_of_the_schedule(spec: CronSpec, zone: str, start: int, *, at_gate: bool) -> None:
    """All of them, in their order, whatever becomes of them."""
    now = NOW + start
    options = PlanOptions(at_gate=at_gate, run_time=1, count=25, reading=JobSettings(zone))
    runs = list(plan(JobSchedule(spec, zone=zone), table(POOL), now, None, options))
    assert [run.run.time for run in runs] == list(islice(Recurrence(spec, zone).upcoming(now), 25))
    assert [run.number for run in runs] == list(range(1, 26))


@examples(10)
@given(
    specs=st.lists(SPECS, min_size=1, max_size=4),
    memory=st.lists(st.integers(1, 4), min_size=4, max_size=4),
    start=st.integers(0, 3 * 10**7),
)
def test_a_plan_without_limits_is_matching_run_by_run(specs: list[CronSpec], memory: list[int], start: int) -> None:
    """Where no limit binds, each run goes where the matcher sends the job at that moment by itself."""
    routes = table(
        f'REQUIREMENTS RequestMemory > 2 && formatTime(time(), "%H") != "03"\n{POOL}',
        f'REQUIREMENTS formatTime(DeferralTime, "%M") == "00"\n{GRID}',
        f"REQUIREMENTS RequestMemory == 1\n{POOL}",
    )
    now = NOW + start
    ads = []
    for number, (spec, size) in enumerate(zip(specs, memory, strict=False), 1):
        (job,) = plan(JobSchedule(spec), routes, now).jobs
        ad = job.ad.copy()
        ad.set("ClusterId", number)
        ad.set("RequestMemory", size)
        ad.set("OnExitRemove", value=False)
        ads.append(ad)
    dialect = specs[0].dialect
    options = PlanOptions(at_gate=True, run_time=1, count=8, reading=JobSettings(dialect=dialect))
    for run in plan(ads, routes, now, None, options):
        if run.outcome is PlannedOutcome.BUSY or (run.outcome is PlannedOutcome.LOCAL and run.asked is None):
            continue  # no poll between two runs
        source = run.job.ad.copy()
        source.set("DeferralTime", run.run.time)
        asked = run.asked.context.now if run.asked is not None else run.taken
        assert asked is not None
        context = Context(now=asked, zone=UTC)
        by_hand = [each.route.name for each in Matcher(routes).match([("1.0", source)], RouteState(), context)]
        assert by_hand == ([] if run.route is None else [run.route.name])
        if run.routed is not None and run.route is not None:
            assert run.routed.ad == apply_route(routes, run.route, one_run(source, run.run)).ad


@examples(15)
@given(
    specs=st.lists(SPECS, min_size=1, max_size=6),
    most=st.integers(1, 3),
    idle=st.integers(-1, 3),
    every=st.integers(-1, 4),
    run_time=st.one_of(st.none(), st.integers(1, 7200)),
    queue_time=st.integers(0, 600),
    at_gate=st.booleans(),
    route=st.sampled_from([POOL, GRID, CONDOR_C, f"{POOL}\n{NO_CRON}"]),
    window=st.integers(0, 5000),
)
def test_limits_hold_at_each_moment(
    specs: list[CronSpec],
    most: int,
    idle: int,
    every: int,
    run_time: int | None,
    queue_time: int,
    route: str,
    window: int,
    *,
    at_gate: bool,
) -> None:
    """Counted by hand from the moments of the plan: never more copies than places."""
    routes = table(f"{route}\nMaxJobs = {most}\nMaxIdleJobs = {idle}", f"{POOL}\nMaxJobs = 2", MAX_JOBS=str(every))
    options = PlanOptions(at_gate=at_gate, run_time=run_time, queue_time=queue_time, count=6)
    schedules = [JobSchedule(spec, window=window) for spec in specs]
    copies: dict[tuple[str, int], PlannedRun] = {}
    ends: dict[tuple[str, int], int | None] = {}
    for run in plan(schedules, routes, NOW, None, options):
        if run.taken is None:
            continue
        key = (run.job.id, run.taken)
        copies.setdefault(key, run)
        ends[key] = None if run.conduct is not None and run.conduct.repeats and not at_gate else run.ends
    for key, run in copies.items():
        assert run.route is not None
        assert run.room is not None
        at = key[1]
        there = [
            each for other, each in copies.items() if other[1] <= at and ((end := ends[other]) is None or end > at)
        ]
        on_route = sum(each.route is run.route for each in there)
        assert on_route <= run.route.max_jobs
        assert run.room.jobs <= run.route.max_jobs
        assert idle < 0 or run.route.name == "B" or 0 < run.room.idle <= idle
        assert every < 0 or (len(there) <= every and run.room.managed <= every)


NAMES = ["CronMinute", "DeferralTime", "DeferralWindow", "Requirements", "JobUniverse", "GridResource"]
ODD = ["undefined", "error", '"condor a b"', "time()", "DeferralTime", "x.y", "1.5", "1/0", "{1}", "DeferralTime > 1"]


@examples(15)
@given(
    attributes=st.dictionaries(
        st.sampled_from(NAMES), st.one_of(st.integers(-(2**70), 2**70).map(str), st.sampled_from(ODD))
    )
)
def test_any_copy_has_some_conduct(attributes: dict[str, str]) -> None:
    """Whatever stands in it."""
    ad = ClassAd()
    for name, text in attributes.items():
        ad.put(name, text)
    assert manner_of(ad, NOW, UTC).conduct in CopySchedule


# Size


def test_a_job_of_every_minute_is_planned_as_far_as_it_is_looked_at() -> None:
    """Nothing is made beforehand: the first runs of a plan without an end come at once."""
    every = JobSchedule(CronSpec(minute="*"))
    runs: Iterator[PlannedRun] = iter(plan(every, table(POOL), NOW, None, PlanOptions(at_gate=True, run_time=30)))
    first = list(islice(runs, 50))
    assert [run.run.time for run in first] == [NOW + 60 * number for number in range(1, 51)]


def test_runs_behind_a_lost_job_are_told_one_by_one() -> None:
    """Also where none of them runs."""
    every = JobSchedule(CronSpec(minute="*"))
    runs = list(islice(plan(every, table(GRID), NOW), 100))
    assert outcomes(runs) == [PlannedOutcome.ROUTED, *[PlannedOutcome.STUCK] * 99]


def test_a_run_is_a_deferral_of_the_schedule() -> None:
    """With the window, the prep time and the interval of the job."""
    runs = planned(submit(cron_prep_time="60"), table(POOL), days=1, reading=JobSettings(schedd_interval=120))
    assert runs[0].run == Deferral(NIGHT, 900, 60, 120)
    assert datetime.fromtimestamp(runs[0].run.match_opens, UTC).strftime("%H:%M") == "02:27"


def test_grid_jobs_are_no_jobs_for_a_gate() -> None:
    """A source in the grid universe has no clause, and its schedule is planned like any other."""
    schedule = JobSchedule(CronSpec(minute="0"), universe=Universe.GRID)
    made = plan(schedule, table(POOL), NOW, NOW + 3600, PlanOptions(at_gate=True))
    assert outcomes(list(made)) == [PlannedOutcome.ROUTED]
    assert set(DEFERRAL) <= {"DeferralTime", "DeferralWindow", "DeferralPrepTime"}


def test_a_router_that_hardly_polls_lets_runs_pass() -> None:
    """Thousands of them in a row, none of them asked about."""
    every = JobSchedule(CronSpec(minute="*"))
    made = plan(every, table(POOL, POLLING_PERIOD="1000000"), NOW, NOW + 500_000, PlanOptions(at_gate=True))
    runs = list(made)
    assert set(outcomes(runs)) == {PlannedOutcome.LOCAL}
    assert len(runs) == 500_000 // 60
