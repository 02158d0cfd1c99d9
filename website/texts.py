"""The pages as Markdown beside the HTML, and their list in llms.txt, for language models (llmstxt.org)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from website.staging import DeadLink

_FRONT = re.compile(r"\A---\n.*?\n---\n\s*", re.DOTALL)
_TREE = re.compile(
    r"```\{toctree\}\n(?::caption: (?P<caption>[^\n]*)\n)?(?::hidden:\n)?\n?(?P<pages>.*?)```\n?", re.DOTALL
)
_BLOCK = re.compile(r"^( *(?:```+|~~~+).*?^ *(?:```+|~~~+) *$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<to>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")


def write_texts(gathered: Path, site: Path) -> None:
    """Write all into a built site. Raises DeadLink for a link that leads nowhere there."""
    index = (gathered / "index.md").read_text("utf-8")
    pages = {file.relative_to(gathered): _plain(file) for file in sorted(gathered.rglob("*.md"))}
    pages = {path: text for path, text in pages.items() if (site / path.with_suffix(".html")).is_file()}
    for picture in (file for file in gathered.rglob("*") if file.suffix in {".svg", ".png"}):
        target = site / picture.relative_to(gathered)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)
    for path, text in pages.items():
        lead = partial(_led, path=path, pages=pages)
        parts = _BLOCK.split(text)
        parts[::2] = [_LINK.sub(lead, part) for part in parts[::2]]
        (site / path).write_text("".join(parts), encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(_index(index, pages)), encoding="utf-8")
    for path in (*pages, Path("llms.txt")):
        for link in _LINK.finditer(re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", (site / path).read_text("utf-8")))):
            if not (site / path.parent / link["to"]).exists():
                raise DeadLink(f"{path}: {link['to']}")


def _plain(file: Path) -> str:
    """Return the Markdown of a page without what is meant for Sphinx."""
    return _TREE.sub("", _FRONT.sub("", file.read_text("utf-8"))).rstrip() + "\n"


def _led(link: re.Match[str], path: Path, pages: dict[Path, str]) -> str:
    """Return a link to the Markdown of a page, or to its HTML if there is no other."""
    to = Path(os.path.normpath(path.parent / link["to"]))
    if to.suffix not in {".md", ".rst"} or to in pages:
        return link[0]
    return f"[{link['text']}]({link['to'].rpartition('.')[0]}.html{link['anchor'] or ''})"


def _index(index: str, pages: dict[Path, str]) -> Iterator[str]:
    title, summary, *_ = index.split("\n\n")
    yield from (title, "", f"> {' '.join(summary.split()).replace('**', '')}")
    for tree in _TREE.finditer(index):
        yield from ("", f"## {tree['caption']}", "")
        for name in tree["pages"].split():
            text = pages.get(Path(f"{name}.md"))
            if text is not None:
                about = _about(text)
                yield f"- [{text.partition(chr(10))[0].lstrip('# ')}]({name}.md)" + (f": {about}" if about else "")
    yield ""


def _about(text: str) -> str:
    """Return the first sentence of a page, without links; empty if it begins with something else."""
    _, *paragraphs = text.split("\n\n")
    first = _LINK.sub(lambda link: link["text"], " ".join(next(filter(str.strip, paragraphs), "").split()))
    if re.match(r"[#|>\-!<\[]|```", first):
        return ""
    return re.sub(r"(?<=\.) .*", "", first).rstrip(":")
