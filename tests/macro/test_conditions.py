"""The conditionals of HTCondor's files. Truths and words are recorded of HTCondor 25.14.0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.macro import Budget, expand
from crondor.macro.conditions import MAX_NESTING, ConditionError, Conditions, IfStack
from tests.rows import rows

MACROS = {"v": "1", "empty": "", "word": "hello", "t": "", "yes": "5", "my.owner": "bob", "big": "1 2"}
CONDITIONS = Conditions(MACROS.get, lambda text: expand(text, MACROS.get, Budget()), (25, 14, 3))

COMPLEX = "complex conditionals are not supported"
NONE = "expression is not a conditional"


@pytest.mark.parametrize("text", rows("macro/conditions"))
def test_what_holds(text: str) -> None:
    """Numbers, truth values, defined and version are conditions, and ! turns them round."""
    assert CONDITIONS.test(text)


@pytest.mark.parametrize(
    "text",
    [
        "false",
        "no",
        "F",
        "0",
        "0.0",
        "$(undefined)",
        "$(empty)",
        "!1",
        "defined",
        "defined empty",
        "defined Nope",
        "defined t",
        "! defined v",
        "version > 25.14",
        "version < 25.14.3",
        "version >= 26.1",
        "version == 8.9.9",
        "version < 8.1.6",
        "defined use FEATURE:GPUs",
    ],
)
def test_what_does_not_hold(text: str) -> None:
    """What is undefined, empty, or zero does not hold."""
    assert not CONDITIONS.test(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NONE),
        ("!", NONE),
        ("word", NONE),
        ("on", NONE),
        ("Y", NONE),
        ("0x1", NONE),
        ("error", NONE),
        ("$(word)", NONE),
        ("$(big)", COMPLEX),
        ("m == 4", COMPLEX),
        ("$(v) > 3", COMPLEX),
        ("true && false", COMPLEX),
        ("true || false", COMPLEX),
        ("(true)", COMPLEX),
        ('"x" == "x"', COMPLEX),
        ("'x'", COMPLEX),
        ("!!true", COMPLEX),
        ("! ! false", COMPLEX),
        ("= 5", COMPLEX),
        ("tr ue", COMPLEX),
        ("not true", COMPLEX),
        ("version >", COMPLEX),
        ("version>=8.1.6", COMPLEX),
        ("version 8.1.6", COMPLEX),
        ("version", "the version literal is invalid"),
        ("version >= 8", "the version literal is invalid"),
        ("version >= 5.1.1", "the version literal is invalid"),
        ("defined a b", "defined argument must be param name, boolean, or number"),
        ("defined use A:B C", "defined use meta argument with internal spaces will never match"),
    ],
)
def test_what_is_no_condition(text: str, reason: str) -> None:
    """All else is an error in HTCondor's words."""
    with pytest.raises(ConditionError) as caught:
        CONDITIONS.test(text)
    assert str(caught.value) == reason


def test_callers_may_know_templates_and_complex_conditions() -> None:
    """A language that knows more gives it by functions."""
    more = Conditions(MACROS.get, str, (25, 14, 0), {"FEATURE:GPUs"}.__contains__, {"a > 1": False}.get)
    assert more.test("defined use FEATURE:GPUs")
    assert more.test("! a > 1")
    with pytest.raises(ConditionError, match=COMPLEX):
        more.test("a > 2")


def lines_that_hold(text: str) -> tuple[str, list[str]]:
    """Return the letters of a text whose lines hold, and the errors; keywords stand on lines of their own."""
    stack, held, errors = IfStack(), "", []
    for line in text.split():
        keyword, _, condition = line.partition(":")
        if keyword not in {"if", "elif", "else", "endif"}:
            held += line if stack.holds else ""
            continue
        try:
            stack.enter(keyword, condition, CONDITIONS)
        except ConditionError as error:
            errors.append(str(error))
    return held + ("..." if stack.is_open else ""), errors


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("if:1 a else b endif c", "ac"),
        ("if:0 a else b endif c", "bc"),
        ("if:0 a elif:1 b elif:1 c else d endif", "b"),
        ("if:0 a elif:0 b else c endif", "c"),
        ("if:1 a elif:bad b else c endif", "a"),
        ("if:0 if:bad a elif:bad b else c endif d else e endif", "e"),
        ("if:1 if:0 a else b endif c endif d", "bcd"),
        ("if:0 a else if:1 b endif endif", "b"),
        ("if:1 a", "a..."),
    ],
)
def test_branches(text: str, held: str) -> None:
    """The first branch that holds is read; conditions that do not matter are not looked at."""
    assert lines_that_hold(text) == (held, [])


@pytest.mark.parametrize(
    ("text", "held", "error"),
    [
        ("endif a", "a", "endif without matching if"),
        ("else a", "a", "else without matching if"),
        ("elif:1 a", "a", "elif without matching if"),
        ("if:1 a else b else c endif", "a", "else is not allowed after else"),
        ("if:0 a else b elif:1 c endif", "b", "elif is not allowed after else"),
        ("if:bad a endif b", "b", f"bad is not a valid if condition because {NONE}"),
        ("if:0 elif:bad a else b endif", "b", f"bad is not a valid elif condition because {NONE}"),
    ],
)
def test_misplaced_keywords(text: str, held: str, error: str) -> None:
    """A wrong line is one error, and reading goes on."""
    assert lines_that_hold(text) == (held, [error])


def test_nesting_is_bounded() -> None:
    """The deepest level is HTCondor's, and the ends still match."""
    deep = MAX_NESTING
    assert lines_that_hold("if:1 " * deep + "a " + "endif " * deep + "b") == ("ab", [])
    text = "if:1 " * (deep + 1) + "a " + "endif " * (deep + 1) + "b"
    assert lines_that_hold(text) == ("b", ["if nesting too deep!"])


@given(st.text(alphabet="01.eE+- !<>=tvrudefinsolaxy:/_()$\té", max_size=25))
def test_any_text_is_true_false_or_refused(text: str) -> None:
    """Nothing else comes of a condition."""
    try:
        found = CONDITIONS.test(text)
    except ConditionError as error:
        assert str(error)  # noqa: PT017 - either way is right
    else:
        assert found in {True, False}
