"""A release is one thing: the version, and what the recipes ask for, are those of pyproject.toml everywhere."""

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import rattler_build
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
CONDA = ROOT / "packaging/conda"
PROJECT = importlib.metadata.metadata("crondor")
VERSION = PROJECT["Version"]
NAMES = {  # PyPI's, and what conda-forge calls it where that is another
    "htcondor": "python-htcondor",
    "matplotlib": "matplotlib-base",
    "pcre2": "python-pcre2",
    "prometheus-client": "prometheus_client",
    "tzdata": "python-tzdata",
}
SHIPPED = {"plot", "cluster", "arrow", "htcondor", "watch", "ics", "lsp", "monitor", "holidays"}


def once(pattern: str, text: str) -> str:
    """Return what the group of a pattern stands for in a text, where it stands once."""
    (found,) = re.findall(pattern, text, re.MULTILINE)
    return str(found)


def read(path: str) -> str:
    """Return the text of a file."""
    return (ROOT / path).read_text(encoding="utf-8")


def rendered(name: str) -> list[dict[str, Any]]:
    """Return what a recipe comes to for each Python, as rattler-build renders it; no channel is asked."""
    variants = rattler_build.VariantConfig.from_file(CONDA / "variants.yaml")
    recipe = rattler_build.Stage0Recipe.from_file(CONDA / name / "recipe.yaml")
    return [each.recipe.to_dict() for each in recipe.render(variants)]


def wanted(extras: set[str]) -> set[str]:
    """Return the wheel's requirements without extra, or those of some extras, as conda writes them."""
    found = set()
    for text in importlib.metadata.requires("crondor") or ():
        each = Requirement(text)
        extra = re.search(r"extra == ['\"](\w+)['\"]", str(each.marker))
        if (extra is None and not extras) or (extra is not None and extra[1] in extras):
            bounds = ",".join(sorted(map(str, each.specifier), reverse=True))
            found.add(f"{NAMES.get(each.name, each.name)} {bounds}")
    return found


def test_the_version_is_one() -> None:
    """Of the package, of its recipe, of the extension for VS Code; the newest entry of the changelog is its."""
    assert once(r'^version = "(.+?)"', read("pyproject.toml")) == VERSION
    for name in ("package.json", "package-lock.json"):
        text = json.loads((ROOT / "editors/vscode" / name).read_text(encoding="utf-8"))
        assert text["version"] == text.get("packages", {"": text})[""]["version"] == VERSION
    recipe = yaml.safe_load(read("packaging/conda/crondor/recipe.yaml"))
    assert recipe["context"]["version"] == VERSION
    entries = re.findall(r"^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$", read("CHANGELOG.md"), re.MULTILINE)
    assert entries[0] == VERSION


def test_no_entry_of_the_changelog_is_there_twice() -> None:
    """A merge may bring back what was cut: new entries stand under Unreleased, and a heading has a blank line below."""
    text = read("CHANGELOG.md")
    entries = re.findall(r"^- (.+)$", text, re.MULTILINE)
    assert len(entries) == len(set(entries))
    assert not re.findall(r"^\*\*.+\*\*\n(?!\n)", text, re.MULTILINE)


def test_pages_name_the_files_of_this_version() -> None:
    """docs/install.md: wheels and packages to type."""
    text = read("docs/install.md")
    named = re.findall(r"crondor[-_:](\d[\d.]*\d)", text)
    assert named
    assert set(named) == {VERSION}


def test_conda_asks_for_what_the_wheel_asks_for() -> None:
    """Requirements and, as constraints, the extras; tomli goes with all Pythons, since the package is for all."""
    (made,) = rendered("crondor")
    needs = made["requirements"]
    assert set(needs["run"]) == wanted(set()) | {f"python {PROJECT['Requires-Python']}"}
    assert set(needs["run_constraints"]) == wanted(SHIPPED)
    assert set(needs["host"]) >= {"hatchling >=1.27", "click >=8.1"}
    assert made["build"]["python"]["entry_points"] == [
        f"{each.name} = {each.value}"
        for each in importlib.metadata.entry_points(group="console_scripts", name="crondor")
    ]
    assert (made["about"]["license"], made["about"]["summary"]) == (
        PROJECT["License-Expression"],
        PROJECT["Summary"].replace(": ", " - "),
    )


def test_conda_builds_the_dependency_that_it_has_not() -> None:
    """The sdist of packaging/deb/bundled.txt, for each Python that crondor is for."""
    made = rendered("python-pcre2")
    bundled = read("packaging/deb/bundled.txt")
    assert {each["package"]["version"] for each in made} == set(re.findall(r"^pcre2==(\S+)", bundled, re.MULTILINE))
    assert all(f"sha256:{each['source'][0]['sha256']}" in bundled for each in made)
    pythons = {once(r"^py3(\d+)h", each["build"]["string"]) for each in made}
    said = "\n".join(PROJECT.get_all("Classifier", []))
    assert pythons == set(re.findall(r"Python :: 3\.(\d+)$", said, re.MULTILINE))


def test_the_image_asks_for_extras_that_there_are() -> None:
    """The same ones in the Makefile and the Containerfile; it runs as a user of its own, and starts with crondor."""
    container = read("packaging/oci/Containerfile")
    makefile = read("Makefile")
    inside = once(r"^ARG EXTRAS=(.+)$", container)
    outside = once(r"^EXTRAS \?= (.+)$", makefile)
    assert inside == outside
    assert set(inside.split(",")) <= SHIPPED
    assert re.findall(r"^(USER|ENTRYPOINT) (.+)$", container, re.MULTILINE) == [
        ("USER", "crondor"),
        ("ENTRYPOINT", '["crondor"]'),
    ]
    assert once(r'description="(.+?)"', container) == PROJECT["Summary"]


def test_nox_runs_the_pythons_of_the_classifiers() -> None:
    """So that no release says more than was tried."""
    text = read("noxfile.py")
    tried = once(r"PYTHONS = \((.+?)\)", text)
    said = "\n".join(PROJECT.get_all("Classifier", []))
    assert re.findall(r"3\.\d+", tried) == re.findall(r"Python :: (3\.\d+)$", said, re.MULTILINE)
