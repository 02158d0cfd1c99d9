"""A text with a name, and a piece of it: lines, columns and pieces of pieces."""

import copy
import pickle

import pytest

from crondor.diagnostics import Source, Span

TEXT = "executable = job\ncron_minute = 5\n\ncron_hour = *"


@pytest.mark.parametrize(
    ("offset", "position"),
    [
        (0, (1, 1)),
        (15, (1, 16)),
        (16, (1, 17)),  # the line end itself belongs to its line
        (17, (2, 1)),
        (33, (3, 1)),  # an empty line
        (34, (4, 1)),
        (len(TEXT), (4, 14)),  # one past the last character
    ],
)
def test_an_offset_has_a_line_and_a_column_from_one(offset: int, position: tuple[int, int]) -> None:
    """Lines and columns count from 1, columns in characters."""
    assert Source(TEXT).position(offset) == position


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b", ""]),
        ("\n\n", ["", "", ""]),
        ("a\rb", ["a\rb"]),  # a lone carriage return ends no line
        ("a\u2028b\x0bc\x0cd\x85e", ["a\u2028b\x0bc\x0cd\x85e"]),  # nor does what only str.splitlines() splits at
    ],
)
def test_a_line_is_given_without_its_end(text: str, lines: list[str]) -> None:
    """Lines end with LF or CRLF and nothing else; the last one needs no end."""
    source = Source(text)
    assert [source.line(number) for number in range(1, len(lines) + 1)] == lines


def test_lines_and_columns_agree_whatever_the_line_end() -> None:
    """A file saved with CRLF has the same lines and columns as one with LF."""
    for end in ("\n", "\r\n"):
        source = Source(f"first{end}second{end}third")
        at = source.text.index("third")
        assert source.position(at + 2) == (3, 3)
        assert source.line(3) == "third"


def test_columns_count_characters_and_not_bytes() -> None:
    """A wide, an accented and an astral character take one column each."""
    assert Source("\u65e5\xe4\U0001f600x").position(3) == (1, 4)


def test_a_span_names_its_place() -> None:
    """The location is written as editors and compilers write it."""
    span = Source(TEXT, "job.sub").span(31, 32)
    assert (span.text, span.line, span.column, span.location) == ("5", 2, 15, "job.sub:2:15")


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (0, None, "abc"),
        (1, None, "bc"),
        (1, 2, "b"),
        (-5, 2, "ab"),
        (2, 99, "c"),
        (3, 3, ""),
        (2, 1, ""),
        (9, None, ""),
    ],
)
def test_a_span_stays_inside_its_source(start: int, end: int | None, text: str) -> None:
    """Offsets beyond the text are moved to its nearest end, and an end before the start is an empty piece."""
    assert Source("abc").span(start, end).text == text


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [(0, None, "bcd"), (1, None, "cd"), (1, 2, "c"), (-1, 1, "b"), (0, 99, "bcd"), (2, 1, ""), (7, 9, "")],
)
def test_a_part_stays_inside_its_span(start: int, end: int | None, text: str) -> None:
    """Offsets of a part count from the span's beginning and never leave it."""
    assert Source("abcde").span(1, 4).part(start, end).text == text


def test_a_part_keeps_its_place_in_the_source() -> None:
    """A part of a part is still found in the whole text."""
    part = Source(TEXT, "job.sub").span(17, 32).part(5).part(1, 4)
    assert (part.text, part.location) == ("inu", "job.sub:2:7")


def test_equal_texts_in_two_files_are_two_places() -> None:
    """A source is its name and its text: one that was read twice is the same place."""
    source, other = Source("5", "a.sub"), Source("5", "b.sub")
    assert source.span() == source.span(0, 1) == Source("5", "a.sub").span()
    assert source.span() != other.span()
    assert len({source.span(), source.span(0, 1), other.span()}) == 2


def test_a_span_never_changes() -> None:
    """A span is immutable."""
    span = Source("abc").span()
    with pytest.raises(AttributeError):
        span.start = 1  # type: ignore[misc]


def test_asking_for_a_place_does_not_change_a_source() -> None:
    """What a source remembers about its lines shows nowhere."""
    source = Source("a\nb", "x")
    before = repr(source)
    assert source.position(2) == (2, 1)
    assert repr(source) == before


def test_a_span_survives_copy_and_pickle() -> None:
    """An error can be sent to another process with its place."""
    span = Source(TEXT, "job.sub").span(31, 32)
    for twin in (copy.deepcopy(span), pickle.loads(pickle.dumps(span))):  # noqa: S301 - our own bytes
        assert isinstance(twin, Span)
        assert (twin.text, twin.location) == (span.text, span.location)


def test_places_in_a_long_text_are_cheap() -> None:
    """Line starts are found once: a hundred thousand lookups in a large file stay a matter of moments."""
    source = Source("line\n" * 100_000)
    assert sum(source.position(offset)[1] for offset in range(0, 500_000, 5)) == 100_000
