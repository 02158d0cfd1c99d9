"""What check says of unused lines, beside the warnings of condor_submit 25.14 on recorded descriptions."""

import re
from pathlib import Path

import pytest

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckReport, CheckSettings, check_submit
from crondor.submit import SubmitFile, read_submit
from tests.golden.recording import read_recording

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "submit"
ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC", "GOLDMIN": "45"}
SETTINGS = CheckSettings(1_700_000_000)
UNUSED = re.compile(r"the (?:line|Queue variable) '([\w./]+)(?: = [^\n]*)?' was unused by condor_submit")
SAYING = frozenset(("CRN501", "CRN507", "CRN508"))


def read(source: Source) -> SubmitFile:
    """Read a description as it was recorded."""
    return read_submit(source, environ=ENVIRON, now=SETTINGS.now, seed=1)


def recorded(name: str) -> list[tuple[CheckReport, set[str]]]:
    """Return what is found in each description that was taken, and the lower-case names said to be unused."""
    found = []
    for case in read_recording(GOLDEN / name):
        line = case.value
        assert isinstance(line, dict)
        if line["rc"] == 0 and not line.get("args") and not line.get("config") and "include" not in str(line["submit"]):
            report = check_submit(Source(str(line["submit"]), str(line["name"])), SETTINGS, read)
            if any(finding.diagnostic.code == "CRN004" for finding in report.findings):
                continue  # the items of its queue statement are files that are not here
            found.append((report, {each.lower() for each in UNUSED.findall(str(line["stderr"]))}))
    return found


@pytest.mark.parametrize("name", ["submit.jsonl.gz", "full.jsonl.gz"])
def test_check_says_what_condor_submit_says(name: str) -> None:
    """No warning that condor_submit does not give, and no line passed over on which there is no finding at all."""
    said = passed_over = 0
    for report, unused in recorded(name):
        told: set[str] = set()
        for finding in report.findings:
            diagnostic, span = finding.diagnostic, finding.diagnostic.span
            lines = "" if span is None else span.source.line(span.line).lower()
            if diagnostic.code in SAYING and diagnostic.severity is Severity.WARNING:
                assert any(each in f"{lines} {diagnostic.message.lower()}" for each in unused), diagnostic
                said += 1
            told |= {each for each in unused if each in f"{lines} {diagnostic.message.lower()}"}
        passed_over += len(unused - told)
    assert said > 100
    assert passed_over <= said // 20  # a window and its prep time have one cause, and one finding
