"""A file's text replaced: all else stays, whoever owns the folder, and no link leads to another file."""

import os
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from crondor.rights import replacing, walk
from crondor.rights.replacing import Changed, replace_text, whole_file
from crondor.rights.trust import Untrusted
from tests.rights.people import ACCESS, ACCESS_LIST, ALICE, BOB, as_root, home, link_in_place, swapping


def file_in(folder: Path, text: str = "old") -> Path:
    """Return a new file."""
    path = folder / "job.sub"
    path.write_text(text)
    return path


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_all_else_stays(tmp_path: Path) -> None:
    """The mode, whatever it is, and whatever the umask; line ends and bytes are what they are given as."""
    for mode in (0o600, 0o664, 0o4751):
        path = file_in(tmp_path)
        path.chmod(mode)
        replace_text(str(path), b"old", "\ufeffn\r\nä".encode())
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == ("\ufeffn\r\nä".encode(), mode)
    assert names(tmp_path) == ["job.sub"]


def test_attributes_and_access_lists_stay(commons: Path) -> None:
    """Those that the file system knows."""
    path = file_in(commons)
    kept = {}
    for name, value in (("user.note", b"mine"), (ACCESS, ACCESS_LIST)):
        try:
            os.setxattr(path, name, value)
        except OSError:  # a file system without
            continue
        kept[name] = os.getxattr(path, name)
    mode = path.stat().st_mode
    replace_text(str(path), b"old", b"new")
    assert {name: os.getxattr(path, name) for name in kept} == kept
    assert path.stat().st_mode == mode


@as_root
@pytest.mark.parametrize("folder", ["root", "alice"])
def test_owner_and_group_stay(commons: Path, folder: str) -> None:
    """In a folder of root's, and in one of the owner's, where he writes it."""
    place = home(commons, ALICE)
    if folder == "root":
        os.chown(place, 0, 0)
    path = file_in(place)
    os.chown(path, ALICE.uid, ALICE.gid)
    replace_text(str(path), b"old", b"new")
    state = path.stat()
    assert (path.read_text(), state.st_uid, state.st_gid) == ("new", ALICE.uid, ALICE.gid)
    assert names(place) == ["job.sub"]


@as_root
def test_a_file_whose_owner_cannot_be_kept_is_left_alone(commons: Path) -> None:
    """Root does for who has the folder what that user may do, and giving files away he may not."""
    place = home(commons, ALICE)
    path = file_in(place)
    os.chown(path, BOB.uid, BOB.gid)
    with pytest.raises(PermissionError, match="its owner 61002"):
        replace_text(str(path), b"old", b"new")
    path.chmod(0o600)
    with pytest.raises(PermissionError, match="as 61001, in whose folder it is"):
        replace_text(str(path), b"old", b"new")
    assert (path.read_text(), names(place)) == ("old", ["job.sub"])
    place.chmod(0o777)
    os.chown(place, 0, 0)
    with pytest.raises(Untrusted, match="everybody"):
        replace_text(str(path), b"old", b"new")


def test_a_file_with_several_names_is_left_alone(tmp_path: Path) -> None:
    """The others would keep the old text."""
    path = file_in(tmp_path)
    os.link(path, tmp_path / "other")
    with pytest.raises(OSError, match="2 names"):
        replace_text(str(path), b"old", b"new")
    assert path.read_text() == "old"
    assert path.samefile(tmp_path / "other")


def test_what_is_no_plain_file_is_left_alone(tmp_path: Path) -> None:
    """And not waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="plain file"):
            replace_text(str(tmp_path / name), b"old", b"new")
        with pytest.raises(OSError, match=r"No such device|directory"), whole_file(str(tmp_path / name)):
            pass
    with pytest.raises(FileNotFoundError):
        replace_text(str(tmp_path / "none"), b"old", b"new")


@as_root
def test_a_link_of_another_user_is_not_followed(commons: Path) -> None:
    """He could have root write any file. Nor is one of root's own: a repository that root has cloned has such links."""
    victim = file_in(commons)
    place = home(commons, ALICE)
    (place / "job.sub").symlink_to(victim)
    for owner in (ALICE.uid, 0):
        os.lchown(place / "job.sub", owner, owner)
        with pytest.raises(OSError, match=r"it is a link to .*job.sub, and links are not written to"):
            replace_text(str(place / "job.sub"), b"old", b"new")
        with pytest.raises(OSError, match="it is a link"), whole_file(str(place / "job.sub")):
            pass
    (place / "job.sub").unlink()
    (place / "deep").symlink_to(commons)
    os.lchown(place / "deep", ALICE.uid, ALICE.gid)
    with pytest.raises(PermissionError, match="link of another user"):
        replace_text(str(place / "deep" / "job.sub"), b"old", b"new")
    assert victim.read_text() == "old"
    os.lchown(place / "deep", 0, 0)
    replace_text(str(place / "deep" / "job.sub"), b"old", b"new")
    assert victim.read_text() == "new"


@pytest.mark.parametrize("write", ["replace", "whole"])
def test_a_file_that_becomes_a_link_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str) -> None:
    """Right after its path was looked at."""
    victim = tmp_path / "victim"
    victim.write_text("old")
    path = file_in(tmp_path)

    def swap() -> None:
        path.unlink()
        path.symlink_to(victim)

    swapping(monkeypatch, replacing, "followed", swap)
    with pytest.raises(OSError, match="symbolic links"), ExitStack() as stack:
        replace_text(str(path), b"old", b"new") if write == "replace" else stack.enter_context(whole_file(str(path)))
    assert (victim.read_text(), names(tmp_path)) == ("old", ["job.sub", "victim"])


@pytest.mark.parametrize("moment", ["followed", "folder"])
def test_a_link_that_comes_at_the_last_moment_leads_nowhere(
    commons: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """After the path was looked at, or after the folder was opened: no file elsewhere is changed."""
    victim = commons / "victim"
    victim.mkdir()
    file_in(victim)
    above = home(commons, ALICE)
    place = home(above, ALICE._replace(name="jobs"))
    os.chown(file_in(place), above.stat().st_uid, above.stat().st_gid)
    swap = link_in_place(place, victim)
    if moment == "followed":
        swapping(monkeypatch, replacing, "followed", swap)
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            replace_text(str(place / "job.sub"), b"old", b"new")
    else:
        swapping(monkeypatch, replacing, "_looked", swap)
        replace_text(str(place / "job.sub"), b"old", b"new")
        assert (place.with_name("jobs.away") / "job.sub").read_text() == "new"
    assert ((victim / "job.sub").read_text(), names(victim)) == ("old", ["job.sub"])


def test_a_file_that_comes_at_the_last_moment_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever saves his own text in between does not lose it."""
    path = file_in(tmp_path)

    def save() -> None:
        path.rename(tmp_path / "before")
        path.write_text("older")

    swapping(monkeypatch, replacing, "_written", save)
    with pytest.raises(Changed):
        replace_text(str(path), b"old", b"new")
    assert (path.read_text(), names(tmp_path)) == ("older", ["before", "job.sub"])
    with pytest.raises(Changed):
        replace_text(str(path), b"old", b"new")


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod"])
def test_a_disk_that_refuses_leaves_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """And nothing beside it."""
    path = file_in(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if call == "write":
        monkeypatch.setattr(os, "fdopen", refuse)
        monkeypatch.setattr(replacing, "_looked", lambda descriptor, *_: os.fstat(descriptor))
    else:
        monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match="No space"):
        replace_text(str(path), b"old", b"new")
    monkeypatch.undo()
    assert (path.read_text(), names(tmp_path)) == ("old", ["job.sub"])


def test_where_folders_have_no_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: it is done by paths."""
    monkeypatch.setattr(replacing, "HAS_DESCRIPTORS", False)
    monkeypatch.setattr(walk, "HAS_DESCRIPTORS", False)
    path = file_in(tmp_path)
    path.chmod(0o640)
    replace_text(str(path), b"old", b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777, names(tmp_path)) == ("new", 0o640, ["job.sub"])
    with pytest.raises(Changed):
        replace_text(str(path), b"old", b"new")
