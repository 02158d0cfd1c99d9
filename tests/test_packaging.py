"""What is shipped: the wheel's contents, the cost of `import crondor`, the list of examples."""

import configparser
import email
import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from reference.share import shared_files

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def wheel(built: Path) -> dict[str, str]:
    """Return the text of the wheel's files by name."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _info(wheel: dict[str, str], name: str) -> str:
    (text,) = (text for path, text in wheel.items() if re.fullmatch(rf"crondor-[^/]+\.dist-info/{name}", path))
    return text


def _metadata(wheel: dict[str, str]) -> Message:
    return email.message_from_string(_info(wheel, "METADATA"))


def test_wheel_holds_two_packages_and_nothing_else(wheel: dict[str, str]) -> None:
    """No folder of the repository (cli, tests, benchmarks, examples, docs) becomes a name in a user's environment."""
    version = _metadata(wheel)["Version"]
    data, info = f"crondor-{version}.data", f"crondor-{version}.dist-info"
    assert {path.split("/")[0] for path in wheel} == {"crondor", "crondor_cli", data, info}
    assert {path.split("/")[2] for path in wheel if path.startswith(f"{data}/")} == {"share"}


def test_wheel_holds_manual_pages_and_completions(wheel: dict[str, str]) -> None:
    """Each command has a page, each shell its file, and they are those of the commands of today."""
    folder = f"crondor-{_metadata(wheel)['Version']}.data/data/share/"
    assert {
        path.removeprefix(folder): text for path, text in wheel.items() if path.startswith(folder)
    } == shared_files()


def test_a_build_needs_only_what_it_names() -> None:
    """hatch_build.py loads no dependency of the command but click, which [build-system] names."""
    none = dict.fromkeys(("dateutil", "pcre2", "tomli", "tzdata", "tzlocal", "wcwidth"))
    script = f"import sys; sys.modules |= {none}; from reference.share import shared_files; shared_files()"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONPATH": "cli"}, check=True)
    (named,) = re.findall(
        r"^requires = \[(.*?)\]$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert re.findall(r'"([\w-]+)', named) == ["hatchling", "click"]


def test_a_build_has_the_same_bytes_again(built: Path, tmp_path: Path) -> None:
    """Wheel and sdist: who builds from a tag can compare with what was released."""
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (built, tmp_path))
    assert len(first) == 2
    assert first == second


def test_wheel_holds_every_module(wheel: dict[str, str]) -> None:
    """What can be imported from a checkout can be imported from the wheel."""
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "crondor").rglob("*.py")}
    here |= {path.relative_to(ROOT / "cli").as_posix() for path in (ROOT / "cli").rglob("*.py")}
    assert {path for path in wheel if path.endswith(".py")} == here


def test_wheel_holds_every_table_of_knowledge(wheel: dict[str, str]) -> None:
    """They are read from beside the modules."""
    folder = "crondor/knowledge/data/"
    here = {folder + path.name for path in (ROOT / folder).iterdir()}
    assert {path for path in wheel if path.startswith(folder)} == here
    assert here


def test_wheel_says_that_it_is_typed(wheel: dict[str, str]) -> None:
    """A type checker believes the annotations only beside a py.typed."""
    assert "crondor/py.typed" in wheel


def test_wheel_installs_one_command(wheel: dict[str, str]) -> None:
    """`crondor` is the click command of crondor_cli."""
    points = configparser.ConfigParser()
    points.read_string(_info(wheel, "entry_points.txt"))
    assert {section: dict(points[section]) for section in points.sections()} == {
        "console_scripts": {"crondor": "crondor_cli.main:script"}
    }


def test_wheel_carries_its_licence(wheel: dict[str, str]) -> None:
    """The licence is named in SPDX and comes along in full."""
    assert _metadata(wheel)["License-Expression"] == "Apache-2.0"
    assert _info(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_no_text_says_to_install_from_an_index() -> None:
    """None has crondor: what is said works in a clone, or for somebody who has one."""
    folders = ("crondor", "cli", "docs", "examples", "tests", "benchmarks")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md"}]
    paths += [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "Makefile"]
    wanted = re.compile(r"install\s+(?:-\S+\s+)*['\"]?crondor(?![\w/.-])")
    found = [
        f"{path.name}: {match[0]}" for path in paths for match in wanted.finditer(path.read_text(encoding="utf-8"))
    ]
    assert paths
    assert not found


def test_library_needs_none_of_the_dependencies() -> None:
    """`import crondor` loads nothing of the command line's: an embedding program pays for the library only."""
    script = "import sys; old = set(sys.modules); import crondor; print(*sorted(set(sys.modules) - old))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    packages = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert "crondor" in packages
    assert packages.isdisjoint({"click", "crondor_cli", "dateutil", "tzlocal"})


def test_readme_lists_every_example() -> None:
    """The table of examples names each file of the folder, and no other."""
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[([^\]]+)\]\(\1\) \|", table, re.MULTILINE)
    there = {path.name for path in EXAMPLES.iterdir()} - {"README.md", "__pycache__"}
    assert sorted(listed) == sorted(there)
