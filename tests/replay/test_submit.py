"""The recording of condor_submit -dry-run: every line passes, and an altered line fails."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, NotApplicable
from tests.golden.recording import read_accepted, read_recording

RECORDING = Path(__file__).resolve().parents[1] / "golden" / "submit" / "submit.jsonl.gz"
FULL = RECORDING.with_name("full.jsonl.gz")
KIND = KINDS["submit"]


def _cases() -> list[Case]:
    return read_recording(RECORDING)


def test_every_recorded_line_passes() -> None:
    """Nothing is accepted; what needs a command to be run, or another machine, is not applicable."""
    result = judge(KIND, _cases(), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, result.not_applicable.total()) == (597, 3)


def test_every_odd_line_passes() -> None:
    """Files that nobody writes on purpose: lists and slices, conditionals around queue, strings side by side."""
    result = judge(KIND, read_recording(RECORDING.with_name("odd.jsonl")), {})
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert result.passed


def test_every_attribute_of_every_job_is_made() -> None:
    """All that depends on the file: folders, images, clouds, virtual machines, what the administrator has added."""
    result = judge(KINDS["submit-full"], read_recording(FULL), read_accepted(FULL.with_name("accepted_full.txt")))
    assert [(case.value, found) for case, found in result.failed[:3]] == []
    assert (result.passed, len(result.accepted), result.not_applicable.total(), result.idle) == (521, 3, 0, {})


def test_an_attribute_more_or_less_fails() -> None:
    """Whatever attribute is missing in a full recording, or not in an ad of ours, counts."""
    survivors = []
    for case in read_recording(FULL)[::25]:
        line = case.value
        assert isinstance(line, dict)
        for number, ad in enumerate(line["ads"]):
            for altered in (*({k: v for k, v in ad.items() if k != name} for name in ad), {**ad, "Another": "1"}):
                ads = [*line["ads"][:number], altered, *line["ads"][number + 1 :]]
                if not differences(KINDS["submit-full"], replace(case, value={**line, "ads": ads})):
                    survivors.append((case.id, ad.keys() ^ altered.keys()))
    assert survivors == []


def _mutants(line: dict[str, object]) -> Iterator[dict[str, object]]:
    yield {**line, "rc": 1 - int(str(line["rc"]))}
    yield {**line, "expectation": 1}
    for field in line.keys() - {"name", "config", "files", "args"}:
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}
    ads = line["ads"]
    assert isinstance(ads, list)
    yield {**line, "ads": [*ads, {"ProcId": "99"}]}
    if ads:
        yield {**line, "ads": ads[:-1]}
    for number, ad in enumerate(ads):
        for attribute, value in ad.items():
            rest = {name: other for name, other in ad.items() if name != attribute}
            for altered in (rest, {**ad, attribute: value + "x"}, {**ad, attribute: 5}, {**rest, "Y1": value}):
                if attribute != "WantDocker" or altered is not rest:  # beside what is always compared
                    yield {**line, "ads": [*ads[:number], altered, *ads[number + 1 :]]}


def _differs(case: Case) -> bool:
    try:
        return bool(differences(KIND, case))
    except NotApplicable:
        return True


def test_an_altered_line_fails() -> None:
    """Acceptance and every attribute of every job count, and no field may be missing, unknown or ill-typed."""
    survivors = []
    for case in _cases()[::40]:
        line = case.value
        assert isinstance(line, dict)
        mutants = (case.__class__(case.number, case.id, mutant, case.folder) for mutant in _mutants(line))
        survivors += [mutant.value for mutant in mutants if not _differs(mutant)]
    assert survivors == []


def test_the_text_of_an_error_counts() -> None:
    """The errors of the deferral, cron and universe commands are compared word by word."""
    altered = 0
    for case in _cases():
        line = case.value
        assert isinstance(line, dict)
        stderr = re.sub(r"(?m)^(ERROR: .*)(non-negative integer|universe)", r"\1other \2", str(line["stderr"]))
        if stderr != line["stderr"] and "Failed to parse" not in stderr:  # the language, not a command
            altered += 1
            assert _differs(case.__class__(case.number, case.id, {**line, "stderr": stderr}, case.folder))
    assert altered > 50


def test_what_was_unused_counts() -> None:
    """A line that condor_submit says was unused, and one of which it does not say so, are told apart."""
    altered = 0
    for case in [*_cases(), *read_recording(FULL)]:
        line = case.value
        assert isinstance(line, dict)
        stderr, found = re.subn(r"the (line|Queue variable) '(\w)", r"the \1 'another_\2", str(line["stderr"]), count=1)
        if found and line["rc"] == 0:
            altered += 1
            assert _differs(replace(case, value={**line, "stderr": stderr}))
    assert altered > 200
