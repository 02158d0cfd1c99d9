"""The recorded runs of condor_transform_ads: every line passes or is an accepted difference, an altered one fails."""

from collections.abc import Iterator
from pathlib import Path

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_accepted, read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "transforms"
KIND = KINDS["transforms"]


def _cases() -> list[Case]:
    return read_recording(RECORDINGS / "runs.jsonl.gz")


def test_every_recorded_line_passes() -> None:
    """What is accepted has a reason, and differs."""
    result = judge(KIND, _cases(), read_accepted(RECORDINGS / "accepted.txt"))
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, len(result.accepted)) == (706, 11)
    assert not result.idle


def test_every_odd_line_passes() -> None:
    """Runs of another release of HTCondor, of rules that nobody writes on purpose."""
    result = judge(KIND, read_recording(RECORDINGS / "odd.jsonl"), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert result.passed


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "rc": 255 if line["rc"] == 1 else 1}
    yield {**line, "expectation": 1}
    for field in ("rules", "config", "args", "ads_in", "rc", "ads_out", "stderr"):
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    yield {**line, "stderr": f"{line['stderr']}ERROR: SET Nothing invalid expression : like this\n"}
    yield {**line, "args": [*_texts(line["args"]), "-unknown"]}
    ads = _texts(line["ads_out"])
    yield {**line, "ads_out": [*ads, "More = 1\n"]}
    for number, ad in enumerate(ads):
        lines = ad.splitlines()
        reversed_ = "\n".join(reversed(lines)) + "\n"
        for altered in (ad + "Zz = 1\n", ad.swapcase(), *([reversed_] if len(lines) > 1 else [])):
            yield {**line, "ads_out": [*ads[:number], altered, *ads[number + 1 :]]}


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return value


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, the order of the attributes too, and none may be missing, unknown or ill-typed."""
    survivors = []
    for case in some(_cases(), 6):
        line = case.value
        assert isinstance(line, dict)
        if differences(KIND, case):
            continue
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
