"""Writing a queue: transactions, numbers, compaction, the lock, and a disk that refuses."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crondor.classad import ClassAd, Expression
from crondor.diagnostics import Severity
from crondor.job_queue import (
    DamagedLog,
    History,
    InvalidChange,
    JobId,
    JobQueue,
    JobQueueError,
    Mirror,
    QueueIO,
    QueueLocked,
    Record,
    Transaction,
    read_history,
    read_log,
)
from crondor.job_queue.history import Disk, Left
from crondor.job_queue.mirror import RecordOutcome
from tests.job_queue.schedd_reader import schedd_recovers

NOW = 1_800_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "job_queue.log"


def _submit(queue: JobQueue, procs: int = 1) -> list[JobId]:
    with queue.transaction() as change:
        cluster = change.new_cluster()
        change.set(f"0{cluster}.-1", "Owner", "alice")
        return [change.new_proc(cluster) for _ in range(procs)]


def test_the_lines_are_the_schedds(path: Path) -> None:
    """A new log, a transaction with a comment, and nothing for one without changes."""
    with JobQueue(path, now=NOW) as queue:
        with queue.transaction():
            pass
        with queue.transaction(comment="why not") as change:
            change.create("0.0")
            change.set("0.0", "Rate", 0.5)
            change.set("0.0", "Path", 'C:\\a "b"')
            change.set("0.0", "Next", Expression("Rate*2"))
            change.delete("0.0", "Rate")
    assert path.read_text(encoding="utf-8") == (
        "107 1 CreationTimestamp 1800000000\n105 \n101 0.0 Job Machine\n103 0.0 Rate 0.5\n"
        '103 0.0 Path "C:\\a \\"b\\""\n103 0.0 Next Rate * 2\n104 0.0 Rate\n106 #why not\n'
    )
    assert read_log(path).mirror.ad("0.0").value("Path") == 'C:\\a "b"'


def test_an_exception_leaves_the_queue_as_it_was(path: Path) -> None:
    """On the disk and in memory."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        before, ads = path.read_bytes(), {key: dict(texts) for key, texts in queue.mirror.ads.items()}
        with pytest.raises(RuntimeError, match="enough"):
            _change_and_fail(queue, job)
        assert (path.read_bytes(), dict(queue.mirror.ads)) == (before, ads)
        with queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        assert queue.mirror.text(job, "JobStatus") == "2"


def _change_and_fail(queue: JobQueue, job: JobId) -> None:
    with queue.transaction() as change:
        change.set(job, "JobStatus", 1)
        change.remove(job)
        raise RuntimeError("enough")


def test_a_transaction_sees_its_own_changes(path: Path) -> None:
    """Others see them when it has ended."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        with queue.transaction() as change:
            change.set(job, "Owner", "bob")
            assert (change.text(job, "OWNER"), queue.mirror.text(job, "Owner")) == ('"bob"', '"alice"')
            change.destroy(job)
            assert job not in change
            assert job in queue.mirror
        assert job not in queue.mirror


def test_deleting_what_the_cluster_has_hides_it(path: Path) -> None:
    """For every reader alike: the log says undefined and not only that it was deleted."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        with queue.transaction() as change:
            change.delete(job, "owner")
            change.delete(job, "NoSuch")
        assert queue.mirror.text(job, "Owner") == "undefined"
    assert [read_log(path, live=live).mirror.text(job, "Owner") for live in (True, False)] == ["undefined"] * 2


def test_numbers_are_not_used_twice(path: Path) -> None:
    """Neither a cluster's nor a job's, after removal and after opening again."""
    with JobQueue(path, now=NOW) as queue:
        first, second = _submit(queue, 2)
        with queue.transaction() as change:
            change.remove(second)
        with queue.transaction() as change:
            assert change.new_proc(1) == JobId(1, 2)
            change.remove(JobId(1, 2))
            change.remove(first)
            assert "01.-1" not in change
        assert list(queue.mirror.keys()) == ["0.0"]
    with JobQueue(path, now=NOW) as queue:
        assert _submit(queue) == [JobId(2, 0)]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda change: change.set("7.0", "A", 1),
        lambda change: change.create("1.0"),
        lambda change: change.create("a b"),
        lambda change: change.create("abc"),
        lambda change: change.create("2147483648.0"),
        lambda change: change.create("5.0", 'J"b'),
        lambda change: change.set_text("1.0", "A", "(1 +"),
        lambda change: change.set_text("1.0", "A", ""),
        lambda change: change.set_text("1.0", "A", "1\n106 "),
        lambda change: change.set("1.0", "A", "line\nline"),
        lambda change: change.set("1.0", "A", "\0"),
        lambda change: change.set_text("1.0", "A", '"\ud800"'),
        lambda change: change.set("1.0", "A B", 1),
        lambda change: change.set("1.0", "", 1),
        lambda change: change.set("1.0", "A", object()),
        lambda change: change.destroy("7.0"),
        lambda change: change.delete("7.0", "A"),
        lambda change: change.new_proc(7),
        lambda change: change.text("7.0", "A"),
    ],
)
def test_a_wrong_change_is_refused_at_once(path: Path, wrong: Callable[[Transaction], object]) -> None:
    """The ones before it count, if the caller goes on."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        with queue.transaction() as change:
            change.set(job, "Good", 1)
            with pytest.raises(InvalidChange):
                wrong(change)
        assert queue.mirror.text(job, "Good") == "1"
    assert read_log(path).diagnostics == ()


def test_a_comment_stays_on_its_line(path: Path) -> None:
    """It could end the transaction and begin another one."""
    with JobQueue(path, now=NOW) as queue:
        before = path.read_bytes()
        with pytest.raises(JobQueueError), queue.transaction(comment="a\n102 1.0") as change:
            change.new_cluster()
        assert path.read_bytes() == before


def test_compaction_keeps_everything_but_the_past(path: Path) -> None:
    """Spellings, types taken away, jobs; the log of before stays, the one before that goes."""
    with JobQueue(path, now=NOW, rotations=1) as queue:
        (job,) = _submit(queue)
        with queue.transaction() as change:
            change.create("0.7", "Owner")
            change.delete("0.7", "MyType")
            change.delete("0.0", "TargetType")
            change.set("0.0", "MyAttribute", 1)
            change.set("0.7", "MYATTRIBUTE", 2)
        before = {key: dict(texts) for key, texts in queue.mirror.ads.items()}
        old = path.read_bytes()
        queue.compact()
        assert path.with_name("job_queue.log.1").read_bytes() == old
        queue.compact()
        assert queue.mirror.sequence == 3
    assert sorted(found.name for found in path.parent.iterdir()) == [
        "job_queue.log",
        "job_queue.log.2",
        "job_queue.log.lock",
    ]
    reading = read_log(path)
    assert (dict(reading.mirror.ads), reading.had_transactions) == (before, False)
    assert [reading.mirror.spelling(key, "myattribute") for key in ("0.0", "0.7")] == ["MyAttribute", "MYATTRIBUTE"]
    assert schedd_recovers(path.read_bytes()) == (before, True)
    assert job in reading.mirror


def test_the_clock_may_jump(path: Path) -> None:
    """The time of creation is kept, the sequence number grows, whatever the clock says."""
    for number, now in enumerate((NOW, 5, -7, 2**40), start=1):
        with JobQueue(path, now=now) as queue:
            assert (queue.mirror.created, queue.mirror.sequence) == (NOW, number)
            _submit(queue)


def test_one_writer_at_a_time(path: Path) -> None:
    """A follower may read meanwhile, and the next writer comes when the first has closed."""
    with JobQueue(path, now=NOW), pytest.raises(QueueLocked, match="another process writes"):
        JobQueue(path, now=NOW)
    JobQueue(path, now=NOW).close()


def test_a_writer_may_wait_for_the_other_one(path: Path) -> None:
    """As long as whoever opens the queue says: it has the clock."""
    first = JobQueue(path, now=NOW)
    tries: list[int] = []

    def until_closed() -> bool:
        tries.append(len(tries))
        if len(tries) == 3:
            first.close()
        return True

    with JobQueue(path, now=NOW, wait=until_closed) as second:
        assert len(tries) == 3
        with pytest.raises(QueueLocked), suppress(KeyboardInterrupt):
            JobQueue(path, now=NOW, wait=lambda: False)
        assert not list(second.mirror)


def test_a_log_the_schedd_would_not_start_with_is_left_alone(path: Path) -> None:
    """All faults are said, and the lock is free again."""
    data = "107 1 CreationTimestamp 5\n105 \n103 0.0 A (\nnonsense\n106 \n"
    path.write_text(data, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(DamagedLog) as caught:
            JobQueue(path, now=NOW)
        assert [found.span.line for found in caught.value.diagnostics if found.span] == [3, 4]
    assert path.read_text(encoding="utf-8") == data


class _Failing(Disk):
    """A disk that refuses one kind of thing once it is told to."""

    def __init__(self) -> None:
        self.refuse: set[str] = set()
        self.room = 0

    def _check(self, what: str, code: int = errno.EIO) -> None:
        if what in self.refuse:
            raise OSError(code, os.strerror(code))

    def write(self, descriptor: int, data: bytes) -> int:
        if "write" in self.refuse and self.room:
            written = super().write(descriptor, data[: self.room])
            self.room = 0
            return written
        self._check("write", errno.ENOSPC)
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._check("sync")
        super().sync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        self._check("truncate")
        super().truncate(descriptor, size)

    def rename(self, old: Path, new: Path) -> None:
        self._check("rename")
        super().rename(old, new)

    def link(self, old: Path, new: Path) -> None:
        self._check("link")
        super().link(old, new)

    def sync_folder(self, path: Path) -> None:
        self._check("sync_folder")
        super().sync_folder(path)


def test_a_full_disk_refuses_a_transaction_and_the_queue_goes_on(path: Path) -> None:
    """Half of it was written and is taken back; when there is room again the next one succeeds."""
    disk = _Failing()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        (job,) = _submit(queue)
        before = path.read_bytes()
        disk.refuse, disk.room = {"write"}, 9
        with pytest.raises(QueueIO, match="No space left"), queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        assert (path.read_bytes(), queue.mirror.text(job, "JobStatus")) == (before, None)
        disk.refuse = set()
        with queue.transaction() as change:
            change.set(job, "JobStatus", 3)
    assert read_log(path).mirror.text(job, "JobStatus") == "3"


@pytest.mark.parametrize("refused", [{"sync"}, {"write", "truncate"}], ids=["sync", "write and taking back"])
def test_a_failing_disk_ends_the_writing(path: Path, refused: set[str]) -> None:
    """Nobody knows any more how the file ends; opened again, the queue is as it was committed."""
    disk = _Failing()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        (job,) = _submit(queue)
        disk.refuse, disk.room = refused, 9
        with pytest.raises(QueueIO), queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        disk.refuse = set()
        with pytest.raises(JobQueueError, match="and reopen"), queue.transaction() as change:
            change.set(job, "JobStatus", 3)
    with JobQueue(path, now=NOW) as queue:
        assert queue.mirror.text(job, "JobStatus") is None
        assert job in queue.mirror


_SAID = {
    Left.NOTHING: "cannot be written; the log is unchanged",
    Left.PART: "the part written cannot be removed, but does not count",
    Left.UNKNOWN: "may or may not be in the log",
}


def _start(queue: JobQueue, job: JobId, history: History | None) -> None:
    """Let a job run, or leave the queue."""
    with queue.transaction() as change:
        change.set(job, "JobStatus", 2)
        if history is not None:
            change.move_to_history(job, history, NOW)


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ({"write"}, Left.NOTHING),
        ({"sync"}, Left.UNKNOWN),
        ({"write", "truncate"}, Left.PART),
        ({"write", "sync"}, Left.PART),
        ({"sync", "truncate"}, Left.UNKNOWN),
    ],
    ids=lambda value: "+".join(sorted(value)) if isinstance(value, set) else "",
)
@pytest.mark.parametrize("leaves", [False, True])
def test_what_is_said_of_a_transaction_that_failed_is_true(
    path: Path, refused: set[str], left: Left, leaves: bool
) -> None:
    """Nothing of it is there only where taking it back has not failed, too; a job is in the queue or in the history."""
    disk = _Failing()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        history = History(path.with_name("history"))
        (job,) = _submit(queue)
        before = path.read_bytes()
        disk.refuse, disk.room = refused, 9
        with pytest.raises(QueueIO, match=_SAID[left]) as caught:
            _start(queue, job, history if leaves else None)
        said = str(caught.value)
        if left is Left.NOTHING:
            assert path.read_bytes() == before
        else:
            assert "and reopen" in said
            assert "the log is unchanged" not in said
        if path.read_bytes() != before:
            assert left is not Left.NOTHING
        is_left = "\n106" in path.read_text(encoding="utf-8").removeprefix(before.decode())
        assert not is_left or left is Left.UNKNOWN
        assert ("already in the history" in said) == (leaves and left is Left.UNKNOWN)
        assert (len(list(read_history(path.with_name("history")))) == 1) == (leaves and left is Left.UNKNOWN)
        disk.refuse = set()
        history.close()
    with JobQueue(path, now=NOW) as queue:
        assert (job in queue.mirror) != (leaves and is_left)
        if job in queue.mirror:
            assert queue.mirror.text(job, "JobStatus") == ("2" if is_left else None)


def test_a_history_whose_end_is_not_known_gets_no_more(tmp_path: Path) -> None:
    """Half a record would stand in the middle of it."""
    disk = _Failing()
    history = History(tmp_path / "history", disk)
    ad = ClassAd({"ClusterId": 1, "ProcId": 0, "Owner": "alice", "CompletionDate": NOW})
    history.append([ad], NOW)
    disk.refuse, disk.room = {"write", "truncate"}, 9
    with pytest.raises(QueueIO, match="the part written cannot be removed"):
        history.append([ad], NOW)
    disk.refuse = set()
    with pytest.raises(QueueIO, match="and reopen"):
        history.append([ad], NOW)
    history.close()
    history = History(tmp_path / "history")
    history.append([ad], NOW)
    history.close()
    assert len(list(read_history(tmp_path / "history"))) == 2


def test_a_compaction_that_was_done_though_it_was_refused(path: Path) -> None:
    """As over a network, where the answer may be lost: what came next would be in a file without a name."""

    class Late(Disk):
        def rename(self, old: Path, new: Path) -> None:
            super().rename(old, new)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with JobQueue(path, now=NOW, disk=Late()) as queue:
        (job,) = _submit(queue)
        with pytest.raises(QueueIO, match="may or may not be compacted"):
            queue.compact()
        with pytest.raises(JobQueueError, match="and reopen"), queue.transaction() as change:
            change.set(job, "JobStatus", 2)
    assert job in read_log(path).mirror


@pytest.mark.parametrize("refused", ["write", "sync", "link", "rename"])
def test_a_compaction_that_fails_leaves_the_log(path: Path, refused: str) -> None:
    """No half of a file stays behind, and the log of before goes on."""
    disk = _Failing()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        (job,) = _submit(queue)
        disk.refuse = {refused}
        with pytest.raises(QueueIO, match="cannot be compacted"):
            queue.compact()
        disk.refuse = set()
        assert not path.with_name("job_queue.log.tmp").exists()
        with queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        queue.compact()
    assert read_log(path).mirror.text(job, "JobStatus") == "2"


def test_a_compaction_that_may_not_last_ends_the_writing(path: Path) -> None:
    """After a crash the old log might be back: what would be written now would be lost with the new one."""
    disk = _Failing()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        _submit(queue)
        disk.refuse = {"sync_folder"}
        with pytest.raises(QueueIO, match="after a crash"):
            queue.compact()
        disk.refuse = set()
        with pytest.raises(JobQueueError, match="and reopen"), queue.transaction():
            pass


def test_a_torn_log_that_cannot_be_compacted_is_not_opened(path: Path) -> None:
    """As in the schedd: nothing may be written after a torn record."""
    path.write_text("107 1 CreationTimestamp 5\n101 0.0 Job Mach", encoding="utf-8")
    disk = _Failing()
    disk.refuse = {"rename"}
    with pytest.raises(QueueIO):
        JobQueue(path, now=NOW, disk=disk)
    assert path.read_text(encoding="utf-8").endswith("Mach")


def test_a_folder_that_is_not_there(path: Path) -> None:
    """An error for people, which says what and where."""
    with pytest.raises(QueueIO, match="No such file"):
        JobQueue(path / "x", now=NOW)
    with pytest.raises(QueueIO, match="cannot be read"):
        read_log(path)
    with pytest.raises(QueueIO):
        list(read_history(path))


class _Interrupted(_Failing):
    """A disk whose user presses Ctrl-C."""

    def _check(self, what: str, code: int = errno.EIO) -> None:  # noqa: ARG002 - the other one's parameter
        if what in self.refuse:
            self.refuse.discard(what)
            raise KeyboardInterrupt


@pytest.mark.parametrize("what", ["write", "sync"])
def test_an_interrupted_transaction_is_taken_back(path: Path, what: str) -> None:
    """Half of it would else become part of the next one; whoever catches the interruption may go on, or opens anew."""
    disk = _Interrupted()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        (job,) = _submit(queue)
        before = path.read_bytes()
        disk.refuse, disk.room = {what}, 9
        with pytest.raises(KeyboardInterrupt), queue.transaction() as change:
            change.set(job, "JobStatus", 2)
        assert (path.read_bytes(), queue.mirror.text(job, "JobStatus")) == (before, None)


def test_an_interruption_behind_the_commit_ends_the_writing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change is made on the disk and not in memory: nothing may be built upon that memory."""

    def interrupted(_mirror: Mirror, _record: Record) -> RecordOutcome:
        raise KeyboardInterrupt

    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        with monkeypatch.context() as patch:
            patch.setattr(Mirror, "apply", interrupted)
            with pytest.raises(KeyboardInterrupt), queue.transaction() as change:
                change.set(job, "JobStatus", 2)
        with pytest.raises(JobQueueError, match="and reopen"), queue.transaction():
            pass
    with JobQueue(path, now=NOW) as queue:
        assert queue.mirror.text(job, "JobStatus") == "2"


def test_a_file_system_without_second_names(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of before is copied, as by HTCondor (``hardlink_or_copy_file``)."""

    def refused(_old: Path, _new: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    with JobQueue(path, now=NOW) as queue:
        _submit(queue)
        old = path.read_bytes()
        queue.compact()
    assert path.with_name("job_queue.log.1").read_bytes() == old


def test_a_sound_log_is_opened_though_it_cannot_be_compacted(path: Path) -> None:
    """As by the schedd: the log goes on as it is, and that is said."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
    disk = _Failing()
    disk.refuse = {"link"}
    with JobQueue(path, now=NOW, disk=disk) as queue:
        assert [(found.kind, found.severity) for found in queue.diagnostics] == [("queue-io", Severity.WARNING)]
        with queue.transaction() as change:
            change.set(job, "JobStatus", 2)
    reading = read_log(path)
    assert (reading.mirror.sequence, reading.mirror.text(job, "JobStatus")) == (1, "2")


def test_the_counter_is_never_behind_the_jobs(path: Path) -> None:
    """The schedd would not start (JOB QUEUE DAMAGED): a log where it is gets it right when it is opened."""
    with JobQueue(path, now=NOW) as queue:
        _submit(queue)
        with queue.transaction() as change:
            change.create("07.-1")
            change.create("7.0")
        assert queue.mirror.text("0.0", "NextClusterNum") == "8"
    path.write_text(path.read_text(encoding="utf-8").replace("NextClusterNum 8", "NextClusterNum 2"), encoding="utf-8")
    assert [found.kind for found in read_log(path).diagnostics] == ["queue-log-next-cluster"]
    with JobQueue(path, now=NOW) as queue:
        assert [found.kind for found in queue.diagnostics] == ["queue-log-next-cluster"]
        assert _submit(queue) == [JobId(8, 0)]
    assert read_log(path).diagnostics == ()


class _ReadOnly(Disk):
    def open(self, path: Path, flags: int) -> int:
        """Refuse to write, as a file system that is mounted so."""
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return super().open(path, flags)


def test_a_read_only_disk(path: Path) -> None:
    """Reading goes on, writing says why not."""
    JobQueue(path, now=NOW).close()
    with pytest.raises(QueueIO, match="Read-only"):
        JobQueue(path, now=NOW, disk=_ReadOnly())
    assert read_log(path).records == 1


def test_a_job_moves_to_the_history(path: Path, tmp_path: Path) -> None:
    """With its cluster's attributes; a transaction that fails takes it back, unless the log may have the removal."""
    disk = _Failing()
    history = History(tmp_path / "history")
    with JobQueue(path, now=NOW, disk=disk) as queue:
        first, second = _submit(queue, 2)
        with queue.transaction() as change:
            change.set(first, "JobStatus", 4)
            change.move_to_history(first, history, NOW)
        disk.refuse = {"write"}
        with pytest.raises(QueueIO), queue.transaction() as change:
            change.move_to_history(second, history, NOW)
        assert list(queue.mirror) == [second]
        (ad,) = read_history(tmp_path / "history")
        disk.refuse = {"sync"}
        with pytest.raises(QueueIO), queue.transaction() as change:
            change.move_to_history(second, history, NOW)
        assert list(queue.mirror) == [second]
        assert len(list(read_history(tmp_path / "history"))) == 2
    history.close()
    assert (ad.value("Owner"), ad.value("JobStatus"), ad.value("ProcId")) == ("alice", 4, 0)


def test_a_history_refuses_another_file(tmp_path: Path) -> None:
    """Half a record is taken back; what is no record is somebody's."""
    for text, kept in (("A = 1\nB = ", ""), ("A = 1\n*** Offset = 0 X\nB = 2\nC", "A = 1\n*** Offset = 0 X\n")):
        path = tmp_path / "history"
        path.write_text(text)
        History(path).close()
        assert path.read_text() == kept
    path.write_text("dear diary\n")
    with pytest.raises(JobQueueError, match="like a history file"):
        History(path)
    assert path.read_text() == "dear diary\n"


def test_a_closed_queue_and_a_transaction_in_a_transaction(path: Path) -> None:
    """Both are said and change nothing."""
    with JobQueue(path, now=NOW) as queue, queue.transaction() as change:
        with pytest.raises(JobQueueError, match="is open"), queue.transaction():
            pass
        with pytest.raises(JobQueueError, match="is open"):
            queue.compact()
        change.new_cluster()
    with pytest.raises(JobQueueError, match="closed"), queue.transaction():
        pass
    assert "01.-1" in read_log(path).mirror


def test_a_name_of_the_last_transaction_keeps_its_spelling(path: Path, tmp_path: Path) -> None:
    """In the history too, where no ad of the queue has had it before."""
    with JobQueue(path, now=NOW) as queue:
        (job,) = _submit(queue)
        with queue.transaction() as change:
            change.set(job, "RemoveReason", "bye")
            change.move_to_history(job, History(tmp_path / "history"), NOW)
    assert 'RemoveReason = "bye"' in (tmp_path / "history").read_text().splitlines()


def test_the_last_job_takes_its_cluster_along(path: Path) -> None:
    """Whichever of them were there before, and which were made and removed in the same transaction."""
    with JobQueue(path, now=NOW) as queue:
        one, two = _submit(queue, 2)
        with queue.transaction() as change:
            change.remove(one)
            three = change.new_proc(one.cluster)
            change.remove(two)
            assert f"0{one.cluster}.-1" in change
        assert list(queue.mirror) == [three]
        with queue.transaction() as change:
            four = change.new_proc(one.cluster)
            change.remove(four)
            assert f"0{one.cluster}.-1" in change
            change.remove(three)
            assert f"0{one.cluster}.-1" not in change
        assert not list(queue.mirror)


class _Syncs(Disk):
    """A disk that counts how often it is waited for, and may refuse."""

    def __init__(self) -> None:
        self.count = 0
        self.refuses = False

    def sync(self, descriptor: int) -> None:
        self.count += 1
        if self.refuses:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(descriptor)


def test_transactions_together_wait_for_the_disk_once(path: Path) -> None:
    """Each is in the log as soon as it ends; the wait comes with the end of the block, an error in it or not."""
    disk = _Syncs()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        before = disk.count
        with queue.together(), queue.together():
            jobs = [job for _ in range(5) for job in _submit(queue)]
            assert str(jobs[-1]) in path.read_text(encoding="utf-8")
            assert disk.count == before
        assert disk.count == before + 1
        with suppress(ZeroDivisionError), queue.together():
            _submit(queue)
            raise ZeroDivisionError
        assert disk.count == before + 2
        with queue.together():
            pass
        assert disk.count == before + 2
    with JobQueue(path, now=NOW) as queue:
        assert all(job in queue.mirror for job in jobs)


def test_a_disk_that_fails_at_the_end_of_a_block_ends_the_queue(path: Path) -> None:
    """Nobody knows what is on it; what others read is still whole."""
    disk = _Syncs()
    with JobQueue(path, now=NOW, disk=disk) as queue:
        disk.refuses = True
        with pytest.raises(QueueIO), queue.together():
            _submit(queue)
        with pytest.raises(JobQueueError, match="is unknown"):
            _submit(queue)
        disk.refuses = False
    with JobQueue(path, now=NOW) as queue:
        assert len(queue.mirror) > 0
