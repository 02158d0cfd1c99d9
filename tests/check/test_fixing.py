"""Cures applied round after round: they end, cure what they say, and leave the rest of the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crondor.check import check
from crondor.check.fixing import fixed
from crondor.source import Source
from tests.check.asking import SETTINGS, report

FIELDS = ("cron_minute", "cron_minutes", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week")
VALUES = ("0", "60", "*/7", "1-23/2", "MON", "@daily", '"5"', "5-1", "1,,2", "", "*", "7", "5/15", "$(x)", "x y", "*/2")
OTHERS = (
    "on_exit_remove = false", "deferral_time = 9999999999", "+CronMinute = 5", "universe = grid", "# a comment",
    "requirements = true", "x = 3", "queue", "queue 2", "queue x in (1 2)", "max_retries = 3", "cron_window = 9",
)  # fmt: skip

lines = st.lists(
    st.one_of(st.sampled_from(OTHERS), st.builds("{} = {}".format, st.sampled_from(FIELDS), st.sampled_from(VALUES))),
    max_size=8,
)


@settings(deadline=None, max_examples=60)
@given(lines, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_cures_end_and_leave_nothing_to_cure(written: list[str], unsafe: bool, end: str) -> None:
    """After the last round no cure is left, a second time changes nothing, and nothing becomes unreadable."""
    before = check(Source(end.join((*written, "queue", "")), "job.sub"), SETTINGS)
    cured = fixed(before, SETTINGS, unsafe=unsafe)
    after = cured.report
    left = [f for f in after.findings if f.fix is not None and (f.fix.safe or unsafe)]
    assert left == []
    assert fixed(after, SETTINGS, unsafe=unsafe).report.source.text == after.source.text
    assert (cured.titles == ()) == (before.source.text == after.source.text)
    unreadable = {f.diagnostic.code for f in after.findings if f.diagnostic.code.startswith("CRN0")}
    assert unreadable <= {f.diagnostic.code for f in before.findings}
    assert end == "\n" or "\n" not in after.source.text.replace("\r\n", "")


@settings(deadline=None, max_examples=60)
@given(lines)
def test_safe_cures_never_add_policies(written: list[str]) -> None:
    """What the author did not ask for needs --unsafe."""
    before = report(*written)
    after = fixed(before, SETTINGS).report.source.text
    for name in ("on_exit_remove", "periodic_release", "periodic_hold"):
        assert after.count(name) == before.source.text.count(name)


@pytest.mark.parametrize("name", ["", "# why\n"])
def test_several_cures_at_once(name: str) -> None:
    """In one file, of one line, and of a place before the queue statement."""
    source = Source(f"{name}cron_minutes = 0\ncron_hour = 24\ncron_day_of_week = MON\nqueue\n", "job.sub")
    cured = fixed(check(source, SETTINGS), SETTINGS)
    assert cured.report.source.text.startswith(f"{name}cron_minute = 0\ncron_hour = 24\ncron_day_of_week = 1\n")
    assert len(cured.titles) >= 2


def test_only_what_is_chosen_is_cured() -> None:
    """--select and --ignore choose cures as well."""
    before = report("cron_minutes = 0", "cron_hour = 1-23/2")
    after = fixed(before, SETTINGS, lambda found: [f for f in found if f.diagnostic.code == "CRN501"]).report
    assert after.source.text == "cron_minute = 0\ncron_hour = 1-23/2\nqueue\n"
