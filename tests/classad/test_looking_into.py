"""References, partial evaluation and explanations."""

import pytest

from crondor.classad import CircularReference, ClassAd, EvaluationFailed, Expression
from crondor.classad.scope import Inlining
from tests.classad.helpers import NOW, ad


def test_references_are_told_apart() -> None:
    """What the ad has is internal, the rest external; TARGET's are listed by themselves."""
    found = Expression("MY.q + TARGET.r + a").references(ad(a="b + c", c="1"))
    assert found.internal == ("a", "c")
    assert found.external == ("b", "q", "TARGET.r")
    assert found.target == ("r",)


def test_references_of_a_circle_are_an_error() -> None:
    """There is no end to follow them to."""
    with pytest.raises(CircularReference):
        Expression("a").references(ad(a="a"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a + 1", "2"),
        ("x + 1 + 2", "3 + x"),
        ("a == 1 && x", "x"),
        ("a == 2 && x", "false"),
        ("b ? x : 1", "1"),
        ("strcat(x, a)", "strcat(x,1)"),
        ("TARGET.m >= c", "TARGET.m >= c"),
        ("!(x)", " !(x)"),
        ("true && 2 * x", "2 * x"),
        ('2 || "x"', "error"),
        ('false && "x"', "error"),
        ("true || error", "true"),
        ('x || "x"', '"x" || x'),
        ("[ b = a ]", "[ b = a ]"),
        ("[ b = MY.a; d = 1 + 1 ].b", "[ b = MY.a; d = 1 + 1 ].b"),
        ("[ b = d + 1; d = 2 ].b", "3"),
        ("{ [ b = a ],a }", "{ [ b = a ],1 }"),
        ("n + 0", "0 + n"),
        ("m + 0", "1"),
    ],
)
def test_what_the_ad_decides_is_computed(text: str, left: str) -> None:
    """The rest stays an expression."""
    holder = ad(a="1", b="false", c="x + 1", n="[ b = a ]", m="[ b = a ].b")
    assert str(Expression(text).flatten(holder)) == left


@pytest.mark.parametrize(
    ("text", "external", "internal"),
    [
        ("([b = n.x]).b", ["n.x"], []),
        ("[b = a].b + a", ["a"], ["a"]),
        ("[b = a]", [], ["a"]),
        ("m", [], ["a", "m"]),
        ("x + [].c + a", ["c", "x"], []),
        ("a + [].c + x", ["c", "x"], ["a"]),
        ("f([b = a].b)", ["a"], []),
        ("unresolved(m)", [], ["a", "m"]),
    ],
)
def test_names_in_an_ad_that_is_written_out_are_not_those_around_it(
    text: str, external: list[str], internal: list[str]
) -> None:
    """As HTCondor finds them, which ends its list of internal ones at a name that such an ad lacks."""
    found = Expression(text).references(ad(a="1", m="[b = a].b"))
    assert (list(found.external), list(found.internal)) == (external, internal)
    assert Expression("unresolved(m)").evaluate(ad(a="1", m="[b = a].b")) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TARGET.Memory >= RequestMemory", "TARGET.Memory >= RequestMemory: 2048 >= 4096"),
        (
            '(TARGET.Arch == "X86_64") && (TARGET.Memory >= RequestMemory) && TARGET.HasJava',
            "TARGET.Memory >= RequestMemory: 2048 >= 4096",
        ),
        ("TARGET.HasJava", "TARGET.HasJava: undefined"),
        ("1 == 2 || 3 > 4", "1 == 2: 1 == 2; 3 > 4: 3 > 4"),
        ("!true", " !true: true"),
        ("random(0)", "random(0): random() of a number that is not positive"),
        ("true", None),
    ],
)
def test_the_shortest_reason(text: str, reason: str | None) -> None:
    """A reason shows the part that decides, with the values in it."""
    job, machine = ad(RequestMemory="4096"), ad(Arch='"X86_64"', Memory="2048")
    assert Expression(text).explain(job, machine, NOW).reason() == reason


def test_every_part_has_its_value() -> None:
    """Parts that evaluation does not come to say so."""
    lines = list(Expression("a > 1 && b").explain(ad(a="1", b="2"), None, NOW).lines())
    assert lines == ["a > 1 && b -> false", "  a > 1 -> false", "    a -> 1", "    1 -> 1", "  b -> not evaluated"]


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
