"""`crondor next --ads`: when the jobs of a queue run, from what condor_q prints."""

import subprocess
import sys

import pytest

from tests.cli.conftest import Write
from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, ROOT, SLOWEST, Result, at_now, crondor, environment, process

QUEUE = str(ROOT / "examples" / "queue.long")
CLAUSE = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)


def ad(**attributes: str) -> str:
    """Return a crontab job's ad with some attributes set otherwise; an empty text leaves one out."""
    usual = {
        "ClusterId": "12", "ProcId": "0", "JobStatus": "1", "Owner": '"alice"', "Cmd": '"/bin/date"',
        "CronMinute": '"0"', "DeferralTime": "1795197600", "DeferralWindow": "60", "DeferralPrepTime": "120",
        "ScheddInterval": "30", "Requirements": CLAUSE, "JobUniverse": "5", "OnExitRemove": "false",
    }  # fmt: skip
    return "".join(f"{name} = {text}\n" for name, text in {**usual, **attributes}.items() if text)


def queue(*ads: str, count: int = 2) -> Result:
    """Preview a queue in text form."""
    return at_now("next", "--ads", "-", "-n", str(count), stdin="\n".join(ads))


def times(result: Result, job: int = 0) -> list[int]:
    """Return the manual's times of a job."""
    return [run["manual"]["time"] for run in result.jobs[job]["runs"]]


def of_queue(*ads: str) -> Result:
    """Preview a queue as JSON."""
    return at_now("next", "--ads", "-", "-n", "2", "--format", "json", stdin="\n".join(ads))


def test_the_schedds_time_comes_first() -> None:
    """While it lies ahead, even where the schedule says otherwise (condor_qedit); then the schedule goes on."""
    assert times(of_queue(ad())) == [1795197600, 1795201200]
    assert times(of_queue(ad(DeferralTime="1795196000"))) == [1795196000, 1795197600]
    assert times(of_queue(ad(DeferralTime="1795190000"))) == [1795197600, 1795201200]
    assert times(of_queue(ad(DeferralTime=""))) == [1795197600, 1795201200]


def test_times_that_requirements_exclude_are_no_runs() -> None:
    """Those of a job in the queue hold condor_submit's own clause as well; the schedd computes them all."""
    clause = f"(TARGET.HasJobDeferral) && {CLAUSE} && (DeferralTime % 7200 == 0)"
    result = of_queue(ad(Requirements=clause))
    assert times(result) == [1795197600, 1795204800]
    assert result.jobs[0]["kept_out"] == {"count": 1, "first": 1795201200}
    assert of_queue(ad()).jobs[0]["kept_out"] is None


def test_a_job_is_named_and_its_numbers_are_its_own() -> None:
    """ClusterId.ProcId, owner and program; window, preparation and interval of the ad."""
    result = queue(ad())
    assert (result.status, result.err) == (0, "")
    assert result.lines[0] == "job 12.0  alice  /bin/date"
    assert "  timing     window 60 s, prep time 120 s, SCHEDD_INTERVAL 30 s, vanilla universe" in result.lines
    job = of_queue(ad()).jobs[0]
    assert (job["name"], job["line"], job["queued"]["owner"]) == ("12.0", 1, "alice")
    assert job["queued"]["deferral_time"] == 1795197600


def test_a_running_job_waits() -> None:
    """JobStatus is Running while it waits on its machine; after its time it runs."""
    assert "matched: waits on its machine for Fri 2026-11-20 19:00 +0100" in queue(ad(JobStatus="2")).out
    assert "running: the next time is computed when the run ends" in queue(ad(JobStatus="2", DeferralTime="99")).out
    once = queue(ad(JobStatus="2", CronMinute="", DeferralTime="1795195000"))
    assert (once.status, once.err) == (0, "")


def test_a_held_job_has_its_reason_and_no_rows() -> None:
    """Control characters in the reason are shown as escapes; nothing is recalculated."""
    result = queue(ad(JobStatus="5", HoldReason=r'"too \033[31mlate"', HoldReasonCode="20"))
    assert result.status == 0
    assert "held (code 20): too " in result.out
    assert "\x1b" not in result.out
    assert " #  " not in result.out
    assert of_queue(ad(JobStatus="5")).jobs[0]["runs"] == []


@pytest.mark.parametrize(("status", "word"), [("3", "removed"), ("4", "completed")])
def test_what_is_over_is_said(status: str, word: str) -> None:
    """No rows either."""
    result = queue(ad(JobStatus=status))
    assert f"{word}: it does not run again" in result.out
    assert " #  " not in result.out


def test_a_missing_window_keeps_the_job_from_matching() -> None:
    """Unless its Requirements do not ask for it."""
    result = queue(ad(DeferralWindow=""))
    assert result.status == 1
    assert "<stdin>:1: job 12.0" in result.err
    assert "without DeferralWindow Requirements are never true: the job never matches [never-matches]" in result.err
    assert queue(ad(DeferralWindow="", Requirements="true")).status == 0


def test_a_job_that_leaves_is_said() -> None:
    """Without on_exit_remove = false there is one run only."""
    assert "leaves the queue when a run ends" in queue(ad(OnExitRemove="")).out
    assert "leaves the queue" not in queue(ad()).out


def test_a_job_without_schedule_is_counted() -> None:
    """In one line; a queue of such jobs has nothing to show."""
    plain = ad(CronMinute="", DeferralTime="")
    result = queue(plain, ad(), plain)
    assert result.status == 0
    assert "note: 2 jobs have neither a cron attribute nor a DeferralTime, of 3 in <stdin>" in result.err
    alone = queue(plain)
    assert (alone.status, alone.out) == (1, "")


def test_expressions_of_an_ad_are_evaluated_in_it() -> None:
    """QDate is the ad's own."""
    job = ad(CronMinute="", DeferralTime="QDate + 600", QDate=str(NOW_EPOCH - 60))
    assert times(of_queue(job)) == [NOW_EPOCH + 540]
    assert times(of_queue(ad(CronMinute='strcat("3", "0")', DeferralTime=""))) == [1795195800, 1795199400]


@pytest.mark.parametrize("form", ["json", "xml", "new", "jsonl"])
def test_every_form_of_ads_is_read(form: str) -> None:
    """As the long form."""
    text = at_now_format(form)
    result = at_now("next", "--ads", "-", "-n", "2", "--format", "epoch", stdin=text)
    assert result.out == at_now("next", "--ads", QUEUE, "-n", "2", "--format", "epoch").out
    assert result.out


def at_now_format(form: str) -> str:
    """Return the example queue in another form."""
    return process("classad", "convert", QUEUE, "--to", form).stdout.decode()


def test_a_bad_line_is_reported_and_the_others_are_shown() -> None:
    """With its line; status 1."""
    result = queue(ad(), "ClusterId 13\n" + ad(ClusterId="14"))
    assert result.status == 1
    assert "<stdin>:15" in result.err
    assert "job 12.0" in result.out
    assert "job 14.0" in result.out
    needed = queue(ad(DeferralWindow="1 +"), ad(ClusterId="13"))
    assert needed.status == 1
    assert "job 12.0, DeferralWindow" in needed.err
    assert "job 13.0" in needed.out


def test_hostile_ads_end() -> None:
    """Huge numbers, deep nesting, garbage, nothing: an answer, no traceback, not much text."""
    for text in (
        ad(DeferralTime="99999999999999999999", CronMinute=""),
        ad(DeferralTime="9223372036854775807"),
        ad(DeferralWindow="(" * 100_000 + "1" + ")" * 100_000),
        ad(CronMinute='"\x1b[31m"'),
        "\x00\x01garbage\n" * 5000,
        "[" * 100_000,
        "<" * 1000,
        "{" * 100_000,
    ):
        result = at_now("next", "--ads", "-", stdin=text)
        assert result.status == 1
        assert len(result.err) < 30_000
        assert not {"\x1b", "\x00"} & set(result.err + result.out)
        assert "Traceback" not in result.err


def test_an_empty_file_is_a_finding() -> None:
    """There is nothing to show, and the answer says so."""
    result = at_now("next", "--ads", "-", stdin="")
    assert (result.status, result.out) == (1, "")
    assert "note: there is no ad in <stdin> [no-ads]" in result.err


def test_one_way_of_naming_jobs() -> None:
    """Wrong usage, and so is a file that is not there."""
    assert at_now("next", "--ads", QUEUE, "--minute", "5").status == 2
    assert at_now("next", "--ads", QUEUE + ".gone").status == 2


def test_a_closed_pipe_ends_quietly() -> None:
    """As for other input."""
    with subprocess.Popen(
        [*PROGRAM, "next", "--ads", QUEUE, "-n", "5000", "--now", NOW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert "Traceback" not in child.stderr.read().decode()
        assert child.wait(SLOWEST) == 0
    assert sys.executable == PROGRAM[0]


def test_the_manuals_example_is_evaluated_at_submission(write: Write) -> None:
    """QDate is now, and the table says that this is assumed."""
    result = at_now("next", "--spec", write("deferral_time = (QDate + 60)", "queue"))
    assert (result.status, result.err) == (0, "")
    assert "  schedule   once, deferral_time = (QDate + 60)" in result.lines
    assert "  submitted  Fri 2026-11-20 18:27:05 +0100 assumed (QDate)" in result.lines
    assert "   1  Fri 2026-11-20 18:28:05 +0100  in 1 min  18:18:05     18:28:05" in result.lines


def test_json_says_what_was_assumed(write: Write) -> None:
    """The text stays, the run has the value; a plain file assumes nothing."""
    job = at_now("next", "--spec", write("deferral_time = (QDate + 60)", "queue"), "--format", "json").jobs[0]
    assert (job["submitted"], job["deferral_time"]) == (NOW_EPOCH, "(QDate + 60)")
    assert job["runs"][0]["manual"]["time"] == NOW_EPOCH + 60
    plain = at_now("next", "--minute", "5", "--format", "json").jobs[0]
    assert plain["submitted"] is None


def test_from_is_no_time_of_submission(write: Write) -> None:
    """Submission is now, wherever the table begins."""
    path = write("deferral_time = QDate + 7200", "queue")
    result = at_now("next", "--spec", path, "--from", "in 1 hour", "--format", "epoch")
    assert result.out == f"{NOW_EPOCH + 7200}\n"


def test_attributes_of_the_file_are_seen(write: Write) -> None:
    """Also those that other attributes name, whatever the order, and the defaults of a fresh job."""
    lines = ["+Delay = Steps * 60", "MY.Steps = 2 + JobPrio", "+Other = $$(Nothing)", "deferral_time = QDate + Delay"]
    path = write(*lines, "queue")
    result = at_now("next", "--spec", path, "--format", "epoch")
    assert (result.status, result.out) == (0, f"{NOW_EPOCH + 120}\n")


def test_window_and_prep_time_are_evaluated(write: Write) -> None:
    """Both are shown with what they come to, and the moments follow."""
    lines = [
        "cron_minute = 0",
        "cron_window = 10 * 60",
        "cron_prep_time = ifThenElse(JobStatus == 1, 120, 60)",
        "on_exit_remove = false",
        "queue",
    ]
    result = at_now("next", "--spec", write(*lines), "-n", "1")
    assert "window 10 * 60 = 600 s, prep time ifThenElse(JobStatus == 1, 120, 60) = 120 s" in result.out
    assert result.lines[-1].split()[-2:] == ["18:53", "19:10"]


def test_a_window_may_depend_on_the_run(write: Write) -> None:
    """The schedd sets DeferralTime before each run, and the window sees that one."""
    lines = ["cron_minute = 0", 'cron_window = int(formatTime(DeferralTime, "%H")) * 60', "queue"]
    runs = at_now("next", "--spec", write(*lines), "-n", "2", "--format", "json").jobs[0]["runs"]
    assert [run["manual"]["last_start"] - run["manual"]["time"] for run in runs] == [19 * 60, 20 * 60]


def test_a_cron_attribute_is_evaluated_to_a_string(write: Write) -> None:
    """The schedd looks an attribute up as a string."""
    path = write('+CronMinute = strcat("*/", "5")', "+DeferralWindow = 0", "+DeferralPrepTime = 300", "queue")
    result = at_now("next", "--spec", path, "-n", "1")
    assert (result.status, result.err) == (0, "")
    assert "  canonical  */5 * * * *" in result.lines


def test_a_cron_attribute_that_is_no_string_is_every_value_to_the_schedd(write: Write) -> None:
    """The manual's reading takes the integer; the rows show the difference."""
    lines = ["+CronMinute = 2 + 3", "+DeferralWindow = 0", "+DeferralPrepTime = 300", "queue"]
    result = at_now("next", "--spec", write(*lines), "-n", "2")
    assert "  canonical  5 * * * *" in result.lines
    assert "the schedd reads an attribute that is not a string as `*`" in result.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc", "is undefined"),
        ("-(5)", "is -5"),
        ("0 * 2", "DeferralTime 0 is not a time"),
        ('strcat("1", "2")', "is '12'"),
        ("1 / 0", "is error"),
        ("QDate * 10000000", "after the year 9999"),
        ("9223372036854775807 + 1", "is -9223372036854775808"),
    ],
)
def test_a_time_that_the_starter_refuses_is_pointed_at(text: str, said: str, write: Write) -> None:
    """The job would never run: status 1, the place, and why."""
    result = at_now("next", "--spec", write(f"deferral_time = {text}", "queue"))
    assert result.status == 1
    assert "job.sub:1:17: error: " in result.err
    assert said in result.err
    assert f" | deferral_time = {text}\n     | {' ' * 16}{'^' * len(text)}\n" in result.err
    assert "The real schedd does not run" not in result.out


def test_a_real_time_runs(write: Write) -> None:
    """It is cut to whole seconds."""
    result = at_now("next", "--spec", write("deferral_time = QDate + 60.75", "queue"), "--format", "epoch")
    assert (result.status, result.out) == (0, f"{NOW_EPOCH + 60}\n")


def test_what_only_a_machine_has_is_warned_of(write: Write) -> None:
    """With a fallback there is a value, and still a warning."""
    text = "QDate + (TARGET.Delay ?: 60) + (Memory ?: 0)"
    result = at_now("next", "--spec", write(f"deferral_time = {text}", "queue"))
    assert result.status == 0
    assert "job.sub:1:17: warning: " in result.err
    assert "asks for Memory, TARGET.Delay, which the job's own ad does not have" in result.err
    assert "[CRN313]" in result.err


@pytest.mark.parametrize("text", ["time() + 600", "CurrentTime + 600", "QDate + 600 + random(10)"])
def test_a_time_that_moves_is_warned_of(text: str, write: Write) -> None:
    """Also where another attribute asks the clock."""
    for lines in ([f"deferral_time = {text}"], [f"+Then = {text}", "deferral_time = Then + 0"]):
        result = at_now("next", "--spec", write(*lines, "queue"))
        assert result.status == 0
        assert "[CRN314]" in result.err
    assert "[CRN314]" not in at_now("next", "--spec", write("deferral_time = QDate + 600", "queue")).err


def test_jobs_that_differ_by_number_are_said(write: Write) -> None:
    """What is shown is the first one's."""
    result = at_now(
        "next", "--spec", write("deferral_time = QDate + 60 * (ProcId + 1)", "queue 3"), "--format", "epoch"
    )
    assert result.out == f"{NOW_EPOCH + 60}\n"
    assert "that of the first of 3 jobs [CRN315]" in result.err


def test_what_condor_submit_cannot_parse_is_an_error(write: Write) -> None:
    """All faults at once, each with its place."""
    result = at_now("next", "--spec", write("deferral_time = QDate +", "+DeferralWindow = 1K + ", "queue"))
    assert result.status == 1
    assert result.err.count("[CRN312]") == 2
    assert "job.sub:1:24: error" in result.err


def test_hostile_expressions_end(write: Write) -> None:
    """Nested deep, circular, of control characters: an error, no traceback, no escape sequence."""
    for text in ("(" * 100_000 + "QDate" + ")" * 100_000, "-" * 100_000 + "QDate", "{" * 50_000 + "}" * 50_000):
        result = at_now("next", "--spec", write(f"deferral_time = {text}", "queue"))
        assert result.status == 1
        assert len(result.err) < 5000
    circle = at_now("next", "--spec", write("+A = B", "+B = A", "deferral_time = A + 0", "queue"))
    assert circle.status == 1
    odd = at_now("next", "--spec", write('deferral_time = strcat("\x1b[31m", "\u202e")', "queue"))
    assert odd.status == 1
    assert not {"\x1b", "\u202e"} & set(odd.err + odd.out)


def test_explain_agenda_and_diff_evaluate_alike(write: Write) -> None:
    """Through the same door."""
    path = write("deferral_time = QDate + 3600", "queue")
    explained = at_now("explain", "--spec", path)
    assert "once, deferral_time = QDate + 3600, at Fri 2026-11-20 19:27:05 +0100, in 1 h" in explained.out
    assert "1 job, 1 start" in at_now("agenda", path).out
    other = write("deferral_time = QDate + 3540 + 60", "queue", name="other.sub")
    assert "first common  Fri 2026-11-20 19:27:05 +0100" in at_now("diff", path, other).out
    refused = at_now("explain", "--spec", write("deferral_time = abc", "queue"))
    assert refused.status == 1
    assert "is undefined" in refused.err
    moved = at_now("next --previous", "--spec", write('+CronMinute = strcat("1", "5")', "queue"), "--format", "epoch")
    assert moved.out == f"{NOW_EPOCH - 12 * 60 - 5}\n"


QDATE = str(ROOT / "examples" / "qdate.sub")


def test_the_example_runs_a_minute_and_more_after_submission() -> None:
    """As the manual's own example."""
    result = crondor("next", "--spec", QDATE, "--now", str(NOW_EPOCH), "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert result.jobs[0]["runs"][0]["manual"]["time"] > NOW_EPOCH
