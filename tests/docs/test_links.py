"""Links of all pages: each leads to a file of the repository, and its fragment to a heading of that."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.test_docs import CLI, DOCS, ROOT

FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for folder in ("docs", "examples", "tests") for page in (ROOT / folder).rglob("*.md"))]
)


def bare(page: Path) -> str:
    """Return the text of a page without its fenced blocks."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def fragments(page: Path) -> frozenset[str]:
    """Return the fragments of a page's headings as GitHub makes them: of equal ones the later have numbers."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.*)$", bare(page), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def links(page: Path) -> Iterator[str]:
    """Yield the targets of a page's links to other files; a link in backticks is none, one around them is."""
    text = re.sub(r"(\[?)`[^`\n]*`", r"\1", bare(page))
    yield from re.findall(r"\]\((?![a-z]+:)([^)\s]*)\)", text)


def faults(page: Path, root: Path = ROOT) -> list[str]:
    """Return the links of a page that lead to no file below a folder."""
    found = []
    for target in links(page):
        name, _, fragment = unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or not file.is_relative_to(root):
            found.append(f"{target}: no such file")
        elif fragment and fragment not in fragments(file):
            found.append(f"{target}: no such heading")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """To a file that is there, and a heading in it."""
    assert faults(page) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    """A missing file, a missing heading, one after a code span; blocks and addresses are skipped."""
    text = "## One `two`\n## One two\n[`x`](#one-two) [y](#one-two-1)\n`[n](none)`\n```\n[n](none)\n```\n[a](https://x.y)\n"
    other = tmp_path / "page.md"
    other.write_text(f"{text}[`--x [a]`](none.md) [z](#one-two-2)\n", encoding="utf-8")
    assert fragments(other) == {"one-two", "one-two-1"}
    assert faults(other, tmp_path) == ["none.md: no such file", "#one-two-2: no such heading"]
    assert list(links(DOCS / "README.md"))


@pytest.mark.parametrize("folder", [DOCS, CLI], ids=lambda folder: folder.name)
def test_the_index_names_every_page(folder: Path) -> None:
    """README.md of a folder has a link to each of its pages."""
    index = set(links(folder / "README.md"))
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= index
