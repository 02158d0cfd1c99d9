"""Edits of a submit description: made in one pass, refused where they overlap, offered for literal values only."""

import pytest

from crondor.diagnostics import Source
from crondor.lint.cures import insertion, literal, replacement
from crondor.lint.rule import Fix, compatible
from crondor.lint.subject import CheckedFile, CheckedJob, CheckSettings
from crondor.submit import read_submit
from crondor.submit.edits import OverlappingEdits, TextEdit, apply


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
