"""The recording of whole ads: every line passes, and an altered line fails."""

from collections.abc import Iterator
from pathlib import Path

from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "classad"
KIND = KINDS["classad-ads"]


def _cases() -> list[Case]:
    return read_recording(RECORDINGS / "ads.jsonl.gz")


def test_every_recorded_line_passes() -> None:
    """None is accepted."""
    result = judge(KIND, _cases(), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, len(result.accepted)) == (183, 0)
    assert not result.idle


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "ok": not line["ok"]}
    yield {**line, "expectation": 1}
    for field in line:
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    ads = line.get("ads")
    if not isinstance(ads, list):
        return
    yield {**line, "ads": [*ads, {"attrs": {}, "old": "", "new": "", "json": ""}]}
    for number, ad in enumerate(ads):
        for field in ad:
            for altered in ({**ad, field: "x"}, {**ad, field: None}):
                yield {**line, "ads": [*ads[:number], altered, *ads[number + 1 :]]}
        attributes = dict(reversed(ad["attrs"].items()))
        if len(attributes) > 1:
            yield {**line, "ads": [*ads[:number], {**ad, "attrs": attributes}, *ads[number + 1 :]]}


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, the order of the attributes too, and none may be missing, unknown or ill-typed."""
    survivors = []
    for case in _cases()[::5]:
        line = case.value
        assert isinstance(line, dict)
        if differences(KIND, case):
            continue
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
