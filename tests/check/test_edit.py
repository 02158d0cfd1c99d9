"""Edits of a submit description: made in one pass, refused where they overlap, offered for literal values only."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckReport, Finding, check_submit
from crondor.lint.baseline import Baseline, InvalidBaseline, KnownFinding, read_baseline
from crondor.lint.cures import insertion, literal, replacement
from crondor.lint.rule import Fix, compatible
from crondor.lint.subject import CheckedFile, CheckedJob, CheckSettings
from crondor.submit import read_submit
from crondor.submit.edits import OverlappingEdits, TextEdit, apply
from tests.check.asking import SETTINGS


def job_of(text: str) -> CheckedJob:
    """Return the first job of a description."""
    source = Source(text, "job.sub")
    return CheckedFile(source, CheckSettings(0), read_submit(source)).jobs[0]


def test_edits_are_made_in_one_pass_in_the_order_of_their_places() -> None:
    """A later edit counts its characters in the old text; insertions at one place keep their order."""
    source = Source("abcdef")
    edits = [TextEdit(source.span(4, 5), "E"), TextEdit(source.span(2, 2), "1"), TextEdit(source.span(0, 2), "xyz")]
    assert apply(source, [*edits, TextEdit(source.span(2, 2), "2"), edits[0]]) == "xyz12cdEf"


def test_overlapping_edits_are_refused() -> None:
    """Nothing is changed where two edits want the same characters, or where one is of another text."""
    source = Source("abcdef")
    with pytest.raises(OverlappingEdits):
        apply(source, [TextEdit(source.span(0, 3), "x"), TextEdit(source.span(2, 4), "y")])
    with pytest.raises(ValueError, match="an edit of other"):
        apply(source, [TextEdit(Source("abcdef", "other").span(0, 1), "x")])


def test_of_fixes_that_overlap_the_first_is_taken() -> None:
    """Each fix is made as a whole or not at all."""
    source = Source("abcdef")
    first = Fix("first", (TextEdit(source.span(0, 2), "x"),))
    overlapping = Fix("overlapping", (TextEdit(source.span(4, 5), "y"), TextEdit(source.span(1, 3), "y")))
    same, last = Fix("same", first.edits), Fix("last", (TextEdit(source.span(2, 3), "z"),))
    assert compatible(source, [first, overlapping, same, last]) == [first, same, last]


def test_of_fixes_that_insert_one_command_the_first_is_taken() -> None:
    """At one place another command may be inserted, but not a second value of the same."""
    source = Source("queue")
    a, b, c = (Fix(text, (TextEdit(source.span(0, 0), text),)) for text in ("x = 1\n", "x = 2\n", "y = 1\n"))
    assert compatible(source, [a, b, c]) == [a, c]


@pytest.mark.parametrize(
    "text",
    [
        "m = 5\ncron_minute = $(m)\nqueue\n",
        "queue cron_minute in (5)\n",
        "queue cron_minute from (\n5\n)\n",
        "cron_minute = 1,\\\n2\nqueue\n",
        "cron_minute =\nqueue\n",
        "cron_hour = 5\nqueue\n",
    ],
)
def test_what_is_not_literal_is_not_replaced(text: str) -> None:
    """A macro, a list of items, a continued line."""
    job = job_of(text)
    assert literal(job, "cron_minute") is None
    assert replacement(job, "cron_minute", "7") is None


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("cron_minute = 5\nqueue\n", "cron_minute", "cron_minute = 7\nqueue\n"),
        ("  Cron_Minute=5 \r\nqueue\n", "cron_minute", "  Cron_Minute=7 \r\nqueue\n"),
        ('+CronMinute = "5"\nqueue\n', "my.cronminute", "+CronMinute = 7\nqueue\n"),
        ('MY.CronMinute = "5"\nqueue\n', "my.cronminute", "MY.CronMinute = 7\nqueue\n"),
    ],
)
def test_a_literal_value_is_replaced_and_all_else_kept(text: str, name: str, after: str) -> None:
    """Spelling, blanks and line ends stay."""
    job = job_of(text)
    edit = replacement(job, name, "7")
    assert edit
    assert apply(job.file.source, [edit]) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("cron_minute = 5\nqueue\n", "cron_minute = 5\nx = 1\nqueue\n"),
        ("cron_minute = 5\r\n  queue 2\r\n", "cron_minute = 5\r\nx = 1\r\n  queue 2\r\n"),
        ("queue", "x = 1\nqueue"),
        ("cron_minute = 5", "cron_minute = 5\nx = 1\n"),
        ("cron_minute = 5\n", "cron_minute = 5\nx = 1\n"),
        ("cron_minute = 5\nqueue a from (\n1\n2\n)\n", "cron_minute = 5\nx = 1\nqueue a from (\n1\n2\n)\n"),
        ("a = 1\\\n\nqueue\n", "a = 1\\\n\nx = 1\nqueue\n"),
    ],
)
def test_a_command_is_inserted_before_the_queue_statement(text: str, after: str) -> None:
    """On a line of its own, with the line ends of the file; at the end of a file without such a statement."""
    job = job_of(text)
    edit = insertion(job, "x", "1")
    assert edit
    assert apply(job.file.source, [edit]) == after


def test_nothing_is_inserted_within_a_continued_line() -> None:
    """The line would become part of the statement."""
    assert insertion(job_of("cron_minute = 5\n\\\nqueue\n"), "x", "1") is None


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
