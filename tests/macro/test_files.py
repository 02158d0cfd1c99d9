"""The files a text may name: below the allowed folders, through links and dots, and within bounds."""

import fnmatch
import glob
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import CrondorError
from crondor.macro.files import FileRefused, Files, _translated
from tests.rights.people import link_in_place, swapping


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files and links, and beside it what must not be reached."""
    inside = tmp_path / "in"
    (inside / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "secret").mkdir(parents=True)
    for name in ("a.dat", "b.dat", "B.txt", ".hidden.dat", "sub/c.dat", "sub/deep/d.dat", "we ird[1].dat"):
        (inside / name).write_text(name)
    (tmp_path / "out" / "secret" / "key.dat").write_text("secret")
    (inside / "link.dat").symlink_to(tmp_path / "out" / "secret" / "key.dat")
    (inside / "leak").symlink_to(tmp_path / "out")
    (inside / "fine.dat").symlink_to("a.dat")
    (inside / "loop").symlink_to("loop")
    return inside


def code(files: Files, path: str) -> str:
    """Return why a file is refused."""
    with pytest.raises(CrondorError) as caught:
        files.read(path)
    return caught.value.diagnostics[0].kind


def test_files_below_are_read(folder: Path) -> None:
    """Relative and absolute paths, dots and links that stay inside."""
    files = Files([str(folder)], base=str(folder))
    assert files.read("a.dat").text == "a.dat"
    assert files.read("sub/../sub/./c.dat").text == "sub/c.dat"
    assert files.read("fine.dat").text == "a.dat"
    assert files.read(str(folder / "sub" / "c.dat")).name.endswith("c.dat")


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../out/secret/key.dat", "sub/../../out/secret/key.dat", "link.dat", "leak/secret/key.dat", ".."],
)
def test_files_outside_are_not(folder: Path, path: str) -> None:
    """No way leads out, and what is there is not told either."""
    files = Files([str(folder)], base=str(folder))
    with pytest.raises(FileRefused) as caught:
        files.read(path)
    assert caught.value.is_outside
    assert "secret/key.dat: " not in str(caught.value)


def test_more_folders_may_be_allowed(folder: Path) -> None:
    """Each root opens what is below it, and a name that merely begins alike is not below."""
    files = Files([str(folder), str(folder.parent / "out")], base=str(folder))
    assert files.read("link.dat").text == "secret"
    (folder.parent / "inside.dat").write_text("x")
    assert code(files, "../inside.dat") == "file-outside"
    assert code(Files([], base=str(folder)), "a.dat") == "file-outside"


def test_what_is_no_plain_file_is_refused_at_once(folder: Path) -> None:
    """Missing files are named in HTCondor's words; a pipe does not wait, a folder is no file."""
    files = Files([str(folder)], base=str(folder), limit=100)
    with pytest.raises(FileRefused, match=r"can't open file nofile\.sub: No such file or directory"):
        files.read("nofile.sub")
    os.mkfifo(folder / "pipe")
    assert code(files, "pipe") == "file-special"
    assert code(files, "sub") == "file-special"
    assert code(files, "nul\0name") == "file-missing"
    assert code(files, "loop") == "file-missing"
    (folder / "big").write_bytes(b"x" * 101)
    assert code(files, "big") == "too-large"
    (folder / "utf16").write_bytes("x".encode("utf-16"))
    assert code(files, "utf16") == "not-utf8"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.dat", ["a.dat", "b.dat", "fine.dat", "link.dat", "we ird[1].dat"]),
        (".*.dat", [".hidden.dat"]),
        ("[ab].dat", ["a.dat", "b.dat"]),
        ("[!a]?dat", ["b.dat"]),
        ("?.dat", ["a.dat", "b.dat"]),
        ("a.dat", ["a.dat"]),
        ("nope.dat", []),
        ("sub", ["sub/"]),
        ("s*", ["sub/"]),
        ("*/", ["sub/"]),
        ("sub/*", ["sub/c.dat", "sub/deep/"]),
        ("*/*/*.dat", ["sub/deep/d.dat"]),
        ("sub/../?.dat", ["sub/../a.dat", "sub/../b.dat"]),
        ("./a*", ["./a.dat"]),
        ("we ird\\[1].dat", ["we ird[1].dat"]),
        ("[z-a]*", []),
        ("a.dat/*", []),
        ("", []),
    ],
)
def test_names_that_match(folder: Path, pattern: str, names: list[str]) -> None:
    """A pattern gives names in the order of their bytes, folders with a slash."""
    assert Files([str(folder)], base=str(folder)).matching(pattern) == names


@pytest.mark.parametrize("pattern", ["*", "B*", "*a*", "sub/*", "*/*.dat", "[a-b]*", "??*"])
def test_names_are_those_of_glob(folder: Path, pattern: str) -> None:
    """The shell's own patterns agree, links that lead out aside."""
    mine = [name.rstrip("/") for name in Files([str(folder)], base=str(folder)).matching(pattern)]
    theirs = glob.glob(pattern, root_dir=folder)  # noqa: PTH207 - Path.glob has rules of its own
    assert mine == sorted(name for name in theirs if not name.startswith("leak/"))


@pytest.mark.parametrize("pattern", ["../*", "../out/*/*", "/etc/*", "leak/*", "leak/secret/*.dat", "sub/../../*"])
def test_patterns_do_not_lead_out(folder: Path, pattern: str) -> None:
    """Neither dots nor links nor a root show what is outside."""
    files = Files([str(folder)], base=str(folder))
    try:
        found = files.matching(pattern)
    except FileRefused as error:
        found = []
        assert error.is_outside  # noqa: PT017 - either way is right
    assert found == []


def test_looking_at_names_is_bounded(folder: Path) -> None:
    """A folder of many names, and a pattern that comes back to it, end in one sentence."""
    files = Files([str(folder)], base=str(folder), entries=30)
    assert files.matching("*.dat")
    for pattern in ("*/../*/../*/../*/../*", "a" * 5000):
        with pytest.raises(FileRefused, match=r"crondor (looks at|takes) no"):
            files.matching(pattern)


@given(st.text(alphabet="ab.*?", max_size=12), st.text(alphabet="ab.", max_size=12))
def test_patterns_mean_what_pythons_mean(pattern: str, name: str) -> None:
    """Stars and question marks match as elsewhere, and no star is tried twice."""
    assert bool(re.fullmatch(_translated(pattern), name)) == fnmatch.fnmatchcase(name, pattern)
    assert re.fullmatch(_translated("*a" * 40 + "b"), "a" * 255) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the system does not say where an open file is")  # noqa: PTH110
def test_a_folder_that_becomes_a_link_at_the_last_moment_leads_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a path and the opening of the file."""
    (folder / "secret").mkdir()
    (folder / "secret/key.dat").write_text("public")
    files = Files([str(folder)], base=str(folder))
    assert files.read("secret/key.dat").text == "public"
    swapping(monkeypatch, os.path, "realpath", link_in_place(folder / "secret", folder.parent / "out/secret"))
    assert code(files, "secret/key.dat") == "file-outside"
