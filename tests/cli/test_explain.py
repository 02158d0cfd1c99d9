"""`crondor explain`: what a schedule means, and why it fires at a time or does not."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Write
from tests.cli.running import NOW_EPOCH, Result, at_now
from tests.examples import examples

quickly = examples(10)


def explain(line: str, *arguments: str) -> Result:
    """Explain a crontab line at NOW in Berlin."""
    return at_now("explain", "--crontab", line, "--tz", "Europe/Berlin", *arguments)


def job_of(line: str, *arguments: str) -> dict[str, Any]:
    """Return the same as JSON."""
    return explain(line, *arguments, "--format", "json").jobs[0]


def lines_of(line: str, name: str, *arguments: str) -> list[str]:
    """Return the lines of a table that begin with a name, without it."""
    found = [text[2:] for text in explain(line, *arguments).lines if text.startswith(f"  {name}  ")]
    return [text.removeprefix(name).strip() for text in found]


# The session


def test_a_schedule_is_explained_on_one_screen() -> None:
    """Words, spellings, sets, gaps, counts, the real schedd, and the clock changes ahead."""
    assert explain("30 2 1-10/3 * 0", "--until", "2027-12-31") == (
        0,
        """\
30 2 1-10/3 * 0
  schedule      at 02:30 on Sundays, or on the 1st, 4th, 7th and 10th
  canonical     30 2 1-10/3 * 0
  portable      30 2 1,4,7,10 * 0
  zone          Europe/Berlin (from --tz; must be the submit host's zone)
  policy        compatible, at clock changes

  field         written  values
  minute        30       30
  hour          2        2
  day of month  1-10/3   1, 4, 7, 10
  month         *        unrestricted
  day of week   0        0 (Sun)
  day rule      OR: a day matches when either day field names it

  next run      Sun 2026-11-22 02:30 +0100, in 1 d 8 h
  shortest gap  1 day, first after 2000-01-01
  longest gap   7 days, first after 2000-01-16
  runs          0 to 1 a day, 7 to 9 a month, 91 to 96 a year
  in 12 months  92, until 2027-11-20

  The real schedd (HTCondor 25.14) differs:
    day of month 1-10/3: the manual reads 1, 4, 7, 10, the schedd 3, 6, 9: the schedd keeps the
    multiples of the step, whatever the range begins with
      write:  cron_day_of_month = 1,4,7,10

  Clock changes until 2027-12-31 that affect the schedule:
    Sun 2027-03-28, forward 1 h: 02:00 to 03:00 is skipped
      compatible, real schedd  03:30 +0200
      debian                   03:00 +0200
      skip, kubernetes         no run
    Sun 2027-10-31, back 1 h: 02:00 to 03:00 comes twice
      compatible, debian, skip  02:30 +0200
      kubernetes                02:30 +0200, 02:30 +0100
      real schedd               02:30 +0100
    Of a time that comes twice the real schedd takes one. Which one depends on when it last computed
    the job's next time; shown is a schedd that has run since the day before.
""",
        "",
    )


def test_a_time_that_does_not_fire_is_explained() -> None:
    """One sentence, the fields one by one, and the runs on either side."""
    assert explain("30 2 1,15 * 1", "--at", "2026-12-02 02:31") == (
        0,
        """\
30 2 1,15 * 1
  schedule      at 02:30 on Mondays, or on the 1st and 15th
  canonical     30 2 1,15 * 1
  zone          Europe/Berlin (from --tz; must be the submit host's zone)
  policy        compatible, at clock changes

  not at Wed 2026-12-02 02:31 +0100: the minute is 31 and the schedule names 30; neither day field
    matches Wednesday, 2 December (day of month 1, 15; day of week Monday)

  field         there     allowed
  minute        31        30            no
  hour          2         2             yes
  day of month  2         1, 15         no
  month         12 (Dec)  unrestricted  yes
  day of week   3 (Wed)   1 (Mon)       no
  day rule      OR: a day matches when either day field names it

  run before    Tue 2026-12-01 02:30 +0100, 1 d earlier
  run after     Mon 2026-12-07 02:30 +0100, 4 d 23 h later
""",
        "",
    )


def test_the_schedds_own_dialect_is_no_set() -> None:
    """Sets, words, the next answers and day 0; the rest is said to be unanswerable."""
    result = explain("0 6 * * 1", "--dialect", "htcondor")
    assert (result.status, result.err) == (0, "")
    assert result.out.split("\n\n", 2)[2] == (
        """\
  asked now, and again at each of its answers, the schedd says
    Mon 2026-11-23 06:00 +0100
    Mon 2026-11-30 06:00 +0100
    Mon 2026-11-30 06:02 +0100 (retry)
      and every 2 minutes until midnight

  The htcondor dialect is no set of times: what the schedd answers depends on when it is asked. So
  there are no gaps, no counts, no reasons and no clock changes to report; the manual dialect has
  them.

  The schedd's day-0 defect strikes:
    day of month: 31 avoids day 0 (see below); the clause excludes the runs that it adds
      write:  cron_day_of_month = 31
    day 0: with a day of week and no day of month the schedd also runs the job on the last day of a
    month, and then every two minutes until the month ends
      add to requirements:  DeferralTime / 86400 % 7 == 4
"""
    )


def test_the_schedd_is_asked_just_before_the_time_in_question() -> None:
    """--at in the HTCONDOR dialect: the answers from there."""
    result = explain("0 6 * * 1", "--dialect", "htcondor", "--at", "2026-12-07 06:00")
    assert result.status == 0
    assert "  asked just before Mon 2026-12-07 06:00 +0100, and again at each of its answers, the schedd says" in (
        result.lines
    )
    assert "    Mon 2026-12-07 06:00 +0100" in result.lines


# The parts


@pytest.mark.parametrize(
    ("line", "dialect", "rule", "words"),
    [
        ("0 6 * * *", "manual", "every-day", "neither day field restricts: every day matches"),
        ("0 6 * * 1", "manual", "day-of-week", "only the day of week restricts the days"),
        ("0 6 1 * *", "manual", "day-of-month", "only the day of month restricts the days"),
        ("0 6 1 * 1", "manual", "or", "OR: a day matches when either day field names it"),
        ("0 6 1-31 * 1", "manual", "or", "OR: a day matches when either day field names it, and the day of month "),
        ("0 6 */2 * 1", "manual", "or", "OR: a day matches when either day field names it"),
        ("0 6 */2 * 1", "unix", "and", "AND: a day matches when both day fields name it, since one of them begins"),
        ("0 6 1 * 1", "unix", "or", "OR: a day matches when either day field names it"),
        ("0 6 * * 1", "unix", "day-of-week", "only the day of week restricts the days"),
        ("0 6 1-31 * 1", "htcondor", "day-of-week", "only the day of week restricts the days"),
        ("0 6 1 * */2", "htcondor", "day-of-month", "only the day of month restricts the days"),
        ("0 6 1 * 0-6", "htcondor", "or", "OR: a day matches when either day field names it, and the day of week"),
        ("0 6 * * 0-6", "htcondor", "every-day", "neither day field restricts: every day matches"),
    ],
)
def test_the_rule_of_the_day_fields_is_said(line: str, dialect: str, rule: str, words: str) -> None:
    """Each dialect has its own."""
    found = job_of(line, "--dialect", dialect)["schedule"]["day_rule"]
    assert found["rule"] == rule
    assert found["words"].startswith(words)


@pytest.mark.parametrize(
    ("line", "field", "shown"),
    [
        ("*/15 * * * *", "minute", "*/15     0, 15, 30, 45"),
        ("*/2 * * * *", "minute", "*/2      0, 2, 4 ... 58 (30 values)"),
        ("0 * * * *", "hour", "*        unrestricted"),
        ("0 0-23 * * *", "hour", "0-23     0-23 (every value, written out)"),
        ("0 8-12,14 * * *", "hour", "8-12,14  8-12, 14"),
        ("0 0 1 1,4-6 *", "month", "1,4-6    1, 4-6 (Jan, Apr-Jun)"),
        ("0 0 * * 7,5", "day of week", "7,5      0, 5 (Sun, Fri)"),
    ],
)
def test_value_sets_are_compact(line: str, field: str, shown: str) -> None:
    """Ranges for three or more in a row, and a long list is cut."""
    assert lines_of(line, field)[0] == shown


def test_a_field_that_is_not_given_says_so() -> None:
    """It is unrestricted."""
    result = at_now("explain", "--minute", "5")
    assert "  hour          not given  unrestricted" in result.lines


@pytest.mark.parametrize(
    ("line", "shortest", "longest"),
    [
        ("0 0 29 2 *", "4 years, first after 2000-02-29", "8 years, first after 2096-02-29"),
        ("0 6 31 * *", "31 days, first after 2000-07-31", "61 days, first after 2000-03-31"),
        ("0 6 30 1,3 *", "59 days, first after 2001-01-30", "306 days, first after 2000-03-30"),
        ("0,30 6 * * *", "30 minutes, first after 2000-01-01", "23 hours 30 minutes, first after 2000-01-01"),
        ("0 6,18 29 2 *", "12 hours, first after 2000-02-29", "7 years 364 days 12 hours, first after 2096-02-29"),
    ],
)
def test_gaps_are_lengths_with_the_day_they_first_occur(line: str, shortest: str, longest: str) -> None:
    """Calendar years, days and less."""
    assert (lines_of(line, "shortest gap"), lines_of(line, "longest gap")) == ([shortest], [longest])


def test_one_gap_is_said_once() -> None:
    """Where all are equal."""
    assert lines_of("*/5 * * * *", "gap") == ["always 5 minutes on the wall clock"]


def test_times_that_requirements_exclude_are_no_runs(write: Write) -> None:
    """They are left out of the coming ones and of the count, and --at says which part excludes a time."""
    path = write("cron_minute = 0", 'requirements = DeferralTime % 7200 == 0 && Arch == "X86_64"', "queue")
    (found,) = at_now("explain", path, "--tz", "UTC", "--format", "json").jobs
    assert (found["next"]["time"] % 7200, found["counts"]["next_12_months"]) == (0, 4380)
    assert found["counts"]["excluded"] == 4380
    told = " ".join(at_now("explain", path, "--tz", "UTC").out.split())
    assert "4,380, until 2027-11-20; requirements exclude 4,380 more" in told
    told = at_now("explain", path, "--tz", "UTC", "--at", "2026-11-20 19:00").out
    assert "not at Fri 2026-11-20 19:00 +0000: requirements exclude this time: DeferralTime % 7200 == 0" in told
    assert "run before    Fri 2026-11-20 18:00 +0000" in told
    once = write("deferral_time = 1795201200", "requirements = DeferralTime % 7200 == 0", "queue")
    assert "it never matches: requirements exclude this time" in " ".join(at_now("explain", once).out.split())


def test_counts_are_least_and_most() -> None:
    """Of a day, a month, a year, and exactly for the coming 12 months."""
    assert lines_of("* * * * *", "runs") == ["1,440 a day, 40,320 to 44,640 a month, 525,600 to 527,040 a year"]
    assert lines_of("* * * * *", "in 12 months") == ["525,600, until 2027-11-20"]
    assert job_of("0 6 * * 1")["counts"] == {
        "day": {"least": 0, "most": 1},
        "month": {"least": 4, "most": 5},
        "year": {"least": 52, "most": 53},
        "next_12_months": 52,
        "excluded": 0,
        "until": NOW_EPOCH + 365 * 86400,
    }


@pytest.mark.parametrize(
    ("line", "codes", "day_zero"),
    [
        ("0 6 * * *", [], False),
        ("0 6 * * 1", ["field", "day-zero"], True),
        ("0 6 1-10/3 * *", ["field"], False),
        ("0 6 1-31 * 1", ["field", "field", "day-zero"], True),
    ],
)
def test_what_the_schedd_reads_otherwise(line: str, codes: list[str], day_zero: bool) -> None:
    """Field by field, and day 0 where it can ever strike."""
    schedd = job_of(line)["schedd"]
    assert [difference["code"] for difference in schedd["differences"]] == codes
    assert (schedd["day_zero"], schedd["hold_reason"], schedd["hangs"]) == (day_zero, None, False)


def test_day_zero_comes_with_its_clause() -> None:
    """Unless what is to be written anyway cures it."""
    lines = explain("0 6 * * 1").lines
    assert "      write:  cron_day_of_month = 31" in lines
    assert "      add to requirements:  DeferralTime / 86400 % 7 == 4" in lines
    assert "add to requirements" not in explain("0 6 1-31 * 1").out


def test_a_schedule_that_only_the_schedd_refuses_is_explained() -> None:
    """With the hold reason."""
    result = explain("0 3-4/5 * * *")
    assert result.status == 0
    assert "  The real schedd holds this job (code 25): Invalid cron schedule parameters: " in result.out
    assert job_of("0 3-4/5 * * *")["schedd"]["hold_reason"].startswith("Invalid cron schedule parameters: ")


def test_clock_changes_are_told_once_each() -> None:
    """Each change of the zone, once, although the zone is learnt year by year."""
    times = [change["local"][:10] for change in job_of("30 2 * * *")["clock_changes"]]
    assert times == ["2027-03-28", "2027-10-31", "2028-03-26", "2028-10-29"]
    assert lines_of("0 6 * * *", "clocks") == ["no clock change affects this schedule before 2028-11-20"]


def test_the_policies_and_the_schedd_at_a_clock_change() -> None:
    """As instants."""
    gap, fold = job_of("30 2 * * *", "--until", "2027-12-01")["clock_changes"]
    assert {
        name: [run["local"] for run in gap[name]] for name in ("compatible", "debian", "skip", "kubernetes", "schedd")
    } == {
        "compatible": ["2027-03-28T03:30:00+02:00"],
        "debian": ["2027-03-28T03:00:00+02:00"],
        "skip": [],
        "kubernetes": [],
        "schedd": ["2027-03-28T03:30:00+02:00"],
    }
    assert (gap["seconds"], gap["low"], gap["high"]) == (3600, "2027-03-28T02:00:00", "2027-03-28T03:00:00")
    assert fold["seconds"] == -3600


def test_many_runs_at_a_clock_change_are_counted() -> None:
    """And not listed."""
    result = explain("* * * * *", "--until", "2027-12-01")
    assert "      all  61 runs, 03:00 +0200 to 04:00 +0200" in result.lines
    assert "      compatible, debian, kubernetes  120 runs, 02:00 +0200 to 02:59 +0100" in result.lines


def test_the_policy_is_ones_own() -> None:
    """It counts in the coming runs."""
    assert job_of("30 2 * * *", "--policy", "skip")["policy"] == "skip"
    assert job_of("30 2 * * *", "--policy", "skip")["counts"]["next_12_months"] == 364
    assert job_of("30 2 * * *", "--dialect", "unix")["policy"] == "debian"


# Why


BY_WEEKDAY = (
    "fires: minute matches the time, and the day of week names the day, "
    "which is enough though the day of month does not"
)
BY_NO_DAY = (
    "not: the month is December and the schedule names January; "
    "neither day field matches Sunday, 6 December (day of month 1; day of week Monday)"
)


@pytest.mark.parametrize(
    ("line", "at", "said"),
    [
        ("30 2 * * *", "2026-12-02 02:30", "fires: minute and hour match the time, and every day matches"),
        ("* * * * *", "2026-12-02 02:30", "fires: every minute of every day matches"),
        ("30 * 1,15 * 1", "2026-12-07 02:30", BY_WEEKDAY),
        (
            "30 2 1,7 * 1",
            "2026-12-07 02:30",
            "fires: minute and hour match the time, and both day fields name the day, of which one would do",
        ),
        (
            "30 2 * 12 1",
            "2026-12-07 02:30",
            "fires: minute, hour and month match the time, and the day of week names the day",
        ),
        ("30 2 * * *", "2026-12-02 04:30", "not: the hour is 4 and the schedule names 2"),
        ("30 2 * 1 *", "2026-12-02 02:30", "not: the month is December and the schedule names January"),
        ("30 2 * * 1-5", "2026-12-06 02:30", "not: the day of week is Sunday and the schedule names Monday-Friday"),
        ("30 2 1 * *", "2026-12-06 02:30", "not: the day of month is 6 and the schedule names 1"),
        ("30 2 1 1 1", "2026-12-06 02:30", BY_NO_DAY),
        ("30 2 * * *", "2026-12-02 02:30:30", "not: runs start on whole minutes"),
        (
            "30 2 * * *",
            "2027-03-28 03:30",
            "fires: a clock change skips the time that the schedule names, and the run is moved here",
        ),
        (
            "30 2 * * *",
            "2027-10-31 02:30 +0100",
            "not: a clock change repeats this time, and the run was in its first pass",
        ),
    ],
)
def test_why_is_one_sentence(line: str, at: str, said: str) -> None:
    """Both ways round; it names the time."""
    found = job_of(line, "--at", at)["at"]
    assert re.sub(r" at \w{3} [0-9-]+ [0-9:]+ \+0[12]00:", ":", found["words"]) == said
    assert found["fires"] is said.startswith("fires")
    assert found["words"] in " ".join(explain(line, "--at", at).out.split())


def test_unix_may_need_both_days() -> None:
    """Then the sentence says so."""
    words = job_of("30 2 */7 1 1", "--dialect", "unix", "--at", "2026-12-02 02:30")["at"]["words"]
    assert words.endswith(
        "both day fields would have to match Wednesday, 2 December, and neither does "
        "(day of month 1, 8, 15, 22, 29; day of week Monday)"
    )


def test_a_clock_change_beside_the_time_is_shown() -> None:
    """With what every policy does there."""
    result = explain("30 2 * * *", "--at", "2027-03-28 03:30", "--policy", "skip")
    assert result.out.endswith(
        """
  Near a clock change:
    Sun 2027-03-28, forward 1 h: 02:00 to 03:00 is skipped
      compatible        03:30 +0200
      debian            03:00 +0200
      skip, kubernetes  no run
"""
    )


def test_there_may_be_no_run_before_or_after() -> None:
    """Times are known from 1970 to 2200."""
    assert lines_of("0 6 29 2 *", "run before", "--at", "1970-06-01") == ["none in the years 1970 to 2200"]
    late = job_of("0 6 29 2 *", "--at", "2199-06-01")
    assert (late["at"]["earlier"]["local"][:10], late["at"]["later"]) == ("2196-02-29", None)
    assert lines_of("0 6 29 2 *", "next run", "--now", "2199-06-01") == ["none before 2201"]


# JSON


def test_the_keys_are_stable() -> None:
    """The same for every job, whatever was asked."""
    keys = [
        *("name", "line", "count", "zone", "now", "dialect", "policy", "deferral_time", "schedule", "next", "gaps"),
        *("counts", "schedd", "answers", "until", "clock_changes", "at", "diagnostics"),
    ]
    for more in ([], ["--at", "tomorrow"], ["--dialect", "unix"], ["--dialect", "htcondor"]):
        assert list(job_of("0 6 * * 1", *more)) == keys
    assert list(explain("0 25 * * *", "--format", "json").jobs[0]) == keys


def test_json_of_one_schedule() -> None:
    """To the letter, the value sets aside."""
    job = job_of("0 6 * * 1", "--until", "2026-12-31")
    for field in job["schedule"]["fields"]:
        del field["values"]
    del job["schedd"], job["counts"]
    assert job == {
        "name": "0 6 * * 1",
        "line": None,
        "count": 1,
        "zone": "Europe/Berlin",
        "now": NOW_EPOCH,
        "dialect": "manual",
        "policy": "compatible",
        "deferral_time": None,
        "schedule": {
            "words": "at 06:00 on Mondays",
            "canonical": "0 6 * * 1",
            "portable": "0 6 * * 1",
            "fields": [
                {"field": "minute", "written": "0", "unrestricted": False},
                {"field": "hour", "written": "6", "unrestricted": False},
                {"field": "day_of_month", "written": "*", "unrestricted": True},
                {"field": "month", "written": "*", "unrestricted": True},
                {"field": "day_of_week", "written": "1", "unrestricted": False},
            ],
            "day_rule": {"rule": "day-of-week", "words": "only the day of week restricts the days"},
        },
        "next": {"time": 1795410000, "local": "2026-11-23T06:00:00+01:00"},
        "gaps": {
            "shortest": {"seconds": 604800, "words": "7 days", "first_after": "2000-01-03"},
            "longest": {"seconds": 604800, "words": "7 days", "first_after": "2000-01-03"},
        },
        "answers": None,
        "until": 1798671600,
        "clock_changes": [],
        "at": None,
        "diagnostics": [],
    }


# Files


def test_all_jobs_of_a_file_are_explained(write: Write) -> None:
    """A block for each group of equal jobs; one time needs no rule."""
    path = write("cron_minute = $(M)", "queue M in (5, 6)", "cron_minute =", "deferral_time = 1893499200", "queue 2")
    result = at_now("explain", "--spec", path)
    assert result.status == 0
    heads = [line for line in result.lines if line.startswith(path)]
    assert heads == [f"{path}:2", f"{path}:2", f"{path}:5 (2 jobs)"]
    assert "  schedule      once, at Tue 2030-01-01 13:00 +0100, in 1137 d 18 h" in result.lines


# What is wrong


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["cron_minute = 60", "queue"], "job.sub:1:15: error: minute 60 is out of range"),
        (["queue"], "job.sub:1:1: note: the job has no cron field and no deferral_time"),
    ],
)
def test_a_file_without_a_schedule_is_a_finding(lines: list[str], said: str, write: Write) -> None:
    """Status 1, and the reason on stderr."""
    result = at_now("explain", "--spec", write(*lines))
    assert (result.status, result.out) == (1, "")
    assert said in result.err


def test_a_schedule_that_never_fires_is_explained_as_far_as_it_goes() -> None:
    """The sets are there; the reason is an error, and the schedd hangs."""
    result = explain("0 0 31 2,4 *")
    assert result.status == 1
    assert "error: the schedule never fires: day 31 does not occur in months 2, 4" in result.err
    assert "  schedule      never (February and April have no 31st)" in result.lines
    assert "  The real schedd (HTCondor 25.14) never returns from its search for such a date: it hangs." in result.lines
    job = job_of("0 0 31 2,4 *")
    assert (job["gaps"], job["counts"], job["next"], job["schedd"]["hangs"]) == (None, None, None, True)
    assert explain("0 0 31 2,4 *", "--at", "tomorrow").status == 1
    assert explain("0 0 31 2,4 *", "--dialect", "htcondor").status == 1


def test_the_schedds_way_with_an_invalid_schedule_is_said() -> None:
    """It holds the job, or takes it."""
    assert "note: the real schedd would hold the job (code 25), HoldReason: " in explain("0 6 * * MON").err
    assert "note: the real schedd accepts the schedule without a message" in explain("0 25 * * *").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--at", "soonish"], "--at:1:1: error"),
        (["--until", "yesterday"], "--until is not later than now"),
        (["--until", "tomorrow", "--at", "tomorrow"], "--until is for coming clock changes"),
        (["--format", "csv"], "'csv' is not one of 'table', 'json'"),
        (["--hour", "5"], "give the schedule in one way"),
        (["0 7 * * *"], "put a crontab line in quotes after --crontab"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    """Status 2, nothing on stdout."""
    result = explain("0 6 * * *", *arguments)
    assert (result.status, result.out) == (2, "")
    assert said in " ".join(result.err.split())


FIELD = st.text("0123456789*,-/ LMON", max_size=6)
LINES = st.text(max_size=30) | st.lists(FIELD, min_size=5, max_size=5).map(" ".join)
GOOD = st.tuples(
    *(
        st.sampled_from([f"{low}", "*", "*/2", f"{low}-{low + 4}", f"{low + 1},{low + 3}", f"{low}-{low + 3}/2"])
        for low in (0, 0, 1, 1, 0)
    )
).map(" ".join)


@given(LINES | GOOD, st.sampled_from(["manual", "unix", "htcondor"]), st.sampled_from(["table", "json"]), st.booleans())
@quickly
def test_any_line_is_explained_or_refused(line: str, dialect: str, form: str, at: bool) -> None:
    """Status 0 or 1, or 2 for a NUL or an option; no traceback, and no line wider than a screen."""
    more = ["--at", "2027-03-28 03:30"] if at else []
    text = line.replace("\0", "")
    result = at_now("explain", f"--crontab={text}", "--dialect", dialect, "--format", form, *more)
    assert result.status in {0, 1}
    assert "Traceback" not in result.err
    assert result.status == 0 or result.err
    if form == "table":
        wide = [text for text in result.lines if len(text) > 110 and not re.search(r"requirements: |holds this", text)]
        assert not wide


@given(st.text(max_size=60))
@quickly
def test_any_text_is_a_submit_file(text: str) -> None:
    """Read, or refused in words."""
    result = at_now("explain", "--spec", "-", stdin=text.encode("utf-8", "replace"))
    assert result.status in {0, 1}
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("line", "policy", "said"),
    [
        ("30 2 * * *", "compatible", "the schedule names it, and its run is moved to Sun 2027-03-28 03:30 +0200"),
        ("30 2 * * *", "debian", "the schedule names it, and its run is moved to Sun 2027-03-28 03:00 +0200"),
        ("30 2 * * *", "skip", "the schedule names it, and this run is left out"),
        ("31 2 * * *", "compatible", "the schedule does not name it"),
    ],
)
def test_a_time_that_the_clock_skips_is_answered(line: str, policy: str, said: str) -> None:
    """What becomes of it, and no error."""
    result = explain(line, "--at", "2027-03-28 02:30", "--policy", policy)
    text = " ".join(result.out.split())
    assert result.status == 0
    assert f"there is no 02:30 on 2027-03-28: the clock goes from 02:00 straight to 03:00; {said}" in text


def test_a_long_field_is_cut_after_a_whole_number() -> None:
    """Half a number would be another one."""
    field = ",".join(map(str, range(0, 60, 3)))
    (line,) = (line for line in explain(f"{field} 6 * * *").lines if line.startswith("  minute "))
    shown = line.split()[1].removesuffix("...").removesuffix(",")
    assert field.startswith(f"{shown},")
    assert set(shown.split(",")) <= set(field.split(","))
