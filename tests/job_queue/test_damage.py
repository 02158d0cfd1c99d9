"""Damage that the schedd takes in its own way: what it makes of the log, what is kept here, and that it is said."""

import io
import tracemalloc
from pathlib import Path

import pytest

from crondor.diagnostics import render
from crondor.job_queue import DamagedLog, Follower, JobQueue, read_log
from crondor.job_queue.recovery import LogReading, read_records
from tests.job_queue.schedd_reader import Ads, Refused, schedd_recovers
from tests.job_queue.scripted import NOW, Counting

HEAD = b"107 3 CreationTimestamp 1800000000\n"
BEFORE = b"101 1.0 Job Machine\n103 1.0 A 1\n"
AFTER = b"105 \n103 1.0 A 2\n106 \n"


def _read(data: bytes) -> LogReading:
    return read_records(io.BytesIO(data), "log")


def _codes(reading: LogReading) -> list[str]:
    return [found.kind for found in reading.diagnostics if found.kind != "queue-log-orphan"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\n", "queue-log-blank-line"),
        (b" \t\n", "queue-log-blank-line"),
        (b"101 2.0 Job Machine \n", "queue-log-trailing-blank"),
        (b"102 9.0 \n", "queue-log-trailing-blank"),
        (b"104 1.0 B\t\n", "queue-log-trailing-blank"),
        (b"107 3 CreationTimestamp 1800000000 \n", "queue-log-trailing-blank"),
        (b"\0\0\0\n", "queue-log-nul"),
        (b"\x00\x00\x00104 1.0 B\n", "queue-log-nul"),
    ],
)
def test_what_hides_the_rest_from_the_schedd_hides_nothing_here(tmp_path: Path, line: bytes, code: str) -> None:
    """It takes the log to end there, in silence: here all that follows is kept, said, and written so that it reads."""
    data = HEAD + BEFORE + line + AFTER
    assert schedd_recovers(data)[0]["1.0"]["a"] == "1"
    reading = _read(data)
    assert code in _codes(reading)
    assert (reading.clean, reading.mirror.text("1.0", "A")) == (False, "2")
    path = tmp_path / "job_queue.log"
    path.write_bytes(data)
    follower = Follower(path)
    assert code in [found.kind for found in follower.poll().diagnostics]
    assert follower.mirror.ads == reading.mirror.ads
    with JobQueue(path, now=NOW, disk=Counting()) as queue:
        assert schedd_recovers(path.read_bytes()) == (dict(queue.mirror.ads), True)
        assert queue.mirror.text("1.0", "A") == "2"


@pytest.mark.parametrize("line", [b"+103 1.0 A 5\n", b"0103 1.0 A 5\n", b"103x 1.0 A 5\n", b" \t103\v1.0  A  5\n"])
def test_an_operation_is_read_as_by_strtoll(line: bytes) -> None:
    """With a sign, zeros before it and anything after it."""
    data = HEAD + b"105 \n" + BEFORE + line + b"106 \n"
    reading = _read(data)
    ours = {key: {name: text.strip() for name, text in ad.items()} for key, ad in reading.mirror.ads.items()}
    theirs = {key: {name: text.strip() for name, text in ad.items()} for key, ad in schedd_recovers(data)[0].items()}
    assert (ours, ours["1.0"]["a"], _codes(reading)) == (theirs, "5", [])


@pytest.mark.parametrize("line", [b"1031 1.0 A 5", b"-103 1.0 A 5", b"10 3", b"103.A", b"108 1.0", b"999 x"])
def test_what_is_no_operation_stops_the_schedd_and_the_queue(line: bytes) -> None:
    """Where a transaction ends after it; the fault is underlined."""
    data = HEAD + BEFORE + line + b"\n" + AFTER
    with pytest.raises(Refused):
        schedd_recovers(data)
    with pytest.raises(DamagedLog) as caught:
        _read(data)
    first = caught.value.diagnostics[0]
    assert (first.kind, first.span and first.span.line) == ("queue-log-record", 4)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (b"107 x CreationTimestamp y\n", (0, 0)),
        (b"107 12x CreationTimestamp 17.5\n", (12, 17)),
        (b"107 " + b"9" * 5000 + b" CreationTimestamp 5\n", (0, 5)),
    ],
)
def test_a_first_line_without_numbers(first: bytes, expected: tuple[int, int]) -> None:
    """The schedd starts with what begins as a number, else 0; it is said."""
    reading = _read(first + BEFORE + AFTER)
    assert (reading.mirror.sequence, reading.mirror.created) == expected
    assert (_codes(reading), reading.mirror.text("1.0", "A")) == (["queue-log-header"], "2")


def test_a_new_ad_without_target_type() -> None:
    """The schedd reads on in the next line; all is kept here."""
    data = HEAD + b"105 \n101 1.0 Job\n103 1.0 A 1\n106 \n"
    with pytest.raises(Refused):
        schedd_recovers(data)
    reading = _read(data)
    assert (_codes(reading), reading.mirror.text("1.0", "A"), reading.clean) == (["queue-log-no-target"], "1", False)


def test_an_end_with_an_empty_comment() -> None:
    """The schedd drops the transaction, as one whose 106 lacks the blank."""
    data = HEAD + BEFORE + b"105 \n103 1.0 A 2\n106 #\n"
    assert schedd_recovers(data)[0]["1.0"]["a"] == "1"
    reading = _read(data)
    assert (_codes(reading), reading.mirror.text("1.0", "A"), reading.clean) == (["queue-log-no-blank"], "2", False)


@pytest.mark.parametrize("key", [b"abc", b"1", b"1.x", b"2147483648.0", b"1.0.0", b"\xff"])
def test_a_key_that_is_none_makes_no_ad(key: bytes) -> None:
    """The schedd takes it for another ad's, the queue's own mostly: nothing of it has an effect here."""
    reading = _read(HEAD + b"101 0.0 Job Machine\n101 " + key + b" Job Machine\n103 " + key + b" A 1\n")
    assert list(reading.mirror.keys()) == ["0.0"]
    assert _codes(reading) == ["queue-log-key", "queue-log-key"]


def test_every_kind_of_ad_outlives_a_compaction(tmp_path: Path) -> None:
    """Users, projects, job sets, private and public ads of clusters, and kinds that are not known yet."""
    ads: Ads = {}
    lines = []
    for key, kind in (
        *(("0.0", "Job"), ("0.2", "Owner"), ("0.3", "Project"), ("0.9", "Later"), ("7.-100", "JobSet")),
        *(("3.-2", "ClusterPvt"), ("03.-1", "Job"), ("3.0", "Job"), ("3.-99", "(empty)"), ("-4.7", "*")),
    ):
        target = "Machine" if kind == "Job" else "*" if kind == "*" else "(empty)"
        lines += [f"101 {key} {kind} {target}", f'103 {key} Name "{key}"']
        ads[key] = {"mytype": f'"{kind if kind[0] != "(" else ""}"', "name": f'"{key}"'}
        if kind == "Job":
            ads[key]["targettype"] = '"Machine"'
    path = tmp_path / "job_queue.log"
    path.write_bytes(HEAD + "".join(f"{line}\n" for line in lines).encode())
    with JobQueue(path, now=NOW, disk=Counting()) as queue:
        assert (dict(queue.mirror.ads), queue.diagnostics, [*map(str, queue.mirror)]) == (ads, (), ["3.0"])
        queue.compact()
    assert read_log(path).mirror.ads == ads
    assert schedd_recovers(path.read_bytes()) == (ads, True)


def test_a_finding_keeps_no_huge_line() -> None:
    """Twenty bad lines of 200 KB are said in little memory, each where it is wrong."""
    data = HEAD + BEFORE + b"".join(b"103 1.0 A 1" + b" " * 200_000 + b"(\n" for _ in range(20))
    reading = _read(data)
    found = reading.diagnostics[0]
    assert found.span is not None
    assert (found.span.line, found.span.column) == (4, 200_012)
    tracemalloc.start()
    again = _read(data).diagnostics
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(again) == 21
    assert kept < 500_000
    assert all(len(line) < 500 for line in render(found).splitlines())
