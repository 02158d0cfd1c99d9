"""Where a line ends: at a line feed, for whoever tells a line's number; not at a form feed, nor at U+2028."""

from pathlib import Path

import pytest

from crondor._toml import TomlPlaces
from crondor.classad import ClassAdSyntaxError
from crondor.classad.ad import ClassAd
from crondor.classad.formats.reading import read_ad
from crondor.diagnostics import Source
from crondor_cli.hook.run import ad_lines

ROOT = Path(__file__).parents[2]
ODD = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
OWN = {  # whose texts are this project's own, or come without a number
    "cli/crondor_cli/kit/command.py",
    "crondor/knowledge/words.py",
}


@pytest.mark.parametrize("odd", ODD)
def test_a_line_feed_alone_ends_a_line(odd: str) -> None:
    """In TOML, in ads that are read, and in those that are shown."""
    source = Source(f'a = "x{odd}b = 3"\nb = 4\n')
    assert TomlPlaces(source).key("b").location == "<text>:2:1"
    with pytest.raises(ClassAdSyntaxError) as refused:
        read_ad(f'A = "x{odd}y"\n\nA = 2\n')
    span = refused.value.diagnostics[0].span
    assert span is not None
    assert span.location == "<text>:3:1"
    assert ad_lines(ClassAd({"A": f"x{odd}y", "B": 1})) == [f'A = "x{odd}y"', "B = 1"]


def test_nothing_else_cuts_lines_as_python_does() -> None:
    """``lines_of`` is the one place that cuts a text into lines."""
    found = {
        str(path.relative_to(ROOT))
        for folder in ("crondor", "cli/crondor_cli")
        for path in (ROOT / folder).rglob("*.py")
        if "splitlines(" in path.read_text(encoding="utf-8")
    }
    assert found == OWN
