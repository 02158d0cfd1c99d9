"""The pages of the site, gathered into one folder: the repository's Markdown, its links led to where pages stand."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from crondor.check.rules import RULES as SUBMIT_RULES
from crondor.router.rules import RULES as ROUTE_RULES
from website import interface, rules

ROOT = Path(__file__).resolve().parents[1]
TOLD_NOT_LINKED = ("LICENSE", "tests/")  # what pages name, and the site has no page for
OUTSIDE_THE_TREE = "---\norphan: true\n---\n\n"  # listed in a table, not on every page's navigation
LANGUAGES = {".sub": "condor", ".conf": "condor", ".py": "python", ".sh": "sh", ".svg": "xml"}

_FENCE = re.compile(r"^( *)(```+|~~~+)")
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?![a-z]+:|#)([^)\s]+)\)")


class DeadLink(Exception):
    """A page has a link to a file of which the site has no page."""


def stage(folder: Path) -> None:
    """Write every page of the site into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "website" / "pages", folder)
    for source, place in sources().items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        file = ROOT / source
        if file.suffix == ".md":
            target.write_text(relinked(file.read_text("utf-8"), source, place), encoding="utf-8")
        elif place.endswith(".md"):
            target.write_text(f"{OUTSIDE_THE_TREE}{shown(file)}", encoding="utf-8")
        else:
            shutil.copyfile(file, target)
    _list_all(folder / "cli" / "index.md")
    for place, text in [*rules.pages(SUBMIT_RULES, ROUTE_RULES), *interface.pages()]:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        is_listed = not place.startswith("rules/") or place == "rules/index.md"
        (folder / place).write_text(text if is_listed else f"{OUTSIDE_THE_TREE}{text}", encoding="utf-8")


def _list_all(index: Path) -> None:
    """Add to the index of a folder the list of its pages that Sphinx wants."""
    pages = sorted(page.relative_to(index.parent).as_posix()[:-3] for page in index.parent.rglob("*.md"))
    tree = "\n".join(["", "```{toctree}", ":hidden:", "", *(page for page in pages if page != "index"), "```", ""])
    index.write_text(index.read_text("utf-8") + tree, encoding="utf-8")


def sources() -> dict[str, str]:
    """Return the files that become pages or pictures: path in the repository to path in the folder of pages."""
    found = {"CHANGELOG.md": "changelog.md"}
    for file in sorted((ROOT / "docs").rglob("*")):
        path = file.relative_to(ROOT / "docs").as_posix()
        if file.is_file() and path != "README.md":
            found[f"docs/{path}"] = re.sub(r"(^|/)README\.md$", r"\1index.md", path)
    for file in sorted((ROOT / "examples").rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if file.is_file() and "__pycache__" not in path:
            found[path] = "examples/index.md" if file.name == "README.md" else f"{path}.md"
    return found


def places() -> dict[str, str]:
    """Return where a link to a file or folder of the repository leads."""
    index = {"README.md": "index.md", "docs/README.md": "index.md", "docs": "index.md"}
    folders = [folder.relative_to(ROOT).as_posix() for folder in (ROOT / "examples").rglob("*") if folder.is_dir()]
    return {**sources(), **index, **dict.fromkeys(["examples", *folders], "examples/index.md")}


def relinked(text: str, source: str, place: str) -> str:
    """Return Markdown of the repository with its links led to the pages of the site; code is left alone.

    Raises DeadLink where there is none.
    """

    def lead(link: re.Match[str]) -> str:
        name, _, fragment = link[2].partition("#")
        path = os.path.normpath(PurePosixPath(source).parent / unquote(name))
        if path.startswith(TOLD_NOT_LINKED):
            return link[1][1:-1]
        if path not in places():
            raise DeadLink(f"{source}: {link[2]}")
        to = os.path.relpath(places()[path], PurePosixPath(place).parent)
        return f"{link[1]}({to}{'#' * bool(fragment)}{fragment})"

    return "".join(_outside_code(text, lambda line: _LINK.sub(lead, line)))


def _outside_code(text: str, change: Callable[[str], str]) -> Iterator[str]:
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[2]
        elif mark and line.strip() == fence:
            fence = ""
            yield line
            continue
        yield line if fence else change(line)


def shown(file: Path) -> str:
    """Return the page of an example: its text as it is."""
    language = LANGUAGES.get(file.suffix, "text")
    up = os.path.relpath(ROOT / "examples" / "index.md", file.parent)
    title = f"# {file.relative_to(ROOT / 'examples').as_posix()}\n\n[All examples]({up})\n"
    return f"{title}\n````{language}\n{file.read_text('utf-8')}````\n"
