"""One router of a name at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from crondor.job_queue.disk import Disk
from crondor.job_queue.lock import Lock
from crondor.router.life import RouterLock, RouterLocked
from crondor.router.life import lock as module


def test_a_second_router_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    """The file goes with a clean end."""
    path = tmp_path / "jobrouterLock"
    with RouterLock(path, "jobrouter"):
        with pytest.raises(RouterLocked, match="another router named jobrouter is running"):
            RouterLock(path, "jobrouter")
        assert path.exists()
    assert not path.exists()
    RouterLock(path, "jobrouter").close()


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
