"""CRN4..: jobs that run once, never end, stay held, or ask another machine's clock."""

import pytest

from tests.check.asking import cured, found, places

CRON = "cron_minute = 0"
STAYS = "on_exit_remove = false"


@pytest.mark.parametrize(
    "lines",
    [
        (CRON,),
        ("cron_hour = 6", CRON),
        (CRON, "universe = local"),
        (CRON, "on_exit_remove ="),
        (CRON, "periodic_remove = JobStatus == 5"),
        ("m = 0", "cron_minute = $(m)"),
    ],
)
def test_a_crontab_job_runs_once(lines: tuple[str, ...]) -> None:
    """CRN401: nothing keeps it in the queue."""
    assert len(found("CRN401", *lines)) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (CRON, STAYS),
        (CRON, "OnExitRemove = false"),
        (CRON, "+OnExitRemove = false"),
        (CRON, "on_exit_remove = true"),
        (CRON, "on_exit_remove = ExitCode == 3"),
        ("deferral_time = 2000000000",),
        ("executable = x",),
        (CRON, "universe = grid"),
        (CRON, "universe = scheduler"),
        ('+CronMinute = "0"',),
        ("cron_minute = 0", "include command : defaults"),
    ],
)
def test_a_job_that_stays_or_is_no_crontab_job(lines: tuple[str, ...]) -> None:
    """CRN401 is silent; also where on_exit_remove may stand in what was not read."""
    assert not found("CRN401", *lines)


@pytest.mark.parametrize("retries", ["max_retries = 3", "success_exit_code = 0", "retry_until = ExitCode == 1"])
def test_retries_end_a_job_whatever_on_exit_remove_says(retries: str) -> None:
    """CRN401: condor_submit puts NumJobCompletions and the exit code into OnExitRemove; nothing there to hold."""
    assert places("CRN401", CRON, STAYS, retries) == [retries.partition("= ")[2]]
    assert not found("CRN402", CRON, STAYS, retries)
    assert not found("CRN403", CRON, STAYS, retries)
    assert not found("CRN401", CRON, "+OnExitRemove = false", retries)


def test_the_cure_of_a_job_that_runs_once() -> None:
    """A line before the queue statement."""
    assert cured("CRN401", CRON) == f"{CRON}\n{STAYS}\nqueue\n"


def test_the_cure_concerns_later_jobs_as_well() -> None:
    """It is offered where all of them are crontab jobs, and not where another one would stay for ever."""
    assert cured("CRN401", CRON, "queue", "cron_hour = 3") == f"{CRON}\n{STAYS}\nqueue\ncron_hour = 3\nqueue\n"
    first, *_ = found("CRN401", CRON, "queue", "cron_minute =", "executable = y")
    assert first.fix is None


@pytest.mark.parametrize("policy", ["false", "FALSE", "0", "0.5", "ExitCode =?= 1000", "1 == 2"])
def test_a_job_that_never_ends(policy: str) -> None:
    """CRN402: a literal or an expression that no outcome makes true."""
    assert places("CRN402", CRON, f"on_exit_remove = {policy}") == [policy]


@pytest.mark.parametrize(
    "lines",
    [
        ("on_exit_remove = ExitCode == 77",),
        ("on_exit_remove = ExitBySignal",),
        ("on_exit_remove = ExitCode == 1000",),  # of who was killed by a signal that is undefined
        ("on_exit_remove = undefined_name",),
        (STAYS, "on_exit_hold = ExitCode == 3"),
        (STAYS, "on_exit_hold = true"),
        ("on_exit_remove = NumJobStarts >= 4",),
        ("on_exit_remove = time() > 2000000000",),
        ("on_exit_remove = true",),
        ("on_exit_remove = ExitCode >= Last", "+Last = 9"),
        (STAYS, "periodic_remove = JobStatus == 1"),
        (STAYS, "periodic_hold = NumJobStarts > 3"),
        (),
    ],
)
def test_a_job_that_something_ends(lines: tuple[str, ...]) -> None:
    """CRN402 is silent."""
    assert not found("CRN402", CRON, *lines)


@pytest.mark.parametrize(
    "lines",
    [
        (STAYS,),
        ("on_exit_remove = ExitCode == 77",),
        (STAYS, "periodic_release = false"),
        (STAYS, "periodic_release = HoldReasonCode == 13"),
        (STAYS, "periodic_release = NumHolds > 3"),
        (STAYS, "universe = local"),
    ],
)
def test_a_job_that_stays_held(lines: tuple[str, ...]) -> None:
    """CRN403: nothing releases it after code 20, and the cure does, whatever else it released before."""
    assert len(found("CRN403", CRON, *lines)) == 1
    assert "HoldReasonCode == 20)" in cured("CRN403", CRON, *lines)


@pytest.mark.parametrize(
    "lines",
    [
        (STAYS, "periodic_release = (HoldReasonCode == 20)"),
        (STAYS, "periodic_release = true"),
        (STAYS, "periodic_remove = JobStatus == 5"),
        (STAYS, "on_exit_hold = true"),
        ("on_exit_remove = undefined_name",),
        (STAYS, "PeriodicRelease = HoldReasonCode =?= 20 && NumHolds < 10"),
        (STAYS, "+PeriodicRelease = HoldReasonCode == Code", "+Code = 20"),
        (STAYS, "periodic_release = time() - EnteredCurrentStatus > 3600"),
        (STAYS, 'periodic_release = regexp("deferred", HoldReason)'),
        ("on_exit_remove = true",),
        (),
    ],
)
def test_a_job_that_is_released_or_leaves(lines: tuple[str, ...]) -> None:
    """CRN403 is silent."""
    assert not found("CRN403", CRON, *lines)


def test_a_release_made_of_macros_is_left_to_its_author() -> None:
    """CRN403 is found, and there is no literal text to change."""
    (finding,) = found("CRN403", CRON, STAYS, "code = 13", "periodic_release = HoldReasonCode == $(code)")
    assert finding.fix is None


def test_one_finding_for_many_jobs() -> None:
    """Jobs of a list that share the line share the finding."""
    assert len(found("CRN401", "cron_minute = $(m)", queue="queue m in (1 2 3)")) == 1
    assert len(found("CRN401", CRON, "queue", "queue")) == 1


@pytest.mark.parametrize(
    ("requirements", "count"),
    [
        ('formatTime(DeferralTime, "%w") == "1"', 1),
        ('FORMATTIME(time()) == ""', 1),
        ("splitTime(DeferralTime).Hours == 3", 1),
        ('Machine == "time"', 0),
        ("time() > 3", 0),
        ("formatTime(", 0),
    ],
)
def test_requirements_that_ask_another_clock(requirements: str, count: int) -> None:
    """CRN404: functions that take the zone of whoever evaluates."""
    assert len(found("CRN404", CRON, f"requirements = {requirements}")) == count
