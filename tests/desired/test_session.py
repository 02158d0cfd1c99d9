"""`crondor plan` and `crondor apply` on an embedded queue: what an administrator does with a folder of jobs."""

import subprocess
from contextlib import ExitStack
from datetime import timezone
from pathlib import Path

import pytest

from crondor.classad import Expression
from crondor.desired.marks import DIGEST, SUBMITTING, hand_changes
from crondor.job_queue import JobId
from crondor.monitor.metrics import Metrics
from crondor.monitor.queue_watch import DRIFT
from crondor.monitor.watched import Wanted
from crondor.schedd.protocol import Hold, Selection
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.monitor.queues import queues_of
from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, Result, crondor, environment
from tests.desired.conftest import Desk
from tests.schedd.conftest import StandIn


def test_from_an_empty_folder_to_three_jobs_and_back(desk: Desk) -> None:
    """Submit, edit, remove a file, change a job by hand, take a file back: the second apply has nothing to do."""
    assert (desk.run("plan").status, desk.run("apply").status) == (0, 0)
    for hour in (1, 2, 3):
        desk.write(f"job{hour}.sub", f"cron_hour = {hour}")
    plan = desk.run("plan")
    assert (plan.status, plan.lines[-1]) == (1, "Plan: 3 to submit; 0 unchanged")
    assert desk.run("apply").lines[-1] == "Done: 3 submitted; 0 unchanged"
    assert desk.run("apply").out == "Nothing to do: 3 jobs as wanted\n"
    assert desk.run("plan").status == 0

    desk.write("job2.sub", "cron_hour = 12", "arguments = -u")
    plan = desk.run("plan")
    assert plan.lines[0] == "  ~ job2.sub (job 2.0): edit"
    assert [" ".join(line.split()) for line in plan.lines[1:4]] == [
        'Args "-u"',
        'Arguments "" -> (not set)',
        'CronHour "2" -> "12"',
    ]
    assert "runs before" in plan.lines[4]
    assert "2026-11-21 12:00" in plan.lines[5]
    desk.run("apply")
    assert desk.values("ClusterId", "CronHour", "DeferralTime")[1] == (2, "12", 1795258800)

    (desk.folder / "job3.sub").unlink()
    assert desk.run("plan").lines[-1] == "Plan: 1 to remove with --prune; 2 unchanged"
    assert desk.run("apply").status == 0
    refused = desk.run("apply", "--prune", "2")
    assert refused.status == 2
    assert "--prune 2: the folder lacks 1 job of the queue; nothing was done" in refused.err
    assert "--prune asks at a terminal; here write --prune 1" in desk.run("apply", "--prune").err
    assert len(desk.ads()) == 3
    assert desk.run("apply", "--prune", "1").lines[-1] == "Done: 1 removed; 2 unchanged"

    desk.run("edit", "1.0", "--set", "JobPrio=7")
    desk.run("hold", "2.0")
    assert desk.run("plan", "--fail-on", "drift").status == 1
    found = desk.run("plan", "--format", "json").data["queues"][0]
    assert [(job["action"], job["drift"]) for job in found["jobs"]] == [("edit", ["edited"]), ("release", ["held"])]
    assert found["counts"]["drift"] == 2
    desk.run("apply")
    desk.run("rm", "1.0")
    assert desk.run("plan", "--format", "json").data["queues"][0]["jobs"][0]["drift"] == ["removed"]
    desk.run("apply")
    assert desk.run("plan", "--fail-on", "drift").status == 0


def test_prune_asks_for_the_number(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal it is shown, and has to be typed."""
    desk.write("a.sub")
    desk.run("apply")
    (desk.folder / "a.sub").unlink()
    assert (desk.run("apply").status, desk.run("plan").status) == (0, 1)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    refused = desk.run("apply", "--prune", stdin="y\n")
    assert (refused.status, len(desk.ads())) == (2, 1)
    assert "1 job will be removed, which the folder lacks. Type 1 to confirm: " in refused.err
    assert desk.run("apply", "--prune", stdin="1\n").lines[-1] == "Done: 1 removed; 0 unchanged"


def test_a_difference_of_the_folder_is_no_drift(desk: Desk) -> None:
    """--fail-on drift ignores what the folder changed."""
    desk.write("a.sub")
    desk.run("apply")
    desk.write("a.sub", "priority = 3")
    assert (desk.run("plan").status, desk.run("plan", "--fail-on", "drift").status) == (1, 0)


def test_history_stays_where_an_edit_suffices(desk: Desk) -> None:
    """An edited job keeps its number and its starts; another universe needs a new job."""
    desk.write("a.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.write(JobId(1, 0), {"NumJobStarts": 5})
    desk.write("a.sub", "cron_hour = 4", "request_memory = 1G")
    desk.run("apply")
    assert desk.values("ClusterId", "NumJobStarts", "CronHour") == [(1, 5, "4")]
    desk.write("a.sub", "universe = local")
    plan = desk.run("plan")
    assert plan.lines[0] == "-/+ a.sub (job 1.0): replace; JobUniverse cannot be edited"
    desk.run("apply")
    assert desk.values("ClusterId", "JobUniverse", "JobStatus") == [(2, 12, 1)]
    assert desk.run("plan").status == 0


def test_a_run_is_not_cut_off(desk: Desk) -> None:
    """A running job is neither replaced nor removed, unless it is said; one that waits for its time is."""
    desk.write("a.sub", "cron_hour = 3")
    desk.write("b.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        for cluster in (1, 2):
            schedd.write(JobId(cluster, 0), {"JobStatus": 2, "DeferralTime": 1795195000})
    desk.write("a.sub", "universe = local")
    (desk.folder / "b.sub").unlink()
    assert desk.run("plan").out.count("waits until its run ends") == 2
    waits = desk.run("apply", "--prune", "1")
    assert (waits.status, waits.lines[-1]) == (1, "Done: 2 waiting for the end of a run; 0 unchanged")
    assert [ad.python("ClusterId") for ad in desk.ads()] == [1, 2]
    with desk.schedd() as schedd:
        schedd.write(JobId(1, 0), {"DeferralTime": 1795199999})
    assert desk.run("apply").lines[-1].startswith("Done: 1 replaced")
    assert desk.run("apply", "--prune", "1", "--running").status == 0
    assert [ad.python("ClusterId") for ad in desk.ads()] == [3]


def test_jobs_of_others_are_not_touched(desk: Desk) -> None:
    """Neither those without marks nor those of another plan."""
    desk.write("a.sub")
    desk.run("submit", str(desk.folder / "a.sub"))
    desk.run("apply", "--as", "other")
    desk.run("apply")
    desk.write("a.sub", "priority = 5")
    assert desk.run("apply").lines[-1] == "Done: 1 edited; 0 unchanged"
    assert desk.values("JobPrio") == [(0,), (0,), (5,)]
    (desk.folder / "a.sub").unlink()
    assert desk.run("apply", "--prune", "1").status == 0
    assert [ad.python("ClusterId") for ad in desk.ads()] == [1, 2]


def test_hold_is_part_of_the_file(desk: Desk) -> None:
    """A file holds its job, with or without an edit, and releases it; releasing by hand is drift."""
    desk.write("a.sub", "hold = true")
    desk.run("apply")
    assert desk.values("JobStatus") == [(5,)]
    desk.run("release", "1.0")
    plan = desk.run("plan")
    assert plan.lines[0] == "  ~ a.sub (job 1.0): hold; released by hand; its file holds it"
    desk.run("apply")
    assert desk.values("JobStatus") == [(5,)]
    assert desk.run("plan").status == 0
    desk.write("a.sub")
    desk.run("apply")
    assert desk.values("JobStatus") == [(1,)]
    desk.write("a.sub", "hold = true")
    assert desk.run("plan", "--fail-on", "drift").status == 0
    desk.run("apply")
    assert (desk.values("JobStatus"), desk.run("plan").status) == ([(5,)], 0)


def test_a_job_held_by_a_daemon_is_released_with_its_edit_alone(desk: Desk) -> None:
    """It was held for its content."""
    desk.write("a.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.hold("true", Hold("no such program", 6, 2))
    plan = desk.run("plan")
    assert (plan.status, "held: no such program" in plan.out) == (0, True)
    assert desk.values("JobStatus") == [(5,)]
    desk.write("a.sub", "arguments = x")
    desk.run("apply")
    assert desk.values("JobStatus", "Args") == [(1, "x")]


def test_a_job_that_has_run_is_not_submitted_again(desk: Desk) -> None:
    """One that leaves the queue after its run is known from the history, until its file changes."""
    desk.write("a.sub", "on_exit_remove = true")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.write(JobId(1, 0), {"JobStatus": 4})
        schedd.leave(JobId(1, 0))
    plan = desk.run("plan")
    assert (plan.status, plan.lines[0].strip()) == (0, "a.sub: job 1.0 has run, and does not stay in the queue")
    desk.write("a.sub", "on_exit_remove = true", "arguments = again")
    assert desk.run("apply").lines[-1] == "Done: 1 submitted; 0 unchanged"


def test_a_job_that_is_there_twice_is_removed_once(desk: Desk) -> None:
    """As by condor_submit of a printed ad; the one that runs stays."""
    desk.write("a.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.submit(schedd.jobs())
    plan = desk.run("plan", "--fail-on", "drift")
    assert plan.status == 1
    assert plan.lines[0] == "  - a.sub (job 2.0): remove; duplicated by hand; job 1.0 is the same job"
    with desk.schedd() as schedd:
        schedd.write(JobId(2, 0), {"JobStatus": 2, "DeferralTime": 1})
    assert desk.run("plan").lines[0].startswith("  - a.sub (job 1.0): remove; duplicated by hand; job 2.0")
    assert desk.run("apply").status == 0
    assert [ad.python("ClusterId") for ad in desk.ads()] == [2]


def test_a_job_without_a_schedule_may_differ_in_nothing_but_its_status(desk: Desk) -> None:
    """There is nothing to print below the line of such a job."""
    (desk.folder / "a.sub").write_text("executable = /bin/date\nqueue\n", encoding="utf-8")
    desk.run("apply")
    desk.run("hold", "1.0")
    plan = desk.run("plan")
    assert (plan.status, len(plan.lines)) == (1, 2)
    (desk.folder / "a.sub").unlink()
    assert desk.run("apply", "--prune", "1").lines[-1] == "Done: 1 removed; 0 unchanged"


def test_another_folder_of_the_same_name_is_not_taken_for_it(desk: Desk, tmp_path: Path) -> None:
    """Its jobs would be edited and removed; whoever gives the name says that the one takes the place of the other."""
    desk.write("a.sub", "cron_hour = 1")
    assert desk.run("apply").status == 0
    before = desk.ads()
    desk.folder = tmp_path / "elsewhere" / "jobs"
    desk.folder.mkdir(parents=True)
    desk.write("a.sub", "cron_hour = 2")
    for command in ("plan", "apply"):
        refused = desk.run(command)
        assert refused.status == 2
        assert f"the queue has jobs of the plan jobs from another folder, {tmp_path / 'jobs'}" in refused.err
        assert "--as jobs" in refused.err
    assert desk.ads() == before
    assert desk.run("apply", "--as", "jobs").lines[-1] == "Done: 1 edited; 0 unchanged"


def test_a_link_to_a_folder_needs_a_name(desk: Desk, tmp_path: Path) -> None:
    """A link to the newest release would name another plan each time, and all jobs would be there twice."""
    desk.write("a.sub")
    link = tmp_path / "current"
    link.symlink_to(desk.folder)
    assert desk.run("plan", "--as", "").status == 2
    refused = crondor("apply", str(link), "--queue", str(desk.queue))
    assert (refused.status, desk.queue.exists()) == (2, False)
    assert "is a link to a folder of another name, 'jobs': give one with --as" in refused.err
    assert crondor("apply", str(link), "--as", "jobs", "--queue", str(desk.queue)).status == 0
    assert desk.run("plan").status == 0


def test_an_account_without_a_name_is_told_what_to_set(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, a user may be a number alone."""
    desk.write("a.sub")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    result = desk.run("apply")
    assert (result.status, "this account has no name: set LOGNAME" in result.err) == (2, True)
    monkeypatch.setenv("LOGNAME", "carol")
    assert (desk.run("apply").status, desk.values("Owner")) == (0, [("carol",)])


@pytest.mark.parametrize("line", ["include : /etc/passwd", "include command : ls", "queue name from ls |"])
def test_a_file_that_is_not_read_whole_stops_everything(desk: Desk, line: str) -> None:
    """Otherwise its jobs in the queue would count as removed from the folder, or lose what is not known."""
    desk.write("a.sub")
    desk.run("apply")
    (desk.folder / "a.sub").write_text(f"executable = /bin/date\n{line}\n", encoding="utf-8")
    result = desk.run("apply", "--prune", "1")
    assert (result.status, len(desk.ads()), result.err.count(" error: ")) == (2, 1, 1)
    assert "warning: condor_submit would" not in result.err


def test_damaged_marks_are_those_of_no_file(desk: Desk) -> None:
    """Such a job is shown, and stays until it is removed with --prune."""
    desk.write("a.sub")
    desk.run("apply")
    desk.run("edit", "1.0", "--set", "CrondorFile=undefined", "--set", "CrondorJob=undefined")
    line = "  - (no file) (job 1.0): remove; the folder has no such job; only with --prune"
    assert line in desk.run("plan").lines


def test_names_with_any_character_but_a_line_end(desk: Desk) -> None:
    """A line end would stop apply midway, since no queue can hold it."""
    for name in ("a b", "it's", 'a"b', "a\\b", "\x1b[31m", "\udcff", "=", "x, job 1"):
        desk.write(f"{name}.sub")
    assert (desk.run("apply").status, desk.run("plan").status, len(desk.ads())) == (0, 0, 8)
    desk.write("c\nd.sub")
    desk.write("new.sub")
    result = desk.run("apply")
    assert (result.status, len(desk.ads())) == (2, 8)
    assert "c\\nd.sub:1:1: error: the path has a line end in it" in result.err


def test_a_closed_pipe_is_no_success(desk: Desk) -> None:
    """Apply ends as its reader does, and its exit status says so."""
    for number in range(20):
        desk.write(f"{number}.sub", f"arguments = {'x' * 9000}")
    run = ["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "-", *PROGRAM, "apply", str(desk.folder)]
    done = subprocess.run([*run, "--queue", str(desk.queue)], capture_output=True, env=environment(), check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)


def test_an_invalid_file_stops_everything(desk: Desk) -> None:
    """All faults of all files are reported at once, and no job is changed."""
    desk.write("a.sub", "cron_hour = 99")
    desk.write("b.sub", "request_memory = (")
    desk.write("c.sub", "arguments = $(Cluster)", "output = $(SUBMIT_FILE).out")
    desk.write("d.sub")
    for command in ("plan", "apply"):
        result = desk.run(command)
        assert (result.status, result.out) == (2, "")
        errors = [line for line in result.err.splitlines() if " error: " in line]
        assert [line.partition(".sub:")[0][-1] for line in errors] == ["a", "b", "c", "c"]
    for name in ("Args", "Out"):
        line = f"{name} differs at each submission: it has the time, the cluster or the file's path in it [plan-varies]"
        assert line in result.err
    assert not desk.queue.exists()
    assert desk.run("plan", "--format", "json").data["queues"] == []


def test_a_schedule_in_words_is_compiled(desk: Desk) -> None:
    """It gives the same lines on each day of a year, and those that a file has are used as they are."""
    (desk.folder / "a.sub").write_text(
        "# crondor: schedule = the last Friday of the month at 18:00\n"
        "executable = /bin/date\non_exit_remove = false\nqueue\n"
    )
    desk.run("apply")
    assert desk.values("CronMinute", "CronHour", "CronDayOfWeek")[0][:2] == ("0", "18")
    assert desk.run("plan", "--now", "2026-12-31 12:00").status == 0
    for line in ("schedule = someday", "schedule = daily at 06:00\n# crondor: overlap = queu"):
        (desk.folder / "a.sub").write_text(f"# crondor: {line}\nexecutable = /bin/date\nqueue\n")
        result = desk.run("plan")
        assert (result.status, result.err.count(" error: "), result.err.count(" warning: ")) == (2, 1, 0)


def test_a_killed_submission_is_finished(desk: Desk) -> None:
    """A job left on hold is released if it is the wanted one, and otherwise removed."""
    desk.write("a.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.hold("true", Hold(SUBMITTING))
    assert desk.run("plan").lines[0] == f"  ~ a.sub (job 1.0): release; {SUBMITTING}"
    desk.run("apply")
    assert desk.values("JobStatus") == [(1,)]
    with desk.schedd() as schedd:
        schedd.hold("true", Hold(SUBMITTING))
    desk.write("a.sub", "arguments = x")
    desk.run("apply")
    assert desk.values("ClusterId", "JobStatus") == [(2, 1)]


def test_a_time_that_a_killed_apply_did_not_compute_is_computed(desk: Desk) -> None:
    """Though its job is as wanted; the times of the others stay."""
    desk.write("a.sub")
    desk.write("b.sub")
    desk.run("apply")
    with desk.schedd() as schedd:
        schedd.write(JobId(1, 0), {"DeferralTime": None})
        schedd.write(JobId(2, 0), {"DeferralTime": 1})
    assert desk.run("apply").out == "Nothing to do: 2 jobs as wanted\n"
    assert desk.values("DeferralTime") == [(1795197600,), (1,)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("JobPrio", "5"), ("CronHour", '"9"'), ("CrondorDigest", '"x"'), ("CrondorNames", '"Cmd"'), ("Args", '"z"')],
)
def test_edits_by_hand_are_seen_in_the_job_alone(desk: Desk, name: str, value: str) -> None:
    """No folder is needed; what the schedd writes is no drift."""
    desk.write("a.sub", "arguments = y", "priority = 2")
    desk.run("apply")
    with desk.schedd() as schedd:
        values = {"NumJobStarts": 5, "JobStatus": 2, "DeferralTime": 1, "ImageSize": 7, "HoldReason": SUBMITTING}
        schedd.write(JobId(1, 0), values)
        assert not list(hand_changes(schedd.jobs()[0]))
        schedd.edit_if(JobId(1, 0), "true", {name: Expression(value)})
        assert list(hand_changes(schedd.jobs()[0])) == ["edited"]
    desk.run("apply")
    assert not list(hand_changes(desk.ads()[0]))


def test_a_plan_of_printed_ads_and_of_a_log(desk: Desk) -> None:
    """A dry run: with a schedd, an edited Cron attribute needs a new job."""
    desk.write("a.sub", "cron_hour = 3")
    desk.run("apply")
    text = "".join(f"{name} = {ad.text(name)}\n" for ad in desk.ads() for name in ad)
    desk.write("a.sub", "cron_hour = 4")
    for source in (("--ads", "-"), ("--log", str(desk.queue / "job_queue.log"))):
        result = crondor("plan", str(desk.folder), *source, "--now", "2026-11-20 18:27", stdin=text)
        why = "a schedd reads an edited CronHour only after a reconfig"
        assert result.lines[0] == f"-/+ a.sub (job 1.0): replace; {why}"
        assert "plan-history" not in result.err
        desk.write("b.sub")  # it may have run
        added = crondor("plan", str(desk.folder), *source, "--now", "2026-11-20 18:27", stdin=text)
        assert "note: the history is unknown, so that jobs may be submitted that have run: " in added.err
        (desk.folder / "b.sub").unlink()


def test_the_access_point_is_asked(desk: Desk, tmp_path: Path) -> None:
    """Its transforms are notes, its refusals errors: nothing is applied."""
    conf = tmp_path / "site.conf"
    conf.write_text(
        'JOB_TRANSFORM_NAMES = Acct\nJOB_TRANSFORM_Acct = SET AcctGroup "physics"\n'
        "SUBMIT_REQUIREMENT_NAMES = Memory\nSUBMIT_REQUIREMENT_Memory = RequestMemory < 4096\n"
        'SUBMIT_REQUIREMENT_Memory_REASON = "too much memory"\n',
        encoding="utf-8",
    )
    desk.write("a.sub")
    plan = desk.run("plan", "--pool-config", str(conf))
    assert plan.status == 1
    assert f"note: JOB_TRANSFORM_Acct ({conf}:2) changes AcctGroup: (not set) -> " in plan.err
    desk.write("a.sub", "request_memory = 8G")
    refused = desk.run("apply", "--pool-config", str(conf))
    assert (refused.status, desk.queue.exists()) == (2, False)
    assert "error: the access point refuses the job: too much memory [CRN701]" in refused.err


def test_a_plan_of_another_user(desk: Desk) -> None:
    """As for the ads that an administrator prints."""
    desk.write("a.sub")
    desk.run("apply")
    assert desk.run("plan", "--owner", "alice").lines[-1] == "Plan: 1 to submit; 0 unchanged"


def test_the_monitor_sees_what_was_done_by_hand(desk: Desk) -> None:
    """Among the attributes that it looks at, and without the folder; a metric counts such jobs."""
    for name in ("a.sub", "b.sub", "c.sub"):
        desk.write(name)
    desk.run("apply")
    desk.run("edit", "1.0", "--set", "JobPrio=5")  # no look sees that
    assert monitored(desk) == [0.0, []]
    desk.run("edit", "2.0", "--set", 'CronHour="4"')
    desk.run("hold", "3.0")
    hint = "by hand, though a folder of submit files says otherwise"
    assert monitored(desk) == [2.0, [f"edited {hint}", f"held {hint}"]]
    desk.run("apply")
    assert monitored(desk) == [0.0, []]


def monitored(desk: Desk) -> list[object]:
    """Return the metric of a look at the queue, and the notes of the jobs."""
    asked = QueueOptions(queue=str(desk.queue))
    wanted = Wanted(asked, Selection(), None, None, 60, None, (), ())
    clock, metrics = Clock(NOW_EPOCH, "UTC", timezone.utc), Metrics()
    with ExitStack() as stack:
        (queue,) = queues_of(wanted, clock, lambda: NOW_EPOCH, stack, every=False)
        look = queue.look(clock)
        metrics.update({queue: look}, NOW_EPOCH)
    assert look is not None
    (number,) = (each.samples[0].value for each in metrics.collect() if each.name == "crondor_jobs_drift")
    return [number, [fault.message for job in look.jobs for fault in job.trouble if fault.kind == DRIFT]]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """Return an empty queue."""
    return StandIn(tmp_path / "stand_in.json")


def run(desk: Desk, stand_in: StandIn, command: str, *arguments: str) -> Result:
    """Run plan or apply on the live schedd."""
    words = (command, str(desk.folder), "--live", "--now", NOW, *arguments)
    return crondor(*words, env=stand_in.environment)


def test_a_folder_on_a_live_schedd(desk: Desk, stand_in: StandIn) -> None:
    """Submit, edit, replace for another schedule, drift, prune; each job is released at the end."""
    desk.write("a.sub", "cron_hour = 3")
    desk.write("b.sub", "hold = true")
    assert run(desk, stand_in, "apply").lines[-1] == "Done: 2 submitted; 0 unchanged"
    jobs = stand_in.read()["jobs"]
    assert [jobs[key]["JobStatus"] for key in ("1.0", "2.0")] == ["1", "5"]
    assert run(desk, stand_in, "plan").status == 0

    desk.write("a.sub", "cron_hour = 3", "arguments = x")
    desk.write("b.sub", "cron_hour = 4")
    plan = run(desk, stand_in, "plan")
    assert plan.lines[-1] == "Plan: 1 to edit, 1 to replace; 0 unchanged"
    assert run(desk, stand_in, "apply").status == 0
    jobs = stand_in.read()["jobs"]
    assert (sorted(jobs), jobs["1.0"]["Args"], jobs["3.0"]["JobStatus"]) == (["1.0", "3.0"], '"x"', "1")

    crondor("queue", "edit", "1.0", "--live", "--set", "JobPrio=5", env=stand_in.environment)
    drift = run(desk, stand_in, "plan", "--fail-on", "drift")
    assert (drift.status, "5 -> 0   (edited by hand)" in drift.out) == (1, True)
    (desk.folder / "b.sub").unlink()
    assert run(desk, stand_in, "apply", "--prune", "1").lines[-1] == "Done: 1 edited, 1 removed; 0 unchanged"
    assert run(desk, stand_in, "plan").status == 0


def test_an_edit_that_was_cut_off_is_finished(desk: Desk, stand_in: StandIn) -> None:
    """The digest says that it was not finished, so it is no drift."""
    desk.write("a.sub")
    run(desk, stand_in, "apply")
    desk.write("a.sub", "arguments = x", "priority = 2")
    stand_in.fail(("edit", ""), ("edit", ""), ("edit", "exit"))
    assert run(desk, stand_in, "apply").status == 2
    assert stand_in.read()["jobs"]["1.0"][DIGEST].startswith('"unfinished ')
    assert run(desk, stand_in, "plan", "--fail-on", "drift").status == 0
    assert run(desk, stand_in, "apply").lines[-1] == "Done: 1 edited; 0 unchanged"
    assert run(desk, stand_in, "plan").status == 0


def test_what_a_schedd_refuses_does_not_stop_the_others(desk: Desk, stand_in: StandIn) -> None:
    """It is reported at its file, and the status is 1."""
    desk.write("a.sub")
    desk.write("b.sub")
    stand_in.fail(("submit", "Unable to commit transaction, SCHEDD:2:No."))
    result = run(desk, stand_in, "apply")
    assert (result.status, result.lines[-1]) == (1, "Done: 1 submitted, 1 not done; 0 unchanged")
    assert "a.sub is not done" in result.err
    assert SUBMITTING not in str(stand_in.read())
