"""Crashes: the process dies at every write and sync of a long run, and the last record is torn at every byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor.job_queue import HEADER, History, JobId, JobQueue, read_history, read_log
from tests.job_queue.schedd_reader import Ads, schedd_recovers
from tests.job_queue.scripted import NOW, Counting, die, run

LOG = "job_queue.log"


def _state(queue: JobQueue) -> Ads:
    return {key: dict(queue.mirror.own(key)) for key in list(queue.mirror.keys())}


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Ads]:
    """What the queue holds after each transaction of the run."""
    found: list[Ads] = [{}]
    run(tmp_path_factory.mktemp("whole"), Counting(), lambda queue: found.append(_state(queue)))
    return found


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of what the dead runs left, one folder each."""
    folder = tmp_path_factory.mktemp("dead")
    places = die(folder)
    assert places > 100
    for way in ("before", "after", "lost"):
        assert len(list(folder.glob(f"{way}-*"))) == places
    assert len(list(folder.glob("half-*"))) > places // 3
    return folder


def _graves(dead: Path) -> Iterator[tuple[Path, int, bool]]:
    """Yield folders of dead runs, how much was acknowledged, and whether bytes were lost; those that are alike once."""
    seen = set()
    for folder in sorted(dead.glob("*-*")):
        files = tuple((path.name, path.read_bytes()) for path in sorted(folder.iterdir()))
        is_lost = folder.name.startswith("lost-")
        if (files, is_lost) not in seen:
            seen.add((files, is_lost))
            yield folder, (folder / "acknowledged").stat().st_size, is_lost


def test_what_was_acknowledged_is_there(dead: Path, states: list[Ads]) -> None:
    """After any crash the queue is as after the last acknowledged transaction, or the one under way; HTCondor agrees.

    Bytes that were never synced may be gone when the machine dies, and with them transactions that were not durable.
    """
    for folder, acknowledged, is_lost in _graves(dead):
        possible = states[max(0, acknowledged - is_lost) : acknowledged + 2]
        log = folder / LOG
        if log.exists():
            assert schedd_recovers(log.read_bytes())[0] in possible, folder.name
        with JobQueue(log, now=NOW, disk=Counting()) as queue:
            found = _state(queue)
            assert found in possible, folder.name
            assert schedd_recovers(log.read_bytes()) == (found, True), folder.name
            with queue.transaction() as change:
                if HEADER not in change:
                    change.create(HEADER)
                change.set(HEADER, "After", 1)
        assert read_log(log).diagnostics == (), folder.name


def test_no_job_is_nowhere(dead: Path) -> None:
    """A job moved to the history is there or still in the queue after any crash, and half a record is taken back."""
    for folder, *_ in _graves(dead):
        log, past = folder / LOG, folder / "history"
        if not log.exists():
            continue
        history = History(past, Counting())
        history.close()
        gone = {JobId(*(int(str(ad[name])) for name in ("ClusterId", "ProcId"))) for ad in read_history(past)}
        mirror = read_log(log).mirror
        counter = mirror.text("0.0", "NextClusterNum") if "0.0" in mirror else "1"
        made = {JobId(cluster, proc) for cluster in range(1, int(counter or 1)) for proc in range(2)}
        assert made <= gone | set(mirror), folder.name


def _logs(tmp_path: Path) -> dict[str, bytes]:
    """Return logs that end with a transaction, with one that has a comment, and with a record of its own."""
    path = tmp_path / LOG
    with JobQueue(path, now=NOW, disk=Counting()) as queue, queue.transaction() as change:
        change.set(change.new_proc(change.new_cluster()), "Note", 'a "quoted" wörd')
    whole = path.read_bytes()
    return {
        "transaction": whole,
        "comment": whole.replace(b"106 \n", b"106 #what for\n"),
        "record": whole + b"103 1.0 DeferralTime 1800000600\n",
        "destroyed": whole + b"102 1.0\n",
    }


@pytest.mark.parametrize("name", ["transaction", "comment", "record", "destroyed"])
def test_the_last_record_torn_at_every_byte(tmp_path: Path, name: str) -> None:
    """What is torn counts whole or not at all, is said, and does not stop the queue; what was before is there."""
    data = _logs(tmp_path)[name]
    before = data.index(b"105 \n") if name in ("transaction", "comment") else data.rindex(b"\n", 0, -1) + 1
    path = tmp_path / "torn.log"
    ends: list[Ads] = []
    for size in (before, len(data)):
        path.write_bytes(data[:size])
        with JobQueue(path, now=NOW, disk=Counting()) as queue:
            ends.append(_state(queue))
    for size in range(before + 1, len(data)):
        path.write_bytes(data[:size])
        committed = b"\n106 " in data[:size] and name in ("transaction", "comment")
        with JobQueue(path, now=NOW, disk=Counting()) as queue:
            assert _state(queue) == ends[committed], data[before:size]
            assert queue.diagnostics, "nothing is dropped in silence"
        assert schedd_recovers(path.read_bytes()) == (ends[committed], True)
        assert read_log(path).diagnostics == ()
