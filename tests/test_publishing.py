"""What publishing needs, as far as no tool of `make release-check` looks: one source of addresses, and honest words."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from hatch_build import Readme

ROOT = Path(__file__).resolve().parent.parent
URLS = {
    "Repository": "https://github.com/example/crondor",
    "Issues": "https://github.com/example/crondor/issues",
    "Documentation": "https://example.org/",
    "Rules": "https://example.org/rules/",
}
LINK = re.compile(r"(!?)\[[^]]*\]\(([^)]*)\)")


def program(name: str) -> ModuleType:
    """Return a program of packaging/ as a module; that name belongs to a package of PyPI."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def readme(**more: Any) -> str:  # noqa: ANN401 - metadata as hatchling has it
    """Return the README of a wheel."""
    metadata: dict[str, Any] = {"version": "1.2.3", **more}
    Readme(str(ROOT), {}).update(metadata)
    return str(metadata["readme"]["text"])


def test_links_of_the_wheels_readme_are_absolute() -> None:
    """Into the Repository, at the tag of the version; without one, texts stay, and links and pictures go."""
    here = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    made = LINK.findall(readme(urls=URLS))
    place = URLS["Repository"]
    assert made == [(mark, f"{place}/{'raw' if mark else 'blob'}/v1.2.3/{path}") for mark, path in here]
    assert LINK.findall(readme()) == []
    assert "Other ways: Debian package" in readme()


@pytest.mark.parametrize("path", ["ci.yml", "release.yml"])
def test_workflows_have_no_rights_of_their_own_and_actions_that_cannot_change(path: str) -> None:
    """Each job says what it may do, and each action is a commit with its version beside it."""
    text = (ROOT / ".github/workflows" / path).read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    assert flow["permissions"] == {}
    assert all("permissions" in job and "timeout-minutes" in job for job in flow["jobs"].values())
    used = re.findall(r"uses: (?!\./)(.+)", text)
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", each) for each in used)


def test_workflows_run_what_developers_run() -> None:
    """The script of continuous integration, and targets of the Makefile."""
    folder = ROOT / ".github/workflows"
    flows = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.iterdir()]
    steps = [step["run"] for flow in flows for job in flow["jobs"].values() for step in job["steps"] if "run" in step]
    made = {word for step in steps for word in re.findall(r"^make ([\w-]+)$", step, re.MULTILINE)}
    assert ".ci/run" in steps
    assert made == {"pythons", "release-check", "vscode"}
    assert all(re.search(rf"^{name}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE) for name in made)


def test_release_check_says_all_that_is_missing() -> None:
    """Of versions, tags, addresses and texts; nothing if all is there."""
    check = program("release_check")
    unreleased = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.0.0] - 2026-01-01\n"
    released = "# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-12-01\n"
    project = {"version": "1.1.0", "urls": URLS, "authors": [{"name": "The authors"}]}
    assert len(list(check.version_faults(project, unreleased, ["v1.0.0"]))) == 3
    assert not list(check.version_faults(project, released, ["v1.1.0"]))
    said = "\n".join(check.address_faults({"version": "1.1.0", "urls": {"Repository": "https://git.example.org/x"}}))
    assert all(f"{name} = " in said for name in ("Issues", "Documentation", "Rules"))
    assert "authors in [project]" in said
    assert "Repository on GitHub" in said
    assert not list(check.address_faults(project))
    assert list(check.text_faults("from a clone"))
    assert list(check.action_faults(f"description: {'x' * 125}\n"))
    assert not list(check.action_faults((ROOT / "action.yml").read_text(encoding="utf-8")))


def test_release_check_passes_on_what_a_tool_says() -> None:
    """And that there is no such tool."""
    check = program("release_check")
    (said,) = check.ran("sh", "-c", "echo broken; exit 3")
    assert said.splitlines()[1:] == ["broken"]
    (said,) = check.ran("no-such-tool-here")
    assert "No such file" in said
    assert not list(check.ran("true"))


def test_the_extension_takes_its_addresses_from_the_project() -> None:
    """It has none of its own."""
    package = json.loads((ROOT / "editors/vscode/package.json").read_text(encoding="utf-8"))
    made = program("vscode").addresses(URLS)
    assert not made.keys() & package.keys()
    assert (made["repository"]["url"], made["bugs"]["url"]) == (URLS["Repository"], URLS["Issues"])
    assert program("vscode").addresses({}) == {}
