"""Whatever the text: our errors or a tree that prints to itself; whatever the expression: a value or our error."""

from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import EvaluationFailed, Expression, UnparseForm, print_value
from crondor.diagnostics import CrondorError
from tests.classad import grammar
from tests.classad.helpers import NOW, ad

NAMES = st.sampled_from(["a", "b", "MY", "TARGET", "parent", "x.y", ".a", "'c d'", "time()", "l"])
CONSTANTS = st.one_of(
    st.integers(-(1 << 65), 1 << 65).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["true", "false", "undefined", "error", 'relTime("5")', "absTime(0)"]),
    st.text("ab1 ,\\é\n", max_size=5).map(lambda text: '"' + text.replace("\\", "\\\\") + '"'),
)
OPERATORS = [operator for operator in grammar.OPERATORS if operator != "?:"]
FUNCTIONS = [
    "strcat",
    "size",
    "split",
    "member",
    "sum",
    "regexp",
    "substr",
    "ifThenElse",
    "int",
    "string",
    "eval",
    "nope",
]


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, st.sampled_from(OPERATORS), inner)
    return st.one_of(
        pair.map(lambda parts: f"({parts[0]}) {parts[1]} {parts[2]}"),
        pair.map(lambda parts: f"{parts[0]} {parts[1]} ({parts[2]})"),
        inner.map(lambda text: f"!({text})"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]}) ? {parts[1]} : ({parts[2]})"),
        st.tuples(st.sampled_from(FUNCTIONS), st.lists(inner, max_size=3)).map(
            lambda parts: f"{parts[0]}({', '.join(parts[1])})"
        ),
        st.lists(inner, max_size=3).map(lambda items: "{" + ", ".join(items) + "}"),
        st.lists(inner, max_size=3).map(
            lambda items: "[" + "; ".join(f"a{i} = {t}" for i, t in enumerate(items)) + "]"
        ),
        st.tuples(inner, inner).map(lambda parts: f"({parts[0]})[{parts[1]}]"),
        inner.map(lambda text: f"({text}).a"),
    )


EXPRESSIONS = st.recursive(st.one_of(NAMES, CONSTANTS), _compound, max_leaves=12)


@given(st.text())
def test_any_text_is_an_expression_or_our_error(text: str) -> None:
    """Nothing else is raised."""
    try:
        Expression(text)
    except CrondorError as problem:
        assert str(problem)  # noqa: PT017


@given(st.lists(st.sampled_from([*"\"'\\()[]{}.,;:?=!<>&|+-*/%^~ \n0189eExXa_", "/*", "*/", "//", "is", "0x"])))
def test_any_heap_of_signs_is_an_expression_or_our_error(signs: list[str]) -> None:
    """The lexer meets every neighbourhood."""
    try:
        Expression("".join(signs))
    except CrondorError as problem:
        assert str(problem)  # noqa: PT017


@given(EXPRESSIONS)
def test_printing_reads_back(text: str) -> None:
    """What is printed is read, and after that prints to the same text: a sign before a number has become part of it."""
    try:
        expression = Expression(text)
    except CrondorError:
        return
    for form in (UnparseForm.COMPACT, UnparseForm.PRETTY):
        again = Expression(Expression(expression.unparse(form)).unparse(form))
        assert Expression(again.unparse(form)).unparse(form) == again.unparse(form)


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_evaluation_ends_with_a_value_or_our_error(text: str, first: str, second: str) -> None:
    """Two ads that refer to themselves and to each other are no exception."""
    try:
        expression, my, target = Expression(text), ad(a=first, b=second), ad(a=second, x=first)
        Expression(first)
        Expression(second)
    except CrondorError:
        return
    try:
        assert print_value(expression.evaluate(my, target, NOW)) is not None
    except EvaluationFailed as problem:
        assert problem.diagnostics  # noqa: PT017 - both ways are right
    assert expression.explain(my, target, NOW).text
