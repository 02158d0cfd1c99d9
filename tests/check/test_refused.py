"""CRN017: what condor_submit refuses beside the schedule, once, and in its words."""

import gzip
import json
import random

import pytest

from crondor.diagnostics import Source
from crondor.lint import CheckSettings, check_submit
from crondor.lint.subject import CheckMemory
from crondor.submit import read_submit
from crondor.submit.ad import job_ads
from tests.check.asking import found, report
from tests.cli.running import EXAMPLES, ROOT
from tests.examples import TIMES

EXECUTABLE = "executable = /bin/true"
CRON = "cron_minute = 0"


@pytest.mark.parametrize(
    ("line", "message", "place"),
    [
        ("request_memory = two gigabytes", "Parse error in expression: RequestMemory = two gigabytes", "gigabytes"),
        ("should_transfer_files = maybe", "invalid value (maybe) for ShouldTransferFiles.", "maybe"),
        ("universe = docker", "docker jobs require a docker_image", "docker"),
        ("universe = grid", "grid_resource attribute not defined for grid universe job", "grid"),
        ('arguments = "a \'b"', "Unbalanced quote starting here", '"a \'b"'),
        ("priority = high", "priority=high is invalid, must eval to an integer.", "high"),
        ("rank = Memory +", "Parse error in expression: Rank = Memory +", ""),
        ("+Night = (", "Parse error in expression: Night = (", ""),
    ],
)
def test_what_is_refused_is_said(line: str, message: str, place: str) -> None:
    """With and without a schedule; the place is the value."""
    for lines in ((line,), (CRON, line)):
        (only,) = found("CRN017", EXECUTABLE, *lines)
        assert only.diagnostic.message.startswith(message)
        assert only.diagnostic.span is not None
        assert only.diagnostic.span.text == place


def test_a_macro_that_cannot_be_expanded_is_said() -> None:
    """Also where no scheduling command needs it."""
    (only,) = found("CRN017", EXECUTABLE, "arguments = $(a)", "a = $(b)", "b = $(a)")
    assert "defined by itself" in only.diagnostic.message


def test_a_missing_executable_is_said_at_the_queue_statement() -> None:
    """There is no other place."""
    (only,) = found("CRN017", CRON)
    assert only.diagnostic.message == "No 'executable' parameter was provided"
    assert only.diagnostic.span is not None
    assert only.diagnostic.span.text == "queue"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("universe = vanila", "CRN506"),
        ("deferral_window = -1", "CRN301"),
        ("on_exit_remove = (ExitCode == 0", "CRN312"),
        ("deferral_time = 2026-12-01 10:00", "CRN312"),
    ],
)
def test_what_another_rule_says_is_not_said_again(line: str, code: str) -> None:
    """One cause, one finding."""
    errors = [f.diagnostic for f in report(EXECUTABLE, "deferral_time = 1895305500", line).findings]
    assert [fault.code for fault in errors if fault.severity.value == "error"] == [code]


@pytest.mark.parametrize(
    "lines",
    [
        ("request_memory = 2GB", "request_disk = 10G", "request_cpus = 4", "request_gpus = 1"),
        ("should_transfer_files = YES", "transfer_input_files = a, b/c, https://example.org/d", "getenv = HOME, PATH"),
        ("universe = container", "container_image = docker://debian:12"),
        ("universe = docker", "docker_image = debian:12"),
        ("universe = grid", "grid_resource = batch slurm"),
        ("environment = \"A=1 B='two words'\"", "arguments = \"one 'two three'\""),
        ("requirements = (OpSysMajorVer > 8) && HasFileTransfer", "rank = Memory", "concurrency_limits = licence:2"),
        ("max_retries = 3", "retry_until = ExitCode >= 0", "success_exit_code = 0", "notification = Never"),
        ("log = log/$(Cluster).$(Process).log", "output = out/$(Process)", '+ProjectName = "Night"'),
        ('environment = "HOME=$ENV(HOME)"', "arguments = $(Process)"),
        ("want_graceful_removal = true", "job_lease_duration = 2400", "leave_in_queue = JobStatus == 4"),
    ],
)
def test_what_is_accepted_is_quiet(lines: tuple[str, ...]) -> None:
    """Commands as people write them."""
    assert report(EXECUTABLE, *lines, queue="queue 20").findings == ()


def test_a_thousand_jobs_that_differ_are_not_all_looked_at() -> None:
    """The first fifty show the mistake."""
    assert len(found("CRN017", EXECUTABLE, "arguments = $(Process)", "priority = high", queue="queue 100000")) == 1


SETTINGS = CheckSettings(1_795_195_625, "Europe/Berlin")
JOB = "executable = /bin/run{0}\ncron_minute = {0}\ncron_hour = 6\nrequest_memory = 1024\nqueue\n"
PIECES = (
    *("", "1", "0", "MON", "*/7", "1-5", "60", "x", "\n", "$(x)", "#", '"', " && ", "(", ")"),
    *("x = 3\n", "queue\n", "queue 2\n", "cron_minute = 5\n", "cron_day_of_week = 1\n", "universe = local\n"),
    *("on_exit_remove = false\n", "requirements = DeferralTime > 3\n", "deferral_window = 10\n", "+CronHour = 3\n"),
    *("submit.cron_hour = 7\n", "job_lease_duration = 3\n", "if $(x)\n", "endif\n", "arguments = $(ProcId)\n"),
)


def texts() -> list[str]:
    """Return the examples, recorded descriptions, and one of many jobs."""
    lines = gzip.decompress((ROOT / "tests/golden/submit/submit.jsonl.gz").read_bytes()).splitlines()
    return [
        *(path.read_text(encoding="utf-8") for path in EXAMPLES),
        *(json.loads(line)["submit"] for line in lines[::60]),
        "".join(JOB.format(number) for number in range(6)),
    ]


def edited(text: str, dice: random.Random) -> str:
    """Return a text with a piece of it replaced."""
    low = dice.randrange(len(text) + 1)
    return text[:low] + dice.choice(PIECES) + text[min(len(text), low + dice.choice((0, 0, 1, 5))) :]


def test_edits_one_after_the_other_find_what_a_fresh_check_finds() -> None:
    """Places, words, fixes, and what was silenced."""
    dice = random.Random(3)  # noqa: S311 - which edits, no secret
    choices = texts()
    for _ in range(5 * TIMES):
        memory, text = CheckMemory(), dice.choice(choices)
        for _ in range(12):
            text = edited(text, dice)
            source = Source(text, "a.sub")
            assert check_submit(source, SETTINGS, memory=memory) == check_submit(source, SETTINGS), text


def test_an_ad_is_made_of_the_changed_job_alone() -> None:
    """And of the first one, which decides about all."""
    memory = CheckMemory().made
    text = "".join(JOB.format(number) for number in range(20))
    assert len(list(job_ads(read_submit(Source(text)), memory=memory))) == 20
    memory.turn()
    assert len(list(job_ads(read_submit(Source(text)), memory=memory))) == 1
    memory.turn()
    changed = text.replace("cron_minute = 7\n", "cron_minute = 8\n")
    assert [each.jobs.first[0] for each in job_ads(read_submit(Source(changed)), memory=memory)] == [0, 7]


def test_what_was_looked_up_is_known_of_jobs_that_are_not_made_again() -> None:
    """So that no line seems to be unused."""
    memory = CheckMemory().made
    seen = []
    for _ in range(2):
        used: set[str] = set()
        text = "".join(JOB.format(number) for number in range(3)) + "transfer_input_files = $(x)\nx = a\nqueue\n"
        assert list(job_ads(read_submit(Source(text)), memory=memory, used=used))
        seen.append(used)
        memory.turn()
    assert seen[0] == seen[1]
    assert "x" in seen[0]
