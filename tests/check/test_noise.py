"""One cause is one finding: what follows from a fault is not said beside it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import crondor
from crondor.codes import CODES, KINDS
from crondor.lint import RULES, rules
from crondor.lint.routes import ROUTE_RULES
from tests.check.asking import found, places, report

REST = ("executable = x", "on_exit_remove = ExitCode == 77", "periodic_release = HoldReasonCode == 20")


def codes(*lines: str) -> list[str]:
    """Return the codes found in a description whose life is in order, each once for each place."""
    return [finding.diagnostic.code for finding in report(*REST, *lines).findings]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("cron_hour = 6", "cron_window = 120"), ["CRN208"]),  # neither the window nor the prep time
        (("cron_minute = $(nothing)", "cron_hour = 6", "cron_window = 120"), ["CRN109"]),
        (("cron_minute = *", "cron_window = 60"), ["CRN206"]),  # no prep time that nobody has given
        (("cron_minute = */2", "cron_window = 60", "cron_prep_time = 120"), ["CRN206"]),
        (("cron_minute = */2", "cron_window = 60", "cron_prep_time = 1800"), ["CRN206", "CRN305"]),
        (("cron_min = 0", "cron_hours = 6", "cron_window = 60"), ["CRN501", "CRN501"]),  # not CRN310
        (("deferral_time = 1136138400",), ["CRN307"]),  # no word on a window that is past
        (("deferral_time = 99999999999999999999",), ["CRN302"]),
        (("cron_minute = 0", "cron_hour = 6", "cron_window = 99999999999999999999"), ["CRN302"]),
        (("deferral_time = tomorrow",), ["CRN313"]),
        (("deferral_time = 2026-12-01 10:00",), ["CRN312"]),
        (("cron_minute = 0", "cron_day_of_week = MON,TUE,WED", "cron_hour = 6", "cron_window = 60"), ["CRN104"]),
        (("crom_minute = 0", "deferal_time = 5"), ["CRN501", "CRN501"]),
    ],
)
def test_one_cause_is_one_finding(lines: tuple[str, ...], expected: list[str]) -> None:
    """And what is a fault of its own is still found."""
    assert codes(*lines) == expected


def test_a_field_of_several_names_shows_what_to_write() -> None:
    """All of it, and which other names are meant."""
    (only,) = found("CRN104", *REST, "cron_minute = 0", "cron_hour = 6", "cron_day_of_week = MON-FRI")
    assert only.diagnostic.message.startswith("MON is a name, and HTCondor reads numbers only (FRI too); ")
    assert only.diagnostic.help == "write 1-5"


def test_each_field_shows_its_own_part_of_the_hold_reason() -> None:
    """The schedd writes that of all fields, one after the other."""
    messages = [f.diagnostic.message for f in found("CRN104", "cron_month = JAN", "cron_day_of_week = MON")]
    assert [message.rpartition("parameters: ")[2] for message in messages] == [
        "Invalid parameter value 'JAN' for CronMonth",
        "Invalid parameter value 'MON' for CronDayOfWeek",
    ]


def test_a_value_without_which_no_job_runs_is_an_error() -> None:
    """An attribute that nobody has set is as bad as a number that is none."""
    (only,) = found("CRN313", "deferral_time = tomorrow")
    assert only.diagnostic.severity.value == "error"


def test_a_date_is_told_from_epoch_seconds() -> None:
    """The command that turns it into them is named."""
    (only,) = found("CRN312", "deferral_time = 2026-12-01 10:00")
    assert only.diagnostic.help == "write epoch seconds: crondor next --at '2026-12-01 10:00' prints them"


def test_what_is_not_set_is_shown_where_the_time_is() -> None:
    """A comment that silences the finding stands above a line that its author wrote."""
    assert places("CRN305", "cron_minute = */5") == ["*/5"]
    assert places("CRN303", "deferral_time = 1895305500") == ["1895305500"]


def test_the_first_jobs_that_differ_are_checked() -> None:
    """However many there are, and what each costs; the number is said."""
    (only,) = found("CRN012", "cron_minute = $(Process)", queue="queue 2000000000")
    assert only.diagnostic.message.startswith("the jobs differ, and crondor checks the first ")
    assert found("CRN101", "cron_minute = $(Process)", queue="queue 2000000000")


def test_more_queue_statements_than_are_looked_at_are_no_clean_bill() -> None:
    """That the jobs were not looked at is a finding, and what needs none of them is still found."""
    lines = [line for n in range(6000) for line in (f"cron_minute = {n % 60}", "queue")]
    (only,) = found("CRN012", *lines, queue="queue")
    assert re.search(r"compares at most \d+ jobs one by one$", only.diagnostic.message)
    assert found("CRN510", *lines, queue="queue")


@pytest.mark.parametrize(
    "lines",
    [
        [f"+a{n} = strcat(a{n + 1}, a{n + 1})" for n in range(60)]
        + ["on_exit_remove = size(a0) == 1", "cron_minute = $(Process)"],
        [f"+a{n} = a{n + 1} + a{n + 1}" for n in range(60)] + ["deferral_time = a0 + $(Process)"],
    ],
)
def test_evaluations_share_a_budget(lines: list[str]) -> None:
    """Two hundred outcomes of a text that doubles sixty times are not all tried; other jobs then wait in vain."""
    (only,) = found("CRN012", *lines, "+a60 = 1", queue="queue 5")
    assert only.diagnostic.message == "the jobs differ, and crondor checks the first 1 of those that do"


_READERS = ("_spec.py", "spec.py", "_schedule.py")
_NOT_OF_MANUAL = {"schedd-character", "schedd-step", "schedd-empty"}  # CRN116 goes by what they mean
_NOT_OF_JOBS = {"cron-fields"}  # of a crontab line with another number of words
_NEVER = {"not-evaluated"}  # check gives the readers the means to evaluate
_BY_FUNCTION = {"submit-misspelt"}  # misspelt() gives nothing else, and one rule calls it


def calls(path: Path, *names: str) -> Iterator[list[str]]:
    """Yield the literal texts that are the arguments of each call of a function or method."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in names:
                yield [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]


def reported() -> set[str]:
    """Return the kinds of fault that the readers of a schedule give."""
    found = set()
    folder = Path(crondor.__file__).parent
    for name in _READERS:
        prefix = "cron-" if name == "_spec.py" else ""
        found |= {prefix + texts[0] for texts in calls(folder / name, "_fault", "_note") if texts}
        found |= {texts[0] for texts in calls(folder / name, "Diagnostic") if texts and texts[0] != "cron-"}
    for node in ast.walk(ast.parse((folder / "_spec.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Tuple) and len(node.elts) in {3, 4} and isinstance(node.elts[0], ast.Constant):
            first = node.elts[0].value  # of a fault that is handed on as a tuple
            found |= {f"cron-{first}"} if isinstance(first, str) and "_" not in first else set()
    return found


def test_every_kind_has_its_rule() -> None:
    """A kind without a rule is a silence: `check` passes on what has a code of its own, and a rule must ask for it."""
    kinds = reported() - _NOT_OF_JOBS - _NEVER
    assert {kind for kind in kinds if CODES.get(kind) not in RULES} == set()


def test_every_code_has_a_rule_and_a_page() -> None:
    """Whatever is printed after a fault can be looked up."""
    assert {code for code in KINDS if code not in {**RULES, **ROUTE_RULES}} == set()


def test_rules_about_values_ask_for_their_own_code_alone() -> None:
    """A code that two rules ask for is said twice, and one that none asks for is lost."""
    folder = Path(rules.__file__).parent
    texts = [call for path in folder.glob("*.py") for call in calls(path, "faults", "_faults")]
    texts += [call[:1] for path in folder.glob("*.py") for call in calls(path, "passed_on")]
    asked = Counter(code for call in texts for code in call)
    values = {CODES[kind] for kind in reported() - _NOT_OF_JOBS - _NEVER - _BY_FUNCTION - _NOT_OF_MANUAL}
    assert {code: asked[code] for code in values if asked[code] != 1} == {}


def test_a_kind_with_a_page_comes_from_what_the_page_is_about() -> None:
    """What hooks, queues, pools and sandboxes say has names of its own: a page on submit files would mislead."""
    folder = Path(crondor.__file__).parent
    rooms = (
        "classad",
        "event_log",
        "hooks",
        "job_queue",
        "pool",
        "rights",
        "router/daemon",
        "router/sandbox",
        "schedd",
    )
    named = {
        texts[0]
        for room in (*rooms, "router/sandbox")
        for path in (folder / room).rglob("*.py")
        for texts in calls(path, "Diagnostic", "fault", "warning", "fail", "warn")
        if texts
    }
    assert len(named) > 100
    assert named & CODES.keys() == set()


def test_the_list_of_codes_is_not_empty() -> None:
    """The test above reads the sources; it must find what is known to be there."""
    assert reported() >= {"cron-range", "cron-name", "cron-unsupported", "cron-type", "submit-number", "window-alone"}
