"""The pages of the site, gathered into one folder: the repository's Markdown, its links led to where pages stand."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from crondor.lint import RULES as SUBMIT_RULES
from crondor.lint.routes import ROUTE_RULES
from reference.pages import pages as reference_pages
from website.made import knob_page, library_pages, rule_pages

ROOT = Path(__file__).resolve().parents[1]
TOLD_NOT_LINKED = ("LICENSE", "tests/")  # what pages name, and the site has no page for
OUTSIDE_THE_TREE = "---\norphan: true\n---\n\n"  # listed in a table, not on every page's navigation
SEARCHED = {  # words that are typed into the search and stand on no page, by the page that they lead to
    "clock-changes.md": "timezone, dst",
    "compile.md": "systemd, timer, oncalendar",
    "monitor.md": "alarm, alert, email",
    "python.md": "api",
}
MADE = {"crondor/lint/pages": "rules/index.md", "crondor/knowledge/data/config_knobs.txt": "knobs.md"}
LANGUAGES = {".sub": "condor", ".conf": "condor", ".py": "python", ".sh": "sh", ".svg": "xml"}

_FENCE = re.compile(r"^( *)(```+|~~~+)")
_LINK = re.compile(
    r"(?P<text>!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?:[a-z]+:[^)]*|#[^)]*|(?P<to>[^)\s]+))\)"
    r"|(?<!`)`crondor (?P<command>[a-z-]+(?: [a-z-]+)??)(?: --help)?`(?!`)"
)


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
        if source.endswith(".md"):
            words = SEARCHED.get(place)
            head = f"---\nmyst:\n  html_meta:\n    keywords: {words}\n---\n\n" if words else ""
            target.write_text(head + relinked(text_of(source), source, place), encoding="utf-8")
        elif place.endswith(".md"):
            target.write_text(f"{OUTSIDE_THE_TREE}{shown(file)}", encoding="utf-8")
        else:
            shutil.copyfile(file, target)
    _list_all(folder / "cli" / "index.md")
    for place, text in [*rule_pages(SUBMIT_RULES, ROUTE_RULES), ("knobs.md", knob_page()), *library_pages()]:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        is_listed = not place.startswith("rules/") or place == "rules/index.md"
        (folder / place).write_text(text if is_listed else f"{OUTSIDE_THE_TREE}{text}", encoding="utf-8")


def _list_all(index: Path) -> None:
    """Add to the index of a folder the list of its pages that Sphinx wants."""
    pages = sorted(page.relative_to(index.parent).as_posix()[:-3] for page in index.parent.rglob("*.md"))
    tree = "\n".join(["", "```{toctree}", ":hidden:", "", *(page for page in pages if page != "index"), "```", ""])
    index.write_text(index.read_text("utf-8") + tree, encoding="utf-8")


@cache
def commands() -> dict[str, str]:
    """Return the text of each command's page by its path in the repository, where only some stand, written by hand."""
    by_hand = {file.name: file.read_text("utf-8") for file in (ROOT / "docs" / "cli").glob("*.md")}
    return {f"docs/cli/{name}": text for name, text in reference_pages(by_hand).items()}


def text_of(source: str) -> str:
    """Return the Markdown of a page by its path in the repository."""
    return commands().get(source) or (ROOT / source).read_text("utf-8")


@cache
def sources() -> dict[str, str]:
    """Return what becomes a page or picture: path in the repository to path in the folder of pages."""
    found = {"CHANGELOG.md": "changelog.md"}
    for path in commands():
        found[path] = re.sub(r"README\.md$", "index.md", path.removeprefix("docs/"))
    for file in sorted((ROOT / "docs").rglob("*")):
        path = file.relative_to(ROOT / "docs").as_posix()
        if file.is_file() and path != "README.md":
            found[f"docs/{path}"] = re.sub(r"(^|/)README\.md$", r"\1index.md", path)
    for file in sorted((ROOT / "examples").rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if file.is_file() and "__pycache__" not in path:
            found[path] = "examples/index.md" if file.name == "README.md" else f"{path}.md"
    return found


@cache
def places() -> dict[str, str]:
    """Return where a link to a file or folder of the repository leads."""
    index = {"README.md": "index.md", "docs/README.md": "index.md", "docs": "index.md"}
    folders = [folder.relative_to(ROOT).as_posix() for folder in (ROOT / "examples").rglob("*") if folder.is_dir()]
    return {**sources(), **MADE, **index, **dict.fromkeys(["examples", *folders], "examples/index.md")}


def relinked(page: str, source: str, place: str) -> str:
    """Return Markdown of the repository with its links led to the pages of the site; blocks of code are left alone.

    The name of a command in backticks becomes a link to its page. Raises DeadLink where there is none.
    """

    def lead(link: re.Match[str]) -> str:
        if link["command"]:
            path, text, fragment = f"docs/cli/{link['command'].replace(' ', '-')}.md", f"[{link[0]}]", ""
            if path not in commands() or path == source:
                return link[0]
        elif link["to"]:
            name, _, fragment = link["to"].partition("#")
            path, text = os.path.normpath(PurePosixPath(source).parent / unquote(name)), link["text"]
        else:
            return link[0]
        if path.startswith(TOLD_NOT_LINKED):
            return text[1:-1]
        if path not in places():
            raise DeadLink(f"{source}: {link['to']}")
        if places()[path] == place and not fragment:
            return text[1:-1]  # of a folder that the page itself lists
        to = os.path.relpath(places()[path], PurePosixPath(place).parent)
        return f"{text}({to}{'#' * bool(fragment)}{fragment})"

    return "".join(_outside_code(page, lambda line: _LINK.sub(lead, line)))


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
        yield line if fence or line.startswith("#") else change(line)


def shown(file: Path) -> str:
    """Return the page of an example: its text as it is."""
    language = LANGUAGES.get(file.suffix, "text")
    up = os.path.relpath(ROOT / "examples" / "index.md", file.parent)
    title = f"# {file.relative_to(ROOT / 'examples').as_posix()}\n\n[All examples]({up})\n"
    return f"{title}\n````{language}\n{file.read_text('utf-8')}````\n"
