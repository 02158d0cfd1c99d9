"""What is ours: a folder or file that nobody else has made, can change, or can put another one in the place of."""

import errno
import grp
import os
import pwd
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from crondor.rights import trust
from crondor.rights.trust import Untrusted, check, make_folder, stranger
from tests.rights.people import ALICE, BOB, IS_ROOT, ME, as_root, be

Spoil = Callable[[Path], object]


FOREIGN: set[str] = set()


def give(path: Path) -> None:
    """Make something another user's, where that can be; else have it look so."""
    if IS_ROOT:
        os.lchown(path, BOB.uid, BOB.gid)
    else:
        FOREIGN.add(str(path))


@pytest.fixture
def place(commons: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in a folder, and a file in it, all of them ours."""
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        fields = list(real(path))
        fields[4] = BOB.uid if path in FOREIGN else fields[4]
        return os.stat_result(fields)

    monkeypatch.setattr("crondor.rights.walk.os", SimpleNamespace(**{**vars(os), "lstat": lstat}))
    (commons / "above/queue").mkdir(parents=True)
    (commons / "above/queue/log").touch()
    yield commons / "above"
    FOREIGN.clear()


def link(to: str) -> Spoil:
    """Return what puts a link in a place, another user's, to what is ours."""

    def spoil(path: Path) -> None:
        path.rename(path.with_name(to))
        path.symlink_to(to)
        give(path)

    return spoil


SPOILT: dict[str, tuple[str, Spoil, str]] = {
    "another user's": ("queue", give, "this folder belongs to 61002"),
    "for everybody": ("queue", lambda path: path.chmod(0o777), "this folder can be written by everybody"),
    "sticky": ("queue", lambda path: path.chmod(0o1777), "this folder can be written by everybody"),
    "above it: another user's": (".", give, "this folder belongs to 61002"),
    "above it: for everybody": (".", lambda path: path.chmod(0o777), "this folder can be written by everybody"),
    "the file: another user's": ("queue/log", give, "this file belongs to 61002"),
    "the file: for everybody": ("queue/log", lambda path: path.chmod(0o666), "this file can be written by everybody"),
    "a link": ("queue", link("other"), "this link belongs to 61002"),
    "the file: a link": ("queue/log", link("other"), "this link belongs to 61002"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_others_could_have_made_is_refused(place: Path, what: str) -> None:
    """The message names what is wrong, whose it is, and what to do."""
    name, spoil, message = SPOILT[what]
    check(place / "queue/log")
    spoil(place / name)
    with pytest.raises(Untrusted, match=message) as caught:
        check(place / "queue/log" if "log" in name or name == "." else place / "queue")
    (found,) = caught.value.diagnostics
    assert found.kind == "not-trusted"
    assert found.help is not None
    assert "folders that are yours or root's alone" in found.help


def test_a_sticky_folder_on_the_way_is_fine(place: Path) -> None:
    """As /tmp: what is ours in it nobody else can move; what is another user's in it is not ours."""
    place.chmod(0o1777)
    check(place / "queue/log")
    check(place / "queue")
    give(place / "queue")
    with pytest.raises(Untrusted, match="belongs to"):
        check(place / "queue/log")


def test_dots_and_links_hide_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is judged by where it leads, and by all that it leads through."""
    (place / "link").symlink_to("queue")
    monkeypatch.chdir(place)
    for path in ("link/log", "queue/../link", "./queue"):
        check(path)
    (place / "queue").chmod(0o777)
    for path in ("link/log", "link", "queue/../queue/log", "link/.."):
        with pytest.raises(Untrusted):
            check(path)
    (place / "queue").chmod(0o755)
    place.chmod(0o1777)
    check("queue")
    for path in (".", "queue/..", "link/.."):
        with pytest.raises(Untrusted):
            check(path)


@pytest.mark.parametrize(
    ("members", "primaries", "is_fine"),
    [
        (["alice"], [], True),
        ([], [("alice", 7)], True),
        (["alice"], [("alice", 7)], True),
        (["alice", "bob"], [], False),
        (["alice"], [("bob", 7)], False),
        (["bob"], [("alice", 7)], False),
        ([], [], False),
        ([], [("alice", 8)], False),
    ],
)
def test_a_group_of_one_is_nobody_else(
    place: Path, monkeypatch: pytest.MonkeyPatch, members: list[str], primaries: list[tuple[str, int]], is_fine: bool
) -> None:
    """As where each user has a group of his own, and a umask of 002."""
    gid = place.stat().st_gid
    people = [SimpleNamespace(pw_name=name, pw_gid=gid if number == 7 else -1) for name, number in primaries]
    monkeypatch.setattr(trust, "user_name", lambda _: "alice")
    monkeypatch.setattr(grp, "getgrgid", lambda number: SimpleNamespace(gr_name="proj", gr_mem=members, gr_gid=number))
    monkeypatch.setattr(pwd, "getpwall", lambda: people)
    place.chmod(0o775)
    if is_fine:
        check(place / "queue")
    else:
        with pytest.raises(Untrusted, match="can be written by the group proj"):
            check(place / "queue")


def test_an_access_list_is_no_group_of_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of the group are then the most that the list gives to anybody."""
    monkeypatch.setattr(os, "getxattr", lambda *_, **__: b"a list", raising=False)
    name = pwd.getpwuid(ME.uid).pw_name
    monkeypatch.setattr(grp, "getgrgid", lambda number: SimpleNamespace(gr_name="me", gr_mem=[name], gr_gid=number))
    monkeypatch.setattr(pwd, "getpwall", list)
    place.chmod(0o775)
    with pytest.raises(Untrusted, match="by the group me"):
        check(place / "queue")


def test_folders_are_made_for_nobody_else(place: Path) -> None:
    """Whatever the umask: each that was missing; none where its place is not ours."""
    before = os.umask(0)
    try:
        assert make_folder(place / "new/deep")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (place / "new", place / "new/deep")} == {0o700}
    assert not make_folder(place / "new/deep")
    with pytest.raises(NotADirectoryError):
        make_folder(place / "queue/log")
    with pytest.raises(NotADirectoryError):
        make_folder(place / "queue/log/deep")
    place.chmod(0o777)
    with pytest.raises(Untrusted):
        make_folder(place / "more/deep")
    assert not (place / "more").exists()


def test_a_folder_that_comes_at_the_last_moment_is_looked_at(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody makes it in a sticky folder between the look and the making: it is his."""
    place.chmod(0o1777)
    real = os.mkdir

    def faster(path: str, mode: int) -> None:
        real(path, mode)
        give(Path(path))
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    monkeypatch.setattr(os, "mkdir", faster)
    with pytest.raises(Untrusted, match="belongs to"):
        make_folder(place / "mine/queue")


@as_root
def test_every_user_believes_root_and_nobody_else(commons: Path) -> None:
    """In a process of his own: his are fine, root's are fine, others' are not, and root believes none of them."""
    for person in (ALICE, BOB):
        (commons / person.name).mkdir()
        os.chown(commons / person.name, person.uid, person.gid)
    (commons / "root").mkdir()
    said = {name: be(ALICE, lambda: check(commons / name)) for name in ("alice", "root", "bob")}  # noqa: B023 - at once
    assert said["alice"] == said["root"] == "None"
    assert said["bob"].startswith("Untrusted")
    assert "this folder belongs to 61002, who could make 61001 do anything" in said["bob"]
    for name in ("alice", "bob"):
        with pytest.raises(Untrusted, match="who could make root do anything"):
            check(commons / name)


@as_root
def test_root_works_in_a_users_folder_as_that_user(commons: Path) -> None:
    """Whose the first folder on the way is that is not root's; where anybody may change it, as nobody."""
    (commons / "alice/deep/deeper").mkdir(parents=True)
    assert stranger(f"{commons}/alice/deep") is None
    assert stranger("/tmp") is None  # noqa: S108 - it is sticky
    os.chown(commons / "alice/deep/deeper", BOB.uid, BOB.gid)
    os.chown(commons / "alice", ALICE.uid, ALICE.gid)
    found = stranger(f"{commons}/alice/deep/deeper")
    assert found is not None
    assert (found.uid, found.gid, found.groups) == (ALICE.uid, ALICE.uid, frozenset())
    os.chown(commons / "alice", 0, 0)
    (commons / "alice").chmod(0o777)
    with pytest.raises(Untrusted):
        stranger(f"{commons}/alice/deep")
