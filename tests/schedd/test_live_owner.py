"""Jobs that root submits as their owners, and workers whose word is another user's."""

import json
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.schedd import live_process
from crondor.schedd.live import LiveSchedd
from crondor.schedd.live_process import Crashed
from crondor.schedd.protocol import Refused, ScheddError
from tests.schedd.conftest import PATIENCE

OWNER = "nobody"
INTERPRETERS = (sys.executable, "/usr/bin/python3")
# Bindings that note as whom and with what a job is submitted; whoever asks for the job is told the owner in `says`.
BINDINGS = """
import json, os
HERE = os.path.dirname(__file__)
class HTCondorException(Exception): pass
class Ad(dict):
    def printOld(self): return "".join(f"{name} = {text}\\n" for name, text in self.items())
class Submit(dict): pass
class Result:
    def __init__(self, ad): self.ad = ad
    def cluster(self): return 7
    def clusterad(self): return self.ad
class Schedd:
    def submit(self, commands, count):
        with open(HERE + "/seen", "w") as file:
            json.dump({"uid": os.getuid(), "groups": os.getgroups(), "environment": dict(os.environ)}, file)
        return Result(Ad({name[3:]: text for name, text in commands.items() if name.startswith("MY.")}))
    def query(self, constraint, projection):
        return [Ad({"ClusterId": "7", "ProcId": "0", "Owner": json.dumps(open(HERE + "/says").read())})]
"""


@pytest.fixture
def bindings() -> Iterator[Path]:
    """Return a folder of bindings that anybody may use, and let the worker be run by anybody."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may be somebody else")
    user = pwd.getpwnam(OWNER)
    check = ["-c", "import sys; open(sys.argv[1]).read()", live_process._PROGRAM]
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        for each in INTERPRETERS:
            if _runs([each, *check], user.pw_uid):
                patch.setattr(sys, "executable", each)
                break
        else:
            pytest.skip(f"{OWNER} may run no Python here, or not read this folder")
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "htcondor2.py").write_text(BINDINGS)
        (folder / "says").write_text(OWNER)
        patch.setenv("PYTHONPATH", name)
        patch.setenv("SECRET", "of root's")
        patch.setenv("_CONDOR_SEC_FS_ENFORCE_CHANNEL_BINDING", "false")
        yield folder


def _runs(command: list[str], uid: int) -> bool:
    try:
        return subprocess.run(command, user=uid, cwd="/", capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def job(**more: object) -> ClassAd:
    """Return a job of the owner's."""
    return ClassAd({"Cmd": "/bin/true", "Owner": OWNER, **more})


def test_root_submits_a_job_as_its_owner(bindings: Path) -> None:
    """With nothing of root's in the environment: the worker is the owner's process, who may look into it."""
    with LiveSchedd(timeout=PATIENCE, as_owner=True) as live:
        assert live.submit([job()]) == [JobId(7, 0)]
    seen = json.loads((bindings / "seen").read_text())
    user = pwd.getpwnam(OWNER)
    assert (seen["uid"], set(seen["groups"])) == (user.pw_uid, set(os.getgrouplist(OWNER, user.pw_gid)))
    environment = seen["environment"]
    assert "SECRET" not in environment
    assert (environment["USER"], environment["_CONDOR_SEC_FS_ENFORCE_CHANNEL_BINDING"]) == (OWNER, "false")


@pytest.mark.parametrize("more", [{"Owner": "root"}, {"Owner": "crondor-knows-nobody"}, {"Owner": 5}])
def test_other_jobs_are_submitted_as_whoever_it_is(bindings: Path, more: dict[str, object]) -> None:
    """Of an owner whom this machine does not know the schedd decides."""
    with LiveSchedd(timeout=PATIENCE, as_owner=True) as live:
        live.submit([job(**more)])
    assert json.loads((bindings / "seen").read_text())["uid"] == 0


def test_nobody_is_somebody_else_unasked(bindings: Path) -> None:
    """Only who says ``as_owner``, as the router does."""
    with LiveSchedd(timeout=PATIENCE) as live:
        live.submit([job()])
    assert json.loads((bindings / "seen").read_text())["uid"] == 0


def test_the_word_of_an_owners_worker_is_checked(bindings: Path) -> None:
    """It could name somebody else's job, which root would then go on with."""
    (bindings / "says").write_text("alice")
    with LiveSchedd(timeout=PATIENCE, as_owner=True) as live, pytest.raises(ScheddError) as error:
        live.submit([job()])
    assert error.value.diagnostics[0].kind == "schedd-owner"


def test_a_worker_that_cannot_be_run_is_a_refusal(bindings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason; nothing was done."""
    closed = bindings / "python"
    closed.write_text("#!/bin/sh\n")
    closed.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(closed))
    with LiveSchedd(timeout=PATIENCE, as_owner=True) as live, pytest.raises(Refused) as error:
        live.submit([job()])
    assert f"cannot be run as {OWNER}: Permission denied" in error.value.diagnostics[0].message


@pytest.mark.parametrize(
    "answer",
    [b"nope", b"[1]", b'{"ads": [1]}', b'{"ads": "x"}', b'{"done": 5}', b'{"error": "x"}', b"\xff\xfe", b"[" * 100_000],
)
def test_nonsense_is_no_answer(answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the worker, and nothing else."""
    program = tmp_path / "worker.py"
    (tmp_path / "answer").write_bytes(answer + b"\n")
    program.write_text(
        f"import sys\ninput()\nsys.stdout.buffer.write(open({str(tmp_path / 'answer')!r}, 'rb').read())\n"
    )
    monkeypatch.setattr(live_process, "_PROGRAM", str(program))
    with LiveSchedd(timeout=PATIENCE) as live, pytest.raises(Crashed):
        live.jobs()


@pytest.mark.parametrize("cluster", ['"7"', "0", "-1", "null", "true"])
def test_a_submission_names_its_cluster(cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a number from 1."""
    program = tmp_path / "worker.py"
    program.write_text(f'input()\nprint(\'{{"done": {{"cluster": {cluster}}}}}\', flush=True)\n')
    monkeypatch.setattr(live_process, "_PROGRAM", str(program))
    with LiveSchedd(timeout=PATIENCE) as live, pytest.raises(Crashed):
        live.submit([ClassAd({"Cmd": "/bin/true"})])
