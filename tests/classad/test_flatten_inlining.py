"""Flattening that puts the expressions of names in their place."""

import pytest

from crondor.classad import ClassAd, EvaluationFailed, Expression
from crondor.classad.scope import Inlining

AS_HTCONDOR = Inlining(parentheses=False, open=frozenset())


def _ad() -> ClassAd:
    ad = ClassAd({"m": 2, "q": "atlas"})
    ad.set_text("t", "TARGET.x + 1")
    ad.set_text("ad", "[ a = 1 ]")
    ad.set_text("one", "two")
    ad.set_text("two", "one")
    return ad


@pytest.mark.parametrize(
    ("text", "plain", "inlined", "htcondor"),
    [
        ("t * 2", "2 * t", "2 * (1 + TARGET.x)", "2 * 1 + TARGET.x"),
        ("m * TARGET.y", "2 * TARGET.y", "2 * TARGET.y", "2 * TARGET.y"),
        ('strcat(q,"-x")', '"atlas-x"', '"atlas-x"', '"atlas-x"'),
        ("max({ t,m })", "max({ t,2 })", "max({ (1 + TARGET.x),2 })", "max({ 1 + TARGET.x,2 })"),
        ("ad", "ad", "ad", "ad"),
        ("m + time()", "", "2 + time()", "2"),
    ],
)
def test_names_with_an_expression_are_replaced_where_that_is_asked_for(
    text: str, plain: str, inlined: str, htcondor: str
) -> None:
    """With parentheses that keep the meaning, or as HTCondor does it; the clock is read later, or now."""
    expression = Expression(text)
    if "time" not in text:
        assert str(expression.flatten(_ad())) == plain
    assert str(expression.flatten(_ad(), inlining=Inlining())) == inlined
    assert str(expression.flatten(_ad(), inlining=AS_HTCONDOR)) == htcondor


def test_a_circle_fails() -> None:
    """As it does without inlining."""
    with pytest.raises(EvaluationFailed):
        Expression("one + 1").flatten(_ad(), inlining=Inlining())
