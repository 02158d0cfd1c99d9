"""Properties: any changes replay to the same state, a log in pieces is the log, and no bytes do harm."""

import gzip
import io
import tempfile
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from crondor.diagnostics import Severity, render
from crondor.job_queue import (
    BadRecord,
    DamagedLog,
    Follower,
    Index,
    InvalidChange,
    JobId,
    JobQueue,
    Mirror,
    Op,
    Record,
    Transaction,
    by_cron,
    by_status,
    format_record,
    parse_record,
    read_log,
)
from crondor.job_queue.recovery import Recovery, read_records
from tests.examples import examples
from tests.job_queue.schedd_reader import Refused, schedd_recovers
from tests.job_queue.scripted import Counting

RECORDED = Path(__file__).resolve().parents[1] / "golden" / "queue_logs" / "damaged" / "intact.job_queue.log.gz"
NAMES = st.sampled_from(["JobStatus", "jobstatus", "Owner", "CronMinute", "A", "a", "MyType", "TargetType"])
VALUES = st.one_of(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])), st.integers(-9, 9))
JOBS = st.builds(JobId, st.integers(1, 3), st.integers(0, 2))
KEYS = st.one_of(JOBS, st.sampled_from(["0.0", "01.-1", "1.-1", "02.-1", "1.-2", "0.4"]))

Answer = TypeVar("Answer", bound=Hashable)
Change = Callable[[Transaction], object]
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(lambda key, name, value: lambda change: change.set(key, name, value), KEYS, NAMES, VALUES),
    st.builds(lambda key, name: lambda change: change.delete(key, name), KEYS, NAMES),
    st.builds(lambda key, kind: lambda change: change.create(key, kind), KEYS, st.sampled_from(["Job", "Owner", ""])),
    st.builds(lambda key: lambda change: change.destroy(key), KEYS),
    st.builds(lambda job: lambda change: change.remove(job), JOBS),
    st.just(lambda change: change.new_cluster()),
    st.builds(lambda cluster: lambda change: change.new_proc(cluster), st.integers(1, 3)),
)
STEPS = st.lists(st.one_of(st.lists(CHANGES, max_size=6), st.sampled_from(["compact", "open"])), max_size=12)


def _change(queue: JobQueue, changes: list[Change]) -> None:
    with queue.transaction() as transaction:
        for change in changes:
            with suppress(InvalidChange):
                change(transaction)


@given(STEPS)
def test_the_log_replays_to_the_same_state(steps: list[list[Change] | str]) -> None:
    """For crondor and for HTCondor, in a follower that polls after every step, and for indexes kept all along."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job_queue.log"
        queue = JobQueue(path, now=5, disk=Counting())
        follower = Follower(path)
        status, cron = by_status(follower.mirror), by_cron(follower.mirror)
        for step in steps:
            if step == "compact":
                queue.compact()
            elif step == "open":
                queue.close()
                queue = JobQueue(path, now=5, disk=Counting())
            elif isinstance(step, list):
                _change(queue, step)
            ads = queue.mirror.ads
            assert schedd_recovers(path.read_bytes()) == (dict(ads), True)
            reading = read_log(path)
            assert (reading.mirror.ads, reading.mirror.sequence) == (ads, queue.mirror.sequence)
            follower.poll()
            assert follower.mirror.ads == ads
            _check_indexes(follower.mirror, status, cron)
        queue.close()


def _jobs(index: Index[Answer]) -> dict[Answer, set[JobId]]:
    return {answer: set(index[answer]) for answer in index.answers()}


def _check_indexes(mirror: Mirror, status: Index[int | None], cron: Index[bool]) -> None:
    """Compare indexes that were kept with ones made now."""
    fresh = by_status(mirror), by_cron(mirror)
    assert (_jobs(status), _jobs(cron)) == (_jobs(fresh[0]), _jobs(fresh[1]))
    for index in fresh:
        index.close()


@examples(10)
@given(st.integers(0, 16_031), st.lists(st.integers(1, 4000), min_size=1, max_size=40), st.booleans())
def test_a_log_in_pieces_is_the_log(start: int, sizes: list[int], live: bool) -> None:
    """A follower that sees the file grow from anywhere in pieces of any size holds in the end what the whole holds."""
    data = gzip.decompress(RECORDED.read_bytes())
    with tempfile.TemporaryDirectory() as folder, Path(folder, "job_queue.log").open("wb", buffering=0) as file:
        follower = Follower(file.name, live=live)
        file.write(data[:start])
        at = start
        for size in (*sizes * (200 // len(sizes)), len(data)):
            follower.poll()
            file.write(data[at : at + size])
            at += size
        follower.poll()
        expected = read_records(io.BytesIO(data), "whole", live=live).mirror
        assert (follower.mirror.ads, list(follower.mirror)) == (expected.ads, list(expected))


PIECES = [
    *(b"", b"\n", b"\r\n", b"\0", b" ", b'"', b"\xff\xfe", b"\x85", "\u2028".encode()),
    *(b"106 \n", b"105 \n", b"105", b"103 1.0 A (", b"107 9 x 9\n", b"101 3.0 Job Machine\n", b"102 01.-1\n"),
    *(b"103 " + b"9" * 5000 + b".0 A 1\n", b"104 1.0\n", b"199 1.0\n"),
]
MUTATION = st.tuples(st.integers(0, 16_031), st.integers(0, 40), st.sampled_from(PIECES))


@examples(19)
@given(st.lists(MUTATION, min_size=1, max_size=4))
def test_a_mutated_log_gives_a_queue_or_our_error(mutations: list[tuple[int, int, bytes]]) -> None:
    """Read, followed and opened; what was opened is clean afterwards and the same when it is read again."""
    data = gzip.decompress(RECORDED.read_bytes())
    for start, length, inserted in mutations:
        data = data[:start] + inserted + data[start + length :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job_queue.log"
        path.write_bytes(data)
        Follower(path).poll()
        try:
            with JobQueue(path, now=5, disk=Counting()) as queue:
                found = {key: dict(texts) for key, texts in queue.mirror.ads.items()}
        except DamagedLog:
            assert path.read_bytes() == data
            return
        reading = read_log(path)
        assert (dict(reading.mirror.ads), reading.clean) == (found, True)


@given(st.integers(0, 16_031))
def test_a_cut_log_is_as_the_schedd_has_it(size: int) -> None:
    """Cut anywhere, the recorded log gives what HTCondor's reader makes of it, or one whole transaction more."""
    data = gzip.decompress(RECORDED.read_bytes())[:size]
    found = read_records(io.BytesIO(data), "cut").mirror.ads
    kept = schedd_recovers(data + b"\n" if data.endswith(b"106 ") else data)[0]
    assert found == kept


@given(st.text(st.characters(exclude_characters="\n"), max_size=60))
def test_any_line_is_a_record_or_a_bad_one(line: str) -> None:
    """A record that is read is written as one that is read the same."""
    try:
        record = parse_record(line)
    except BadRecord as error:
        span = range(error.start, error.end + 1)
        event("bad")
    else:
        span = range(len(line) + 1)
        event("a record")
        assert parse_record(format_record(record))[:3] == record[:3]
    assert span
    assert set(span) <= set(range(len(line) + 1))


@given(
    st.lists(
        st.sampled_from(["101 1.0 Job Machine", "102 1.0", "103 1.0 A 1", "103 1.0 A 2", "104 1.0 A", "105 ", "106 "])
    )
)
def test_short_logs_are_read_as_by_the_schedd(lines: list[str]) -> None:
    """Whatever the order of records, nested and unmatched transactions included."""
    data = "".join(f"{line}\n" for line in ["107 1 CreationTimestamp 5", *lines]).encode()
    assert read_records(io.BytesIO(data), "short").mirror.ads == schedd_recovers(data)[0]


LINES = st.sampled_from(
    [
        *(
            "101 01.-1 Job Machine",
            "103 01.-1 A 7",
            "104 01.-1 A",
            "102 01.-1",
            "105 ",
            "106 ",
            "106 #x",
            "",
            "nonsense",
        ),
        *("101 1.0 Job Machine", "102 1.0", "103 1.0 A 1", "103 1.0 A (", "104 1.0 A", " 106 ", "105", "106", "105 \r"),
    ]
)


@given(st.lists(LINES, max_size=25), st.booleans())
def test_lines_one_by_one_are_the_lines_at_once(lines: list[str], live: bool) -> None:
    """The fast way of reading and the one that tells changes agree, in the running schedd's view too."""
    whole = Recovery(Mirror(live=live), "log", tolerant=True)
    whole.feed("".join(f"{line}\n" for line in lines).encode())
    whole.follow([])  # what waits for its end is counted when it is looked at line by line
    single = Recovery(Mirror(live=live), "log", tolerant=True)
    for line in lines:
        single.follow([line])
    assert single.mirror.ads == whole.mirror.ads
    assert list(single.mirror) == list(whole.mirror)
    assert (single.line, single.in_transaction) == (whole.line, whole.in_transaction)
    assert sorted(map(render, single.findings.take())) == sorted(map(render, whole.findings.take()))


def test_a_record_that_does_not_fit_a_line_is_refused() -> None:
    """A line end in a comment would end the transaction."""
    for record in (Record(Op.END, value="a\nb"), Record(Op.DESTROY, "1.0 2.0"), Record(Op.SET, "1.0", "A", "")):
        with pytest.raises(ValueError, match=r"line|value|takes only"):
            format_record(record)


def test_refused_is_what_the_second_reader_says_too() -> None:
    """The two readers agree on the recorded damage."""
    folder = RECORDED.parent
    refused = set()
    for path in folder.glob("*.gz"):
        data = gzip.decompress(path.read_bytes())
        if data.startswith((b"10", b"\r")):
            try:
                schedd_recovers(data)
            except Refused:
                refused.add(path.name.partition(".")[0])
    assert refused == {"105_no_blank", "empty_value", "garbage_in_transaction", "garbage_middle", "unknown_op"}


WORDS = st.sampled_from(
    [
        *("101", "102", "103", "104", "105", "106", "107", "+103", "0106", "103x", "108", "", "#", "#x", "(empty)"),
        *(
            "1.0",
            "01.-1",
            "1.-1",
            "0.0",
            "abc",
            "1",
            "A",
            "a",
            "Job",
            "Machine",
            "5",
            "(",
            '"x y"',
            "\0",
            "\xa0",
            "\x1c",
        ),
    ]
)
ODD_LINE = st.builds(
    lambda words, blanks, end: "".join(map("".join, zip(words, blanks, strict=False))) + end,
    st.lists(WORDS, min_size=1, max_size=5),
    st.lists(st.sampled_from([" ", " ", " ", "  ", "\t", "\v", "\r", "\x85"]), min_size=5, max_size=5),
    st.sampled_from(["", "", "1", " "]),
)
USUAL_LINE = st.sampled_from(
    ["101 1.0 Job Machine", "103 1.0 A 1", "104 1.0 A", "102 1.0", "105 ", "106 ", "106 #x", "103 01.-1 A 2"]
)


@examples(50)
@given(st.lists(st.one_of(USUAL_LINE, USUAL_LINE, USUAL_LINE, ODD_LINE), max_size=8))
def test_what_the_schedd_takes_in_another_way_is_said(lines: list[str]) -> None:
    """A log that is read without a warning is one that the schedd reads to its end, and to the same ads."""
    data = "".join(f"{line}\n" for line in ["107 1 CreationTimestamp 5", "101 01.-1 Job Machine", *lines]).encode()
    try:
        reading = read_records(io.BytesIO(data), "odd")
    except DamagedLog:
        event("refused")
        return
    if any(found.severity is not Severity.NOTE for found in reading.diagnostics):
        event("said")
        return
    event("the same")
    ads, whole = schedd_recovers(data)
    assert whole
    assert {key: {name: text.strip() for name, text in ad.items()} for key, ad in ads.items()} == reading.mirror.ads
