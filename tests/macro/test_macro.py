"""Lines, macros and bytes: what the submit, configuration and transform languages have in common."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor._files import odd_comment
from crondor.config import read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, render
from crondor.macro import (
    Around,
    Budget,
    InvalidText,
    LineReader,
    LogicalLine,
    MacroError,
    expand,
    expand_defined,
    expand_self,
    source_from_bytes,
)
from crondor.macro.files import Files
from crondor.submit import InvalidSubmit, read_submit

HOSTILE = st.text(alphabet="$():ab. \\\n#=x,DOLAR[]", max_size=60)


def statements(text: str) -> list[LogicalLine]:
    """All logical lines of a text."""
    reader, lines = LineReader(Source(text)), list[LogicalLine]()
    while (line := reader.statement()) is not None:
        lines.append(line)
    return lines


def expanded(text: str, **macros: str) -> str:
    """Expand with the macros given."""
    return expand(text, macros.get, Budget())


def fault(text: str, macros: dict[str, str], budget: Budget | None = None) -> str:
    """Return the code of the error that expansion ends in."""
    with pytest.raises(MacroError) as caught:
        expand(text, macros.get, budget or Budget())
    return caught.value.diagnostics[0].kind


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a = 1\nb = 2\n", ["a = 1", "b = 2"]),
        ("\n  \t\n# a comment\n  # another\n a = 1  \n", ["a = 1"]),
        ("a = 1 # no comment\n", ["a = 1 # no comment"]),
        ("a = 1\r\nb = 2\r\n", ["a = 1", "b = 2"]),
        ("\ufeffa = 1\n", ["a = 1"]),
        ("a = 1,\\\n  2,\\\n 3\n", ["a = 1,2,3"]),
        ("a = 5 \\\n\nb = 6\n", ["a = 5 ", "b = 6"]),
        ("a = \\\r\n  5\r\n", ["a = 5"]),
        ("# a comment \\\na = 8\n", ["a = 8"]),
        ("a = 1,\\\n# 2,\\\n3\n", ["a = 1,3"]),
        ("a = 1\\", ["a = 1\\"]),
        ("a = 1\\\n", ["a = 1"]),
        ("\\\n\\\n", []),
        ("", []),
    ],
)
def test_logical_lines(text: str, lines: list[str]) -> None:
    """A line is joined with its continuations and stripped of blanks, comments and blank lines are left out."""
    assert [line.text for line in statements(text)] == lines


def test_comment_without_backslash_ends_a_continuation_and_leaves_its_last_character() -> None:
    """HTCondor drops a comment inside a continuation but for its last character, and the line tells where."""
    (line,) = statements("a = 1,\\\n# two\n")
    assert line.text == "a = 1,o"
    assert line.swallowed is not None
    assert line.swallowed.text == "# two"


def test_spans_reach_over_continuations() -> None:
    """Each character of a logical line leads back to its own place, a range to one contiguous piece."""
    (line,) = statements("# c\n  minute = 1,\\\n   23\n")
    assert line.text == "minute = 1,23"
    assert line.span(0, 6).text == "minute"
    assert line.span(9).text == "1,\\\n   23"
    assert (line.span(11).line, line.span(11).column, line.span(11).text) == (3, 4, "23")
    assert line.span(13).text == ""


def test_list_lines_keep_blank_lines_and_comments() -> None:
    """The lines of an item list are given as they stand, and a comment there takes part in continuation."""
    reader = LineReader(Source(" a \n\n# c \\\n d\n)\n"))
    lines = []
    while (line := reader.item()) is not None:
        lines.append(line.text)
    assert lines == ["a", "", "# c d", ")"]


@given(st.text(alphabet="a \\\n\r\t#=", max_size=80))
def test_every_character_of_a_line_is_found_in_the_source(text: str) -> None:
    """A logical line's characters are those at their offsets, in ascending order."""
    for line in statements(text):
        offsets = [line.offset(i) for i in range(len(line.text))]
        assert "".join(text[at] for at in offsets) == line.text
        assert offsets == sorted(set(offsets))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no macro", "no macro"),
        ("*/$(m)", "*/4"),
        ("$(M)$(m)", "44"),
        ("[$(undefined)]", "[]"),
        ("$(empty:7) $(none:7) $(m:7)", "7 7 4"),
        ("$(none:1, 2:3\\4)", "1, 2:3\\4"),
        ("$(none:$(m))", "4"),
        ("$(chain)", "<4>"),
        ("$(which$(one))", "yes"),
        ("$$(m) $$([ 1 + 2 ]) $$(x$(m))", "$$(m) $$([ 1 + 2 ]) $$(x4)"),
        ("$(DOLLAR)(m) $(dollar)", "$(m) $"),
        ("${m} $m $ $( $(a b) $(m", "${m} $m $ $( $(a b) $(m"),
        ("$(none:a;b)", "$(none:a;b)"),
        ("$other(m)", "$other(m)"),
        ("$(my.x) $(a/b)", "dot slash"),
        ("$(open)m)", "4"),
        ("$env(m)", "$env(m)"),
    ],
)
def test_expansion(text: str, value: str) -> None:
    """Macros expand as in HTCondor: case does not matter, defaults serve the undefined and the empty."""
    macros = {"m": "4", "empty": "", "chain": "<$(m)>", "one": "1", "which1": "yes", "my.x": "dot", "a/b": "slash"}
    assert expanded(text, open="$(", **macros) == value


@pytest.mark.parametrize(
    ("text", "earlier", "value"),
    [
        ("$(x)5", "4", "45"),
        ("$(X) $(x)", "4", "4 4"),
        ("$(x)y", None, "y"),
        ("$(x:7)", None, "7"),
        ("$(x) $(y) $(DOLLAR) $$(x)", "$(y)", "$(y) $(y) $(DOLLAR) $$(x)"),
        ("$(y:$(x))", "4", "$(y:$(x))"),
        ("$ENV(x)", "4", "$ENV(x)"),
    ],
)
def test_self_reference_takes_the_earlier_text(text: str, earlier: str | None, value: str) -> None:
    """At an assignment only references to the assigned name are replaced, by the text it had until then."""
    assert expand_self(text, "x", earlier, Budget()) == value


def test_cycle_is_an_error_that_shows_the_circle() -> None:
    """A macro that needs itself is named with the way back to it."""
    with pytest.raises(MacroError, match=r"a -> b -> c -> a") as caught:
        expanded("$(a)", a="$(b)", b="x$(c)", c="$(A)")
    assert caught.value.inside == "c"


def test_same_macro_beside_itself_is_no_cycle() -> None:
    """Only a macro inside its own text is a cycle, not one that is used twice or in its own default."""
    assert expanded("$(a)$(b)$(a)", a="1", b="$(a)") == "111"
    assert expanded("$(n:$(n))") == ""


def test_doubling_macros_end_in_an_error() -> None:
    """Exponential growth stops at the size limit, exponential work without growth at the work limit."""
    macros = {f"x{i + 1}": f"$(x{i})$(x{i})" for i in range(60)}
    assert fault("$(x60)", macros | {"x0": "a"}, Budget(size=1000)) == "macro-size"
    assert fault("$(x60)", macros | {"x0": ""}, Budget(work=100_000)) == "macro-work"


def test_deep_nesting_ends_in_an_error() -> None:
    """Neither a long chain of macros nor names within names recurse."""
    macros = {f"x{i + 1}": f"$(x{i})" for i in range(5000)}
    assert fault("$(x5000)", macros) == "macro-depth"
    assert fault("$(x" * 5000 + ")" * 5000, macros) == "macro-depth"
    assert expanded("$(x90)", x0="end", **macros) == "end"


@example("$(x:$(x:", {"x": "$("})
@given(HOSTILE, st.dictionaries(st.sampled_from(["a", "b", "x", "ab", ""]), HOSTILE))
def test_expansion_is_bounded(text: str, macros: dict[str, str]) -> None:
    """Whatever the texts, expansion ends within its size or with a MacroError."""
    with suppress(MacroError):
        assert len(expand(text, macros.get, Budget(work=200_000, size=5000))) <= 5000
    with suppress(MacroError):
        assert len(expand_self(text, "x", macros.get("x"), Budget(work=200_000, size=5000))) <= 5000


def test_utf8_is_read_with_and_without_mark() -> None:
    """Text comes through unchanged, a byte order mark included."""
    assert source_from_bytes("# Jäger\n".encode(), "a.sub").text == "# Jäger\n"
    assert source_from_bytes("a = 1".encode("utf-8-sig"), "a.sub").text == "\ufeffa = 1"


@pytest.mark.parametrize(
    ("data", "code", "word"),
    [
        ("a = 1\n".encode("utf-16"), "not-utf8", "UTF-16"),
        ("a = 1\n".encode("utf-32"), "not-utf8", "UTF-32"),
        (b"a = 1\nb = \0\n", "not-text", "NUL"),
        (b"a = 1\nb = J\xe4ger\n", "not-utf8", "0xe4"),
        (b"x" * 101, "too-large", "larger than 100 bytes, and crondor reads no more"),
    ],
)
def test_what_is_no_text_is_said_in_one_sentence(data: bytes, code: str, word: str) -> None:
    """Bytes that are not UTF-8 text, or too many, give one diagnostic with the file's name."""
    with pytest.raises(InvalidText) as caught:
        source_from_bytes(data, "a.sub", limit=100)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == code
    assert word in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.span.source.name == "a.sub"


def test_a_bad_byte_is_shown_in_its_line() -> None:
    """The place of a byte that is not UTF-8 is its line and column, however long the file."""
    with pytest.raises(InvalidText) as caught:
        source_from_bytes(b"a = 1\n" * 5000 + b"b = J\xe4ger\n", "a.sub")
    assert "a.sub:5001:6: error" in render(caught.value.diagnostics[0])


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    """Any bytes give a source or a CrondorError."""
    with suppress(CrondorError):
        assert source_from_bytes(data, "x", limit=150).text.encode() == data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$(DOLLAR)$(DOLLAR)", "$$(DOLLAR)"),  # the first makes the second look like a double one
        ("$(DOLLAR)(DOLLAR)!", "$!"),
        ("$(DOLLAR)x$(DOLLAR)", "$x$"),
        ("$(DOLLAR)(b)", "$(b)"),
        ("$(A:$(b:$(l) \u00e4 :)$(b))", "$(b:1 \u00e4 :)foo"),  # a default that may be one once its inside is expanded
    ],
)
def test_a_text_is_read_anew_after_each_replacement(text: str, value: str) -> None:
    """As htcondor2 25.14.1 does it."""
    assert expanded(text, b="foo", l="1") == value


@pytest.mark.parametrize(
    ("text", "lines"), [("a = x\\\\\n\nqueue\n", ["a = xqueue"]), ("a = x\\\\\n \n\nb\n", ["a = x", "b"])]
)
def test_a_backslash_before_a_blank_line_continues_once_more(text: str, lines: list[str]) -> None:
    """HTCondor looks at the end of all it has joined."""
    assert [line.text for line in statements(text)] == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(a) $(none) $(none:d)", "1 $(none) $(none:d)"),
        ("$(outer)", "[1 $(none)]"),
        ("$(empty:d) $(DOLLAR) $$(a) $$([b])", "$(empty:d) $(DOLLAR) $$(a) $$([b])"),
        ("$INT(a) $INT(none) $INT(3) $Fn(none)", "1 $INT(none) $INT(3) $Fn(none)"),
        ("$(a$(none)) $($(name))", "$(a$(none)) 1"),
        ("$ENV(HOME) $ENV(NOPE)", "/root UNDEFINED"),
    ],
)
def test_what_is_not_defined_can_stay(text: str, expected: str) -> None:
    """The body of a transform keeps the macros that the submit file does not define, for the schedd to read."""
    macros = {"a": "1", "outer": "[$(a) $(none)]", "empty": "", "name": "a"}
    assert expand_defined(text, macros.get, Budget(), Around(environ={"HOME": "/root"})) == expected


# Bytes that are no UTF-8


@pytest.mark.parametrize("text", [b"# caf\xe9\na = 1\n", b"a = 1\n  # caf\xe9 \xfc\r\n", b"a = 1\n#\xe9"])
def test_a_comment_may_hold_any_bytes(text: bytes) -> None:
    """They stay as they are, and one warning tells of the first."""
    source = source_from_bytes(text, "job.sub")
    assert source.text.encode("utf-8", "surrogateescape") == text
    found = odd_comment(source)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "byte 0xe9" in found.message


@pytest.mark.parametrize(
    "text", [b"a = caf\xe9\n", b"a = b \\\n# caf\xe9\n c\n", b"a = b \\\r\n# \xe9\r\n", b"# ok\na # \xe9\n"]
)
def test_a_value_may_not(text: bytes) -> None:
    """Nor what may be a part of one: HTCondor joins some comments to a continued line."""
    with pytest.raises(InvalidText, match="byte 0xe9 does not belong here"):
        source_from_bytes(text, "job.sub")


def test_text_has_no_odd_comment() -> None:
    """Letters beyond ASCII are none."""
    assert odd_comment(source_from_bytes("# café\n".encode(), "job.sub")) is None


_NAMES = ("ax", "bx", "cx")
_INCLUDED = {
    "one.inc": "ax = 1 $(dx)\n",
    "two.inc": "if defined cx\n  bx = two\nelse\n  include : one.inc\nendif\n",
    "open.inc": "if true\nax = open\n",
}
_LINES = st.sampled_from(
    [
        *("ax = 1", "bx = $(ax) b", "cx = $(ax) $(bx)", "ax += 2", "bx +=, 3", "cx = $(cx) again", "ax =", "Bx = B"),
        *(
            "if true",
            "if false",
            "if defined ax",
            "if ! defined bx",
            "if version >= 8.1",
            "if $(ax)",
            "if ax b",
            "If 0",
        ),
        *("elif true", "elif defined cx", "elif a == b", "else", "ELSE", "endif", ":if 1", "if ax b"),
        ":if 0\nax = 0\n:else\nbx = 1\n:endif",
        *("include : one.inc", "include : two.inc", "include : open.inc", "include : none.inc", "include : $(ax).inc"),
        *("include ifexist : none.inc", "include ifexist : $(none)", "include here : one.inc"),
        *("cx @=end\n  l1 $(ax)\n\n# no\nl2\n@end", "bx @=x\nl\n@X", "error : $(ax) is wrong", "warning : $(bx)!"),
        *("# a comment", "", "ax = 1 \\\n  2", "  cx = indented"),
    ]
)


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("included")
    for name, text in _INCLUDED.items():
        (folder / name).write_text(text)
    return folder


def _said(found: tuple[Diagnostic, ...]) -> list[tuple[Severity, str, str]]:
    """Return what a language says, without the codes and the program it names, which are its own."""
    return sorted((each.severity, str(each.span and each.span.location), each.message) for each in found)


def _of_config(text: str, folder: Path) -> tuple[list[tuple[Severity, str, str]], dict[str, str] | None]:
    made = read_config(Source(text, "f"), files=Files([str(folder)], base=str(folder)), base={})
    faults = tuple(each for each in made.diagnostics if each.severity is Severity.ERROR)
    return _said(faults), None if faults else {name: made.expand(f"$({name})") for name in _NAMES}


def _of_submit(text: str, folder: Path) -> tuple[list[tuple[Severity, str, str]], dict[str, str] | None]:
    try:
        made = read_submit(Source(text, "f"), files=Files([str(folder)], base=str(folder)))
    except InvalidSubmit as error:
        return _said(error.diagnostics), None
    (group,) = made.groups(_NAMES)
    return [], {name: group.values.get(name, "") for name in _NAMES}


@given(lines=st.lists(_LINES, max_size=9))
def test_both_languages_read_the_same(folder: Path, lines: list[str]) -> None:
    """Conditionals, includes and values of several lines leave the same macros, or the same errors in a place."""
    text = "".join(f"{line}\n" for line in ("executable = x", *lines))
    assert _of_submit(text, folder) == _of_config(text, folder)
