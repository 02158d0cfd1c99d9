"""Places as the protocol counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from crondor_cli.lsp.answers import Positions

TEXTS = st.text(st.sampled_from("a é𝄞\n\r\x0c\u2028\x85\t\ud800"), max_size=30)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@given(TEXTS, ENCODINGS)
def test_an_offset_is_found_again(text: str, encoding: str) -> None:
    """But for the one between CR and LF, which is no place."""
    places = Positions(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n" or not offset:
            assert places.offset(places.position(offset)) == offset


@given(TEXTS, ENCODINGS)
def test_a_column_counts_units(text: str, encoding: str) -> None:
    """Those of the line before it, encoded."""
    places = Positions(text, encoding)
    codec, size = CODECS[encoding]
    for offset in range(len(text) + 1):
        position = places.position(offset)
        before = text[places.line_start(position.line) : min(offset, places.line_end(position.line))]
        assert position.character == len(before.encode(codec, "surrogatepass")) // size


@pytest.mark.parametrize(
    ("line", "column", "offset"), [(0, 99, 2), (1, 0, 4), (1, 99, 5), (2, 0, 6), (9, 0, 6), (0, 1, 0), (0, 2, 1)]
)
def test_a_place_behind_an_end_is_that_end(line: int, column: int, offset: int) -> None:
    """And one inside a character is before it."""
    assert Positions("𝄞a\r\nb\r", "utf-16").offset(Position(line, column)) == offset
