"""`crondor next` and its kin on times, windows and fields that are ClassAd expressions."""

import pytest

from tests.cli.conftest import Write
from tests.cli.running import NOW_EPOCH, ROOT, at_now, crondor


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
