"""One reader for the statements of submit descriptions and configurations: both say the same of what they share."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.macro.files import Files
from crondor.submit import InvalidSubmit, read_submit

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
