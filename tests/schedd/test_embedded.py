"""The embedded queue: what it writes, what outlives it, who may have it."""

import runpy
import time
from pathlib import Path

import pytest

from crondor.classad import UNDEFINED, Expression
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId, QueueIO, QueueLocked
from crondor.schedd.embedded import LOG, EmbeddedSchedd
from crondor.schedd.protocol import Acted, Hold, NoSelection, Selection
from crondor.spec import Dialect

NOW = 1_795_195_625


def opened(folder: Path, dialect: Dialect = Dialect.MANUAL) -> EmbeddedSchedd:
    """Open a queue."""
    return EmbeddedSchedd(folder / "queue", clock=lambda: NOW, dialect=dialect)


def test_a_queue_outlives_its_process(tmp_path: Path) -> None:
    """Jobs, times and numbers; the history too."""
    with opened(tmp_path) as schedd:
        schedd.submit([ClassAd({"CronMinute": "0"})] * 3)
        schedd.recalculate()
        schedd.remove(JobId(1, 2), "bye")
        before = [str(ad) for ad in schedd.jobs()]
    with opened(tmp_path) as schedd:
        assert [str(ad) for ad in schedd.jobs()] == before
        assert [ad.python("ProcId") for ad in schedd.history()] == [2]
        assert schedd.next_cluster == 2
        assert schedd.submit([ClassAd()]) == [JobId(2, 0)]


def test_a_queue_has_one_writer(tmp_path: Path) -> None:
    """A second one is told, and a folder that cannot be is no traceback."""
    with opened(tmp_path), pytest.raises(QueueLocked):
        opened(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(QueueIO):
        EmbeddedSchedd(tmp_path / "file" / "queue", clock=lambda: NOW)


def test_what_jobs_agree_in_is_the_clusters(tmp_path: Path) -> None:
    """Written once; each job has what is its own, its state above all."""
    with opened(tmp_path) as schedd:
        one, two = schedd.submit([ClassAd({"Owner": "alice", "Args": str(n)}) for n in range(2)])
        own = schedd.mirror.own(two)
        assert "owner" not in own
        assert (own["args"], own["jobstatus"]) == ('"1"', "1")
        schedd.edit_if(one, "true", {"Owner": "bob"})
        assert [ad.python("Owner") for ad in schedd.jobs()] == ["bob", "alice"]


@pytest.mark.parametrize("total", [1, 7, 4_294_967_297, "x"])
def test_the_queue_itself_numbers_its_jobs(tmp_path: Path, total: object) -> None:
    """A job that comes from another queue brings its TotalSubmitProcs along, which is of its cluster there."""
    with opened(tmp_path) as schedd:
        ad = ClassAd({"Owner": "alice", "TotalSubmitProcs": total, "ClusterId": 7, "ProcId": 3})
        assert schedd.submit([ad]) == [JobId(1, 0)]
        assert schedd.submit([ad, ad]) == [JobId(2, 0), JobId(2, 1)]


def test_a_submission_is_all_or_nothing(tmp_path: Path) -> None:
    """An ad that no log can hold keeps the others out."""
    with opened(tmp_path) as schedd:
        with pytest.raises(CrondorError):
            schedd.submit([ClassAd({"A": "x"}), ClassAd({"Not a name": 1})])
        assert schedd.jobs() == []


@pytest.mark.parametrize("attributes", [{"Managed": "External"}, {"LeaveJobInQueue": Expression("JobStatus == 3")}])
def test_a_job_that_is_to_stay_stays(tmp_path: Path, attributes: dict[str, object]) -> None:
    """Removed, in the queue, until its manager lets it go."""
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd(attributes)])
        assert schedd.remove(job, "bye") == Acted(done=1)
        assert QueuedJob(schedd.jobs(job)[0]).status is JobStatus.REMOVED
        assert schedd.remove(job, "bye") == Acted(already=1)
        assert schedd.hold(job, Hold("x")) == Acted(bad_status=1)
        schedd.edit_if(job, "true", dict.fromkeys(attributes, Expression("undefined")))
        assert schedd.remove(job, "again") == Acted(done=1)
        assert schedd.jobs() == []


def test_an_invalid_schedule_is_held_in_the_words_of_its_reading(tmp_path: Path) -> None:
    """HTCondor's to the letter; the manual's are the package's own."""
    for dialect, words in ((Dialect.HTCONDOR, "Invalid parameter value 'x' for CronMinute"), (Dialect.MANUAL, "x")):
        with opened(tmp_path / dialect.value, dialect) as schedd:
            (job,) = schedd.submit([ClassAd({"CronMinute": "x"})])
            schedd.recalculate()
            (ad,) = schedd.jobs(job)
            assert (ad.python("HoldReasonCode"), ad.python("HoldReasonSubCode")) == (25, 0)
            reason = ad.python("HoldReason")
            assert isinstance(reason, str)
            assert reason.startswith("Invalid cron schedule parameters: ")
            assert words in reason
            assert schedd.recalculate() == []


def test_the_folder_is_the_users_own(tmp_path: Path) -> None:
    """Job ads may hold secrets."""
    with opened(tmp_path):
        assert (tmp_path / "queue" / LOG).exists()
        assert (tmp_path / "queue").stat().st_mode & 0o077 == 0


def test_words_name_jobs() -> None:
    """Numbers, clusters, owners; all wrong words at once."""
    chosen = Selection.parse(["12.0", "7", "alice"], "JobPrio > 0")
    assert (chosen.jobs, chosen.clusters, chosen.owners) == ((JobId(12, 0),), (7,), ("alice",))
    assert chosen.text == ('((ClusterId == 12 && ProcId == 0) || ClusterId == 7 || Owner == "alice") && (JobPrio > 0)')
    assert Selection().text == "true"
    with pytest.raises(NoSelection) as error:
        Selection.parse(["0.1", "12.x", "a b", '"', "12.0.1", "999999999999"])
    assert len(error.value.diagnostics) == 6


def test_finished_jobs_leave_when_they_are_cleared(tmp_path: Path) -> None:
    """Those that somebody manages stay, and those that are to be left in the queue."""
    with opened(tmp_path) as schedd:
        over, managed, kept, idle = (schedd.submit([ClassAd()])[0] for _ in range(4))
        for job in (over, managed, kept):
            schedd.edit_if(job, "true", {"JobStatus": 4})
        schedd.edit_if(managed, "true", {"Managed": "External"})
        schedd.edit_if(kept, "true", {"LeaveJobInQueue": Expression("JobStatus == 4")})
        assert schedd.clear_finished() == [over]
        assert schedd.clear_finished() == []
        assert sorted(schedd.mirror) == [managed, kept, idle]
        assert [ad.python("JobStatus") for ad in schedd.history()] == [4]


def test_changes_begin_anew_for_a_new_reader(tmp_path: Path) -> None:
    """As after a restart of who follows the queue."""
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd()])
        assert [change.job for change in schedd.changes()] == [job]
        assert schedd.changes() == []
        schedd.forget_changes()
        assert [change.job for change in schedd.changes()] == [job]


def test_a_job_is_held_and_released_as_by_a_schedd(tmp_path: Path) -> None:
    """What HTCondor writes at each step: reasons move to the last ones, holds are counted by their kind."""
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd()])
        schedd.hold(job, Hold("why", subcode=7))
        assert written(schedd, job, "NumHolds", "NumHoldsByReason", "LastSuspensionTime") == [1, {"UserRequest": 1}, 0]
        schedd.release(job, "on with it")
        assert written(schedd, job, "LastHoldReason", "LastHoldReasonCode", "LastHoldReasonSubCode") == ["why", 1, 7]
        schedd.hold(job, Hold("no", 1000))
        names = ("ReleaseReason", "LastReleaseReason", "NumHolds", "NumHoldsByReason", "LastJobStatus")
        assert written(schedd, job, *names) == [None, "on with it", 2, {"UserRequest": 1, "Unspecified": 1}, 1]


def test_an_edit_is_followed_by_what_a_schedd_keeps_itself(tmp_path: Path) -> None:
    """As recorded of HTCondor 23.9.6 where its router mirrors a hold; an edit that says it all itself is left alone."""
    names = ("LastJobStatus", "NumHolds", "NumHoldsByReason", "JobStatusOnRelease")
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd()])
        hold = {"HoldReason": "why", "HoldReasonCode": 6, "JobStatus": 5}
        assert schedd.edit_if(job, "true", {"JobStatus": 2})
        assert written(schedd, job, *names) == [1, None, None, None]
        assert schedd.edit_if(job, "true", hold)
        assert written(schedd, job, *names) == [2, 1, {"FailedToCreateProcess": 1}, None]
        assert schedd.edit_if(job, "true", {"HoldReasonCode": 16})
        assert schedd.edit_if(job, "true", {"JobStatus": 5})
        assert written(schedd, job, *names) == [2, 1, {"FailedToCreateProcess": 1}, None]
        assert schedd.edit_if(job, "true", {"jobstatus": 3, "LASTJOBSTATUS": 7})
        assert written(schedd, job, "LastJobStatus") == [7]
        assert schedd.edit_if(job, "true", hold)
        assert written(schedd, job, *names) == [3, 2, {"FailedToCreateProcess": 2}, 3]


def test_a_job_that_comes_on_hold_has_been_held_once(tmp_path: Path) -> None:
    """``hold = true`` in its submit description; one whose input is to be spooled has not."""
    with opened(tmp_path) as schedd:
        held, spooling = schedd.submit([ClassAd({"JobStatus": 5, "HoldReasonCode": code}) for code in (15, 16)])
        assert written(schedd, held, "NumHolds", "NumHoldsByReason") == [1, {"SubmittedOnHold": 1}]
        assert written(schedd, spooling, "NumHolds") == [None]


@pytest.mark.parametrize(("code", "done"), [(1, False), (16, False), (3, True), (20, True), (None, True)])
def test_a_user_holds_a_job_that_was_held_by_others(tmp_path: Path, code: int | None, done: bool) -> None:
    """Its reason becomes his; LastJobStatus stays what it was before the first hold."""
    held = {"JobStatus": 5, "LastJobStatus": 2, "HoldReason": "other"}
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd(held if code is None else {**held, "HoldReasonCode": code})])
        assert schedd.hold(job, Hold("mine")) == (Acted(done=1) if done else Acted(already=1))
        assert written(schedd, job, "HoldReason", "LastJobStatus") == ["mine" if done else "other", 2]
        assert schedd.hold(job, Hold("by policy", 3)) == Acted(already=1)


def test_a_job_that_waits_for_its_input_is_not_released(tmp_path: Path) -> None:
    """HoldReasonCode 16; it is released when its input is there."""
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd({"JobStatus": 5, "HoldReasonCode": 16})])
        assert schedd.release(job, "go") == Acted(bad_status=1)


def test_a_release_gives_the_status_that_the_job_had(tmp_path: Path) -> None:
    """JobStatusOnRelease, which is used once; undefined hides the one of its cluster."""
    with opened(tmp_path) as schedd:
        (job,) = schedd.submit([ClassAd({"JobStatus": 5, "HoldReasonCode": 1, "JobStatusOnRelease": 3})])
        assert schedd.release(job, "go") == Acted(done=1)
        assert written(schedd, job, "JobStatus", "JobStatusOnRelease") == [3, UNDEFINED]


def written(schedd: EmbeddedSchedd, job: JobId, *names: str) -> list[object]:
    """Return attributes of a job as Python values; None for those that are not there."""
    (ad,) = schedd.jobs(job)
    return [ad.python(name) if name in ad else None for name in names]


PROGRAM = Path(__file__).parents[2] / "examples" / "embedded_queue.py"
HOUR = NOW - NOW % 3600 + 3600


def test_the_program_is_short() -> None:
    """Under forty lines, comments and all."""
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) < 40


def test_jobs_start_at_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An hourly job each hour, a job of one time once; what has run for the last time is in the history."""
    hourly, once = tmp_path / "hourly.sub", tmp_path / "once.sub"
    hourly.write_text("executable = /bin/date\ncron_minute = 0\ncron_window = 60\non_exit_remove = false\nqueue\n")
    once.write_text(f"executable = /bin/df\ndeferral_time = {HOUR + 600}\ndeferral_window = 5\nqueue\n")
    clock = [NOW]

    def sleep(seconds: float) -> None:
        clock[0] += int(seconds)
        if clock[0] > HOUR + 3700:
            raise KeyboardInterrupt
        if clock[0] % 600 == 30:  # the night is long
            clock[0] += 560

    monkeypatch.setattr(time, "time", lambda: float(clock[0]))
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr("sys.argv", [str(PROGRAM), str(tmp_path / "queue"), str(hourly), str(once)])
    with pytest.raises(KeyboardInterrupt):
        runpy.run_path(str(PROGRAM), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "1.0 runs /bin/date, 0 s late",
        "2.0 runs /bin/df, 0 s late",
        "1.0 runs /bin/date, 0 s late",
    ]
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: clock[0]) as schedd:
        assert [ad.python("ClusterId") for ad in schedd.history()] == [2]
        (ad,) = schedd.jobs()
        assert (ad.python("ClusterId"), ad.python("DeferralTime")) == (JobId(1, 0).cluster, HOUR + 7200)
