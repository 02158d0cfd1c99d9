"""The facts about the language that nobody would guess, each as HTCondor 25.14 has it."""

import pytest

from crondor.classad import ClassAdSyntaxError, EvaluationFailed, Expression, UnparseForm
from tests.classad.helpers import ad, shown
from tests.rows import rows


@pytest.mark.parametrize(("text", "printed", "old"), rows("classad/printed"))
def test_what_is_read_is_printed(text: str, printed: str, old: str | None) -> None:
    """In new syntax and, where it is known, as in a ``-long`` ad."""
    assert str(Expression(text)) == printed
    assert old is None or Expression(text).unparse(UnparseForm.OLD) == old


@pytest.mark.parametrize(
    "text",
    [
        "a ?: !b",
        "a ?: -b",
        "007",
        "0x10",
        "1.",
        "1.e5",
        "1K",
        '"a" /* c */ "b"',
        '"a\\08"',
        "é",
        "[;]",
        "true(1)",
        'absTime("bogus")',
    ],
)
def test_what_is_no_expression(text: str) -> None:
    """These look as if they were."""
    with pytest.raises(ClassAdSyntaxError):
        Expression(text)


@pytest.mark.parametrize(("text", "expected"), rows("classad/values"))
def test_values(text: str, expected: str) -> None:
    """Alone, in an empty ad."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "my", "target", "expected"),
    [
        ("x", {}, {"x": "5"}, "5"),
        ("MY.x", {}, {"x": "5"}, "undefined"),
        ("x", {"x": "undefined"}, {"x": "5"}, "undefined"),
        ("[y=x].y", {}, {"x": "5"}, "undefined"),
        ("TARGET.y", {"x": "1"}, {"y": "MY.x", "x": "2"}, "2"),
        ("TARGET.y", {"x": "1"}, {"y": "TARGET.x"}, "1"),
        ("n.y", {"n": "[a=1]", "y": "7"}, None, "7"),
        ("n.a", {"n": "[a=y]", "y": "7"}, None, "7"),
        ("other.x", {}, {"x": "5"}, "5"),
        ("self.x", {"x": "5"}, None, "5"),
        ("size(MY)", {"x": "5"}, None, "1"),
        ("a", {"a": "a + 1"}, None, "undefined"),
        ("a || true", {"a": "b", "b": "a"}, None, "true"),
        ("{1+1,x}", {"x": "3"}, None, "{ 1 + 1,x }"),
    ],
)
def test_names(text: str, my: dict[str, str], target: dict[str, str] | None, expected: str) -> None:
    """Looked up in MY and TARGET."""
    assert shown(text, ad(**my), None if target is None else ad(**target)) == expected


@pytest.mark.parametrize(
    "text", ["random(0)", "userHome()", "absTime(0,-1)", "isError(random(0))", "+".join("1" * 500)]
)
def test_no_value_at_all(text: str) -> None:
    """The daemons see these as if nothing were there."""
    with pytest.raises(EvaluationFailed):
        shown(text)
