"""CRN3..: the deferral time, its window and prep time, as literals and as expressions."""

import pytest

from crondor.diagnostics import Severity
from crondor.lint import CheckSettings
from tests.check.asking import NOW, SETTINGS, cured, found, places

CRON = "cron_minute = 0"
LATER = f"deferral_time = {NOW + 3600}"

CASES = [
    ("CRN301", ("deferral_time = -1",), 1),
    ("CRN301", ("deferral_time = 1.5",), 1),
    ("CRN301", (CRON, "cron_window = 5m"), 1),
    ("CRN301", (CRON, "cron_prep_time = true"), 1),
    ("CRN301", (CRON, "w = x", "cron_window = 5$(w)"), 1),
    ("CRN301", ("deferral_time = QDate + 60",), 0),
    ("CRN301", ("cron_window = 5m",), 0),
    ("CRN302", ("deferral_time = 9223372036854775808",), 1),
    ("CRN302", ("deferral_time = 9223372036854775807",), 0),
    ("CRN303", (CRON,), 1),
    ("CRN303", (CRON, "cron_window = 0"), 1),
    ("CRN303", (CRON, "deferral_window = 1"), 0),
    ("CRN303", (LATER, "deferral_window = 60"), 0),
    ("CRN303", (CRON, "universe = grid"), 0),
    ("CRN303", ("executable = x",), 0),
    ("CRN304", (CRON, "cron_window = 3601"), 1),
    ("CRN304", (CRON, "cron_window = 3600"), 0),
    ("CRN304", (CRON, "cron_window = 3601", "cron_hour = 6"), 0),
    ("CRN304", ("cron_minute = 0,59", "cron_window = 61"), 1),
    ("CRN304", (CRON, "cron_hour = 0", "cron_window = 86401"), 1),
    ("CRN304", (CRON, "cron_hour = 0", "cron_day_of_month = 1", "cron_window = 2419200"), 0),
    ("CRN304", (CRON, "cron_hour = 0", "cron_day_of_month = 1", "cron_window = 2419201"), 1),
    ("CRN304", (LATER, "deferral_window = 999999"), 0),
    ("CRN305", (CRON, "cron_prep_time = 3600"), 1),
    ("CRN305", (CRON, "cron_prep_time = 3599"), 0),
    ("CRN305", ("cron_minute = */5",), 1),
    ("CRN305", ("cron_minute = */5", "cron_prep_time = 120"), 0),
    ("CRN305", ("cron_minute = */5", "universe = local"), 0),
    ("CRN306", (CRON, "cron_prep_time = 30"), 1),
    ("CRN306", (CRON, "cron_prep_time = 30", "cron_window = 30"), 0),
    ("CRN306", (LATER, "deferral_prep_time = 0"), 1),
    ("CRN306", (CRON, "cron_prep_time = 0", "universe = local"), 0),
    ("CRN307", (f"deferral_time = {NOW - 1}",), 1),
    ("CRN307", (f"deferral_time = {NOW + 1}",), 0),
    ("CRN307", (f"deferral_time = {NOW - 60}", "deferral_window = 120"), 1),
    ("CRN307", ("deferral_time = QDate - 60",), 1),
    ("CRN307", ("deferral_time = QDate + 60",), 0),
    ("CRN307", (CRON, "deferral_time = 1"), 0),
    ("CRN308", (LATER,), 1),
    ("CRN308", (LATER, "periodic_remove = false"), 1),
    ("CRN308", (LATER, "periodic_hold = NumJobStarts > 3"), 1),
    ("CRN308", (LATER, "periodic_remove = JobStatus == 1 && time() > DeferralTime"), 0),
    ("CRN308", (LATER, "periodic_hold = time() > QDate + 7200"), 0),
    ("CRN308", (LATER, "+PeriodicHold = time() > DeferralTime + Grace", "+Grace = 60"), 0),
    ("CRN308", (f"deferral_time = {NOW - 9999}",), 0),
    ("CRN308", (CRON,), 0),
    ("CRN309", (CRON, LATER), 1),
    ("CRN309", (CRON, "deferral_window = 3"), 0),
    ("CRN310", ("cron_window = 60",), 1),
    ("CRN310", ("deferral_prep_time = 60",), 1),
    ("CRN310", (LATER, "deferral_prep_time = 60"), 0),
    ("CRN310", ("cron_window = 60", "include : more.sub"), 0),
    ("CRN311", ("deferral_time = 0",), 1),
    ("CRN311", ("deferral_time = QDate - QDate",), 1),
    ("CRN311", ('deferral_time = strcat("a", "b")',), 1),
    ("CRN311", ("deferral_time = QDate + 60", "deferral_window = 0 - 5"), 1),
    ("CRN311", ("deferral_time = Start", "+Start = QDate + 9"), 0),
    ("CRN311", (CRON, "cron_window = DeferralTime - QDate"), 0),
    ("CRN312", ("deferral_time = 1 +",), 1),
    ("CRN312", (CRON, "on_exit_remove = (ExitCode == 3"), 1),
    ("CRN312", (CRON, "periodic_release = ExitCode = 3"), 1),
    ("CRN312", ("deferral_time = QDate + 1", '+Note = "x'), 0),
    ("CRN312", (CRON, "on_exit_remove = ExitCode == 3"), 0),
    ("CRN312", (CRON, "on_exit_remove ="), 0),
    ("CRN313", ("deferral_time = QDate + TARGET.Delay",), 1),
    ("CRN313", ("deferral_time = QDate + Delay",), 1),
    ("CRN313", ("deferral_time = QDate + Delay", "+Delay = 60"), 0),
    ("CRN313", ("deferral_time = QDate + Delay", "+Delay = Base * 2", "+Base = 60"), 0),
    ("CRN314", ("deferral_time = time() + 60",), 1),
    ("CRN314", ("deferral_time = CurrentTime + 60",), 1),
    ("CRN314", ("deferral_time = Start", "+Start = time() + 60"), 1),
    ("CRN314", ("deferral_time = QDate + 60",), 0),
    ("CRN315", ("deferral_time = QDate + ProcId",), 0),
]  # fmt: skip


@pytest.mark.parametrize(("code", "lines", "count"), CASES)
def test_what_is_found(code: str, lines: tuple[str, ...], count: int) -> None:
    """Each rule with descriptions that it is about, and with others."""
    assert len(found(code, *lines)) == count


def test_the_jobs_of_a_statement_that_differ_by_number() -> None:
    """CRN315: for several jobs, and not where a macro gives each its own text."""
    assert len(found("CRN315", "deferral_time = QDate + 60 * ProcId", queue="queue 3")) == 1
    assert not found("CRN315", "deferral_time = QDate + 60 * $(ProcId)", queue="queue 3")


def test_jobs_of_a_list_have_their_own_findings() -> None:
    """One finding for a place, and the number of other values in it."""
    (finding,) = found("CRN307", "deferral_time = $(t)", queue=f"queue t in (1 2 {NOW + 9})")
    assert finding.diagnostic.severity is Severity.ERROR
    assert finding.diagnostic.span is not None
    assert finding.diagnostic.span.text == "$(t)"
    assert len(found("CRN304", CRON, "cron_window = $(w)", queue="queue w in (60 7200 9000)")) == 1


def test_a_window_that_is_still_open_is_a_note() -> None:
    """CRN307 is lighter where the job starts at once."""
    (finding,) = found("CRN307", f"deferral_time = {NOW - 60}", "deferral_window = 120")
    assert finding.diagnostic.severity is Severity.NOTE


def test_values_are_underlined_where_they_stand() -> None:
    """The value, not the line; what gives the job its time for what is not set."""
    assert places("CRN304", CRON, "cron_window = 7200") == ["7200"]
    assert places("CRN303", CRON) == ["0"]
    assert places("CRN311", "deferral_time = QDate + 60", "deferral_window = 0 - 5") == ["0 - 5"]


def test_cures() -> None:
    """What a one-time job lacks, and the time that cron fields overwrite."""
    clause = "periodic_hold = JobStatus == 1 && time() > DeferralTime + DeferralWindow"
    assert cured("CRN308", LATER) == f"{LATER}\n{clause}\nqueue\n"
    assert cured("CRN309", CRON, LATER, "executable = x") == f"{CRON}\nexecutable = x\nqueue\n"


def test_the_schedd_interval_is_said() -> None:
    """CRN306 names the interval that is assumed."""
    settings = CheckSettings(NOW, "UTC", schedd_interval=7)
    (finding,) = found("CRN306", CRON, "cron_prep_time = 0", settings=settings)
    assert "once per 7 s" in finding.diagnostic.message
    assert SETTINGS.schedd_interval == 300
