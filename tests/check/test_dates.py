"""The rules about dates: schedules that never fire, or rarely, or too often, and the cure of the day-0 defect."""

from datetime import datetime, timezone
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import AdValue, Context, Expression
from crondor.diagnostics import Severity, Source
from crondor.lint import CheckSettings, Finding, check_submit
from crondor.lint.schedules import _month_ends, next_wrong, refusals
from crondor.lint.submit import fixed
from crondor.recurrence import Policy, Recurrence
from crondor.spec import CronSpec, Dialect
from crondor.submit import read_submit
from crondor.zones import zone_of
from tests.examples import examples

NOW = 1795305600  # 2026-11-22 00:00 UTC, a Sunday
DAILY = "cron_minute = 0\ncron_hour = 6"


def found(text: str, config: CheckSettings | None = None) -> list[Finding]:
    """Return the findings about dates in a description without its queue statement."""
    report = check_submit(Source(f"{text}\nqueue\n", "job.sub"), config or CheckSettings(NOW))
    return [f for f in report.findings if f.diagnostic.code.startswith("CRN2")]


def codes(text: str, config: CheckSettings | None = None) -> list[str]:
    """Return the codes of these findings, sorted."""
    return sorted(f.diagnostic.code for f in found(text, config))


def message(text: str, code: str, config: CheckSettings | None = None) -> str:
    """Return the message of the one finding under a code."""
    (finding,) = [f for f in found(text, config) if f.diagnostic.code == code]
    return finding.diagnostic.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DAILY, []),
        (f"{DAILY}\ncron_day_of_month = 31\ncron_month = 2", ["CRN201"]),
        (f"{DAILY}\ncron_day_of_month = 30\ncron_month = 2\ncron_day_of_week = 1", ["CRN203", "CRN207"]),
        (f"{DAILY}\ncron_day_of_month = 29-31/2\ncron_month = 2", ["CRN201", "CRN202"]),
        (f"{DAILY}\ncron_day_of_month = 29\ncron_month = 2", ["CRN202"]),
        (f"{DAILY}\ncron_day_of_month = 29-31\ncron_month = 2", ["CRN202"]),
        (f"{DAILY}\ncron_day_of_month = 28\ncron_month = 2", []),
        (f"{DAILY}\ncron_day_of_month = 29\ncron_month = 1,2", ["CRN203"]),
        (f"{DAILY}\ncron_day_of_month = 31\ncron_month = 1,3,5", []),
        (f"{DAILY}\ncron_day_of_month = 1,15,31", ["CRN203"]),
        (f"{DAILY}\ncron_day_of_month = 28-31", []),
        (f"{DAILY}\ncron_day_of_month = */2", []),
        (f"{DAILY}\ncron_day_of_month = 30-31", ["CRN203"]),
        (f"{DAILY}\ncron_day_of_week = 1", ["CRN204"]),
        (f"{DAILY}\ncron_day_of_week = 0-6", []),
        (f"{DAILY}\ncron_day_of_week = */2", []),
        (f"{DAILY}\ncron_day_of_week = 1\ncron_day_of_month = 1", ["CRN207"]),
        ("cron_minute = 0,59\ncron_hour = 0,23", ["CRN206"]),  # over midnight
        (f"{DAILY}\ncron_day_of_week = 1\ncron_day_of_month = 1-31", ["CRN204"]),
        ("cron_minute = *", ["CRN206"]),
        ("cron_minute = */5", []),
        ("cron_minute = */4", ["CRN206"]),
        ("cron_minute = 1,5,30\ncron_hour = 4", ["CRN206"]),
        ("cron_minute = 0,59\ncron_hour = 4,5", ["CRN206"]),
        ("cron_minute = *\nuniverse = local", []),
        ("cron_hour = 6", ["CRN208"]),
        ("cron_hour = *", ["CRN206"]),
        ("cron_minute = 0", []),
        ("cron_minute = 0\ncron_month = 5", ["CRN208"]),
        ("cron_minute = 0\ncron_hour = *\ncron_month = 5", []),
        ("cron_minute = *\ncron_hour = 6\nuniverse = local", []),
        ("deferral_time = 1895305600", []),
    ],
)
def test_each_schedule_has_its_codes(text: str, expected: list[str]) -> None:
    """What is usual has none."""
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (f"{DAILY}\ncron_day_of_month = 31\ncron_month = 2,4", "CRN201", "day 31 does not occur in months 2, 4"),
        (f"{DAILY}\ncron_day_of_month = 31\ncron_month = 2", "CRN201", "searches forever and stops responding"),
        (f"{DAILY}\ncron_day_of_month = 29-31/2\ncron_month = 2", "CRN201", "as the schedd reads it"),
        (f"{DAILY}\ncron_day_of_month = 29\ncron_month = 2", "CRN202", "next Tue 2028-02-29 06:00; up to 8 years"),
        (f"{DAILY}\ncron_day_of_month = 31", "CRN203", "Feb, Apr, Jun, Sep, Nov have no run"),
        (f"{DAILY}\ncron_day_of_month = 29", "CRN203", "day 29 does not occur in Feb of most years"),
        (f"{DAILY}\ncron_day_of_month = 31\ncron_month = 4,5", "CRN203", "Apr has no run"),
        (f"{DAILY}\ncron_day_of_week = 0", "CRN204", "after Sun 2026-11-29 06:00 it runs on Mon 2026-11-30 06:00"),
        (f"{DAILY}\ncron_day_of_week = 1", "CRN204", "after Mon 2026-11-30 06:00 it runs every two minutes"),
        (f"{DAILY}\ncron_day_of_week = 1\ncron_month = 3", "CRN204", "submitted now, the job runs on Sun 2027-02-28"),
        ("cron_minute = */2", "CRN206", "runs are 120 s apart"),
        ("cron_minute = */2", "CRN206", "up to 480 of 720 runs a day are lost (00:02, 00:04, 00:08 ...)"),
        ("cron_minute = 1,5,30\ncron_hour = 4", "CRN206", "up to 1 of 3 runs a day are lost (04:05)"),
        (
            f"{DAILY}\ncron_day_of_month = 13\ncron_day_of_week = 5",
            "CRN207",
            "63 days in the coming year (12 by day of month, 52 by day of week); both match on 1",
        ),
        ("cron_hour = 6", "CRN208", "the job runs at every minute: cron_hour is set and cron_minute is not"),
        ("cron_minute = 0\ncron_month = 5", "CRN208", "cron_month is set and cron_hour is not"),
    ],
)
def test_a_finding_gives_the_facts(text: str, code: str, words: str) -> None:
    """Dates, counts and months, by the engine."""
    assert words in message(text, code)


def test_the_interval_is_a_setting() -> None:
    """A schedd may look more often."""
    assert codes("cron_minute = */2", CheckSettings(NOW, schedd_interval=120)) == []
    assert codes("cron_minute = */10", CheckSettings(NOW, schedd_interval=601)) == ["CRN206"]


BERLIN = CheckSettings(NOW, "Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "config", "words"),
    [
        (
            "cron_minute = 30\ncron_hour = 2",
            BERLIN,
            "2027-03-28 skips 02:00 to 03:00 (compatible: Sun 2027-03-28 03:30)",
        ),
        (
            "cron_minute = 30\ncron_hour = 2",
            BERLIN,
            "2027-10-31 repeats 02:00 to 03:00 (compatible: Sun 2027-10-31 02:30)",
        ),
        (
            "cron_minute = 30\ncron_hour = 2",
            CheckSettings(NOW, "Europe/Berlin", Policy.SKIP),
            "(skip: no run, the schedd: Sun 2027-03-28 03:30)",
        ),
        (
            "cron_minute = 30\ncron_hour = 2",
            CheckSettings(NOW, "Europe/Berlin", Policy.KUBERNETES),
            "2027-03-28 skips 02:00 to 03:00 (kubernetes: no run, the schedd: Sun 2027-03-28 03:30)",
        ),
        (
            "cron_minute = 30\ncron_hour = 2",
            CheckSettings(NOW, "America/New_York"),
            "in America/New_York 2027-03-14 skips 02:00 to 03:00",
        ),
    ],
)
def test_clock_changes_are_named_with_what_happens(text: str, config: CheckSettings, words: str) -> None:
    """The zone, the date, the policy's answer, and the schedd's where it is another."""
    assert words in message(text, "CRN205", config)


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("cron_minute = 30\ncron_hour = 4", BERLIN),
        ("cron_minute = 30", BERLIN),
        ("cron_minute = 30\ncron_hour = */2", BERLIN),
        ("cron_minute = 30\ncron_hour = 2\ncron_month = 7\ncron_day_of_month = 1", BERLIN),
        ("cron_minute = 30\ncron_hour = 2", CheckSettings(NOW, "Asia/Kolkata")),
        ("cron_minute = 30\ncron_hour = 2", CheckSettings(NOW)),
    ],
)
def test_clock_changes_that_touch_no_run_are_not_named(text: str, config: CheckSettings) -> None:
    """Another hour, real time, another month, a zone without changes."""
    assert "CRN205" not in codes(text, config)


# The day-0 defect and its cure.

WEEKLY = st.fixed_dictionaries(
    {
        "minute": st.sets(st.integers(0, 59), min_size=1, max_size=2),
        "hour": st.sets(st.integers(0, 23), min_size=1, max_size=2),
        "day_of_week": st.sets(st.integers(0, 6), min_size=1, max_size=5),
        "month": st.one_of(st.just({*range(1, 13)}), st.sets(st.integers(1, 12), min_size=1, max_size=3)),
    }
)


def weekly(fields: dict[str, set[int]]) -> str:
    """Return the commands of a schedule by weekdays."""
    return "\n".join(f"cron_{name} = {','.join(map(str, sorted(values)))}" for name, values in fields.items())


def spec(dialect: Dialect, fields: dict[str, set[int]]) -> CronSpec:
    """Return the same schedule."""
    texts = {name: ",".join(map(str, sorted(values))) for name, values in fields.items()}
    month = None if len(fields["month"]) == 12 else texts["month"]
    return CronSpec(
        minute=texts["minute"], hour=texts["hour"], month=month, day_of_week=texts["day_of_week"], dialect=dialect
    )


def requirements(text: str) -> Expression:
    """Return the requirements of a description's one job."""
    (group,) = read_submit(Source(text)).groups(["requirements"])
    return Expression(group.values["requirements"])


def lets_by(expression: Expression, time: int, zone: ZoneInfo) -> bool:
    """Say whether a machine with 8 GB can match when DeferralTime is ``time``."""
    job = AdValue({"deferraltime": str(time), "requestmemory": "1"}, {})
    machine = AdValue({"memory": "8192"}, {})
    return expression.evaluate(job, machine, Context(now=time - 300, zone=zone)) is True


@pytest.mark.parametrize(("zone", "delay"), [("Europe/Berlin", 0), ("Pacific/Auckland", 299)])
@pytest.mark.parametrize(
    "fields",
    [
        {"minute": {0}, "hour": {6}, "day_of_week": {1}, "month": {*range(1, 13)}},
        {"minute": {0, 30}, "hour": {0, 23}, "day_of_week": {0, 3}, "month": {*range(1, 13)}},
        {"minute": {*range(0, 60, 5)}, "hour": {4, 5, 6}, "day_of_week": {2}, "month": {*range(1, 13)}},
        {"minute": {59}, "hour": {23}, "day_of_week": {6}, "month": {1, 12}},
    ],
)
def test_under_the_fix_exactly_the_right_times_can_match(fields: dict[str, set[int]], delay: int, zone: str) -> None:
    """A model of the schedd for 45 days: of all the times it sets, those of the manual match and no other.

    ``delay`` is how long after a time has passed the schedd computes the next one.
    """
    config = CheckSettings(NOW, zone)
    text = f"{weekly(fields)}\nrequirements = TARGET.Memory > 4096 || TARGET.Gpus > 0\nqueue\n"
    clause = requirements(fixed(check_submit(Source(text), config), config, unsafe=True).report.source.text)
    schedd = Recurrence(spec(Dialect.HTCONDOR, fields), zone)
    end = NOW + 45 * 86400
    asked, times = NOW, list[int]()
    while asked < end:
        times.append(int(schedd.next(asked)))
        asked = times[-1] + delay
    manual = list(Recurrence(spec(Dialect.MANUAL, fields), zone).between(NOW, end))
    matched = [time for time in times if time <= end and lets_by(clause, time, ZoneInfo(zone))]
    assert len(times) > len(manual)
    step = min((b - a for a, b in pairwise(manual)), default=86400)
    assert matched == manual if delay < step else set(matched) <= set(manual)


@examples(15)
@given(WEEKLY, st.integers(0, 3 * 365), st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]))
def test_the_next_wrong_time_is_one_that_the_schedule_does_not_have(
    fields: dict[str, set[int]], days: int, zone: str
) -> None:
    """It is what the schedd's engine answers when it is asked then, and no run of the manual."""
    now = NOW + days * 86400
    schedd = spec(Dialect.HTCONDOR, fields)
    wrong = next_wrong(schedd, zone, now)
    if wrong is None:
        return
    answer = Recurrence(schedd, zone).next(wrong.asked)
    assert wrong.answer == answer
    assert wrong.asked >= now
    assert wrong.answer.is_retry or not Recurrence(spec(Dialect.MANUAL, fields), zone).matches(int(answer))


@examples(4)
@given(WEEKLY)
def test_a_file_with_the_clause_is_not_told_of_it_again(fields: dict[str, set[int]]) -> None:
    """Requirements are tried, not compared with the clause that the fix writes."""
    config = CheckSettings(NOW, "Europe/Berlin")
    first = check_submit(Source(f"{weekly(fields)}\nqueue\n"), config)
    after = fixed(first, config, unsafe=True).report
    assert "CRN204" not in {f.diagnostic.code for f in after.findings}
    struck = "CRN204" in {f.diagnostic.code for f in first.findings}
    assert ("DeferralTime" in after.source.text) == struck


@pytest.mark.parametrize(
    ("zone", "universe", "safe", "words"),
    [
        ("UTC", "vanilla", True, "DeferralTime / 86400 % 7 == 4"),
        ("Etc/GMT-9", "vanilla", True, "(DeferralTime + 32400) / 86400 % 7 == 4"),
        ("Europe/Berlin", "vanilla", True, "write cron_day_of_month = 31, and add to requirements: DeferralTime"),
        ("Europe/Berlin", "local", True, 'formatTime(DeferralTime, "%w %H:%M")'),
    ],
)
def test_the_safe_fix_of_day_zero_means_the_same_on_every_host(
    zone: str, universe: str, safe: bool, words: str
) -> None:
    """Arithmetic on the epoch, or the clock of the submit host where that evaluates it; else the command that can."""
    config = CheckSettings(NOW, zone)
    report = check_submit(Source(f"universe = {universe}\n{DAILY}\ncron_day_of_week = 1\nqueue\n"), config)
    (finding,) = [f for f in report.findings if f.diagnostic.code == "CRN204"]
    assert finding.fix is not None
    assert (finding.fix.safe, words in (finding.diagnostic.help or "")) == (safe, True)
    if universe == "local" or not safe:
        return
    clause = requirements(fixed(report, config).report.source.text)
    for day in range(NOW // 86400, NOW // 86400 + 14):
        time = day * 86400 + 6 * 3600 - {"UTC": 0, "Europe/Berlin": 3600, "Etc/GMT-9": 9 * 3600}[zone]
        for host in ("UTC", "America/New_York", "Pacific/Auckland"):
            assert lets_by(clause, time, ZoneInfo(host)) == ((day + 4) % 7 == 1)


def test_a_day_zero_that_no_rule_cures_for_ever_is_left_to_compile() -> None:
    """In an hour that clock changes touch; the fix takes the zone of each host, and is made on demand alone."""
    config = CheckSettings(NOW, "Europe/Berlin")
    report = check_submit(Source("cron_minute = 30\ncron_hour = 2\ncron_day_of_week = 1\nqueue\n"), config)
    (finding,) = [f for f in report.findings if f.diagnostic.code == "CRN204"]
    assert finding.fix is not None
    assert not finding.fix.safe
    assert "crondor compile '30 2 * * 1' --tz Europe/Berlin" in (finding.diagnostic.help or "")


@pytest.mark.parametrize(
    ("text", "code", "command"),
    [
        (f"{DAILY}\ncron_day_of_month = L", "CRN106", "crondor compile '0 6 L * *' --tz Europe/Berlin"),
        (f"{DAILY}\ncron_day_of_week = 5#2", "CRN106", "crondor compile '0 6 * * 5#2' --tz Europe/Berlin"),
        (
            "cron_minute = ~\ncron_hour = 6\nuniverse = local",
            "CRN106",
            "'~ 6 * * *' --tz Europe/Berlin --universe local",
        ),
        (f"{DAILY}\ncron_day_of_month = 31", "CRN203", "crondor compile '0 6 L * *' --tz Europe/Berlin"),
        (
            f"{DAILY}\ncron_day_of_month = 13\ncron_day_of_week = 5",
            "CRN207",
            "crondor compile '(0 6 13 * *) and (0 6 * * 5)' --tz Europe/Berlin",
        ),
    ],
)
def test_what_fields_cannot_say_compile_can(text: str, code: str, command: str) -> None:
    """The finding has the command, with the zone of the submit host."""
    report = check_submit(Source(f"{text}\nqueue\n"), CheckSettings(NOW, "Europe/Berlin"))
    (finding,) = [f for f in report.findings if f.diagnostic.code == code]
    assert command in (finding.diagnostic.help or "")


MONDAY = f"{DAILY}\ncron_day_of_week = 1\nrequirements = "


@pytest.mark.parametrize(
    "clause",
    [
        'formatTime(DeferralTime, "%w %H:%M") == "1 06:00"',
        'formatTime(DeferralTime, "%a") == "Mon" && formatTime(DeferralTime, "%H%M") == "0600" && TARGET.Memory > 1',
        "splitTime(DeferralTime).Hours == 6 && splitTime(DeferralTime).Minutes == 0 && (DeferralTime / 86400) % 7 == 4",
        'stringListMember(formatTime(MY.DeferralTime, "%w-%H:%M"), "1-06:00,x")',
    ],
)
def test_any_clause_that_refuses_the_wrong_times_is_a_cure(clause: str) -> None:
    """Other words for the same."""
    assert codes(MONDAY + clause) == []


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Memory > 1", "every two minutes"),
        ("DeferralTime > 5", "every two minutes"),
        ('formatTime(DeferralTime, "%w") == "1"', "every two minutes"),
        ('formatTime(DeferralTime, "%w %H:%M") == "1 06:00" || TARGET.Memory > 1', "every two minutes"),
        ('formatTime(DeferralTime, "%w %H:%M") == "1 07:00"', "requirements refuse the run of Mon 2026-11-23 06:00"),
        ('formatTime(DeferralTime, "%w %H:%M %d") == "1 06:00 23"', "requirements refuse the run of Mon 2026-11-30"),
        ("DeferralTime >", "every two minutes"),
        ("regexp(DeferralTime, ", "every two minutes"),
    ],
)
def test_requirements_that_do_not_cure_are_no_cure(clause: str, words: str) -> None:
    """They let a wrong time by, refuse a right one, or are no expression."""
    assert words in message(MONDAY + clause, "CRN204")


def test_a_clause_that_refuses_a_right_time_is_not_added_to() -> None:
    """Another clause beside it would leave no time at all."""
    (finding,) = found(MONDAY + 'formatTime(DeferralTime, "%w %H:%M") == "1 07:00"')
    assert finding.fix is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("queue\n", "requirements = {clause}\nqueue\n"),
        ("Requirements = A || B\nqueue\n", "Requirements = (A || B) && {clause}\nqueue\n"),
        ("requirements =\nqueue\n", "requirements =\nrequirements = {clause}\nqueue\n"),
        ("+Requirements = true\nqueue\n", "+Requirements = true\nqueue\n"),
        ("r = A\nrequirements = $(r)\nqueue\n", "r = A\nrequirements = $(r)\nqueue\n"),
        ("queue cron_month in 1 2\n", "queue cron_month in 1 2\n"),
        ("queue\nqueue 3\n", "requirements = {clause}\nqueue\nqueue 3\n"),
        (
            "queue\ncron_day_of_week = 2\nqueue\n",
            "requirements = {clause}\nqueue\ncron_day_of_week = 2\nrequirements = {tuesday}\nqueue\n",
        ),
        ("queue\ncron_hour = 7\nqueue\n", "queue\ncron_hour = 7\nqueue\n"),
        ("requirements = A\nqueue\ncron_hour = 7\nqueue\n", "requirements = A\nqueue\ncron_hour = 7\nqueue\n"),
        ("queue\ncron_day_of_week =\nqueue\n", "queue\ncron_day_of_week =\nqueue\n"),
    ],
)
def test_the_clause_goes_where_only_its_jobs_read_it(text: str, after: str) -> None:
    """Jobs of another schedule, or of none, would never match under it."""
    head = f"{DAILY}\ncron_day_of_week = 1\n"
    clause = "DeferralTime / 86400 % 7 == 4 && DeferralTime % 86400 == 21600"
    config = CheckSettings(NOW)
    now = fixed(check_submit(Source(head + text), config), config).report.source.text
    assert now == head + after.format(clause=clause, tuesday=clause.replace("7 == 4", "7 == 5"))


def test_refusals_need_a_word_about_the_time() -> None:
    """Requirements that say nothing of DeferralTime, or that are too long, are not tried."""
    manual, schedd = (
        CronSpec(minute="0", hour="6", day_of_week="1"),
        CronSpec(minute="0", hour="6", day_of_week="1", dialect=Dialect.HTCONDOR),
    )
    assert refusals("Memory > 1", manual, schedd, "UTC", NOW) is None
    assert refusals("DeferralTime > 1" + " || true" * 1000, manual, schedd, "UTC", NOW) is None
    tried = refusals("DeferralTime > 1", manual, schedd, "UTC", NOW)
    assert tried is not None
    assert tried.refused is None
    wrong = next_wrong(schedd, "UTC", NOW)
    assert wrong is not None
    assert tried.admitted == wrong.answer


def test_severities() -> None:
    """A month without any run is a warning, a month with fewer a note."""
    assert found(f"{DAILY}\ncron_day_of_month = 31")[0].diagnostic.severity is Severity.WARNING
    assert found(f"{DAILY}\ncron_day_of_month = 1,31")[0].diagnostic.severity is Severity.NOTE
    assert found("cron_hour = 6")[0].diagnostic.severity is Severity.WARNING
    assert found("cron_minute = 0\ncron_month = 5")[0].diagnostic.severity is Severity.NOTE


@pytest.mark.parametrize("year", [1970, 2026, 2199, 2200])
@pytest.mark.parametrize("text", [f"{DAILY}\ncron_day_of_week = 1", f"{DAILY}\ncron_day_of_month = 29\ncron_month = 2"])
def test_no_year_is_too_early_or_too_late(text: str, year: int) -> None:
    """At the end of time there is less to find, and nothing breaks."""
    now = int(datetime(year, 12, 31, 23, tzinfo=ZoneInfo("UTC")).timestamp())
    for zone in ("UTC", "Europe/Berlin", "Pacific/Apia"):
        found(f"{text}\nrequirements = DeferralTime > 5", CheckSettings(now, zone))


@pytest.mark.parametrize(
    "name", ["Asia/Amman", "America/Sao_Paulo", "Asia/Gaza", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe"]
)
def test_a_month_begins_with_its_first_second(name: str) -> None:
    """A fold at midnight has its first second twice, a gap has none at 00:00 (Amman in October and July 1999)."""
    zone = zone_of(name)
    begin = int(datetime(1970, 1, 15, tzinfo=timezone.utc).timestamp())
    for at in islice(_month_ends(zone, begin), 12 * 60):
        month, *earlier = (zone.moment(at - back) for back in (0, 1, 1800, 5400))
        assert all((each.year, each.month) < (month.year, month.month) for each in earlier)
