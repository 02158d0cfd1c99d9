"""`crondor queue`: queues on disk, logs and ads, from submission to history."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.schedd.embedded import LOG, EmbeddedSchedd
from crondor_cli.groups import QUEUE
from tests.cli.running import NOW, NOW_EPOCH, ROOT, Result, crondor
from tests.schedd.conftest import StandIn

Schedd = Callable[..., Result]
Write = Callable[..., str]
NIGHTLY = str(ROOT / "examples" / "nightly.sub")


@pytest.fixture
def schedd(tmp_path: Path) -> Schedd:
    """Return a function that runs a command on the embedded queue of this test, at NOW."""

    def run(command: str, *arguments: str, stdin: str = "", now: str = NOW) -> Result:
        env = {"CRONDOR_QUEUE": str(tmp_path / "queue")}
        words = ("next", "--list") if command == "next" else ("queue", command)
        return crondor(*words, "--now", now, *arguments, stdin=stdin, env=env)

    return run


def test_a_job_from_submission_to_history(schedd: Schedd) -> None:
    """Submitted, held, released, removed: each says what was done, and status what has become of it."""
    result = schedd("submit", NIGHTLY)
    assert (result.status, result.out, result.err) == (0, "1 job submitted to cluster 1\n", "")
    assert schedd("status").lines[1].split()[:3] == [
        "1.0",
        schedd("status", "--format", "json").jobs[0]["owner"],
        "idle",
    ]
    assert schedd("hold", "1.0", "--reason", "not tonight").out == "1 job held\n"
    held = schedd("status")
    assert held.status == 1
    assert "warning: held (code 1): not tonight [held]" in held.out
    assert schedd("release", "1").out == "1 job released\n"
    assert schedd("status").status == 0
    assert schedd("rm", "1.0").out == "1 job removed\n"
    assert schedd("status").out == "no job with a schedule, of 0\n"
    assert schedd("history").lines[1].split()[:1] == ["1.0"]
    assert schedd("history", "--format", "json").jobs[0]["state"] == "removed"
    assert 'Cmd = "/bin/df"' in schedd("history", "--format", "long").lines


def test_a_time_is_read_in_the_zone_that_is_named(schedd: Schedd, tmp_path: Path) -> None:
    """By those that act on jobs as by all others."""
    schedd("submit", NIGHTLY)
    assert schedd("hold", "1.0", "--tz", "UTC").status == 0
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW_EPOCH) as queue:
        assert len(queue.jobs(f"EnteredCurrentStatus == {NOW_EPOCH + 3600}")) == 1


def test_submitted_jobs_know_their_cluster(schedd: Schedd, write: Write) -> None:
    """$(Cluster) is the number that the queue gives, in every job."""
    path = write("executable = /bin/date", "error = $(Cluster).$(Process)", "cron_minute = 0", "queue 2")
    schedd("submit", NIGHTLY)
    assert schedd("history").out == "no job has left the queue\n"
    assert schedd("submit", path, "--format", "json").data == {"cluster": 2, "jobs": ["2.0", "2.1"], "diagnostics": []}
    schedd("rm", "2")
    found = [line for line in schedd("history", "--format", "long").lines if line.startswith("Err =")]
    assert sorted(found) == ['Err = "2.0"', 'Err = "2.1"']


def test_submitted_jobs_are_in_their_folder(schedd: Schedd, write: Write) -> None:
    """A file's initialdir is the Iwd of its jobs, from the folder the command is started in; so is their log."""
    schedd("submit", write("executable = /bin/date", "initialdir = night", "log = l", "cron_minute = 0", "queue"))
    schedd("rm", "1")
    found = schedd("history", "--format", "long").lines
    assert f'Iwd = "{Path.cwd()}/night"' in found
    assert f'UserLog = "{Path.cwd()}/night/l"' in found


def test_lines_may_be_appended_to_a_submit_file(schedd: Schedd, write: Write, tmp_path: Path) -> None:
    """As with condor_submit -append: before each queue statement, and a fault in one is told with its place."""
    path = write("executable = /bin/date", "initialdir = a", "cron_minute = 0", "queue", "initialdir = b", "queue")
    schedd("submit", path, "-a", f"initialdir = {tmp_path}/c", "--append", "MY.Note = $(Process)")
    schedd("rm", "1")
    found = schedd("history", "--format", "long").lines
    assert [line for line in found if line.startswith("Iwd")] == [f'Iwd = "{tmp_path}/c"'] * 2
    assert sorted(line for line in found if line.startswith("Note")) == ["Note = 0", "Note = 1"]
    wrong = schedd("submit", path, "-a", "deferral_time = -5")
    assert (wrong.status, wrong.out) == (1, "")
    assert "deferral_time" in wrong.err


def test_a_submit_file_that_is_none_leaves_the_queue_alone(schedd: Schedd, write: Write) -> None:
    """With the line and column of the fault; too many jobs, and those to be made later, are refused too."""
    for lines, code in (
        (["executable = /bin/date", "deferral_time = -5", "queue"], ":2:"),
        (["executable = /bin/date", "queue 1000000000"], "submit-many"),
        (["executable = /bin/date", "max_materialize = 2", "queue 5"], "submit-late"),
    ):
        result = schedd("submit", write(*lines))
        assert (result.status, result.out) == (1, "")
        assert code in result.err
    assert schedd("status", "--format", "json").data["job_count"] == 0
    assert schedd("submit", "/no/such.sub").status == 2


def test_an_invalid_schedule_is_held_at_once(schedd: Schedd, write: Write) -> None:
    """It is in the queue, and its submitter is told."""
    result = schedd("submit", write("executable = /bin/date", "cron_minute = 61", "queue"))
    assert (result.status, result.lines) == (1, ["1 job submitted to cluster 1"])
    assert "job 1.0 is held: Invalid cron schedule parameters: minute 61" in result.err


def test_running_is_waiting_while_its_time_lies_ahead(schedd: Schedd) -> None:
    """What HTCondor itself does not show."""
    schedd("submit", NIGHTLY)
    schedd("edit", "1.0", "--set", "JobStatus=2")
    assert "waiting (starts in 8 h 2 min)" in schedd("status").out
    assert schedd("status", "--format", "json").jobs[0]["state"] == "waiting"


def test_edits_are_made_under_a_condition(schedd: Schedd) -> None:
    """Strings in quotes, expressions without; nothing edited is a finding."""
    schedd("submit", NIGHTLY)
    edit = schedd("edit", "1.0", "--set", 'Note="a = b"', "--set", "JobPrio=1 + 1", "--if", "JobStatus == 1")
    assert (edit.status, edit.out) == (0, "1 job edited\n")
    again = schedd("edit", "1.0", "--set", "JobPrio=9", "--if", 'Note =!= "a = b"', "--format", "json")
    assert (again.status, again.data["unchanged"]) == (1, ["1.0"])
    for wrong in (("--set", "JobPrio"), ("--set", "JobPrio=("), ("--set", "A=1", "--if", "1 +")):
        result = schedd("edit", "1.0", *wrong)
        assert (result.status, result.out) == (2, "")
    for words, said in (
        (["1.0"], "--set NAME=EXPR"),
        (["1.0", "JobPrio=3"], "--set JobPrio=3"),
        (["1.0", "Note", "a b"], "--set 'Note=a b'"),
    ):
        result = schedd("edit", *words)
        assert (result.status, result.out) == (2, "")
        assert f"give an attribute to set: {said}" in result.err
    fixed = schedd("edit", "1.0", "--set", "ClusterId=7")
    assert (fixed.status, "cannot be edited" in fixed.err) == (1, True)


def test_recalc_writes_only_when_it_is_told_to(schedd: Schedd) -> None:
    """And then there is nothing left to do."""
    schedd("submit", NIGHTLY)
    later = "2027-01-01"
    shown = schedd("recalc", now=later)
    assert shown.lines[-1] == "nothing was written: use --apply"
    assert schedd("recalc", now=later).out == shown.out
    (edit,) = schedd("recalc", "--apply", "--format", "json", now=later).data["edits"]
    assert (edit["job"], edit["local"], edit["hold_reason"]) == ("1.0", "2027-01-01T02:30:00+01:00", None)
    assert schedd("recalc", now=later).lines == ["nothing to do: every crontab job has its time"]


def test_starts_are_in_order(schedd: Schedd) -> None:
    """Of all jobs; one that leaves the queue has one."""
    schedd("submit", NIGHTLY)
    schedd("submit", str(ROOT / "examples" / "several-jobs.sub"))
    starts = schedd("next", "-n", "9", "--format", "json").data["starts"]
    assert [start["time"] for start in starts] == sorted(start["time"] for start in starts)
    assert starts[0]["job"] == "2.2"
    assert len(starts) == 9


def test_unknown_jobs_are_named(schedd: Schedd) -> None:
    """One that is not there, words that are no jobs, and no word at all."""
    schedd("submit", NIGHTLY)
    for command in ("hold", "release", "rm", "status", "next", "recalc"):
        result = schedd(command, "1.5", "9")
        assert result.status == 1
        assert "there is no job 1.5 in the queue" in result.err
        assert "there is no job of cluster 9 in the queue" in result.err
        assert schedd(command, "1.x").status == 2
        assert schedd(command, "--constraint", "JobStatus ==").status == 2
    assert schedd("hold").status == 2
    assert schedd("edit", "7.0", "--set", "A=1").status == 1


@pytest.mark.parametrize("action", ["hold", "release", "rm"])
def test_actions_answer_in_json(schedd: Schedd, action: str) -> None:
    """With counts, and why not."""
    schedd("submit", NIGHTLY)
    data = schedd(action, "1.0", "4.4", "--format", "json").data
    assert (data["action"], data["not_found"]) == (action, 1)
    assert data["done"] + data["bad_status"] == 1
    assert data["diagnostics"]


def test_ads_on_standard_input() -> None:
    """What condor_q prints, read as the schedd reads it."""
    text = (ROOT / "examples" / "queue.long").read_text(encoding="utf-8")
    status = crondor("queue", "status", "--ads", "-", "--now", NOW, "--format", "json", stdin=text)
    assert (status.data["source"], status.data["dialect"], len(status.jobs)) == ("ads", "htcondor", 5)
    assert crondor("queue", "recalc", "--ads", "-", "--now", NOW, stdin=text).status in {0, 1}
    assert crondor("queue", "recalc", "--ads", "-", "--apply", stdin=text).status == 2
    bad = crondor("queue", "status", "--ads", "-", stdin="CronMinute = ((\nJobStatus = 1\n")
    assert (bad.status, "Traceback" in bad.err) == (1, False)


def test_a_log_is_followed_and_left_alone(schedd: Schedd, tmp_path: Path) -> None:
    """With a note on what it cannot know."""
    schedd("submit", NIGHTLY)
    log = tmp_path / "queue" / LOG
    before = log.read_bytes()
    result = crondor("queue", "status", "--log", str(log), "--now", NOW)
    assert result.status == 0
    assert result.lines[-1].startswith("note: the log shows DeferralTime late")
    assert log.read_bytes() == before
    missing = crondor("queue", "status", "--log", str(tmp_path / "none"))
    assert (missing.status, "cannot be followed" in missing.err) == (1, True)


def test_two_queues_at_once_are_refused() -> None:
    """Before any is opened."""
    result = crondor("queue", "status", "--log", "x", "--ads", "-")
    assert (result.status, "choose one" in result.err) == (2, True)


def test_the_guard_names_its_limits_and_only_says(schedd: Schedd, write: Write) -> None:
    """A step that the schedd counts otherwise; written with --apply, and then right."""
    path = write("executable = /bin/date", "cron_minute = 0", "cron_hour = 1-10/3", "queue")
    schedd("submit", path)
    schedd("recalc", "--dialect", "htcondor", "--apply")
    found = schedd("guard", "--once")
    assert found.status == 1
    assert "the guard is too late" in found.err
    assert "requirements" in found.err
    assert found.out.rstrip().endswith("(not written: --apply)")
    assert schedd("guard", "--once").out == found.out
    (correction,) = schedd("guard", "--once", "--apply", "--format", "json").data["corrections"]
    assert (correction["applied"], correction["local"]) == (True, "2026-11-21T01:00:00+01:00")
    assert schedd("guard", "--once").status == 0


def test_the_guard_makes_up_a_missed_run(schedd: Schedd, write: Write) -> None:
    """Of a job that asks for it: reported, and written once; its run is then the next one, and later the schedule's."""
    lines = ("executable = /bin/date", "cron_minute = 0", "cron_hour = 2", "MY.CrondorCatchUp = 36000")
    path = write(*lines, "requirements = DeferralTime % 7200 == 1 || DeferralTime =?= MY.CrondorCatchUpTime", "queue")
    schedd("submit", path)
    schedd("edit", "1.0", "--set", f"QDate={NOW_EPOCH - 86400 * 2}")
    now = "2026-11-21 03:00"
    schedd("recalc", "--apply", now=now)
    assert "nothing to correct" in schedd("guard", "--once", now=now).out
    schedd("edit", "1.0", "--set", "Requirements=DeferralTime % 7200 == 3600 || DeferralTime =?= MY.CrondorCatchUpTime")
    found = schedd("guard", "--once", now=now)
    assert found.status == 1
    said = "1.0 the run of Sat 2026-11-21 02:00 +0100 is made up: DeferralTime Sat 2026-11-21 03:02 +0100"
    assert f"{said}  (not written: --apply)" in found.out
    assert f"{said}  (written)" in schedd("guard", "--once", "--apply", now=now).out
    assert schedd("guard", "--once", "--apply", now=now).status == 0
    assert "Sat 2026-11-21 03:02" in schedd("next", now=now).out


def test_the_guard_goes_on(schedd: Schedd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pass after pass until it is ended, each at its own time."""
    schedd("submit", NIGHTLY)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", nap)
    monkeypatch.setattr("time.time", lambda: NOW_EPOCH + 30.0 * len(naps))
    result = schedd("guard", "--poll", "30", "--format", "json")
    assert result.status == 130
    assert [json.loads(line)["now"] - NOW_EPOCH for line in result.lines] == [0, 30, 60]
    assert naps == [30, 30, 30]


def test_the_guard_outlives_a_schedd_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and asks again; a single pass ends with the error."""
    stand_in = StandIn(tmp_path / "stand_in.json")
    for name, value in stand_in.environment.items():
        monkeypatch.setenv(name, value)
    stand_in.fail(("query", "Failed to connect to schedd."))
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", nap)
    result = crondor("queue", "guard", "--live", "--now", NOW, "--format", "json")
    assert (result.status, len(result.lines)) == (130, 1)
    assert "no schedd answers" in result.err
    stand_in.fail(("query", "Failed to connect to schedd."))
    assert crondor("queue", "guard", "--live", "--once").status == 1


def test_a_live_schedd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status, recalculation, guard and history through the stand-in of the bindings."""
    stand_in = StandIn(tmp_path / "stand_in.json")
    for name, value in stand_in.environment.items():
        monkeypatch.setenv(name, value)
    job = stand_in.add(ClassAd({"JobStatus": 1, "Owner": "alice", "CronHour": "1-10/3", "CronMinute": "0"}))
    live = ("--live", "--now", NOW)
    assert crondor("queue", "recalc", *live, "--apply").lines[-1] == "written"
    assert stand_in.read()["jobs"][str(job)]["DeferralTime"] == str(NOW_EPOCH - NOW_EPOCH % 3600 + 9 * 3600)
    assert crondor("queue", "guard", *live, "--apply", "--once").status == 1
    (status,) = crondor("queue", "status", *live, "--format", "json").jobs
    assert status["next"]["local"] == "2026-11-21T01:00:00+01:00"
    assert crondor("queue", "history", *live).out == "no job has left the queue\n"


def test_help_says_where_the_queue_is() -> None:
    """The options and the variable; every subcommand has examples and exit statuses."""
    text = crondor("queue", "-h").out
    assert all(word in text for word in ("CRONDOR_QUEUE", "--queue", "--live"))
    for name in QUEUE:
        help_ = crondor("queue", name, "-h").out
        assert "Examples:" in help_
        assert re.search(r"Exit\s+status", help_)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("rm", ["1.0"]), ("hold", ["1"]), ("edit", ["1", "--set", "JobPrio=5"]), ("guard", ["--once"])],
)
def test_only_submit_makes_a_queue(schedd: Schedd, tmp_path: Path, command: str, arguments: list[str]) -> None:
    """A slip in a path is said, and leaves no folder behind."""
    result = schedd(command, *arguments)
    assert (result.status, result.out) == (1, "")
    assert "there is no queue yet in" in result.err
    assert not (tmp_path / "queue").exists()


def test_an_action_on_nobody_says_so(schedd: Schedd) -> None:
    """An owner without jobs, a condition that holds nowhere: no bare zero."""
    schedd("submit", NIGHTLY)
    for result in (
        schedd("hold", "no-one-here"),
        schedd("edit", "1.0", "--set", "JobPrio=5", "--if", "JobStatus == 4"),
    ):
        assert result.status == 1
        assert "[no-job]" in result.err


def test_a_dry_guard_locks_nobody_out(schedd: Schedd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows the log while another process writes."""
    monkeypatch.setattr("crondor_cli.kit.services.PATIENCE", 0.0)
    schedd("submit", NIGHTLY)
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: NOW_EPOCH):
        assert "nothing to correct" in schedd("guard", "--once").out
        assert "queue-locked" in schedd("guard", "--once", "--apply").err


def test_a_damaged_end_is_said(schedd: Schedd, tmp_path: Path) -> None:
    """By those who read, and by those who write and so cut it off."""
    schedd("submit", NIGHTLY)
    log = tmp_path / "queue" / LOG
    log.write_bytes(log.read_bytes() + b"105\n103 1.0 JobPrio 5\n")
    assert schedd("status").err
    assert schedd("hold", "1.0").err
