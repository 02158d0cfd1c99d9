"""Old tables that nobody should have written: no traceback, no hang, no memory without bound."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router import load_table
from crondor.router.legacy import (
    ConversionMode,
    Macros,
    NewTable,
    convert_as_tool,
    convert_table,
    legacy_routes,
    read_legacy,
)
from tests.examples import examples

SLOWEST = 20.0  # seconds of the processor


def _all(text: str) -> NewTable:
    """Read and convert a table of entries in every way."""
    source = Source(f"JOB_ROUTER_ENTRIES @=jre\n{text}\n@jre\n", "hostile")
    made = None
    for macros in Macros:
        made = convert_table(read_legacy(source, macros=macros))
        read_config(str(made))
    for mode in ConversionMode:
        str(convert_as_tool(source, mode=mode))
    legacy_routes(read_legacy(source))
    assert made is not None
    return made


HOSTILE = {
    "brackets": "[" * 6_000,
    "closed brackets": "[" * 2_000 + "]" * 2_000,
    "closing brackets": "]" * 100_000,
    "open ads": "[ a = 1; " * 1_200,
    "words": "word " * 40_000,
    "words and brackets": "x[" * 20_000,
    "a quote without end": '[ Name = "a" ] [ Name = "' + "x" * 200_000,
    "a comment without end": "[ a = 1 ] /*" + " " * 200_000,
    "parentheses": "[ Name = " + "(" * 20_000 + "1" + ")" * 20_000 + " ]",
    "lists": "[ x = " + "{" * 10_000 + "}" * 10_000 + " ]",
    "a long sum": '[ Name = "r"; y = 1; eval_set_x = ' + "y + " * 1_000 + "TARGET.z ]",
    "a deep ternary": '[ Name = "r"; eval_set_x = ' + "TARGET.a ? 1 : " * 400 + "2 ]",
    "a circle": '[ Name = "r"; a = b; b = a; eval_set_x = a + TARGET.y; Requirements = b; MaxJobs = a ]',
    "doubling": '[ Name = "r"; '
    + "".join(f"a{n} = TARGET.x + a{n - 1} + a{n - 1}; " for n in range(1, 40))
    + "a0 = TARGET.q; eval_set_x = a39; Requirements = a39 > 1 ]",
    "many attributes": '[ Name = "r"; ' + "".join(f"a{n} = {n}; " for n in range(2_000)) + "]",
    "many routes": "".join(f'[ Name = "r{n}"; Requirements = true ]\n' for n in range(300)),
    "one name": '[ Name = "r" ]' * 400,
    "colliding names": "".join(f'[ Name = "r{"!" * n}" ]' for n in range(300)),
    "dollars": '[ Name = "$(Name)$("; set_x = "' + "$(" * 5_000 + '" ]',
    "a long name": f'[ Name = "{"x" * 100_000}" ]',
    "controls": '[ Name = "\x1b[2J"; set_x = "\x07" ]',
    "half of a pair": '[ Name = "\udcff\ud800" ]',
    "empty names": '[ copy_ = ""; delete_ = 1; set_ = 1; eval_set_ = 1; \'\' = 1; Name = "" ]',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_table_ends_soon(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With findings, or with routes that load; a quarter of the usual work is allowed."""
    monkeypatch.setattr("crondor.transform.classad_form.MAX_WORK", 1 << 18)
    monkeypatch.setattr("crondor.classad.references.MAX_REFERENCES", 25_000)
    begin = time.process_time()
    made = _all(HOSTILE[name])
    assert time.process_time() - begin < SLOWEST
    assert len(made.diagnostics) <= 5000


@pytest.mark.parametrize("text", ['JOB_ROUTER_ENTRIES = [ Name = "a\0b" ]', "\0", "JOB_ROUTER_DEFAULTS = \0"])
def test_a_nul_is_no_text(text: str) -> None:
    """And nothing is made of it."""
    table = read_legacy(Source(text, "n"))
    assert table.diagnostics
    assert not table.entries


def test_a_command_may_print_anything() -> None:
    """NULs, megabytes, no brackets at all."""
    for printed in ("\0", "x" * 3_000_000, '[ Name = "a" ]\0', "\udc80"):
        table = read_legacy({"JOB_ROUTER_ENTRIES_CMD": "x"}, run=lambda _, text=printed: text)  # type: ignore[misc]
        assert table.diagnostics
        str(convert_table(table))


def test_a_macro_that_doubles_itself_is_cut(tmp_path: Path) -> None:
    """Before it fills the memory."""
    lines = ["A0 = xxxxxxxxxxxxxxxx"] + [f"A{n} = $(A{n - 1})$(A{n - 1})" for n in range(1, 40)]
    path = tmp_path / "c"
    path.write_text("\n".join([*lines, 'JOB_ROUTER_ENTRIES = [ Name = "$(A39)" ]', ""]))
    table = read_legacy(Source(path.read_text(), "c"))
    assert {found.kind for found in table.diagnostics} & {"macro-size", "macro-work"}


_PIECES = st.sampled_from(
    [
        *(
            "[",
            "]",
            "(",
            ")",
            "{",
            "}",
            ";",
            ",",
            "=",
            " ",
            "\n",
            '"',
            "'",
            "\\",
            "/*",
            "*/",
            "//",
            "$",
            "$(A)",
            "$(",
            "#",
        ),
        *("Name", "GridResource", "Requirements", "MaxJobs", "set_A", "eval_set_B", "copy_C", "delete_D", "TARGET.x"),
        *("other.x", "MY.y", "CurrentTime", "true", "undefined", "1", "2.5", '"s"', "+", "&&", "=?=", "is", "queue"),
        *("TargetUniverse", "OverrideRoutingEntry", "@jre", '[ Name = "r"; ', "; ]"),
    ]
)


@examples(19)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_no_text_breaks_the_reader_or_the_conversion(text: str) -> None:
    """What comes out is a configuration whose routes load, but for Requirements that nobody gave."""
    _all(text)


@examples(15)
@given(st.lists(st.tuples(st.sampled_from(["Requirements", "MaxJobs", "set_A", "eval_set_B", "queue", "x"]), _PIECES)))
def test_what_is_converted_loads(pairs: list[tuple[str, str]]) -> None:
    """Each route that is read makes commands that HTCondor's check takes."""
    body = "".join(f"{name} = {piece} ; " for name, piece in pairs)
    made = _all(f'[ Name = "r"; {body} ]')
    table = load_table(read_config(str(made)), keep_routes=True)
    assert {each.kind for rejected in table.rejected for each in rejected.diagnostics} <= {"route-requirements"}
