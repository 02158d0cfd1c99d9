"""`crondor next --ads`: when the jobs of a queue run, from what condor_q prints."""

import subprocess
import sys

import pytest

from tests.cli.running import NOW, NOW_EPOCH, PROGRAM, ROOT, SLOWEST, Result, at_now, environment, process

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
