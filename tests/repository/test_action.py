"""The GitHub Action: the shell of its steps run as a runner does, in a project of its own."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.repository.conftest import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SIXTY = "executable = /bin/sh\ncron_minute = 60\ncron_window = 60\non_exit_remove = ExitCode == 77\n"
SIXTY += "periodic_release = HoldReasonCode == 20\nqueue\n"


class Outcome(NamedTuple):
    """What the steps left behind: the status of the last, the log, the outputs, the job's summary."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """A runner for composite actions, as far as this one needs it."""

    def __init__(self, folder: Path, action: Path, env: Mapping[str, str]) -> None:
        """Take a folder to work in, the one of the action, and the variables of the machine."""
        self.folder = folder / "work"
        self._temp, self._action, self._env = folder / "temp", action, env
        for each in (self.folder, self._temp):
            each.mkdir()

    def run(self, steps: list[dict[str, Any]], **inputs: str) -> Outcome:
        """Run steps one after the other, until one fails."""
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | inputs
        outputs, summary = self._temp / "outputs", self._temp / "summary"
        for each in (outputs, summary):
            each.write_text("", encoding="utf-8")
        log, status = "", 0
        for step in steps:
            script = self._temp / "step.sh"
            script.write_text(self._value(step["run"], given), encoding="utf-8")
            env = {name: self._value(value, given) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],  # what `shell: bash` means
                cwd=self.folder,
                env={**self._env, **env, "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)},
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            log, status = log + done.stdout + done.stderr, done.returncode
            if status:
                break
        said = dict(line.split("=", 1) for line in outputs.read_text(encoding="utf-8").splitlines())
        return Outcome(status, log, said, summary.read_text(encoding="utf-8"))

    def _value(self, text: str, given: Mapping[str, str]) -> str:
        known = {f"inputs.{name}": value for name, value in given.items()}
        known |= {"github.action_path": str(self._action), "runner.temp": str(self._temp)}
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: known[found[1]], text)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, checkout: Path, offline: dict[str, str]) -> Runner:
    """Return a runner on which the first step, the installation, has run."""
    folder = tmp_path_factory.mktemp("runner")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@" --without-pip\n', encoding="utf-8")
    python.chmod(0o755)
    runner = Runner(folder, checkout, offline)
    done = runner.run(STEPS[:1], python=str(python))
    assert done.status == 0, done.log
    return runner


def check(runner: Runner, files: Mapping[str, str], **inputs: str) -> Outcome:
    """Run the second step on some files, which alone are in the folder."""
    for path in runner.folder.iterdir():
        path.unlink()
    for name, text in files.items():
        (runner.folder / name).write_text(text, encoding="utf-8")
    return runner.run(STEPS[1:], **inputs)


def test_findings_are_annotations_a_table_and_sarif(installed: Runner) -> None:
    """Beside the lines, by rule on the page of the job, and in a file where one is named; the step fails."""
    done = check(installed, {"job.sub": SIXTY}, **{"sarif-file": "out.sarif"})
    assert (done.status, done.outputs) == (1, {"status": "1"})
    assert "::error title=CRN101 out-of-range,file=./job.sub,line=2" in done.log
    assert "| 1 | 1 | CRN101 out-of-range | error |" in done.summary
    assert '"ruleId": "CRN101"' in (installed.folder / "out.sarif").read_text(encoding="utf-8")


def test_a_clean_folder_passes(installed: Runner) -> None:
    """With a line that says how many files there were."""
    done = check(installed, {"job.sub": SIXTY.replace("60\ncron_window", "0\ncron_window")})
    assert (done.status, done.outputs) == (0, {"status": "0"})
    assert done.summary == "crondor checked 1 file and found nothing.\n"


def test_paths_and_arguments_are_lines(installed: Runner) -> None:
    """Whatever they hold: a name with blanks is one, and nothing in one is run."""
    files = {"a b.sub": SIXTY, "-c.sub": SIXTY, "$(touch broken).sub": SIXTY}
    done = check(installed, files, paths="\n".join(files), args="--ignore=CRN2\n--select=CRN101")
    assert done.status == 1
    assert done.log.count("::error title=CRN101") == 3
    assert {path.name for path in installed.folder.iterdir()} == set(files)


def test_the_baseline_is_read(installed: Runner) -> None:
    """What is known does not fail; a file that is not there is wrong usage."""
    row = '{"file": "job.sub", "code": "CRN101", "line": "cron_minute = 60"}'
    files = {"job.sub": SIXTY, "known.json": '{"crondor_baseline": 1, "findings": [' + row + "]}"}
    assert check(installed, files, baseline="known.json").status == 0
    wrong = check(installed, files, baseline="not-there.json", **{"sarif-file": "out.sarif"})
    assert (wrong.outputs, wrong.log.count("there is no baseline")) == ({"status": "2"}, 1)


def test_nothing_from_outside_is_text_of_a_script() -> None:
    """An input that a fork may choose would be run."""
    assert not [step for step in STEPS if "${{" in step["run"]]
    assert {step["shell"] for step in STEPS} == {"bash"}


def test_schedules_with_holidays_and_calendars_can_be_read() -> None:
    """The extras that read them are installed: without them such a line is a finding, and the job fails."""
    (install,) = (line for line in STEPS[0]["run"].splitlines() if "pip install" in line)
    assert install.endswith('"$GIVEN_ACTION[holidays,ics]"')


def test_every_input_and_output_is_described_and_used() -> None:
    """And defaults are texts, as GitHub wants them."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name, each in ACTION["inputs"].items():
        assert each["description"]
        assert isinstance(each["default"], str)
        assert f"${{{{ inputs.{name} }}}}" in text
    ids = {step.get("id") for step in STEPS}
    for each in ACTION["outputs"].values():
        assert re.search(r"steps\.(\w+)\.", each["value"])[1] in ids  # type: ignore[index]
