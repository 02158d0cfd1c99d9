"""A comment after a value goes on a line of its own, where it certainly is a comment."""

import pytest

from crondor.diagnostics import Source
from crondor.lint import CheckSettings, check_submit
from crondor.lint.submit import fixed

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
