"""Jobs that are passed over, since one with the same texts was of no interest, would have been of none themselves."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import JobId, Op, Record, Traits, cluster_key, format_record
from crondor.job_queue.recovery import Recovery
from crondor.router.daemon import Router, RouterOptions
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
_KEYS = st.sampled_from(["01.-1", "1.0", "1.1", "02.-1", "2.0", "2.1"])


def _cluster(number: int, common: Mapping[str, str], procs: list[dict[str, str]]) -> list[Record]:
    """Return what a schedd writes for a cluster and its jobs."""
    ads = {cluster_key(number): {"Owner": '"alice"', "JobStatus": "1", "A": "5", **common}}
    ads |= {str(JobId(number, proc)): {"ProcId": str(proc), **own} for proc, own in enumerate(procs)}
    made = [Record(Op.NEW, key, "Job", "Machine") for key in ads]
    return made + [Record(Op.SET, key, name, text) for key, texts in ads.items() for name, text in texts.items()]


_RECORDS = st.one_of(
    st.builds(Record, st.just(Op.SET), _KEYS, st.sampled_from(_NAMES), _TEXTS),
    st.tuples(st.just(Op.DELETE), _KEYS, st.sampled_from(_NAMES)).map(lambda each: Record(*each)),
    _KEYS.map(lambda key: Record(Op.DESTROY, key)),
)
_STEPS = st.one_of(
    st.builds(_cluster, st.integers(1, 2), _ADS, st.lists(_ADS, max_size=3)), st.lists(_RECORDS, max_size=2), _TABLES
)


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


def _story(log: Path, wanted: list[str], steps: list[list[Record] | list[str]], *, two: bool) -> list[object]:
    """Return what a router says and has, poll by poll, of the first table and what happens to a queue."""
    told: list[object] = []
    now, text = 100, "107 1 CreationTimestamp 1\n"
    log.write_text(text, encoding="utf-8")

    source = _Busy(log, clock=lambda: now)
    copies = MemorySchedd(clock=lambda: now) if two else None
    options = RouterOptions(log=lambda entry: told.append(str(entry)))
    router = Router(_table(wanted), source, copies, clock=lambda: now, options=options)
    for step in steps:
        records = [each for each in step if isinstance(each, Record)]
        if step and not records:
            router.reload(_table([str(each) for each in step]))
        if not step:  # a compaction
            text = f"107 {now} CreationTimestamp 1\n{text.partition(chr(10))[2]}"
            log.unlink()
        text += _lines(records)
        log.write_text(text, encoding="utf-8")
        now += 1
        told += [router.poll(), sorted(router.jobs), router.routes()]
        told += [(job, router.why(job).reason) for job in source.mirror]
    return told


@example(["B"], [_cluster(1, {"B": "ProcId"}, [{}, {}, {}]), ["A == 5"]], False)
@example(["A == 1"], [_cluster(1, {}, [{}, {"A": "B"}, {"A": "B", "B": "1"}])], False)
@example(["A == 1"], [_cluster(1, {}, [{}, {}]), [Record(Op.SET, "01.-1", "A", "1")]], True)
@example(["A == 1"], [_cluster(1, {}, [{}, {}]) + _cluster(2, {"A": "1"}, [{}, {}])], False)
@example(["A == 1"], [_cluster(1, {"A": "1", "Managed": 'eval("B")'}, [{"B": '"External"'}, {}])], False)
@example(
    ["A == 1"], [_cluster(1, {}, [{"A": "1"}] * 7), *([Record(Op.SET, f"1.{n}", "A", "5")] for n in (6, 5))], False
)
@given(_TABLES, st.lists(_STEPS, max_size=6), st.booleans())
def test_passing_over_changes_nothing(wanted: list[str], steps: list[list[Record] | list[str]], two: bool) -> None:
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
    made = _cluster(1, {}, [{}] * 500)
    log.write_text("107 1 CreationTimestamp 1\n" + _lines(made))
    router = Router(_table(["A == 1"]), _Busy(log, clock=lambda: 100), clock=lambda: 100)
    with patch.object(Mirror, "ad", autospec=True, side_effect=Mirror.ad) as ad:
        router.poll()
        router.reload(_table(["A == 2"]))
        router.poll()
        log.write_text(log.read_text() + _lines([Record(Op.SET, cluster_key(1), "A", "3")]))
        router.poll()
    assert ad.call_count < 10


_Parts = list[tuple[str, "str | None"]]
_PARTS = st.lists(st.tuples(st.sampled_from(_NAMES[-3:]), st.none() | _TEXTS), max_size=3)


@example({"a"}, [("ProcId", "B"), ("ProcId", "5")], [("ProcId", "B")])
@example(set(), [("ProcId", "5")], [])
@given(st.sets(st.sampled_from(["a", "procid", "stageinstart"])), _PARTS, _PARTS)
def test_equal_traits_are_equal_texts(asked: set[str], first: _Parts, second: _Parts) -> None:
    """Ads with the same key have the same texts, but for the number of the job."""
    traits, keys, texts = Traits(asked, "procid"), [], []
    for each in (first, second):
        mirror = Mirror()
        made = [Record(Op.NEW, "1.0", "Job", "Machine")]
        made += [Record(Op.DELETE if text is None else Op.SET, "1.0", name, text or "") for name, text in each]
        Recovery(mirror, "log").feed("".join(f"{format_record(record)}\n" for record in made).encode())
        keys.append(mirror.traits("1.0", traits))
        texts.append({low: mirror.text("1.0", low) for low in (*asked, "procid")})
    if keys[0] == keys[1]:
        numbers = [each.pop("procid") for each in texts] if "procid" not in asked else []
        assert texts[0] == texts[1]
        assert numbers[:1] == numbers[1:] or all(number is not None and number.isdigit() for number in numbers)
