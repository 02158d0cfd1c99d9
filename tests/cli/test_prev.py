"""`crondor next --previous`: when a schedule fired last."""

import pytest

from tests.cli.conftest import Write
from tests.cli.running import NOW_EPOCH, at_now


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
