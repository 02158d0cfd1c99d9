"""A router's process ends at once, wherever it is: the next one finds all it needs in the queue on the disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.schedd.embedded import EmbeddedSchedd
from tests.router.daemon.scenes import NOW, job

ROOT = Path(__file__).resolve().parents[3]
DIES = 9


def live(folder: Path, fatal: int, now: int) -> int:
    """Run a process, and return its status."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "cli")])}
    command = [sys.executable, "-m", "tests.router.daemon.mortal", str(folder), str(fatal), str(now)]
    return subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, check=False).returncode


@pytest.mark.parametrize("fatal", [1, 2, 4, 9])
def test_a_process_that_ends_loses_no_job(tmp_path: Path, fatal: int) -> None:
    """Killed at a transaction of its own or of the sites', and again: both jobs complete, each once."""
    folder = tmp_path / "queue"
    with EmbeddedSchedd(folder, clock=lambda: NOW) as schedd:
        schedd.submit([job()])
        schedd.submit([job()])
    assert live(folder, fatal, NOW) == DIES
    assert live(folder, 1, NOW + 1000) == DIES
    assert live(folder, 10_000, NOW + 2000) == 0
    with EmbeddedSchedd(folder, clock=lambda: NOW + 9000) as schedd:
        assert schedd.jobs() == []
        history = schedd.history()
    sources = [ad for ad in history if "RoutedFromJobId" not in ad]
    copies = [ad for ad in history if "RoutedFromJobId" in ad]
    assert sorted(int(str(ad["ClusterId"])) for ad in sources) == [1, 2]
    assert {str(ad["JobStatus"]) for ad in sources} == {"4"}
    assert sorted(str(ad.python("RoutedFromJobId")) for ad in copies) == ["1.0", "2.0"]
    assert {str(ad["NumJobStarts"]) for ad in copies} == {"1"}
