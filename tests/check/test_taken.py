"""CRN513 to CRN516, CRN542, CRN543, CRN556 to CRN558, CRN574, CRN585 to CRN593: what is taken without a word."""

import json
from pathlib import Path

import pytest

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckSettings, Finding, check_submit
from crondor.macro.files import Files
from crondor.submit import SubmitFile, read_submit
from tests.check.asking import NOW, SETTINGS, cured, found, places, report

TAKEN = [
    ("CRN513", ("transfer_executable = no",), "no"),
    ("CRN513", ("transfer_executable = nope",), "nope"),
    ("CRN513", ("transfer_executable = 0",), "0"),
    ("CRN513", ("getenv = Ture",), "Ture"),
    ("CRN513", ("getenv = yes",), "yes"),
    ("CRN514", ("docker_image = debian", "docker_pull_policy = allways"), "allways"),
    ("CRN514", ("docker_image = debian", "docker_pull_policy = missing"), "missing"),
    ("CRN514", ("docker_image = debian", "docker_network_type = hots"), "hots"),
    ("CRN514", ("notify_user = never", "notification = error"), "never"),
    ("CRN515", ("container_image = docker:python:3.12",), "docker:python:3.12"),
    ("CRN515", ("container_image = docker:/python",), "docker:/python"),
    ("CRN515", ("should_transfer_files = YES", "output_destination = /data/results"), "/data/results"),
    ("CRN514", ("when_to_transfer_output = YES",), "YES"),
    ("CRN516", ('periodic_hold_reason = "x"', "periodic_hold_subcode = 3"), "periodic_hold_reason"),
    ("CRN516", ("on_exit_hold_subcode = 3",), "on_exit_hold_subcode"),
    ("CRN516", ("notify_user = ada@example.org",), "notify_user"),
    ("CRN516", ("universe = scheduler", "rank = KFlops"), "rank"),
    ("CRN516", ("universe = local", "rank = KFlops"), "rank"),
    ("CRN509", ("universe = local", "request_gpus = 1"), "request_gpus"),
    ("CRN509", ("universe = scheduler", "request_licenses = 1"), "request_licenses"),
    ("CRN541", ("request_memory = 2GB", "+RequestMemory = 8192"), "2GB"),
    ("CRN541", ("request_cpus = 2", "MY.RequestCpus = 4"), "2"),
    ("CRN542", ("folder = x", "arguments = ${folder}/a $(folder)"), "${folder}"),
    ("CRN542", ("output = out.${Process}",), "${Process}"),
    ("CRN542", ("environment = DATA=${HOME}/data",), "${HOME}"),
    ("CRN543", ("arguments = --user $(ENV:USER)",), "$(ENV:USER)"),
    ("CRN543", ("output = out.$(Process.txt",), "$(Process.txt"),
    ("CRN543", ("arguments = $(Process -a",), "$(Process"),
    ("CRN543", ("arguments = --day $(date +%F) -v",), "$(date +%F)"),
    ("CRN556", ("on_exit_remove = never",), "never"),
    ("CRN556", ("periodic_remove = yes",), "yes"),
    ("CRN556", ("on_exit_hold = Flase",), "Flase"),
    ("CRN556", ("max_retries = 3", 'retry_until = "done"'), '"done"'),
    ("CRN556", ('periodic_hold = "MemoryUsage > 5"',), '"MemoryUsage > 5"'),
    ("CRN556", ('rank = "Memory"',), '"Memory"'),
    ("CRN557", ("periodic_hold = MemoryUsage > TARGET.Memory",), "TARGET.Memory"),
    ("CRN557", ("on_exit_hold = ExitStatus != 0",), "ExitStatus"),
    ("CRN557", ("periodic_remove = (JobStatus == 4) && (time() - QDate > 5)",), "JobStatus == 4"),
    ("CRN557", ("periodic_remove = JobStatus == 5 || 4 =?= JobStatus",), "4 =?= JobStatus"),
    ("CRN558", ("periodic_release = true",), "true"),
    ("CRN558", ("periodic_release = (TRUE)",), "(TRUE)"),
    ("CRN585", ("arguments = \u201c--title nightly\u201d",), "\u201c"),
    ("CRN585", ("batch_name = \u2018x\u2019",), "\u2018"),
    ("CRN585", ("arguments = -a \u2013all",), "\u2013"),
    ("CRN586", ("arguments = in.txt > out.txt",), ">"),
    ("CRN586", ("arguments = in.txt >out.txt",), ">out.txt"),
    ("CRN586", ("arguments = in.txt 2>&1",), "2>&1"),
    ("CRN586", ('arguments = "in.txt | sort"',), "|"),
    ("CRN586", ("arguments = a && b",), "&&"),
    ("CRN552", ("request_gpus = 1", 'require_gpus = Capabilty >= 8.0 && DeviceUuid != "x"'), "Capabilty"),
    ("CRN593", ("arguments = --alpha \\", "log = job.log"), "\\"),
]
SOUND = (
    ("transfer_executable = False",),
    ("transfer_executable = TRUE", "getenv = TRUE"),
    ("getenv = HOME, PATH*, !LD_*",),
    ("docker_image = debian", "docker_pull_policy = Always", "docker_network_type = lab-net"),
    ("docker_image = debian", "docker_network_type = host"),
    ("container_image = docker://python:3.12",),
    ("container_image = /images/a:b.sif",),
    ("should_transfer_files = YES", "output_destination = https://example.org/results/"),
    ("periodic_hold = MemoryUsage > 5", 'periodic_hold_reason = "x"', "periodic_hold_subcode = 3"),
    ("+PeriodicHold = MemoryUsage > 5", 'periodic_hold_reason = "x"'),
    ("notify_user = ada@example.org", "notification = Error"),
    ("universe = local", "request_gpus = 0"),
    ("universe = local", "request_memory = 1GB", "request_cpus = 1", "request_disk = 1GB"),
    ("request_memory = 2GB", "+RequestMemory = 2048"),
    ("request_cpus = 2", "+RequestCpus = 2"),
    ("executable = /bin/sh", "arguments = -c ${HOME}/$(date +%F) > x"),
    ("arguments = bash -c 'x | y > z'",),
    ("shell = echo ${HOME} $(date +%F) > x",),
    ("arguments = $(Process) $(nothing:a b) $$(Cpus) $$([ Cpus + 1 ]) $F(executable) $INT(Process)",),
    ("ENV = 1", "arguments = $(ENV:USER)"),
    ("on_exit_remove = ExitCode == 0 || NumJobStarts > 3", "periodic_remove = false"),
    ("+Wanted = true", "periodic_hold = Wanted"),
    ("max_retries = 3", "retry_until = 2"),
    ("request_gpus = 1", "require_gpus = GlobalMemoryMb >= 8000 && OurOwnThing == 3"),
    ("rank = Memory", "periodic_remove = JobStatus == 5 && time() - EnteredCurrentStatus > 600"),
    ("leave_in_queue = true", "periodic_remove = JobStatus == 4 && time() - CompletionDate > 600"),
    ("universe = scheduler", "on_exit_hold = ExitStatus != 0"),
    ("periodic_release = HoldReasonCode == 13 && NumJobStarts < 5",),
    (r"arguments = a \"& >/dev/null |echo -a |b",),
    ('arguments = "a ""b > c"" d"',),
    ("arguments = \"'say \u201cyes\u201d' don\u2019t\"",),
    ("arguments = --cut 5 > 3 --pt >= 20 a>b x->y <tag> '>' '|'",),
    ("arguments = --alpha \\", "  --queue \\", "  log=job.log"),
    ("output = a.out", "error = a.out"),
)
OURS = {code for code, _, _ in TAKEN} | {"CRN574", "CRN575", "CRN576"}
RECORDED = Path(__file__).with_name("taken.jsonl")  # condor_submit -dry-run of 25.14, and of 23.9.6


@pytest.mark.parametrize(("code", "lines", "place"), TAKEN)
def test_what_is_taken_is_found_where_it_stands(code: str, lines: tuple[str, ...], place: str) -> None:
    """By one finding of its rule, which is a warning."""
    (only,) = found(code, "executable = /bin/true", *lines)
    assert only.diagnostic.span is not None
    assert only.diagnostic.span.text == place
    assert only.diagnostic.severity is Severity.WARNING


@pytest.mark.parametrize(
    "line",
    [
        "periodic_release = JobStatus == 5",
        "periodic_release = (5 =?= MY.JobStatus) || HoldReasonCode == 3",
        "periodic_release = JobStatus > 2 && JobStatus < 6",
        "periodic_release = HoldReasonCode =!= undefined",
        "periodic_release = HoldReasonCode != 1",
        "periodic_release = 1 == 1",
        "periodic_release = 1",
        "+PeriodicRelease = JobStatus == 5",
        "periodic_hold = JobStatus != 5",
        "periodic_remove = JobStatus >= 1",
        "on_exit_hold = JobStatus == 2",
    ],
)
def test_a_policy_that_always_holds_when_it_is_asked_is_found(line: str) -> None:
    """The states in which it is asked settle it."""
    (only,) = found("CRN558", "executable = /bin/true", line)
    assert only.diagnostic.span is not None
    assert only.diagnostic.span.text == line.partition(" = ")[2]
    assert not found("CRN557", "executable = /bin/true", line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("periodic_release = JobStatus == 2", "JobStatus is 5 (held): this never holds"),
        ("periodic_release = HoldReasonCode == 1", "HoldReasonCode is not 1 (by a user): this never holds"),
        ("periodic_hold = JobStatus == 5 && NumJobStarts > 3", "it is not evaluated while JobStatus is 3"),
        ("periodic_remove = JobStatus == 3", "it is not evaluated while JobStatus is 3 (removed)"),
        ("on_exit_remove = JobStatus == 4", "JobStatus is 2 (running): the job stays in the queue"),
        ("on_exit_hold = JobStatus == 5", "JobStatus is 2 (running): this never holds"),
    ],
)
def test_a_policy_that_never_holds_when_it_is_asked_is_found(line: str, said: str) -> None:
    """It asks for a state in which it is not looked at."""
    (only,) = found("CRN557", "executable = /bin/true", line)
    assert said in only.diagnostic.message
    assert not found("CRN558", "executable = /bin/true", line)


@pytest.mark.parametrize(
    "line",
    [
        "periodic_release = JobStatus == 5 && NumJobStarts < 5",
        "periodic_release = HoldReasonCode > 0",
        "periodic_release = HoldReasonCode == 99",
        "periodic_release = JobStatus == 5 && time() > 1900000000",
        "periodic_release = random(2) == 1",
        "periodic_release = false",
        "periodic_hold = JobStatus == 2 || JobStatus == 1",
        "periodic_remove = JobStatus == 5",
        "on_exit_remove = JobStatus == 2",
        "on_exit_remove = false",
    ],
)
def test_a_policy_that_depends_on_more_is_left_alone(line: str) -> None:
    """On a code that may come, on the time, on chance; and false is what it says."""
    assert OURS.isdisjoint(f.diagnostic.code for f in report("executable = /bin/true", line).findings)


def test_condor_submit_takes_all_of_them() -> None:
    """In both releases, and of two alone with a word to whoever reads what it prints."""
    rows = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    assert [tuple(row["lines"]) for row in rows] == [lines for _, lines, _ in TAKEN]
    assert {(row["rc"], row["rc_23"]) for row in rows} == {(0, 0)}
    said = [lines for _, lines, _ in TAKEN if lines[0].startswith("notify_user = never") or "output_dest" in lines[-1]]
    assert [tuple(row["lines"]) for row in rows if row["says"]] == said


@pytest.mark.parametrize("lines", SOUND)
def test_what_is_sound_is_left_alone(lines: tuple[str, ...]) -> None:
    """Not even a note."""
    program = () if lines[0].startswith(("executable", "shell")) else ("executable = /bin/true",)
    codes = [f.diagnostic.code for f in report(*program, *lines).findings]
    assert OURS.isdisjoint(codes)


@pytest.mark.parametrize(
    ("code", "lines", "cure"),
    [
        ("CRN513", ("transfer_executable = no",), "transfer_executable = false\n"),
        ("CRN513", ("getenv = Ture",), "getenv = true\n"),
        ("CRN514", ("docker_image = a", "docker_pull_policy = allways"), "docker_pull_policy = always\n"),
        ("CRN515", ("container_image = docker:python:3.12",), "container_image = docker://python:3.12\n"),
        ("CRN542", ("d = x", "arguments = ${d} $(d)"), "arguments = $(d) $(d)\n"),
        ("CRN543", ("arguments = $(ENV:USER)",), "arguments = $ENV(USER)\n"),
        ("CRN556", ("on_exit_remove = never",), "on_exit_remove = false\n"),
        ("CRN557", ("on_exit_hold = ExitStatus != 0",), "on_exit_hold = ExitCode != 0\n"),
        ("CRN585", ("arguments = \u201c-a \u2013all\u201d",), 'arguments = "-a --all"\n'),
        ("CRN593", ("arguments = a \\",), "arguments = a \nqueue\n"),
    ],
)
def test_cures(code: str, lines: tuple[str, ...], cure: str) -> None:
    """Each writes what is meant."""
    assert cure in cured(code, "executable = /bin/true", *lines)


def test_a_variable_that_nobody_knows_is_one_note() -> None:
    """The file may be a template, which a script fills."""
    (only,) = found("CRN542", "arguments = ${cores}", "environment = A=${memory}")
    assert only.diagnostic.severity is Severity.NOTE


@pytest.mark.parametrize(
    ("lines", "queue", "expected"),
    [
        (("output = a.out", "error = a.err"), "queue 3", ["a.out", "a.err"]),
        (("output = a.out", "arguments = $(Process)"), "queue 3", ["a.out"]),
        (("output = a.out", "queue", "arguments = b"), "queue", ["a.out"]),
        (("output = $(Cluster).out",), "queue x in (a b)", ["$(Cluster).out"]),
        (("output = a.$(Process).out", "log = a.log"), "queue 3", []),
        (("output = $(x)",), "queue x in (a b)", []),
        (("output = a.out", "initialdir = $(x)"), "queue x in (a b)", []),
        (("output = /dev/null",), "queue 3", []),
        (("output = a.out",), "queue", []),
    ],
)
def test_jobs_that_share_a_file(lines: tuple[str, ...], queue: str, expected: list[str]) -> None:
    """Whatever else of them differs."""
    assert places("CRN574", *lines, queue=queue) == expected


def test_the_name_of_each_file_is_said() -> None:
    """With the number of the job before the suffix."""
    (only,) = found("CRN574", "output = logs.d/a.out", queue="queue 2")
    assert only.diagnostic.help == "write logs.d/a.$(Process).out to give each job its own file"


def test_a_queue_statement_that_is_a_part_of_a_value_is_one_finding() -> None:
    """That there is none then is not said beside it."""
    codes = [each.diagnostic.code for each in report("executable = x", "arguments = a \\").findings]
    assert codes == ["CRN593"]


def test_the_variable_that_nobody_uses_is_the_one_that_is_meant() -> None:
    """Where one macro is not known, and one variable of the queue statement not used."""
    (only,) = found("CRN540", "arguments = $(input_file)", queue="queue infile in (a, b)")
    assert (only.diagnostic.severity, only.diagnostic.help) == (Severity.WARNING, "did you mean $(infile)?")


def test_an_if_that_is_open_is_shown_where_it_begins() -> None:
    """Not at the queue statement that ends it."""
    lines = ("if defined A", "x = 1", "endif", "if defined DEBUG", "arguments = a", "else", "arguments = b")
    assert places("CRN013", *lines) == ["if defined DEBUG"]


@pytest.mark.parametrize(("lines", "place"), [((), "java"), (("arguments =",), "")])
def test_a_java_job_without_a_class(lines: tuple[str, ...], place: str) -> None:
    """It is shown at its arguments, or at the universe where it has none: that line asks for them."""
    assert places("CRN017", "universe = java", "executable = Main.class", *lines) == [place]


def executable(folder: Path, text: str, *, settings: CheckSettings = SETTINGS) -> list[Finding]:
    """Return what is found of an executable in a folder with a program run.sh."""
    (folder / "run.sh").write_text("x", encoding="utf-8")

    def read(source: Source) -> SubmitFile:
        return read_submit(source, files=Files([str(folder)], base=str(folder)), now=NOW)

    return list(check_submit(Source(f"executable = {text}\nqueue\n", "job.sub"), settings, read).findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run.sh --all", [("CRN575", Severity.ERROR)]),
        ("run.sh all", [("CRN575", Severity.ERROR)]),
        ("walk.sh --all", [("CRN575", Severity.WARNING)]),
        ("run.sh", []),
    ],
)
def test_an_executable_with_arguments(tmp_path: Path, text: str, expected: list[tuple[str, Severity]]) -> None:
    """It is told once, and surely where the first word is the program."""
    found = [(each.diagnostic.code, each.diagnostic.severity) for each in executable(tmp_path, text)]
    assert found == expected


def test_a_program_whose_name_has_blanks(tmp_path: Path) -> None:
    """It is what it seems."""
    (tmp_path / "run.sh --all").write_text("x", encoding="utf-8")
    assert executable(tmp_path, "run.sh --all") == []
