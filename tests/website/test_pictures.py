"""The pictures of the documentation: they are what is drawn today, and each can be read by everybody."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from website.pictures import FOLDER, PICTURES

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn_today(name: str) -> None:
    """Moments, agenda and simulation as library and commands compute them; `make pictures` draws them anew."""
    assert (FOLDER / f"{name}.svg").read_text("utf-8") == PICTURES[name]()


def test_no_picture_is_without_a_page_and_none_drawn_by_hand() -> None:
    """Each file has its function, and stands on a page, with words for those who do not see it."""
    assert {file.stem for file in FOLDER.iterdir()} == {*PICTURES}
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    shown = dict(re.findall(r"!\[([^\]]*)\]\((?:\.\./)*pictures/(\w+)\.svg\)", pages))
    assert {*shown.values()} == {*PICTURES}
    assert all(len(words) > 40 for words in shown)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_shows_and_keeps_within_its_frame(name: str) -> None:
    """Title and description; no text begins or ends outside; light and dark."""
    root = ET.fromstring((FOLDER / f"{name}.svg").read_text("utf-8"))  # noqa: S314 - our own file
    title, description = (root.find(f"{SVG}{part}") for part in ("title", "desc"))
    assert title is not None
    assert description is not None
    assert len(description.text or "") > 80
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for each in root.iter(f"{SVG}text"):
        assert 0 < float(each.get("x", "nan")) < width
        assert 0 < float(each.get("y", "nan")) < height
    assert "prefers-color-scheme: dark" in "".join(root.itertext())
