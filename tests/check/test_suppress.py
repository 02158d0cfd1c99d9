"""Comments that silence rules."""

import pytest

from crondor.diagnostics import Source
from crondor.lint import CheckSettings, check_submit
from crondor.lint.report import Comments
from crondor.lint.submit import fixed
from tests.check.asking import found, report


def silent(text: str, code: str, line: int) -> bool:
    """Say whether the comments of a text silence a finding."""
    return any(Comments(Source(text)).covering(code, line))


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("# crondor: ignore[CRN101]\na\nb", 2, True),
        ("# crondor: ignore[CRN101]\na\nb", 3, False),
        ("# crondor: ignore[CRN101]\n\n# why\n\na\nb", 5, True),
        ("# crondor: ignore[CRN101]\n# crondor: ignore[CRN9]\na", 3, True),
        ("# crondor: ignore[CRN101]\na\\\nb\\\nc\nd", 4, True),
        ("# crondor: ignore[CRN101]\na\\\nb\\\nc\nd", 5, False),
        ("a\n# crondor: ignore[CRN101]\nb", 1, False),
        ("a\nb\n# crondor: ignore-file[CRN101]", 1, True),
        ("  #crondor:ignore [ crn1 , CRN2 ]  \r\na\r\n", 2, True),
        ("# crondor: ignore[CRN1]\na", 2, True),
        ("# crondor: ignore[CRN102]\na", 2, False),
        ("a # crondor: ignore[CRN101]\nb", 2, False),
        ("# crondor: ignore[CRN101", 2, False),
        ("# crondor: ignore[CRN101]", 1, False),
    ],
)
def test_what_a_comment_covers(text: str, line: int, expected: bool) -> None:
    """The statement below, with its continuation, or the file; codes by their beginning, in any case."""
    assert silent(text, "CRN101", line) is expected


@pytest.mark.parametrize(
    "order",
    ["ignore", "ignore[]", "ignore[CRN101;CRN102]", "disable[CRN101]", "ignore[CRN101] because", "", "ignore[,]"],
)
def test_a_comment_that_cannot_be_read(order: str) -> None:
    """It silences nothing, and CRN902 says so."""
    comments = Comments(Source(f"# crondor: {order}\na"))
    assert (comments.orders, len(comments.malformed)) == ([], 1)
    assert len(found("CRN902", f"# crondor: {order}", "executable = x")) == 1


def test_many_comments_are_cut() -> None:
    """A file of nothing else is not read to its end."""
    comments = Comments(Source("# crondor: ignore[CRN101]\n" * 3000))
    assert len(comments.orders) == len(comments.malformed) == 1000


def test_a_finding_is_silenced_and_counted() -> None:
    """It is kept apart, and the comment is no leftover."""
    checked = report("# crondor: ignore[CRN101, CRN401, CRN303]", "cron_minute = 60")
    assert [f.diagnostic.code for f in checked.silenced] == ["CRN101", "CRN401"]
    unused = [f.diagnostic.span for f in checked.findings if f.diagnostic.code == "CRN901"]
    assert [span.text for span in unused if span is not None] == ["CRN303"]


def test_no_comment_is_a_leftover_in_a_file_that_cannot_be_read() -> None:
    """What would have been found is not known."""
    assert not found("CRN901", "# crondor: ignore[CRN101]", "cron_minute = 60", "colon : here")
    assert found("CRN901", "# crondor: ignore[CRN101]", "cron_minute = 6")


def test_a_misspelt_code_is_corrected() -> None:
    """CRN902 proposes the closest code; to silence another rule may be wrong, so the fix is unsafe."""
    (finding,) = found("CRN902", "# crondor: ignore[CNR101]", "executable = x")
    assert finding.fix is not None
    assert (finding.fix.edits[0].text, finding.fix.safe) == ("CRN101", False)


NOW = 1_795_195_625


def titles(text: str) -> set[str]:
    """Return the titles of the safe fixes of a text."""
    report = check_submit(Source(text, "job.sub"), CheckSettings(NOW))
    return {each.fix.title for each in report.findings if each.fix is not None and each.fix.safe}


MOVE = "move the comment to a line of its own"


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("cron_hour = 3   # three", "# three\ncron_hour = 3"),
        ("  cron_hour = 3\t# three  ", "  # three\n  cron_hour = 3"),
        ("cron_window = 300 # five minutes", "# five minutes\ncron_window = 300"),
        ('cron_window = 300 # it\'s "five" minutes', '# it\'s "five" minutes\ncron_window = 300'),
        ("deferral_prep_time = 60 #", "#\ndeferral_prep_time = 60"),
        ("request_memory = 1024 # MB", "# MB\nrequest_memory = 1024"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_it_moves(line: str, moved: str, end: str) -> None:
    """With its margin, above the line; what is left is a value."""
    text = f"executable = /bin/true\ncron_minute = 5\n{line}{end}queue\n"
    cured = fixed(check_submit(Source(text, "job.sub"), CheckSettings(NOW)), CheckSettings(NOW))
    assert moved in cured.report.source.text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    "line",
    [
        'cron_hour = "3" # quotes stay in the value',
        "cron_hour = x # no value",
        "cron_hour = 3 # goes on \\\n 4",
        "cron_hour = \\\n 3 # of a continued line",
        "cron_hour = $(H) # whatever that is",
        "requirements = Memory > 1 # an expression",
        "cron_hour = 3# no blank before it",
        "cron_window = 300 # crondor: ignore[CRN301]",
        'request_memory = 1024 + size("a # b"',
        '+Attr = "a # b"',
        'arguments = "a # b"',
        "arguments = a # b",
    ],
)
def test_it_stays(line: str) -> None:
    """Where it may be a part of the value, or speaks of the line it stands on."""
    assert MOVE not in titles(f"executable = /bin/true\nH = 3\ncron_minute = 5\n{line}\nqueue\n")
