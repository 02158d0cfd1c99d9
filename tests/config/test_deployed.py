"""A configuration as it is deployed: which files are read, in which order, and what is never done."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from crondor.config import Configuration, InvalidConfig, find_host_config, read_config, read_host_config
from crondor.config.deployed import GENERATOR, ROOT, VARIABLES, find_root, follow, generated, variables, with_variables
from crondor.diagnostics import CrondorError, Source
from crondor.macro.files import FileRefused, Files

_USERS = "root:x:0:0::/root:/bin/sh\ncondor:x:1:1::/home/condor:/bin/sh\n"


def tree(folder: Path, **files: str) -> Files:
    """Make a tree: names with __ for / and _dot_ for a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Files(["/"], base="/", tree=str(folder))


def deployed(files: Files, root: str = "/root", *, is_whole: bool = True) -> Configuration:
    """Read a root file and what it names."""
    made = read_config(files.read(root), files=files)
    return follow(made, files, is_whole=is_whole)


def kinds(found: Configuration) -> list[str]:
    """Return what was found."""
    return [each.kind for each in found.diagnostics]


def test_folders_come_before_files_and_both_in_their_order(tmp_path: Path) -> None:
    """The names of a folder by their bytes, the folders and files as they are listed."""
    files = tree(
        tmp_path,
        root="X = root\nLOCAL_CONFIG_DIR = /b, /a\nLOCAL_CONFIG_FILE = /last\n",
        b__10="X = $(X) b10\n",
        b__9="X = $(X) b9\n",
        b__Z="X = $(X) bZ\n",
        a__1="X = $(X) a1\n",
        last="X = $(X) last\n",
    )
    found = deployed(files)
    assert found.string("X") == "root b10 b9 bZ a1 last"
    assert [Path(each.name).name for each in found.sources] == ["root", "10", "9", "Z", "1", "last"]
    assert found.is_followed


def test_what_an_editor_or_a_package_leaves_is_passed_over(tmp_path: Path) -> None:
    """By HTCondor's own expression, or the one that is set; one that is none is an error."""
    names = {"d__1": "A = 1\n", "d__1~": "A = 2\n", "d__1_dot_rpmnew": "A = 3\n", "d__2_dot_sh": "A = 4\n"}
    files = tree(tmp_path, root="LOCAL_CONFIG_DIR = /d\n", **names)
    (tmp_path / "d" / "sub").mkdir()
    assert deployed(files).string("A") == "1"
    (tmp_path / "root").write_text("LOCAL_CONFIG_DIR = /d\nLOCAL_CONFIG_DIR_EXCLUDE_REGEXP = ^1$\n")
    assert deployed(files).string("A") == "4"
    (tmp_path / "root").write_text("LOCAL_CONFIG_DIR = /d\nLOCAL_CONFIG_DIR_EXCLUDE_REGEXP = (\n")
    assert "config-regexp" in kinds(deployed(files))


def test_a_file_may_change_what_is_read_behind_it(tmp_path: Path) -> None:
    """The list of files, whose rest counts then, and the folders, which are all read again."""
    files = tree(
        tmp_path,
        root="N = 0\nLOCAL_CONFIG_DIR = /a\nLOCAL_CONFIG_FILE = /one /two\n",
        a__1="N = $(N) a\n",
        one="N = $(N) one\nLOCAL_CONFIG_FILE = /one /three\nLOCAL_CONFIG_DIR = /a /b\n",
        two="N = $(N) two\n",
        three="N = $(N) three\n",
        b__1="N = $(N) b\n",
    )
    assert deployed(files).string("N") == "0 a one three a b"


def test_a_file_that_is_not_there_is_an_error_where_it_is_required(tmp_path: Path) -> None:
    """As HTCondor does not start; of a part of a configuration nobody knows, which is a warning."""
    files = tree(tmp_path, root="LOCAL_CONFIG_FILE = /none\n")
    found = deployed(files)
    assert (kinds(found), found.is_valid) == (["config-missing"], False)
    found = deployed(files, is_whole=False)
    assert (kinds(found), found.is_valid) == (["config-hidden"], True)
    (tmp_path / "root").write_text(
        "REQUIRE_LOCAL_CONFIG_FILE = false\nLOCAL_CONFIG_FILE = /none\nLOCAL_CONFIG_DIR = /no\n"
    )
    assert kinds(deployed(files)) == []


def test_no_link_leads_out_of_a_tree(tmp_path: Path) -> None:
    """An absolute one begins at the tree's root, and .. stops there; a circle is no file."""
    outside = tmp_path / "outside"
    outside.write_text("A = outside\n")
    folder = tmp_path / "tree"
    files = tree(folder, root="LOCAL_CONFIG_DIR = /d\n", etc__own="A = own\n")
    (folder / "d").mkdir()
    (folder / "d" / "1").symlink_to("/etc/own")
    (folder / "d" / "2").symlink_to(f"../../../../../../..{outside}")
    (folder / "d" / "3").symlink_to("3")
    found = deployed(files)
    assert found.string("A") == "own"
    assert kinds(found) == ["config-missing", "config-missing"]
    assert files.real("/../../etc/own") == os.path.realpath(folder / "etc" / "own")
    with pytest.raises(FileRefused):
        files.read(str(outside))


def test_outside_of_the_allowed_folders_nothing_is_read(tmp_path: Path) -> None:
    """It is said with the place of the knob."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1").write_text("A = 1\n")
    root = tmp_path / "in" / "root"
    root.write_text(f"LOCAL_CONFIG_DIR = {tmp_path}/out\nLOCAL_CONFIG_FILE = {tmp_path}/out/1\n")
    files = Files([str(tmp_path / "in")], base=str(tmp_path / "in"))
    found = deployed(files, str(root))
    assert (kinds(found), found.string("A")) == (["config-hidden"] * 2, None)
    assert [each.span.line for each in found.diagnostics if each.span is not None] == [1, 2]


def test_no_command_is_run(tmp_path: Path) -> None:
    """What it prints is handed in, or not known."""
    mark = tmp_path / "mark"
    files = tree(tmp_path, root=f"LOCAL_CONFIG_FILE = /bin/touch {mark}|\n")
    found = deployed(files)
    assert (kinds(found), mark.exists()) == (["config-hidden"], False)
    (tmp_path / "root").write_text("LOCAL_CONFIG_FILE = /usr/bin/tell |\n")
    found = follow(read_config(files.read("/root")), files, printed={"/usr/bin/tell": Source("A = told\n", "told")})
    assert (kinds(found), found.string("A")) == ([], "told")


def test_a_file_that_is_named_is_read_where_it_is_named(tmp_path: Path) -> None:
    """And not in its folder as well."""
    files = tree(tmp_path, root="A = 0\nLOCAL_CONFIG_DIR = /d\n", d__1="A = 1\n", d__2="A = 2\n")
    made = read_config(files.read("/root"))
    assert follow(made, files, named=[files.real("/d/2")]).string("A") == "1"


def test_files_without_end_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a bound are not read."""
    monkeypatch.setattr("crondor.config.deployed.MOST_FILES", 3)
    files = tree(tmp_path, root="LOCAL_CONFIG_DIR = /d\n", d__1="", d__2="", d__3="", d__4="")
    assert kinds(deployed(files)) == ["config-many"]


def test_the_root_file_is_found_as_the_tools_find_it(tmp_path: Path) -> None:
    """CONDOR_CONFIG, else the places, at last the home of condor; ONLY_ENV means none."""
    files = tree(tmp_path, etc__passwd=_USERS)
    assert find_root(files, {}) is None
    tree(tmp_path, home__condor__condor_config="")
    assert find_root(files, {}) == "/home/condor/condor_config"
    tree(tmp_path, etc__condor__condor_config="")
    assert find_root(files, {}) == "/etc/condor/condor_config"
    assert find_root(files, {"CONDOR_CONFIG": "/x"}) == "/x"
    assert find_root(files, {"CONDOR_CONFIG": "only_env"}) is None


def test_variables_of_the_environment_win() -> None:
    """Whatever the case of their prefix; what is no name is skipped."""
    made = with_variables(
        read_config("A = 1\nB = 1\n"), {"_CONDOR_A": "2", "_condor_B": "3", "_CONDOR_": "4", "A": "5"}
    )
    assert (made.string("A"), made.string("B")) == ("2", "3")


def test_what_an_entrypoint_generates(tmp_path: Path) -> None:
    """The transform Env of what the site exports, by the program that makes it; an older program is not known."""
    site = (
        'export OSG_GRID\nOSG_GRID="/cvmfs"\nHIDDEN=1\nexport OSG_SITE\nOSG_SITE="a\'b"\nexport OSG_APP\nOSG_APP=$APP\n'
    )
    files = tree(tmp_path, var__lib__osg__place="")
    (tmp_path / "var/lib/osg/osg-job-environment.conf").write_text(site)
    assert generated(files, {}) == {}
    program = tmp_path / GENERATOR.lstrip("/")
    program.parent.mkdir(parents=True)
    program.write_text("print('JOB_ROUTER_TRANSFORM_Env')")
    text = generated(files, {"APP": "/app"})[GENERATOR].text
    assert "SET osg_environment \"OSG_GRID='/cvmfs' OSG_SITE='a''b' OSG_APP='/app'\"\n" in text
    made = read_config(f"JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = A\n{text}")
    assert made.is_valid
    assert made.string("JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES") == "A Env"
    assert 'EVALMACRO default_env ""' in generated(files, {"DISABLE_GLIDEIN_ADS": "True"})[GENERATOR].text


def test_what_an_entrypoint_s_programs_see(tmp_path: Path) -> None:
    """Its own variables, and what its sysconfig file exports; what would need a shell is skipped."""
    files = tree(tmp_path, etc__sysconfig__x="")
    text = 'export CONDORCE_HOSTNAME="ce.example.org"\nexport P=$PATH\nQ=1\nexport CONDOR_CONFIG=/other\n'
    (tmp_path / "etc/sysconfig/condor-ce").write_text(text)
    found = variables(files, {"HOME": "/h"})
    assert found["CONDORCE_HOSTNAME"] == "ce.example.org"
    assert (found["HOME"], found["CONDOR_CONFIG"]) == ("/h", ROOT)
    assert {"P", "Q"}.isdisjoint(found)
    assert VARIABLES["LLGT_LOG_IDENT"] == found["LLGT_LOG_IDENT"]


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
