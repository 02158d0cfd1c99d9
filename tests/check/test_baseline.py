"""Baselines: what is known stays quiet wherever its line moves, and nothing else does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckReport, Finding, check_submit
from crondor.lint.baseline import Baseline, InvalidBaseline, KnownFinding, read_baseline
from tests.check.asking import SETTINGS

FAULTS = ("cron_minute = 60", "cron_minutes = 0", "cron_hour = MON", "cron_day_of_week = 1", "deferral_time = (")


def name_of(name: str) -> str:
    """Return a name as it is."""
    return name


def checked(*lines: str) -> CheckReport:
    """Check some lines."""
    return check_submit(Source("\n".join(("executable = x", *lines, "queue", "")), "job.sub"), SETTINGS)


@given(st.lists(st.sampled_from(FAULTS), max_size=6), st.lists(st.integers(0, 6), max_size=4))
def test_lines_that_move_are_known(lines: list[str], places: list[int]) -> None:
    """Comments and blank lines anywhere, other blanks within a line: nothing is new, and the text says the same."""
    before = checked(*lines)
    known = Baseline.of(before.findings, name_of)
    assert known.new(before.findings, name_of) == []
    again = read_baseline(Source(known.text()))
    assert again == known
    moved = [line.replace(" = ", "  =   ") for line in lines]
    for place in places:
        moved.insert(min(place, len(moved)), "# moved" if place % 2 else "")
    assert again.new(checked(*moved).findings, name_of) == []


@given(st.lists(st.sampled_from(FAULTS[:2]), min_size=1, max_size=3))
def test_another_fault_is_new(lines: list[str]) -> None:
    """Whatever is known besides."""
    known = Baseline.of(checked(*lines).findings, name_of)
    new = known.new(checked(*lines, "cron_month = 13").findings, name_of)
    assert "CRN101" in {each.diagnostic.code for each in new}
    assert known.new(new, name_of) == new


def found(code: str, line: str, severity: Severity = Severity.WARNING, file: str = "job.sub") -> Finding:
    """Return a made finding about a line."""
    (first, *_) = checked("cron_minute = 60").findings
    return Finding(replace(first.diagnostic, kind=code, severity=severity, span=Source(line, file).span(0, 1)))


def test_of_equal_findings_as_many_are_known_as_there_were() -> None:
    """The last are new."""
    one, other, third = (found("CRN501", "x = 1") for _ in range(3))
    assert Baseline.of([one, other], name_of).new([one, other, third], name_of) == [third]


def test_a_graver_one_is_new_and_a_lighter_one_is_not() -> None:
    """Of the same code and line."""
    levels = (Severity.WARNING, Severity.ERROR, Severity.NOTE)
    warning, error, note = (found("CRN307", "x = 1", each) for each in levels)
    known = Baseline.of([warning], name_of)
    assert known.new([error], name_of) == [error]
    assert known.new([note], name_of) == []


def test_another_file_code_or_line_is_new() -> None:
    """Each of the three tells findings apart."""
    known = Baseline.of([found("CRN501", "x = 1")], name_of)
    others = [found("CRN502", "x = 1"), found("CRN501", "x = 2"), found("CRN501", "x = 1", file="b.sub")]
    assert known.new(others, name_of) == others


def test_long_lines_are_cut_and_still_told_apart() -> None:
    """A baseline does not grow with them."""
    one, other = (KnownFinding.of(found("CRN501", "x = " + "y" * 5000 + end), name_of) for end in "ab")
    assert one != other
    assert len(one.line) < 300
    assert one.fingerprint != other.fingerprint


def test_what_is_gone_is_counted_for_the_files_looked_at() -> None:
    """Of others nobody knows."""
    known = Baseline.of([found("CRN501", "x = 1"), found("CRN501", "x = 1", file="b.sub")], name_of)
    nothing = Baseline.of([], name_of)
    assert known.gone(nothing, {"job.sub"}) == 1
    assert known.gone(nothing, {"job.sub", "b.sub"}) == 2
    assert known.updated(nothing, lambda name: name == "b.sub").files == {"b.sub"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not JSON"),
        ("executable = x\n", "this is not JSON"),
        ("[]", "it has no key crondor_baseline"),
        ("{}", "it has no key crondor_baseline"),
        ('{"crondor_baseline": 2, "findings": []}', "of version 1"),
        ('{"crondor_baseline": 1}', "findings must be a list"),
        ('{"crondor_baseline": 1, "findings": [7]}', "finding 1 of the list is not a finding"),
        ('{"crondor_baseline": 1, "findings": [{"file": "a", "code": "C"}]}', "finding 1"),
        ('{"crondor_baseline": 1, "findings": [{"file": "a", "code": "C", "line": "", "count": true}]}', "finding 1"),
        ('{"crondor_baseline": 1, "findings": [{"file": "a", "code": "C", "line": "", "severity": "x"}]}', "finding 1"),
        ('{"crondor_baseline": 1, "findings": [{"file": "a", "code": "C", "line": "", "severity": []}]}', "finding 1"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("1" * 5000, "not JSON|not a baseline"),
    ],
)
def test_what_is_no_baseline_is_refused(text: str, message: str) -> None:
    """With a place and a reason, never a traceback."""
    with pytest.raises(InvalidBaseline, match=message):
        read_baseline(Source(text, "known.json"))
