"""A picture of the documentation as SVG: few shapes, light and dark by itself, legible on a phone."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import NamedTuple

WIDTH = 420  # of every picture: 15 px of text are 10 on a phone of 320
_STYLE = (Path(__file__).parent / "drawing.css").read_text("utf-8")


class Point(NamedTuple):
    """A place in the picture, in pixels from its upper left corner."""

    x: float
    y: float


def picture(title: str, description: str, height: int, shapes: Iterable[str]) -> str:
    """Return the file; a screen reader says title and description."""
    body = "\n".join(f"  {shape}" for shape in shapes)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t d">
  <title id="t">{escape(title)}</title>
  <desc id="d">{escape(description)}</desc>
  <style>
{_STYLE}</style>
  <rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>
{body}
</svg>
"""


def text(at: Point, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Return a line of text: ``anchor`` says which part of it stands at the place."""
    return f'<text x="{at.x:g}" y="{at.y:g}" text-anchor="{anchor}"{_kind(kind)}>{escape(words)}</text>'


def bar(at: Point, width: float, height: float, kind: str, hint: str = "") -> str:
    """Return a filled rectangle, with words to show when it is pointed at."""
    told = f"<title>{escape(hint)}</title>" if hint else ""
    size = f'x="{at.x:g}" y="{at.y:g}" width="{width:g}" height="{height:g}"'
    return f"<rect{_kind(kind)} {size}>{told}</rect>" if told else f"<rect{_kind(kind)} {size}/>"


def box(at: Point, width: float, lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return a box with lines of text, each with its kind; 20 px a line."""
    rows = list(lines)
    height = 20 * len(rows) + 12
    frame = f'<rect class="box" rx="6" x="{at.x:g}" y="{at.y:g}" width="{width:g}" height="{height:g}"/>'
    middle = at.x + width / 2
    return [frame, *(text(Point(middle, at.y + 20 + 20 * row), words, kind) for row, (words, kind) in enumerate(rows))]


def arrow(begin: Point, end: Point) -> list[str]:
    """Return an arrow that goes straight down or to one side."""
    if begin.x == end.x:
        tip = f"M{end.x - 4:g} {end.y - 7:g}h8l-4 7z"
        return [f'<path class="line" d="M{begin.x:g} {begin.y:g}V{end.y - 6:g}"/>', f'<path class="tip" d="{tip}"/>']
    way = 1 if end.x > begin.x else -1
    tip = f"M{end.x - 7 * way:g} {end.y - 4:g}v8l{7 * way} -4z"
    return [f'<path class="line" d="M{begin.x:g} {begin.y:g}H{end.x - 6 * way:g}"/>', f'<path class="tip" d="{tip}"/>']


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
