"""One shape for all findings, and how it is shown: place, message, the underlined line, help."""

import copy
import pickle
from dataclasses import replace

import pytest

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, printable, render, shortened


def find(text: str, piece: str, name: str = "job.sub") -> Span:
    """Return the span of a piece inside a text."""
    at = text.index(piece)
    return Source(text, name).span(at, at + len(piece))


def excerpt(span: Span) -> list[str]:
    """Return the two lines that show the source, without the gutter."""
    line, marks = render(Diagnostic("code", "message", span=span)).split("\n")[1:3]
    assert line.index("|") == marks.index("|")
    at = line.index("|") + 2
    return [line[at:], marks[at:]]


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("0,5,10,15,20,25,30,35,40", 11, "0,5,10,15,..."),
        ("0,5,10,15,20,25,30,35,40", 12, "0,5,10,15,20..."),
        ("a long sentence of words", 10, "a long..."),
        ("1234567890123456", 10, "1234567890..."),
        ("1234567890123", 10, "1234567890123"),
    ],
)
def test_a_long_text_is_cut_after_a_whole_word_or_number(text: str, most: int, expected: str) -> None:
    """What is longer by less than the dots stays whole, and one word alone is cut where it has to be."""
    assert shortened(text, most) == expected


def test_a_diagnostic_is_shown_as_compilers_show_it() -> None:
    """Place, severity, message and code stand in the first line; then the line underlined; then the help."""
    text = "executable = job\ncron_minute = 61\n"
    found = Diagnostic("cron-range", "minute 61 is out of range", span=find(text, "61"), help="write 0 to 59")
    assert render(found).split("\n") == [
        "job.sub:2:15: error: minute 61 is out of range [CRN101]",
        "   2 | cron_minute = 61",
        "     |               ^^",
        "    = help: write 0 to 59",
    ]


def test_a_diagnostic_without_a_place_is_one_line() -> None:
    """Where nothing was written there is nothing to underline."""
    assert render(Diagnostic("cron-none", "no field", Severity.WARNING)) == "warning: no field [CRN115]"


@pytest.mark.parametrize("severity", list(Severity))
def test_the_severity_is_named(severity: Severity) -> None:
    """An error, a warning and a note begin with that word."""
    assert render(Diagnostic("c", "m", severity)) == f"{severity.value}: m [c]"


@pytest.mark.parametrize(
    ("text", "piece", "line", "marks"),
    [
        pytest.param("hour = 24", "24", "hour = 24", "       ^^", id="plain"),
        pytest.param("x\r\nhour = 24\r\n", "24", "hour = 24", "       ^^", id="CRLF"),
        pytest.param("\thour\t=\t24", "24", " hour = 24", "        ^^", id="a tab is one blank"),
        pytest.param("\u65e5\u672c 24", "24", "\u65e5\u672c 24", "     ^^", id="wide characters before take two"),
        pytest.param("a \u65e5\u672c b", "\u65e5\u672c", "a \u65e5\u672c b", "  ^^^^", id="wide characters underlined"),
        pytest.param("e\u0301 24", "24", "e\u0301 24", "  ^^", id="a combining accent takes none"),
        pytest.param("a\x1b[31m24", "24", "a\\x1b[31m24", "         ^^", id="escape sequence before"),
        pytest.param("1\x002", "\x00", "1\\x002", " ^^^^", id="NUL underlined as it is written"),
        pytest.param("1\u202e2", "\u202e", "1\\u202e2", " ^^^^^^", id="right-to-left override"),
        pytest.param("1\ud8002", "\ud800", "1\\ud8002", " ^^^^^^", id="lone surrogate"),
        pytest.param("1\xa05", "\xa0", "1\\xa05", " ^^^^", id="no-break space"),
    ],
)
def test_the_underline_stands_below_the_piece(text: str, piece: str, line: str, marks: str) -> None:
    """The marks stand in the terminal columns of the piece, whatever stands before it or in it."""
    assert excerpt(find(text, piece)) == [line, marks]


def test_an_empty_piece_has_one_mark() -> None:
    """A place between two characters or at a line's end is still shown; an empty text has nothing to show."""
    assert excerpt(Source("ab").span(1, 1)) == ["ab", " ^"]
    assert excerpt(Source("ab\ncd").span(2, 2)) == ["ab", "  ^"]
    assert excerpt(Source("ab").span(2)) == ["ab", "  ^"]
    assert excerpt(Source("ab\n\ncd").span(3, 3)) == ["", "^"]
    assert render(Diagnostic("c", "m", span=Source("", "minute").span())) == "minute:1:1: error: m [c]"


def test_a_piece_over_several_lines_is_underlined_on_its_first() -> None:
    """A continued value is shown where it begins."""
    text = "cron_minute = 1, \\\n 2, \\\n 99\ncron_hour = 5"
    assert excerpt(Source(text).span(14, 28)) == ["cron_minute = 1, \\", "              ^^^^"]


def test_a_long_line_is_shown_around_the_piece_only() -> None:
    """60 characters on either side serve; dots say that there is more."""
    text = "1," * 1000 + "61" + ",2" * 1000
    line, marks = excerpt(find(text, "61"))
    assert line == "..." + "1," * 30 + "61" + ",2" * 30 + "..."
    assert marks == " " * 63 + "^^"


def test_a_long_piece_is_underlined_so_far() -> None:
    """A 4,000-character piece fills no screen."""
    line, marks = excerpt(Source("7" * 4000).span())
    assert (line, marks) == ("7" * 140 + "...", "^" * 80)


def test_the_line_number_fits_in_the_gutter() -> None:
    """Numbers of five digits push line and marks alike."""
    lines = render(Diagnostic("c", "m", span=find("\n" * 12344 + "hour = 24", "24"))).split("\n")
    assert lines[1:] == ["12345 | hour = 24", "      |        ^^"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain \u65e5 \xe4 \U0001f600", "plain \u65e5 \xe4 \U0001f600"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("\x07\x1b\x7f\x9b", "\\x07\\x1b\\x7f\\x9b"),
        ("\u200b\ufeff\u2066", "\\u200b\\ufeff\\u2066"),
        ("\udcff", "\\xff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_nothing_a_terminal_acts_on_is_printed(text: str, shown: str) -> None:
    """Control, format and surrogate characters become escapes; letters of any script stay."""
    assert printable(text) == shown


def test_a_hostile_text_cannot_paint_the_screen() -> None:
    """File name, message, line and help are all made harmless, and the whole can be encoded."""
    bad = "\x1b]0;owned\x07\u202e\ud800"
    shown = render(Diagnostic("c", bad, span=Source(bad, bad).span(), help=bad))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert shown.encode("utf-8")


def test_an_error_shows_all_of_its_diagnostics_in_order() -> None:
    """Several faults are several excerpts, one below the other."""
    text = "61 24 * * *"
    faults = [Diagnostic("a", "first", span=find(text, "61")), Diagnostic("b", "second", span=find(text, "24"))]
    error = CrondorError(faults)
    assert error.diagnostics == tuple(faults)
    assert str(error).split("\n") == [
        "job.sub:1:1: error: first [a]",
        "   1 | 61 24 * * *",
        "     | ^^",
        "job.sub:1:4: error: second [b]",
        "   1 | 61 24 * * *",
        "     |    ^^",
    ]


def test_an_error_takes_one_diagnostic_as_well() -> None:
    """One fault needs no list, and any iterable serves for several."""
    fault = Diagnostic("a", "only")
    assert CrondorError(fault).diagnostics == CrondorError(iter([fault])).diagnostics == (fault,)


def test_an_error_survives_copy_and_pickle() -> None:
    """A worker process can hand its error back with everything in it."""
    error = CrondorError([Diagnostic("a", "first", span=find("hour = 24", "24"), help="h", fix="0")])
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert isinstance(twin, CrondorError)
        assert str(twin) == str(error)


def test_a_diagnostic_never_changes() -> None:
    """A finding is a value: immutable and comparable."""
    found = Diagnostic("a", "m")
    assert found == Diagnostic("a", "m") != Diagnostic("a", "m", Severity.NOTE)
    with pytest.raises(AttributeError):
        found.kind = "b"  # type: ignore[misc]


class TestRelocation:
    """A finding about a value becomes a finding about the place in the file that the value came from."""

    FILE = "executable = job\ncron_minute = 5, 61\nm = 61\ncron_hour = $(m)\n"

    def test_a_value_written_as_it_is_keeps_its_piece(self) -> None:
        """Where the file says the same text the same characters are underlined, in the file."""
        found = Diagnostic("cron-range", "minute 61", span=find("5, 61", "61", "minute"), help="h", fix="0")
        moved = found.relocated(find(self.FILE, "5, 61"))
        assert moved.span is not None
        assert (moved.span.location, moved.span.text) == ("job.sub:2:18", "61")
        assert moved == replace(found, span=moved.span)

    def test_a_value_made_by_a_macro_is_underlined_as_a_whole_and_named(self) -> None:
        """The file shows $(m), so the message says what came of it; a replacement would hit the wrong text."""
        found = Diagnostic("cron-range", "hour 61", span=find("61", "61", "hour"), fix="0", help="h")
        moved = found.relocated(find(self.FILE, "$(m)"))
        assert moved.span is not None
        assert (moved.span.location, moved.span.text) == ("job.sub:4:13", "$(m)")
        assert (moved.message, moved.fix, moved.help) == ("hour 61 (the value is '61')", None, "h")

    def test_a_finding_without_a_piece_takes_the_whole_place(self) -> None:
        """What concerns the value as such underlines all of it."""
        place = find(self.FILE, "5, 61")
        assert Diagnostic("a", "m").relocated(place) == Diagnostic("a", "m", span=place)

    def test_a_long_value_is_named_by_its_beginning(self) -> None:
        """A macro of 4,000 characters makes no message of 4,000 characters."""
        moved = Diagnostic("a", "m", span=Source("1" * 4000).span()).relocated(find(self.FILE, "$(m)"))
        assert moved.message == f"m (the value is '{'1' * 60}...')"

    def test_control_characters_of_a_value_are_named_once_escaped(self) -> None:
        """An escape in the message is the escape itself, not an escaped escape."""
        moved = Diagnostic("a", "m", span=Source("5\x1b").span()).relocated(find(self.FILE, "$(m)"))
        assert "5\\x1b'" in render(moved)
        assert "\\\\x1b" not in render(moved)


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
