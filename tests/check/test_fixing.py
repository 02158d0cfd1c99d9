"""Cures applied round after round: they end, cure what they say, and leave the rest of the text alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crondor.check import check_submit
from crondor.check.edit import changed
from crondor.check.fixing import fixed
from crondor.check.rule import Finding, Fix, TextEdit
from crondor.source import Source
from tests.check.asking import SETTINGS, report

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "submit" / "submit.jsonl.gz"

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
    before = check_submit(Source(end.join((*written, "queue", "")), "job.sub"), SETTINGS)
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
    cured = fixed(check_submit(source, SETTINGS), SETTINGS)
    assert cured.report.source.text.startswith(f"{name}cron_minute = 0\ncron_hour = 24\ncron_day_of_week = 1\n")
    assert len(cured.titles) >= 2


def test_only_what_is_chosen_is_cured() -> None:
    """--select and --ignore choose cures as well."""
    before = report("cron_minutes = 0", "cron_hour = 1-23/2")
    after = fixed(before, SETTINGS, lambda found: [f for f in found if f.diagnostic.code == "CRN501"]).report
    assert after.source.text == "cron_minute = 0\ncron_hour = 1-23/2\nqueue\n"


UNREADABLE = ("garbage here", "(", "a b", ")", "x /* why", '"half', "1 +", "a ? b", "[", "{", "x #y")


@pytest.mark.parametrize("value", UNREADABLE)
@pytest.mark.parametrize("name", ["periodic_release", "requirements", "periodic_hold", "deferral_time"])
def test_no_cure_touches_an_expression_that_cannot_be_read(name: str, value: str) -> None:
    """Nobody can say what it would mean with a clause beside it."""
    lines = ("cron_day_of_week = 1", "cron_minute = 0", "cron_hour = 6", "on_exit_remove = false", f"{name} = {value}")
    once = fixed(report(*lines), SETTINGS, unsafe=True).report
    assert f"{name} = {value}\n" in once.source.text
    assert fixed(check_submit(once.source, SETTINGS), SETTINGS, unsafe=True).report.source.text == once.source.text


@pytest.mark.parametrize("part", range(4))
def test_curing_twice_is_curing_once(part: int) -> None:
    """Over all recorded descriptions; and none becomes one that cannot be read."""
    texts = [json.loads(line)["submit"] for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    changes = 0
    for text in list(dict.fromkeys(texts))[part::4]:
        before = check_submit(Source(text, "job.sub"), SETTINGS)
        once = fixed(before, SETTINGS, unsafe=True).report
        if once.source.text == text:
            continue
        changes += 1
        assert fixed(check_submit(once.source, SETTINGS), SETTINGS, unsafe=True).report.source.text == once.source.text
        faults = [
            {f.diagnostic.code for f in each.findings if "error" in f.diagnostic.severity} for each in (before, once)
        ]
        assert any(code[:4] == "CRN0" for code in faults[0]) or not any(code[:4] == "CRN0" for code in faults[1])
    assert changes > 20


def test_a_cure_that_cures_nothing_or_breaks_something_is_dropped() -> None:
    """Whatever a rule claims: the text after it is read and checked before it counts."""
    text = "cron_minute = 61\ncron_hour = 6\nqueue\n"
    before = check_submit(Source(text, "job.sub"), SETTINGS)
    (finding,) = [each for each in before.findings if each.diagnostic.code == "CRN101"]
    span = before.source.span(14, 16)
    for new, after in (("0", "0"), ("62", "61"), ("1-", "61"), ("0\nqueue 1 of", "61")):
        made = Finding(finding.diagnostic, Fix("cure", (TextEdit(span, new),)))

        def chosen(found: Iterable[Finding], made: Finding = made) -> list[Finding]:
            return [made] if finding in found else []

        cured = fixed(before, SETTINGS, chosen)
        assert cured.report.source.text == text.replace("61", after)
        assert cured.titles == (("cure",) if after == "0" else ())


def test_a_good_cure_is_not_lost_with_a_bad_one() -> None:
    """They are tried together, and then one by one."""
    before = report("cron_minutes = 0", "cron_hour = 6", "cron_day_of_weak = 1")
    bad = TextEdit(before.source.span(len(before.source.text)), "queue 1 of\n")

    def with_bad(found: Iterable[Finding]) -> list[Finding]:
        return [f._replace(fix=Fix("bad", (bad,))) if "weak" in f.diagnostic.message else f for f in found]

    cured = fixed(before, SETTINGS, with_bad)
    assert cured.report.source.text == "cron_minute = 0\ncron_hour = 6\ncron_day_of_weak = 1\nqueue\n"


def test_a_place_is_found_again_after_edits() -> None:
    """Before, in and behind what was written."""
    source = Source("abcdefgh", "x")
    change = changed(
        source, [TextEdit(source.span(2, 4), "XYZ"), TextEdit(source.span(6, 6), "-"), TextEdit(source.span(0, 1), "")]
    )
    assert change.text == "bXYZef-gh"
    assert [change.place(at) for at in range(8)] == [0, 0, 1, 1, 4, 5, 6, 8]
