"""The recorded submissions: every line passes, an altered one fails."""

from collections.abc import Iterator
from pathlib import Path

from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "access_point"
KIND = KINDS["access-point"]


def _cases() -> list[Case]:
    return read_recording(RECORDINGS / "submissions.jsonl.gz")


def test_every_recorded_line_passes() -> None:
    """None is accepted with a difference."""
    result = judge(KIND, _cases(), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert result.passed == 62


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    for field in line.keys() - {"name"}:
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    yield {**line, "refused": "because"}
    yield {**line, "warned": ["it is late"]}
    ads = line["ads"]
    assert isinstance(ads, list)
    for number, ad in enumerate(ads):
        for name in ad:
            others = [*ads[:number], {each: text for each, text in ad.items() if each != name}, *ads[number + 1 :]]
            if name != "QDate":
                yield {**line, "ads": others}
        yield {**line, "ads": [*ads[:number], {**ad, "New": "1"}, *ads[number + 1 :]]}


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, and every attribute of every job."""
    survivors = []
    for case in _cases()[::7]:
        line = case.value
        assert isinstance(line, dict)
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
