"""The rules about the cron fields: what the schedd makes of a text, and texts that it reads as the manual does."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.algebra import field_differences, reread
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.diagnostics import Severity, Source
from crondor.lint import RULES, CheckSettings, Finding, check_submit, page
from crondor.lint.submit import fixed
from crondor.recurrence import NeverRuns, Recurrence
from crondor.spec import FIELDS, CronSpec, Dialect, Field, InvalidSpec
from crondor.submit.edits import apply
from tests.examples import examples

NOW = 1795305600  # 2026-11-22 00:00 UTC, a Sunday
RECORDED = Path(__file__).parent.parent / "golden" / "crontab" / "htcondor.jsonl.gz"
SUN_WED_SAT = "requirements = member(DeferralTime / 86400 % 7, {2,3,6}) && DeferralTime % 86400 == 21600"
COLUMNS = ("minute", "hour", "dom", "month", "dow")


def found(text: str, zone: str = "UTC", now: int = NOW) -> list[Finding]:
    """Return the findings of CRN1 and CRN2 in a description without its queue statement."""
    report = check_submit(Source(f"{text}\nqueue\n", "job.sub"), CheckSettings(now, zone))
    return [f for f in report.findings if f.diagnostic.code.startswith(("CRN1", "CRN2"))]


def codes(text: str) -> list[str]:
    """Return the codes of the findings about fields, those of dates left out."""
    return [f.diagnostic.code for f in found(text) if f.diagnostic.code.startswith("CRN1")]


def said(text: str, code: str) -> str:
    """Return message and help of the one finding under a code."""
    (finding,) = [f for f in found(text) if f.diagnostic.code == code]
    return f"{finding.diagnostic.message} | {finding.diagnostic.help}"


@cache
def records() -> list[dict[str, object]]:
    """Return the lines that HTCondor 25.14's own engine was recorded with."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def description(record: dict[str, object]) -> str:
    """Return the commands of a recorded line."""
    pairs = zip(FIELDS, COLUMNS, strict=True)
    return "\n".join(f"{field.command} = {record[column]}" for field, column in pairs if record[column] is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cron_minute = 60", ["CRN101"]),
        ("cron_minute = 59", []),
        ("cron_day_of_week = 7\ncron_minute = 0\ncron_hour = 1", []),
        ("cron_minute = 1-10/3", ["CRN102"]),
        ("cron_minute = 0-10/3,*/7", []),
        ("cron_month = 5-2\ncron_minute = 0", ["CRN103"]),
        ("cron_month = mar\ncron_minute = 0", ["CRN104"]),
        ("cron_day_of_week = MON-FRI", ["CRN104"]),
        ("cron_minute = @daily", ["CRN105"]),
        ("cron_hour = ?", ["CRN106"]),
        ("cron_hour = 1\u20135", ["CRN106"]),
        ("cron_hour = $$(x)", ["CRN106"]),
        ("cron_hour = '5'", ["CRN107"]),
        ('cron_hour = "JAN"', ["CRN107"]),
        ("cron_hour = 1 5", ["CRN108"]),
        ("cron_hour = 1 , 5", []),
        ("cron_hour = 1,,5", ["CRN109"]),
        ("cron_hour = $(undefined)\ncron_minute = 0", ["CRN109"]),
        ("cron_hour =\nCronHour = 5\ncron_minute = 0", []),
        ("cron_hour = 5/15", ["CRN110"]),
        ("cron_hour = */0", ["CRN111"]),
        ("cron_day_of_week = */2", ["CRN112"]),
        ("cron_day_of_week = *", []),
        ("cron_day_of_week = *,1", ["CRN112"]),
        ("cron_day_of_month = 1-31\ncron_day_of_week = 1", ["CRN113"]),
        ("cron_day_of_month = 1-31", []),
        ("cron_day_of_month = 1-31\ncron_day_of_week = *", []),
        ("+CronMinute = 5", ["CRN114"]),
        ('+CronMinute = "5"', []),
        ("+CronMinute = true", ["CRN114"]),
        ("+CronMinute = undefined", ["CRN114"]),
        ("-CronMinute =", ["CRN114"]),
        ('+CronMinute = strcat("5")', []),
        ('+CronMinute = strcat("6", "0")', ["CRN101"]),
        ("+CronMinute = 2 + 3", ["CRN114"]),
        ("+CronMinute = Unset", ["CRN114"]),
        ("cron_minute = **", ["CRN115"]),
        ("cron_minute = 1-2-3", ["CRN115"]),
        ("cron_minute = /5", ["CRN115"]),
        ("cron_minute = ,".ljust(40, ","), ["CRN109", "CRN115"]),
        ("cron_minute = 1-5/10", ["CRN116"]),
        ("cron_minute = 1-5/10\ncron_hour = 25", ["CRN116", "CRN101"]),
        ("cron_minute = 1-9/5\ncron_hour = 25", ["CRN102", "CRN101"]),
        ("cron_minute = 1-9/5\ndeferral_window = -1", ["CRN102"]),
        ("cron_minute = 5\nCronMinute = 6", ["CRN117"]),
        ('cron_minute = 5\n+CronMinute = "6"', ["CRN117"]),
    ],
)
def test_each_text_has_its_codes(text: str, expected: list[str]) -> None:
    """In the order of the lines, everything of every field."""
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("cron_minute = 60", "CRN101", "the schedd reads it as every minute"),
        ("cron_hour = 20-25", "CRN101", "the schedd reads `20-25` as 20, 21, 22, 23"),
        ('+CronHour = "20-25"', "CRN101", "the schedd reads `20-25` as 20, 21, 22, 23"),
        ("+CronHour = 25", "CRN101", "the schedd reads it as every hour"),
        ("+CronHour = true", "CRN114", "the schedd reads it as every hour"),
        ("cron_hour = 1-10/3", "CRN102", "the manual, like Unix cron, reads 1, 4, 7, 10, the schedd 3, 6, 9"),
        (
            "cron_hour = 22-5",
            "CRN103",
            f"(code {INVALID_CRON_SETTINGS}): Invalid cron schedule parameters: Invalid cron attribute: 22-5",
        ),
        ("cron_day_of_week = 5-1", "CRN103", "the schedd reads it as `*`"),
        ("cron_month = JAN", "CRN104", "Invalid parameter value 'JAN' for CronMonth"),
        ("cron_hour = 1 5", "CRN108", "the schedd reads `1 5` as 15"),
        ("cron_hour = 1,,5", "CRN109", "the schedd reads `1,,5` as 1, 5"),
        ("cron_hour =", "CRN109", "the job runs at once"),
        ("cron_hour =\ncron_minute = 5", "CRN109", "every hour counts"),
        ("cron_hour = 4/2", "CRN110", "the schedd reads `4/2` as 4"),
        ("cron_hour = 5/2", "CRN110", "Invalid cron attribute: 5/2"),
        ("cron_minute = */0", "CRN111", f"(code {INVALID_CRON_SETTINGS}): Invalid cron schedule parameters:"),
        ("cron_minute = 1-2-3", "CRN115", "the schedd reads it as 1, 2"),
        ("cron_minute = /5", "CRN115", "the schedd reads `/5` as 0"),
        ("cron_minute = 1-5/10", "CRN116", "the manual reads 1, and the schedd holds the job"),
        ("cron_minute = 5\nCronMinute = 6", "CRN117", "CronMinute has no effect together with cron_minute"),
    ],
)
def test_a_finding_says_what_the_schedd_does(text: str, code: str, words: str) -> None:
    """The values it takes, or the hold code and reason."""
    assert words in said(text, code)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("cron_hour = 1-10/3", "cron_hour = 1,4,7,10"),
        ('+CronHour = "1-10/3"', '+CronHour = "1,4,7,10"'),
        ("cron_minute = 0\ncron_month = Jan-MAR", "cron_minute = 0\ncron_month = 1-3"),
        ("cron_minute = 0\ncron_hour = 5/7", "cron_minute = 0\ncron_hour = 5,12,19"),
        ("cron_hour = '5'", "cron_hour = 5"),
        ('cron_month = "JAN"', "cron_month = 1"),
        ("cron_hour = 1,,5,", "cron_hour = 1,5"),
        ("cron_hour = 1\u20135;7", "cron_hour = 1-5,7"),
        ("cron_minute = 1-5/10", "cron_minute = 1"),
        ("+CronMinute = 5", '+CronMinute = "5"'),
        ("cron_minute = /15", "cron_minute = */15"),
        ("cron_hour = 22-5", "cron_hour = 22-5"),
        ("cron_hour = 1 5", "cron_hour = 1 5"),
        ("h = 1-10/3\ncron_hour = $(h)", "h = 1-10/3\ncron_hour = $(h)"),
        ("cron_hour = JAN,25", "cron_hour = JAN,25"),
        (
            "cron_minute = 0\ncron_hour = 6\ncron_day_of_month = 1-31\ncron_day_of_week = 1",
            "cron_minute = 0\ncron_hour = 6\ncron_day_of_month = *\ncron_day_of_week = *",
        ),
        (
            "cron_minute = 0\ncron_hour = 6\ncron_day_of_week = */3",
            "cron_minute = 0\ncron_hour = 6\ncron_day_of_week = 0,3,6\n" + SUN_WED_SAT,
        ),
    ],
)
def test_safe_fixes_write_what_the_manual_says(text: str, after: str) -> None:
    """Only where the value stands literally, and only where the author can have meant nothing else."""
    report = check_submit(Source(f"{text}\nqueue\n", "job.sub"), CheckSettings(NOW))
    assert fixed(report, CheckSettings(NOW)).report.source.text == f"{after}\nqueue\n"


def test_the_fix_of_a_weekday_brings_the_clause_that_it_then_needs() -> None:
    """Half a cure would trade one wrong schedule for another."""
    source = Source("cron_minute = 0\ncron_hour = 6\ncron_day_of_week = */3\nqueue\n")
    (finding,) = [f for f in check_submit(source, CheckSettings(NOW)).findings if f.diagnostic.code == "CRN112"]
    assert finding.fix is not None
    assert SUN_WED_SAT in apply(source, finding.fix.edits)


def test_a_value_that_two_schedules_share_is_not_rewritten_for_one_of_them() -> None:
    """The day of month is right for the first job, and the second needs another text."""
    text = "cron_day_of_month = 1-31\ncron_minute = 0\ncron_hour = 6\nqueue\ncron_day_of_week = 1\nqueue\n"
    (finding,) = [f for f in check_submit(Source(text), CheckSettings(NOW)).findings if f.diagnostic.code == "CRN113"]
    assert finding.fix is None


def test_an_empty_item_is_an_error_only_where_the_job_is_held() -> None:
    """The schedd passes over an empty item, as long as something is left."""
    assert found("cron_minute = 1,")[0].diagnostic.severity is Severity.WARNING
    assert found("cron_minute = ,")[0].diagnostic.severity is Severity.ERROR


@pytest.mark.parametrize("number", [n for n in range(0, 3000, 12) if "\\" not in description(records()[n])])
def test_recorded_schedules_are_told_as_they_went(number: int) -> None:
    """A job that the real engine refused has a finding with its words, one that it ran has none with a hold."""
    record = records()[number]
    text = description(record)
    messages = [f.diagnostic.message for f in found(text, str(record["tz"]), int(str(record["after"])))]
    held = [message for message in messages if f"holds the job (code {INVALID_CRON_SETTINGS})" in message]
    assert bool(held) == (record["outcome"] == "invalid")
    error = str(record.get("error", ""))
    said = [f"Invalid{part}"[:150] for part in error.split("Invalid")[1:]]  # each field's finding has its own part
    assert not held or all(any(part in message for message in held) for part in said)


def cited() -> Iterator[tuple[str, int]]:
    """Yield code and number of each recorded line that a page names."""
    for code in RULES:
        if code.startswith(("CRN1", "CRN2")):
            words = page(code).replace(",", " ").replace(".\n", " ").replace(";", " ").split()
            yield from ((code, int(n)) for word, n in pairwise(words) if word == "line" and n.isdigit())


@pytest.mark.parametrize(("code", "number"), list(cited()))
def test_a_recorded_line_that_a_page_names_shows_its_rule(code: str, number: int) -> None:
    """The source of a rule can be looked up."""
    record = records()[number - 1]
    findings = found(description(record), str(record["tz"]), int(str(record["after"])))
    assert code in {f.diagnostic.code for f in findings}


def test_many_pages_name_a_recorded_line() -> None:
    """The test above tests some."""
    assert len({code for code, _ in cited()}) >= 17


ITEM = st.one_of(
    st.integers(0, 60).map(str),
    st.just("*"),
    st.tuples(st.integers(0, 31), st.integers(0, 31)).map("{0[0]}-{0[1]}".format),
    st.tuples(st.integers(0, 12), st.integers(0, 31), st.integers(1, 12)).map("{0[0]}-{0[1]}/{0[2]}".format),
    st.integers(1, 15).map("*/{}".format),
)


def texts(field: Field) -> st.SearchStrategy[str | None]:
    """Return a strategy for texts of a field that the manual accepts, or None."""

    def accepted(text: str) -> bool:
        try:
            CronSpec.from_mapping({field.attribute: text})
        except InvalidSpec:
            return False
        return True

    some = st.lists(ITEM, min_size=1, max_size=3).map(",".join).filter(accepted)
    return st.one_of(st.none(), some, st.just(f"{field.low}-{field.high}"))


SCHEDULES = st.tuples(*map(texts, FIELDS)).filter(any)


def lines(schedule: tuple[str | None, ...]) -> str:
    """Return the commands of a schedule."""
    return "\n".join(f"{f.command} = {text}" for f, text in zip(FIELDS, schedule, strict=True) if text is not None)


def spec_of(text: str) -> CronSpec:
    """Return what the manual reads of commands."""
    pairs = (line.partition(" = ")[::2] for line in text.splitlines())
    commands = {f.command: f.attribute for f in FIELDS}
    return CronSpec.from_mapping({commands[name]: value for name, value in pairs if name in commands})


@examples(19)
@given(SCHEDULES)
def test_a_schedule_without_a_finding_is_read_alike(schedule: tuple[str | None, ...]) -> None:
    """And one with a finding is not: no difference of the two readings is skipped, none is invented."""
    text = lines(schedule)
    spec = spec_of(text)
    quiet = not set(codes(text)) - {"CRN118"}  # a step that leaves a rest is read alike
    assert quiet == (not field_differences(spec))
    if quiet:
        assert reread(spec, Dialect.HTCONDOR).bits == spec.bits


@examples(20)
@given(SCHEDULES)
def test_safe_fixes_keep_the_runs_and_leave_nothing_to_fix(schedule: tuple[str | None, ...]) -> None:
    """The runs that the manual reads stay the same; a second time changes nothing; the schedd reads all of it alike."""
    text = lines(schedule)
    config = CheckSettings(NOW)
    once = fixed(check_submit(Source(f"{text}\nqueue\n"), config), config)
    after = once.report.source.text
    again = fixed(once.report, config)
    assert again.report.source.text == after
    assert not again.titles
    before, now = spec_of(text), spec_of(after)
    assert first_runs(before) == first_runs(now)
    assert not [
        f for f in once.report.findings if f.diagnostic.code in {"CRN102", "CRN112", "CRN113", "CRN116", "CRN204"}
    ]


def first_runs(spec: CronSpec) -> list[int]:
    """Return some runs of a schedule."""
    try:
        upcoming = Recurrence(spec).upcoming(NOW)
        return [next(upcoming) for _ in range(200)]
    except NeverRuns:
        return []


@pytest.mark.parametrize("size", [10_000, 100_000])
@pytest.mark.parametrize("piece", ["1,", "*/", "-", "MON,", "1 2 ", "60,", '"'])
def test_hostile_text_is_answered(piece: str, size: int) -> None:
    """A long value gives a bounded list of findings of bounded length."""
    findings = found(f"cron_minute = {piece * (size // len(piece))}x")
    assert 0 < len(findings) < 30
    assert all(len(f.diagnostic.message) < 1000 for f in findings)
