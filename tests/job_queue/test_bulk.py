"""Reading many records at once gives what reading them one by one gives, and takes little more than the log itself."""

import io
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.queue_logs import large_log
from crondor.diagnostics import render
from crondor.job_queue import DamagedLog, JobId, Mirror
from crondor.job_queue.recovery import Recovery, read_records, to_lines
from tests.examples import examples
from tests.golden.big_log import big_log

KEYS = st.sampled_from(["1.0", "1.1", "2.0", "01.-1", "02.-1", "1.-2", "0.0", "0.2", "1.-1", "01.0", "0.-1", "x", "1"])
NAMES = st.sampled_from(["A", "a", "B", "CronHour", "cronhour", "MyType", "TargetType", "mytype", "A.b", "a'", "\xe4"])
VALUES = st.sampled_from(
    [
        *("1", "0", "-1", "-0", "007", "1.5", "0.0", "-3.25", "123456789012345678901", "true", "TRUE", "undefined"),
        *('"x"', '""', '"a b"', '"\xe4"', '"a\tb"', '"x\r"', '"103 1.0 A 5"', '"two \\"q\\""', '"C:\\x"', '"a" "b"'),
        *("B + 1", "{1,2}", "(", ")", '"', "a b", "1 ", " 1", "\t1", "1\r", "", "\0", '"a\0b"', "\x85", "\x01"),
    ]
)
BEGINS = st.sampled_from(["105 ", "105 ", "105", "105 x", " 105 ", "+105 ", "105 \r"])
ENDS = st.sampled_from(
    ["106 ", "106 ", "106 #done", "106", "106 #", " 106 ", "0106 ", "106 #x\r", "106 #x\0", "106 x", "\x00106 "]
)
BLANKS = st.sampled_from([" ", " ", " ", " ", " ", " ", "  ", "\t"])
SETS = st.builds(lambda key, blank, name, value: f"103 {key}{blank}{name} {value}", KEYS, BLANKS, NAMES, VALUES)
LINES = st.one_of(
    SETS,
    SETS,
    st.builds(lambda key: f"101 {key} Job Machine", KEYS),
    st.builds(
        lambda key, kind: f"101 {key} {kind}",
        KEYS,
        st.sampled_from(["ClusterPvt (empty)", "(empty) (empty)", "job *", "Job", "Job Machine ", 'a"b x', "a\\ x"]),
    ),
    st.builds(lambda key, name, end: f"104 {key} {name}{end}", KEYS, NAMES, st.sampled_from(["", "", "", " ", "\r"])),
    st.builds(lambda key, end: f"102 {key}{end}", KEYS, st.sampled_from(["", "", "", " ", "\r"])),
    BEGINS,
    ENDS,
    st.sampled_from(["", " ", "\0", "107 3 CreationTimestamp 5", "108 x", "nonsense", "103", "1031.0 A 1"]),
)
USUAL_KEYS = st.sampled_from(["1.0", "1.1", "01.-1", "2.0", "02.-1"])
USUAL = st.one_of(
    st.builds(lambda key: f"101 {key} Job Machine", USUAL_KEYS),
    st.builds(
        lambda key, name, value: f"103 {key} {name} {value}",
        USUAL_KEYS,
        st.sampled_from(["A", "a", "B", "MyType", "TargetType"]),
        st.sampled_from(["1", '"x"', "B + 1", "(", "7.5"]),
    ),
    st.builds(lambda key, name: f"104 {key} {name}", USUAL_KEYS, st.sampled_from(["A", "a", "B", "MyType"])),
    st.builds(lambda key: f"102 {key}", USUAL_KEYS),
    st.sampled_from(["105 ", "106 ", "106 #x"]),
)


def _begun(lines: list[str]) -> bytes:
    text = "\n".join(["107 1 CreationTimestamp 5", "101 01.-1 Job Machine", "101 1.0 Job Machine", *lines, ""])
    return text.encode("utf-8", "surrogateescape")


LOGS = st.one_of(st.lists(USUAL, max_size=40), st.lists(LINES, max_size=30), st.lists(st.one_of(USUAL, LINES))).map(
    _begun
)


def _cut(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    """Yield pieces that end with a line end."""
    ends = sorted({data.find(b"\n", cut % len(data)) + 1 for cut in cuts} | {0, len(data)})
    yield from (data[first:last] for first, last in pairwise(ends))


def _alike(fast: Mirror, plain: Mirror) -> None:
    """Compare two queues, by each way to look into them."""
    assert list(fast) == list(plain)
    assert list(fast.keys()) == list(plain.keys())
    for key in plain.ads:
        names = ("A", "a", "B", "CronHour", "MyType", "TargetType", "NoSuch")
        assert [fast.text(key, name) for name in names] == [plain.text(key, name) for name in names]
        assert fast.ads.texts(key) == plain.ads[key]
        for low in plain.ads[key]:
            assert fast.spelling(key, low) == plain.spelling(key, low)
        mine, other = fast.ad(key), plain.ad(key)
        assert {**mine.codes} == {**other.codes}
        assert {**mine.names} == {**other.names}
    for wanted in (["CronHour"], ["a", "NoSuch"], ["MyType"], ["NoSuch"]):
        lows = [name.lower() for name in wanted]
        assert fast.having(wanted) == [job for job in plain if any(low in plain.ad(job).codes for low in lows)]
    assert fast.ads == plain.ads


def _end(recovery: Recovery) -> list[str]:
    """Return what is said of a log in the end."""
    try:
        recovery.finish()
    except DamagedLog as error:
        return ["refused", *sorted(map(render, error.diagnostics))]
    return sorted(map(render, recovery.findings.take()))


@examples(75)
@given(LOGS, st.booleans(), st.booleans(), st.lists(st.integers(0, 10_000), max_size=4))
def test_many_records_at_once_are_the_records_one_by_one(
    data: bytes, live: bool, tolerant: bool, cuts: list[int]
) -> None:
    """Whatever the log, wherever it is cut: ads, jobs, spellings, findings, and whether a schedd would start."""
    fast = Recovery(Mirror(live=live), "log", tolerant=tolerant)
    for piece in _cut(data, cuts):
        fast.feed(piece)
    plain = Recovery(Mirror(live=live), "log", tolerant=tolerant)
    for line in to_lines(data):
        plain.follow([line])
    assert fast.in_transaction == plain.in_transaction
    assert _end(fast) == _end(plain)
    assert (fast.line, fast.records, fast.clean, fast.had_transactions) == (
        plain.line, plain.records, plain.clean, plain.had_transactions,
    )  # fmt: skip
    _alike(fast.mirror, plain.mirror)


def test_a_transaction_may_be_longer_than_what_is_read_at_once() -> None:
    """A submission of thousands of jobs is one; torn, it is left out as a whole, and its records are counted."""
    jobs = "".join(f'101 1.{proc} Job Machine\n103 1.{proc} Note "{"x" * 90}"\n' for proc in range(12_000))
    begun = f"107 1 CreationTimestamp 5\n105 \n101 01.-1 Job Machine\n{jobs}"
    whole = read_records(io.BytesIO(f"{begun}106 \n".encode()), "log")
    assert (len(whole.mirror), whole.diagnostics, whole.records) == (12_000, (), begun.count("\n") + 1)
    assert whole.mirror.text("1.11999", "Note") == f'"{"x" * 90}"'
    torn = read_records(io.BytesIO(begun.encode()), "log")
    assert (len(torn.mirror), [found.kind for found in torn.diagnostics]) == (0, ["queue-log-unterminated"])
    assert f"its {begun.count(chr(10)) - 2} records" in torn.diagnostics[0].message


def test_the_synthetic_logs_are_read_as_line_by_line() -> None:
    """All kinds of usual records, edits and removals, ten thousands of lines."""
    for log in ("".join(large_log(700)), "".join(big_log(5, 20_000))):
        plain = Recovery(Mirror(live=True), "log")
        plain.follow(log.split("\n")[:-1])
        fast = read_records(io.BytesIO(log.encode()), "log", live=True)
        assert fast.diagnostics == plain.findings.take() == ()
        _alike(fast.mirror, plain.mirror)


def test_a_job_takes_little_more_memory_than_its_records() -> None:
    """At most 600 bytes above the log's own size, for jobs that nobody has asked for."""
    data = "".join(large_log(3000)).encode()
    file = io.BytesIO(data)
    read_records(io.BytesIO(data[: data.rfind(b"\n", 0, 100_000) + 1]), "first")  # what is made once
    tracemalloc.start()
    try:
        reading = read_records(file, "log")
        taken, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    jobs = len(reading.mirror)
    assert jobs > 2500
    assert taken <= len(data) + 600 * jobs
    assert peak <= 2 * len(data) + 600 * jobs  # a piece of the file is there twice while it is read


@pytest.mark.parametrize("name", ["JobStatus", "jobstatus"])
def test_a_job_that_is_edited_for_ever_does_not_grow(name: str) -> None:
    """What an edit wrote over is forgotten, some edits later."""
    begun = (
        "107 1 CreationTimestamp 5\n101 01.-1 Job Machine\n101 1.0 Job Machine\n103 1.0 JobStatus 0\n104 1.0 MyType\n"
    )
    edits = "".join(f"105 \n103 1.0 {name} {number}\n104 1.0 RemoteHost\n106 \n" for number in range(20_000))
    mirror = read_records(io.BytesIO(f"{begun}{edits}".encode()), "log").mirror
    held = mirror.ads.held["1.0"]
    assert isinstance(held, bytes)
    assert len(held) < 2000
    assert {**mirror.ads.texts("1.0")} == {"targettype": '"Machine"', "jobstatus": "19999"}
    assert mirror.spelling("1.0", "jobstatus") == "JobStatus"


def test_who_looks_leaves_an_ad_packed() -> None:
    """Only its own dictionary unpacks it, and that one is the ad from then on."""
    mirror = read_records(io.BytesIO("".join(large_log(300)).encode()), "log").mirror
    job = min(mirror.having(["CronHour"]))
    key = mirror.key(job)
    look = mirror.ad(job), mirror.text(job, "JobStatus"), mirror.having(["CronHour"]), mirror.spelling(job, "procid")
    assert isinstance(mirror.ads.held[key], bytes), look
    own = mirror.ads[key]
    own["jobstatus"] = "7"
    assert (mirror.text(job, "JobStatus"), mirror.ad(job).value("JobStatus"), mirror.own(job) is own) == ("7", 7, True)


def test_jobs_with_an_attribute_are_found_through_their_cluster_too() -> None:
    """As they are spelled in any way, and not where a record took the attribute away."""
    log = [
        *("101 01.-1 Job Machine", '103 01.-1 CRONHOUR "1"', "101 1.0 Job Machine", "101 1.1 Job Machine"),
        *("101 02.-1 Job Machine", '103 02.-1 Note " cronhour "', "101 2.0 Job Machine", "101 2.1 Job Machine"),
        *('103 2.1 CronHour "x"', "103 2.0 cronhour 1", "104 2.0 CronHour"),
    ]
    mirror = read_records(io.BytesIO(_begun(log)), "log").mirror
    assert mirror.having(["CronHour"]) == [JobId(1, 0), JobId(1, 1), JobId(2, 1)]
