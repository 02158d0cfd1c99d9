"""The recorded job queue logs: what they hold counts."""

import gzip
import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor.classad.tree import UNDEFINED
from crondor.job_queue import Mirror, history_record, read_history
from crondor.job_queue.recovery import read_records
from tests.examples import some
from tests.golden.big_log import big_log
from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, mapping, texts
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "queue_logs"
KIND = KINDS["queue-log"]
FREE = {"note", "log_lines", "size_after", "name"}  # not compared


def _cases(name: str) -> list[Case]:
    return read_recording(RECORDINGS / name)


@pytest.mark.parametrize(
    ("lost", "jobs"),
    [(b"102 02.-1\n", ["2.0"]), (b"104 04.-1 JobUniverse\n104 03.-1 ClusterId\n", ["3.0", "4.0", "4.1"])],
)
def test_jobs_that_the_schedd_removes_at_its_start(tmp_path: Path, lost: bytes, jobs: list[str]) -> None:
    """A log may hold them: what is compared is what condor_q shows after the start, and every other job counts."""
    cases = [(case, case.value) for case in _cases("damaged.jsonl") if isinstance(case.value, dict)]
    ((case, record),) = [(case, value) for case, value in cases if value.get("variant") == "unknown_key"]
    follower = mapping(record, "follower")
    candidates = [job for job in texts(follower, "candidates") if f"102 0{job[0]}.-1".encode() not in lost]
    record = {
        **record,
        "differs_from_intact": dict.fromkeys(jobs, "absent"),
        "follower": {**follower, "candidates": candidates},
    }
    shutil.copytree(RECORDINGS / "damaged", tmp_path / "damaged")
    log = tmp_path / "damaged" / "unknown_key.job_queue.log.gz"
    log.write_bytes(gzip.compress(gzip.decompress(log.read_bytes()) + lost))
    for removed, good in (([], False), (jobs, True), ([*jobs, "1.0"], False)):
        altered = {**record, "jobs": [job for job in texts(record, "jobs") if job not in removed]}
        found = differences(KIND, Case(case.number, case.id, altered, tmp_path))
        assert (found == []) is good, found


def _altered(value: object) -> Iterator[object]:
    """Yield a value with one thing in it made another."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in FREE:
                yield from ({**value, name: other} for other in _altered(inner))
    elif isinstance(value, list):
        yield [*value, "9.9"]
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        for at, inner in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in _altered(inner))
    elif isinstance(value, bool):
        yield not value
    elif value is None:
        yield 4
    elif isinstance(value, int):
        yield value + 1
    else:
        yield f"{value}9"


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, and none may be missing or unknown."""
    survivors = []
    for case in [*_cases("snapshots.jsonl")[1:], *some(_cases("damaged.jsonl"), 4)]:
        line = case.value
        assert isinstance(line, dict)
        if differences(KIND, case):
            continue
        mutants = [*some([*_altered(line)], 30), {**line, "expectation": 1}]
        mutants += [{n: v for n, v in line.items() if n != name} for name in line if name not in FREE]
        altered = (Case(case.number, case.id, mutant, case.folder) for mutant in mutants)
        survivors += [mutant.value for mutant in altered if not differences(KIND, mutant)]
    assert survivors == []


def _table(mirror: Mirror, columns: list[str]) -> list[str]:
    rows = []
    for job in sorted(mirror):
        ad = mirror.ad(job)
        values = [ad.value(column) for column in columns]
        rows.append(", ".join("undefined" if value is UNDEFINED else str(value) for value in values))
    return rows


def test_a_big_log_gives_the_table_of_a_schedd() -> None:
    """200,000 operations, loaded by a schedd: all jobs, ten columns each."""
    truth = json.loads((RECORDINGS / "big.json").read_text())
    data = "".join(big_log(truth["seed"], truth["ops"] - 2)).encode()
    assert hashlib.sha256(data).hexdigest() == truth["sha256"]
    reading = read_records(io.BytesIO(data), "big")
    assert reading.diagnostics == ()
    rows = _table(reading.mirror, truth["columns"].split(","))
    assert (len(rows), rows[:10], rows[-10:]) == (truth["jobs"], truth["first"], truth["last"])
    assert hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest() == truth["table_sha256"]


def test_a_history_is_read_and_written_back(tmp_path: Path) -> None:
    """The schedd's own history, record by record, byte for byte."""
    data = gzip.decompress((RECORDINGS / "history.gz").read_bytes())
    path = tmp_path / "history"
    path.write_bytes(data)
    banners = re.findall(r"^\*\*\* Offset = (\d+) .* CurrentTime = (\d+)$", data.decode(), re.MULTILINE)
    ads = list(read_history(path))
    assert len(ads) == len(banners) == 22
    written = [history_record(ad, int(offset), int(now)) for ad, (offset, now) in zip(ads, banners, strict=True)]
    assert "".join(written).encode() == data
