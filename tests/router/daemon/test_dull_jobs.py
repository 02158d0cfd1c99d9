"""Jobs that are passed over, since one with the same texts was of no interest, would have been of none themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad.text import lower
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import JobId, Op, Record, Traits, cluster_key, format_record
from crondor.job_queue.recovery import Recovery
from crondor.router.daemon import LogEntry, Router, RouterOptions
from crondor.router.daemon.status import QueueView
from crondor.router.table.route import RoutingTable
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.reading import QueueLogSchedd
from tests.router.tables import table_of

_NAMES = ["A", "B", "a", "Owner", "JobStatus", "Managed", "ManagedManager", "RoutedBy", "StageInStart", "ProcId"]
_PLAIN = ["0", "1", "5", '"alice"', '"External"', '"jobrouter"', "undefined"]
_ODD = ["B", "MY.A", "a + 1", "time() > 101", 'eval("B")', "ifThenElse(A == 1, B, 2)", "true || A", "error"]
_TEXTS = st.sampled_from([*_PLAIN, *_PLAIN, *_ODD])
_ADS = st.dictionaries(st.sampled_from(_NAMES), _TEXTS, max_size=4)
_WANTED = ["A == 1", "B =?= 0", 'TARGET.Owner == "alice"', "A == ProcId", "time() > 102", "B", "A < ClusterId", "true"]
_TABLES = st.lists(st.sampled_from(_WANTED), min_size=1, max_size=2)
_WHERE = st.tuples(st.integers(1, 3), st.integers(-1, 2))  # a cluster, and a job of it; -1: the cluster's own ad
_STEPS = st.one_of(
    st.tuples(st.just("new"), st.integers(1, 3), _ADS, st.lists(_ADS, max_size=3)),
    st.tuples(st.just("set"), _WHERE, st.sampled_from(_NAMES), _TEXTS),
    st.tuples(st.just("delete"), _WHERE, st.sampled_from(_NAMES)),
    st.tuples(st.just("gone"), _WHERE),
    st.tuples(st.just("table"), _TABLES),
    st.tuples(st.just("compacted")),
)
_Step = tuple[object, ...]


def _key(where: tuple[int, int]) -> str:
    return cluster_key(where[0]) if where[1] < 0 else str(JobId(*where))


def _ad(key: str, texts: Mapping[str, str]) -> Iterator[Record]:
    yield Record(Op.NEW, key, "Job", "Machine")
    for name, text in texts.items():
        yield Record(Op.SET, key, name, text)


def _records(step: _Step) -> list[Record]:
    """Return what a schedd would write for a step."""
    match step:
        case ("new", int(cluster), dict(common), list(procs)):
            usual = {"Owner": '"alice"', "JobStatus": "1", "A": "5"}
            made = [*_ad(cluster_key(cluster), {**usual, **common})]
            for proc, own in enumerate(procs):
                made += _ad(str(JobId(cluster, proc)), {"ProcId": str(proc), **own})
            return made
        case ("set", (int(cluster), int(proc)), str(name), str(text)):
            return [Record(Op.SET, _key((cluster, proc)), name, text)]
        case ("delete", (int(cluster), int(proc)), str(name)):
            return [Record(Op.DELETE, _key((cluster, proc)), name)]
        case ("gone", (int(cluster), int(proc))):
            return [Record(Op.DESTROY, _key((cluster, proc)))]
    return []


def _lines(records: list[Record]) -> str:
    return "".join(f"{format_record(each)}\n" for each in (Record(Op.BEGIN), *records, Record(Op.END)))


class _Busy(QueueLogSchedd):
    """A followed log, of a schedd where another client is always faster."""

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Change nothing."""
        del job, condition, edits
        return False


def _table(wanted: list[str]) -> RoutingTable:
    return table_of({f"R{n}": f"REQUIREMENTS {text}\nMaxIdleJobs = 2" for n, text in enumerate(wanted)})


def _story(log: Path, wanted: list[str], steps: list[_Step], *, two: bool) -> list[object]:
    """Return what a router says and has, poll by poll, of the first table and what happens to a queue."""
    told: list[object] = []
    clock = iter(range(100, 1000))
    now = next(clock)
    text = "107 1 CreationTimestamp 1\n"
    log.write_text(text, encoding="utf-8")

    def say(entry: LogEntry) -> None:
        told.append(str(entry))

    source = _Busy(log, clock=lambda: now)
    copies = MemorySchedd(clock=lambda: now) if two else None
    router = Router(_table(wanted), source, copies, clock=lambda: now, options=RouterOptions(log=say))
    for step in steps:
        if step[0] == "table":
            router.reload(_table(step[1]))  # type: ignore[arg-type]
        if step[0] == "compacted":
            text = f"107 {now} CreationTimestamp 1\n{text.partition(chr(10))[2]}"
            log.unlink()
        text += _lines(_records(step))
        log.write_text(text, encoding="utf-8")
        now = next(clock)
        told += [router.poll(), sorted(router.jobs), router.routes()]
        told += [(job, router.why(job).reason) for job in source.mirror]
    return told


@example(["B"], [("new", 1, {"B": "ProcId"}, [{}, {}, {}]), ("table", ["A == 5"])], False)
@example(["A == 1"], [("new", 1, {}, [{}, {"A": "B"}, {"A": "B", "B": "1"}])], False)
@example(["A == 1"], [("new", 1, {}, [{}, {}]), ("set", (1, -1), "A", "1")], True)
@given(_TABLES, st.lists(_STEPS, max_size=6), st.booleans())
def test_passing_over_changes_nothing(wanted: list[str], steps: list[_Step], two: bool) -> None:
    """A router that looks at every job says, takes and counts the same, poll by poll, as queue and table change."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "job_queue.log")
        found = _story(log, wanted, steps, two=two)
        log.unlink()
        with patch.object(QueueView, "leave_out"):
            assert found == _story(log, wanted, steps, two=two)


def test_jobs_alike_are_looked_at_once(tmp_path: Path) -> None:
    """Of many jobs that no route takes, few are made into ads: by the first poll, by a reload, by a change of all."""
    log = tmp_path / "job_queue.log"
    made = _records(("new", 1, {}, [{}] * 500))
    log.write_text("107 1 CreationTimestamp 1\n" + _lines(made))
    router = Router(_table(["A == 1"]), _Busy(log, clock=lambda: 100), clock=lambda: 100)
    with patch.object(Mirror, "ad", autospec=True, side_effect=Mirror.ad) as ad:
        router.poll()
        router.reload(_table(["A == 2"]))
        router.poll()
        log.write_text(log.read_text() + _lines([Record(Op.SET, cluster_key(1), "A", "3")]))
        router.poll()
    assert ad.call_count < 10


@given(st.lists(st.tuples(st.sampled_from(_NAMES), st.none() | _TEXTS), max_size=6), st.data())
def test_equal_traits_are_equal_texts(records: list[tuple[str, str | None]], data: st.DataObject) -> None:
    """Ads whose records differ in what is not asked for have the same key; others do not, packed or not."""
    asked = data.draw(st.sets(st.sampled_from([lower(name) for name in _NAMES]), max_size=4))
    other = data.draw(st.lists(st.sampled_from(records), max_size=6)) if records else []
    traits, keys, texts = Traits(asked, "procid"), [], []
    for each in (records, other):
        mirror = Mirror()
        made = [Record(Op.NEW, "1.0", "Job", "Machine")]
        made += [Record(Op.DELETE if text is None else Op.SET, "1.0", name, text or "") for name, text in each]
        lines = "".join(f"{format_record(record)}\n" for record in made)
        Recovery(mirror, "log").feed(lines.encode())
        keys.append(mirror.traits("1.0", traits))
        texts.append({low: mirror.text("1.0", low) for low in (*asked, "procid")})
        unpacked = mirror.ads["1.0"]
        assert isinstance(mirror.ads.held["1.0"], dict)
        assert traits(unpacked) is not None
    if keys[0] == keys[1]:
        numbers = [each.pop("procid") for each in texts] if "procid" not in asked else []
        assert texts[0] == texts[1]
        assert numbers[:1] == numbers[1:] or all(number is None or number.isdigit() for number in numbers)
