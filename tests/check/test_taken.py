"""CRN513 to CRN516, CRN542, CRN543, CRN556 to CRN558, CRN574, CRN585 to CRN593: what is taken without a word."""

from pathlib import Path

import pytest

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckSettings, Finding, check_submit
from crondor.macro.files import Files
from crondor.submit import SubmitFile, read_submit
from tests.check.asking import NOW, SETTINGS, cured, found, places, report
from tests.rows import rows

TAKEN = rows("check/planted_taken")
SOUND = rows("check/sound_taken")
OURS = {code for code, _, _ in TAKEN} | {"CRN574", "CRN575", "CRN576"}
RECORDED = rows("check/taken")  # condor_submit -dry-run of 25.14, and of 23.9.6


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
    assert [row["lines"] for row in RECORDED] == [lines for _, lines, _ in TAKEN]
    assert {(row["rc"], row["rc_23"]) for row in RECORDED} == {(0, 0)}
    said = [lines for _, lines, _ in TAKEN if lines[0].startswith("notify_user = never") or "output_dest" in lines[-1]]
    assert [row["lines"] for row in RECORDED if row["says"]] == said


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
