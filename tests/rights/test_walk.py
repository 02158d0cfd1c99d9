"""Along a path: whose links are followed, and that none is which comes between the look and the deed."""

import os
from pathlib import Path

import pytest

from crondor.rights import walk
from tests.rights.people import ALICE, BOB, as_root, home, link_in_place, swapping


def write(path: str, flags: int = os.O_TRUNC) -> None:
    """Write a word into a file of this process's."""
    descriptor = walk.open_own(path, os.O_WRONLY | os.O_CREAT | flags)
    os.write(descriptor, b"written")
    os.close(descriptor)


def test_a_path_leads_where_it_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By links of one's own, relative or not, by dots, and to what is not there yet."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/up").symlink_to("../a/./b")
    (tmp_path / "far").symlink_to(tmp_path / "a")
    real = Path(os.path.realpath(tmp_path))
    monkeypatch.chdir(tmp_path)
    for path in (f"{tmp_path}/far/up/file", "far/../a/b/../up//file", "./a/b/file"):
        assert walk.followed(path) == f"{real}/a/b/file"
    (tmp_path / "new").symlink_to("a/new")
    assert walk.followed("new") == f"{real}/a/new"
    assert walk.followed("/..") == "/"


@pytest.mark.parametrize(
    ("path", "error"),
    [("missing/file", FileNotFoundError), ("file/more", NotADirectoryError), ("loop", OSError), ("loop/x", OSError)],
)
def test_a_path_that_leads_nowhere_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, error: type[OSError]
) -> None:
    """No file is made in the place of a folder."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        write(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


@as_root
def test_a_link_of_another_user_is_not_followed(commons: Path) -> None:
    """Neither at the end nor on the way; one's own, which lies in his folder, is."""
    victim = commons / "victim"
    victim.write_text("mine")
    theirs = home(commons, ALICE)
    (theirs / "log").symlink_to(victim)
    (theirs / "way").symlink_to(commons)
    for name in ("log", "way"):
        os.lchown(theirs / name, ALICE.uid, ALICE.gid)
    for path in ("log", "way/victim", "way/new"):
        with pytest.raises(PermissionError, match="link of another user"):
            write(f"{theirs}/{path}")
    assert victim.read_text() == "mine"
    assert sorted(path.name for path in commons.iterdir()) == ["alice", "victim"]
    (theirs / "own").symlink_to(victim)
    write(f"{theirs}/own")
    assert victim.read_text() == "written"


@pytest.mark.parametrize("flags", [os.O_TRUNC, os.O_APPEND])
def test_a_link_that_comes_after_the_look_is_not_followed(
    commons: Path, monkeypatch: pytest.MonkeyPatch, flags: int
) -> None:
    """A folder on the way is turned to another one in the moment between: nothing there is touched."""
    victim = commons / "victim"
    victim.mkdir()
    (victim / "log").write_text("mine")
    theirs = home(commons, ALICE)
    (theirs / "logs").mkdir()
    swapping(monkeypatch, walk, "followed", link_in_place(theirs / "logs", victim))
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        write(f"{theirs}/logs/log", flags)
    assert (victim / "log").read_text() == "mine"


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_second_name_of_a_file_is_not_written(commons: Path, mode: int) -> None:
    """Where another user may have given it one: it could be any file of the same disk."""
    victim = commons / "victim"
    victim.write_text("mine")
    theirs = home(commons, ALICE if mode == 0o755 else BOB)
    if mode != 0o755:
        os.chown(theirs, 0, 0)
    theirs.chmod(mode)
    os.link(victim, theirs / "log")
    for flags in (os.O_TRUNC, os.O_APPEND):
        with pytest.raises(PermissionError, match="second name"):
            write(f"{theirs}/log", flags)
    assert victim.read_text() == "mine"
    os.chown(theirs, 0, 0)
    theirs.chmod(0o755)
    write(f"{theirs}/log")
    assert victim.read_text() == "written"


def test_nothing_is_waited_for(tmp_path: Path) -> None:
    """A pipe without a reader, and one that nobody writes to: neither is a plain file."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        walk.append(walk.open_own(str(tmp_path / "pipe"), walk.APPENDING), b"", "pipe")
    with pytest.raises(OSError, match="not a plain file"):
        walk.open_file(str(tmp_path / "pipe"))
    with pytest.raises(IsADirectoryError):
        walk.open_file(str(tmp_path))
