"""The recording of condor_submit -dry-run: altered errors and unused lines count."""

import re
from dataclasses import replace
from pathlib import Path

from tests.golden.judging import differences
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, NotApplicable
from tests.golden.recording import read_recording

RECORDING = Path(__file__).resolve().parents[1] / "golden" / "submit" / "submit.jsonl.gz"
FULL = RECORDING.with_name("full.jsonl.gz")
KIND = KINDS["submit"]


def _cases() -> list[Case]:
    return read_recording(RECORDING)


def _differs(case: Case) -> bool:
    try:
        return bool(differences(KIND, case))
    except NotApplicable:
        return True


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
