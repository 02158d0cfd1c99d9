"""Following a log: what each poll tells, transactions, compaction, and what happens when the file is not as it was."""

from pathlib import Path

import pytest

from crondor.job_queue import (
    AdChange,
    ChangeKind,
    Follower,
    JobId,
    JobQueue,
    QueueIO,
    by_cron,
    by_owner,
    by_status,
    read_log,
)

HEAD = "107 1 CreationTimestamp 1800000000\n"
SUBMIT = "".join(
    f"{line}\n"
    for line in (
        "105 ",
        "101 01.-1 Job Machine",
        '103 01.-1 Owner "alice"',
        '103 01.-1 CronMinute "*/5"',
        "101 1.0 Job Machine",
        "103 1.0 JobStatus 1",
        "101 1.1 Job Machine",
        "103 1.1 JobStatus 1",
        "106 ",
    )
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with one cluster of two jobs."""
    path = tmp_path / "job_queue.log"
    path.write_text(HEAD + SUBMIT)
    return path


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def test_a_poll_tells_what_is_new(log: Path) -> None:
    """The first poll tells all ads as created, the next only what was added, each transaction by itself."""
    follower = Follower(log)
    first = follower.poll()
    assert first.reloaded
    assert {change.key: change.kind for change in first.changes} == dict.fromkeys(
        ("01.-1", "1.0", "1.1"), ChangeKind.CREATED
    )
    assert follower.poll() == follower.poll()
    assert follower.poll().transactions == ()
    _append(log, "103 1.0 JobStatus 2\n105 \n103 1.1 JobStatus 5\n102 1.0\n106 \n")
    assert follower.poll().transactions == (
        (AdChange("1.0", ChangeKind.CHANGED, frozenset({"jobstatus"})),),
        (AdChange("1.1", ChangeKind.CHANGED, frozenset({"jobstatus"})), AdChange("1.0", ChangeKind.DESTROYED)),
    )
    assert list(follower.mirror) == [JobId(1, 1)]


def test_the_same_text_again_is_no_change(log: Path) -> None:
    """Nor is an attribute that is set and set back within a transaction."""
    follower = Follower(log)
    follower.poll()
    _append(
        log, "103 1.0 JobStatus 1\n105 \n103 1.0 JobStatus 2\n103 1.0 JobStatus 1\n101 9.9 Job Machine\n102 9.9\n106 \n"
    )
    assert follower.poll().transactions == ()


def test_half_a_transaction_is_not_seen(log: Path) -> None:
    """Byte by byte: the jobs change when the line end of 106 is there, and the poll says that it waits until then."""
    follower = Follower(log)
    follower.poll()
    addition = "105 \n103 1.0 JobStatus 2\n103 1.1 JobStatus 2\n106 \n"
    for byte in addition[:-1]:
        _append(log, byte)
        poll = follower.poll()
        assert (poll.transactions, poll.waiting) == ((), True)
        assert follower.mirror.text(JobId(1, 0), "JobStatus") == "1"
    _append(log, addition[-1])
    assert len(follower.poll().changes) == 2
    assert not follower.poll().waiting


def test_compaction_is_no_change(tmp_path: Path) -> None:
    """The log is another file with another number, and holds the same."""
    path = tmp_path / "job_queue.log"
    with JobQueue(path, now=0) as queue:
        with queue.transaction() as change:
            job = change.new_proc(change.new_cluster())
        follower = Follower(path)
        follower.poll()
        with queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        queue.compact()
        poll = follower.poll()
        assert poll.reloaded
        assert poll.changes == (AdChange(str(job), ChangeKind.CHANGED, frozenset({"jobstatus"})),)
        assert (follower.mirror.sequence, follower.poll().reloaded) == (2, False)


@pytest.mark.parametrize(
    "rewritten",
    [
        HEAD + SUBMIT.replace("Status 1", "Status 5"),
        HEAD,
        HEAD + SUBMIT.replace("106 \n", "103 1.0 JobStatus 2\n106 \n103 1.1 JobStatus 7\n"),
        HEAD.replace("107 1", "107 2") + SUBMIT + "103 1.1 JobStatus 4\n",
    ],
    ids=["same size", "shorter", "longer", "another number"],
)
def test_a_log_rewritten_in_place_is_read_anew(log: Path, rewritten: str) -> None:
    """The same file, cut and written again, as no schedd does: the follower holds what is there now."""
    follower = Follower(log)
    follower.poll()
    with log.open("r+", encoding="utf-8") as file:
        file.truncate(0)
        file.write(rewritten)
    assert follower.poll().reloaded
    assert follower.mirror.ads == read_log(log, live=True).mirror.ads


def test_a_log_that_is_away_leaves_the_mirror(log: Path) -> None:
    """As while a schedd is reinstalled; the next poll finds it again."""
    follower = Follower(log)
    follower.poll()
    log.rename(log.with_name("away"))
    with pytest.raises(QueueIO, match="cannot be followed"):
        follower.poll()
    assert len(follower.mirror) == 2
    log.with_name("away").rename(log)
    assert follower.poll().changes == ()


def test_a_bad_record_is_said_once_and_left_out(log: Path) -> None:
    """The rest of its transaction counts: the schedd that wrote it holds those values."""
    follower = Follower(log)
    follower.poll()
    _append(log, "105 \n103 1.0 Bad (1 +\nwhat is this\n103 1.0 JobStatus 2\n106 \n")
    poll = follower.poll()
    assert [(found.kind, found.span.line) for found in poll.diagnostics if found.span] == [
        ("queue-log-record", 12),
        ("queue-log-record", 13),
    ]
    assert follower.mirror.text("1.0", "JobStatus") == "2"
    assert follower.poll().diagnostics == ()


def test_deleting_what_the_cluster_has_hides_it_in_a_running_schedd(log: Path) -> None:
    """One that has recovered shows the cluster's value again: the log says no more than that it was deleted."""
    _append(log, "105 \n104 1.0 CronMinute\n106 \n")
    follower = Follower(log)
    follower.poll()
    assert follower.mirror.text("1.0", "CronMinute") == "undefined"
    assert read_log(log).mirror.text("1.0", "CronMinute") == '"*/5"'


def test_a_job_made_in_the_same_transaction_is_not_chained_yet(log: Path) -> None:
    """So deleting there takes only the job's own: as at every submission (JobPreparingTasks)."""
    _append(log, "105 \n101 1.2 Job Machine\n104 1.2 CronMinute\n106 \n")
    follower = Follower(log)
    follower.poll()
    assert follower.mirror.text("1.2", "CronMinute") == '"*/5"'


def test_indexes_follow(log: Path) -> None:
    """By status, owner and schedule; a cluster's change counts for its jobs, and a compaction moves nothing."""
    follower = Follower(log)
    status, owner, cron = by_status(follower.mirror), by_owner(follower.mirror), by_cron(follower.mirror)
    follower.poll()
    both = {JobId(1, 0), JobId(1, 1)}
    assert (status[1], owner["alice"], cron[True], cron[False]) == (both, both, both, frozenset())
    _append(log, '103 1.0 JobStatus 2\n103 01.-1 Owner "bob"\n103 1.1 CronMinute undefined\n')
    follower.poll()
    assert (status[1], status[2]) == ({JobId(1, 1)}, {JobId(1, 0)})
    assert (owner["alice"], owner["bob"]) == (frozenset(), both)
    assert (cron[True], cron[False]) == ({JobId(1, 0)}, {JobId(1, 1)})
    _append(log, "105 \n102 1.0\n102 1.1\n102 01.-1\n106 \n")
    follower.poll()
    assert [len(index.answers()) for index in (status, owner, cron)] == [0, 0, 0]


def test_every_subscriber_hears_of_all(log: Path) -> None:
    """One that fails neither hides the changes from the others nor stops the reading; its error leaves in the end."""
    follower = Follower(log)
    heard: list[int] = []

    def fail(changes: tuple[AdChange, ...]) -> None:
        raise RuntimeError(f"{len(changes)} are too many")

    follower.mirror.subscribe(fail)
    end = follower.mirror.subscribe(lambda changes: heard.append(len(changes)))
    with pytest.raises(RuntimeError, match="3 are too many"):
        follower.poll()
    _append(log, "103 1.0 A 1\n103 1.0 B 1\n")
    with pytest.raises(RuntimeError, match="1 are too many"):
        follower.poll()
    assert heard == [3, 1, 1]
    assert (follower.poll().changes, follower.mirror.text("1.0", "B")) == ((), "1")
    end()


def test_a_log_that_begins_while_followed(tmp_path: Path) -> None:
    """Empty, then half a first line, then whole."""
    path = tmp_path / "job_queue.log"
    path.touch()
    follower = Follower(path)
    assert follower.poll().changes == ()
    _append(path, HEAD[:9])
    assert follower.poll().waiting
    _append(path, HEAD[9:] + SUBMIT)
    assert len(follower.poll().changes) == 3
    assert follower.mirror.created == 1_800_000_000
