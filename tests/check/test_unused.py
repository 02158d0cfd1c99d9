"""CRN501, CRN507 to CRN510: lines that condor_submit has no use for, and what a release does not have."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from crondor.diagnostics import Severity, Source
from crondor.knowledge import Release
from crondor.lint import CheckReport, CheckSettings, check_submit
from crondor.submit import SubmitFile, read_submit
from tests.check.asking import SETTINGS, cured, found, places, report
from tests.golden.recording import read_recording

EXECUTABLE = "executable = a.sh"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("reqest_memory", "request_memory"),
        ("requirments", "requirements"),
        ("requirement", "requirements"),
        ("arguements", "arguments"),
        ("argument", "arguments"),
        ("transfer_input_file", "transfer_input_files"),
        ("tranfer_output_files", "transfer_output_files"),
        ("envrionment", "environment"),
        ("enviroment", "environment"),
        ("should_transfer_file", "should_transfer_files"),
        ("when_to_transfer_files", "when_to_transfer_output"),
        ("initial_directory", "initialdir"),
        ("on_exit_removed", "on_exit_remove"),
        ("periodic_realease", "periodic_release"),
        ("deferral_prep", "deferral_prep_time"),
        ("cron_weekday", "cron_day_of_week"),
        ("get_environment", None),
        ("concurency_limits", "concurrency_limits"),
        ("accouting_group", "accounting_group"),
        ("notificaton", "notification"),
        ("notify_users", "notify_user"),
        ("max_retrys", "max_retries"),
        ("transferinputfile", "transfer_input_files"),
        ("containerimages", "container_image"),
        ("job_name", "batch_name"),
        ("memory", "request_memory"),
        ("request_gpu", "request_gpus"),
        ("request_cpu", "request_cpus"),
        ("request_gpu_memory", None),
        ("wall_time", None),
    ],
)
def test_what_was_meant(name: str, meant: str | None) -> None:
    """A slip is told with the command; what is like none is told as unused."""
    if name == "request_gpu_memory":  # condor_submit looks at it to warn of it, where a job asks for GPUs
        assert places("CRN501", EXECUTABLE, f"{name} = 1") == [name]
        return
    (only,) = found("CRN501", EXECUTABLE, f"{name} = 1")
    assert only.diagnostic.message.endswith("condor_submit reports the line as unused")
    assert only.diagnostic.help == (f"did you mean {meant}?" if meant else "remove the line")


@pytest.mark.parametrize(
    "lines",
    [
        ("prefix = a", "output = $(prefix).out"),
        ("prefix = a", "name = $(prefix)_1", "output = $(name).out"),
        ("memory = 2000", "request_memory = $(memory)"),
        ("n = 3", "+Number = $(n)"),
        ("MY.Anything = 1",),
        ("+Anything = 1",),
        ("tmp.anything = 1",),
        ("JOB = A", "RETRY = 1", "DAG_STATUS = 0"),
        ("request_widgets = 2",),
        ("get_env = HOME",),
        ("prio = 5",),
        ("big = true", "if $(big)", "request_memory = 4GB", "endif"),
        ("name = arg", "$(name)uments = 1"),
        ("a = x", "a = $(a) y"),
    ],
)
def test_what_is_used(lines: tuple[str, ...]) -> None:
    """Macros that a line refers to, attributes, and what condor_submit knows by other names."""
    assert not found("CRN501", EXECUTABLE, *lines)
    assert not found("CRN507", EXECUTABLE, *lines)


def test_what_only_an_unused_line_refers_to() -> None:
    """Neither the line nor its macro does anything."""
    assert places("CRN501", EXECUTABLE, "b = 1", "a = $(b)") == ["b", "a"]


def test_loop_variables() -> None:
    """The queue statement is where one stands that no job uses."""
    queue = "queue file, number from (\n  a 1\n  b 2\n)"
    (only,) = found("CRN501", EXECUTABLE, "arguments = $(file)", queue=queue)
    assert only.diagnostic.message.startswith("no job uses the queue variable number")
    assert not found("CRN501", EXECUTABLE, "arguments = $(file) $(number)", queue=queue)


def test_an_attribute_without_its_sign() -> None:
    """What is a job's attribute by that name is one with a plus."""
    (only,) = found("CRN501", EXECUTABLE, "WantCheckpointSignal = true")
    assert only.diagnostic.help == "write +WantCheckpointSignal = ... to set the job's attribute"


def test_cures() -> None:
    """The name is replaced, unless the command is there already; a word of another system is no slip."""
    assert cured("CRN501", EXECUTABLE, "reqest_memory = 2GB") == "executable = a.sh\nrequest_memory = 2GB\nqueue\n"
    (there,) = found("CRN501", EXECUTABLE, "arguments = a", "argument = b")
    assert there.fix is None
    assert there.diagnostic.help == "did you mean arguments? it is also set at line 2"
    assert [each.fix is None for each in found("CRN501", EXECUTABLE, "argument = a", "arguement = b")] == [False, True]
    (word,) = found("CRN501", EXECUTABLE, "working_directory = /tmp")
    assert word.fix is not None
    assert not word.fix.safe


def test_a_refused_job_hides_what_may_follow_from_it() -> None:
    """A slip is one all the same."""
    lines = (EXECUTABLE, "priority = high", "wall_time = 3", "reqest_memory = 2GB", "machine_count = 2")
    assert places("CRN501", *lines) == ["reqest_memory"]
    assert not found("CRN507", *lines)


def test_nothing_is_said_where_lines_may_hide() -> None:
    """A file that may not be read may use any of them."""
    assert not found("CRN501", EXECUTABLE, "wall_time = 3", "include : other.sub")
    assert not found("CRN501", EXECUTABLE, "wall_time = 3", queue="queue 1 in ()")


@pytest.mark.parametrize(
    ("lines", "reason", "severity"),
    [
        (("machine_count = 2",), "has an effect only in the parallel universe, and this job is vanilla", "warning"),
        (
            ("universe = local", "vm_memory = 2"),
            "has an effect only in the vm universe, and this job is local",
            "warning",
        ),
        (("batch_queue = long",), "has an effect only in the grid universe, and this job is vanilla", "warning"),
        (("require_gpus = Capability > 8",), "has an effect only with request_gpus, which is missing", "warning"),
        (("tool_daemon_args = x",), "has an effect only with tool_daemon_cmd, which is missing", "warning"),
        (("priority = 1", "prio = 2"), "repeats priority at line 2, which takes effect", "warning"),
        (("cmd = b.sh",), "repeats executable at line 1, which takes effect", "warning"),
        (
            ("deferral_time = 2000000000", "deferral_window = 60", "cron_window = 60"),
            "has no effect together with",
            "warning",
        ),
        (("shell = date",), "has no effect together with shell, which sets the program", "warning"),
        (
            ("docker_pull_policy = always",),
            "has an effect only in the docker and container universes, and this job",
            "note",
        ),
        (("jar_files = a.jar",), "has an effect only in the java universe, and this job is vanilla", "note"),
        (("buffer_size = 1",), "has an effect only in the standard universe, which no longer exists", "note"),
    ],
)
def test_a_command_that_does_nothing(lines: tuple[str, ...], reason: str, severity: str) -> None:
    """CRN507 says why, a note where condor_submit itself is silent."""
    (only,) = found("CRN507", EXECUTABLE, *lines)
    assert reason in only.diagnostic.message
    assert only.diagnostic.severity.value == severity


@pytest.mark.parametrize(
    "lines",
    [
        ("universe = parallel", "machine_count = 2"),
        ("WantParallelScheduling = true", "machine_count = 2"),
        ("universe = docker", "docker_image = a", "docker_pull_policy = always"),
        ("container_image = docker://a", "docker_pull_policy = always", "mount_under_scratch = /tmp"),
        ("request_gpus = 1", "require_gpus = Capability > 8", "gpus_minimum_memory = 4GB"),
        ("universe = java", "arguments = A", "jar_files = a.jar"),
    ],
)
def test_a_command_that_counts(lines: tuple[str, ...]) -> None:
    """In its universe, and beside what it needs."""
    assert not found("CRN507", EXECUTABLE, *lines)


@pytest.mark.parametrize(
    ("line", "target", "message"),
    [
        ("retry_request_memory = 4GB", "24", "retry_request_memory came with 25.2: HTCondor 24 ignores it"),
        ("shell = date", "23", "shell came with 24.7: HTCondor 23 ignores it"),
        ("copy_to_spool = true", "25", "25.7 was the last release with copy_to_spool: HTCondor 25 ignores it"),
        ("interactive_exectuable = x", "25", "24.11 was the last release with interactive_exectuable"),
    ],
)
def test_a_command_that_the_release_does_not_have(line: str, target: str, message: str) -> None:
    """CRN508 by --target."""
    settings = replace(SETTINGS, target=Release.parse(target))
    (only,) = found("CRN508", EXECUTABLE, "request_memory = 2GB", line, settings=settings)
    assert only.diagnostic.message.startswith(message)
    assert line.split(" ", maxsplit=1)[0] not in places("CRN501", EXECUTABLE, line, settings=settings)


@pytest.mark.parametrize(
    ("lines", "target"),
    [
        (("copy_to_spool = true",), "24"),
        (("copy_to_spool = true",), "25.7"),
        (("retry_request_memory = 4GB", "request_memory = 1GB"), "25.2"),
        (("shell = /bin/bash", "arguments = $(shell)"), "23"),
        (("periodic_vacate = false",), "23"),
    ],
)
def test_a_command_that_the_release_has(lines: tuple[str, ...], target: str) -> None:
    """And a macro of the author's own, where the release knows none of that name."""
    settings = replace(SETTINGS, target=Release.parse(target))
    codes = {finding.diagnostic.code for finding in report(EXECUTABLE, *lines, settings=settings).findings}
    assert codes & {"CRN501", "CRN507", "CRN508"} == set()


def test_the_name_that_a_release_has() -> None:
    """What was renamed is told with the other name."""
    settings = replace(SETTINGS, target=Release.parse("25.13"))
    (only,) = found("CRN508", EXECUTABLE, "transfer_common_input = a", settings=settings)
    assert only.diagnostic.help == "write common_input_files instead"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("request_memroy", "request_memory"),
        ("request_meory", "request_memory"),
        ("request_cores", "request_cpus"),
        ("request_ram", "request_memory"),
        ("request_disks", "request_disk"),
        ("request_widgets", None),
        ("request_walltime", None),
        ("request_memory", None),
        ("request_gpu", None),
    ],
)
def test_an_odd_resource(name: str, meant: str | None) -> None:
    """CRN509: only what is like a resource of every machine; a pool may have any of its own."""
    helps = [each.diagnostic.help for each in found("CRN509", EXECUTABLE, f"{name} = 2")]
    assert helps == ([f"did you mean {meant}?"] if meant else [])


def test_several_queue_statements() -> None:
    """CRN510 at the second one, for releases that warn of it."""
    lines = (EXECUTABLE, "arguments = 1", "queue", "arguments = 2")
    (only,) = found("CRN510", *lines)
    assert only.diagnostic.span is not None
    assert only.diagnostic.span.line == 5
    assert not found("CRN510", *lines, settings=replace(SETTINGS, target=Release.parse("23.0")))
    assert not found("CRN510", EXECUTABLE)


@pytest.mark.parametrize(
    ("value", "target", "count"),
    [
        ("a = b", "23", 1),
        ("a = b", "24.4", 1),
        ("a = b", "24.5", 0),
        ("a = b", "24.0", 0),
        ("a = b", "25", 0),
        ('"a = b"', "23", 0),
        ('"a = b', "23", 1),
        ("", "23", 0),
    ],
)
def test_remaps_without_quotes(value: str, target: str, count: int) -> None:
    """CRN511: older releases refuse them."""
    settings = replace(SETTINGS, target=Release.parse(target))
    assert len(found("CRN511", EXECUTABLE, f"transfer_output_remaps = {value}", settings=settings)) == count


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("+RequestMemmory = 2000",), "+RequestMemory"),
        (("MY.WantIOProxi = true",), "MY.WantIOProxy"),
        (("+RequestMemory = 2000",), None),
        (("+DESIRED_Sites = 1",), None),
        (("+JobFlavour = 1",), None),
        (("+RequestMemmory = 2000", "requirements = Memory > MY.RequestMemmory"), None),
        (("+Ownr = 1",), None),
    ],
)
def test_an_attribute_of_the_authors_own(lines: tuple[str, ...], meant: str | None) -> None:
    """CRN512: one slip from an attribute that HTCondor reads, and read by nobody."""
    helps = [each.diagnostic.help for each in found("CRN512", EXECUTABLE, *lines)]
    assert helps == ([f"did you mean {meant}?"] if meant else [])


def test_a_macro_without_a_value_ends_older_releases() -> None:
    """CRN005 is an error for them, and a warning for those that go on."""
    lines = (EXECUTABLE, "cron_minute = $INT(nothing)")
    (now,) = found("CRN005", *lines)
    (then,) = found("CRN005", *lines, settings=replace(SETTINGS, target=Release.parse("25.12")))
    assert (now.diagnostic.severity.value, then.diagnostic.severity.value) == ("warning", "error")


def test_a_file_without_a_queue_statement_is_refused_by_older_releases() -> None:
    """CRN006 is an error for them."""
    (now,) = found("CRN006", EXECUTABLE, queue="")
    (then,) = found("CRN006", EXECUTABLE, queue="", settings=replace(SETTINGS, target=Release.parse("25.0")))
    assert (now.diagnostic.severity.value, then.diagnostic.severity.value) == ("warning", "error")


GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "submit"
ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC", "GOLDMIN": "45"}
AT_RECORDING = CheckSettings(1_700_000_000)
UNUSED = re.compile(r"the (?:line|Queue variable) '([\w./]+)(?: = [^\n]*)?' was unused by condor_submit")
SAYING = frozenset(("CRN501", "CRN507", "CRN508"))


def read(source: Source) -> SubmitFile:
    """Read a description as it was recorded."""
    return read_submit(source, environ=ENVIRON, now=AT_RECORDING.now, seed=1)


def recorded(name: str) -> list[tuple[CheckReport, set[str]]]:
    """Return what is found in each description that was taken, and the lower-case names said to be unused."""
    found = []
    for case in read_recording(GOLDEN / name):
        line = case.value
        assert isinstance(line, dict)
        if line["rc"] == 0 and not line.get("args") and not line.get("config") and "include" not in str(line["submit"]):
            report = check_submit(Source(str(line["submit"]), str(line["name"])), AT_RECORDING, read)
            if any(finding.diagnostic.code == "CRN004" for finding in report.findings):
                continue  # the items of its queue statement are files that are not here
            found.append((report, {each.lower() for each in UNUSED.findall(str(line["stderr"]))}))
    return found


@pytest.mark.parametrize("name", ["submit.jsonl.gz", "full.jsonl.gz"])
def test_check_says_what_condor_submit_says(name: str) -> None:
    """No warning that condor_submit does not give, and no line passed over on which there is no finding at all."""
    said = passed_over = 0
    for made, unused in recorded(name):
        told: set[str] = set()
        for finding in made.findings:
            diagnostic, span = finding.diagnostic, finding.diagnostic.span
            lines = "" if span is None else span.source.line(span.line).lower()
            if diagnostic.code in SAYING and diagnostic.severity is Severity.WARNING:
                assert any(each in f"{lines} {diagnostic.message.lower()}" for each in unused), diagnostic
                said += 1
            told |= {each for each in unused if each in f"{lines} {diagnostic.message.lower()}"}
        passed_over += len(unused - told)
    assert said > 100
    assert passed_over <= said // 20  # a window and its prep time have one cause, and one finding


@pytest.mark.parametrize("rows", [60, 60_000])
def test_a_long_list_hides_no_misspelt_command(rows: int) -> None:
    """Only what jobs that are not looked at may use: a name that is written again, or made by a macro, or a command."""
    queue = "\n".join(("queue x from (", *map("item{:08}".format, range(rows)), ")"))
    lines = ("executable = x", "arguments = $(x)", "requst_cpus = 2", "container_image = y")
    assert places("CRN501", *lines, queue=queue) == ["requst_cpus"]
    assert not places("CRN501", *lines, "output = $(requst_cpus)", queue=queue)
    assert not places("CRN501", *lines, "output = $(requst_$(x))", queue=queue)
