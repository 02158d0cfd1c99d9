"""The kind of job queue logs: snapshots with what condor_q said, rotated logs, and damaged copies.

A line is of the shape it has: ``truth`` is a snapshot's, ``files`` that of rotated logs, ``variant`` a damaged log's.
"""

import gzip
import io
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format
from crondor.job_queue import DamagedLog, Follower, JobId, JobQueue, JobQueueError, Mirror, cluster_key
from crondor.job_queue.records import BEGIN
from crondor.job_queue.recovery import LogReading, read_records
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    Replay,
    check_fields,
    compare,
    integer,
    items,
    mapping,
    one_of,
    text,
    texts,
)

_LOG = "job_queue.log"
_STARTED, _REFUSED = "started", "did not start (4)"
_DAMAGED = ["variant", "log", "schedd", "jobs", "files_after", "first_line_after", "compacted", "differs_from_intact"]
_NOT_OURS = ["log_lines", "size_after"]  # the words of its log, and sizes with another user's name
_CREATED = re.compile(r"107 [0-9]+ CreationTimestamp ([0-9]+)").fullmatch
_SHORTENED = re.compile(r"(.*)\.\.\.\(([0-9]+) chars\)", re.DOTALL).fullmatch
_IDLE = "1"

Attributes = dict[str, str]


def _replay(case: Case) -> list[Difference]:
    value = case.value
    if isinstance(value, dict) and "variant" in value:
        return _replay_damaged(case)
    if isinstance(value, dict) and "files" in value:
        return _replay_rotations(case)
    return _replay_snapshot(case)


# Snapshots


def _replay_snapshot(case: Case) -> list[Difference]:
    """Compare every attribute of every job; where file and schedd differ by record, the file's text."""
    record = case.record(["log", "truth", "jobs", "file_differs_from_truth"])
    truth = _read_long(_content(case.folder, text(record, "truth")).decode())
    mirror = _read(case.folder, text(record, "log"), live=True).mirror
    lagging: dict[str, dict[str, object]] = {}
    for at, item in enumerate(items(record, "file_differs_from_truth")):
        field = f"file_differs_from_truth[{at}]"
        job, name, ours, theirs = items({field: item}, field, [4])
        lagging.setdefault(str(job), {})[str(name)] = ours
        if truth.get(str(job), {}).get(str(name)) != theirs:
            raise Malformed(field, "it is not what the schedd said")
    unwritten = {job for job in truth if lagging.get(job, {}).get("ProcId", "") is None}
    found = compare("jobs", integer(record["jobs"], "jobs"), len(truth))
    found += compare("jobs", sorted(truth.keys() - unwritten), sorted(map(str, mirror)))
    for job in lagging.keys() - truth.keys():
        raise Malformed("file_differs_from_truth", f"there is no job {job}")
    for job, attributes in truth.items():
        number = JobId.parse(job)
        if number is None or not (number in mirror or job in unwritten):
            continue
        key = str(number) if number in mirror else cluster_key(number.cluster)
        late = lagging.get(job, {})
        found += [
            difference
            for name, ours in late.items()
            for difference in compare(f"{job}.{name} in the file", ours, mirror.text(key, name))
        ]
        printed = _printed(mirror.ad(key))
        expected = {name: value for name, value in attributes.items() if name not in late}
        found += compare(job, expected, {name: value for name, value in printed.items() if name not in late})
        found += compare(f"{job} in the file", expected, {name: mirror.text(key, name) for name in expected})
    return found


# Rotated logs


def _replay_rotations(case: Case) -> list[Difference]:
    """Compare each log's end with how the next one begins: all that was written is there."""
    record = case.record(["files"])
    names = texts(record, "files")
    if len(names) < 2:
        raise Malformed("files", "two logs or more are expected, each with the next one's number")
    found: list[Difference] = []
    readings = []
    for name in names:
        reading = _read(case.folder, name)
        readings.append(reading)
        found += compare(f"{name}.findings", [], [finding.kind for finding in reading.diagnostics])
        found += compare(f"{name}.sequence", name.rpartition(".")[2], str(reading.mirror.sequence))
    for name, one, other in zip(names, readings, names[1:], strict=False):
        begun = _content(case.folder, other).partition(f"{BEGIN}\n".encode())[0]
        after = read_records(io.BytesIO(begun), other).mirror
        found += compare(f"{name}.keys", sorted(one.mirror.keys()), sorted(after.keys()))
        for key in set(one.mirror.keys()) & set(after.keys()):
            ours, theirs = _printed(one.mirror.ad(key)), _printed(after.ad(key))
            found += compare(f"{name}.{key}", {n: theirs.get(n) for n in ours}, ours)
    return found


# Damaged logs


def _replay_damaged(case: Case) -> list[Difference]:
    """Compare whether the log is taken, the jobs afterwards with all attributes, and what became of the files."""
    record = case.record([*_DAMAGED, "follower"], _NOT_OURS)
    started = one_of(record, "schedd", [_STARTED, _REFUSED]) == _STARTED
    jobs = texts(record, "jobs")
    if not started and jobs:
        raise Malformed("jobs", "none are expected where the schedd did not start")
    if f"/{text(record, 'variant')}.{_LOG}" not in text(record, "log"):
        raise Malformed("variant", "it is expected to be the log's name")
    data = _content(case.folder, text(record, "log"))
    first = _CREATED(text(record, "first_line_after"))
    if first is None or not isinstance(record["compacted"], bool):
        raise Malformed("first_line_after", "a line 107 and whether the log was compacted are expected")
    found = _compare_follower(data, mapping(record, "follower"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _LOG
        path.write_bytes(data)
        try:
            queue = JobQueue(path, now=int(first[1]), rotations=3)
        except DamagedLog:
            found += compare("schedd", started, False)
            found += compare("file", True, path.read_bytes() == data)
        except JobQueueError as error:
            return [Difference("schedd", str(error))]
        else:
            with queue:
                found += compare("schedd", started, True)
                kept = [str(job) for job in queue.mirror if _outlives_a_start(queue.mirror, job)]
                found += compare("jobs", jobs, sorted(kept))
                differs = mapping(record, "differs_from_intact")
                found += _compare_jobs(case.folder, jobs, differs, queue.mirror)
        left = sorted(name.name for name in Path(folder).iterdir() if not name.name.endswith(".lock"))
        found += compare("files_after", texts(record, "files_after"), left)
        line = path.read_bytes().partition(b"\n")[0].decode()
        found += compare("first_line_after", record["first_line_after"], line)
        found += compare("compacted", record["compacted"], len(left) > 1)
    return found


def _outlives_a_start(mirror: Mirror, job: JobId) -> bool:
    """Say whether the schedd keeps a job when it starts, whatever the log says (``InitJobQueue``)."""
    ad = mirror.ad(job)
    numbers = all(isinstance(ad.value(name), int) for name in ("ProcId", "JobUniverse"))
    texts_ = all(isinstance(ad.value(name), str) for name in ("Owner", "User"))
    return cluster_key(job.cluster) in mirror and ad.value("ClusterId") == job.cluster and numbers and texts_


def _compare_jobs(folder: Path, jobs: list[str], differs: Mapping[str, object], mirror: Mirror) -> list[Difference]:
    """Compare the jobs with the intact log's, but for what the recording says is different."""
    intact = _read(folder, "damaged/intact.job_queue.log.gz").mirror
    found: list[Difference] = []
    for job in {*differs, *map(str, intact)} - {*jobs}:
        found += compare(f"differs_from_intact.{job}", differs.get(job), "absent")
    for job in jobs:
        number = JobId.parse(job)
        if number is None or number not in mirror:
            continue  # told by the list of jobs
        printed = _printed(mirror.ad(number))
        if number not in intact:
            found += compare(f"differs_from_intact.{job}", differs.get(job), "extra")
            continue
        expected: dict[str, object] = {**_printed(intact.ad(number))}
        for name, pair in mapping({job: differs.get(job, {})}, job).items():
            field = f"differs_from_intact.{job}.{name}"
            before, after = items({field: pair}, field, [2])
            found += compare(field, before, expected.pop(name, None))
            if after is not None:
                expected[name] = _lengthened(after, printed.get(name))
        found += compare(job, expected, dict(printed))
    return found


def _lengthened(recorded: object, said: str | None) -> object:
    """Return a recorded value; one that was shortened there is what was said, if its beginning and length are."""
    match = _SHORTENED(recorded) if isinstance(recorded, str) else None
    same = match is not None and said is not None and said.startswith(match[1]) and len(said) == int(match[2])
    return said if same else recorded


def _compare_follower(data: bytes, expected: Mapping[str, object]) -> list[Difference]:
    """Compare the idle jobs that a follower sees, and that it goes on."""
    check_fields(expected, ["exited", "candidates"], ["log_lines"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _LOG
        path.write_bytes(data)
        follower = Follower(path)
        follower.poll()
        mirror = follower.mirror
        idle = sorted(str(job) for job in mirror if mirror.text(job, "JobStatus") == _IDLE)
    found = compare("follower.exited", expected["exited"], None)
    return found + compare("follower.candidates", texts(expected, "candidates"), idle)


# Files


def _content(folder: Path, name: str) -> bytes:
    """Return a file beside the recording, which may be gzipped under its own name or with .gz after it."""
    path = folder / name
    try:
        data = (path if path.exists() else Path(f"{path}.gz")).read_bytes()
    except OSError as error:
        raise Malformed(name, f"this file is missing: {error.strerror}") from error
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _read(folder: Path, name: str, *, live: bool = False) -> LogReading:
    return read_records(io.BytesIO(_content(folder, name)), name, live=live)


def _printed(ad: ClassAd) -> Attributes:
    return _pairs(ad.print(Format.LONG))


def _pairs(block: str) -> Attributes:
    return dict(_pair(line) for line in block.strip().split("\n"))


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition(" = ")
    return name, value


def _read_long(content: str) -> dict[str, Attributes]:
    """Return the ads of condor_q -long by job, taken apart as text: no reader of ours has a say in what is expected."""
    ads = [_pairs(block) for block in content.split("\n\n") if block.strip()]
    return {f"{ad['ClusterId']}.{ad['ProcId']}": ad for ad in ads}


KINDS: Mapping[str, Replay] = {"queue-log": _replay}
