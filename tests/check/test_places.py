"""CRN570 and CRN571: what is named and not there; nothing outside the folders is looked at, and nothing opened."""

import os
from pathlib import Path

import pytest

from crondor.diagnostics import Severity, Source
from crondor.lint import CheckSettings, Finding, check_submit
from crondor.lint.submit import fixed
from crondor.macro.files import Files
from crondor.submit import SubmitFile, read_submit
from tests.check.asking import NOW, SETTINGS, found, places

HOME = ("train.sh", "data.csv", "logs/")


def make(folder: Path, *names: str) -> None:
    """Make some files and folders."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text("x", encoding="utf-8")


def missing(folder: Path, *lines: str, settings: CheckSettings = SETTINGS, queue: str = "queue") -> list[Finding]:
    """Return what is found missing by a description in a folder."""
    source = Source("\n".join((*lines, queue)) + "\n", "job.sub")

    def read(source: Source) -> SubmitFile:
        return read_submit(source, files=Files([str(folder)], base=str(folder)), now=NOW)

    report = check_submit(source, settings, read)
    return [each for each in report.findings if each.diagnostic.code in {"CRN570", "CRN571"}]


def said(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """Return codes, severities and places."""
    return [
        (each.code, each.severity.value, each.span.text if each.span else "")
        for each in (finding.diagnostic for finding in findings)
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("executable = train.sh", "input = data.csv", "log = logs/a.log"), []),
        (("executable = tra.sh", "input = data.csv"), [("CRN570", "error", "tra.sh")]),
        (("executable = train.sh", "input = nothing.csv"), [("CRN570", "warning", "nothing.csv")]),
        (
            ("executable = train.sh", "transfer_input_files = data.csv, model.bin,also.bin"),
            [("CRN570", "warning", "model.bin"), ("CRN570", "warning", "also.bin")],
        ),
        (("executable = train.sh", "output = out/a.out"), [("CRN571", "warning", "out/a.out")]),
        (("executable = train.sh", "initialdir = runs/1"), [("CRN571", "error", "runs/1")]),
        (("executable = train.sh", "initialdir = logs", "input = data.csv"), [("CRN570", "warning", "data.csv")]),
        (("executable = train.sh", "container_image = images/x.sif"), [("CRN570", "warning", "images/x.sif")]),
        (("executable = train.sh", "x509userproxy = proxy"), [("CRN570", "warning", "proxy")]),
        (("executable = train.sh", "x509userproxy = /elsewhere/x509up_u1000"), []),
        (("executable = train.sh", "transfer_input_files = https://example.org/x, osdf:///y, data.csv"), []),
        (("executable = train.sh", "transfer_input_files = $$(Arch).bin, data.csv"), []),
        (("executable = train.sh", "container_image = docker://debian"), []),
        (("executable = train.sh", "input = /elsewhere/data", "log = /elsewhere/x/y.log"), []),
        (("executable = train.sh", "input = ../data"), []),
        (("executable = tra.sh", "transfer_executable = false", "input = data.csv"), []),
        (("shell = date", "executable = no.sh", "input = data.csv"), []),
        (("universe = vm", "executable = name", "input = data.csv"), []),
        (("executable = train.sh", "input = $(nothing)"), []),
    ],
)
def test_what_is_missing(tmp_path: Path, lines: tuple[str, ...], expected: list[tuple[str, str, str]]) -> None:
    """Beside files that are there, each by itself; addresses and other folders are skipped."""
    make(tmp_path, *HOME)
    assert said(missing(tmp_path, *lines)) == expected


def test_a_description_away_from_home(tmp_path: Path) -> None:
    """Where nothing is there that it names, one note says so, and no more."""
    lines = ("executable = train.sh", "input = data.csv", "log = logs/a.log")
    findings = missing(tmp_path, *lines)
    assert said(findings) == [("CRN570", "note", "train.sh"), ("CRN571", "note", "logs/a.log")]
    assert [each.diagnostic.message for each in findings] == [
        "train.sh, data.csv do not exist on this host",
        "logs does not exist on this host",
    ]


def test_a_name_like_the_missing_one(tmp_path: Path) -> None:
    """It is named, and the cure writes it; the executable is then an error, since condor_submit refuses the job."""
    make(tmp_path, "bin/train.sh", "Data.csv")
    (program, data) = missing(tmp_path, "executable = bin/trian.sh", "input = data.csv")
    assert (program.diagnostic.severity, program.diagnostic.help) == (Severity.ERROR, "did you mean train.sh?")
    assert (data.diagnostic.severity, data.diagnostic.help) == (Severity.WARNING, "did you mean Data.csv?")
    source = Source("executable = bin/trian.sh\ninput = data.csv\nqueue\n", "job.sub")

    def read(source: Source) -> SubmitFile:
        return read_submit(source, files=Files([str(tmp_path)], base=str(tmp_path)), now=NOW)

    after = fixed(check_submit(source, SETTINGS, read), SETTINGS, unsafe=True, read=read).report
    assert after.source.text.startswith("executable = bin/train.sh\ninput = Data.csv\n")


def test_each_job_names_its_own(tmp_path: Path) -> None:
    """The items of a list are looked at as well."""
    make(tmp_path, "train.sh", "a.csv", "c.csv")
    findings = missing(tmp_path, "executable = train.sh", "input = $(x).csv", queue="queue x in (a b c)")
    assert [each.diagnostic.message.partition(",")[0] for each in findings] == ["b.csv"]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    """And without files to look at, nothing is missing."""
    make(tmp_path, *HOME)
    assert not missing(tmp_path, "executable = no.sh", "input = data.csv", settings=CheckSettings(NOW, files=False))
    source = Source("executable = no.sh\nqueue\n", "job.sub")
    assert all(each.diagnostic.code != "CRN570" for each in check_submit(source, SETTINGS).findings)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("universe = local",), ["train.sh"]),
        (("universe = Scheduler",), ["train.sh"]),
        (("transfer_executable = false",), ["train.sh"]),
        (("universe = local", "queue"), ["train.sh"]),
        ((), []),
        (("transfer_executable = true",), []),
        (("container_image = images/x.sif", "transfer_executable = false"), []),
        (("universe = java", "transfer_executable = false"), []),
        (("universe = local", "shell = date"), []),
    ],
)
def test_a_program_that_nobody_may_execute(tmp_path: Path, lines: tuple[str, ...], expected: list[str]) -> None:
    """It is found where the program is started where it lies; one that is transferred is made executable."""
    make(tmp_path, "train.sh")
    (tmp_path / "train.sh").chmod(0o644)
    assert not_executable(tmp_path, *lines) == expected
    (tmp_path / "train.sh").chmod(0o744)
    assert not_executable(tmp_path, *lines) == []


def not_executable(folder: Path, *lines: str) -> list[str]:
    """Return where a description with the program train.sh is said to have one that nobody may execute."""
    source = Source("\n".join(("executable = train.sh", *lines, "queue")) + "\n", "job.sub")

    def read(source: Source) -> SubmitFile:
        return read_submit(source, files=Files([str(folder)], base=str(folder)), now=NOW)

    found = (each.diagnostic for each in check_submit(source, SETTINGS, read).findings)
    return [each.span.text for each in found if each.code == "CRN576" and each.span is not None]


def test_nothing_is_opened(tmp_path: Path) -> None:
    """A pipe would block whoever opens it, and a file that nobody may read is there all the same."""
    make(tmp_path, "train.sh")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "train.sh").chmod(0)
    assert not missing(tmp_path, "executable = train.sh", "input = pipe")


def test_a_link_that_leads_out_is_passed_over(tmp_path: Path) -> None:
    """What lies after it is nobody's business, whether it is there or not."""
    home = tmp_path / "home"
    make(home, "train.sh")
    (home / "out").symlink_to(tmp_path)
    assert not missing(home, "executable = train.sh", "input = out/secret", "log = out/nothing/x.log")


def test_many_files_cost_no_more_than_some(tmp_path: Path) -> None:
    """Of thousands the first hundreds are looked for, and told."""
    make(tmp_path, "train.sh")
    names = ",".join(f"f{number}" for number in range(5000))
    assert len(missing(tmp_path, "executable = train.sh", f"transfer_input_files = {names}")) == 200


@pytest.mark.parametrize(
    ("lines", "queue", "expected"),
    [
        (('environment = "$(I)=1"',), "queue I in (A B)", ['"$(I)=1"']),
        (('environment = "A=1"', "queue", "environment = B=1"), "queue", ["B=1"]),
        (('environment2 = "C=1"', "queue", "environment2 =", "env = A=1;B=1"), "queue", ["A=1;B=1"]),
        (('environment = "A=$(I)"',), "queue I in (A B)", []),
        (('environment = "A=1"', "queue", "environment ="), "queue", []),
        (("queue", 'environment = "A=1"'), "queue", []),
        (('environment = "$(I)=1"',), "queue 1 I in (A)", []),
        (('environment = "$(I)"',), "queue I in (A=1 B)", []),
    ],
)
def test_variables_that_later_jobs_keep(lines: tuple[str, ...], queue: str, expected: list[str]) -> None:
    """Only where a job that has variables of its own has others beside them."""
    assert places("CRN517", *lines, queue=queue) == expected


def test_what_they_are_is_said() -> None:
    """With the values that the first job gave them."""
    (only,) = found("CRN517", 'environment = "A=1 B=2 C=3 D=4 E=5"', "queue", "environment = E=6", queue="queue")
    assert only.diagnostic.message.startswith("later jobs also get A=1, B=2, C=3, ...")
