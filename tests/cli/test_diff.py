"""`crondor diff`: where two schedules, or two readings of one, part."""

from datetime import datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.recurrence import Recurrence
from crondor.spec import CronSpec
from tests.cli.conftest import Write
from tests.cli.running import NOW_EPOCH, ROOT, Result, at_now
from tests.examples import examples

quickly = examples(10)


def diff(*arguments: str, stdin: str = "") -> Result:
    """Compare at NOW in Berlin."""
    return at_now("diff", "--tz", "Europe/Berlin", *arguments, stdin=stdin)


def pair_of(*arguments: str) -> dict[str, Any]:
    """Return the first pair as JSON."""
    found: dict[str, Any] = diff(*arguments, "--format", "json").data["pairs"][0]
    return found


# The session


def test_two_lines_are_compared() -> None:
    """What differs, how they relate, the first time in common, and where they part."""
    assert diff("0 6 * * 1", "0 6 1-10/3 * 1") == (
        1,
        """\
< 0 6 * * 1
    at 06:00 on Mondays
> 0 6 1-10/3 * 1
    at 06:00 on Mondays, or on the 1st, 4th, 7th and 10th
  zone          Europe/Berlin (from --tz; must be the submit host's zone)

  field            written  values
  day of month  <  *        unrestricted
                >  1-10/3   1, 4, 7, 10
  day rule      <  only the day of week restricts the days
                >  OR: a day matches when either day field names it

  relation      every run of < is one of >, but not the other way round
  first common  Mon 2026-11-23 06:00 +0100, in 2 d 11 h

  The first 5 times that only one of them has:
    >  Tue 2026-12-01 06:00 +0100  in 10 d 11 h
    >  Fri 2026-12-04 06:00 +0100  in 13 d 11 h
    >  Thu 2026-12-10 06:00 +0100  in 19 d 11 h
    >  Fri 2027-01-01 06:00 +0100  in 41 d 11 h
    >  Thu 2027-01-07 06:00 +0100  in 47 d 11 h
""",
        "",
    )


def test_one_schedule_is_compared_in_two_dialects() -> None:
    """By default as the manual reads it and as the real schedd does."""
    result = diff("0 6 * * 1", "-n", "2")
    assert result == diff("0 6 * * 1", "-n", "2", "--dialect", "manual,htcondor")
    assert (result.status, result.err) == (1, "")
    assert result.out == (
        """\
< 0 6 * * 1, manual
    at 06:00 on Mondays
> 0 6 * * 1, htcondor
    at 06:00 on Mondays
  zone          Europe/Berlin (from --tz; must be the submit host's zone)

  relation      none: the htcondor dialect is not a set of times: its answers depend on when it is asked
  first common  Mon 2026-11-23 06:00 +0100, in 2 d 11 h

  The first 2 times that only one of them has:
    >  Mon 2026-11-30 06:02 +0100 (retry)  in 9 d 11 h
          and every 2 minutes until midnight

  > has the schedd's day 0: with a day of week and no day of month the schedd also runs the job on
  the last day of a month, and then every two minutes until the month ends
"""
    )


def test_what_means_the_same_is_no_difference() -> None:
    """Status 0; the other spelling is shown, and that it makes no difference."""
    result = diff("*/20 * * * *", "0,20,40 * * * *")
    assert (result.status, result.err) == (0, "")
    assert result.out.split("\n\n", 1)[1] == (
        """\
  field            written  values
  minute        <  */20     0, 20, 40
                >  0,20,40  the same, not starred

  relation      both mean the same
  first common  Fri 2026-11-20 18:40 +0100, in 12 min 55 s

  partings      no time before 2201 that only one of them has
"""
    )


def test_the_same_twice_has_no_table() -> None:
    """Nothing is said of equal fields."""
    assert "field" not in diff("0 6 * * *", "0 6 * * *").out


# How they relate


@pytest.mark.parametrize(
    ("a", "b", "wall", "zone", "status"),
    [
        ("0 6 * * *", "0 6 * * *", "same", "same", 0),
        ("0 6 1-31 * 1", "0 6 * * *", "same", "same", 0),
        ("0 6 * * 1", "0 6 * * 1,2", "subset", "subset", 1),
        ("0 6,7 * * *", "0 6 * * *", "superset", "superset", 1),
        ("0 6 * * 1", "0 6 * * 2", "neither", "neither", 1),
        ("30 * * * *", "30 0-23 * * *", "same", "superset", 1),
        ("0 6 29 2 *", "0 6 29 * *", "subset", "subset", 1),
        ("0 6 31 2 *", "0 6 30 2 *", "same", "same", 0),
        ("0 6 31 2 *", "0 6 1 2 *", "subset", "subset", 1),
    ],
)
def test_relations_are_exact(a: str, b: str, wall: str, zone: str, status: int) -> None:
    """On the wall clock and in the zone; the status follows the times."""
    assert pair_of(a, b)["relation"] == {"wall_clock": wall, "zone": zone}
    assert diff(a, b).status == status


def test_a_zone_can_part_what_the_wall_clock_joins() -> None:
    """Then both relations are told; in a zone without changes there is one."""
    result = diff("30 * * * *", "30 0-23 * * *", "-n", "1")
    assert "on the wall clock both mean the same; in Europe/Berlin every run of > is one of <" in " ".join(
        result.out.split()
    )
    assert "    <  Sun 2027-10-31 02:30 +0100  in 344 d 8 h" in result.lines
    plain = at_now("diff", "30 * * * *", "30 0-23 * * *", "--tz", "UTC")
    assert plain.status == 0
    assert "  relation      both mean the same" in plain.lines


def test_there_may_be_no_time_in_common() -> None:
    """Said, and null."""
    assert "  first common  no time before 2201 that both have" in diff("0 6 * * 1", "0 7 * * 1").lines
    assert pair_of("0 6 * * 1", "0 7 * * 1")["first_common"] is None


def test_a_schedule_that_never_fires_has_no_times() -> None:
    """A warning and no trouble: it is the empty set, and in the schedd a hang."""
    result = diff("0 6 31 2 *", "0 6 * * 2", "-n", "1")
    assert result.status == 1
    assert "'0 6 31 2 *':1:5: warning: the schedule never fires" in result.err
    assert "  relation      < never fires" in result.lines
    both = diff("0 6 31 2 *")
    assert both.status == 0
    assert "  relation      neither ever fires, and the schedd hangs in its search" in both.lines


# Where they part


def test_n_and_until_bound_the_times() -> None:
    """--n times at most, none after --until; both ends may hide a difference."""
    assert len(pair_of("0 6 * * *", "0 7 * * *", "-n", "7")["partings"]) == 7
    found = pair_of("0 6 * * *", "0 7 * * *", "--until", "2026-11-22 06:00")["partings"]
    assert [(t["local"][:16], t["fires"]) for t in found] == [
        ("2026-11-21T06:00", "first"),
        ("2026-11-21T07:00", "second"),
        ("2026-11-22T06:00", "first"),
    ]
    hidden = diff("0 6 * * *", "0 6 1-30 * *", "--until", "2026-12-30")
    assert hidden.status == 0
    assert "  partings      no time until 2026-12-30 00:00 that only one of them has" in hidden.lines
    few = diff("0 6 * * *", "0 6 1-30 * *", "--until", "2027-01-01")
    assert few.lines[-2:] == [
        "  The times until 2027-01-01 00:00 that only one of them has:",
        "    <  Thu 2026-12-31 06:00 +0100  in 40 d 11 h",
    ]


@given(st.data())
@examples(15)
def test_the_times_are_the_first_that_one_side_has(data: st.DataObject) -> None:
    """The symmetric difference, in order, as walking along both would find it."""
    texts = [["0", "30"], ["2", "*", "0-23"], ["*", "1-10/3", "15"], ["*", "3,10"], ["*", "1", "0-6"]]
    a, b = (" ".join(data.draw(st.sampled_from(choice)) for choice in texts) for _ in "ab")
    end = NOW_EPOCH + 400 * 86400
    ours, theirs = (set(Recurrence(CronSpec.from_line(x), "Europe/Berlin").between(NOW_EPOCH, end)) for x in (a, b))
    pair = pair_of(a, b, "--until", "2027-12-25 18:27:05", "-n", "3")
    assert pair["until"] == end
    assert [(t["time"], t["fires"]) for t in pair["partings"]] == [
        (time, "first" if time in ours else "second") for time in islice(sorted(ours ^ theirs), 3)
    ]
    assert (pair["first_common"] and pair["first_common"]["time"]) == min(ours & theirs, default=None)
    assert pair["differs"] is bool(ours ^ theirs)


# Dialects


def test_dialects_may_be_given_to_both_or_one_each() -> None:
    """X for both, X,Y for one each."""
    assert diff("0 0 * * MON", "0 0 * * 1", "--dialect", "unix").status == 0
    assert diff("@daily", "0 0 * * *", "--dialect", "unix,manual").status == 0
    assert diff("0 0 * * MON", "0 0 * * 1", "--dialect", "manual,unix").status == 2
    anded = pair_of("0 0 */2 * 1-5", "--dialect", "manual,unix")
    assert anded["relation"] == {"wall_clock": "superset", "zone": "superset"}
    assert [side["dialect"] for side in (anded["first"], anded["second"])] == ["manual", "unix"]


def test_a_reading_that_refuses_the_schedule_is_a_difference() -> None:
    """Of one schedule in two dialects; where both refuse it there is nothing to compare."""
    result = diff("0 3-4/5 * * *")
    assert result.status == 1
    assert result.lines[2:4] == [
        "> 0 3-4/5 * * *, htcondor",
        "    the schedd would not run it: held, Invalid cron schedule parameters: Invalid cron attribute: 3-4/5",
    ]
    taken = diff("0 25 * * *")
    assert taken.status == 1
    assert "    refused: hour 25 is out of range (the schedd would read it as every value)" in taken.lines
    assert pair_of("0 25 * * *")["first"]["refusal"].startswith("hour 25 is out of range")
    neither = diff("0 6 * * MON")
    assert (neither.status, neither.out) == (2, "")


# Files


def test_files_are_compared_job_by_job(write: Write) -> None:
    """In order, and not where their numbers differ."""
    a = write("cron_minute = $(M)", "queue M in (5, 6)", name="a.sub")
    b = write("cron_minute = $(M)", "queue M in (5, 7)", name="b.sub")
    found = diff(a, b, "--format", "json").data
    assert (found["differs"], [pair["differs"] for pair in found["pairs"]]) == (True, [False, True])
    assert diff(a, a).status == 0
    c = write("cron_minute = $(M)", "queue M in (5, 6, 7)", name="c.sub")
    result = diff(a, c)
    assert (result.status, result.out) == (2, "")
    assert f"compared one by one, in order: {a} has 2 and {c} has 3 of them" in " ".join(result.err.split())


def test_the_times_around_a_run_count_between_files(write: Write) -> None:
    """Window, preparation and universe; a line says nothing of them."""
    a = write("cron_minute = 5", "cron_window = 60", "queue", name="a.sub")
    b = write("cron_minute = 5", "cron_prep_time = 30", "universe = local", "queue", name="b.sub")
    result = diff(a, b)
    assert result.status == 1
    assert result.out.split("\n\n")[1] == (
        """\
  field            written  values
  window        <  60 s
                >  0 s
  prep time     <  300 s
                >  30 s
  universe      <  vanilla
                >  local"""
    )
    assert diff(a, "5 * * * *").status == 0


def test_single_times_are_compared_too(write: Write) -> None:
    """With each other, and with a schedule; an expression only with itself."""
    a = write("deferral_time = 1893499200", "queue", name="a.sub")
    b = write("deferral_time = 100", "queue", name="b.sub")
    unknown = write("deferral_time = Unknown + 60", "queue", name="c.sub")
    assert diff(a, a).status == 0
    assert "  first common  Tue 2030-01-01 13:00 +0100, in 1137 d 18 h" in diff(a, a).lines
    assert diff(a, b).status == 1
    assert [t["fires"] for t in pair_of(a, b)["partings"]] == ["first"]
    assert pair_of(a, "0 13 1 1 *")["first_common"]["time"] == 1893499200
    assert diff(unknown, unknown).status == 0
    result = diff(unknown, a)
    assert result.status == 2
    assert "c.sub:1:17: error: DeferralTime = Unknown + 60 is undefined" in result.err


def test_a_job_without_a_schedule_differs_from_one_with(write: Write) -> None:
    """It may run at once."""
    path = write("queue")
    assert diff(path, path).status == 0
    result = diff(path, "5 * * * *")
    assert result.status == 1
    assert "    no schedule: the job may run at once" in result.lines


def test_standard_input_is_one_side() -> None:
    """`-`, once."""
    text = "cron_minute = 30\ncron_hour = 2\nqueue\n"
    assert diff("-", "30 2 * * *", stdin=text).status == 0
    assert diff("30 2 * * *", "-", stdin=text).status == 0
    assert diff("-", stdin=text).lines[0] == "< <stdin>:3, manual"
    result = diff("-", "-", stdin=text)
    assert (result.status, result.out) == (2, "")
    assert "standard input can be read only once" in result.err


def test_a_file_may_have_a_blank_in_its_name(write: Write) -> None:
    """What exists is a file."""
    path = write("cron_minute = 5", "queue", name="my job.sub")
    assert diff(path, "5 * * * *").lines[0] == f"< {path}:2"


# JSON


def test_json_to_the_letter() -> None:
    """The stable keys."""
    side = {"line": None, "count": 1, "dialect": "manual", "deferral_time": None, "refusal": None}
    result = diff("0 6 * * *", "0 6-7 * * *", "-n", "1", "--until", "2026-12-01", "--format", "json")
    assert (result.status, result.err) == (1, "")
    assert result.data == {
        "differs": True,
        "pairs": [
            {
                "first": {"name": "0 6 * * *", "words": "at 06:00 every day", "canonical": "0 6 * * *", **side},
                "second": {
                    "name": "0 6-7 * * *",
                    "words": "at 06:00 and 07:00 every day",
                    "canonical": "0 6,7 * * *",
                    **side,
                },
                "zone": "Europe/Berlin",
                "now": NOW_EPOCH,
                "until": int(datetime(2026, 12, 1, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()),
                "differs": True,
                "relation": {"wall_clock": "subset", "zone": "subset"},
                "fields": [
                    {
                        "field": "hour",
                        "first": {"written": "6", "values": [6], "starred": False},
                        "second": {"written": "6-7", "values": [6, 7], "starred": False},
                    }
                ],
                "terms": [],
                "partings": [
                    {"time": 1795240800, "local": "2026-11-21T07:00:00+01:00", "fires": "second", "retry": False}
                ],
                "first_common": {"time": 1795237200, "local": "2026-11-21T06:00:00+01:00"},
                "diagnostics": [],
            }
        ],
        "diagnostics": [],
    }


# What is wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give two schedules to compare"),
        (["0", "6", "*", "*", "1"], "a crontab line is one argument, in quotes"),
        (["missing.sub", "0 6 * * *"], "cannot read 'missing.sub': No such file or directory"),
        (["0 6 * * *", "0 6 * *"], "'0 6 * *':1:1: error: a crontab line has five fields"),
        (["0 6 * * *", "0 66 * * *"], "'0 66 * * *':1:3: error: hour 66 is out of range"),
        (["@daily"], "the manual dialect has no nicknames"),
        (["0 6 * * *", "--dialect", "unix"], "one schedule in one dialect cannot be compared"),
        (["0 6 * * *", "--dialect", "unix,unix"], "one schedule in one dialect cannot be compared"),
        (["0 6 * * *", "--dialect", "quartz"], "'quartz' is not one or two (X,Y) of 'manual', 'htcondor', 'unix'"),
        (["0 6 * * *", "--dialect", "unix,manual,unix"], "is not one or two (X,Y) of"),
        (["0 6 * * *", "0 7 * * *", "--until", "yesterday"], "--until is not later than now"),
        (["0 6 * * *", "0 7 * * *", "-n", "0"], "0 is not in the range"),
        (["x\0 y", "0 7 * * *"], "error"),
        (["x" * 5000, "0 7 * * *"], "File name too long"),
        (["x " * 5000, "0 7 * * *"], "a crontab line has five fields"),
    ],
)
def test_trouble_is_status_2(arguments: list[str], said: str) -> None:
    """Nothing on stdout."""
    result = diff(*arguments)
    assert (result.status, result.out) == (2, "")
    assert said in result.err


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.sub")), ids=lambda path: path.name)
def test_an_example_differs_from_itself_in_nothing(path: Any) -> None:  # noqa: ANN401 - pytest's parameter
    """All of them."""
    assert diff(str(path), str(path)).status == 0


FIELD = st.text("0123456789*,-/ LMON", max_size=6)
SIDES = st.text(max_size=30) | st.lists(FIELD, min_size=5, max_size=5).map(" ".join)
GOOD = st.tuples(
    *(
        st.sampled_from([f"{low}", "*/2", f"{low}-{low + 4}", f"{low + 1},{low + 3}", f"{low}-{low + 3}/2"])
        for low in (0, 0, 1, 1, 0)
    )
).map(" ".join)
DIALECTS = st.sampled_from(["manual", "unix", "htcondor", "manual,unix", "unix,htcondor", "htcondor,manual"])


@given(st.lists(SIDES | GOOD, min_size=1, max_size=2), DIALECTS, st.sampled_from(["table", "json"]))
@quickly
def test_any_two_texts_are_compared_or_refused(sides: list[str], dialect: str, form: str) -> None:
    """Status 0, 1 or 2; no traceback; trouble leaves nothing on stdout, and no line is wider than a screen."""
    texts = [side.replace("/", "") if side.lstrip().startswith(("/", ".")) else side for side in sides]
    result = diff("--dialect", dialect, "--until", "2026-12-20", "--format", form, "--", *texts)
    assert result.status in {0, 1, 2}
    assert "Traceback" not in result.err
    if result.status == 2:
        assert (result.out, bool(result.err)) == ("", True)
    elif form == "table":
        assert max(map(len, result.lines)) <= 110
