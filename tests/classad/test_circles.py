"""Attributes that refer to themselves: told wherever evaluation may go round, and surely only where it must."""

import re
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ERROR, UNDEFINED, ClassAd, print_value, read_ad
from crondor.classad.circles import circles, new_circles

_VALUES = ("undefined", "error", "true", "false", "0", "3", '"a"', "{1, 2}")


def found(text: str) -> list[tuple[tuple[str, ...], bool]]:
    """Return the circles of an ad: names, and whether they are sure."""
    return [(each.names, each.is_sure) for each in circles(read_ad(text).codes)]


@pytest.mark.parametrize(
    ("text", "names", "is_sure"),
    [
        ('X = strcat(X, "a")', "x", True),
        ("X = MY.X + 1", "x", True),
        ("X = .X + 1", "x", True),
        ("X = (X) && (TARGET.Y > 1)", "x", True),
        ("X = false || X", "x", True),
        ("X = true ? X : 1", "x", True),
        ("A = B\nB = C\nC = A", "a b c", True),
        ("X = Y && X", "x", False),
        ("X = X || Y", "x", False),
        ("X = X ?: 1", "x", False),
        ("X = isUndefined(X)", "x", False),
        ("X = X =?= 1", "x", False),
        ("X = ifThenElse(Y, X, 1)", "x", False),
        ("X = size({X})", "x", False),
        ("X = [A = X].A", "x", False),
        ("X = X.Y", "x", True),
    ],
)
def test_what_refers_to_itself_is_told(text: str, names: str, *, is_sure: bool) -> None:
    """Directly or through others; not sure where a guard, or what takes undefined, may give it a value."""
    assert found(text) == [(tuple(names.split()), is_sure)]


@pytest.mark.parametrize(
    "text",
    [
        "X = TARGET.X + 1",
        "X = ifThenElse(false, X, 1)",
        "X = true || X",
        "X = false && X",
        "X = [X = 1; Y = X].Y",
        "X = unparse(X)",
        "X = Y\nY = 1",
        'X = "X"',
        "X = (",
    ],
)
def test_what_does_not_is_not(text: str) -> None:
    """Another ad's attribute, a reference that is never evaluated, a name that a nested ad hides."""
    ad = ClassAd.of_texts({"X": "("}) if text == "X = (" else read_ad(text)
    assert list(circles(ad.codes)) == []


def test_only_circles_that_a_change_closes_are_new() -> None:
    """One that the ad had before is not, though it leads there."""
    before = read_ad("A = A\nB = 1\nC = D")
    after = read_ad("A = A\nB = A\nC = D\nD = C")
    assert [each.names for each in new_circles(before.codes, after.codes)] == [("d", "c")]


_LEAVES = st.sampled_from(["X", "MY.X", "Y", "Z", "1", "true", "false", '"a"', "undefined"])
_TREES = st.recursive(
    _LEAVES,
    lambda part: st.one_of(
        st.builds("({} {} {})".format, part, st.sampled_from(["&&", "||", "?:", "+", "==", "=?=", "<"]), part),
        st.builds("({} ? {} : {})".format, part, part, part),
        st.builds("ifThenElse({}, {}, {})".format, part, part, part),
        st.builds("{}({})".format, st.sampled_from(["isUndefined", "isError", "strcat", "size", "int"]), part),
        st.builds("{{ {}, {} }}[0]".format, part, part),
        st.builds('stringListMember("a", {})'.format, part),
    ),
    max_leaves=6,
)


@given(_TREES, st.one_of(st.sampled_from(_VALUES), _TREES))
def test_a_sure_circle_never_has_a_value(x: str, y: str) -> None:
    """Whatever other attributes are; and where none is told, X has the same value with an error in its own place."""
    told = list(circles(read_ad(f"X = {x}\nY = {y}").codes))
    for z in _VALUES:
        value = read_ad(f"X = {x}\nY = {y}\nZ = {z}").value("X")
        if any(each.is_sure and "x" in each.names for each in told):
            assert value is UNDEFINED or value is ERROR or value is False
        if not told:
            other = read_ad(f"X = {_without_x(x)}\nY = {_without_x(y)}\nZ = {z}").value("X")
            assert print_value(value) == print_value(other)


@given(st.lists(_TREES | st.sampled_from(_VALUES), min_size=3, max_size=3))
def test_ads_that_have_none_by_the_words_of_their_texts_have_none(texts: list[str]) -> None:
    """What is found when no ad is passed over is found."""
    codes = ClassAd.of_texts(dict(zip("XYZ", texts, strict=True))).codes
    with patch("crondor.classad.circles._may_have_knots", lambda _: True):
        expected = list(circles(codes))
    assert list(circles(codes)) == expected


def _without_x(text: str) -> str:
    return re.sub(r"(MY\.)?\bX\b", "error", text)


def test_long_chains_and_wide_knots_take_no_time() -> None:
    """Ten thousand attributes in a row, and a few hundred that all name each other."""
    chain = ClassAd.of_texts({f"A{n}": f"A{n + 1}" for n in range(10_000)} | {"A10000": "A0"})
    (only,) = circles(chain.codes)
    assert len(only.names) == 10_001
    assert list(circles(ClassAd.of_texts({f"A{n}": f"A{n + 1}" for n in range(10_000)} | {"A10000": "0"}).codes)) == []
    names = [f"B{n}" for n in range(200)]
    knot = ClassAd.of_texts({one: " + ".join(names) for one in names})
    assert [each.names for each in circles(knot.codes)] == [("b0",)]
