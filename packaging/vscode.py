"""`make vscode`: package the extension by vsce, with the licence and the addresses of this repository.

The addresses are `project.urls` of pyproject.toml. Without a Repository vsce refuses the pictures of the README, whose
links it cannot make absolute; the package is then for installing by hand. With --publish it is refused instead.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "editors/vscode"
BUILD = ROOT / "build/vscode"
FOLDER = HERE.relative_to(ROOT).as_posix()


def main() -> None:
    """Lay the extension into build/vscode, and package it from there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls: dict[str, str] = project.get("urls", {})
    package = json.loads((HERE / "package.json").read_text(encoding="utf-8")) | addresses(urls)
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(HERE, BUILD, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    shutil.copy2(ROOT / "LICENSE", BUILD)
    (BUILD / "node_modules").symlink_to(HERE / "node_modules")
    (BUILD / "package.json").write_text(json.dumps(package, indent=2) + "\n", encoding="utf-8")
    vsix = HERE / "crondor.vsix"
    command = ["node_modules/.bin/vsce", "package", "--no-dependencies", "--out", str(vsix)]
    if "Repository" in urls:
        place = f"{urls['Repository'].removesuffix('/')}/{{}}/v{project['version']}/{FOLDER}"
        command += ["--baseContentUrl", place.format("blob"), "--baseImagesUrl", place.format("raw")]
    elif "--publish" not in sys.argv:
        print("crondor: no Repository in project.urls of pyproject.toml: this package is for installing by hand")
        command += ["--allow-missing-repository", "--no-rewrite-relative-links"]
    sys.exit(subprocess.run(command, cwd=BUILD, stdin=subprocess.DEVNULL, check=False).returncode)


def addresses(urls: dict[str, str]) -> dict[str, Any]:
    """Return the keys of package.json that are addresses."""
    found: dict[str, Any] = {}
    if "Repository" in urls:
        found["repository"] = {"type": "git", "url": urls["Repository"], "directory": FOLDER}
    if "Issues" in urls:
        found["bugs"] = {"url": urls["Issues"]}
    if "Documentation" in urls:
        found["homepage"] = urls["Documentation"]
    return found


if __name__ == "__main__":
    main()
