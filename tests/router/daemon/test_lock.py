"""One router of a name at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.job_queue.history import Disk
from crondor.job_queue.records import QueueIO
from crondor.job_queue.write import Lock
from crondor.rights.trust import Untrusted
from crondor.router.daemon import RouterLock, RouterLocked, RouterReport
from crondor.router.daemon import lock as module


def test_a_second_router_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    """The file goes with a clean end."""
    path = tmp_path / "jobrouterLock"
    with RouterLock(path, "jobrouter"):
        with pytest.raises(RouterLocked, match="another router named jobrouter is running"):
            RouterLock(path, "jobrouter")
        assert path.exists()
    assert not path.exists()
    RouterLock(path, "jobrouter").close()


_DAEMON = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
try:
    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("locked")
print("mine", flush=True)
sys.stdin.read()
"""


def daemon(path: Path) -> subprocess.Popen[str]:
    """Return a process that locks a file as condor_job_router does, with POSIX's lock, until its input ends."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", _DAEMON, str(path)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_condor_job_router_counts_too(tmp_path: Path) -> None:
    """Its lock is of another kind than flock; its file stays."""
    path = tmp_path / "jobrouterLock"
    with daemon(path) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "mine\n"
        with pytest.raises(RouterLocked, match="another router named jobrouter is running"):
            RouterLock(path, "jobrouter")
        assert path.exists()
        running.communicate("")
    with RouterLock(path, "jobrouter"), daemon(path) as refused:
        assert refused.communicate("") == ("", "locked\n")


def test_a_lock_on_a_file_that_was_just_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first router ends between the second one's opening of the file and its locking it."""
    path = tmp_path / "jobrouterLock"
    removed: list[Path] = []

    def lock(where: Path, disk: Disk) -> Lock:
        made = Lock(where, disk)
        if not removed:
            removed.append(where)
            where.unlink()
        return made

    monkeypatch.setattr(module, "Lock", lock)
    with RouterLock(path, "jobrouter"), pytest.raises(RouterLocked):
        RouterLock(path, "jobrouter")
    assert removed == [path]


def test_a_lock_in_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Beside it stands what the router believes, and a link could have it make or delete any file."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks").chmod(0o777)
    with pytest.raises(Untrusted, match="can be written by everybody") as caught:
        RouterLock(tmp_path / "locks/lock", "jobrouter")
    assert "JOB_ROUTER_LOCK" in str(caught.value)
    assert list((tmp_path / "locks").iterdir()) == []
    (tmp_path / "locks").chmod(0o755)
    with RouterLock(tmp_path / "locks/new/lock", "jobrouter"):
        assert (tmp_path / "locks/new").stat().st_mode & 0o777 == 0o700


def test_nobody_waits_for_a_pipe_in_the_place_of_a_lock(tmp_path: Path) -> None:
    """Nor in that of a router's report."""
    os.mkfifo(tmp_path / "lock")
    assert not module.is_locked(tmp_path / "lock")
    with pytest.raises(QueueIO, match="not a plain file"):
        RouterReport.read(tmp_path / "lock")
