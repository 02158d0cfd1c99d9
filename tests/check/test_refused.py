"""CRN017: what condor_submit refuses beside the schedule, once, and in its words."""

import pytest

from tests.check.asking import found, report

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
