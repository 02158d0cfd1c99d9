"""The playground's folder: its page and programs, pyodide, and what runs in it as byte code."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "website" / "play"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
# Pure Python alone runs there: pcre2 is compiled, and the page says so. Every question names its zone: no tzlocal.
DEPENDENCIES = ("click", "python-dateutil", "six", "tzdata", "wcwidth", "holidays")


def build(folder: Path, *, with_engine: bool) -> None:
    """Write the playground; without its engine only the page, which then says that it cannot run."""
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    if with_engine:
        _pyodide(folder / "pyodide")
        _wheels(folder / "wheels")
        subprocess.run(["node", str(ROOT / "website" / "bundle.mjs"), str(folder)], check=True)  # noqa: S603, S607
        say_sizes(folder)
    name_version(folder)


FIRST = ("pyodide/pyodide.asm.mjs", "pyodide/pyodide.asm.wasm.gz", "snapshot.gz", "now.zip")
LATER = ("later.zip", "pyodide/python_stdlib.zip")


def say_sizes(folder: Path) -> None:
    """Write into the page how many bytes it loads: before the first answer, and after it."""
    page = folder / "worker.js"
    sizes = {name: (folder / name).stat().st_size for name in (*FIRST, *LATER)}
    text = page.read_text("utf-8")
    first = json.dumps({name: sizes[name] for name in FIRST})
    text = text.replace("const FIRST = {};", f"const FIRST = {first};")
    text = text.replace("const LATER = 0;", f"const LATER = {sum(sizes[name] for name in LATER)};")
    page.write_text(text, encoding="utf-8")


def name_version(folder: Path) -> None:
    """Put a version into the addresses of what the page loads: one page never gets files of two builds from a cache."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    version = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    page = folder / "index.html"
    text = page.read_text("utf-8")
    page.write_text(re.sub(r'(?<==")(app\.js|style\.css)(?=")', rf"\1?v={version}", text), encoding="utf-8")


def _wheels(folder: Path) -> None:
    """Put the wheel of this checkout and those of its dependencies into a folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    building = ["wheel", "-qq", "--no-deps", "--no-build-isolation"]  # hatchling is in the extra `site`
    own = [*pip, *building, "-w", str(folder), str(ROOT)]
    subprocess.run(own, check=True)  # noqa: S603 - our own calls
    pure = ["--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any"]
    others = [*pip, "download", "-qq", "--no-deps", *pure, "-d", str(folder), *DEPENDENCIES]
    subprocess.run(others, check=True)  # noqa: S603
    names = sorted(file.name for file in folder.iterdir())
    compiled = [name for name in names if not re.search(r"-none-any\.whl$", name)]
    if compiled:
        sys.exit(f"website: not pure Python: {', '.join(compiled)}")


def _pyodide(folder: Path) -> None:
    """Copy what a browser needs of the npm package."""
    package = ROOT / "website" / "node_modules" / "pyodide"
    if not package.is_dir():
        sys.exit("website: no pyodide here; run `npm ci` in website/, as `make site` does")
    folder.mkdir()
    for name in PYODIDE:
        shutil.copyfile(package / name, folder / name)
    shutil.copyfile(package / "README.md", folder / "README.md")
