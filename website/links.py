"""Proof of a built site: every link leads to a page and an anchor of it, and nothing comes from another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_RESOURCES = {
    *(("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src")),
    *(("link", "href"), ("object", "data"), ("embed", "src"), ("image", "href"), ("use", "href"), ("track", "src")),
}
_NO_RESOURCE = {"canonical", "next", "prev", "index", "search", "author", "license"}  # links for readers, not fetched
_IN_STYLES = re.compile(r"""url\(\s*["']?(?:https?:)?//[^)]*|@import\s+["'](?:https?:)?//[^"']*""", re.IGNORECASE)


class Target(NamedTuple):
    """What a page refers to, and whether the browser fetches it by itself."""

    url: str
    fetched: bool


class Page(HTMLParser):
    """The anchors and the targets of a page."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[Target] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element's id and its references."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        is_told = tag == "link" and set(given.get("rel", "").split()) & _NO_RESOURCE
        for name in ("href", "src", "data", "xlink:href"):
            if given.get(name):
                self.targets.append(Target(given[name], not is_told and (tag, name) in _RESOURCES))
        for part in filter(None, given.get("srcset", "").split(",")):
            self.targets.append(Target(part.split()[0], fetched=True))


def faults(site: Path) -> list[str]:
    """Return what is wrong with the links and resources of a built site, a line each."""
    pages = {file.resolve(): Page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}
    found = [f"{file.relative_to(site.resolve())}: {fault}" for file in pages for fault in _of_page(file, pages, site)]
    for file in sorted([*site.rglob("*.css"), *site.rglob("*.svg"), *site.rglob("*.html")]):
        found += [
            f"{file.relative_to(site)}: {text}: another host" for text in _IN_STYLES.findall(file.read_text("utf-8"))
        ]
    return found


def _of_page(file: Path, pages: dict[Path, Page], site: Path) -> Iterator[str]:
    for url, fetched in dict.fromkeys(pages[file].targets):
        parts = urlsplit(url)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            if fetched:
                yield f"{url}: a resource of another host"
            continue
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        if target.is_dir():
            target /= "index.html"
        if not target.is_file() or not target.is_relative_to(site.resolve()):
            yield f"{url}: no such file"
        elif parts.fragment and target in pages and not _has_anchor(pages[target], unquote(parts.fragment)):
            yield f"{url}: no such anchor"


def _has_anchor(page: Page, fragment: str) -> bool:
    """Say whether a page has an anchor; a fragment with ``=`` is text for the playground."""
    return fragment in page.anchors or "=" in fragment
