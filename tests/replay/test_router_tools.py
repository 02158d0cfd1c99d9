"""The recorded router tools: every line passes, an altered one fails."""

from collections.abc import Iterator
from pathlib import Path

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDINGS = Path(__file__).resolve().parents[1] / "golden" / "router_tools"
KIND = KINDS["router-tools"]


def _cases() -> list[Case]:
    return read_recording(RECORDINGS / "tools.jsonl")


def test_every_recorded_line_passes() -> None:
    """None is accepted with a difference; the help is our own."""
    result = judge(KIND, _cases(), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, result.not_applicable) == (26, {"help": 1})


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "rc": 1}
    yield {**line, "tool": "rm"}
    yield {**line, "expectation": 1}
    for field in ("tool", "args", "now", "ads", "rc", "stdout"):
        yield {name: value for name, value in line.items() if name != field}
    out = str(line["stdout"])
    for place, letter in enumerate(out.rstrip("\n")):
        if (
            letter.isdigit()
            and "Schedd:" not in out[out.rfind("\n", 0, place) + 1 : place]
            and "SCHEDD2" not in out[out.rfind("\n", 0, place) + 1 : out.find("\n", place)]
        ):
            yield {**line, "stdout": f"{out[:place]}{(int(letter) + 1) % 10}{out[place + 1 :]}"}


def test_an_altered_line_fails() -> None:
    """Every field counts, and every digit of the output."""
    survivors = []
    for case in some(_cases()[:26], 3):
        line = case.value
        assert isinstance(line, dict)
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
