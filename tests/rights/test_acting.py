"""What is done as a user: the kernel decides by who he is, and nobody but one thread becomes him."""

import errno
import os
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.rights.replacing import RightsRefused, as_account
from tests.rights.people import ACCESS, ACCESS_LIST, ALICE, BOB, IS_ROOT, ME, as_root


def reading(path: Path) -> Callable[[], bool]:
    """Return what says whether a file can be read."""

    def reads() -> bool:
        try:
            return path.read_text(encoding="utf-8") == "text"
        except PermissionError:
            return False

    return reads


@as_root
@pytest.mark.parametrize(
    ("owner", "group", "mode", "may"),
    [
        (ALICE.uid, 0, 0o400, True),
        (ALICE.uid, ALICE.gid, 0o044, False),
        (BOB.uid, ALICE.gid, 0o040, True),
        (BOB.uid, 61_100, 0o040, True),
        (BOB.uid, 61_100, 0o404, False),
        (BOB.uid, BOB.gid, 0o004, True),
        (BOB.uid, 0, 0o440, False),
        (0, 0, 0o640, False),
    ],
)
def test_owner_group_and_others_count_as_for_him(commons: Path, owner: int, group: int, mode: int, may: bool) -> None:
    """The first of them that fits; a group of root's is none of his."""
    path = commons / "file"
    path.write_text("text")
    os.chown(path, owner, group)
    path.chmod(mode)
    assert as_account(ALICE, reading(path)) is may
    assert reading(path)()


@as_root
def test_an_access_list_counts(commons: Path) -> None:
    """Which no look at modes would see."""
    path = commons / "file"
    path.write_text("text")
    path.chmod(0o600)
    try:
        os.setxattr(path, ACCESS, ACCESS_LIST)
    except OSError as error:
        assert error.errno == errno.ENOTSUP  # noqa: PT017 - a file system without
        return
    assert [as_account(person, reading(path)) for person in (ALICE, BOB)] == [True, False]


@as_root
def test_what_he_makes_is_his(commons: Path) -> None:
    """File, folder and link, in a folder of his; in one of root's he makes none."""
    mine = commons / "alice"
    mine.mkdir()
    with pytest.raises(PermissionError):
        as_account(ALICE, (mine / "file").touch)
    os.chown(mine, ALICE.uid, ALICE.gid)
    as_account(ALICE, (mine / "file").touch)
    as_account(ALICE, (mine / "folder").mkdir)
    as_account(ALICE, lambda: (mine / "link").symlink_to("file"))
    found = [(mine / name).lstat() for name in ("file", "folder", "link")]
    assert {(state.st_uid, state.st_gid) for state in found} == {(ALICE.uid, ALICE.gid)}
    with pytest.raises(PermissionError):
        as_account(ALICE, lambda: os.chown(mine / "file", BOB.uid, BOB.gid))
    as_account(ALICE, (mine / "file").unlink)


@as_root
def test_other_threads_and_signal_handlers_stay_who_they_are(commons: Path) -> None:
    """While it is done, and afterwards."""
    secret = commons / "secret"
    secret.write_text("text")
    secret.chmod(0o400)
    seen: dict[str, bool] = {}
    asked, answered = threading.Event(), threading.Event()

    def look() -> None:
        asked.wait(60)
        seen["thread"] = reading(secret)()
        answered.set()

    def handle(_number: int, _frame: object) -> None:
        seen["handler"] = reading(secret)()

    def deed() -> None:
        seen["deed"] = reading(secret)()
        asked.set()
        answered.wait(60)
        os.kill(os.getpid(), signal.SIGUSR1)

    other = threading.Thread(target=look)
    other.start()
    before = signal.signal(signal.SIGUSR1, handle)
    try:
        as_account(ALICE, deed)
    finally:
        signal.signal(signal.SIGUSR1, before)
        other.join()
    assert seen == {"deed": False, "thread": True, "handler": True}
    assert reading(secret)()


@as_root
def test_what_he_opens_stays_open(commons: Path) -> None:
    """A descriptor is the process's, and goes on where the thread has ended."""
    path = commons / "file"
    path.write_text("text")
    os.chown(path, ALICE.uid, ALICE.gid)
    path.chmod(0o600)
    descriptor = as_account(ALICE, lambda: os.open(path, os.O_RDONLY))
    assert os.read(descriptor, 10) == b"text"
    os.close(descriptor)


@as_root
def test_within_a_deed_he_stays_himself(commons: Path) -> None:
    """Another deed of his is his, too; one of anybody else's is refused, and so is one of root's."""
    path = commons / "file"
    path.write_text("text")
    path.chmod(0o600)
    assert as_account(ALICE, lambda: as_account(ALICE, reading(path))) is False
    for other in (BOB, ME):
        with pytest.raises(RightsRefused, match="this is done as alice"):
            as_account(ALICE, lambda: as_account(other, reading(path)))  # noqa: B023 - called at once


def test_errors_come_to_who_asked() -> None:
    """As they are; and what is done as nobody else needs no thread."""
    person = ALICE if IS_ROOT else ME
    with pytest.raises(ZeroDivisionError):
        as_account(person, lambda: 1 // 0)
    assert as_account(None, threading.current_thread) is threading.current_thread()
    assert as_account(ME, threading.current_thread) is threading.current_thread()


def test_who_is_not_root_acts_for_himself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For anybody else it is refused, and said."""
    monkeypatch.setattr("crondor.rights.replacing.is_root", lambda: False)
    monkeypatch.setattr("crondor.rights.replacing.current_user", lambda: BOB.uid)
    assert as_account(BOB, lambda: "done") == "done"
    with pytest.raises(RightsRefused, match="only root may act as another user"):
        as_account(ALICE, lambda: "done")


def test_a_system_without_users_for_threads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root does nothing with its own rights in a user's place."""
    monkeypatch.setattr("crondor.rights.replacing.is_root", lambda: True)
    monkeypatch.setattr("crondor.rights.replacing.current_user", lambda: 0)
    monkeypatch.setattr("crondor.rights.replacing._SETGROUPS", {})
    done: list[int] = []
    with pytest.raises(RightsRefused, match="no users for single threads"):
        as_account(ALICE, lambda: done.append(1))
    assert done == []


@as_root
def test_rights_that_cannot_be_given_up_are_refused(monkeypatch: pytest.MonkeyPatch, commons: Path) -> None:
    """Whatever the system says of it: it is looked at whether the thread is the user."""

    class Libc:
        def __getattr__(self, _name: str) -> Callable[..., int]:
            return lambda *_: 0

    monkeypatch.setattr("crondor.rights.replacing._libc", Libc)
    with pytest.raises(RightsRefused, match="nothing can be done as alice"):
        as_account(ALICE, (commons / "file").touch)
    assert list(commons.iterdir()) == []
    assert stat.S_ISDIR(commons.stat().st_mode)
