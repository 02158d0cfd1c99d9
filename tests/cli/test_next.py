"""`crondor next`: the runs of a schedule, as the manual has them and as the real schedd does."""

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Write
from tests.cli.running import NOW, NOW_EPOCH, Result, at_now, crondor, next_of, process
from tests.examples import examples

NIGHTLY = (
    "# every night",
    "executable = /bin/df",
    "cron_minute = 30",
    "cron_hour = 2",
    "cron_prep_time = 600",
    "cron_window = 900",
    "queue",
)


def times(result: Result, side: str) -> list[int | None]:
    """Return the epochs of one side of a JSON answer's first job."""
    return [row[side] and row[side]["time"] for row in result.jobs[0]["runs"]]


# The session


def test_a_submit_file_becomes_a_table(write: Write) -> None:
    """The schedule in words, in canonical form, its zone and timing stand above the runs and their moments."""
    path = write(*NIGHTLY)
    result = at_now("next", "--spec", path, "-n", "3")
    assert result == (
        0,
        f"""\
{path}:7
  schedule   at 02:30 every day
  canonical  30 2 * * *
  zone       Europe/Berlin (the zone of this host; change with --tz)
  timing     window 900 s, prep time 600 s, SCHEDD_INTERVAL 300 s, vanilla universe

   #  local time                  from now      match opens  last start
   1  Sat 2026-11-21 02:30 +0100  in 8 h 2 min  02:15        02:45
   2  Sun 2026-11-22 02:30 +0100  in 1 d 8 h    02:15        02:45
   3  Mon 2026-11-23 02:30 +0100  in 2 d 8 h    02:15        02:45

  The job leaves the queue after its first run; to repeat it, add on_exit_remove = false.
""",
        "",
    )


def test_ten_runs_are_shown_unless_n_says_otherwise() -> None:
    """The default of -n is 10."""
    assert len(next_of("0 6 * * *", "--format", "epoch").lines) == 10
    assert len(next_of("0 6 * * *", "--format", "epoch", "-n", "25").lines) == 25


def test_a_file_comes_from_stdin(write: Write) -> None:
    """`-` is standard input, named as such."""
    text = "".join(f"{line}\n" for line in NIGHTLY)
    from_stdin = at_now("next", "--spec", "-", stdin=text)
    from_file = at_now("next", "--spec", write(*NIGHTLY))
    assert from_stdin.status == 0
    assert from_stdin.lines[0] == "<stdin>:7"
    assert from_stdin.lines[1:] == from_file.lines[1:]


def test_fields_need_no_file() -> None:
    """A field for each option; what is not given is `*`."""
    options = ["--minute", "5", "--hour", "4", "--day-of-month", "3", "--month", "2", "--day-of-week", "1"]
    result = at_now("next", *options, "-n", "1")
    assert result.status == 0
    assert "  canonical  5 4 3 2 1" in result.lines
    assert "  canonical  5 * * * *" in at_now("next", "--minute", "5").lines


@pytest.mark.parametrize(
    ("arguments", "portable"),
    [
        (["1-10/3 6 * * *"], "1,4,7,10 6 * * *"),
        (["0 6 */2 * *"], "0 6 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * *"),
        (["0 6 1-31 * 1"], "0 6 * * *"),
        (["5/15 6 * * MON", "--dialect", "unix"], "5,20,35,50 6 * * 1"),
        (["*/20 */6 * * 1-5"], None),
        (["0 6 * * MON-FRI", "--dialect", "unix"], None),
        (["0 6 */2 * 1", "--dialect", "unix"], None),  # no list says "and"
        (["1-10/3 6 * * *", "--dialect", "htcondor"], None),
    ],
)
def test_a_portable_line_follows_where_the_canonical_one_is_read_otherwise(
    arguments: list[str], portable: str | None
) -> None:
    """It comes after `canonical`, and every dialect reads it as that dialect reads the canonical line."""
    lines = next_of(*arguments, "-n", "1").lines
    names = [line.split()[0] for line in lines[1:-3] if line.startswith("  ")]
    assert names[:3] == (["schedule", "canonical", "portable"] if portable else ["schedule", "canonical", "zone"])
    if portable is not None:
        assert f"  portable   {portable}" in lines
        wanted = ["-n", "20", "--until", "2026-11-29", "--format", "epoch"]
        runs = next_of(arguments[0], "--dialect", "manual", *arguments[1:], *wanted).lines
        for dialect in ("manual", "htcondor", "unix"):
            assert next_of(portable, "--dialect", dialect, *wanted).lines == runs


def test_a_crontab_line_needs_no_file() -> None:
    """The line is the name of the answer."""
    result = next_of("0 6 * * 1", "-n", "1")
    assert result.status == 0
    assert result.lines[0] == "0 6 * * 1"
    assert "  schedule   at 06:00 on Mondays" in result.lines


def test_from_is_where_the_runs_begin_and_now_what_they_are_counted_from() -> None:
    """--from moves the runs; the distance remains one from --now."""
    result = next_of("0 6 * * *", "--from", "2026-12-01 06:01", "-n", "1")
    assert "Wed 2026-12-02 06:00 +0100  in 11 d 11 h" in result.lines[-1]


def test_from_and_until_are_included() -> None:
    """A run at --from is shown, and a run at --until."""
    bounds = ["--from", "2026-12-01 06:00", "--until", "2026-12-03 06:00", "--format", "json"]
    runs = next_of("0 6 * * *", *bounds).jobs[0]["runs"]
    assert [row["manual"]["local"][:16] for row in runs] == [f"2026-12-0{day}T06:00" for day in (1, 2, 3)]


def test_no_run_before_until_is_no_finding() -> None:
    """The table says so and the status stays 0."""
    result = next_of("0 6 * * *", "--until", "today 23:00")
    assert result.status == 0
    assert result.lines[-1] == "  no run in this time"


def test_relative_times_count_from_now_and_not_from_the_clock() -> None:
    """Every time typed is relative to --now."""
    result = next_of("0 6 * * *", "--from", "next monday 05:00", "-n", "1", "--format", "json")
    assert result.jobs[0]["runs"][0]["manual"]["local"] == "2026-11-23T06:00:00+01:00"


@freeze_time("2026-11-20 17:27:05")
def test_the_default_now_is_the_clock() -> None:
    """Without --now the clock decides."""
    result = crondor("next", "--crontab", "30 2 * * *", "-n", "1", "--format", "json")
    assert result.jobs[0]["now"] == NOW_EPOCH
    assert result.jobs[0]["runs"][0]["manual"]["local"] == "2026-11-21T02:30:00+01:00"


def test_tz_names_the_zone_of_the_submit_host() -> None:
    """The runs, and the times typed, are those of that zone."""
    result = next_of("0 6 * * *", "--tz", "America/New_York", "-n", "1")
    assert "  zone       America/New_York (from --tz; must be the submit host's zone)" in result.lines
    assert "Sat 2026-11-21 06:00 -0500  in 11 h 32 min" in result.lines[-1]


def test_the_schedd_interval_moves_only_when_matching_opens() -> None:
    """--schedd-interval is SCHEDD_INTERVAL."""
    usual, longer = (
        next_of("0 6 * * *", "-n", "1", "--format", "json", *more).jobs[0]["runs"][0]["manual"]
        for more in ([], ["--schedd-interval", "900"])
    )
    assert longer["match_opens"] == usual["match_opens"] - 600
    assert longer | {"match_opens": 0} == usual | {"match_opens": 0}


@pytest.mark.parametrize(
    ("dialect", "first"),
    [("manual", "2026-11-21T06:00"), ("htcondor", "2026-11-22T06:00"), ("unix", "2026-11-21T06:00")],
)
def test_a_dialect_is_read_alone(dialect: str, first: str) -> None:
    """With --dialect there is nothing to compare: one column, and one side in JSON, named after it."""
    result = next_of("0 6 */2 * *", "--dialect", dialect, "-n", "1")
    assert result.status == 0
    assert "real schedd" not in result.out
    job = next_of("0 6 */2 * *", "--dialect", dialect.upper(), "-n", "1", "--format", "json").jobs[0]
    assert job["dialect"] == dialect
    assert job["runs"][0].keys() == {"number", dialect, "differs"}
    assert job["runs"][0][dialect]["local"].startswith(first)


def test_only_unix_has_names_and_nicknames() -> None:
    """MON-FRI and @daily are values there; elsewhere the error says what to write."""
    assert next_of("0 0 * * MON-FRI", "--dialect", "unix").status == 0
    assert "  canonical  0 0 * * *" in next_of("@daily", "--dialect", "unix").lines
    refused = next_of("0 0 * * MON")
    assert refused.status == 1
    assert "= help: write 1 for MON" in refused.err
    nickname = next_of("@daily")
    assert nickname.status == 1
    assert "= help: write 0 0 * * *" in nickname.err


def test_unix_joins_both_days_by_and_where_one_is_starred() -> None:
    """`*/2` in a day field is a star to Unix cron."""
    result = next_of("0 0 */2 * 1", "--dialect", "unix", "-n", "2")
    assert "on any Monday that falls on an odd day of the month" in result.out
    assert "Mon 2026-11-23 00:00" in result.lines[-2]
    assert "Mon 2026-12-07 00:00" in result.lines[-1]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("compatible", "2027-03-28T03:30:00+02:00"),
        ("debian", "2027-03-28T03:00:00+02:00"),
        ("skip", "2027-03-29T02:30:00+02:00"),
    ],
)
def test_the_policy_decides_in_a_skipped_hour(policy: str, expected: str) -> None:
    """02:30 on the day the clocks go forward."""
    arguments = ["--from", "2027-03-27 12:00", "--policy", policy, "--dialect", "manual"]
    runs = next_of("30 2 * * *", *arguments, "-n", "1", "--format", "json").jobs[0]["runs"]
    assert runs[0]["manual"]["local"] == expected


def test_a_policy_of_ones_own_is_named_as_the_reason() -> None:
    """The schedd does not follow --policy, and the answer says that and nothing of its memory."""
    result = next_of("30 2 * * *", "--from", "2027-03-27 12:00", "--policy", "skip", "-n", "2")
    assert "the clocks go forward on 2027-03-28" in result.out
    assert "whatever --policy skip is" in " ".join(result.out.split())


# Several jobs


def test_equal_jobs_of_several_queue_statements_are_one_block(write: Write) -> None:
    """Grouped by what they ask for, in order of their first jobs, with their number."""
    path = write("cron_minute = 5", "queue 2", "cron_minute = 6", "queue", "cron_minute = 5", "queue 3")
    result = at_now("next", "--spec", path, "-n", "1")
    assert [line for line in result.lines if line.startswith(path)] == [f"{path}:2 (5 jobs)", f"{path}:4"]
    assert result.out.count("\n\n") == 5  # before each table and what is said below it, and between the jobs
    jobs = at_now("next", "--spec", path, "-n", "1", "--format", "json").jobs
    assert [(job["line"], job["count"]) for job in jobs] == [(2, 5), (4, 1)]


def test_the_items_of_a_queue_statement_are_jobs(write: Write) -> None:
    """Each item has a schedule of its own; equal ones are merged."""
    path = write("cron_minute = $(M)", "cron_hour = $(H:6)", "queue M in (0, 30, 0)")
    jobs = at_now("next", "--spec", path, "--format", "json").jobs
    assert [(job["schedule"]["canonical"], job["count"]) for job in jobs] == [("0 6 * * *", 2), ("30 6 * * *", 1)]


def test_a_job_without_a_schedule_beside_one_with_is_no_finding(write: Write) -> None:
    """Only a file in which nothing is deferred gives 1."""
    mixed = at_now("next", "--spec", write("queue", "cron_minute = 5", "queue"), "-n", "1")
    assert mixed.status == 0
    assert "[not-deferred]" in mixed.err
    none = at_now("next", "--spec", write("queue"))
    assert (none.status, none.out) == (1, "")
    assert "job.sub:1:1: note: the job has no cron field and no deferral_time" in none.err


# A time of its own


def test_a_deferral_time_is_one_run(write: Write) -> None:
    """No fields, no canonical form, no comparison: the dialects do not differ in it."""
    path = write("deferral_time = 1893499200", "deferral_window = 60", "queue")
    result = at_now("next", "--spec", path)
    assert result.status == 0
    assert "  schedule   once, deferral_time = 1893499200" in result.lines
    assert "canonical" not in result.out
    assert result.lines[-1] == "   1  Tue 2030-01-01 13:00 +0100  in 1137 d 18 h  12:50        13:01"


def test_a_deferral_time_in_the_past_is_a_finding(write: Write) -> None:
    """The job would stay idle for ever: status 1, pointing at the value."""
    result = at_now("next", "--spec", write("deferral_time = 100", "queue"))
    assert result.status == 1
    assert "job.sub:1:17: error: the time is past" in result.err


def test_a_deferral_time_whose_window_is_open_is_none(write: Write) -> None:
    """The job would start at once; there is no run to come, and the answer says why."""
    result = at_now("next", "--spec", write("deferral_time = 1795195600", "deferral_window = 600", "queue"))
    assert result.status == 0
    assert "job.sub:1:17: note: the time is past: the job would start at once" in result.err
    assert "within 574 s [CRN307]" in result.err


@pytest.mark.parametrize(
    "lines",
    [["deferral_time = W + 60"], ["cron_minute = 5", "cron_window = W"], ["cron_minute = 5", "cron_prep_time = P"]],
)
def test_an_expression_without_a_value_is_not_guessed_at(lines: list[str], write: Write) -> None:
    """It is undefined: the command says that, and lays it at nobody else's door."""
    result = at_now("next", "--spec", write(*lines, "queue"))
    assert result.status == 1
    assert " is undefined at 1795195625" in result.err
    name, _, value = lines[-1].partition(" = ")
    assert f" | {lines[-1]}\n     | {' ' * len(f'{name} = ')}{'^' * len(value)}\n" in result.err  # in the file
    assert "The real schedd does not run" not in result.out


# The manual and the real schedd


def test_day_zero_is_shown_with_its_cure() -> None:
    """A weekly job is retried every two minutes after its last weekday of the month: one row, and one run of -n."""
    result = next_of("0 6 * * 1", "-n", "4")
    assert result.status == 0
    assert result.lines[6:16] == [
        "   #  local time                  from now      match opens  last start  real schedd",
        "   1  Mon 2026-11-23 06:00 +0100  in 2 d 11 h   05:50        06:00       the same",
        "   2  Mon 2026-11-30 06:00 +0100  in 9 d 11 h   05:50        06:00       the same",
        "  !3  no run                                                             Mon 2026-11-30 06:02 +0100 (retry)",
        "      and every 2 minutes until midnight",
        "   4  Mon 2026-12-07 06:00 +0100  in 16 d 11 h  05:50        06:00       the same",
        "   5  Mon 2026-12-14 06:00 +0100  in 23 d 11 h  05:50        06:00       not reached",
        "",
        "  ! The real schedd (HTCondor 25.14) differs:",
        "    day of month: 31 avoids day 0 (see below); the clause excludes the runs that it adds",
    ]
    assert result.lines[16:] == [
        "      write:  cron_day_of_month = 31",
        "    day 0: with a day of week and no day of month the schedd also runs the job on the last day of a",
        "    month, and then every two minutes until the month ends",
        "      add to requirements:  DeferralTime / 86400 % 7 == 4",
    ]


def test_programs_get_every_retry() -> None:
    """JSON and CSV: a row for each, which count for -n; the series that the table shows as one ends at midnight."""
    job = next_of("0 6 * * 1", "-n", "600", "--until", "2026-12-02", "--format", "json").jobs[0]
    retries = [row["htcondor"] for row in job["runs"] if row["differs"]]
    assert [late["time"] - early["time"] for early, late in pairwise(retries)] == [120] * 539
    assert retries[-1]["local"] == "2026-12-01T00:00:00+01:00"
    table = next_of("0 6 * * 1", "-n", "600", "--until", "2026-12-02")
    assert [line for line in table.lines if "retry" in line or "every 2 minutes" in line] == table.lines[9:11]
    limited = next_of("0 6 * * 1", "-n", "4", "--format", "json").jobs[0]["runs"]
    assert [row["htcondor"] is not None for row in limited] == [True] * 4 + [False] * 2


def test_the_schedds_own_dialect_shows_a_series_of_retries_as_one() -> None:
    """It counts as one run, so that the next runs are seen."""
    lines = next_of("0 6 * * 1", "--dialect", "htcondor", "-n", "5").lines
    shown = [line.split("  in ")[0].split("  ", 2)[-1].strip() for line in lines[7:]]
    assert [re.sub(r"^\d+ +", "", line) for line in shown] == [
        "Mon 2026-11-23 06:00 +0100",
        "Mon 2026-11-30 06:00 +0100",
        "Mon 2026-11-30 06:02 +0100 (retry)",
        "and every 2 minutes until midnight",
        "Mon 2026-12-07 06:00 +0100",
        "Mon 2026-12-14 06:00 +0100",
    ]


def test_retries_that_requirements_exclude_end_the_series(write: Write) -> None:
    """What is said of a series is true of each of its times."""
    clause = "requirements = DeferralTime % 3600 < 600"
    path = write("cron_minute = 0", "cron_hour = 6", "cron_day_of_week = 1", clause, "queue")
    lines = at_now("next", path, "--dialect", "htcondor", "-n", "4").lines
    assert "      and every 2 minutes until 06:08" in lines


def test_retries_carry_what_the_search_found() -> None:
    """JSON: retry, and the past instant that was computed."""
    runs = next_of("0 6 * * 1", "-n", "3", "--format", "json").jobs[0]["runs"]
    third = runs[2]["htcondor"]
    assert (third["retry"], third["time"] - third["computed"]) == (True, 120)
    assert (runs[1]["htcondor"]["retry"], runs[1]["htcondor"]["computed"]) == (False, None)
    assert [row["differs"] for row in runs] == [False, False, True, False]


def test_retries_beyond_the_last_run_of_the_manual_have_rows() -> None:
    """--until ends the manual's side first: "no run" stands there."""
    result = next_of("0 6 * * 1", "--until", "2026-12-01", "-n", "3")
    assert re.fullmatch(r"  !3  no run +Mon 2026-11-30 06:02 \+0100 \(retry\)", result.lines[9])
    assert result.lines[10] == "      and every 2 minutes until midnight"
    row = next_of("0 6 * * 1", "--until", "2026-12-01", "-n", "3", "--format", "json").jobs[0]["runs"][2]
    assert (row["manual"], row["htcondor"]["retry"], row["differs"]) == (None, True, True)


def test_rows_are_paired_by_time() -> None:
    """Runs of either side alone stand between those that both have; a later row agrees again."""
    result = next_of("0 6 1-10/3 * *", "--from", "2026-12-01", "-n", "4")
    shown = [re.sub(r"(?<=\S) {2,}", "  ", line) for line in result.lines[8:15]]
    assert shown == [
        "  !1  Tue 2026-12-01 06:00 +0100  in 10 d 11 h  05:50  06:00  no run",
        "  !2  no run  Thu 2026-12-03 06:00 +0100",
        "  !3  Fri 2026-12-04 06:00 +0100  in 13 d 11 h  05:50  06:00  no run",
        "  !4  no run  Sun 2026-12-06 06:00 +0100",
        "  !5  Mon 2026-12-07 06:00 +0100  in 16 d 11 h  05:50  06:00  no run",
        "  !6  no run  Wed 2026-12-09 06:00 +0100",
        "  !7  Thu 2026-12-10 06:00 +0100  in 19 d 11 h  05:50  06:00  no run",
    ]
    both = next_of("0 6 3-9/3,4 * *", "--from", "2026-12-01", "-n", "3", "--format", "json").jobs[0]["runs"]
    assert [row["differs"] for row in both] == [False, False, False]


def test_there_are_at_most_twice_as_many_rows_as_runs() -> None:
    """-n counts the runs of each side; the schedd's runs after the manual's last one are left out."""
    runs = next_of("0 6 1-10/3 * *", "--from", "2026-12-01", "-n", "4", "--format", "json").jobs[0]["runs"]
    assert [row["number"] for row in runs] == [1, 2, 3, 4, 5, 6, 7]
    assert sum(row["manual"] is not None for row in runs) == 4
    every = [row[side]["time"] for row in runs for side in ("manual", "htcondor") if row[side] is not None]
    assert every == sorted(set(every))
    apart = next_of("* 6 * * 1", "--from", "2026-10-31 06:00", "-n", "30", "--format", "json").jobs[0]["runs"]
    assert len(apart) == 60


def test_what_the_schedd_did_not_reach_is_not_compared() -> None:
    """-n cut its chain before: no mark, no difference in JSON, and none that is counted."""
    arguments = ["--from", "2026-11-30 06:01", "-n", "2"]
    table = next_of("0 6 * * 1", *arguments)
    assert [line[:5] for line in table.lines[7:11]] == ["  !1 ", "     ", "   2 ", "   3 "]
    assert [line.endswith("  not reached") for line in table.lines[7:11]] == [False, False, False, True]
    assert "not reached" not in next_of("0 6 * * *", *arguments).out
    runs = next_of("0 6 * * 1", *arguments, "--format", "json").jobs[0]["runs"]
    assert [(row["manual"] is None, row["htcondor"] is None, row["differs"]) for row in runs] == [
        (True, False, True), (True, False, True), (False, True, False), (False, True, False),
    ]  # fmt: skip
    epoch = next_of("0 6 * * 1", *arguments, "--format", "epoch")
    assert "warning: the real schedd differs in 2 of 4 rows [schedd-differs]" in epoch.err


def test_a_clock_change_that_the_schedd_answers_with_another_pass_is_a_reason() -> None:
    """The run differs before the clocks go back, or in a retry that the repeated hour brings about."""
    first_pass = ["--tz", "Europe/Berlin", "--from", "2027-10-25 12:00", "-n", "1", "--format", "json"]
    job = next_of("* 2,3 * * 0", *first_pass).jobs[0]
    assert [row["differs"] for row in job["runs"]] == [True]
    assert [reason["code"] for reason in job["differences"]] == ["clock-change"]
    assert "the clocks go back on 2027-10-31" in job["differences"][0]["reason"]
    retried = ["--tz", "America/New_York", "--from", "2026-11-01 00:30 -0400", "-n", "3", "--format", "json"]
    job = next_of("59 * * 11 *", *retried).jobs[0]
    assert [row["htcondor"]["retry"] for row in job["runs"] if row["differs"]] == [True]
    assert [reason["code"] for reason in job["differences"]] == ["clock-change"]


def test_what_would_hang_the_schedd_is_no_advice() -> None:
    """A month that the schedd reads otherwise saves it from a date that never comes: nothing says to mend that."""
    result = next_of("0 6 31 2-3/3 *", "-n", "1")
    assert result.status == 1
    assert "[CRN201]" in result.err
    assert re.search(r"^  !1  no run +Wed 2027-03-31 06:00 \+0200$", result.out, re.MULTILINE)
    assert "month 2-3/3: the manual reads 2, the schedd 3" in result.out
    assert "write:" not in result.out


def test_an_undefined_attribute_makes_a_crontab_job_for_the_schedd_alone(write: Write) -> None:
    """The manual has no schedule there: "no run" in its column, and the reason names the attribute."""
    path = write("+CronMinute = undefined", "queue")
    result = at_now("next", "--spec", path, "-n", "1")
    assert result.status == 1
    assert "None" not in result.out
    assert re.search(r"^  !1  no run +Fri 2026-11-20 18:28 \+0100$", result.out, re.MULTILINE)
    (reason,) = at_now("next", "--spec", path, "-n", "1", "--format", "json").jobs[0]["differences"]
    assert (reason["code"], reason["write"]) == ("attribute", None)


PORTABLE = [
    ("0 6 */2 * *", ["cron_day_of_month = 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31"]),
    ("0 6 1 1-10/3 *", ["cron_month = 1,4,7,10"]),
    ("5-59/15 6 * * *", ["cron_minute = 5,20,35,50"]),
    ("0 1-10/3 * * *", ["cron_hour = 1,4,7,10"]),
    ("0 6 * * */2", ["cron_day_of_week = 0,2,4,6"]),
    ("13-14/5 6 * * *", ["cron_minute = 13"]),
    ("0 6 1-31 * 1", ["cron_day_of_month = *", "cron_day_of_week = *"]),
    ("0 6 * * *,1", ["cron_day_of_week = *"]),
    ("5-59/15 1-10/3 */3 1-10/3 *", [
        "cron_minute = 5,20,35,50",
        "cron_hour = 1,4,7,10",
        "cron_day_of_month = 1,4,7,10,13,16,19,22,25,28,31",
        "cron_month = 1,4,7,10",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "written"), PORTABLE)
def test_the_spelling_printed_makes_both_agree(line: str, written: list[str], write: Write) -> None:
    """What the answer says to write back in, written back in, leaves the manual's times and no difference."""
    first = next_of(line, "-n", "12")
    said = re.findall(r"^ {6}write:  (.*)$", first.out, re.MULTILINE)
    assert said == written
    names = ("cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week")
    commands = dict(zip(names, line.split(), strict=True)) | dict(text.split(" = ") for text in said)
    path = write(*(f"{name} = {text}" for name, text in commands.items()), "queue")
    until = ["--until", "2026-11-29", "--strict", "--format", "json"]  # before day 0, which no spelling cures
    again = at_now("next", "--spec", path, *until)
    assert (again.status, again.err) == (0, "")
    assert times(again, "manual") == times(again, "htcondor")
    assert times(again, "manual") == times(next_of(line, "--dialect", "manual", *until), "manual")


def test_an_integer_attribute_is_nothing_to_the_schedd(write: Write) -> None:
    """`+CronMinute = 5` is 5 to a reader and `*` to the schedd: the reason says so."""
    lines = ["+CronMinute = 5", "+DeferralWindow = 0", "+DeferralPrepTime = 60", "queue"]
    result = at_now("next", "--spec", write(*lines), "-n", "2", "--strict")
    assert result.status == 1
    assert "the schedd reads an attribute that is not a string as `*`" in result.out
    assert "      write:  cron_minute = 5" in result.lines


@pytest.mark.parametrize("line", [case[0] for case in PORTABLE])
def test_a_difference_has_a_reason(line: str) -> None:
    """No table ends with the announcement alone."""
    for policy in ("compatible", "skip"):
        job = next_of(line, "--policy", policy, "--from", "2027-03-27", "-n", "99", "--format", "json").jobs[0]
        assert bool(job["differences"]) == any(row["differs"] for row in job["runs"])


def test_day_zero_is_not_cured_where_it_does_not_strike_after_the_rewrite() -> None:
    """No clause for a schedule that means every day."""
    assert "add to requirements" not in next_of("0 6 1-31 * 1").out


def test_the_clause_covers_several_moments() -> None:
    """The days and hours are listed where the clock never changes; else formatTime lists the moments."""
    result = next_of("0,30 6 * * 1,5", "-n", "12")
    assert result.lines[-1].endswith("add to requirements:  member(DeferralTime / 86400 % 7, {1,4})")
    result = next_of("0,30 2 * * 1,5", "-n", "12")
    clause = 'stringListMember(formatTime(DeferralTime, "%w %H:%M"), "1 02:00,1 02:30,5 02:00,5 02:30", ",")'
    assert result.lines[-1].endswith(f"add to requirements:  {clause}")


def test_strict_makes_a_difference_a_finding() -> None:
    """Status 1 where a row shown differs, 0 where none does."""
    assert next_of("0 6 */2 * *", "--strict").status == 1
    assert next_of("0 6 * * *", "--strict").status == 0
    assert next_of("0 6 * * 1", "--strict", "-n", "2").status == 0
    assert next_of("0 6 * * 1", "--strict", "-n", "3").status == 1
    assert next_of("0 6 */2 * *", "--strict", "--dialect", "manual").status == 0


def test_what_only_the_schedd_accepts_is_shown_as_it_runs() -> None:
    """A value out of range is every value there, and an error here."""
    result = at_now("next", "--minute", "60", "--hour", "5", "-n", "2")
    assert result.status == 1
    assert "--minute:1:1: error: minute 60 is out of range (the schedd would read it as every value)" in result.err
    assert "    # " not in result.out
    assert result.lines[3].split("  ")[2] == "real schedd"
    assert "Sat 2026-11-21 05:01 +0100" in result.lines[5]
    assert result.lines[-1].endswith("(HTCondor 25.14) accepts it and runs it as shown.")


@pytest.mark.parametrize(
    ("minute", "reason"),
    [
        ("MON", "Invalid parameter value 'MON' for CronMinute"),
        ("5/15", "Invalid cron attribute: 5/15"),
        ("50-10", "Invalid cron attribute: 50-10"),
        ("*/0", ""),
    ],
)
def test_a_hold_is_announced_with_its_reason(minute: str, reason: str) -> None:
    """Both refuse it; the schedd by holding the job, in these words."""
    whole = f"Invalid cron schedule parameters: {reason}"
    result = at_now("next", "--minute", minute)
    assert (result.status, result.out) == (1, "")
    assert f"the real schedd would hold the job (code 25), HoldReason: {whole}" in result.err
    job = at_now("next", "--minute", minute, "--format", "json").jobs[0]
    assert job["schedule"] is None
    assert job["schedd_fault"]["hold_reason"] == whole


def test_a_hold_that_the_manual_does_not_see_is_a_finding() -> None:
    """Valid by the manual, with runs, and held by the schedd: status 1 without --strict."""
    result = next_of("13-14/5 6 * * *", "-n", "2")
    assert result.status == 1
    assert result.lines[7].endswith("no run")
    held = "  The real schedd holds this job (code 25): Invalid cron schedule parameters: "
    assert f"{held}Invalid cron attribute: 13-14/5" in result.lines


def test_a_long_hold_reason_is_cut_for_people_only() -> None:
    """The schedd repeats a value of any length; JSON has all of it."""
    result = at_now("next", "--minute", "x" * 4000)
    assert len(result.err) < 1500
    fault = at_now("next", "--minute", "x" * 4000, "--format", "json").jobs[0]["schedd_fault"]
    assert "x" * 4000 in fault["hold_reason"]


def test_a_date_that_never_comes_hangs_the_schedd() -> None:
    """Error, status 1, and what becomes of the schedd."""
    result = next_of("0 0 31 2,4 *")
    assert result.status == 1
    assert result.err.startswith("--crontab:1:5: error: the schedule never fires: day 31 does not occur in months 2, 4")
    assert "  schedule   never " in result.out
    text = " ".join(result.out.split())
    assert "The real schedd does not run this job" in text
    assert "a schedd never returns from searching for it" in text


def test_all_faults_are_told_at_once(write: Write) -> None:
    """Every field's fault, each at its place in the file."""
    result = at_now("next", "--spec", write("cron_minute = 60", "cron_hour = 6", "cron_day_of_week = MON", "queue"))
    assert result.status == 1
    assert "job.sub:1:15: error: minute 60 is out of range" in result.err
    assert "job.sub:3:20: error: MON is a name" in result.err


# Forms


def test_json_has_both_dialects_in_every_row() -> None:
    """The keys are those documented, whether the two differ or not."""
    result = next_of("0 6 * * 1", "-n", "12", "--format", "json")
    assert result.data.keys() == {"jobs", "diagnostics"}
    job = result.jobs[0]
    assert job.keys() == {
        "name", "line", "count", "zone", "now", "submitted", "queued",
        "dialect", "schedule", "deferral_time", "window", "prep_time",
        "schedd_interval", "universe", "leaves", "runs", "differences", "kept_out", "schedd_fault", "diagnostics",
    }  # fmt: skip
    moments = {"time", "local", "nominal_match", "match_opens", "last_match", "last_start", "skipped", "pass"}
    sides = []
    for row in job["runs"]:
        assert row.keys() == {"number", "manual", "htcondor", "differs"}
        assert row["manual"] is None or row["manual"].keys() == moments
        assert row["htcondor"] is None or row["htcondor"].keys() == moments | {"retry", "computed"}
        sides.append((row["manual"] is not None, row["htcondor"] is not None, row["differs"]))
    # two runs that both have, ten of the schedd alone, and ten that its chain of twelve does not reach
    assert sides == [(True, True, False)] * 2 + [(False, True, True)] * 10 + [(True, False, False)] * 10
    assert job["schedule"].keys() == {"words", "canonical", "fields"}
    assert [reason.keys() for reason in job["differences"]] == [{"code", "reason", "write", "is_clause"}] * 2


SCHEDULE_KEYS = ("schedule", "deferral_time", "window", "prep_time", "schedd_interval", "universe")


@pytest.mark.parametrize(
    ("lines", "nulls"),
    [
        (["cron_minute = 5", "queue"], {"deferral_time"}),
        (["deferral_time = 1893499200", "queue"], {"schedule"}),
        (["queue"], {"schedule", "deferral_time"}),
        (["cron_minute = 61", "queue"], set(SCHEDULE_KEYS)),
        (["cron_minute = MON", "queue"], set(SCHEDULE_KEYS)),
        (["cron_minute = 5", "cron_window = -1", "queue"], set(SCHEDULE_KEYS)),
        (["universe = scheduler", "deferral_time = 1893499200", "queue"], set(SCHEDULE_KEYS)),
    ],
)
def test_json_keys_are_there_whatever_the_job(lines: list[str], nulls: set[str], write: Write) -> None:
    """Where the reading is refused, or there is nothing to say, the value is null."""
    job = at_now("next", "--spec", write(*lines), "-n", "1", "--format", "json").jobs[0]
    usual = next_of("0 6 * * *", "-n", "1", "--format", "json").jobs[0]
    assert list(job) == list(usual)
    assert {key for key in SCHEDULE_KEYS if job[key] is None} == nulls


def test_both_sides_of_a_deferral_time_are_the_same(write: Write) -> None:
    """The dialects do not differ in it, and the keys of its row are those of any other."""
    lines = ["deferral_time = 1893499200", "deferral_window = 60", "queue"]
    job = at_now("next", "--spec", write(*lines), "--format", "json").jobs[0]
    (row,) = job["runs"]
    assert job["dialect"] is None
    assert row.keys() == {"number", "manual", "htcondor", "differs"}
    assert row["manual"] == row["htcondor"]
    assert (row["manual"]["time"], row["differs"], job["differences"]) == (1893499200, False, [])


def test_the_moments_of_a_run_are_those_of_the_rules(write: Write) -> None:
    """prep, SCHEDD_INTERVAL and window around the time (docs/deferral.md)."""
    result = at_now("next", "--spec", write(*NIGHTLY), "-n", "1", "--format", "json")
    run: dict[str, Any] = result.jobs[0]["runs"][0]["manual"]
    offsets = {name: run[name] - run["time"] for name in ("nominal_match", "match_opens", "last_match", "last_start")}
    assert offsets == {"nominal_match": -600, "match_opens": -900, "last_match": 899, "last_start": 900}


def test_json_repeats_the_diagnostics_of_stderr(write: Write) -> None:
    """Code, severity, place, help and fix: a program needs no stderr."""
    result = at_now("next", "--spec", write("cron_minutes = 5", "cron_minute = 61", "queue"), "--format", "json")
    assert result.status == 1
    (misspelt,) = result.data["diagnostics"]
    assert (misspelt["code"], misspelt["severity"], misspelt["line"]) == ("CRN501", "warning", 1)
    fault = result.jobs[0]["diagnostics"][0]
    assert (fault["code"], fault["line"], fault["column"], fault["text"]) == ("CRN101", 2, 15, "61")


def test_csv_has_a_line_for_each_run(write: Write) -> None:
    """Readable by the csv module, with a fixed head."""
    path = write("cron_minute = 0", "cron_hour = 6", "cron_day_of_week = 1", "queue", name='a, "b".sub')
    rows = list(csv.DictReader(io.StringIO(at_now("next", "--spec", path, "-n", "3", "--format", "csv").out)))
    assert list(rows[0]) == [
        "name", "line", "number", "time", "local", "match_opens", "last_start", "schedd_time", "retry", "differs",
    ]  # fmt: skip
    assert [row["name"] for row in rows] == [path] * 4
    assert [row["number"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["retry"] for row in rows] == ["false", "false", "true", "false"]
    assert [row["schedd_time"] == row["time"] for row in rows] == [True, True, False, False]
    assert [row["differs"] for row in rows] == ["false", "false", "true", "false"]


def test_csv_leaves_empty_what_a_side_does_not_have(write: Write) -> None:
    """A row of the schedd alone, of the manual alone, and one that the schedd's chain does not reach."""
    line = next_of("0 6 * * 1", "-n", "3", "--format", "csv").lines[3:]
    assert line == [
        "0 6 * * 1,,3,,,,,1796014920,true,true",
        "0 6 * * 1,,4,1796619600,2026-12-07T06:00:00+01:00,1796619000,1796619600,,false,false",
    ]
    held = next_of("13-14/5 6 * * *", "-n", "1", "--format", "csv").lines[1:]
    assert held == ["13-14/5 6 * * *,,1,1795237980,2026-11-21T06:13:00+01:00,1795237380,1795237980,,false,true"]
    once = at_now("next", "--spec", write("deferral_time = 1893499200", "queue", name="x"), "--format", "csv").lines
    assert once[1].endswith(",2,1,1893499200,2030-01-01T13:00:00+01:00,1893498600,1893499200,1893499200,false,false")


def test_epochs_are_the_times_of_the_manual_and_a_difference_is_told_on_stderr() -> None:
    """One number a line; there is no room for the other side, so that it must be said elsewhere."""
    result = next_of("0 6 */2 * *", "-n", "3", "--format", "epoch")
    sides = times(next_of("0 6 */2 * *", "-n", "3", "--format", "json"), "manual")
    assert sides.count(None) == 2  # runs of the schedd alone, which are skipped
    assert [int(line) for line in result.lines] == [time for time in sides if time is not None]
    assert len(result.lines) == 3
    assert "warning: the real schedd differs in 5 of 5 rows [schedd-differs]" in result.err
    assert next_of("0 6 * * *", "-n", "3", "--format", "epoch").err == ""


@pytest.mark.parametrize("form", ["table", "json", "csv", "epoch"])
def test_diagnostics_never_stand_among_the_data(form: str, write: Write) -> None:
    """A warning goes to stderr in every form."""
    path = write("cron_minutes = 5", "cron_minute = 5", "queue")
    result = at_now("next", "--spec", path, "-n", "1", "--format", form)
    assert result.status == 0
    assert "did you mean cron_minute?" in result.err
    assert form == "json" or "did you mean" not in result.out


@pytest.mark.parametrize("dialect", ["manual", "htcondor", "unix"])
def test_the_last_year_has_an_end(dialect: str) -> None:
    """Times end with the year 2200, and so does the search for them."""
    arguments = ["--now", "2200-12-31 20:30", "--tz", "UTC", "--dialect", dialect, "--format", "epoch"]
    ended = process("next", "--minute", "0", *arguments)  # in a process of its own: it can be ended
    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 3)


def test_requirements_that_keep_the_wrong_times_out_leave_the_manuals_runs(write: Write) -> None:
    """The schedd computes them all the same: one line says how many, and they are no rows."""
    cure = 'requirements = formatTime(DeferralTime, "%w %H:%M") == "1 06:00"'
    path = write("cron_day_of_week = 1", "cron_hour = 6", "cron_minute = 0", cure, "queue")
    arguments = ("next", "--spec", path, "-n", "3", "--tz", "UTC", "--now", "2026-11-27 12:00")
    table = crondor(*arguments)
    assert "real schedd" not in table.out.split("The real schedd computes")[0]
    assert "more times, the first Mon 2026-11-30 06:02" in table.out
    job = crondor(*arguments, "--format", "json").jobs[0]
    assert (job["kept_out"]["first"], len(job["runs"])) == (1796018520, 3)
    assert not any(row["differs"] for row in job["runs"])


def test_a_machine_beside_the_clause_excludes_no_time(write: Write) -> None:
    """What nobody knows here counts as possible, also under =?=; the part that excludes is shown."""
    clause = 'requirements = (TARGET.Arch =?= "X86_64") && DeferralTime % 7200 == 0'
    path = write("cron_minute = 0", clause, "queue")
    arguments = ("next", "--spec", path, "-n", "2", "--tz", "UTC", "--now", "2026-11-27 12:30")
    assert crondor(*arguments, "--format", "epoch").lines == ["1795788000", "1795795200"]
    assert "requirements exclude them (DeferralTime % 7200 == 0)" in " ".join(crondor(*arguments).out.split())


def test_a_deferral_time_that_requirements_exclude_is_no_run(write: Write) -> None:
    """It never matches, which is said in the place of a row."""
    path = write("deferral_time = 1795784400", "requirements = DeferralTime % 7200 == 0", "queue")
    result = crondor("next", "--spec", path, "--tz", "UTC", "--now", "2026-11-27 12:30")
    assert "no run in this time" in result.out
    assert "Requirements exclude its time, Fri 2026-11-27 13:00 +0000" in result.out


def test_seed_and_environment_are_what_the_command_line_says(write: Write) -> None:
    """Without them they are findings."""
    path = write("cron_minute = $ENV(MINUTE)", "cron_hour = $RANDOM_INTEGER(5,5,1)", "queue")
    assert "not known here" in crondor("next", "--spec", path).err
    result = crondor("next", "--spec", path, "--env", "MINUTE=7", "--seed", "1", "-n", "1")
    assert (result.status, "at 05:07" in result.out) == (0, True)
    assert crondor("next", "--spec", path, "--env", "=7").status == 2


def test_a_folder_may_be_allowed(tmp_path: Path) -> None:
    """Nothing beside the file's own folder is read otherwise."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "times").write_text("cron_minute = 9\n", encoding="utf-8")
    (tmp_path / "own").mkdir()
    own = tmp_path / "own" / "job.sub"
    own.write_text(f"include : {tmp_path}/other/times\nqueue\n", encoding="utf-8")
    assert "minute 9" not in crondor("next", "--spec", str(own)).out
    allowed = crondor("next", "--spec", str(own), "--allow-dir", str(tmp_path / "other"))
    assert "at minute 9" in allowed.out


def test_files_and_folders_are_answered_in_their_order(tmp_path: Path) -> None:
    """One that is refused is a finding, the others are shown; --spec adds up with FILES."""
    (tmp_path / "jobs").mkdir()
    for name, hour in (("jobs/b.sub", "5"), ("jobs/a.sub", "4"), ("c.sub", "3")):
        (tmp_path / name).write_text(f"cron_hour = {hour}\nqueue\n")
    (tmp_path / "bad.sub").write_text("cron_hour = 3\nqueue x from\n")
    paths = [str(tmp_path / name) for name in ("jobs", "bad.sub")]
    result = at_now("next", *paths, "--spec", str(tmp_path / "c.sub"), "--format", "json")
    assert result.status == 1
    assert [job["name"] for job in result.jobs] == [str(tmp_path / n) for n in ("c.sub", "jobs/a.sub", "jobs/b.sub")]
    assert any(found["severity"] == "error" for found in result.data["diagnostics"])


# What matters


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), "The job leaves the queue after its first run; to repeat it, add on_exit_remove = false."),
        (("on_exit_remove = True",), "to repeat it, write on_exit_remove = false."),
        (("on_exit_remove = false", "max_retries = 3"), "Max_retries makes the job leave the queue at its first"),
        (("on_exit_remove = false",), None),
        (("+OnExitRemove = false", "max_retries = 3"), None),
        (("on_exit_remove = ExitCode == 0",), None),
    ],
)
def test_a_job_that_runs_once_is_said_to(lines: tuple[str, ...], said: str | None, write: Write) -> None:
    """What no schedule changes; where an expression decides nothing is said."""
    path = write("executable = x", "cron_minute = 0", *lines, "queue")
    result = at_now("next", path, "-n", "1")
    assert (said in result.out) if said else ("leave" not in result.out)
    assert at_now("next", path, "-n", "1", "--format", "json").jobs[0]["leaves"] is (said is not None)


def test_a_run_that_a_clock_change_moves_is_marked() -> None:
    """With the time that is skipped; and of two passes which one it is."""
    spring = crondor("next", "--crontab", "30 2 * * *", "--now", "2027-03-27", "-n", "3")
    assert [line.split("  ")[2] for line in spring.lines if "2027-03-28" in line] == [
        " Sun 2027-03-28 03:30 +0200 (02:30 is skipped)".strip()
    ]
    data = crondor("next", "--crontab", "30 2 * * *", "--now", "2027-03-27", "-n", "3", "--format", "json").jobs[0]
    assert [row["manual"]["skipped"] for row in data["runs"]] == [None, ["2027-03-28T02:30:00"], None]
    autumn = crondor("next", "--crontab", "30 2 * * *", "--now", "2026-10-24", "-n", "3")
    assert "Sun 2026-10-25 02:30 +0200 (the first of two)" in autumn.out
    hourly = crondor("next", "--crontab", "0 * * * *", "--now", "2026-10-25", "-n", "4", "--dialect", "unix").out
    assert "02:00 +0200 (the first of two)" in hourly
    assert "02:00 +0100 (the second of two)" in hourly
    assert "03:00 +0100 (" not in hourly


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("*/90 * * * *", "*/90 starts again in each hour, and so only matches minute 0: hourly"),
        ("0 */25 * * *", "*/25 starts again in each day, and so only matches hour 0: daily"),
        ("0 0 */40 * *", "*/40 starts again in each month, and so only matches day of month 1: monthly"),
        ("*/59 * * * *", None),
    ],
)
def test_a_step_longer_than_its_field_is_told(line: str, said: str | None) -> None:
    """People mean every 90 minutes, and get every hour."""
    for command in ("next", "explain"):
        out = " ".join(at_now(command, "--crontab", line).out.split())
        assert (said in out) if said else ("counts from" not in out)


def test_what_is_said_of_a_file_stands_together_in_the_order_of_the_files(write: Write) -> None:
    """The hold of a job has no place in its text, and would not be known for whose it is after all the others."""
    first = write("cron_minute = */15  # quarters", "queue", name="z.sub")
    second = write("cron_minuets = 5", "cron_month = feb", "queue", name="a.sub")
    heads = [line for line in at_now("next", first, second).err.splitlines() if line[0] not in " 0123456789"]
    marks = [line.split(": ")[0].rsplit("/", 1)[-1].partition(":")[0] for line in heads]
    assert marks == ["z.sub", "note", "a.sub", "a.sub", "note"]
    assert "CronMinute" in heads[1]
    assert "CronMonth" in heads[4]


def test_a_row_that_is_the_same_takes_one_line(write: Write) -> None:
    """On a narrow terminal the schedd's answers stand below the rows that differ."""
    path = write("cron_minute = 0", "cron_hour = 3", "cron_day_of_week = 1-5", "queue")
    seen = crondor("next", "--now", NOW, path, columns=80).lines
    assert not [row for row in seen if row.strip() == "real schedd: the same"]
    assert [row for row in seen if row.strip().startswith("real schedd: Mon 2026-11-30 ") and "retry" in row]


def test_the_last_time_is_one_line() -> None:
    """One unless -n says more, the latest first."""
    result = at_now("next --previous", "--crontab", "0 6 * * 1")
    assert result == (0, "0 6 * * 1, Europe/Berlin\n  Mon 2026-11-16 06:00 +0100  4 d 12 h ago\n", "")
    more = at_now("next --previous", "--crontab", "0 6 * * 1", "-n", "3")
    assert [line.split()[1] for line in more.lines[1:]] == ["2026-11-16", "2026-11-09", "2026-11-02"]


def test_from_is_included() -> None:
    """At --from or earlier."""
    result = at_now("next --previous", "--crontab", "0 6 * * 1", "--from", "2026-11-16 06:00")
    assert "Mon 2026-11-16 06:00" in result.out


def test_prev_and_next_meet() -> None:
    """Backwards from the next run but one come that and the next one."""
    first, second = at_now("next", "--crontab", "7 */5 * * *", "-n", "2", "--format", "epoch").lines
    found = at_now(
        "next --previous", "--crontab", "7 */5 * * *", "--from", second, "-n", "2", "--format", "epoch"
    ).lines
    assert found == [second, first]


def test_json_has_the_same_head_as_next() -> None:
    """name, line, count, zone, now, and the runs."""
    result = at_now(
        "next --previous",
        "--minute",
        "0",
        "--tz",
        "Asia/Kathmandu",
        "--format",
        "json",
        "-n",
        "2",
        "--now",
        "1795195625",
    )
    assert result.jobs == [
        {
            "name": "command line",
            "line": None,
            "count": 1,
            "zone": "Asia/Kathmandu",
            "now": NOW_EPOCH,
            "runs": [
                {"time": 1795194900, "local": "2026-11-20T23:00:00+05:45"},
                {"time": 1795191300, "local": "2026-11-20T22:00:00+05:45"},
            ],
        }
    ]


def test_all_jobs_of_a_file_are_shown(write: Write) -> None:
    """A block for each group of equal jobs."""
    path = write("cron_minute = $(M)", "queue M in (5, 6)")
    assert at_now("next --previous", "--spec", path).out == (
        f"{path}:2, Europe/Berlin\n  Fri 2026-11-20 18:05 +0100  22 min 5 s ago\n"
        f"{path}:2, Europe/Berlin\n  Fri 2026-11-20 18:06 +0100  21 min 5 s ago\n"
    )


def test_the_policy_counts_backwards_too() -> None:
    """Without a run in the skipped hour the day before is the last."""
    arguments = ["--crontab", "30 2 * * *", "--from", "2027-03-28 12:00"]
    assert "Sun 2027-03-28 03:30 +0200" in at_now("next --previous", *arguments).out
    assert "Sat 2027-03-27 02:30 +0100" in at_now("next --previous", *arguments, "--policy", "skip").out


def test_unix_reads_names() -> None:
    """--dialect unix."""
    assert "2026-11-16" in at_now("next --previous", "--crontab", "0 6 * * mon", "--dialect", "unix").out


def test_the_schedd_has_no_past() -> None:
    """Its answers cannot be computed backwards, so that the dialect is not offered."""
    result = at_now("next --previous", "--minute", "5", "--dialect", "htcondor")
    assert (result.status, result.out) == (2, "")
    assert "a schedd has no past: with --previous choose manual or unix for --dialect" in result.err


def test_there_may_be_nothing_before() -> None:
    """Times begin in 1970: said, and no finding."""
    result = at_now("next --previous", "--crontab", "0 0 29 2 *", "--from", "1971-01-01")
    assert result == (0, "0 0 29 2 *, Europe/Berlin\n  no run before this time\n", "")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["cron_day_of_month = 31", "cron_month = 2", "queue"], "job.sub:1:21: error: the schedule never fires"),
        (["cron_minute = 60", "queue"], "job.sub:1:15: error: minute 60 is out of range"),
        (["deferral_time = 1893499200", "queue"], "job.sub:1:17: note: a job without cron fields has no earlier run"),
        (["queue"], "job.sub:1:1: note: a job without cron fields has no earlier run"),
    ],
)
def test_what_has_no_earlier_run_is_a_finding(lines: list[str], said: str, write: Write) -> None:
    """Status 1, the reason on stderr at its place in the file, nothing on stdout."""
    result = at_now("next --previous", "--spec", write(*lines))
    assert (result.status, result.out) == (1, "")
    assert said in result.err


def test_a_time_becomes_a_line_for_a_submit_file() -> None:
    """With a comment that says what it means."""
    result = at_now("next", "--at", "tomorrow 6:30")
    assert result == (0, "# Sat 2026-11-21 06:30 +0100 Europe/Berlin, in 12 h 2 min\ndeferral_time = 1795239000\n", "")


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("now", NOW_EPOCH),
        ("in 90 min", NOW_EPOCH + 5400),
        ("next monday 06:00", 1795410000),
        ("2026-12-24 18:00", 1798131600),
        ("24 Dec 2026 6pm", 1798131600),
        ("2026-12-24T18:00:00Z", 1798135200),
        ("1795239000", 1795239000),
    ],
)
def test_quiet_is_the_bare_number(time: str, expected: int) -> None:
    """For $(...) in a shell."""
    assert at_now("next", "--at", time, "--format", "epoch") == (0, f"{expected}\n", "")
    assert at_now("next", "--at", time, "--format", "epoch").out == f"{expected}\n"


def test_a_number_becomes_a_time() -> None:
    """The way back, in the zone asked for."""
    assert at_now("next", "--at", "1795239000").out == "Sat 2026-11-21 06:30 +0100 Europe/Berlin, in 12 h 2 min\n"
    assert at_now("next", "--at", "1795239000", "--tz", "UTC").out.startswith("Sat 2026-11-21 05:30 +0000 UTC, ")


def test_a_date_is_read_in_the_zone_of_tz() -> None:
    """And the local zone does not matter."""
    assert at_now("next", "--at", "2026-12-24 18:00", "--tz", "Asia/Tokyo", "--format", "epoch").out == "1798102800\n"


def test_the_line_is_a_submit_file_in_itself(write: Write) -> None:
    """At -> deferral_time -> next: the same time."""
    line = at_now("next", "--at", "tomorrow 6:30")
    path = write(*line.lines, "queue")
    result = at_now("next", "--spec", path)
    assert result.status == 0
    assert "Sat 2026-11-21 06:30 +0100  in 12 h 2 min" in result.lines[-1]
    assert (
        at_now("next", "--spec", path, "--format", "epoch").out
        == at_now("next", "--at", "tomorrow 6:30", "--format", "epoch").out
    )


@given(st.integers(10**8, 7_289_654_399), st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]))
@examples(10)
def test_what_is_shown_for_a_number_reads_back_as_it(epoch: int, zone: str) -> None:
    """Date, clock and offset of the answer, typed again."""
    shown = crondor("next", "--at", str(epoch), "--tz", zone, "--now", "0" * 9).out.split(f" {zone}")[0]
    assert crondor("next", "--at", shown, "--tz", zone, "--format", "epoch") == (0, f"{epoch}\n", "")


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("03/04/2026", "can be read as 2026-03-04 or as 2026-04-03"),
        ("tomorow", "did you mean `tomorrow`?"),
        ("1234", "the number `1234` alone may mean"),
        ("1795239000000", "thirteen are milliseconds"),
        ("2027-03-28 02:30", "does not exist here"),
        ("31 feb 2027", "not a date of the calendar"),
        ("", "the time is missing"),
        ("two hours", "`two` is not a word of a time"),
        ("2027-02-30", "not a date of the calendar"),
        ("9999-01-01", "outside 1970 to 2200"),
    ],
)
def test_a_time_that_cannot_be_read_is_wrong_usage(time: str, said: str) -> None:
    """Status 2, one sentence with a place and a help, nothing on stdout."""
    result = at_now("next", "--at", time)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("--at:1:")
    assert said in result.err
    assert "= help: " in result.err


def test_nothing_else_goes_with_it() -> None:
    """Options of schedules and queues are refused."""
    for more in (["--strict"], ["job.sub"], ["--queue", "q"], ["--format", "json"]):
        assert crondor("next", "--at", "now", *more).status == 2
