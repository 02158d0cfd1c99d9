"""Cures applied round after round: they end, cure what they say, and leave the rest of the text alone."""

import difflib
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.lint import CheckReport, check_submit
from crondor.lint.rule import Finding, Fix
from crondor.lint.submit import fixed
from crondor.submit import job_ads, read_submit
from crondor.submit.edits import TextEdit, changed
from tests.check.asking import SETTINGS, report
from tests.examples import TIMES, examples

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "submit" / "submit.jsonl.gz"

WORRYING = (Severity.ERROR, Severity.WARNING)

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


@examples(15)
@given(lines, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_cures_end_and_leave_nothing_to_cure(written: list[str], unsafe: bool, end: str) -> None:
    """After the last round no cure is left untold, a second time changes nothing, and nothing becomes unreadable."""
    before = check_submit(Source(end.join((*written, "queue", "")), "job.sub"), SETTINGS)
    cured = fixed(before, SETTINGS, unsafe=unsafe)
    after = cured.report
    left = {f.fix.title for f in after.findings if f.fix is not None and (f.fix.safe or unsafe)}
    assert left == {each.fix.title for each in cured.left}
    assert_no_worse(before, after)
    assert fixed(after, SETTINGS, unsafe=unsafe).report.source.text == after.source.text
    assert (cured.titles == ()) == (before.source.text == after.source.text)
    unreadable = {f.diagnostic.code for f in after.findings if f.diagnostic.code.startswith("CRN0")}
    assert unreadable <= {f.diagnostic.code for f in before.findings}
    assert end == "\n" or "\n" not in after.source.text.replace("\r\n", "")


@examples(15)
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


def grave(found: CheckReport, *severities: Severity) -> Counter[str]:
    """Count the findings of some severities by their codes."""
    return Counter(f.diagnostic.code for f in found.findings if f.diagnostic.severity in severities)


def assert_no_worse(before: CheckReport, after: CheckReport) -> None:
    """No error is new, and what is new beside is no more than an error or warning that is gone brought to light."""
    assert not grave(after, Severity.ERROR) - grave(before, Severity.ERROR)
    if grave(after, Severity.ERROR) == grave(before, Severity.ERROR):
        assert grave(after, *WORRYING).total() <= grave(before, *WORRYING).total()


def ads_of(text: str) -> list[dict[str, str | None]] | None:
    """Return the job ads of a description, None where condor_submit would make none."""
    try:
        ads = job_ads(read_submit(Source(text)), limit=300, in_order=True)
        return [{name.lower(): ad.text(name) for name in ad} for _, ad in ads]
    except CrondorError:
        return None


def may_change(before: str, after: str) -> set[str]:
    """Return the attributes, in lower case, that the lines decide in which two texts differ."""
    lines = [line[1:] for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    found = set()
    for line in lines:
        name = re.split("[=:]", line)[0].strip(" \ufeff").lower()
        found |= {name.removeprefix("my.").removeprefix("+"), name.replace("_", "")}
        if name.startswith(("cron", "deferral", "+cron", "my.cron")):
            found |= {"deferraltime", "deferralwindow", "deferralpreptime", "scheddinterval", "requirements"}
    return found


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("part", range(4))
def test_curing_twice_is_curing_once(part: int, unsafe: bool) -> None:
    """Over all recorded descriptions; none gets worse, and of the job ads only what was cured is another."""
    texts = [json.loads(line)["submit"] for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    changes = compared = 0
    for text in list(dict.fromkeys(texts))[part :: 4 * max(1, 3 // TIMES)]:
        before = check_submit(Source(text, "job.sub"), SETTINGS)
        once = fixed(before, SETTINGS, unsafe=unsafe).report
        if once.source.text == text:
            continue
        changes += 1
        assert (
            fixed(check_submit(once.source, SETTINGS), SETTINGS, unsafe=unsafe).report.source.text == once.source.text
        )
        assert_no_worse(before, once)
        ads, cured_ads = ads_of(text), ads_of(once.source.text)
        if ads is None:
            continue
        assert cured_ads is not None
        compared += 1
        allowed = may_change(text, once.source.text)
        for one, other in zip(ads, cured_ads, strict=True):
            assert {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)} <= allowed
    assert changes > (6 if unsafe else 0)
    assert compared > (6 if unsafe else 0)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("cron_minutes = 5", "arguments = $(cron_minutes)"), "it would also change arguments"),
        (("cron_minutes = 5", "if defined cron_minutes", "  log = x", "endif"), "it would also change log"),
        (("cron_minutes = 5", "queue $(cron_minutes:2)"), "it would change the number of jobs"),
        (("cron_minutes = 60", "cron_hour = 6"), "the file would then have CRN101 (minute 60 is out of range"),
    ],
)
def test_a_name_is_not_mended_where_that_does_harm(lines: tuple[str, ...], reason: str) -> None:
    """What another line means stays, and no error comes of it."""
    before = report("executable = /bin/true", *lines, queue="" if "queue" in lines[-1] else "queue")
    at = before.source.text.index("cron_minutes")
    span = before.source.span(at, at + len("cron_minutes"))
    made = Finding(
        Diagnostic("CRN501", "made", Severity.WARNING, span), Fix("rename", (TextEdit(span, "cron_minute"),))
    )
    cured = fixed(before, SETTINGS, lambda found: [made] if list(found) == list(before.findings) else [])
    assert cured.report is before
    assert cured.titles == ()
    assert [each.reason for each in cured.left if each.reason.startswith(reason)]


def test_a_cure_that_brings_an_error_to_light_is_left_out() -> None:
    """A held job is seen at once; one that runs at wrong times is not."""
    lines = ("cron_minute = 0", "cron_hour = 6", "cron_day_of_week = MON", "requirements = $(x)", "x = true")
    before = report("executable = /bin/true", *lines)
    cured = fixed(before, SETTINGS)
    assert cured.report.source.text == before.source.text
    assert any("CRN204" in each.reason for each in cured.left)


def test_fixes_that_need_one_another_are_made_together() -> None:
    """A weekday alone is an error, too, and its clause goes with it."""
    before = report("executable = x", "cron_minute = 0", "cron_hour = 6", "cron_day_of_week = MON")
    cured = fixed(before, SETTINGS)
    assert "cron_day_of_week = 1\nrequirements = DeferralTime / 86400" in cured.report.source.text
    assert cured.left == ()


@pytest.mark.parametrize("value", ["a) || (b", "(a", "1 +"])
def test_a_clause_is_never_put_into_what_cannot_be_read(value: str) -> None:
    """Whatever a rule claims: what does not parse by itself is left to its author, even where the result would."""
    text = f"executable = x\nperiodic_release = {value}\nqueue\n"
    before = check_submit(Source(text, "job.sub"), SETTINGS)
    at = text.index(value)
    edit = TextEdit(before.source.span(at, at + len(value)), f"({value}) || (HoldReasonCode == 20)")
    place = before.source.span(at, at + 1)
    made = Finding(Diagnostic("CRN403", "made", Severity.WARNING, place), Fix("cure", (edit,)))
    cured = fixed(before, SETTINGS, lambda found: [made] if list(found) == list(before.findings) else [])
    assert cured.report.source.text == text


def test_a_line_is_put_above_the_comment_that_speaks_of_the_next() -> None:
    """Else the comment would speak of it, and not of the queue statement any more."""
    lines = ("executable = x", "cron_minute = 0", "cron_hour = 6", "cron_day_of_week = 1", "# weekly")
    before = report(*lines, "# crondor: ignore[CRN401]", "# go")
    after = fixed(before, SETTINGS).report.source.text.splitlines()
    assert after[4].startswith("requirements = ") or after[5].startswith("requirements = ")
    assert after[-3:] == ["# crondor: ignore[CRN401]", "# go", "queue"]


def test_where_too_many_cures_do_not_hold_none_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that is spent on a file is bounded, and it says so."""
    monkeypatch.setattr("crondor.lint.fixing._MOST_CHECKS", 40)
    text = "executable = x\n" + "".join(f"cron_minutes{n} = 5\n" for n in range(30)) + "queue\n"
    before = check_submit(Source(text, "job.sub"), SETTINGS)

    def bad(found: Iterable[Finding]) -> list[Finding]:
        span = next(iter(found)).diagnostic.span
        assert span is not None
        places = [each.start() for each in re.finditer("cron_minutes", span.source.text)]
        return [made(span.source, at) for at in places]

    def made(source: Source, at: int) -> Finding:
        diagnostic = Diagnostic("CRN501", "made", Severity.WARNING, source.span(at, at + 12))
        return Finding(diagnostic, Fix(f"{at}", (TextEdit(source.span(at, at), "("),)))

    cured = fixed(before, SETTINGS, bad)
    assert cured.report is before
    assert len(cured.left) == 30
    assert all(each.reason.startswith("too many of the fixes") for each in cured.left)


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
    """Before, in and after what was written."""
    source = Source("abcdefgh", "x")
    change = changed(
        source, [TextEdit(source.span(2, 4), "XYZ"), TextEdit(source.span(6, 6), "-"), TextEdit(source.span(0, 1), "")]
    )
    assert change.text == "bXYZef-gh"
    assert [change.place(at) for at in range(8)] == [0, 0, 1, 1, 4, 5, 6, 8]
