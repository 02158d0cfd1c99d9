"""`crondor next --at`: a time in words as deferral_time, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Write
from tests.cli.running import NOW_EPOCH, at_now, crondor
from tests.examples import examples


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
