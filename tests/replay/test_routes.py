"""The recorded runs of condor_job_router_info: every line passes, an altered one fails."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case
from tests.golden.recording import read_recording

RECORDING = Path(__file__).resolve().parents[1] / "golden" / "routes" / "routes.jsonl.gz"
KIND = KINDS["routes"]


def test_every_recorded_line_passes() -> None:
    """Umbrella constraint, matches in order, and every routed ad in full."""
    result = judge(KIND, read_recording(RECORDING), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, len(result.accepted)) == (120, 0)


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "expectation": 1}
    for field in ("config", "jobs", "options", "umbrella", "matches", "routed"):
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    yield {**line, "options": ["-unknown"]}
    yield {**line, "umbrella": None if line["umbrella"] else "true"}
    if line["umbrella"]:
        yield {**line, "umbrella": "true"}
    if line["matches"]:
        none = 'target.Owner isnt "alice" && target.Owner isnt "bob" && target.Owner isnt "carol"'
        yield {**line, "umbrella": f"{line['umbrella']} && {none}"}
    for field in ("matches", "routed"):
        yield from ({**line, field: altered} for altered in _altered(line[field]))
    yield {**line, "matches": [*_list(line["matches"])[::-1], {"job": "1.0", "route": "x"}]}


def _altered(value: object) -> Iterator[Sequence[object]]:
    """Alter the first and the last of what was matched or routed."""
    listed = _list(value)
    for number in {0, len(listed) - 1} if listed else ():
        each = listed[number]
        before, after = listed[:number], listed[number + 1 :]
        yield before + after
        yield [*listed, each]
        yield [*before, {**each, "route": "Other"}, *after]
        yield [*before, {**each, "more": 1}, *after]
        ad = each.get("ad")
        if not isinstance(ad, dict):
            continue
        yield [*before, {**each, "in_place": True}, *after]
        for changed in (
            None,
            {**ad, "More": "1"},
            {name.swapcase(): text for name, text in ad.items()},
            *({**ad, name: "7.25"} for name in list(ad)[::7]),
            *({key: text for key, text in ad.items() if key != name} for name in list(ad)[::7]),
        ):
            yield [*before, {**each, "ad": changed}, *after]


def _list(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


def test_an_altered_line_fails() -> None:
    """Every recorded field counts, the order of matches too, and none may be missing, unknown or ill-typed."""
    survivors = []
    for case in some(read_recording(RECORDING), 3):
        line = case.value
        assert isinstance(line, dict)
        assert not differences(KIND, case)
        mutants = (Case(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not differences(KIND, mutant)]
    assert survivors == []
