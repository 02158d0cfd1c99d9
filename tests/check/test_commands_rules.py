"""CRN5..: misspelt commands, attributes behind condor_submit's back, and universes."""

import pytest

from tests.check.asking import cured, found, places

CRON = "cron_minute = 0"


@pytest.mark.parametrize(
    "name", ["cron_minutes", "Cron_Minuet", "cron_hours", "cron_dow", "deferral_tiem", "cron_windw"]
)
def test_a_misspelt_command(name: str) -> None:
    """CRN501 points at the name."""
    assert places("CRN501", f"{name} = 1") == [name]


@pytest.mark.parametrize(
    "line", ["cron_minute = 1", "CRON_MINUTE = 1", "CronMinute = 1", "croissant = 1", "my_cron = 1"]
)
def test_commands_and_own_macros(line: str) -> None:
    """CRN501 is silent for commands in any case, and for names that look like none."""
    assert not found("CRN501", line)


def test_the_cure_is_the_name() -> None:
    """The value and the rest of the line stay."""
    assert cured("CRN501", "cron_minutes  = 0 ") == "cron_minute  = 0 \nqueue\n"


def test_an_attribute_behind_the_back() -> None:
    """CRN502: window and prep time are missing, unless a command or the file itself gives them."""
    assert places("CRN502", '+CronMinute = "0"') == ['"0"']
    assert places("CRN502", "MY.DeferralTime = 2000000000") == ["2000000000"]
    assert not found("CRN502", '+CronMinute = "0"', "cron_hour = 6")
    assert not found("CRN502", '+CronMinute = "0"', "+DeferralWindow = 0", "+DeferralPrepTime = 300")


@pytest.mark.parametrize(
    ("code", "lines", "count"),
    [
        ("CRN503", ("universe = scheduler", "deferral_time = 2000000000"), 1),
        ("CRN503", ("universe = local", "deferral_time = 2000000000"), 0),
        ("CRN503", ("universe = scheduler", CRON), 0),
        ("CRN503", ("universe = scheduler",), 0),
        ("CRN504", ("universe = scheduler", CRON), 1),
        ("CRN504", ("u = Scheduler", "universe = $(u)", CRON), 1),
        ("CRN504", ("universe = 7", CRON), 1),
        ("CRN504", ("universe = vanilla", CRON), 0),
        ("CRN504", ("universe = scheduler",), 0),
        ("CRN505", ("universe = grid", CRON), 1),
        ("CRN505", ("universe = grid", "deferral_time = 2000000000"), 1),
        ("CRN505", ("universe = grid",), 0),
        ("CRN505", ("universe = docker", CRON), 0),
        ("CRN506", ("universe = vanila", CRON), 1),
        ("CRN506", ("universe = 99",), 1),
        ("CRN506", ("universe = container",), 0),
        ("CRN506", ("universe =",), 0),
    ],
)
def test_universes(code: str, lines: tuple[str, ...], count: int) -> None:
    """What each universe does with a time."""
    assert len(found(code, *lines)) == count


def test_each_queue_statement_has_its_universe() -> None:
    """A fault of the second is no fault of the first."""
    (place,) = places("CRN504", CRON, "queue", "universe = scheduler")
    assert place == "scheduler"
