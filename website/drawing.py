"""A picture of the documentation as SVG: few shapes, light and dark by itself, legible on a phone."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

WIDTH = 420  # of every picture: 13 px of text are 10 on a phone of 320
_STYLE = """
    svg { color-scheme: light dark }
    .ground { fill: #ffffff; stroke: #d3dae2 } text { fill: #1b2430; font: 13px system-ui, 'DejaVu Sans', sans-serif }
    .strong { font-weight: 600 } .small { font-size: 12px } .quiet { fill: #52606d } .code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace }
    .line { stroke: #52606d; stroke-width: 1.5; fill: none } .tip { fill: #52606d } .box { fill: #f5f7fa; stroke: #9aa5b1 }
    .wait { fill: #bcd7f5 } .go { fill: #bfe5c8 } .late { fill: #f8e0a8 } .bad { fill: #f6cfc9 } .early { fill: #dbe9fa }
    .l0 { fill: #e9edf1 } .l1 { fill: #b9dcc4 } .l2 { fill: #74bd8c } .l3 { fill: #37915a } .l4 { fill: #17633a } text.over { fill: #ffffff }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #12171e; stroke: #35404d } text { fill: #e4e9ef } .quiet { fill: #a3b0bd }
      .line { stroke: #a3b0bd } .tip { fill: #a3b0bd } .box { fill: #1b222c; stroke: #52606d }
      .wait { fill: #24507f } .go { fill: #245c36 } .late { fill: #6b5316 } .bad { fill: #7a2f29 } .early { fill: #1b3451 }
      .l0 { fill: #232c37 } .l1 { fill: #1d4a30 } .l2 { fill: #2b7347 } .l3 { fill: #45a368 } .l4 { fill: #86dba3 } text.over { fill: #12171e }
    }
"""


class Point(NamedTuple):
    """A place in the picture, in pixels from its upper left corner."""

    x: float
    y: float


def picture(title: str, description: str, height: int, shapes: Iterable[str]) -> str:
    """Return the file; a screen reader says title and description."""
    body = "\n".join(f"  {shape}" for shape in shapes)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-labelledby="t d">
  <title id="t">{escape(title)}</title>
  <desc id="d">{escape(description)}</desc>
  <style>{_STYLE}  </style>
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
