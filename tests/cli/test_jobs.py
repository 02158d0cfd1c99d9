"""--jobs: what several processes print and say is what one does, and whatever ends them leaves nothing behind."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.classad.formats import ReadMode, read_ads
from crondor.diagnostics import Diagnostic
from crondor_cli.kit import ads as ads_
from crondor_cli.kit import parallel
from crondor_cli.kit.ads import SharedAds
from crondor_cli.kit.parallel import Alone, Sharing
from tests.cli.running import NOW, ROOT, SLOWEST, crondor, environment
from tests.examples import examples

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="one process does all here")

# The command with chunks so small that a short input has many.
SMALL = """
import sys
from crondor_cli.kit import ads
ads._CHUNK = ads.SIZE = 2000
from crondor_cli.main import script
"""
# Commands one after the other, each in a process of its own that has imported everything.
IN_TURN = """
import json, os
import crondor_cli.agenda.command, crondor_cli.check.command, crondor_cli.classad.transform
from crondor_cli.route import apply, diff, explain
statuses = []
for number, words in enumerate(json.loads(sys.argv[1])):
    child = os.fork()
    if not child:
        sys.argv = ["crondor", *words]
        os.dup2(os.open("stdin", os.O_RDONLY), 0)
        for at, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), at)
        script()
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(statuses))
"""
RULES = """\
NAME odd
REQUIREMENTS ClusterId % 3 != 1
SET Site "$RANDOM_CHOICE(A,B,C,D)"
EVALSET Draw random(1000)
EVALSET Late time() - QDate
SET Batch "$(MY.Owner)-$(MY.ClusterId)"
RENAME Args Arguments
DELETE /^Bytes/
if defined MY.Bad
  EVALMACRO odd $(MY.Bad) +
endif
"""
FAILS = "REQUIREMENTS ClusterId == 1040\nSET X $(MY.BytesSent) $(MY.ClusterId)\n"
ROUTES = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = JobUniverse == 5
JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 100000
JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE = 100000
JOB_ROUTER_ROUTE_NAMES = Small Odd Rest
JOB_ROUTER_ROUTE_Small @=end
  REQUIREMENTS ClusterId < 1100
  MaxJobs = 37
  MaxIdleJobs = 37
  GridResource = "batch slurm"
  SET Queue "$RANDOM_CHOICE(short,long)"
@end
JOB_ROUTER_ROUTE_Odd @=end
  REQUIREMENTS ClusterId % 2 == 1
  MaxJobs = {most}
  MaxIdleJobs = {most}
  UNIVERSE VANILLA
  COPY Requirements OrigRequirements
@end
JOB_ROUTER_ROUTE_Rest @=end
  REQUIREMENTS ProcId < 5
  MaxJobs = {most}
  MaxIdleJobs = {most}
  GridResource = "arc arc.example.org"
@end
"""
NEW = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = JobUniverse == 5
JOB_ROUTER_ROUTE_NAMES = Rest Odd Late
JOB_ROUTER_ROUTE_Odd @=end
  REQUIREMENTS ClusterId % 2 == 1 && ProcId < 6
  UNIVERSE VANILLA
  SET Requirements ClusterId > 7
  SET Twice $(MY.ProcId) + $(MY.ProcId)
@end
JOB_ROUTER_ROUTE_Rest @=end
  REQUIREMENTS ProcId < 4
  GridResource = "arc arc.example.org"
@end
JOB_ROUTER_ROUTE_Late @=end
  REQUIREMENTS ClusterId > 1150
  GridResource = "batch slurm"
  SET Queue "$RANDOM_CHOICE(short,long)"
@end
"""
FAULTS = [
    "Bad = (((\n",
    "no sign at all\n",
    "= 7\n",
    'Open = "no end\n',
    "\n\n\n",
    "*** Offset = 7\n",
    "-- Schedd: submit.example.org\n",
    "# a remark\n",
    "Nul = \0\n",
    "ClusterId = undefined\n",
    " \t \n",
    "Twice = 1\r\n\r\n",
    "\ufeffA = 1\n",
]


def made_queue(seed: int, jobs: int = 60) -> str:
    """Return the ads of a queue with faults at many places."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    texts = []
    for number in range(jobs):
        lines = [
            f"ClusterId = {1000 + number // 2}\n",
            f"ProcId = {number % 7}\n",
            "JobStatus = 1\n",
            f"JobUniverse = {draw.choice((5, 5, 5, 7))}\n",
            f'Owner = "user{number % 13}"\n',
            f"QDate = {1_700_000_000 + number}\n",
            f'Args = "--seed {draw.randrange(10**6)}"\n',
            f"BytesSent = {number}.0\n",
            f"Requirements = TARGET.Memory >= {draw.randrange(10**4)} && Odd{number} =?= undefined\n",
            f'Cmd = "{"x" * draw.randrange(300)}"\n',
        ]
        if draw.random() < 0.2:
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(FAULTS))
        texts.append("".join(lines))
    return "\n".join(texts)


def golden_queue() -> str:
    """Return all recorded -long texts, those with faults too, between ads that have none."""
    lines = gzip.decompress((ROOT / "tests/golden/classad/ads.jsonl.gz").read_bytes()).splitlines()
    recorded = [case["text"] for case in map(json.loads, lines) if case["form"] == "old"]
    good = made_queue(0).split("\n\n")
    return "\n\n".join(
        text for pair in zip(recorded, good * (1 + len(recorded) // len(good)), strict=False) for text in pair
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with rules, routes and queues."""
    place = tmp_path_factory.mktemp("jobs")
    (place / "rules").write_text(RULES)
    (place / "fails").write_text(FAILS)
    (place / "routes").write_text(ROUTES.format(most=100_000))
    (place / "new").write_text(NEW)
    (place / "full").write_text(ROUTES.format(most=20))
    (place / "turns").write_text(f"{ROUTES.format(most=100_000)}JOB_ROUTER_ROUND_ROBIN_SELECTION = true\n")
    (place / "made").write_bytes(made_queue(1).encode())
    (place / "golden").write_bytes(golden_queue().encode("utf-8", "surrogateescape"))
    (place / "lines").write_bytes(made_queue(3, 30).replace("\r", "").replace("\n", "\r\n").encode())
    return place


def runs(folder: Path, *asked: Sequence[str], stdin: bytes = b"") -> list[tuple[int, bytes, bytes]]:
    """Run commands with small chunks, and return for each its status and what it wrote."""
    (folder / "stdin").write_bytes(stdin)
    words = json.dumps([[*each, "--now", NOW] for each in asked])
    done = subprocess.run(
        [sys.executable, "-c", f"{SMALL}{IN_TURN}", words],
        capture_output=True,
        cwd=folder,
        env=environment(),
        timeout=SLOWEST,
        check=True,
    )
    found = []
    for number, status in enumerate(json.loads(done.stdout)):
        out, err = ((folder / f"{number}.{name}").read_bytes() for name in ("out", "err"))
        assert b"Traceback" not in err, err
        found.append((status, out, err))
    return found


def are_alike(folder: Path, *asked: Sequence[str], stdin: bytes = b"", least: int = 1000) -> None:
    """Hold three processes to what one does, byte for byte, on both streams and in the exit status."""
    both = [[*each, "--jobs", jobs] for each in asked for jobs in ("1", "3")]
    found = runs(folder, *both, stdin=stdin)
    for each, one, three in zip(asked, found[::2], found[1::2], strict=True):
        assert three == one, each
        assert len(one[1]) > least, each


TRANSFORMS: tuple[list[str], ...] = (
    [],
    ["--format", "json"],
    ["--format", "xml", "--order", "kept"],
    ["--diff"],
    ["--trace"],
    ["--lenient"],
)
ASKED = (
    *(("classad", "transform", "--rules", "rules", *more) for more in TRANSFORMS),
    ("classad", "transform", "--rules", "fails"),
    *(("route", "explain", "--summary", "--config", config) for config in ("routes", "full", "turns")),
    ("route", "explain", "--summary", "--config", "full", "--format", "json", "--ignore-prior-routing"),
    *(("route", "apply", "--config", config) for config in ("routes", "full", "turns")),
    ("route", "apply", "--config", "routes", "--format", "json"),
    ("route", "apply", "--config", "full", "--diff"),
    ("route", "apply", "--config", "turns", "--format", "table", "--trace"),
    ("route", "apply", "--config", "routes", "--route", "Odd"),
    ("route", "apply", "--config", "full", "--count-copies"),
    *(("route", "diff", "routes", "new", "--format", form) for form in ("text", "json", "markdown")),
    ("route", "diff", "turns", "new", "--format", "json", "--owner", "user3"),
)


@pytest.mark.parametrize("command", ["transform", "explain", "apply", "diff"])
def test_three_processes_write_what_one_does(command: str, folder: Path) -> None:
    """With faults in any chunk."""
    files = ["made", "golden", "lines"] if command in {"transform", "explain"} else ["made", "lines"]
    if command == "diff":
        files = [word for path in files for word in ("--ads", path)]
    are_alike(folder, *([*each, *files] for each in ASKED if command in each))


def test_standard_input_is_shared_out_too(folder: Path) -> None:
    """In the order in which it comes."""
    are_alike(folder, ["classad", "transform", "--rules", "rules", "-"], stdin=(folder / "made").read_bytes())


def test_files_are_shared_out(tmp_path: Path) -> None:
    """The findings of check and the days of agenda are in the order of the files; one is not there, one is no text."""
    lines = gzip.decompress((ROOT / "tests/golden/submit/submit.jsonl.gz").read_bytes()).splitlines()
    (tmp_path / "jobs").mkdir()
    for number, line in enumerate(lines[20::100]):
        text = json.loads(line)["submit"]
        (tmp_path / f"jobs/{number:03}.sub").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "jobs/003.sub").write_bytes(b"\0")
    are_alike(tmp_path, ["agenda", "jobs", "--format", "json"], least=500)
    (tmp_path / "jobs/gone.sub").symlink_to("nowhere")
    are_alike(tmp_path, ["check", "jobs"], ["check", "jobs", "--fix"], least=100)


TEXTS = st.lists(
    st.sampled_from([*FAULTS, "A = 1\n", 'Name = "x"\n', "B = A + 1\n", "\n", "\n\n", "\r\n", "\udcff = 1\n"]),
    max_size=40,
).map("".join)


@examples(15)
@given(TEXTS, st.integers(1, 40), st.sampled_from([ReadMode.STRICT, ReadMode.LAZY, ReadMode.DAEMON]))
def test_chunks_are_the_text(text: str, size: int, mode: ReadMode) -> None:
    """What is read chunk by chunk is what is read as a whole: ads, places, faults, in their order."""
    whole: list[object] = []
    ads = read_ads(text, None, mode, name="a", report=lambda each: whole.append(_told(each)))
    whole.extend(map(_seen, ads))
    parts: list[object] = []
    data = text.encode("utf-8", "surrogateescape")
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    shared = SharedAds[ClassAd](lambda ads, _report: ads, mode)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ads_, "SIZE", size)
        parts.extend(map(_seen, shared.made(shared.parts(pieces, "a"), lambda each: parts.append(_told(each)), 1)))
    assert parts == whole


def _seen(ad: ClassAd) -> object:
    return (
        ad.place,
        list(ad.names.values()),
        [code if isinstance(code, str) else str(code) for code in ad.codes.values()],
    )


def _told(found: Diagnostic) -> object:
    return str(found.message), found.span and (found.span.location, found.span.text)


def test_an_ad_without_an_end_is_read_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that cannot be cut is not held whole before something is read of it."""
    monkeypatch.setattr(ads_, "_MOST", 1000)
    monkeypatch.setattr(ads_, "SIZE", 100)
    shared = SharedAds[ClassAd](lambda ads, _report: ads, ReadMode.STRICT)
    pieces = iter([b"A = 1\n\n", *[b"B = 1\n"] * 400, b"\nC = 2\n"])
    parts = list(shared.parts(pieces, "a"))
    assert [type(part) for part in parts] == [ads_.AdChunk, Alone]
    ads = list(shared.made(iter(parts), lambda found: pytest.fail(str(found)), 1))
    assert [ad.place and ad.place.line for ad in ads] == [1, 3, 404]


def test_little_forks_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --jobs a short input is done by one process, and so it is where there is one processor."""
    monkeypatch.setattr(parallel, "_pool", lambda *_: pytest.fail("forked"))
    arguments = ("--rules", str(folder / "rules"), str(folder / "made"))
    assert crondor("classad", "transform", *arguments).out
    monkeypatch.setattr(ads_, "FEW", 0)
    monkeypatch.setattr(parallel, "processors", lambda: 1)
    assert crondor("classad", "transform", *arguments).out


def test_a_program_with_threads_is_not_forked() -> None:
    """A lock that one of them holds would be held in the other process for ever."""
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        assert parallel.processes(3) == 1
    finally:
        ended.set()
        other.join()


def test_a_task_that_fails_is_told_in_its_turn() -> None:
    """What comes before it is there, its own beginning too, and what comes after it is not."""
    program = """
from crondor.diagnostics import CrondorError, Diagnostic
from crondor_cli.kit.parallel import Sharing

def work(number):
    yield number
    if number == 7:
        raise CrondorError(Diagnostic("seven", "not seven"))
    yield -number

got = []
try:
    for each in Sharing(work, few=1).in_order(range(20), 3):
        got.append(each)
except CrondorError as error:
    print(got, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment(), check=True, text=True
    )
    expected = [sign * number for number in range(7) for sign in (1, -1)]
    assert done.stdout == f"{[*expected, 7]} error: not seven [seven]\n"


def test_who_cannot_be_forked_is_not_missed() -> None:
    """Where a user may have no more processes, those that are there do it all."""
    program = """
from multiprocessing.context import ForkProcess
from crondor_cli.kit.parallel import Sharing

start, most = ForkProcess.start, 0

def refused(self):
    global most
    most -= 1
    if most < 0:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    start(self)

ForkProcess.start = refused
for most in (0, 1, 2):
    print(list(Sharing(lambda number: [number], few=1).in_order(range(9), 3)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment(), check=True, text=True
    )
    assert done.stdout == f"{list(range(9))}\n" * 3


def test_alone_waits_for_its_turn() -> None:
    """What this process does by itself is done between the others."""
    sharing: Sharing[int, int] = Sharing(lambda number: [number], few=1)
    tasks: list[int | Alone[int]] = [1, Alone(lambda: [2, 3]), 4, Alone(lambda: [5])]
    assert list(sharing.in_order(tasks, 1)) == [1, 2, 3, 4, 5]


@contextmanager
def working(folder: Path, *, jobs: int = 3) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Give a transform that waits for the rest of its input, and the processes that it has forked."""
    words = ("classad", "transform", "--rules", "rules", "-", "--jobs", str(jobs))
    with subprocess.Popen(
        [sys.executable, "-c", f"{SMALL}script()", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(MANY)
        process.stdin.flush()
        children: list[int] = []
        end = time.monotonic() + SLOWEST
        while len(children) < jobs and time.monotonic() < end:
            time.sleep(0.01)
            children = _children(process.pid)
        try:
            yield process, children
        finally:
            process.kill()


MANY = b"ClusterId = 1\nProcId = 0\nQDate = 1700000000\n\n" * 500


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(each) for each in found.split()]


def gone(children: list[int]) -> bool:
    """Wait until none of some processes is there any more."""
    end = time.monotonic() + SLOWEST
    while time.monotonic() < end:
        if not any(_is_there(child) for child in children):
            return True
        time.sleep(0.01)
    return False


def _is_there(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are looked up in /proc")


@linux
def test_ctrl_c_ends_all_of_them(folder: Path) -> None:
    """It goes to each process of the terminal; one of them says that it was ended, and none says more."""
    with working(folder) as (process, children):
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=SLOWEST)
        assert (process.returncode, said) == (130, b"")
        assert gone(children)


@linux
def test_a_process_that_is_killed_is_told(folder: Path) -> None:
    """Whatever was done before is written, and nothing is lost in silence."""
    with working(folder) as (process, children):
        for child in children:
            os.kill(child, signal.SIGKILL)
        out, said = process.communicate(MANY * 20, timeout=SLOWEST)
        assert process.returncode == 2
        assert said.startswith(b"Error: a process of --jobs was killed: ")
        assert said.count(b"\n") == 1
        assert out.startswith(b"ClusterId = 1\n")
        assert out.endswith(b"\n\n")
        assert gone(children)


@linux
def test_a_reader_that_has_seen_enough_ends_it_quietly(folder: Path) -> None:
    """As `head` does."""
    with working(folder) as (process, children):
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, said = process.communicate(MANY * 20, timeout=SLOWEST)
        assert (process.returncode, said) == (0, b"")
        assert gone(children)


@linux
def test_none_outlives_the_one_that_gives_the_work(folder: Path) -> None:
    """Even where that one is killed, and can end nobody."""
    with working(folder) as (process, children):
        process.kill()
        assert gone(children)
