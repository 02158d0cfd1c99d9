"""A host's own configuration: which files, in which order, and what is not read."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from crondor.config import Configuration, InvalidConfig, find_host_config, read_host_config
from crondor.diagnostics import CrondorError


def host(folder: Path, root: str, files: Mapping[str, str] | None = None, **variables: str) -> Configuration:
    """Return the configuration of a host whose root file is CONDOR_CONFIG; ``%`` in a text is the folder."""
    for name, text in {"condor_config": root, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("%", str(folder)), encoding="utf-8")
    return read_host_config({"CONDOR_CONFIG": str(folder / "condor_config"), **variables})


def test_files_are_read_in_htcondors_order(tmp_path: Path) -> None:
    """The root, the folders by name, the listed files, the variables: the last one wins."""
    files = {f"d/{name}": f"{name} = {name}\nW = {name}\nList = $(List) {name}\n" for name in ("B", "A", "C")}
    made = host(tmp_path, "LOCAL_CONFIG_DIR = %/d\nLOCAL_CONFIG_FILE = %/local\nW = root\nList =\n", files)
    assert made.string("List") == "A B C"
    assert made.string("W") == "C"
    made = host(tmp_path, "LOCAL_CONFIG_DIR = %/d\nLOCAL_CONFIG_FILE = %/local\n", {**files, "local": "W = local\n"})
    assert made.string("W") == "local"
    made = host(tmp_path, "W = root\n", _CONDOR_W="variable", _condor_V="2", CONDOR_W="no")
    assert (made.string("W"), made.integer("V")) == ("variable", 2)


def test_a_listed_file_may_list_others(tmp_path: Path) -> None:
    """Those that were read are not read again."""
    files = {"one": "LOCAL_CONFIG_FILE = %/one %/two\nW = one\n", "two": "W = two\nLOCAL_CONFIG_FILE = %/one, %/two\n"}
    assert host(tmp_path, "LOCAL_CONFIG_FILE = %/one\n", files).string("W") == "two"


def test_a_listed_file_may_name_a_folder(tmp_path: Path) -> None:
    """Whose files come last."""
    files = {"one": "LOCAL_CONFIG_DIR = %/late\n", "late/x": "W = late\n"}
    assert host(tmp_path, "LOCAL_CONFIG_FILE = %/one\n", files).string("W") == "late"


def test_what_editors_and_packages_leave_is_passed_over(tmp_path: Path) -> None:
    """By the default of LOCAL_CONFIG_DIR_EXCLUDE_REGEXP, or another one."""
    names = ("ok", ".hidden", "old~", "#new", "x.rpmsave", "x.rpmnew", "x.dpkg-old")
    files = {f"d/{name}": f"List = $(List) {name}\n" for name in names}
    assert host(tmp_path, "LOCAL_CONFIG_DIR = %/d\nList =\n", files).string("List") == "ok"
    other = host(tmp_path, "LOCAL_CONFIG_DIR = %/d\nLOCAL_CONFIG_DIR_EXCLUDE_REGEXP = ^[^x]\nList =\n", files)
    assert other.string("List") == "x.dpkg-old x.rpmnew x.rpmsave"


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """The other files count."""
    made = host(tmp_path, "LOCAL_CONFIG_FILE = %/gone %/there\n", {"there": "W = there\n"})
    assert made.string("W") == "there"
    assert ["gone" in found.message for found in made.diagnostics] == [True]


def test_nothing_is_run(tmp_path: Path) -> None:
    """A list that ends in a pipe is no list of files."""
    made = host(tmp_path, "LOCAL_CONFIG_FILE = touch %/ran |\ninclude command : touch %/ran\n")
    assert not (tmp_path / "ran").exists()
    assert any("crondor runs nothing" in found.message for found in made.diagnostics)


def test_a_host_without_a_configuration(tmp_path: Path) -> None:
    """ONLY_ENV is none, too, and meant so."""
    assert find_host_config({"CONDOR_CONFIG": "ONLY_ENV"}) is None
    assert read_host_config({"CONDOR_CONFIG": "ONLY_ENV", "_CONDOR_A": "1"}).integer("A") == 1
    with pytest.raises(CrondorError):
        read_host_config({"CONDOR_CONFIG": str(tmp_path / "gone")})
    if find_host_config({}) is None:
        with pytest.raises(InvalidConfig, match="no configuration of HTCondor"):
            read_host_config({})


def test_a_folder_of_many_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a list that goes on for ever."""
    monkeypatch.setattr("crondor.config.deployed.MOST_FILES", 50)
    files = {"n": "N = $(N)1\nLOCAL_CONFIG_FILE = %/n $(LOCAL_CONFIG_FILE)/../n\n"}
    made = host(tmp_path, "LOCAL_CONFIG_FILE = %/n\nN =\n", files)
    assert 0 < len(made.string("N") or "") <= 50
