"""The script of a scheduled DAG, run by sh with stand-ins for HTCondor's tools; and `crondor compile --dag`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import parse_expression
from crondor.dag.scheduled import ScheduledDag
from crondor.diagnostics import Source
from crondor.submit import read_submit
from tests.cli.running import crondor

TOOLS = {
    # The queue is a file with the values of CrondorRun; FAIL makes a tool fail.
    "condor_q": """
case " ${FAIL:-} " in *" condor_q "*) echo no schedd >&2; exit 1;; esac
run=$(printf '%s' "$2" | sed 's/.*"\\(.*\\)".*/\\1/')
[ ! -f "$STATE/queue" ] || sed -n "\\#/${run#*/}\\$#s/ .*//p" "$STATE/queue"
""",
    "condor_submit_dag": """
case " ${FAIL:-} " in *" condor_submit_dag "*) echo refused; exit 1;; esac
printf '%s\\n' "$@" > "$STATE/asked"; pwd > "$STATE/folder"; env > "$STATE/environ"
for dag; do :; done
printf '000 (007.000.000) x Job submitted\\n...\\n' >> "$dag.dagman.log"
[ "${CODE:-0}" = never ] || printf '005 (7) x\\n\\t(1) Normal termination (return value %s)\\n...\\n' "${CODE:-0}" \\
    >> "$dag.dagman.log"
""",
    # While it waits, the workflow ends.
    "condor_wait": """
echo "$3" >> "$STATE/waited"
printf '005 (007.000.000) x\\n\\t(1) Normal termination (return value %s)\\n...\\n' "${LATER:-0}" >> "$3"
""",
    "sleep": "",
}


class Ran(NamedTuple):
    """How a script ended, what it printed, and what the tools were asked."""

    status: int
    out: str
    asked: list[str]


class Place:
    """A folder with a DAG, its script and the stand-ins."""

    def __init__(self, folder: Path, dag: ScheduledDag, dag_file: Path | None = None) -> None:
        self.folder = folder
        self.state = folder / "state"
        tools = folder / "tools"
        for each in (self.state, tools):
            each.mkdir(parents=True)
        for name, text in TOOLS.items():
            (tools / name).write_text(f"#!/bin/sh{text}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        self.script = folder / "week.sh"
        self.script.write_text(dag.script(), encoding="utf-8")
        (dag_file or folder / dag.file).write_text("JOB A a.sub\n", encoding="utf-8")
        self.runs = Path(os.path.normpath((dag_file or folder / dag.file).parent / dag.runs))
        self.path = f"{tools}:/usr/bin:/bin"

    def at(self, time: int, **environ: str) -> Ran:
        """Run the script for a time that the schedd has set."""
        (self.state / "ad").write_text(f"ClusterId = 3\nDeferralTime = {time}\n", encoding="utf-8")
        given = {"PATH": self.path, "STATE": str(self.state), "_CONDOR_JOB_AD": str(self.state / "ad"), **environ}
        command = ["sh", str(self.script)]
        done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
        asked = self.state / "asked"
        words = asked.read_text(encoding="utf-8").splitlines() if asked.exists() else []
        asked.unlink(missing_ok=True)
        return Ran(done.returncode, done.stdout + done.stderr, words)

    def exits(self) -> dict[str, str]:
        """Return the recorded exit code of each run."""
        return {each.parent.name: each.read_text().strip() for each in sorted(self.runs.glob("*/exit"))}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a place with the usual choices."""
    return Place(tmp_path, ScheduledDag("", "week.dag", "week.runs"))


TWO, THREE = 1796090400, 1796094000  # 2026-12-01 02:00 and 03:00 UTC
AT_TWO, AT_THREE = "2026-12-01T0200Z", "2026-12-01T0300Z"


def test_a_run_has_a_folder_and_the_exit_code_of_the_dag(place: Place) -> None:
    """DAGMan works in the folder of the DAG; variables of this job are not passed on to the tools."""
    ran = place.at(TWO, CODE="0", _CONDOR_SCRATCH_DIR="/x")
    assert ran.status == 0
    assert ran.asked[:3] == ["-force", "-batch-name", f"week.dag {AT_TWO}"]
    assert ran.asked[-1] == f"./week.runs/{AT_TWO}/workflow.dag"
    assert (place.state / "folder").read_text().strip() == str(place.folder)
    assert "_CONDOR_" not in (place.state / "environ").read_text()
    failed = place.at(THREE, CODE="2")
    assert (failed.status, place.exits()) == (2, {AT_TWO: "0", AT_THREE: "2"})
    assert f"run {AT_THREE} ended with 2" in failed.out


def test_it_waits_for_the_end(place: Place) -> None:
    """As long as the workflow is in the queue."""
    ran = place.at(TWO, CODE="never", LATER="1")
    assert (ran.status, place.exits()) == (1, {AT_TWO: "1"})
    assert (place.state / "waited").read_text().count("\n") == 1


def test_a_run_that_is_in_the_queue_is_awaited_again(place: Place) -> None:
    """After a restart of the schedd: by the same run, and by the next one, which is then skipped."""
    run = place.runs / AT_TWO
    run.mkdir(parents=True)
    (run / "workflow.dag.dagman.log").write_text("000 (007.000.000) x\n...\n")
    (place.state / "queue").write_text(f"7 x/{AT_TWO}\n")
    ran = place.at(THREE, LATER="0")
    assert (ran.status, ran.asked, place.exits()) == (0, [], {AT_TWO: "0"})
    assert f"run {AT_THREE} is skipped: run {AT_TWO} is in the queue as 7" in ran.out


def test_an_end_that_nobody_saw_is_reported(place: Place) -> None:
    """The run failed while the schedd was away: no other is started before somebody has looked at it."""
    run = place.runs / AT_TWO
    run.mkdir(parents=True)
    (run / "workflow.dag.dagman.log").write_text("000 (007.000.000) x\n...\n009 (007.000.000) x removed\n...\n")
    assert (place.at(THREE).status, place.exits()) == (65, {AT_TWO: "65"})
    assert (place.at(THREE).status, place.exits()) == (0, {AT_TWO: "65", AT_THREE: "0"})


def test_a_run_is_not_started_twice(place: Place) -> None:
    """For one time."""
    assert place.at(TWO, CODE="1").status == 1
    again = place.at(TWO)
    assert (again.status, again.asked) == (1, [])


def test_a_failed_run_is_continued(tmp_path: Path) -> None:
    """In its own folder, where the rescue DAG is, and without -force, which would put that aside."""
    place = Place(tmp_path, ScheduledDag("", "week.dag", "week.runs", continues=True))
    assert place.at(TWO, CODE="1").status == 1
    ran = place.at(THREE, CODE="0")
    assert (ran.status, place.exits()) == (0, {AT_TWO: "0"})
    assert "-force" not in ran.asked
    assert place.at(THREE + 3600).asked[-1] == "./week.runs/2026-12-01T0400Z/workflow.dag"


def test_runs_may_overlap(tmp_path: Path) -> None:
    """Then none is awaited, and a failure is reported by a later one."""
    place = Place(tmp_path, ScheduledDag("", "week.dag", "week.runs", overlaps=True))
    assert (place.at(TWO, CODE="never").status, place.exits()) == (0, {})
    (place.state / "queue").write_text(f"7 x/{AT_TWO}\n")
    assert place.at(THREE, CODE="never").asked[-1] == f"./week.runs/{AT_THREE}/workflow.dag"


@pytest.mark.parametrize(("fails", "status"), [("condor_q", 75), ("condor_submit_dag", 76)])
def test_a_failure_of_the_tools_has_its_own_status(place: Place, fails: str, status: int) -> None:
    """Nothing is started if it is unknown whether the run before is in the queue."""
    (place.runs / AT_TWO).mkdir(parents=True)
    ran = place.at(THREE, FAIL=fails)
    assert ran.status == status
    assert ("no schedd" if fails == "condor_q" else "refused") in ran.out
    place.path = "/usr/bin:/bin"
    assert place.at(THREE).status == 75


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0\n\r"), min_size=1, max_size=12)


@given(NAMES.filter(lambda name: name not in {".", ".."}))
@example("-x")
@example("a=b")
@example('a"b')
def test_any_name_of_a_dag(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Blanks, quotes, dollars, dashes: the files are found, and the submit file names its script."""
    folder = tmp_path_factory.mktemp("named")
    dag = ScheduledDag(f"../{folder.name}/{name}", f"{name}.dag", f"{name}.runs")
    (folder / name).mkdir()
    place = Place(folder, dag, folder / name / f"{name}.dag")
    assert place.at(TWO).status == 0
    assert place.at(TWO).status == 0
    assert place.exits() == {AT_TWO: "0"}
    program = "".join(each for each in name if each.isprintable()).strip() or "x"
    text = dag.submit_file("every day at 02:00", f"{program}.sh")
    (group,) = read_submit(Source(text, "x.sub")).groups(("executable", "on_exit_hold_reason"))
    assert group.values["executable"] == f"{program}.sh"
    parse_expression(Source(group.values["on_exit_hold_reason"], "x"), old=True)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes two files, which are compiled and pass the check, and overwrites none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows").mkdir()
    Path("flows/week.dag").write_text("JOB A a.sub\n", encoding="utf-8")
    asked = ("compile", "--dag", "flows/week.dag", "weekdays at 02:00", "--now", "2026-12-01", "--tz", "UTC")
    assert crondor(*asked, "--write", "week.sub").status == 0
    assert os.access("week.sh", os.X_OK)
    assert "folder=flows\n" in Path("week.sh").read_text(encoding="utf-8")
    assert "runs=./../week.runs\n" in Path("week.sh").read_text(encoding="utf-8")
    assert crondor("check", "week.sub", "--now", "2026-12-01", "--tz", "UTC").status == 0
    shown = crondor("next", "week.sub", "--now", "2026-12-01", "--tz", "UTC", "-n", "1").out
    assert "Tue 2026-12-01 02:00" in shown
    assert "exists" in crondor(*asked, "--write", "week.sub").err
    data = crondor(*asked, "--format", "json").data
    assert data["files"]["week.sh"].startswith("#!/bin/sh\n")
    assert data["files"]["week.sub"].startswith("# week.dag on a schedule")
    assert crondor(*asked, "--universe", "vanilla").status == 2
    assert crondor("compile", "--dag", "week.sub", "every day at 02:00").status == 2
    assert crondor("compile", "--overlap", "every day at 02:00").status == 2
    for name in ("week", "other.sh", "other.dag", "-", "flows/", "a\nb.sub", " b.sub"):
        assert "cannot be the submit file" in crondor(*asked, "--write", name).err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["flows", "week.sh", "week.sub"]
    Path("deep/er").mkdir(parents=True)
    Path("link").symlink_to("deep/er")
    assert "1 job, exact, " in crondor(*asked, "--write", "link/week.sub").out
    assert "folder=../../flows\n" in Path("link/week.sh").read_text(encoding="utf-8")
    Path("bad.dag").write_text("JOB A\n", encoding="utf-8")
    assert "[CRN801]" in crondor("compile", "--dag", "bad.dag", "every day at 02:00").err
